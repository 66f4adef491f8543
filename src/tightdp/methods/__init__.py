"""How output laws and likelihood ratios are found: the methods, and the order in which they are tried.

In: a bound mechanism. Out: laws, tight ratios, pairs of neighbours to compare, datasets to measure accuracy on.
`base` has the protocol of a method, `choose` the ordered list of methods, `questions` what is asked of them, `program`
what they look at; every `by_*` file is a method, the other files are what methods work with. May import `symmetry` and
below.
"""
