"""The mechanism on which a one-run audit goes wrong most often, among all with an (ε, δ) guarantee.

For any set R of numbers of right guesses, the largest probability that their number falls into R is that of a symmetric
mechanism (see `auditing/certificate.py`): a linear program over p_0..p_r. Where R is {v, v+1, ..., r}, as for every
rule that reports more for more right guesses, its value is known in closed form and attained by an explicit mechanism.
For other R the program is solved (`exact/linear_program.py`): its dual point gives an upper bound, and its primal point
an explicit mechanism.

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
from typing import TYPE_CHECKING

from flint import fmpq

from tightdp.auditing.certificate import Game, WorstMechanism
from tightdp.auditing.optimal import enclose, p_value, worst_mechanism
from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.exact.lazily import lazily
from tightdp.exact.sums import binomial_weights

if TYPE_CHECKING:
    from tightdp.exact import linear_program as linear
    from tightdp.exact.linear_program import LinearProgram
else:
    linear = lazily("tightdp.exact.linear_program")

Parts = tuple[tuple[Fraction, WorstMechanism], ...]
"""Mechanisms with the probabilities to run them; the output says which was run. Empty where they are too long."""


@dataclass(frozen=True)
class Worst:
    """The largest probability is between `lower` and `upper`; the mixture of `parts`, if given, attains `lower`."""

    lower: Fraction
    upper: Fraction
    parts: Parts


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
    """Return both ends for any set of numbers: they are equal where a vertex of the program is found."""
    best, upper = _blind(canaries, guesses), Fraction(1)
    program = _program(canaries, guesses, numbers, t, delta)

    def reached(mechanism: WorstMechanism) -> Fraction:
        return Fraction(sum(mechanism.weights[i] for i in numbers), mechanism.total)

    for near in linear.approximations(program):
        point = linear.exact_primal(program, near) or {}
        law = [as_fraction(point.get(i, fmpq(0))) for i in range(guesses + 1)]
        if sum(law) == 1 and min(law) >= 0:
            found = WorstMechanism.from_law(canaries, guesses, 2, law)
            best = max(best, found, key=reached) if found.delta(t) <= delta else best
        multipliers = linear.exact_dual(program, near) or {}
        rows = [max(as_fraction(multipliers.get(at, fmpq(0))), Fraction(0)) for at in range(2 * guesses)]
        upper = min(upper, _dual_bound(canaries, numbers, t, delta, rows[:guesses], rows[guesses:]))
        if reached(best) == upper:
            break
    return Worst(reached(best), upper, _whole(best))


def _program(canaries: int, guesses: int, numbers: Collection[int], t: Fraction, delta: Fraction) -> LinearProgram:
    """Return the program for the law of the number of right guesses.

    Its columns are p_0..p_r, then the excesses of a_i - t b_i and of b_i - t a_i, i = 1..r, times m.
    """
    r, slope, one = guesses, as_fmpq(t), fmpq(1)
    rising = [{i: fmpq(i), i - 1: -slope * (r - i + 1), r + i: -one} for i in range(1, r + 1)]
    falling = [{i - 1: fmpq(r - i + 1), i: -slope * i, 2 * r + i: -one} for i in range(1, r + 1)]
    rows = [linear.Row(terms, fmpq(0)) for terms in (*rising, *falling)]
    rows.append(linear.Row(dict.fromkeys(range(r + 1, 3 * r + 1), one), as_fmpq(canaries * delta)))
    rows.append(linear.Row(dict.fromkeys(range(r + 1), one), one, tight=True))
    return linear.LinearProgram(3 * r + 1, dict.fromkeys(numbers, one), rows)


def _dual_bound(
    canaries: int,
    numbers: Collection[int],
    t: Fraction,
    delta: Fraction,
    rising: Sequence[Fraction],
    falling: Sequence[Fraction],
) -> Fraction:
    """Return the value of a dual point: an upper bound, whatever its multipliers are.

    With multipliers 0 <= x_i, z_i <= y of the rows, the constant is the least that makes every column true.
    """
    guesses = len(rising)
    x, z = ([Fraction(0), *values, Fraction(0)] for values in (rising, falling))
    constant = max(
        int(v in numbers) - (v * x[v] - t * (guesses - v) * x[v + 1]) - ((guesses - v) * z[v + 1] - t * v * z[v])
        for v in range(guesses + 1)
    )
    return constant + canaries * delta * max(*x, *z)
