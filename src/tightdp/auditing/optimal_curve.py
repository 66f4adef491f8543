"""The optimal one-run audit under a trade-off function: certified from both sides.

A polygon goes to the linear program, a smooth curve to the recursion of shooting.py. Either way the upper end
is an exact dual certificate against pairs that the guarantee implies, the lower end an exact mechanism that
satisfies pairs which imply the guarantee.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction

from tightdp.auditing import fdp
from tightdp.auditing.certificate import DualCertificate, WorstMechanism
from tightdp.auditing.linear_program import Game, Solution, certify, near, search
from tightdp.auditing.repair import continued, mechanism
from tightdp.auditing.shooting import Shot, shoot
from tightdp.auditing.tradeoff import Curve, Pair, Polygon
from tightdp.exact.enclosure import Enclosure

__all__ = ["Optimum", "optimum", "upper_bound"]

_POINTS = 240
_GAP = 0.004
_NARROW_GAP = 0.001
_WIDE_GAP = 0.02
_LARGE = 3000
_ROUNDS = 12
_QUICK_ROUNDS = 6
_TANGENTS = 96
_WRONG = 1e-9


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
        laws = (solution, continued(game, solution))
        attained = max(
            (mechanism(game, tradeoff.pairs, law) for law in laws), key=lambda found: found.at_least(game.correct)
        )
    else:
        shot = shoot(game, tradeoff)
        proof = _proof(game, tradeoff, shot)
        attained = _attained(game, tradeoff, shot)
    upper = min(Fraction(1), proof.bound)
    if upper == 1 and not isinstance(tradeoff, Polygon):
        upper = _recursion(game, tradeoff)
    return Optimum(Enclosure(min(attained.at_least(game.correct), upper), upper), proof, attained)


def _recursion(game: Game, curve: Curve) -> Fraction:
    """Return the bound of the recursion, which lies above the optimum, for an optimum that floats cannot find."""
    return fdp.p_value(
        canaries=game.canaries,
        guesses=game.guesses,
        correct=game.correct,
        tradeoff=curve,
        options=game.options,
        count=_TANGENTS,
    ).upper


def upper_bound(game: Game, curve: Curve, near_by: Shot | None = None) -> DualCertificate:
    """Return the certificate alone; the search begins with a shot for a similar curve."""
    return _proof(game, curve, shoot(game, curve, near_by, _ROUNDS))


def _attained(game: Game, curve: Curve, shot: Shot) -> WorstMechanism:
    """Return a mechanism under the guarantee that gets `correct` right about as often as the shot."""
    game, shot = (game, shot) if shot.even else _harder(game, curve, shot)
    inner = curve.inner(_vertices(game, shot) if shot.even else curve.logs(_POINTS))
    law = shot.law if shot.even else _almost_always(game)
    return mechanism(game, inner, Solution(shot.value, 0, law, ()))


def _harder(game: Game, curve: Curve, shot: Shot) -> tuple[Game, Shot]:
    """Return the game with the least larger number of right guesses whose optimum is visibly below 1, and its
    shot: at least `correct` are right there too.
    """
    low, high = game.correct, game.guesses + 1
    while high - low > 1:
        middle = game.guesses if high > game.guesses else (low + high) // 2
        found = shoot(replace(game, correct=middle), curve, None, _QUICK_ROUNDS)
        if found.even:
            high, shot = middle, found
        else:
            low = middle
    return replace(game, correct=min(high, game.guesses)), shot


def _almost_always(game: Game) -> tuple[float, ...]:
    """Return a binomial law under which nearly all guesses are right."""
    law = [1.0]
    for i in range(game.guesses, 0, -1):
        law.append(law[-1] * i * (game.options - 1) * _WRONG / (game.guesses - i + 1))
    total = math.fsum(law)
    return tuple(p / total for p in reversed(law))


def _proof(game: Game, curve: Curve, shot: Shot) -> DualCertificate:
    if not shot.even:
        return certify(game, curve.outer([0.0])[:1], [0.0], 1.0)
    if shot.settled:
        pairs, multipliers = _gathered(curve.outer(_thinned(shot)), shot)
        return certify(game, pairs, multipliers, shot.value)
    # Where two indices are tied at the optimum no order is confirmed: the law found shows the linear program where to
    # look, and it supplies the multipliers.
    pairs = curve.outer(_apart(shot.logs, _GAP))
    value, multipliers = near(game, pairs, shot.law)
    return certify(game, pairs, multipliers, value)


def _vertices(game: Game, shot: Shot) -> list[float]:
    """Return log slopes at which the polygon that the mechanism must satisfy has its vertices."""
    if shot.settled and game.guesses <= _LARGE:
        return _thinned(shot)
    return _apart(shot.logs, _WIDE_GAP if game.guesses > _LARGE else _NARROW_GAP)


def _apart(logs: tuple[float, ...], gap: float) -> list[float]:
    """Return log slopes that are at least `gap` apart."""
    kept: list[float] = []
    for log in sorted(log for log in logs if log < 600):
        if not kept or log - kept[-1] >= gap:
            kept.append(log)
    return kept


def _thinned(shot: Shot, most: int = _POINTS) -> list[float]:
    """Return the log slopes of the tests that matter, at most some `most` of them, evenly by rank."""
    heavy = max(shot.multipliers) * 1e-12
    logs = sorted({log for log, y in zip(shot.logs, shot.multipliers, strict=True) if y > heavy and log < 600})
    step = max(1, len(logs) // most)
    return sorted({*logs[::step], *logs[-4:]})


def _gathered(pairs: tuple[Pair, ...], shot: Shot) -> tuple[tuple[Pair, ...], list[float]]:
    """Assign each multiplier to the pair whose slope is nearest."""
    logs = [math.log(t) for t, _ in pairs]
    found = [0.0] * len(pairs)
    for log, y in zip(shot.logs, shot.multipliers, strict=True):
        at = min(bisect_left(logs, log), len(logs) - 1)
        if at and log - logs[at - 1] < logs[at] - log:
            at -= 1
        found[at] += y
    return pairs, found
