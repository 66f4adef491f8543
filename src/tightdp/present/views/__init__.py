"""What is seen of results: one file for each file of `results/`, of the same name."""
