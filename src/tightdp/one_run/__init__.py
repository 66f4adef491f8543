"""One-run auditing, exactly: what a guesser can learn about uniform secret bits from one output (keinan2025).

In: a core program and a pair vector. Out: efficacies, gaps, laws of guesses. May import `queries` and below.
"""

from tightdp.exact.lazily import modules_of

__getattr__ = modules_of(__name__)
