"""The mechanism on which a one-run audit goes wrong most often, among all with an (ε, δ) guarantee.

For any set R of numbers of right guesses, the largest probability that their number falls into R is that of a symmetric
mechanism (see `auditing/certificate.py`): a linear program over p_0..p_r. Where R is {v, v+1, ..., r}, as for every
rule that reports more for more right guesses, its value is known in closed form and attained by an explicit mechanism.
For other R the program is solved in floats; then its dual point gives an exact upper bound, and its primal point,
repaired, an explicit mechanism with an exact probability.

The number r of guesses may also depend on the output. A mechanism then is a mixture over r, the weight of r being w_r,
and its δ is Σ w_r δ_r. Let T_r be the tail of Bin(r, q) from v_r on, b_r its probability of v_r, and
κ_r = m T_r / (v_r b_r): the optimum for fixed r is min(1, T_r + δ κ_r (1 - T_r)). The largest
Σ w_r min(1, T_r + δ_r/w_r κ_r (1 - T_r)) under Σ w_r δ_r <= δ is the concave hull, at δ, of functions that rise
linearly from (0, T_r) to (1/κ_r, 1). With T the largest T_r and κ the largest κ_r it is min(1, T + δ κ (1 - T)). For
δ = 0 the choice of r gains nothing.

The guesser sees the output and nothing else: this does not cover adaptive audits for δ > 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb

from tightdp.auditing.certificate import Game, WorstMechanism
from tightdp.auditing.linear_program import blind_share, largest_mean, mixed_with_blind
from tightdp.auditing.optimal import enclose, p_value, worst_mechanism
from tightdp.exact.arrays import np
from tightdp.exact.sums import binomial_weights

_GRID = 1 << 60


Parts = tuple[tuple[Fraction, WorstMechanism], ...]
"""Mechanisms with the probabilities to run them; the output says which was run. Empty where they are too long."""


@dataclass(frozen=True)
class Worst:
    """The largest probability is between `lower` and `upper`; the mixture of `parts`, if given, attains `lower`."""

    lower: Fraction
    upper: Fraction
    parts: Parts

    @property
    def mechanism(self) -> WorstMechanism | None:
        """The only part."""
        return self.parts[0][1] if len(self.parts) == 1 else None

    def delta(self, t: Fraction) -> Fraction:
        """Return the exact δ(t) of the mixture, t >= 1."""
        return sum((share * part.delta(t) for share, part in self.parts), Fraction(0))


def largest_probability(
    canaries: int, guesses: int, numbers: Collection[int], t: Fraction, delta: Fraction, evidence: bool = True
) -> Worst:
    """Return the largest P(number right is in `numbers`) over all (ln t, delta)-DP mechanisms and guessers, t >= 1.

    The guesser makes exactly `guesses` guesses on `canaries` canaries. Without `evidence`, a closed form is only
    enclosed, tightly, and no mechanism is returned.
    """
    if not numbers:
        return Worst(Fraction(0), Fraction(0), _whole(_blind(canaries, guesses)))
    least = min(numbers)
    if len(set(numbers)) <= guesses - least:
        return _of_set(canaries, guesses, frozenset(numbers), t, delta)
    if not least:
        return Worst(Fraction(1), Fraction(1), _whole(_blind(canaries, guesses)))
    game = Game(canaries, guesses, least)
    if not evidence:
        found = enclose(game, t, delta)
        return Worst(found.lower, found.upper, ())
    found, mechanism = p_value(game, t, delta), worst_mechanism(game, t, delta)
    lower = found.lower if mechanism is None else mechanism.at_least(least)
    return Worst(lower, found.upper, _whole(mechanism))


def largest_of_any_number(canaries: int, firsts: Mapping[int, int], t: Fraction, delta: Fraction) -> Worst:
    """Return the largest P(at least `firsts[r]` of r guesses right), where r may depend on the output.

    Numbers r without an entry `firsts[r]` are left out. The probability is exact.
    """
    if not firsts:
        return Worst(Fraction(0), Fraction(0), _whole(_blind(canaries, 1)))
    laws = {guesses: binomial_weights(guesses, *t.as_integer_ratio()) for guesses in firsts}
    tails = {r: Fraction(sum(laws[r][v:]), sum(laws[r])) for r, v in firsts.items()}
    gains = {r: tails[r] * canaries * sum(laws[r]) / (v * laws[r][v]) for r, v in firsts.items() if v}
    base = max(tails, key=lambda r: tails[r])
    spend = max(gains, key=lambda r: gains[r], default=base)
    share = min(Fraction(1), delta * gains.get(spend, 0))
    plain = WorstMechanism(canaries, base, 2, laws[base], sum(laws[base]))
    value = tails[base] + share * (1 - tails[base])
    if not share:
        return Worst(value, value, _whole(plain))
    weights = tuple(weight if i >= firsts[spend] else 0 for i, weight in enumerate(laws[spend]))
    sharp = WorstMechanism(canaries, spend, 2, weights, sum(weights))
    return Worst(value, value, ((1 - share, plain), (share, sharp)) if share < 1 else _whole(sharp))


def _whole(mechanism: WorstMechanism | None) -> Parts:
    return () if mechanism is None else ((Fraction(1), mechanism),)


def _blind(canaries: int, guesses: int) -> WorstMechanism:
    """Return the mechanism that reveals nothing: every guess is right with probability 1/2."""
    return WorstMechanism(canaries, guesses, 2, binomial_weights(guesses, 1, 1), 1 << guesses)


def _of_set(canaries: int, guesses: int, numbers: frozenset[int], t: Fraction, delta: Fraction) -> Worst:
    law, rising, falling = _solve(canaries, guesses, numbers, t, delta)
    mechanism = _repaired(Game(canaries, guesses, 0), law, t, delta)
    lower = Fraction(sum(mechanism.weights[i] for i in numbers), mechanism.total)
    upper = _dual_bound(canaries, guesses, numbers, t, delta, rising, falling)
    return Worst(lower, max(lower, min(upper, Fraction(1))), _whole(mechanism))


def _solve(
    canaries: int, guesses: int, numbers: Collection[int], t: Fraction, delta: Fraction
) -> tuple[list[float], list[float], list[float]]:
    """Solve the program in floats: the law, and the multipliers of both kinds of rows.

    Variables are p_0..p_r, then the excesses of a_i - t b_i and of b_i - t a_i, i = 1..r, times m.
    """
    r, slope = guesses, float(t)
    matrix = np.zeros((2 * r + 1, 3 * r + 1))
    for i in range(1, r + 1):
        matrix[i - 1, [i, i - 1, r + i]] = i, -slope * (r - i + 1), -1.0
        matrix[r + i - 1, [i - 1, i, 2 * r + i]] = r - i + 1, -slope * i, -1.0
    matrix[2 * r, r + 1 :] = 1.0
    bounds = np.zeros(2 * r + 1)
    bounds[-1] = float(canaries * delta)
    gain = np.zeros(3 * r + 1)
    gain[list(numbers)] = 1.0
    found = largest_mean(gain, matrix, bounds, r + 1, method="highs")
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
    x, z = ([Fraction(_rounded(value), _GRID) for value in (0.0, *values, 0.0)] for values in (rising, falling))
    constant = max(
        int(v in numbers) - (v * x[v] - t * (guesses - v) * x[v + 1]) - ((guesses - v) * z[v + 1] - t * v * z[v])
        for v in range(guesses + 1)
    )
    return constant + canaries * delta * max(*x, *z)


def _rounded(value: float) -> int:
    """Return a multiplier or a probability in units of 1/_GRID."""
    return round(max(0.0, value) * _GRID)


def _repaired(game: Game, law: Sequence[float], t: Fraction, delta: Fraction) -> WorstMechanism:
    """Return a mechanism near a law that has the guarantee exactly: the law mixed with blind guesses, as few as do."""
    weights = [_rounded(p) for p in law]
    plain = mixed_with_blind(game, weights, Fraction(0))
    share = blind_share(plain.delta(t), delta) if delta else _share_for_ratios(plain.law, t)
    return mixed_with_blind(game, weights, share)


def _share_for_ratios(law: Sequence[Fraction], t: Fraction) -> Fraction:
    """Return the share of blind guesses that brings all ratios of outcomes down to t."""
    guesses = len(law) - 1
    each = [p / comb(guesses, i) for i, p in enumerate(law)]
    excess = max(max(b - t * a, a - t * b) for a, b in pairwise(each))
    return excess / (excess + (t - 1) / (1 << guesses)) if excess > 0 else Fraction(0)
