"""A formula for composition without its logarithm, which overestimates.

Source: github.com/opendp/smartnoise-sdk, issue 621 (February 2026) and pull request 624.
Affected: the odometer of SmartNoise SDK, until then.
State: mended by the pull request. No guarantee fails here: the claim holds, and gives away more than it has to.

Sold as: e^ε = 18512 at δ = 1/100 for a hundred answers of e^ε = 5/4: ε = 9.83 is the least of three formulas.

Why: Composition is charged by the least of three formulas (Kairouz, Oh and Viswanath, Theorem 3.4): plain addition,
here 22.3, and two with a root. The last one has the logarithm of 1/δ under its root; the code has 1/δ itself, at δ =
1/100 a hundred in place of 4.6, and comes to 34 where 9.25 is right. So the second formula is charged, 9.83.
Accountants that charge too much are not seen by audits, which look for too little. The exact ε is 6.94: that much both
give away.

Parameters: none. The record is a bit, and published is how often a hundred noisy answers are 1.
"""

from fractions import Fraction

from tightdp import Bit, binomial, mechanism


@mechanism(record=Bit)
def meant(x):
    """A hundred answers by randomized response that is right with probability 5/9, by their number of ones."""
    return binomial(100, "5/9" if x[0] else "4/9")


shipped = mended = meant

CLAIM = {"exp_epsilon": "18512", "delta": "1/100"}
PARAMETERS = {"n": 1}
EXPECTED = {"shipped": {"exp_epsilon": Fraction(5, 4) ** 100}, "mended": {"exp_epsilon": Fraction(5, 4) ** 100}}
GIVES_AWAY = True
