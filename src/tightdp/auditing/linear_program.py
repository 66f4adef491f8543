"""The optimal one-run audit under several (e^ε, δ) pairs: HiGHS searches, exact rationals decide.

Program (notation of certificate.py): maximise Σ_{i>=v} p_i over p_0..p_r >= 0, Σ p_i = 1, and for each pair
Σ_i max(0, a_i - t b_i) <= δ. The floats of the solver never enter an answer: its multipliers are made a
certificate by the exact rows, its law a mechanism by an exact repair. Pairs are added as they are violated,
and only a window of indices around v is given to the solver.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tightdp.auditing.certificate import DualCertificate, Game, Spending, WorstMechanism, largest_spending
from tightdp.auditing.tradeoff import Pair
from tightdp.exact.arrays import np
from tightdp.exact.enclosure import BITS, float_above, round_up
from tightdp.exact.lazily import lazily
from tightdp.exact.sums import binomial_weights
from tightdp.limits.calibrated import AUDIT_ROUNDS

optimize = lazily("scipy.optimize")
sparse = lazily("scipy.sparse")

_SHIFT = 1060
_TINY = 2.0**-1000
"""Doubles above 2^-1000 are whole in units of 2^-_SHIFT."""
_LEAST_SHARE = Fraction(1, 1 << 60)
_SHARE_BITS = 128
_TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_CLOSE, _NOISE, _SPAN = 1e-5, 1e-9, 8
"""By what share a pair may be violated, what a solver gets wrong, and over how many indices growth is measured."""
_MARGINS = (1e-15, *(10.0**k for k in range(-13, -1)))


@dataclass(frozen=True)
class Solution:
    """What the solver found, in floats: the value, the law on first..first+len-1, a multiplier for each pair."""

    value: float
    first: int
    law: tuple[float, ...]
    multipliers: tuple[float, ...]


def search(game: Game, pairs: Sequence[Pair]) -> Solution:
    """Solve the program in floats, starting with a few pairs and a window around v."""
    slopes = np.array([float(t) for t, _ in pairs])
    deltas = np.array([float_above(delta) for _, delta in pairs])
    chosen = _spread(len(pairs))
    reach = max(40, math.ceil(6 * math.sqrt(game.guesses)))
    first, last = max(0, game.correct - reach), min(game.guesses, game.correct + reach)
    for rounds_left in reversed(range(AUDIT_ROUNDS)):
        value, law, found = _solve(game, slopes[chosen], deltas[chosen], first, last)
        low_cut, high_cut = first > 0 and law[0] > _NOISE, last < game.guesses and law[-1] > _NOISE
        excess = _excess(game, slopes, deltas, law, first)
        excess[chosen] = 0.0
        worst = [int(k) for k in np.argsort(-excess)[:AUDIT_ROUNDS] if excess[k] > _CLOSE * value]
        if not rounds_left or not (low_cut or high_cut or worst):
            break
        first = max(0, first - 2 * reach) if low_cut else first
        last = min(game.guesses, last + 2 * reach) if high_cut else last
        if not (low_cut or high_cut):
            chosen = sorted({*chosen, *worst})
    multipliers = np.zeros(len(pairs))
    multipliers[chosen] = np.maximum(found, 0.0)
    return Solution(value, first, tuple(map(float, law)), tuple(map(float, multipliers)))


def certify(game: Game, pairs: Sequence[Pair], multipliers: Sequence[float], value: float) -> DualCertificate:
    """Turn multipliers found in floats into a certificate: the least constant and capacity that the rows require.

    Pairs without a multiplier are left out. The constant is tried a little above the one that goes with
    `value`, by a share of it or by a fixed amount.
    """
    kept = [(pair, Fraction(y)) for pair, y in zip(pairs, multipliers, strict=True) if y > 0]
    kept = kept or [(pairs[0], Fraction(0))]
    used = tuple(pair for pair, _ in kept)
    spent = [_short(y) for _, y in kept]
    point = DualCertificate.of(game, used, Fraction(1), tuple(spent))
    weighted = float(point.bound) - 1
    best = replace(point, multipliers=tuple(Fraction(0) for _ in spent))
    for margin in (*(value * share for share in _MARGINS), *_MARGINS):
        constant = _short(Fraction(max(0.0, value - weighted)) + Fraction(margin))
        tried = _completed(replace(point, constant=constant))
        if tried is not None and tried.bound < best.bound:
            best = tried
        elif best.bound < 1:
            break
    return best


def _solve(game: Game, slopes: Any, deltas: Any, first: int, last: int) -> tuple[float, Any, Any]:
    """Solve the program on a window of indices; rows are scaled by m / r so that all entries are near 1."""

    size, count, indices = last - first + 1, len(slopes), np.arange(first + 1, last + 1)
    right = indices / game.guesses
    wrong = (game.guesses - indices + 1) / (game.guesses * (game.options - 1))
    pair, step = np.divmod(np.arange(rows := count * (size - 1)), size - 1)
    at = np.arange(rows)
    entries = (
        (at, step + 1, right[step]),
        (at, step, -slopes[pair] * wrong[step]),
        (at, size + at, -np.ones(rows)),
        (rows + pair, size + at, np.ones(rows)),
    )
    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    matrix = sparse.coo_matrix((value, (row, column)), shape=(rows + count, size + rows)).tocsc()
    bounds = np.concatenate([np.zeros(rows), deltas * game.canaries / game.guesses])
    gain = np.zeros(size + rows)
    gain[game.correct - first : size] = 1.0
    law = (np.arange(len(gain)) < size).astype(float)[np.newaxis, :]
    result = optimize.linprog(
        -gain, A_ub=matrix, b_ub=bounds, A_eq=law, b_eq=[1.0], method="highs-ds", options=_TOLERANCES
    )
    if result.x is None:
        return 1.0, np.full(size, 1.0 / size), np.zeros(count)
    return -result.fun, result.x[:size], -result.ineqlin.marginals[rows:] / game.guesses


def _excess(game: Game, slopes: Any, deltas: Any, law: Any, first: int) -> Any:
    """Return by how much the law violates each pair, in the scaling of `_solve`."""
    indices = np.arange(first + 1, first + len(law))
    right = law[1:] * indices / game.guesses
    wrong = law[:-1] * (game.guesses - indices + 1) / (game.guesses * (game.options - 1))
    costs = np.array([np.maximum(right - t * wrong, 0.0).sum() for t in slopes])
    return costs - deltas * game.canaries / game.guesses


def _spread(count: int) -> list[int]:
    return sorted({round(i * (count - 1) / (AUDIT_ROUNDS - 1)) for i in range(AUDIT_ROUNDS)})


def _short(value: Fraction) -> Fraction:
    """Round up to half the working precision."""
    return round_up(value, BITS // 2)


def _completed(point: DualCertificate) -> DualCertificate | None:
    """Raise the last multiplier by what the rows need beyond the total; None where the constant is too small."""
    spending = Spending(point.pairs, point.multipliers)
    largest = largest_spending(point, spending, math.floor(point.constant * (1 << BITS)))
    if largest is None:
        return None
    missing = max(0, largest - spending.total) + 1
    last = _short(point.multipliers[-1] + Fraction(missing, 1 << BITS))
    return replace(point, multipliers=(*point.multipliers[:-1], last))


# from a law found in floats to a mechanism


def mechanism(game: Game, pairs: Sequence[Pair], solution: Solution) -> WorstMechanism:
    """Turn the law found in floats into a mechanism that satisfies all pairs exactly.

    The law is extended to all indices, made monotone in u, and mixed with blind guessing, which adds a
    constant to u and has δ(t) = 0 for all t >= 1: a small share absorbs roundings, the least share that meets
    all pairs is taken.
    """
    weights = _extended(game, pairs, solution)
    if not any(weights):  # nothing but underflows
        return _mixed_with_blind(game, weights, Fraction(1))
    plain = _mixed_with_blind(game, weights, Fraction(0))
    share = max([_LEAST_SHARE, *(_blind_share(plain.delta(t), delta) for t, delta in pairs if delta > 0)])
    pure = [t for t, delta in pairs if delta == 0]
    while True:
        found = _mixed_with_blind(game, weights, min(Fraction(1), share))
        if share >= 1 or not any(found.delta(t) for t in pure):
            return found
        share *= 1 << 10


def _blind_share(cost: Fraction, delta: Fraction) -> Fraction:
    """Return the least share of blind guessing that brings δ(t) down from a cost: it is convex in the law."""
    return min(Fraction(1), round_up(1 - delta / cost, _SHARE_BITS)) if cost > delta else Fraction(0)


def _mixed_with_blind(game: Game, weights: Sequence[int], share: Fraction) -> WorstMechanism:
    """Return the mechanism with the law (1 - share) weights + share blind guessing."""
    others, total = game.options - 1, max(1, sum(weights))
    blind = binomial_weights(game.guesses, 1, others)
    blind_total = game.options**game.guesses
    ours, theirs = (share.denominator - share.numerator) * blind_total, share.numerator * total
    numbers = tuple(ours * weight + theirs * count for weight, count in zip(weights, blind, strict=True))
    return WorstMechanism(game.canaries, game.guesses, game.options, numbers, share.denominator * blind_total * total)


def continued(game: Game, solution: Solution) -> Solution:
    """Return the law on all indices: where it is smaller than a solver's errors, u is extrapolated."""
    trusted = [solution.first + j for j, p in enumerate(solution.law) if p > _NOISE]
    if len(trusted) <= 2 * _SPAN:
        return solution
    low, high = trusted[0], trusted[-1]
    law = [0.0] * (game.guesses + 1)
    law[low : high + 1] = solution.law[low - solution.first : high + 1 - solution.first]
    extrapolate(game, law, low, high, _SPAN)
    return replace(solution, first=0, law=tuple(law))


def extrapolate(game: Game, law: list[float], low: int, high: int, span: int) -> None:
    """Fill in a law below `low` and above `high`: there u grows as it does over so many indices before."""

    def blind(i: int) -> float:
        """Return p_{i-1} / p_i where u is constant."""
        return i * (game.options - 1) / (game.guesses - i + 1)

    def growth(start: int) -> float:
        logs = sum(math.log(blind(i)) for i in range(start + 1, start + span + 1))
        return math.exp((math.log(law[start + span] / law[start]) + logs) / span)

    if law[low] and law[low + span]:
        rate = growth(low)
        for i in range(low, 0, -1):
            law[i - 1] = law[i] * blind(i) / rate
    if law[high] and law[high - span]:
        rate = growth(high - span)
        for i in range(high + 1, game.guesses + 1):
            law[i] = law[i - 1] * rate / blind(i)


def _extended(game: Game, pairs: Sequence[Pair], solution: Solution) -> list[int]:
    """Return integer weights of a law with u nondecreasing, and growing by at most t wherever δ(t) = 0.

    Beyond the window and where floats underflow, u grows by the smallest t; but where `correct` right guesses can be
    made for certain, fewer have no weight. The integers are long enough for the smallest probability, so that rounding
    does not disturb these ratios at the ends.
    """
    guesses, others, correct = game.guesses, game.options - 1, game.correct
    gentle = pairs[0][0]
    steep = min((t for t, delta in pairs if delta == 0), default=None)
    certain = steep is None and solution.value > 1 - _NOISE
    shift = _SHIFT + math.ceil(guesses * (math.log2(game.options) + math.log2(1 + gentle)))
    known = {solution.first + j: _scaled(p) << (shift - _SHIFT) for j, p in enumerate(solution.law) if p > _TINY}
    weights = [known.get(i, 0) for i in range(guesses + 1)]
    for i in range(correct + 1, guesses + 1):
        growth = Fraction(1) if i in known else gentle
        least = -(-weights[i - 1] * (guesses - i + 1) * growth.numerator // (i * others * growth.denominator))
        weights[i] = max(weights[i], least)
    for i in range(correct, 0, -1):
        most = weights[i] * i * others // (guesses - i + 1)
        if i - 1 not in known and not certain:
            weights[i - 1] = most * gentle.denominator // gentle.numerator
        weights[i - 1] = min(weights[i - 1], most)
    if steep is not None:
        for i in range(guesses, 0, -1):
            factor, divisor = i * others * steep.denominator, (guesses - i + 1) * steep.numerator
            weights[i - 1] = max(weights[i - 1], -(-weights[i] * factor // divisor))
    return weights


def _scaled(value: float) -> int:
    """Return a float above 2^-_SHIFT in units of 2^-_SHIFT, rounded down."""
    up, down = value.as_integer_ratio()
    return (up << _SHIFT) // down
