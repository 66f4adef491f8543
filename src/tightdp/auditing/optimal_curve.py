"""The optimal one-run audit under a trade-off function: certified from both sides.

A polygon goes to the linear program, a smooth curve to a recursion from v outward. Either way the upper end
is an exact dual certificate against pairs that the guarantee implies, the lower end an exact mechanism that
satisfies pairs which imply the guarantee.

The recursion. At the optimum the likelihood ratios u_i / u_{i-1} are largest at i = v and fall on either side, so the
binding tests are intervals that grow from {v}. Given the order in which they take in indices, and p_v, all of
them being tight, Σ a = 1 - f(Σ b), determines the law one index at a time (a is known and b follows on the
left, b is known and a follows on the right); the total probability determines p_v. The slopes of f at these
points and the same order determine the dual: S_i falls along the order, and its steps are the multipliers.
The order is right when the dual that it yields is in that order; then primal and dual are feasible with equal
values. A wrong order is replaced by the one of its dual. All of this is a search in floats: the result is
used only after an exact check.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from tightdp.auditing import fdp
from tightdp.auditing.certificate import DualCertificate, Game, WorstMechanism
from tightdp.auditing.linear_program import Solution, certify, continued, extrapolate, mechanism, search
from tightdp.auditing.tradeoff import Curve, Pair, Polygon
from tightdp.exact.enclosure import Enclosure
from tightdp.exact.lazily import lazily
from tightdp.limits.calibrated import AUDIT_ROUNDS, AUDIT_SLOPES

optimize = lazily("scipy.optimize")

_DEEPEST = 700.0
_OVERFLOW, _NEGLIGIBLE = 2.0, 1e-22
"""A total at which a law is not written on: p_v is too large for it."""
_SLOPPY, _NEARLY = 1e-4, 1e-9
_TIE = 1e-9


@dataclass(frozen=True)
class Optimum:
    """The optimal p-value, between the probability of `mechanism` and the bound of `certificate`.

    Where floats find no certificate below 1, the upper end is the bound of the recursion (fdp.py) instead.
    """

    p_value: Enclosure
    certificate: DualCertificate
    mechanism: WorstMechanism


def optimum(game: Game, tradeoff: Polygon | Curve) -> Optimum:
    """Enclose the largest probability of at least `game.correct` >= 1 right guesses under the guarantee."""
    if isinstance(tradeoff, Polygon):
        solution = search(game, tradeoff.pairs)
        proof = certify(game, tradeoff.pairs, solution.multipliers, solution.value)
        attained = mechanism(game, tradeoff.pairs, continued(game, solution))
    else:
        shot = shoot(game, tradeoff)
        proof = _proof(game, tradeoff, shot)
        attained = _attained(game, tradeoff, shot)
    upper = min(Fraction(1), proof.bound)
    if upper == 1 and not isinstance(tradeoff, Polygon):
        upper = fdp.p_value(game, tradeoff).upper  # above the optimum, where that is too close to 1 for floats
    return Optimum(Enclosure(min(attained.at_least(game.correct), upper), upper), proof, attained)


def upper_bound(game: Game, curve: Curve, near_by: Shot | None = None) -> DualCertificate:
    """Return the certificate alone; the search begins with a shot for a similar curve."""
    return _proof(game, curve, shoot(game, curve, near_by, AUDIT_ROUNDS))


def _attained(game: Game, curve: Curve, shot: Shot) -> WorstMechanism:
    """Return a mechanism under the guarantee that gets `correct` right about as often as the shot."""
    game, shot = (game, shot) if shot.even else _harder(game, curve, shot)
    law = shot.law if shot.even else (*[0.0] * game.guesses, 1.0)
    inner = curve.inner(_slopes(shot) if shot.even else curve.logs(AUDIT_SLOPES))
    return mechanism(game, inner, Solution(shot.value, 0, law, ()))


def _harder(game: Game, curve: Curve, shot: Shot) -> tuple[Game, Shot]:
    """Return the game with the least larger number of right guesses whose optimum is visibly below 1, and its
    shot: at least `correct` are right there too.
    """
    low, high = game.correct, game.guesses + 1
    while high - low > 1:
        middle = game.guesses if high > game.guesses else (low + high) // 2
        found = shoot(replace(game, correct=middle), curve)
        if found.even:
            high, shot = middle, found
        else:
            low = middle
    return replace(game, correct=min(high, game.guesses)), shot


def _proof(game: Game, curve: Curve, shot: Shot) -> DualCertificate:
    if not shot.even:
        return certify(game, curve.outer([0.0])[:1], [0.0], 1.0)
    pairs = curve.outer(_slopes(shot))
    if shot.settled:
        return certify(game, pairs, _gathered(pairs, shot), shot.value)
    # Where two indices are tied at the optimum no order is confirmed: the linear program supplies the multipliers.
    found = search(game, pairs)
    return certify(game, pairs, found.multipliers, found.value)


def _slopes(shot: Shot) -> list[float]:
    """Return the log slopes of the tests that matter, at most some AUDIT_SLOPES of them, evenly by rank."""
    heavy = max(shot.multipliers) * 1e-12 if shot.settled else -1.0
    logs = sorted({log for log, y in zip(shot.logs, shot.multipliers, strict=True) if y > heavy and log < _DEEPEST})
    step = max(1, len(logs) // AUDIT_SLOPES)
    return sorted({*logs[::step], *logs[-4:]})


def _gathered(pairs: tuple[Pair, ...], shot: Shot) -> list[float]:
    """Assign each multiplier to the pair whose slope is nearest."""
    logs = [math.log(t) for t, _ in pairs]
    found = [0.0] * len(pairs)
    for log, y in zip(shot.logs, shot.multipliers, strict=True):
        at = min(bisect_left(logs, log), len(logs) - 1)
        if at and log - logs[at - 1] < logs[at] - log:
            at -= 1
        found[at] += y
    return found


# the recursion

Affine = tuple[float, float]
"""(a, b) stands for a + b λ."""


@dataclass(frozen=True)
class Shot:
    """A law with all its binding tests: value, law on 0..r, log slopes and multipliers of the tests.

    `peak` is ln p_v. `settled` says whether the dual confirmed the order, so that value and multipliers belong
    together.
    """

    value: float
    law: tuple[float, ...]
    logs: tuple[float, ...]
    multipliers: tuple[float, ...]
    order: tuple[int, ...]
    peak: float
    settled: bool

    @property
    def even(self) -> bool:
        """Whether the law is one, with a value below 1. It is not where the optimum is too close to 1 for floats."""
        return abs(math.fsum(self.law) - 1) < _SLOPPY and self.value < 1 - _NEARLY


def shoot(game: Game, curve: Curve, start: Shot | None = None, rounds: int = AUDIT_ROUNDS) -> Shot:
    """Find the optimum in floats, starting with the order (indices other than v, outward) of a nearby shot.

    Each round takes the order of the dual before; the best law is kept where no order settles.
    """
    order = (
        start.order
        if start is not None
        else _merged(game, {i: -abs(i - game.correct) for i in range(1, game.guesses + 1)})
    )
    best, peak = None, start.peak if start is not None else -3.0
    for _ in range(rounds):
        law, tests, peak = _normalised(game, curve, order, peak)
        logs = [curve.log_slope(point) for _, point in tests]
        spent = _dual(game, tests, logs)
        shot, order = _shot(game, law, (tests, logs, spent), order, peak)
        if best is None or shot.settled or shot.value > best.value:
            best = shot
        if shot.settled:
            break
    assert best is not None
    return best


def _shot(
    game: Game,
    law: list[float],
    dual: tuple[list[tuple[int, float]], list[float], dict[int, float]],
    order: tuple[int, ...],
    peak: float,
) -> tuple[Shot, tuple[int, ...]]:
    tests, logs, spent = dual
    renewed = _merged(game, spent, order)
    steps = [spent[i] for i, _ in tests]
    multipliers = [max(0.0, here - beyond) for here, beyond in zip(steps, [*steps[1:], 0.0], strict=True)]
    value = math.fsum(law[game.correct :])
    falls = min(here - beyond for here, beyond in zip(steps, [*steps[1:], 0.0], strict=True))
    settled = renewed == order or falls >= -_TIE * max(steps)
    return Shot(value, tuple(law), tuple(logs), tuple(multipliers), order, peak, settled), renewed


def _normalised(
    game: Game, curve: Curve, order: tuple[int, ...], guess: float
) -> tuple[list[float], list[tuple[int, float]], float]:
    """Return the law, with its tests, whose p_v makes the total 1, and ln p_v; near a guess if it may be."""

    def excess(peak: float) -> float:
        return math.log(max(1e-300, math.fsum(_law(game, curve, order, math.exp(peak))[0])))

    low, high = 2 * guess, guess / 2
    while low > -_DEEPEST and excess(low) >= 0:
        low = max(2 * low, -_DEEPEST)
    while high < -1e-15 and excess(high) < 0:
        high /= 2
    solved = excess(low) < 0 <= excess(high)
    found = optimize.brentq(excess, low, high, xtol=1e-13) if solved else low if excess(low) >= 0 else high
    return *_law(game, curve, order, math.exp(found)), found


def _law(game: Game, curve: Curve, order: tuple[int, ...], peak: float) -> tuple[list[float], list[tuple[int, float]]]:
    """Return the law with p_v = `peak`, and the tests (index taken in, Σ b so far)."""
    guesses, correct, others = game.guesses, game.correct, game.options - 1
    scale = game.canaries * others
    law = [0.0] * (guesses + 1)
    law[correct] = peak
    ours = peak * correct / game.canaries
    theirs = curve.inverse(ours)
    law[correct - 1] = theirs * scale / (guesses - correct + 1)
    tests, left, right, total = [(correct, theirs)], correct - 1, correct, peak + law[correct - 1]
    for i in order:
        at = i if i < correct else right
        if total > _OVERFLOW:
            break  # p_v is too large already
        if law[at] < _NEGLIGIBLE * total:
            continue  # far from v, where errors would only grow
        if i < correct:
            gain = law[i] * i / game.canaries
            loss = _step(curve, curve.inverse, (ours, gain), theirs, theirs, -1)
            left = i - 1
            law[left] = loss * scale / (guesses - left)
            total += law[left]
        else:
            loss = law[right] * (guesses - right) / scale
            gain = _step(curve, curve.blow_up, (theirs, loss), ours, theirs, 1)
            law[i], right = gain * game.canaries / i, i
            total += law[i]
        ours, theirs = ours + gain, theirs + loss
        tests.append((i, theirs))
    extrapolate(game, law, left, right if right > correct else guesses, 1)
    return law, tests


def _step(
    curve: Curve,
    function: Callable[[float], float],
    move: tuple[float, float],
    before: float,
    point: float,
    sign: int,
) -> float:
    """Return function(at + by) - before; for a small step, where floats would cancel, by the slope at
    `point`.
    """
    at, by = move
    if by < 1e-8 * at:
        return by * math.exp(min(sign * curve.log_slope(point), 700.0))
    return max(0.0, function(at + by) - before)


def _dual(game: Game, tests: list[tuple[int, float]], logs: list[float]) -> dict[int, float]:
    """Return S_i for the indices of the tests: rows as equations, from the outermost test inward."""
    guesses, correct, others = game.guesses, game.correct, game.options - 1
    spent: dict[int, Affine] = {}
    cost: dict[int, Affine] = {}
    outer_spent = outer_cost = nothing = (0.0, 0.0)
    constant = 0.0
    for (i, _), log in zip(reversed(tests), reversed(logs), strict=True):
        slope = math.exp(min(log, 700.0))
        right = cost.get(i + 1, nothing)
        left = spent.get(i - 1, nothing)
        from_right = tuple(((guesses - i) * c / others + d) / i for c, d in zip(right, (1.0, -1.0), strict=True))
        from_left = tuple(others * ((i - 1) * s + d) / (guesses - i + 1) for s, d in zip(left, (0.0, 1.0), strict=True))
        if i < correct:
            cost[i] = (from_left[0], from_left[1])
            spent[i] = _plus(outer_spent, cost[i], outer_cost, 1 / slope)
        else:
            spent[i] = (from_right[0], from_right[1])
            cost[i] = _plus(outer_cost, spent[i], outer_spent, slope)
        if i == correct:  # both rows hold here: they determine λ
            gap = cost[i][0] - from_left[0], cost[i][1] - from_left[1]
            constant = -gap[0] / gap[1] if gap[1] else 0.0
        outer_spent, outer_cost = spent[i], cost[i]
    return {i: a + b * constant for i, (a, b) in spent.items()}


def _plus(base: Affine, to: Affine, since: Affine, factor: float) -> Affine:
    return base[0] + (to[0] - since[0]) * factor, base[1] + (to[1] - since[1]) * factor


def _merged(game: Game, spent: dict[int, float], before: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Merge the indices left and right of v, outward, by falling S; those without S follow in the order before."""
    left, right, order = game.correct - 1, game.correct + 1, []
    while left in spent or right in spent:
        if right not in spent or (left in spent and spent[left] >= spent[right]):
            order.append(left)
            left -= 1
        else:
            order.append(right)
            right += 1
    return (*order, *(i for i in before if i not in spent))
