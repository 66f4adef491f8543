"""Certified integrals of monotone functions: sums over cells, split where most is open."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise

from flint import arb

from tightdp.exact.enclosure import Enclosure, ends

__all__ = ["Point", "enclosed_integral"]

_MOST_CELLS = 8000

Point = tuple[arb, arb, arb]
"""The weight of a point of an integral, and the value just after and at it."""

Cell = tuple[float, Fraction, Fraction]
"""A part of an integral: by how much it is open (as a float, which only steers; negative), and its two ends."""


def enclosed_integral(at: Callable[[Fraction], Point], points: list[Fraction], width: Fraction) -> Enclosure:
    """Enclose the sum of |change of weight| times a monotone value over cells, split where most is open.

    `at` gives the points.
    """
    known = {point: at(point) for point in points}
    cells = [_cell(known, *ends_) for ends_ in pairwise(points)]
    heapify(cells)
    open_ = -sum(cell[0] for cell in cells)
    while open_ > float(width) and len(cells) < _MOST_CELLS:
        loss, low, high = heappop(cells)
        middle = (low + high) / 2
        known[middle] = at(middle)
        open_ += loss
        for half in (_cell(known, low, middle), _cell(known, middle, high)):
            open_ -= half[0]
            heappush(cells, half)
    total = arb(0)
    for _, low, high in cells:
        (first, after, _), (second, _, reached) = known[low], known[high]
        total += abs(second - first) * after.union(reached)
    found = ends(total)
    assert found is not None
    return found


def _cell(known: dict[Fraction, Point], low: Fraction, high: Fraction) -> Cell:
    (first, after, _), (second, _, reached) = known[low], known[high]
    return -float(abs(second - first).mid() * abs(after - reached).mid()), low, high
