"""Answers about audits of programs with Gaussian noise, widened to enclose the true ones: docs/unbounded-noise.md."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from tightdp.core.nodes import Inexact
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact, down, up
from tightdp.exact.weights import quotient
from tightdp.language.tails import GaussianTail
from tightdp.one_run.gaps import RestrictedRatio, as_posterior, distributional_privacy
from tightdp.one_run.law import AuditLaw, Group
from tightdp.results.guessing import Row

Rows = tuple[Row, ...]


def enclosed_rows(
    law: AuditLaw,
    error: Inexact,
    efficacies: Sequence[tuple[int, Number, Number | None]],
    ac: Number,
    ratio: RestrictedRatio,
    most: Exact | None = None,
) -> tuple[Rows, Rows, RestrictedRatio]:
    """Return rows with the upper ends of all numbers, rows with the lower ones, and both ends of e^ε.

    `efficacies` are (guesses, E_k, the adaptive one), AC is E_1, `ratio` is that of the core program. An expected share
    of right guesses is a sum of probabilities of events that are disjoint, for the best guesses. Who sees the tails of
    the core program guesses at least as well, and worse than who sees the outputs only where tails occur. `most` is the
    upper end of e^ε where noise is cut off.
    """

    def ends(value: Number) -> tuple[Fraction, Fraction]:
        low = max(value * (1 - error.relative) - error.lost, Fraction(1, 2))
        high = value * (1 + error.relative) + (error.lost if error.cut else 0)
        return down(low), up(min(high, Fraction(1)))

    leak = _least_leak(law, error)
    if most is None:
        ddp = max(leak, ends(ac)[0]), _posterior_above(distributional_privacy(law).confidence, error)
        exp_epsilon = _odds(ddp[0]), widest(ratio.upper, error)
    else:
        ddp = max(leak, ends(ac)[0]), up(as_posterior(most))
        exp_epsilon = _odds(ddp[0]), most
    if not error.cut and not error.published:
        exp_epsilon = max(exp_epsilon[0], _narrowest(ratio.lower, error)), exp_epsilon[1]
    dp = tuple(map(as_posterior, exp_epsilon))
    rows: tuple[list[Row], list[Row]] = [], []
    for k, value, adaptive in efficacies:
        best = (None, None) if adaptive is None else ends(adaptive)
        plain = [Row(k, ends(value)[at], ends(ac)[at], ddp[at], dp[at], best[at]) for at in (0, 1)]
        for at in (0, 1):
            rows[at].append(Row(k, ends(value)[at], ends(ac)[at], ddp[at], dp[at], best[at], plain[1 - at]))
    return tuple(rows[1]), tuple(rows[0]), RestrictedRatio(*exp_epsilon, ratio.reason)


def widest(ratio: Exact, error: Inexact) -> Exact:
    """Return the upper end of a likelihood ratio."""
    if isinstance(ratio, float) or error.cut:
        return math.inf
    return up(ratio * error.factor)


def _narrowest(ratio: Exact, error: Inexact) -> Exact:
    return ratio if isinstance(ratio, float) else max(down(ratio / error.factor), Fraction(1))


def _odds(posterior: Number) -> Exact:
    return math.inf if posterior == 1 else max(down(posterior / (1 - posterior)), Fraction(1))


def _posterior_above(value: Number, error: Inexact) -> Fraction:
    """Return an upper end of a posterior: its odds are within the factor that likelihood ratios are."""
    odds = math.inf if value == 1 else value / (1 - value)
    return up(as_posterior(widest(odds, error)))


def _least_leak(law: AuditLaw, error: Inexact) -> Fraction:
    """Return a lower end of the largest posterior of a secret bit over outputs.

    It is 1 where an offset of published noise is larger, or smaller, than all that go with the other value of a bit:
    the further out an output is, the surer that bit. Otherwise outputs of the core are taken, which have a tail of
    published noise with so little probability as is lost.
    """
    best = Fraction(1, 2)
    for group in law.distinct:
        if not error.cut and _moved(group):
            return Fraction(1)
        for stage in group.stages:
            for outcome in (outcome for outcomes in stage.outcomes.values() for outcome in outcomes):
                mass = quotient(outcome.weight, stage.total)
                for at in range(len(stage.classes)):
                    right = mass * outcome.confidence(at) * (1 - error.relative) - error.lost
                    best = max(best, down(max(right / (mass * (1 + error.relative) + error.lost), Fraction(0))))
    return best


def _moved(group: Group) -> bool:
    """Whether a bit moves the outermost offset of published noise, in a group of one stage."""
    if len(group.stages) != 1:
        return False
    (stage,) = group.stages
    furthest: dict[tuple[int, int, int, int], int] = {}
    for outcome in stage.outcomes[group.start]:
        for path, tail in _tails(group.component_values([outcome.code])):
            for at, ones in enumerate(outcome.ones):
                for bit, weight in ((0, outcome.weight - ones), (1, ones)):
                    if weight:
                        key = (path, tail.direction, at, bit)
                        furthest[key] = max(furthest.get(key, -(1 << 62)), tail.direction * tail.offset)
    return any(
        furthest.get((path, direction, at, 1 - bit), -(1 << 62)) < offset
        for (path, direction, at, bit), offset in furthest.items()
    )


def _tails(values: Sequence[object]) -> Iterator[tuple[int, GaussianTail]]:
    return ((place, value) for place, value in enumerate(values) if isinstance(value, GaussianTail))
