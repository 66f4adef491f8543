"""Likelihood ratios with the datasets and the output that have them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.weights import quotient
from tightdp.language.program import Dataset, Output

if TYPE_CHECKING:
    from tightdp.methods.base import Pair

__all__ = ["Named", "Ratio", "ratios_of_pairs"]

Exact = Fraction | ExpNumber | float
Named = tuple[Exact, Dataset, Dataset, Output]
"""A ratio and a triple that has it."""


@dataclass(frozen=True)
class Ratio:
    """A likelihood ratio P(output|x) / P(output|x'), and in how many ways (pairs, times outputs told apart) it arises.

    `triples` is None where that was not counted.

    `exp_epsilon` is a Fraction, or infinity where P(output|x') = 0 < P(output|x).
    """

    exp_epsilon: Exact
    x: Dataset
    x_prime: Dataset
    output: Any
    probability: Number
    probability_prime: Number
    triples: int | None = None


def ratios_of_pairs(pairs: Iterable[Pair]) -> Iterator[Named]:
    """Yield the ratio P(y|x)/P(y|x') of all pairs with all outputs that one of the two gives."""
    for pair in pairs:
        ours, theirs = pair.table.weights(pair.x), pair.table.weights(pair.x_prime)
        for code in sorted(ours.by_code.keys() | theirs.by_code.keys()):
            up, down = ours.by_code.get(code, 0) * theirs.total, theirs.by_code.get(code, 0) * ours.total
            yield quotient(up, down) if down else math.inf, pair.x, pair.x_prime, pair.table.output(code)
