"""Noise on all integers and on the reals, by algebra: the laws of outputs as sums of exponentials on cells.

In: a bound mechanism. Out: its law on every dataset, and the largest likelihood ratio, exact for infinitely many
outputs. A path of the program (`paths`) is a conjunction of linear conditions on draws, found once from where runs go
on alike (`meetings`), and for all datasets `together` where records are nothing but where noise is; draws are summed or
integrated out one at a time (`sums`), what is published stays a variable
(`laws`; `spans` for reals). Between the cells of two laws (`patterns`) ratios are sums of exponentials in a few
counts, whose supremum is found with a proof (`suprema`; `poles` for loops whose laws are no such sums, but `generating`
functions), as is that of densities (`lines`; `joint`, `excess` and
`doubles` for several numbers, on `simplices`), unless draws show it before they are summed out (`moving`), or that of
other datasets is nowhere smaller (`dominated`). May import `exact` and `language`.
"""

from tightdp.exact.lazily import modules_of

__getattr__ = modules_of(__name__)
