"""Likelihood ratios on one pair of datasets, output by output."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.language.program import Output

__all__ = ["LikelihoodRow", "likelihood_table"]


@dataclass(frozen=True)
class LikelihoodRow:
    """One output with its probabilities on x and on x', and their ratio: a Fraction >= 0, or infinite.

    Where probabilities are enclosed, these are their lower ends; `above` has both upper ends.
    """

    output: Output
    probability: Number
    probability_prime: Number
    above: tuple[Number, Number] | None = None

    @property
    def ratio(self) -> Exact:
        """P(output | x) / P(output | x')."""
        below = self.probability_prime if self.above is None else self.above[1]
        return self.probability / below if below else math.inf

    @property
    def ratio_above(self) -> Exact:
        """The upper end of the ratio."""
        ours = self.probability if self.above is None else self.above[0]
        return ours / self.probability_prime if self.probability_prime else math.inf


def likelihood_table(
    law: Iterable[tuple[Output, Number]],
    law_prime: Iterable[tuple[Output, Number]],
    ends: Callable[[Number], tuple[Number, Number]] | None = None,
) -> tuple[LikelihoodRow, ...]:
    """Return one row for every output that has positive probability under one of two laws, largest ratio first.

    Outputs of equal ratio keep the order of the laws, those of the first one before the others. Where probabilities
    are enclosed, `ends` gives both ends.
    """
    first, second = dict(law), dict(law_prime)
    outputs = [output for output in {**first, **second} if first.get(output) or second.get(output)]
    none = Fraction(0)
    rows = [LikelihoodRow(output, first.get(output, none), second.get(output, none)) for output in outputs]
    rows.sort(key=lambda row: row.ratio, reverse=True)
    return tuple(rows if ends is None else [_enclosed(row, ends) for row in rows])


def _enclosed(row: LikelihoodRow, ends: Callable[[Number], tuple[Number, Number]]) -> LikelihoodRow:
    (low, high), (low_prime, high_prime) = ends(row.probability), ends(row.probability_prime)
    return LikelihoodRow(row.output, low, low_prime, (high, high_prime))
