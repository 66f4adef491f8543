"""What parts of an output reveal of the records they see: largest ratios, and which records they distinguish."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tightdp.exact.whole import Whole, gcd
from tightdp.language.domains import Record
from tightdp.logic.count import Weights
from tightdp.methods.chain_forms import logarithm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Largest", "Told", "attains", "largest_of", "told_apart"]


@dataclass(frozen=True)
class Largest:
    """The largest ratio of a part between two of its laws, as up / down, and its rounded logarithm."""

    up: Whole
    down: Whole
    logarithm: float


@dataclass(frozen=True)
class Told:
    """For every record the first one that no part distinguishes from it, and the sizes of these classes."""

    like: dict[Record, Record]
    times: dict[Record, int]


def told_apart(records: Sequence[Record], seen: Sequence[NDArray[np.int64]]) -> Told:
    """Return the classes of records with equal rows in all tables; the tables have a row for every record."""
    found = Told({}, {})
    first: dict[tuple[bytes, ...], Record] = {}
    for at, record in enumerate(records):
        like = first.setdefault(tuple(one[at].tobytes() for one in seen), record)
        found.like[record] = like
        found.times[like] = found.times.get(like, 0) + 1
    return found


def largest_of(ours: Weights, theirs: Weights) -> Largest:
    """Return the largest ratio of the probabilities of an output under two laws."""
    up: Whole = 0
    down: Whole = 1
    for code, weight in ours.by_code.items():
        other = theirs.by_code.get(code, 0)
        if not other:
            return Largest(1, 0, math.inf)
        if weight * down > up * other:
            up, down = weight, other
    up, down = up * theirs.total, down * ours.total
    shared = gcd(up, down)
    up, down = up // shared, down // shared
    return Largest(up, down, logarithm(up) - logarithm(down))


def attains(code: int, ours: Weights, theirs: Weights) -> bool:
    """Whether an output has the largest ratio of two laws."""
    largest = largest_of(ours, theirs)
    up, down = ours.by_code[code] * theirs.total, theirs.by_code.get(code, 0) * ours.total
    return up * largest.down == largest.up * down
