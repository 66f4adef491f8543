"""The means of the released errors."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

from tightdp.auditing.order_statistics import error_means

from .games import ONE, ZERO, binomial_at_most


def order_means(n: int, r: int, delta: Fraction, t: Fraction = ONE) -> list[Fraction]:
    """v_n, ..., v_{n-r+1} for (ε, δ): the k-th largest score is not infinite if fewer than k bits are revealed."""
    return [binomial_at_most(n, delta, k - 1) / (1 + t) for k in range(1, r + 1)]


def checked_means(n: int, r: int, delta: Fraction) -> list[Fraction]:
    """The same, which the engine's enclosures have to contain."""

    means = order_means(n, r, delta)
    if not all(e.lower <= v <= e.upper for v, e in zip(means, error_means(n, r, ((ONE, delta),)), strict=True)):
        raise ValueError("the engine has other means")
    return means


def integrated_means(n: int, r: int, delta: Fraction, t: Fraction = ONE) -> list[Fraction]:
    """Formula (25) integrated as it stands: F_Y runs from 0 to 1-δ over the scores ln t, where the error is
    1/(1+t), and from there over the infinite ones (with the atom at y = 1), where it is 0.
    """
    found = []
    for k in range(n, n - r, -1):
        scale = Fraction(math.factorial(n), math.factorial(n - k) * math.factorial(k - 1))
        area = sum((comb(n - k, j) * (-1) ** j * (1 - delta) ** (k + j) / (k + j) for j in range(n - k + 1)), ZERO)
        found.append(scale * area / (1 + t))
    return found


def convolved_at_most(means: list[Fraction], u: int) -> Fraction:
    """P(Σ V <= u) for independent Bernoulli V, one after the other."""
    law = [Fraction(1)]
    for v in means:
        law = [a * (1 - v) + b * v for a, b in zip([*law, Fraction(0)], [Fraction(0), *law], strict=True)]
    return sum(law[: u + 1], Fraction(0))
