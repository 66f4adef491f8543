"""Neighbours given by a function, up to those symmetries that keep the relation: which do is seen by asking it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from tightdp.language.neighbours import relation_of
from tightdp.language.program import Dataset
from tightdp.symmetry.orbits import Kind, Map, Orbits
from tightdp.symmetry.sets import PrivacySet, every_dataset

_Image = Callable[[Dataset], Dataset]


def given_neighbours(orbits: Orbits) -> PrivacySet:
    """Return all neighbours of one dataset of every class, up to those of some symmetries that keep the relation.

    Those of the first dataset come before the relation, which may take long, is known on all. Raises QueryError where
    datasets are too many to ask for the neighbours of each.
    """
    datasets, relation = every_dataset(orbits.bound), relation_of(orbits.bound)
    near: dict[Dataset, dict[Dataset, None]] = {}

    def pairs() -> Iterator[tuple[Dataset, Dataset, int]]:
        first = next(iter(datasets))
        yield from ((first, other, 1) for other in relation.neighbours(first))
        for x in datasets:
            orbits.watch()
            near[x] = dict.fromkeys(relation.neighbours(x))
        kept = _keeping(orbits, near)
        for x, size in kept.accuracy_set():
            if left := size - (kept.counts(x) == kept.counts(first)):
                yield from ((x, other, left) for other in near[x])

    return PrivacySet(pairs)


def _keeping(orbits: Orbits, near: Mapping[Dataset, Mapping[Dataset, None]]) -> Orbits:
    """Return datasets up to those of the symmetries that take the neighbours of every dataset to those of its image."""

    def kept(images: Iterable[_Image]) -> bool:
        return all(
            {image(other) for other in others} == near[image(x)].keys()
            for image in images
            for x, others in near.items()
        )

    kinds: list[Kind] = []
    for kind in orbits.kinds:
        maps = tuple(one for one in kind.maps if kept(_renaming(block, one) for block in kind.blocks))
        alike = [[kind.blocks[0]]]
        for one, other in pairwise(kind.blocks):
            if kept([_exchanging(one, other)]):
                alike[-1].append(other)
            else:
                alike.append([other])
        kinds += (Kind(tuple(blocks), maps) for blocks in alike)
    return replace(orbits, kinds=tuple(kinds))


def _exchanging(one: tuple[int, ...], other: tuple[int, ...]) -> _Image:
    """Return what exchanging two blocks of clients makes of a dataset."""
    turn = dict(zip((*one, *other), (*other, *one), strict=True))
    return lambda x: tuple(x[turn.get(client, client)] for client in range(len(x)))


def _renaming(block: tuple[int, ...], rename: Map) -> _Image:
    """Return what renaming the contents of a block makes of a dataset."""

    def image(x: Dataset) -> Dataset:
        new = dict(zip(block, rename[tuple(x[client] for client in block)], strict=True))
        return tuple(new.get(client, record) for client, record in enumerate(x))

    return image
