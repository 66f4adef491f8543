"""Results: immutable values with exact numbers, the witness, the cost and the status. They know no sentences.

In: what the questions found. Out: what users hold in their hands; `shown.py` says how it is shown. May import what
stands below: `auditing`, `one_run`, `queries`, `methods`, `logic`, `exact`.
"""
