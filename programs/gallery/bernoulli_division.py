"""A coin of probability e^-p whose rational division is wrong where numerator and divisor share a factor.

Source: github.com/opendp/opendp, issue 2638 and pull request 2639; github.com/cmpute/dashu, issue 57.
Affected: OpenDP with the version of dashu that divides like this.
State: mended by the pull request in OpenDP. The model shows the wrong denominator; its loop is the published one.

Sold as: e^ε = 1717/1000, as coins of probability e^(-1/3) and e^(-2/3) have: 1 + e^(-1/3), rounded up.

Why: The coin is made of coins of probability p, p/2, p/3, ...: it goes on while they show heads, and the parity of
their number decides (Canonne, Kamath and Steinke 2020). The loop has no bound, and uses no number but exact fractions,
so it was trusted. The division cancels what numerator and divisor share, in the numerator alone: 2/3 divided by 2 is
1/6. A single wrong coin among many is enough: the law is another one, and with it each sampler that is built upon it.

Parameters: none. The record says whether the coin has probability e^(-1/3) or e^(-2/3).
"""

from fractions import Fraction
from math import gcd

from tightdp import Bit, flip, mechanism


def wrong(p, k):
    """What the library made of p/k."""
    shared = gcd(p.numerator, k)
    return Fraction(p.numerator // shared, p.denominator * k)


@mechanism(record=Bit)
def meant(x):
    """The coin as published."""
    p = Fraction(1 + x[0], 3)
    k = 1
    while flip(p / k):
        k += 1
    return k % 2 == 1


@mechanism(record=Bit)
def shipped(x):
    """The same with the division of the library."""
    p = Fraction(1 + x[0], 3)
    k = 1
    while flip(wrong(p, k)):
        k += 1
    return k % 2 == 1


mended = meant

CLAIM = {"exp_epsilon": "1717/1000"}
PARAMETERS = {"n": 1}
EXPECTED = {"shipped": {"exp_epsilon_above": "2"}, "mended": {"exp_epsilon_above": "1716/1000"}}
