"""What users write: record domains, random primitives with their laws, neighbour relations, the source of a function.

In: a Python function. Out: a bound mechanism, and its meaning (`interp`). May import `exact`.
"""
