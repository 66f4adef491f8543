"""Running a mechanism many times: the privacy loss distribution of a dominating pair, composed exactly or enclosed.

In: a pair of laws that dominates all neighbours. Out: δ at e^ε and its inverse after k runs. The bounds hold for
adaptive composition, in which each mechanism may be chosen by the outputs so far, because dominating pairs of the steps
give one of the whole (Zhu, Dong, Wang 2022, Theorem 10). May import what `queries` may.
"""
