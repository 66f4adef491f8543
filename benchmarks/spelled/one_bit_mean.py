"""One bit of every client for a mean (Duchi, Jordan and Wainwright, 2013; Ding, Kulkarni and Yekhanin, 2017)."""

from fractions import Fraction

from tightdp import Int, flip, mechanism, poisson_binomial

ASKED = (({"n": 20}, "privacy", {}), ({"n": 20}, "delta", {"exp_epsilon": "3/2"}))


@mechanism(record=Int(0, 4))
def with_flips(x):
    return sum(flip(Fraction(1, 4) + Fraction(v, 8)) for v in x)


@mechanism(record=Int(0, 4))
def at_once(x):
    return poisson_binomial([Fraction(2 + v, 8) for v in x])
