"""Likelihood ratios with the datasets and the output that have them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightdp.exact.field import ExpNumber, Number
from tightdp.language.program import Dataset, Output

__all__ = ["Exact", "Named", "Ratio"]

Exact = Fraction | ExpNumber | float
"""An exact number, or infinity."""
Named = tuple[Exact, Dataset, Dataset, Output]
"""A ratio and a triple that has it."""


@dataclass(frozen=True)
class Ratio:
    """A likelihood ratio P(output|x) / P(output|x').

    `triples` is the number of (x, x', y) that have it: pairs of neighbours, and outputs of positive probability on x, a
    tail of the integers being one; None where that was not counted.

    `exp_epsilon` is a Fraction, or infinity where P(output|x') = 0 < P(output|x).
    """

    exp_epsilon: Exact
    x: Dataset
    x_prime: Dataset
    output: Any
    probability: Number
    probability_prime: Number
    triples: int | None = None
