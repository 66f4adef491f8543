"""From a core program to exact counts: weighted Boolean formula, decision diagram, weighted model counting.

In: a core program. Out: a weighted formula and its counts. May import `core` and below.
"""
