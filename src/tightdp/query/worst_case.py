"""The mechanism on which a one-run audit goes wrong most often, among all with an (ε, δ) guarantee.

For any set R of numbers of right guesses, the largest probability that their number falls into R is that of a symmetric
mechanism (see `audit.certificate`): a linear program over p_0..p_r. Where R is {v, v+1, ..., r}, as for every rule that
reports more for more right guesses, its value is known in closed form and attained by an explicit mechanism. For other
R the program is solved in floats; then its dual point gives an exact upper bound, and its primal point, repaired, an
explicit mechanism with an exact probability.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

from tightdp.query.audit.certificate import WorstMechanism
from tightdp.query.audit.optimal import p_value, worst_mechanism

__all__ = ["Worst", "largest_probability"]

_GRID = 1 << 60


@dataclass(frozen=True)
class Worst:
    """The largest probability is between `lower` and `upper`; `mechanism`, where it can be written, attains `lower`."""

    lower: Fraction
    upper: Fraction
    mechanism: WorstMechanism | None


def largest_probability(canaries: int, guesses: int, numbers: Collection[int], t: Fraction, delta: Fraction) -> Worst:
    """Return the largest P(number right is in `numbers`) over all (ln t, delta)-DP mechanisms and guessers, t >= 1.

    The guesser makes exactly `guesses` guesses on so many canaries.
    """
    if not numbers:
        return Worst(Fraction(0), Fraction(0), _blind(canaries, guesses))
    least = min(numbers)
    if len(set(numbers)) <= guesses - least:
        return _of_set(canaries, guesses, frozenset(numbers), t, delta)
    if not least:
        return Worst(Fraction(1), Fraction(1), _blind(canaries, guesses))
    found = p_value(canaries=canaries, guesses=guesses, correct=least, t=t, delta=delta)
    mechanism = worst_mechanism(canaries=canaries, guesses=guesses, correct=least, t=t, delta=delta)
    lower = found.lower if mechanism is None else mechanism.at_least(least)
    return Worst(lower, found.upper, mechanism)


def _blind(canaries: int, guesses: int) -> WorstMechanism:
    """Return the mechanism that says nothing: every guess is right with probability 1/2."""
    weights = tuple(comb(guesses, i) for i in range(guesses + 1))
    return WorstMechanism(canaries, guesses, 2, weights, 1 << guesses)


def _of_set(canaries: int, guesses: int, numbers: frozenset[int], t: Fraction, delta: Fraction) -> Worst:
    law, rising, falling = _solve(canaries, guesses, numbers, t, delta)
    mechanism = _repaired(canaries, guesses, law, t, delta)
    lower = Fraction(sum(mechanism.weights[i] for i in numbers), mechanism.total)
    upper = _dual_bound(canaries, guesses, numbers, t, delta, rising, falling)
    return Worst(lower, max(lower, min(upper, Fraction(1))), mechanism)


def _solve(
    canaries: int, guesses: int, numbers: Collection[int], t: Fraction, delta: Fraction
) -> tuple[list[float], list[float], list[float]]:
    """Solve the program in floats: the law, and the multipliers of both kinds of rows.

    Variables are p_0..p_r, then the excesses of a_i - t b_i and of b_i - t a_i, i = 1..r, times m.
    """
    import numpy as np
    from scipy.optimize import linprog

    r, slope = guesses, float(t)
    matrix = np.zeros((2 * r + 1, 3 * r + 1))
    for i in range(1, r + 1):
        matrix[i - 1, [i, i - 1, r + i]] = i, -slope * (r - i + 1), -1.0
        matrix[r + i - 1, [i - 1, i, 2 * r + i]] = r - i + 1, -slope * i, -1.0
    matrix[2 * r, r + 1 :] = 1.0
    bounds = np.zeros(2 * r + 1)
    bounds[-1] = float(canaries * delta)
    gain = np.zeros(3 * r + 1)
    gain[list(numbers)] = -1.0
    total = np.zeros((1, 3 * r + 1))
    total[0, : r + 1] = 1.0
    found: Any = linprog(gain, A_ub=matrix, b_ub=bounds, A_eq=total, b_eq=[1.0], method="highs")
    if found.x is None:
        return [comb(r, i) / 2**r for i in range(r + 1)], [0.0] * r, [0.0] * r
    multipliers = [float(-value) for value in found.ineqlin.marginals]
    return [float(p) for p in found.x[: r + 1]], multipliers[:r], multipliers[r : 2 * r]


def _dual_bound(
    canaries: int,
    guesses: int,
    numbers: Collection[int],
    t: Fraction,
    delta: Fraction,
    rising: Sequence[float],
    falling: Sequence[float],
) -> Fraction:
    """Return the exact value of a dual point near the multipliers: an upper bound, whatever they are.

    With multipliers 0 <= x_i, z_i <= y of the rows, the constant is the least that makes every column true.
    """
    x = [Fraction(0), *map(_rounded, rising), Fraction(0)]
    z = [Fraction(0), *map(_rounded, falling), Fraction(0)]
    constant = max(
        int(v in numbers) - (v * x[v] - t * (guesses - v) * x[v + 1]) - ((guesses - v) * z[v + 1] - t * v * z[v])
        for v in range(guesses + 1)
    )
    return constant + canaries * delta * max(*x, *z)


def _rounded(value: float) -> Fraction:
    return Fraction(round(max(0.0, value) * _GRID), _GRID)


def _repaired(canaries: int, guesses: int, law: Sequence[float], t: Fraction, delta: Fraction) -> WorstMechanism:
    """Return a mechanism near a law that has the guarantee exactly: the law mixed with blind guesses, as few as do."""
    weights = [_rounded(p) for p in law]
    total = sum(weights)
    exact = [weight / total for weight in weights]
    share = _share_for_ratios(exact, t) if not delta else _share_for_cost(canaries, exact, t, delta)
    blind = [Fraction(comb(guesses, i), 1 << guesses) for i in range(guesses + 1)]
    mixed = [(1 - share) * p + share * b for p, b in zip(exact, blind, strict=True)]
    return WorstMechanism.from_law(canaries, guesses, 2, mixed)


def _share_for_cost(canaries: int, law: Sequence[Fraction], t: Fraction, delta: Fraction) -> Fraction:
    """Return the share of blind guesses that brings δ(t) down to δ: convex in the law, and 0 for blind guesses."""
    guesses = len(law) - 1
    cost = WorstMechanism.from_law(canaries, guesses, 2, law).delta(t)
    return max(Fraction(0), 1 - delta / cost) if cost else Fraction(0)


def _share_for_ratios(law: Sequence[Fraction], t: Fraction) -> Fraction:
    """Return the share of blind guesses that brings all ratios of outcomes down to t."""
    guesses = len(law) - 1
    each = [p / comb(guesses, i) for i, p in enumerate(law)]
    excess = max(max(b - t * a, a - t * b) for a, b in pairwise(each))
    return excess / (excess + (t - 1) / (1 << guesses)) if excess > 0 else Fraction(0)
