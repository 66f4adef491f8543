"""Random mechanisms as source text, their comparison with the interpreter, and a reducer for what differs.

In: a seed. Out: programs (`writer`), a verdict on each (`comparison`), a smaller program with the same verdict
(`reducer`). Run by hand with `python -m tests.generators --seed 0 --minutes 5`. May import tightdp, and nothing of the
other tests.
"""
