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
from itertools import accumulate, pairwise, takewhile
from operator import itemgetter
from typing import TypeVar

from flint import arb, ctx

from tightdp.exact.scaled import UNIT
from tightdp.exact.whole import ExpInteger, Whole, compare_quotients, gcd, lcm, quick
from tightdp.logic.count import Weights
from tightdp.methods.base import Pair

_BITS = 128
_ACCURATE = 60
_CLOSE = 2.0**-40
"""Quotients that differ by less, relative to them, are compared exactly."""
TINY = 1e-290
"""An upper bound on everything that is lost where doubles underflow."""

_Item = TypeVar("_Item")
_Quotient = tuple[Whole, Whole]


class _Nested:
    """The events of a pair: unions of the first groups of outputs, which have weights under x and x'."""

    def __init__(
        self, pair: Pair | None, groups: Sequence[Sequence[_Quotient]], total: Whole, prime: Whole, outputs: int = 1
    ) -> None:
        self.pair, self.total, self.prime = pair, total, prime
        self.error = (outputs + 16) * 2 * UNIT
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
    get = theirs.by_code.get
    outputs = [(weight, get(code, 0)) for code, weight in ours.by_code.items()]
    groups = list(_by_ratio([output for output in outputs if output[1]]))
    if certain := sum(weight for weight, other in outputs if not other):
        groups.insert(0, [(certain, 0)])
    never = [other for code, other in theirs.by_code.items() if code not in ours.by_code]
    y = rounded([[weight for weight, _ in group] for group in groups], ours.total)
    *x, rest = rounded([*([other for _, other in group] for group in groups), never], theirs.total)
    after_x, after_y = (list(accumulate(reversed(side), initial=end)) for side, end in ((x, rest), (y, 0.0)))
    nested = _Nested(pair, groups, ours.total, theirs.total, sum(map(len, groups), len(never)))
    places = zip(accumulate(x), accumulate(y), after_x[-2::-1], after_y[-2::-1], strict=True)
    return [Event(nested, at, *place) for at, place in enumerate(places)]


def rounded(groups: Iterable[Sequence[Whole]], total: Whole) -> list[float]:
    """Return the probabilities of groups of outputs as doubles, or nan where an unknown has no value.

    That of an output has a relative error of at most 2^-51, down to 1e-290.
    """
    with ctx.workprec(_BITS):
        ball = quick(total)

        def one(weight: Whole) -> float:
            if isinstance(weight, int) and isinstance(total, int):
                return weight / total
            return _as_float(quick(weight) / ball)

        return [sum(map(one, group)) for group in groups]


def _as_float(value: arb) -> float:
    return float(value) if value.rel_accuracy_bits() >= _ACCURATE else math.nan


def _by_ratio(ratios: Sequence[_Quotient]) -> Iterator[list[_Quotient]]:
    """Yield the quotients, equal ones grouped, the largest first."""
    keyed = sorted(((_quotient(ratio), ratio) for ratio in ratios), key=itemgetter(0), reverse=True)
    decided = all(key < math.inf for key, _ in keyed)
    runs: list[list[_Quotient]] = []  # those that doubles may fail to separate
    last = math.inf
    for key, ratio in keyed:
        if not runs or (decided and last - key > _CLOSE * last + TINY):
            runs.append([])
        runs[-1].append(ratio)
        last = key
    for near in runs:
        if len(near) == 1 or all(map(_equal_to(near[0]), near[1:])):
            yield near
            continue
        near.sort(key=cmp_to_key(_by_quotient), reverse=True)
        while near:
            equal = list(takewhile(_equal_to(near[0]), near))
            yield equal
            near = near[len(equal) :]


def _by_quotient(one: _Quotient, other: _Quotient) -> int:
    return compare_quotients(*one, *other)


def _equal_to(ratio: _Quotient) -> Callable[[_Quotient], bool]:
    """Return a function that decides whether another quotient is equal, in lowest terms, which are mostly short."""
    up, down = ratio
    if isinstance(up, ExpInteger) and not up.unknown and not (isinstance(down, ExpInteger) and down.unknown):
        shared = gcd(up, down)
        up, down = up // shared, down // shared
    return lambda other: bool(other[0] * down == other[1] * up)


def _quotient(ratio: _Quotient) -> float:
    up, down = ratio
    if not (isinstance(up, int) and isinstance(down, int)):
        with ctx.workprec(_BITS):
            return _as_float(quick(up) / quick(down))
    try:
        return up / down
    except OverflowError:
        return math.nan


def upper_hull(events: Sequence[Event]) -> list[Event]:
    """Return the upper convex hull of events, from left to right, without points inside its edges."""
    error = max(event.nested.error for event in events)
    hull: list[Event] = []
    for event in sorted(_near_hull(events, error), key=cmp_to_key(_by_place)):
        if hull and not _compared(hull[-1], event, prime=True):
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
            if not (turn > wrong and _order(left, event, True, error) < 0 and _order(event, right, True, error) < 0):
                kept.append(event)
        kept.append(right)
    return kept


def _seems_to_turn_left(a: Event, b: Event, c: Event) -> bool:
    if b.x < 0.5:
        return (b.x - a.x) * (c.y - a.y) >= (b.y - a.y) * (c.x - a.x)
    return (b.rest_x - a.rest_x) * (c.rest_y - a.rest_y) >= (b.rest_y - a.rest_y) * (c.rest_x - a.rest_x)


def _by_place(one: Event, other: Event) -> int:
    """Compare by x, then by y, the larger first.

    Of equal events, one that belongs to a pair comes first: at t < 1 the best event may be that of all outputs.
    """
    by_y = _compared(one, other, prime=True) or -_compared(one, other, prime=False)
    return by_y or (one.pair is None) - (other.pair is None)


def _compared(one: Event, other: Event, prime: bool) -> int:
    """Compare by x, or without `prime` by y: in doubles, and where these do not decide exactly."""
    found = _order(one, other, prime, max(one.nested.error, other.nested.error))
    if found:
        return found
    if prime:
        return compare_quotients(*one.under_prime, *other.under_prime)
    return compare_quotients(*one.under, *other.under)


def _order(one: Event, other: Event, prime: bool, error: float) -> int:
    """Compare in doubles, 0 where they do not decide."""
    step, size = _step(one, other, prime)
    return (-1 if step > 0 else 1) if abs(step) > error * size + TINY else 0


def _step(one: Event, other: Event, prime: bool) -> tuple[float, float]:
    """Return the difference of x, or y, of two events, and a number that its error is proportional to."""
    a, b, rest_a, rest_b = (
        (one.x, other.x, one.rest_x, other.rest_x) if prime else (one.y, other.y, one.rest_y, other.rest_y)
    )
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
    (dx, x), (dy, y), (to_x, far_x), (to_y, far_y) = (_step(a, to, prime) for to in (b, c) for prime in (True, False))
    x, y, far_x, far_y = error * x + TINY, error * y + TINY, error * far_x + TINY, error * far_y + TINY
    one, other = dx * to_y, dy * to_x
    wrong = (abs(dx) + x) * far_y + abs(to_y) * x + (abs(dy) + y) * far_x + abs(to_x) * y
    return one - other, 1.01 * wrong + error * (abs(one) + abs(other)) + TINY


def on_one_scale(events: Sequence[Event]) -> tuple[list[Whole], list[Whole], Whole]:
    """Return P' and P of events as weights, and their common denominator."""
    scale = lcm(*(total for event in events for total in (event.nested.prime, event.nested.total)))
    primes, ours = ([event.under_prime for event in events], [event.under for event in events])
    return [a * (scale // b) for a, b in primes], [a * (scale // b) for a, b in ours], scale
