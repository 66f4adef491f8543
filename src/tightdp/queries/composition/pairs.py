"""Dominating pairs: two laws P, Q on finitely many outcomes, at least as distinguishable as any two neighbours.

A pair dominates a mechanism when for every t >= 0 and all neighbours Σ max(0, P(y|x) - t·P(y|x')) is at most
Σ max(0, P - t·Q). The least such curve is convex, so it is the curve of a pair (Zhu, Dong, Wang 2022, Proposition 8):
each edge of the upper hull of all likelihood-ratio tests is an outcome, its two sides are its probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tightdp.errors import ParameterError
from tightdp.exact.field import Number

__all__ = ["DominatingPair", "merged", "pair_of_hull"]


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

    def delta(self, t: Number) -> Number:
        """Return Σ max(0, P - t·Q) for t >= 0."""
        return sum((max(Fraction(0), p - t * q) for p, q in self.outcomes), Fraction(0))

    def reversed(self) -> DominatingPair:
        """Return the pair (Q, P)."""
        return DominatingPair(tuple((q, p) for p, q in reversed(self.outcomes)))

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
