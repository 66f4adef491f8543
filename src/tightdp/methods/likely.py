"""Pairs of neighbours to look at where there are too many for all of them: what they show is a lower bound."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.symmetry.sets import PrivacySet

__all__ = ["few_pairs", "promising_pairs"]

_MOST = 4096


def few_pairs(bound: Bound) -> bool:
    """Whether a built-in relation has so few pairs of neighbours that all of them are compared."""
    relation = relation_of(bound)
    each = max(map(len, relation.steps.values()), default=0)
    number: int = bound.record.size**bound.n * (each**bound.n if relation.every_record else each * bound.n)
    return number <= _MOST


def promising_pairs(bound: Bound, worst: tuple[Dataset, Dataset] | None) -> PrivacySet:
    """Return a few thousand pairs at most: around a worst pair for δ = 0, and around datasets of equal records.

    Some are repeated, and many are left out, so how many there are says nothing.
    """
    return PrivacySet(lambda: islice(_pairs(bound, worst), _MOST))


def _pairs(bound: Bound, worst: tuple[Dataset, Dataset] | None) -> Iterator[tuple[Dataset, Dataset, int]]:
    related = relation_of(bound).neighbours
    centres = [*(worst or ()), *((record,) * bound.n for record in bound.record.values)]
    ways = [related(x) for x in centres]
    if worst is not None:
        yield *worst, 0
    # Round robin, so that no centre uses up the whole budget.
    while ways:
        for at in range(len(ways) - 1, -1, -1):
            other = next(ways[at], None)
            if other is None:
                del ways[at], centres[at]
            else:
                yield centres[at], other, 0
                yield other, centres[at], 0
