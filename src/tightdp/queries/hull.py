"""Likelihood-ratio tests of pairs of neighbours as events, and the upper hull of many of them.

Doubles with a proved error decide nearly all comparisons, and the exact numbers the others. A sum of m nonnegative
doubles has a relative error of at most 1.01·m·2^-53 beyond those of its terms (Higham 2002, Section 4.2); so
probabilities are summed from both ends, and of events that are nearly certain the complements are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import accumulate, islice, pairwise, takewhile
from operator import itemgetter
from typing import TypeVar

from flint import arb, ctx

from tightdp.exact.whole import ExpInteger, Whole, compare_quotients, gcd, lcm, quick
from tightdp.logic.count import Weights
from tightdp.methods.base import Pair

_BITS = 128
_ACCURATE = 60
_CLOSE = 2.0**-40
"""Quotients that differ by less, relative to them, are compared exactly."""
_UNIT = 2.0**-53
_TINY = 1e-290
"""An upper bound on everything that is lost where doubles underflow."""

_Item = TypeVar("_Item")
_Quotient = tuple[Whole, Whole]


class _Nested:
    """The events of a pair: unions of the first groups of outputs, which have weights under x and x'."""

    def __init__(
        self, pair: Pair | None, groups: Sequence[Sequence[_Quotient]], total: Whole, prime: Whole, outputs: int = 1
    ) -> None:
        self.pair, self.total, self.prime = pair, total, prime
        self.error = (outputs + 16) * 2 * _UNIT
        self._groups = groups
        self._sums: tuple[list[Whole], list[Whole]] = [], []

    def under(self, at: int, prime: bool) -> Whole:
        """Return the weight of groups 0..at together, under x or (with `prime`) x'."""
        sums = self._sums[prime]
        for group in self._groups[len(sums) : at + 1]:
            sums.append(sum((output[prime] for output in group), start=sums[-1] if sums else 0))
        return sums[at]


@dataclass(frozen=True, slots=True)
class Event:
    """An event E of a pair: x = P'(E) and y = P(E), and the probabilities of its complement, as doubles."""

    nested: _Nested
    at: int
    x: float
    y: float
    rest_x: float
    rest_y: float

    @property
    def pair(self) -> Pair | None:
        """The pair of neighbours."""
        return self.nested.pair

    @property
    def under(self) -> _Quotient:
        """P(E), exactly."""
        return self.nested.under(self.at, False), self.nested.total

    @property
    def under_prime(self) -> _Quotient:
        """P'(E), exactly."""
        return self.nested.under(self.at, True), self.nested.prime


NONE = Event(_Nested(None, [[(0, 0)]], 1, 1), 0, 0.0, 0.0, 1.0, 1.0)
"""The event of no output."""
ALL = Event(_Nested(None, [[(1, 1)]], 1, 1), 0, 1.0, 1.0, 0.0, 0.0)
"""The event of all outputs."""


def events_of(ours: Weights, theirs: Weights, pair: Pair | None) -> list[Event]:
    """Return the likelihood-ratio tests of a pair that are corners: one for each ratio, the largest first."""
    certain: Whole = 0
    ratios: list[_Quotient] = []
    get = theirs.by_code.get
    for code, weight in ours.by_code.items():
        other = get(code, 0)
        if other:
            ratios.append((weight, other))
        else:
            certain += weight
    groups = list(_by_ratio(ratios))
    if certain:
        groups.insert(0, [(certain, 0)])
    sizes = list(map(len, groups))
    y = _rounded([weight for group in groups for weight, _ in group], sizes, ours.total)
    x = _rounded([other for group in groups for _, other in group], sizes, theirs.total)
    never = [other for code, other in theirs.by_code.items() if code not in ours.by_code]
    after_x = list(accumulate(reversed(x), initial=sum(_rounded(never, [len(never)], theirs.total))))
    after_y = list(accumulate(reversed(y), initial=0.0))
    nested, last = _Nested(pair, groups, ours.total, theirs.total, sum(sizes, len(never))), len(groups) - 1
    return [
        Event(nested, at, under_prime, under, after_x[last - at], after_y[last - at])
        for at, (under_prime, under) in enumerate(zip(accumulate(x), accumulate(y), strict=True))
    ]


def _rounded(weights: Sequence[Whole], sizes: Sequence[int], total: Whole) -> list[float]:
    """Return the probabilities of groups of outputs as doubles, or nan where an unknown has no value.

    `sizes` are those of the groups. That of an output has a relative error of at most 2^-51, down to 1e-290.
    """
    with ctx.workprec(_BITS):
        ball = quick(total)
        each = [
            weight / total if isinstance(weight, int) and isinstance(total, int) else _as_float(quick(weight) / ball)
            for weight in weights
        ]
    if len(sizes) == len(each):
        return each
    parts = iter(each)
    return [sum(islice(parts, size)) for size in sizes]


def _as_float(value: arb) -> float:
    return float(value) if value.rel_accuracy_bits() >= _ACCURATE else math.nan


def _by_ratio(ratios: list[_Quotient]) -> Iterator[list[_Quotient]]:
    """Yield the quotients, equal ones grouped, the largest first."""
    for near in reversed(_runs(ratios, _quotient, _CLOSE)):
        if len(near) == 1 or all(map(_equal_to(near[0]), near[1:])):
            yield near
            continue
        near.sort(key=cmp_to_key(_compared), reverse=True)
        while near:
            equal = list(takewhile(_equal_to(near[0]), near))
            yield equal
            near = near[len(equal) :]


def _compared(one: _Quotient, other: _Quotient) -> int:
    return compare_quotients(*one, *other)


def _equal_to(ratio: _Quotient) -> Callable[[_Quotient], bool]:
    """Return a function that decides whether another quotient is equal, in lowest terms, which are mostly short."""
    up, down = ratio
    if isinstance(up, ExpInteger) and not up.unknown and not (isinstance(down, ExpInteger) and down.unknown):
        shared = gcd(up, down)
        up, down = up // shared, down // shared

    def same(other: _Quotient) -> bool:
        return bool(other[0] * down == other[1] * up)

    return same


def _quotient(ratio: _Quotient) -> float:
    up, down = ratio
    if not (isinstance(up, int) and isinstance(down, int)):
        with ctx.workprec(_BITS):
            return _as_float(quick(up) / quick(down))
    try:
        return up / down
    except OverflowError:
        return math.nan


def _runs(items: Iterable[_Item], rounded: Callable[[_Item], float], close: float) -> list[list[_Item]]:
    """Return items in ascending order, as runs of those that their rounded values may fail to separate."""
    keyed = [(rounded(item), item) for item in items]
    if any(key != key or key == math.inf for key, _ in keyed):
        return [[item for _, item in keyed]]
    keyed.sort(key=itemgetter(0))
    runs: list[list[_Item]] = []
    last = -math.inf
    for key, item in keyed:
        if key - last > close * key + _TINY:
            runs.append([])
        runs[-1].append(item)
        last = key
    return runs


def upper_hull(events: Sequence[Event]) -> list[Event]:
    """Return the upper convex hull of events, from left to right, without points inside its edges."""
    error = max(event.nested.error for event in events)
    hull: list[Event] = []
    for run in _in_order(_near_hull(events, error), 4 * error):
        for event in sorted(_thinned(run), key=cmp_to_key(_by_place)) if len(run) > 1 else run:
            if hull and not _by_x(hull[-1], event):
                continue
            while len(hull) >= 2 and _turn(hull[-2], hull[-1], event, error) >= 0:
                hull.pop()
            hull.append(event)
    return hull


def _near_hull(events: Sequence[Event], error: float) -> Sequence[Event]:
    """Return events without those that are certainly below the hull; most are.

    The hull is computed in doubles as if they were exact. Its corners are events, so that a point below the segment
    from one to the next is below the true hull, too.
    """
    if any(event.x != event.x or event.y != event.y for event in events):
        return events
    ordered = sorted((event for event in events if event.x < 0.5), key=lambda event: (event.x, -event.y))
    ordered += sorted((event for event in events if event.x >= 0.5), key=lambda event: (-event.rest_x, event.rest_y))
    corners: list[int] = []
    for at, event in enumerate(ordered):
        while len(corners) >= 2 and _seems_to_turn_left(ordered[corners[-2]], ordered[corners[-1]], event):
            corners.pop()
        corners.append(at)
    kept = [ordered[corners[0]]]
    for start, end in pairwise(corners):
        left, right = ordered[start], ordered[end]
        for event in ordered[start + 1 : end]:
            turn, wrong = _rounded_turn(left, event, right, error)
            if not (turn > wrong and _surely_before(left, event, error) and _surely_before(event, right, error)):
                kept.append(event)
        kept.append(right)
    return kept


def _seems_to_turn_left(a: Event, b: Event, c: Event) -> bool:
    if b.x < 0.5:
        return (b.x - a.x) * (c.y - a.y) >= (b.y - a.y) * (c.x - a.x)
    return (b.rest_x - a.rest_x) * (c.rest_y - a.rest_y) >= (b.rest_y - a.rest_y) * (c.rest_x - a.rest_x)


def _surely_before(one: Event, other: Event, error: float) -> bool:
    step, size = _step(one.x, one.rest_x, other.x, other.rest_x)
    return step > error * size + _TINY


def _in_order(events: Sequence[Event], close: float) -> list[list[Event]]:
    """Return events in ascending order of x, as runs of those whose doubles may fail to separate them."""
    if any(event.x != event.x for event in events):
        return [list(events)]
    runs = _runs([event for event in events if event.x < 0.5], lambda event: event.x, close)
    later = _runs([event for event in events if event.x >= 0.5], lambda event: event.rest_x, close)[::-1]
    if runs and later and later[0][0].x - runs[-1][-1].x <= close:
        runs[-1] += later.pop(0)
    return runs + later


def _thinned(run: list[Event]) -> list[Event]:
    """Return events of nearly the same x, less some that are certainly below a line from (0, 0) through another."""
    best = max(run, key=lambda event: (event.y, -event.rest_y))
    if not best.x > 0:
        return run
    slope = 1.01 * best.y / best.x
    kept = []
    for event in run:
        error = max(event.nested.error, best.nested.error)
        below, y = _step(event.y, event.rest_y, best.y, best.rest_y)
        beside, x = _step(event.x, event.rest_x, best.x, best.rest_x)
        if not below - error * y - _TINY > slope * (abs(beside) + error * x + _TINY):
            kept.append(event)
    return kept


def _by_place(one: Event, other: Event) -> int:
    """Compare by x, then by y, the larger first.

    Of equal events, one that belongs to a pair comes first: at t < 1 the best event may be that of all outputs.
    """
    return _by_x(one, other) or compare_quotients(*other.under, *one.under) or (one.pair is None) - (other.pair is None)


def _by_x(one: Event, other: Event) -> int:
    step, size = _step(one.x, one.rest_x, other.x, other.rest_x)
    if abs(step) > max(one.nested.error, other.nested.error) * size + _TINY:
        return -1 if step > 0 else 1
    return compare_quotients(*one.under_prime, *other.under_prime)


def _step(a: float, rest_a: float, b: float, rest_b: float) -> tuple[float, float]:
    """Return b - a, and a number that its error is proportional to."""
    size, rest = a + b, rest_a + rest_b
    return (b - a, size) if size <= rest else (rest_a - rest_b, rest)


def _turn(a: Event, b: Event, c: Event, error: float) -> int:
    """Return a number that is negative where the path from a via b to c turns right."""
    turn, wrong = _rounded_turn(a, b, c, error)
    if abs(turn) > wrong:
        return 1 if turn > 0 else -1
    (a_x, b_x, c_x), (a_y, b_y, c_y), _ = on_one_scale((a, b, c))
    left, right = (b_x - a_x) * (c_y - a_y), (b_y - a_y) * (c_x - a_x)
    return 0 if left == right else 1 if left > right else -1


def _rounded_turn(a: Event, b: Event, c: Event, error: float) -> tuple[float, float]:
    """Return the turn in doubles, and a bound on its error."""
    (dx, x), (dy, y) = _step(a.x, a.rest_x, b.x, b.rest_x), _step(a.y, a.rest_y, b.y, b.rest_y)
    (to_x, far_x), (to_y, far_y) = _step(a.x, a.rest_x, c.x, c.rest_x), _step(a.y, a.rest_y, c.y, c.rest_y)
    x, y, far_x, far_y = error * x + _TINY, error * y + _TINY, error * far_x + _TINY, error * far_y + _TINY
    one, other = dx * to_y, dy * to_x
    wrong = (abs(dx) + x) * far_y + abs(to_y) * x + (abs(dy) + y) * far_x + abs(to_x) * y
    return one - other, 1.01 * wrong + error * (abs(one) + abs(other)) + _TINY


def on_one_scale(events: Sequence[Event]) -> tuple[list[Whole], list[Whole], Whole]:
    """Return P' and P of events as weights, and their common denominator."""
    scale = lcm(*(total for event in events for total in (event.nested.prime, event.nested.total)))
    primes, ours = ([event.under_prime for event in events], [event.under for event in events])
    return [a * (scale // b) for a, b in primes], [a * (scale // b) for a, b in ours], scale
