"""Results: immutable values with exact numbers, the witness, the cost and the status.

In: what the questions found. Out: what users hold in their hands. May import `present` and below.
"""
