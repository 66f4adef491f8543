"""Likelihood ratios on one pair of datasets, output by output."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.language.program import Output

__all__ = ["LikelihoodRow", "likelihood_table"]


@dataclass(frozen=True)
class LikelihoodRow:
    """One output with its probabilities on x and on x', and their ratio: a Fraction >= 0, or infinite."""

    output: Output
    probability: Number
    probability_prime: Number

    @property
    def ratio(self) -> Exact:
        """P(output | x) / P(output | x')."""
        return self.probability / self.probability_prime if self.probability_prime else math.inf


def likelihood_table(
    law: Iterable[tuple[Output, Number]], law_prime: Iterable[tuple[Output, Number]]
) -> tuple[LikelihoodRow, ...]:
    """Return one row for every output that has positive probability under one of two laws, largest ratio first.

    Outputs of equal ratio keep the order of the laws, those of the first one before the others.
    """
    first, second = dict(law), dict(law_prime)
    outputs = [output for output in {**first, **second} if first.get(output) or second.get(output)]
    none = Fraction(0)
    rows = [LikelihoodRow(output, first.get(output, none), second.get(output, none)) for output in outputs]
    return tuple(sorted(rows, key=lambda row: row.ratio, reverse=True))
