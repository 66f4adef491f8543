"""Pairs of datasets that others dominate: no output has a larger ratio under them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

from tightdp.language.program import Dataset

T = TypeVar("T")


def steps(datasets: Collection[Dataset], content: Callable[[Dataset], Dataset]) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield datasets with those in which one record is the next one of its place."""
    following: list[dict[object, object]] = []
    for at in range(max(map(len, datasets), default=0)):
        values = list(dict.fromkeys(x[at] for x in datasets if at < len(x)))
        following.append(dict(zip(values, values[1:], strict=False)))
    for x in datasets:
        for at, record in enumerate(x):
            if record in following[at]:
                other = content((*x[:at], following[at][record], *x[at + 1 :]))
                if other in datasets:
                    yield x, other


def undominated(
    pairs: Sequence[tuple[T, T]], beside: Iterable[tuple[T, T]], below: Callable[[T, T], bool]
) -> set[tuple[T, T]]:
    """Return pairs without those that another one dominates, of the largest ratio at least one is left.

    Whether one law is nowhere larger than another is asked of laws that are `beside` each other: P/Q does not become
    smaller with a P that is larger everywhere, or a Q that is smaller.
    """
    above: dict[T, list[T]] = {}
    under: dict[T, list[T]] = {}
    for both in dict.fromkeys(frozenset(each) for each in beside if each[0] != each[1]):
        for one, other in (tuple(both), tuple(both)[::-1]):
            if below(one, other):
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
