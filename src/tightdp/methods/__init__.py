"""How output laws and likelihood ratios are found: the methods, and the order in which they are tried.

In: a bound mechanism. Out: laws, tight ratios, pairs of neighbours to compare, datasets to measure accuracy on.
`program` has the protocol of a method and what methods look at, `base` what they answer with, `choose` their ordered
list, which every program carries, and `questions` what is asked of them. Methods are in the `by_*` files (`by_pairs`
is asked beside the list), the other files are what they work with. May import `symmetry` and below.
"""
