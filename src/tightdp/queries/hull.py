"""Likelihood-ratio tests of pairs of neighbours as events, and the upper hull of many of them.

Doubles propose an order, and exact numbers decide: what is in order already is sorted by one comparison for each entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import accumulate

from tightdp.exact.whole import Whole, compare_quotients, lcm, quick
from tightdp.logic.count import Weights
from tightdp.methods.base import Pair

Step = tuple[Whole, Whole]
"""A test, or a step from one to the next: its weight under x', and under x."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event E of a pair: x = P'(E) and y = P(E), as weights over a common denominator."""

    x: Whole
    y: Whole
    scale: Whole
    pair: Pair | None


NONE = Event(0, 0, 1, None)
"""The event of no output."""
ALL = Event(1, 1, 1, None)
"""The event of all outputs."""


def tests_of(ours: Weights, theirs: Weights) -> list[Step]:
    """Return the likelihood-ratio tests of two laws that are corners: one for each ratio, the largest first."""
    get = theirs.by_code.get
    return list(tests(steepest_first((get(code, 0), weight) for code, weight in ours.by_code.items())))


def events_of(ours: Weights, theirs: Weights, pair: Pair | None) -> list[Event]:
    """Return the likelihood-ratio tests of a pair as events."""
    scale = lcm(ours.total, theirs.total)
    right, up = scale // theirs.total, scale // ours.total
    return [Event(x * right, y * up, scale, pair) for x, y in tests_of(ours, theirs)]


def steepest_first(steps: Iterable[Step]) -> list[Step]:
    """Return steps in order, those of equal slope as one."""
    found: list[Step] = []
    near = sorted(steps, key=lambda step: _near(step[1], step[0]), reverse=True)
    for step in sorted(near, key=cmp_to_key(_steeper)):
        if found and not _steeper(found[-1], step):
            found[-1] = _added(found[-1], step)
        else:
            found.append(step)
    return found


def tests(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the tests that steps lead to, one after the other."""
    return accumulate(steps, _added)


def _added(one: Step, other: Step) -> Step:
    return one[0] + other[0], one[1] + other[1]


def _steeper(one: Step, other: Step) -> int:
    """Compare the slopes of two steps; those straight up are the steepest."""
    if not one[0] or not other[0]:
        return bool(one[0]) - bool(other[0])
    return -compare_quotients(one[1], one[0], other[1], other[0])


def _near(above: Whole, below: Whole) -> float:
    """Return about the quotient of two weights."""
    if not below:
        return math.inf
    if isinstance(above, int) and isinstance(below, int):
        try:
            return above / below
        except OverflowError:
            return math.inf
    return float(quick(above) / quick(below))


def upper_hull(events: Iterable[Event]) -> list[Event]:
    """Return the upper convex hull of events, from left to right, without points inside its edges.

    Of equal events one that belongs to a pair is taken, the first of these: at t < 1 the best may be that of all
    outputs.
    """
    listed = list(enumerate(events))
    listed.sort(key=lambda entry: (_near(entry[1].x, entry[1].scale), -_near(entry[1].y, entry[1].scale)))
    hull: list[Event] = []
    for _, event in sorted(listed, key=cmp_to_key(_by_place)):
        if hull and not compare_quotients(hull[-1].x, hull[-1].scale, event.x, event.scale):
            continue
        while len(hull) >= 2 and _turn(hull[-2], hull[-1], event) >= 0:
            hull.pop()
        hull.append(event)
    return hull


def _by_place(one: tuple[int, Event], other: tuple[int, Event]) -> int:
    """Compare by x, then by y, the larger first."""
    (at, a), (place, b) = one, other
    by_y = compare_quotients(a.x, a.scale, b.x, b.scale) or compare_quotients(b.y, b.scale, a.y, a.scale)
    return by_y or (a.pair is None) - (b.pair is None) or at - place


def _turn(a: Event, b: Event, c: Event) -> int:
    """Return a number that is negative where the path from a via b to c turns right."""
    a, b, c = on_one_scale((a, b, c))
    left, right = (b.x - a.x) * (c.y - a.y), (b.y - a.y) * (c.x - a.x)
    return 0 if left == right else 1 if left > right else -1


def on_one_scale(events: Sequence[Event]) -> Sequence[Event]:
    """Return the same events over one denominator."""
    first = events[0].scale
    if all(event.scale == first for event in events):
        return events
    scale = lcm(*(event.scale for event in events))
    factors = [scale // event.scale for event in events]
    return [Event(e.x * by, e.y * by, scale, e.pair) for e, by in zip(events, factors, strict=True)]
