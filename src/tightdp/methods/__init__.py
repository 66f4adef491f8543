"""Methods: how output laws and likelihood ratios are found, each for the programs that it applies to.

In: a core program. Out: laws, tight ratios, bounds, pairs. May import `symmetry` and below.
"""
