"""From the core language to exact counts: weighted Boolean formula, decision diagram, weighted model counting."""
