"""How output laws and likelihood ratios are found: the methods, and the order in which they are tried.

In: a bound mechanism. Out: laws, tight ratios, pairs of neighbours to compare, datasets to measure accuracy on.
`program` has the protocol of a method and the program it looks at, `base` the types of its answers, `choose` the
ordered list that every program carries, and `questions` puts each question to that list. Methods are in the `by_*`
files; the other files are their tools. May import `symmetry` and below.
"""

from tightdp.exact.lazily import modules_of

__getattr__ = modules_of(__name__)
