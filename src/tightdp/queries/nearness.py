"""The questions about accuracy, and what they mean by the distance of an output from its target: defined here alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightdp.exact.field import Number
from tightdp.exact.weights import as_exact

__all__ = ["AccuracyAt", "LeastError", "Measure"]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """How far an output is from its target: by |output - target|, or relative to max(1, |target|)."""

    relative: bool = False

    def unit(self, target: int | Number) -> Number:
        """Return the absolute error that counts as 1."""
        size = as_exact(target if target >= 0 else -target)
        return size if self.relative and size > 1 else Fraction(1)


@dataclass(frozen=True)
class AccuracyAt(Measure):
    """The question for the tight 1 - β at an error bound alpha >= 0, with the `top` worst classes of datasets."""

    alpha: Number
    top: int = 1

    def within(self, target: int | Number) -> tuple[Number, Number]:
        """Return the least and the largest output that is near the target."""
        reach = self.alpha * self.unit(target)
        return target - reach, target + reach


@dataclass(frozen=True)
class LeastError(Measure):
    """The question for the least error bound that every dataset keeps with probability 1 - beta."""

    beta: Number
