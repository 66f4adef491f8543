"""Mechanisms, instances and the questions asked of them; ties the packages below together.

In: what the user asks. Out: results. May import everything but `claims` and `cli`.
"""

from tightdp.exact.lazily import modules_of

__getattr__ = modules_of(__name__)
