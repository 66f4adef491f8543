"""Dominating pairs: two laws P, Q on finitely many outcomes, at least as distinguishable as any two neighbours.

A pair dominates a mechanism when for every t >= 0 and all neighbours Σ max(0, P(y|x) - t·P(y|x')) is at most
Σ max(0, P - t·Q). The least such curve is convex, so it is the curve of a pair (Zhu, Dong, Wang 2022, Proposition 8):
each edge of the upper hull of all likelihood-ratio tests is an outcome, its two sides are its probabilities.

Where no pair of neighbours is the worst at every ε, a few runs are composed as the best adversary chooses them by the
outputs so far: δ_k(t) = max over pairs (P, Q) of Σ_y P(y)·δ_{k-1}(t·Q(y)/P(y)), with δ_0(t) = max(0, 1 - t), by
induction on the first run. The number of distinct t grows with every run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tightdp.errors import ParameterError
from tightdp.exact.field import Number
from tightdp.limits.calibrated import ADAPTIVE_STATES


@dataclass(frozen=True)
class DominatingPair:
    """Outcomes (P, Q) with different ratios P/Q, the largest first; the first may have Q = 0, the last P = 0.

    The probabilities sum to 1 on either side.
    """

    outcomes: tuple[tuple[Number, Number], ...]

    def __post_init__(self) -> None:
        if any(min(outcome) < 0 or max(outcome) <= 0 for outcome in self.outcomes):
            raise ParameterError("a dominating pair has a negative or an empty outcome", "give probabilities")
        if [sum(side) for side in zip(*self.outcomes, strict=True)] != [1, 1]:
            raise ParameterError("the outcomes of a dominating pair do not sum to 1", "give two whole laws")

    @property
    def certain(self) -> Number:
        """The probability under P of outcomes that have probability 0 under Q."""
        return self.outcomes[0][0] if self.outcomes[0][1] == 0 else Fraction(0)

    @property
    def finite(self) -> tuple[tuple[Number, Number], ...]:
        """The outcomes of positive probability under both laws."""
        return tuple(outcome for outcome in self.outcomes if outcome[0] and outcome[1])

    def reversed(self) -> DominatingPair:
        """Return the pair (Q, P)."""
        return DominatingPair(tuple((q, p) for p, q in reversed(self.outcomes)))

    def below(self, other: DominatingPair) -> bool:
        """Whether the other pair dominates this one: no test tells P from Q better than one of the other's does.

        The hull of the other pair is concave: where it is nowhere below the corners of this one's it is so in between.
        """
        power: Number = Fraction(0)
        level: Number = Fraction(0)
        reached: Number = Fraction(0)
        passed: Number = Fraction(0)
        at = 0
        for p, q in self.outcomes:
            power, level = power + p, level + q
            while at < len(other.outcomes) and passed + other.outcomes[at][1] <= level:
                reached, passed = reached + other.outcomes[at][0], passed + other.outcomes[at][1]
                at += 1
            if at < len(other.outcomes):
                more, wide = other.outcomes[at]
                if (power - reached) * wide > more * (level - passed):
                    return False
        return True

    def diluted(self, rate: Fraction) -> DominatingPair:
        """Return the pair (rate·P + (1 - rate)·Q, Q): P is met only with probability `rate`, in (0, 1]."""
        return merged((rate * p + (1 - rate) * q, q) for p, q in self.outcomes)


def merged(outcomes: Iterable[tuple[Number, Number]]) -> DominatingPair:
    """Return the pair with these outcomes; those with the same ratio become one."""
    by_ratio: dict[Number | None, tuple[Number, Number]] = {}
    for p, q in outcomes:
        if p or q:
            key = p / q if q else None
            before = by_ratio.get(key, (Fraction(0), Fraction(0)))
            by_ratio[key] = before[0] + p, before[1] + q
    keys = sorted((key for key in by_ratio if key is not None), reverse=True)
    first = [by_ratio[None]] if None in by_ratio else []
    return DominatingPair((*first, *(by_ratio[key] for key in keys)))


def pair_of_hull(points: Sequence[tuple[Number, Number]]) -> DominatingPair:
    """Return the pair whose likelihood-ratio tests are the corners (Q(E), P(E)) of a concave hull up to (1, 1)."""
    corners: list[tuple[Number, Number]] = [(Fraction(0), Fraction(0)), *points]
    return merged((right[1] - left[1], right[0] - left[0]) for left, right in pairwise(corners))


_DEEPEST = 100
"""Runs follow each other by recursion."""

Choices = tuple[tuple[tuple[DominatingPair, ...], int], ...]
"""The pairs that a run chooses from, and how many such runs there are, in order."""
Watch = Callable[[], None]


class _TooMany(Exception):
    """There are too many likelihood ratios."""


class _Runs:
    def __init__(self, choices: Choices, watch: Watch) -> None:
        self.runs: Sequence[tuple[DominatingPair, ...]] = [pairs for pairs, times in choices for _ in range(times)]
        self.watch = watch
        self.known: dict[tuple[int, Number], tuple[Number, Number]] = {}

    def value(self, done: int, t: Number) -> tuple[Number, Number]:
        """Return δ(t) of the runs after the first `done`, and a slope of it at t."""
        if done == len(self.runs):
            return (1 - t, Fraction(-1)) if t < 1 else (Fraction(0), Fraction(0))
        if t == 0:
            return Fraction(1), Fraction(-1)
        found = self.known.get((done, t))
        if found is None:
            if len(self.known) >= ADAPTIVE_STATES:
                raise _TooMany
            self.watch()
            found = self.known[done, t] = max(self._of_pair(pair, done, t) for pair in self.runs[done])
        return found

    def _of_pair(self, pair: DominatingPair, done: int, t: Number) -> tuple[Number, Number]:
        value: Number = Fraction(0)
        slope: Number = Fraction(0)
        for p, q in pair.outcomes:
            if p:
                rest, change = self.value(done + 1, t * q / p)
                value, slope = value + p * rest, slope + q * change
        return value, slope


def optimum(choices: Choices, t: Number, watch: Watch) -> Number | None:
    """Return δ(t) for the best choice of neighbours in every run; None where that takes too much work."""
    found = _value(choices, t, watch)
    return None if found is None else found[0]


def optimum_least(choices: Choices, delta: Number, start: Number, watch: Watch) -> Number | None:
    """Return the least t >= 1 with δ(t) <= delta, from a `start` that is not above it.

    Tangents of a convex function lie below it: their zeros increase, and reach that of a piecewise linear one.
    """
    t = start
    while (found := _value(choices, t, watch)) is not None:
        value, slope = found
        if value <= delta:
            return t
        if not slope:
            break
        t += (value - delta) / -slope
    return None


def _value(choices: Choices, t: Number, watch: Watch) -> tuple[Number, Number] | None:
    if not _few(choices):
        return None
    try:
        return _Runs(choices, watch).value(0, t)
    except _TooMany:
        return None


def _few(choices: Choices) -> bool:
    """Whether all runs but one have few combinations of likelihood ratios, up to order."""
    runs = sum(times for _, times in choices)
    outcomes = max((sum(len(pair.outcomes) for pair in pairs) for pairs, _ in choices), default=0)
    return 0 < runs <= _DEEPEST and math.comb(outcomes + runs - 2, runs - 1) <= ADAPTIVE_STATES
