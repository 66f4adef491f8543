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

from tightdp.query.audit.certificate import DualCertificate, Spending, WorstMechanism, largest_spending
from tightdp.query.audit.enclosure import BITS, float_above
from tightdp.query.audit.tradeoff import Pair

__all__ = ["Game", "Solution", "certify", "mechanism", "near", "search"]

_ROUNDS = 12
_START = 12
_ADDED = 8
_MANY = 24
_TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_CLOSE = 1e-5
_CUT = 1e-9
_BAND = 0.04
_SHIFT = 300
_TINY = 2.0**-240
_LEAST_SHARE = Fraction(1, 1 << 60)
_MARGINS = (1e-15, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True)
class Game:
    """The numbers of one observation: m canaries, r guesses, v right, k options."""

    canaries: int
    guesses: int
    correct: int
    options: int = 2


@dataclass(frozen=True)
class Solution:
    """What the solver found, in floats: the value, the law on first..first+len-1, a multiplier for each pair."""

    value: float
    first: int
    law: tuple[float, ...]
    multipliers: tuple[float, ...]


def search(game: Game, pairs: Sequence[Pair]) -> Solution:
    """Solve the program in floats, beginning with a few pairs and a window around v."""
    import numpy as np

    slopes = np.array([float(t) for t, _ in pairs])
    deltas = np.array([float_above(delta) for _, delta in pairs])
    chosen = _spread(len(pairs))
    reach = max(40, math.ceil(6 * math.sqrt(game.guesses)))
    first, last = max(0, game.correct - reach), min(game.guesses, game.correct + reach)
    for rounds_left in reversed(range(_ROUNDS)):
        value, law, found = _solve(game, slopes[chosen], deltas[chosen], first, last)
        low_cut, high_cut = first > 0 and law[0] > _CUT, last < game.guesses and law[-1] > _CUT
        excess = _excess(game, slopes, deltas, law, first)
        excess[chosen] = 0.0
        worst = [int(k) for k in np.argsort(-excess)[:_ADDED] if excess[k] > _CLOSE * value]
        if not rounds_left or not (low_cut or high_cut or worst):
            break
        first = max(0, first - 2 * reach) if low_cut else first
        last = min(game.guesses, last + 2 * reach) if high_cut else last
        if not (low_cut or high_cut):
            chosen = _renewed(chosen, found, worst)
    multipliers = np.zeros(len(pairs))
    multipliers[chosen] = np.maximum(found, 0.0)
    return Solution(value, first, tuple(map(float, law)), tuple(map(float, multipliers)))


def near(game: Game, pairs: Sequence[Pair], law: Sequence[float]) -> tuple[float, list[float]]:
    """Solve the program near a law that is almost optimal: the value and a multiplier for each pair.

    Where the ratio a_i / b_i of the law is well above t, max(0, a_i - t b_i) is taken to be a_i - t b_i,
    where it is well below, 0. This leaves few rows; both replacements only lower a cost, so the value is an
    upper estimate.
    """
    import numpy as np

    heavy = [i for i, p in enumerate(law) if p > _CUT]
    first, last = min(heavy), max(heavy)
    slopes = np.array([float(t) for t, _ in pairs])
    deltas = np.array([float_above(delta) for _, delta in pairs])
    others, indices = game.options - 1, np.arange(first + 1, last + 1)
    values = np.maximum(np.array(law[first : last + 1]), 1e-300)
    ratios = values[1:] * indices * others / (values[:-1] * (game.guesses - indices + 1))
    distance = np.log(slopes)[:, None] - np.log(np.maximum(ratios, 1e-9))[None, :]
    value, _, found = _solve(game, slopes, deltas, first, last, distance)
    return value, [max(0.0, float(y)) for y in found]


def certify(game: Game, pairs: Sequence[Pair], multipliers: Sequence[float], value: float) -> DualCertificate:
    """Make multipliers found in floats a certificate: the least constant, and the capacity, that the rows ask
    for.

    Pairs without a multiplier are left out. The constant is tried a little above the one that goes with
    `value`.
    """
    kept = [(pair, Fraction(y)) for pair, y in zip(pairs, multipliers, strict=True) if y > 0]
    kept = kept or [(pairs[0], Fraction(0))]
    used = tuple(pair for pair, _ in kept)
    spent = [_short(y) for _, y in kept]
    point = DualCertificate(game.canaries, game.guesses, game.correct, game.options, used, Fraction(1), tuple(spent))
    weighted = float(point.bound) - 1
    best = replace(point, constant=Fraction(1), multipliers=tuple(Fraction(0) for _ in spent))
    for margin in _MARGINS:
        constant = _short(Fraction(max(0.0, value - weighted)) + Fraction(margin))
        tried = _completed(replace(point, constant=constant))
        if tried is not None and tried.bound < best.bound:
            best = tried
    return best


def mechanism(game: Game, pairs: Sequence[Pair], solution: Solution) -> WorstMechanism:
    """Make the law found in floats a mechanism that satisfies all pairs exactly.

    The law is extended to all indices, made monotone in u, and mixed with blind guessing, which adds a
    constant to u and has δ(t) = 0 for all t >= 1: a small share absorbs roundings, the least share that meets
    all pairs is taken.
    """
    weights = _extended(game, pairs, solution)
    total = sum(weights)
    share = max([_LEAST_SHARE, *(_excess_share(game, weights, total, pair) for pair in pairs if pair[1] > 0)])
    pure = [t for t, delta in pairs if delta == 0]
    while True:
        numbers, common = _mixed(game, weights, total, min(Fraction(1), share))
        if share >= 1 or all(_is_pure(game, numbers, t) for t in pure):
            return WorstMechanism(game.canaries, game.guesses, game.options, tuple(numbers), common)
        share *= 1 << 10


def _mixed(game: Game, weights: list[int], total: int, share: Fraction) -> tuple[list[int], int]:
    """Return integers proportional to (1 - share) law + share blind, and their sum."""
    blind_total = game.options**game.guesses
    ours, theirs = (share.denominator - share.numerator) * blind_total, share.numerator * total
    numbers, count = [], (game.options - 1) ** game.guesses
    for i, weight in enumerate(weights):
        numbers.append(ours * weight + theirs * count)
        count = count * (game.guesses - i) // ((i + 1) * (game.options - 1))
    return numbers, share.denominator * blind_total * total


def _is_pure(game: Game, numbers: list[int], t: Fraction) -> bool:
    """Whether a law in integers satisfies pure DP with e^ε = t."""
    up, down, others = t.numerator, t.denominator, game.options - 1
    for i in range(1, game.guesses + 1):
        ours, theirs = numbers[i] * i * others, numbers[i - 1] * (game.guesses - i + 1)
        if ours * down > theirs * up or theirs * down > ours * up:
            return False
    return True


def _solve(game: Game, slopes: Any, deltas: Any, first: int, last: int, distance: Any = None) -> tuple[float, Any, Any]:
    """Solve the program on a window of indices; rows are scaled by m / r so that all entries are near 1.

    `distance` (pairs by indices) is ln t - ln(a_i / b_i) of a nearby law, see `near`; without it all is open.
    """
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    size, count, indices = last - first + 1, len(slopes), np.arange(first + 1, last + 1)
    right = indices / game.guesses
    wrong = (game.guesses - indices + 1) / (game.guesses * (game.options - 1))
    distance = np.zeros((count, size - 1)) if distance is None else distance
    pair, step = np.nonzero(np.abs(distance) <= _BAND)
    linear_pair, linear_step = np.nonzero(distance < -_BAND)
    at, rows = np.arange(len(pair)), len(pair)
    entries = (
        (at, step + 1, right[step]),
        (at, step, -slopes[pair] * wrong[step]),
        (at, size + at, -np.ones(rows)),
        (rows + pair, size + at, np.ones(rows)),
        (rows + linear_pair, linear_step + 1, right[linear_step]),
        (rows + linear_pair, linear_step, -slopes[linear_pair] * wrong[linear_step]),
    )
    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    matrix = coo_matrix((value, (row, column)), shape=(rows + count, size + rows)).tocsc()
    bounds = np.concatenate([np.zeros(rows), deltas * game.canaries / game.guesses])
    gain = np.zeros(size + rows)
    gain[game.correct - first : size] = -1.0
    ones = coo_matrix((np.ones(size), (np.zeros(size, int), np.arange(size))), shape=(1, size + rows))
    result = linprog(gain, A_ub=matrix, b_ub=bounds, A_eq=ones, b_eq=[1.0], method="highs-ds", options=_TOLERANCES)
    if result.x is None:
        return 1.0, np.full(size, 1.0 / size), np.zeros(count)
    return -result.fun, result.x[:size], -result.ineqlin.marginals[rows:] / game.guesses


def _excess(game: Game, slopes: Any, deltas: Any, law: Any, first: int) -> Any:
    """Return by how much the law violates each pair, in the scaling of `_solve`."""
    import numpy as np

    indices = np.arange(first + 1, first + len(law))
    right = law[1:] * indices / game.guesses
    wrong = law[:-1] * (game.guesses - indices + 1) / (game.guesses * (game.options - 1))
    costs = np.array([np.maximum(right - t * wrong, 0.0).sum() for t in slopes])
    return costs - deltas * game.canaries / game.guesses


def _renewed(chosen: list[int], found: Any, worst: list[int]) -> list[int]:
    """Add the violated pairs; when many are in use, leave out those that do not bind."""
    idle = {k for k, y in zip(chosen, found, strict=True) if y <= 0.0} if len(chosen) > _MANY else set()
    return sorted({*chosen, *worst} - idle)


def _spread(count: int) -> list[int]:
    return sorted({round(i * (count - 1) / (_START - 1)) for i in range(_START)})


def _short(value: Fraction) -> Fraction:
    """Round up to half the working precision."""
    return Fraction(-((-value.numerator << (BITS // 2)) // value.denominator), 1 << (BITS // 2))


def _completed(point: DualCertificate) -> DualCertificate | None:
    """Add to the last multiplier what the rows need beyond the total; None where the constant is too small."""
    spending = Spending(point.pairs, point.multipliers)
    largest = largest_spending(point, spending, math.floor(point.constant * (1 << BITS)))
    if largest is None:
        return None
    missing = max(0, largest - spending.total) + 1
    last = _short(point.multipliers[-1] + Fraction(missing, 1 << BITS))
    return replace(point, multipliers=(*point.multipliers[:-1], last))


def _extended(game: Game, pairs: Sequence[Pair], solution: Solution) -> list[int]:
    """Return integer weights of a law with u nondecreasing, and growing by at most t wherever δ(t) = 0.

    Beyond the window and where floats underflow, u grows by the smallest t. The integers are long enough for
    the smallest probability, so that rounding does not disturb these ratios at the ends.
    """
    guesses, others, correct = game.guesses, game.options - 1, game.correct
    gentle = pairs[0][0]
    steep = min((t for t, delta in pairs if delta == 0), default=None)
    shift = _SHIFT + math.ceil(guesses * (math.log2(game.options) + math.log2(1 + gentle)))
    known = {
        solution.first + j: int(math.ldexp(p, _SHIFT)) << (shift - _SHIFT)
        for j, p in enumerate(solution.law)
        if p > _TINY
    }
    weights = [known.get(i, 0) for i in range(guesses + 1)]
    for i in range(correct + 1, guesses + 1):
        growth = Fraction(1) if i in known else gentle
        least = -(-weights[i - 1] * (guesses - i + 1) * growth.numerator // (i * others * growth.denominator))
        weights[i] = max(weights[i], least)
    for i in range(correct, 0, -1):
        most = weights[i] * i * others // (guesses - i + 1)
        if i - 1 not in known:
            weights[i - 1] = most * gentle.denominator // gentle.numerator
        weights[i - 1] = min(weights[i - 1], most)
    if steep is not None:
        for i in range(guesses, 0, -1):
            factor, divisor = i * others * steep.denominator, (guesses - i + 1) * steep.numerator
            weights[i - 1] = max(weights[i - 1], -(-weights[i] * factor // divisor))
    return weights


def _excess_share(game: Game, weights: list[int], total: int, pair: Pair) -> Fraction:
    """Return the least share of blind guessing that brings δ(t) down to δ."""
    (t, delta), guesses, others = pair, game.guesses, game.options - 1
    up, down, cost = t.numerator, t.denominator, 0
    for i in range(1, guesses + 1):
        ours, theirs = weights[i] * i * others, weights[i - 1] * (guesses - i + 1)
        cost += max(0, ours * down - theirs * up) + max(0, theirs * down - ours * up)
    allowed = delta * total * game.canaries * others * down
    if cost <= allowed:
        return Fraction(0)
    return min(Fraction(1), _short(1 - allowed / cost))
