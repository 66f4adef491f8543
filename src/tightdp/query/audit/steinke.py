"""The binomial bound for one run with its δ correction (Steinke, Nasr, Jagielski 2023)."""

from __future__ import annotations

from fractions import Fraction

from tightdp.query.audit.binomial import sides
from tightdp.query.audit.enclosure import Enclosure

__all__ = ["p_value"]

_ONE = Fraction(1)


def p_value(*, canaries: int, guesses: int, correct: int, t: Enclosure, delta: Fraction) -> Enclosure:
    """Enclose the p-value of (ln t, δ)-DP after `correct` of `guesses` guesses on `canaries` bits were right.

    With q = t / (1 + t) it is min(1, P(Bin(r,q) >= v) + 2mδ max over 1 <= i <= v of P(v-i <= Bin(r,q) <= v-1)
    / i), the supremum over mechanisms being at most that for every t >= 1.
    """
    if correct == 0:
        return Enclosure.exactly(1)
    found = sides(guesses, correct, t)
    weight = 2 * canaries * delta
    # tail + weight * average * b_v, and 1 / b_v = R + L
    extra_low = weight * found.best_average.lower / (found.right.upper + found.left.upper)
    extra_high = weight * found.best_average.upper / (found.right.lower + found.left.lower)
    return Enclosure(min(_ONE, found.tail.lower + extra_low), min(_ONE, found.tail.upper + extra_high))
