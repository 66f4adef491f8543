"""Running a mechanism many times: the privacy loss distribution of a dominating pair, composed exactly or enclosed.

In: a pair of laws that dominates all neighbours. Out: δ at e^ε and its inverse after k runs. The composition is the
adaptive one: whoever chooses each next mechanism by the outputs so far gains nothing beyond it, because a dominating
pair of every step gives one of the whole (Zhu, Dong, Wang 2022, Theorem 10). May import what `queries` may.
"""
