"""Pairs of datasets that others dominate: no output has a larger ratio under them.

P/Q does not become smaller with a P that is larger everywhere, or a Q that is smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeAlias, TypeVar

from tightdp.cells.kinds import Integers, Kind, Real
from tightdp.cells.laws import CellLaws
from tightdp.language.program import Dataset

_FEW_PAIRS = 40
"""More pairs than that are asked which of them others dominate."""

T = TypeVar("T")
Compared: TypeAlias = tuple[Kind, Dataset, Dataset]


def left(
    every: Sequence[Compared], laws: CellLaws, below: Callable[[Kind, Dataset, Dataset], bool]
) -> Sequence[Compared]:
    """Return pairs of datasets, with kinds of output, without those that others dominate where they are many.

    `below` says whether the first law is seen to be nowhere larger than the second one. All pairs that have no such
    output on the second dataset are left: the first one of them is told.
    """

    def laws_of(kind: Kind, x: Dataset, x_prime: Dataset) -> tuple[Dataset, Dataset]:
        return kind.like(laws.content(x)), kind.like(laws.content(x_prime))

    by_kind: dict[Kind, list[tuple[Dataset, Dataset]]] = {}
    for kind, *pair in every:
        both = laws_of(kind, *pair)
        if both[1] in kind.weights:
            by_kind.setdefault(kind, []).append(both)
    many = {kind: pairs for kind, pairs in by_kind.items() if len(pairs) > _FEW_PAIRS and _one_by_one(kind)}
    known: dict[Kind, set[tuple[Dataset, Dataset]]] = {}
    next_to = list(_steps(laws)) if many else []
    for kind, pairs in many.items():
        beside = {(kind.like(x), kind.like(y)) for x, y in next_to}
        known[kind] = undominated(pairs, beside, partial(below, kind))

    def is_left(kind: Kind, both: tuple[Dataset, Dataset]) -> bool:
        return kind not in known or both in known[kind] or both[1] not in kind.weights

    return [each for each in every if is_left(each[0], laws_of(*each))]


def _one_by_one(kind: Kind) -> bool:
    """Whether functions of a kind have at most one real number each: others take long to compare."""
    return all(isinstance(part, Integers | Real) for part in kind.parts)


def _steps(laws: CellLaws) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield datasets with those in which one record is the next one of its place."""
    following: list[dict[object, object]] = []
    for at in range(max(map(len, laws.laws), default=0)):
        values = dict.fromkeys(x[at] for x in laws.laws if at < len(x))
        following.append(dict(pairwise(values)))
    for x in laws.laws:
        for at, record in enumerate(x):
            if record in following[at]:
                other = laws.content((*x[:at], following[at][record], *x[at + 1 :]))
                if other in laws.laws:
                    yield x, other


def undominated(
    pairs: Sequence[tuple[T, T]], beside: Iterable[tuple[T, T]], below: Callable[[T, T], bool]
) -> set[tuple[T, T]]:
    """Return pairs without those that another one dominates: of those with the largest ratio at least one is left.

    Whether one law is below another is asked of laws that are `beside` each other.
    """
    above: dict[T, list[T]] = {}
    under: dict[T, list[T]] = {}
    for one, other in dict.fromkeys(each for a, b in beside if a != b for each in ((a, b), (b, a))):
        if other not in under.get(one, ()) and below(one, other):
            above.setdefault(one, []).append(other)
            under.setdefault(other, []).append(one)
    every, instead = set(pairs), dict[tuple[T, T], tuple[T, T]]()
    for pair in pairs:
        x, x_prime = pair
        larger = [*((other, x_prime) for other in above.get(x, ())), *((x, other) for other in under.get(x_prime, ()))]
        for each in larger:
            last = each
            while last in instead:
                last = instead[last]
            if each in every and last != pair:
                instead[pair] = last
                break
    return every - instead.keys()
