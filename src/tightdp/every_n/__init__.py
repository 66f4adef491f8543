"""Answers for every n: a program that treats all records alike is a finite chain, and certificates bound its ratios.

In: a bound mechanism. Out: its chain, read on the machine of the compiler, and upper bounds on e^ε for all numbers of
records, each checked with exact rationals. May import `core`, `language` and below. The proofs are in docs/every-n.md.
"""

from tightdp.exact.lazily import modules_of

__getattr__ = modules_of(__name__)
