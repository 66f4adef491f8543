"""Questions about output laws: privacy, curves, accuracy, declared sets.

In: laws and the pairs to compare. Out: exact numbers and the datasets that attain them. May import `methods`
and below.
"""

from tightdp.exact.lazily import modules_of

__getattr__ = modules_of(__name__)
