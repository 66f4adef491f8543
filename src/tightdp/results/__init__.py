"""Results: immutable values with exact numbers, the witness, the cost and the status. They know no sentences.

In: what the queries found. Out: what users get, and its JSON (`record.py`); `shown.py` says how it is shown. May import
what stands below: `auditing`, `one_run`, `queries`, `methods`, `logic`, `exact`.
"""
