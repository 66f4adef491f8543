"""Utility beyond (α, β): expected errors and the probability of the right answer, each on its worst dataset."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.results.result import Result
from tightdp.results.shown import Recorded

__all__ = ["Utility", "Worst"]


@dataclass(frozen=True)
class Worst(Recorded):
    """A measure of utility, its worst value over all datasets, and a dataset that attains it.

    Where it is enclosed, `value` is the end that is worse, and `better` the other one.
    """

    measure: str
    value: Number | Fraction
    x: tuple[Any, ...]
    better: Number | Fraction | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Utility(Result):
    """The utility of a mechanism on its worst dataset, by several measures; targets are compared exactly.

    Numbers have the expected absolute and squared error; tuples of numbers the expected absolute error of each
    coordinate and of the largest one; all have the least probability that the output equals the target.
    """

    query: ClassVar[str] = "utility"
    measures: tuple[Worst, ...]

    def value(self, measure: str) -> Number | Fraction:
        """Return the worst value of a measure. Raises QueryError where it is not one of `measures`."""
        for worst in self.measures:
            if worst.measure == measure:
                return worst.value
        raise QueryError(
            f"there is no measure {measure!r}", f"use {', '.join(worst.measure for worst in self.measures)}"
        )
