"""The optimal one-run audit under several (e^ε, δ) pairs: HiGHS searches, exact rationals decide.

Program (notation of certificate.py): maximise Σ_{i>=v} p_i over p_0..p_r >= 0, Σ p_i = 1, and for each pair
Σ_i max(0, a_i - t b_i) <= δ. The floats of the solver never enter an answer: its multipliers are made a
certificate by the exact rows, its law a mechanism by an exact repair (repair.py). Pairs are added as they are violated,
and only a window of indices around v is given to the solver.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tightdp.auditing.certificate import DualCertificate, Spending, largest_spending
from tightdp.auditing.tradeoff import Pair
from tightdp.exact.enclosure import BITS, float_above

__all__ = ["Game", "Solution", "certify", "largest_mean", "near", "search"]

_ROUNDS = 12
_START = 12
_ADDED = 8
_MANY = 24
_TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_CLOSE = 1e-5
_CUT = 1e-9
_BAND = 0.04
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
    """Solve the program in floats, starting with a few pairs and a window around v."""
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
    """Turn multipliers found in floats into a certificate: the least constant and capacity that the rows require.

    Pairs without a multiplier are left out. The constant is tried a little above the one that goes with
    `value`, by a share of it or by a fixed amount.
    """
    kept = [(pair, Fraction(y)) for pair, y in zip(pairs, multipliers, strict=True) if y > 0]
    kept = kept or [(pairs[0], Fraction(0))]
    used = tuple(pair for pair, _ in kept)
    spent = [_short(y) for _, y in kept]
    point = DualCertificate(game.canaries, game.guesses, game.correct, game.options, used, Fraction(1), tuple(spent))
    weighted = float(point.bound) - 1
    best = replace(point, constant=Fraction(1), multipliers=tuple(Fraction(0) for _ in spent))
    for margin in (*(value * share for share in _MARGINS), *_MARGINS):
        constant = _short(Fraction(max(0.0, value - weighted)) + Fraction(margin))
        tried = _completed(replace(point, constant=constant))
        if tried is not None and tried.bound < best.bound:
            best = tried
        elif best.bound < 1:
            break
    return best


def _solve(game: Game, slopes: Any, deltas: Any, first: int, last: int, distance: Any = None) -> tuple[float, Any, Any]:
    """Solve the program on a window of indices; rows are scaled by m / r so that all entries are near 1.

    `distance` (pairs by indices) is ln t - ln(a_i / b_i) of a nearby law, see `near`; without it all is open.
    """
    import numpy as np
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
    gain[game.correct - first : size] = 1.0
    result = largest_mean(gain, matrix, bounds, size, method="highs-ds", options=_TOLERANCES)
    if result.x is None:
        return 1.0, np.full(size, 1.0 / size), np.zeros(count)
    return -result.fun, result.x[:size], -result.ineqlin.marginals[rows:] / game.guesses


def largest_mean(gain: Any, matrix: Any, bounds: Any, size: int, **options: Any) -> Any:
    """Solve in floats: the largest gain·z of z >= 0 whose first `size` entries are a law, where matrix·z <= bounds.

    Returns SciPy's result; its `x` is None where the solver gave up.
    """
    import numpy as np
    from scipy.optimize import linprog

    total = (np.arange(len(gain)) < size).astype(float)[np.newaxis, :]
    return linprog(-gain, A_ub=matrix, b_ub=bounds, A_eq=total, b_eq=[1.0], **options)


def _excess(game: Game, slopes: Any, deltas: Any, law: Any, first: int) -> Any:
    """Return by how much the law violates each pair, in the scaling of `_solve`."""
    import numpy as np

    indices = np.arange(first + 1, first + len(law))
    right = law[1:] * indices / game.guesses
    wrong = law[:-1] * (game.guesses - indices + 1) / (game.guesses * (game.options - 1))
    costs = np.array([np.maximum(right - t * wrong, 0.0).sum() for t in slopes])
    return costs - deltas * game.canaries / game.guesses


def _renewed(chosen: list[int], found: Any, worst: list[int]) -> list[int]:
    """Add the violated pairs; when many are in use, drop those that are not binding."""
    idle = {k for k, y in zip(chosen, found, strict=True) if y <= 0.0} if len(chosen) > _MANY else set()
    return sorted({*chosen, *worst} - idle)


def _spread(count: int) -> list[int]:
    return sorted({round(i * (count - 1) / (_START - 1)) for i in range(_START)})


def _short(value: Fraction) -> Fraction:
    """Round up to half the working precision."""
    return Fraction(-((-value.numerator << (BITS // 2)) // value.denominator), 1 << (BITS // 2))


def _completed(point: DualCertificate) -> DualCertificate | None:
    """Raise the last multiplier by what the rows need beyond the total; None where the constant is too small."""
    spending = Spending(point.pairs, point.multipliers)
    largest = largest_spending(point, spending, math.floor(point.constant * (1 << BITS)))
    if largest is None:
        return None
    missing = max(0, largest - spending.total) + 1
    last = _short(point.multipliers[-1] + Fraction(missing, 1 << BITS))
    return replace(point, multipliers=(*point.multipliers[:-1], last))
