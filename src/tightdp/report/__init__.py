"""From answers to what people read: results, numbers in words, tables, plots, diagrams."""
