"""The output laws of all counts of records as rounded logarithms, where exact ones take long."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tightdp.exact.lazily import lazily
from tightdp.exact.whole import Whole
from tightdp.methods.leaf_laws import LeafLaws
from tightdp.methods.mixture import StateLaw
from tightdp.symmetry.counts import Counts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
else:
    np = lazily("numpy")

__all__ = ["RoundedLaws", "rounded_laws"]

_MOST_TERMS = 5_000_000
"""How many values of the aggregates the laws of all counts may have together."""
_LEAST = 2.0**-400
"""Less probable values of the aggregates might be lost among doubles."""


@dataclass(frozen=True)
class RoundedLaws:
    """The base-2 logarithms of all probabilities: a row for each of the counts, a column for each of the codes.

    They err by less than 2^-27, and are -infinity where the probability is 0.
    """

    row: Mapping[Counts, int]
    codes: Sequence[int]
    logarithms: Floats

    def length(self, counts: Counts) -> int:
        """Return how many outputs have a positive probability."""
        return int(np.isfinite(self.logarithms[self.row[counts]]).sum())

    def largest(self, ours: Counts, theirs: Counts) -> float:
        """Return the logarithm of the largest ratio of probabilities, which errs by less than 2^-26."""
        above, below = self.logarithms[self.row[ours]], self.logarithms[self.row[theirs]]
        positive = above > -math.inf
        return float((above[positive] - below[positive]).max())


def rounded_laws(
    state_laws: Iterable[tuple[Counts, StateLaw]], rest: LeafLaws, watch: Callable[[], None]
) -> RoundedLaws | None:
    """Return the laws of all counts from those of the aggregates; None where they cannot be rounded in this way."""
    row: dict[Counts, int] = {}
    states: dict[tuple[object, ...], int] = {}
    places: list[int] = []
    weights: list[float] = []
    starts: list[int] = []
    for counts, law in state_laws:
        watch()
        row[counts] = len(row)
        starts.append(len(places))
        for state, weight in law.items():
            share = _rounded(weight, law.denominator)
            if not share:
                return None
            places.append(states.setdefault(state, len(states)))
            weights.append(share)
        if len(places) > _MOST_TERMS:
            return None
    found = rest.rounded(list(states))
    if found is None:
        return None
    codes, given = found
    laws = np.empty((len(row), len(codes)))
    shares, indices, ends = np.array(weights), np.array(places), [*starts[1:], len(places)]
    if len(places) == len(row):
        laws = given[indices] * shares[:, None]
    else:
        for at, (start, end) in enumerate(zip(starts, ends, strict=True)):
            watch()
            laws[at] = shares[start:end] @ given[indices[start:end]]
    totals = laws.sum(axis=1)
    if not totals.all():
        return None
    with np.errstate(divide="ignore"):
        return RoundedLaws(row, codes, np.log2(laws / totals[:, None]))


def _rounded(weight: Whole, denominator: Whole) -> float:
    """Return a probability, correctly rounded, or 0 where it may be out of the range of doubles."""
    if not isinstance(weight, int) or not isinstance(denominator, int):
        return 0.0
    share = weight / denominator
    return share if share > _LEAST else 0.0
