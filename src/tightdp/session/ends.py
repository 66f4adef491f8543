"""Values of the unknown: the ends of intervals as results have them, and where a function is largest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from tightdp.exact.enclosure import ball, bits_of, bounded, ends
from tightdp.exact.field import ExpNumber, Number, ratio
from tightdp.exact.lines import parts_in_x, slope_of
from tightdp.exact.numbers import SHORT
from tightdp.exact.pieces import Span, common_spans, signs_between
from tightdp.exact.polynomials import UNKNOWN, naming
from tightdp.exact.roots import Point, between, closed
from tightdp.queries.measures import Goal
from tightdp.queries.privacy import TightRatio
from tightdp.results.pieces import Best, End, Part
from tightdp.session.asking import Largest, gain_of
from tightdp.session.cellwise import Cellwise, Stretch, limit_of

_ROUNDED = 12
"""To so many decimals the rationals on the safe side of an end are rounded, inward."""
_ROUNDED_EXPONENT = 3
"""The same for exponents: programs with long ones take long, or are out of reach."""


def end_of(ours: Cellwise, point: Point | None) -> End:
    """Return a value of X as an end of an interval of the unknown."""
    if point is None:
        return End(math.inf)
    point = closed(point)
    value = ours.value_at(point)
    if value is not None:
        return End(value)
    low, high = _enclosed(ours, point, SHORT)
    return End(None, _polynomial(ours, point), low, high)


def part_of(ours: Cellwise, stretch: Stretch, value: Any, witness: Any) -> Part:
    """Return a stretch as results have it, with this value and witness."""
    ends = end_of(ours, stretch.low), end_of(ours, stretch.high)
    return Part(*ends, value, witness, stretch.with_low, stretch.with_high)


def _polynomial(ours: Cellwise, point: Point) -> str:
    """Write the polynomial of which a point is a root."""
    if point.line is not None:
        polynomial, root = point.line.polynomial, point.line.root
    else:
        assert point.value is not None
        equation = ratio(UNKNOWN, UNKNOWN**0) - point.value
        assert isinstance(equation, ExpNumber)
        polynomial, root = equation.polynomials[0], equation.root
    with naming(ours.unknown):
        return str(ratio(polynomial, UNKNOWN**0, root))


def _enclosed(ours: Cellwise, point: Point, digits: int) -> tuple[Fraction, Fraction]:
    """Return rationals around the value of the unknown at a point."""
    low, high = point.near(digits)
    if not ours.unknown.denominator:
        return low, high
    with ctx.workprec(2 * bits_of(digits)):
        first, last = (bounded(ball(each).log() * ours.unknown.denominator) for each in (low, high))
    return first.lower, last.upper


def inside(ours: Cellwise, low: Point, high: Point | None) -> Number:
    """Return a short rational value of the unknown between two points."""
    if not ours.unknown.denominator:
        return between(low, high)
    if high is None:
        return Fraction(math.floor(_enclosed(ours, low, SHORT)[1]) + 1)
    return between(*(Point(_middle(*_enclosed(ours, each, SHORT))) for each in (low, high)))


def _middle(low: Fraction, high: Fraction) -> Fraction:
    return (low + high) / 2


def safe(ours: Cellwise, span: Span) -> tuple[Fraction | None, Fraction | None]:
    """Return rationals of an interval, as near to its ends as so many decimals are; None where there is no rational."""
    first = end_of(ours, span.low).value if span.with_low else None
    last = end_of(ours, span.high).value if span.high is not None and span.with_high else None
    low = first if isinstance(first, Fraction) else None
    high = last if isinstance(last, Fraction) else None
    if span.high is not None and not span.high.compare(span.low):
        return low, low
    start, stop = _enclosed(ours, span.low, SHORT), None
    if span.high is not None:
        stop = _enclosed(ours, span.high, SHORT)
    digits = _ROUNDED_EXPONENT if ours.unknown.denominator or ours.unknown.mixed else _ROUNDED
    while stop is not None and (stop[0] - start[1]) * 10**digits < 3:
        digits += 1
    if low is None:
        low = rounded_up(start[1], digits)
    if high is None and stop is not None:
        high = -rounded_up(-stop[0], digits)
    return low, high


def rounded_up(value: Fraction, digits: int = _ROUNDED) -> Fraction:
    """Return the least number with so many decimals above a value."""
    return Fraction(math.floor(value * 10**digits) + 1, 10**digits)


_TOLD_APART = 200
"""Values that agree to so many digits are taken for the same: then the first place is given."""


@dataclass(frozen=True)
class _Place:
    """Where a function may be largest, and whether the place belongs to the allowed values."""

    point: Point | None
    stretch: Stretch
    attained: bool

    def value(self, digits: int) -> tuple[Fraction, Fraction]:
        """Return rationals around the value there."""
        exact = self.exact
        if exact is not None:
            return (exact, exact) if isinstance(exact, Fraction) else tuple(exact.enclosure(digits))  # type: ignore[return-value]
        assert self.point is not None
        above, below = parts_in_x(self.stretch.value)
        while True:
            low, high = self.point.near(digits)
            with ctx.workprec(2 * bits_of(digits)):
                ball = arb(low.numerator) / low.denominator
                found = ends((above.ball(b := ball.union(arb(high.numerator) / high.denominator))) / below.ball(b))
            if found is not None:
                return found.lower, found.upper
            digits *= 2

    @property
    def exact(self) -> Number | None:
        """The value where it has a closed form."""
        if isinstance(self.stretch.value, Fraction):
            return self.stretch.value
        if self.point is None:
            above, below = parts_in_x(self.stretch.value)
            if above.degree < below.degree:
                return Fraction(0)
            top = [line.coefficient_at(line.degree) for line in (above, below)]
            return top[0] / top[1]
        found: Number | None = None if self.point.value is None else limit_of(self.stretch.value, self.point.value)
        return found


def best_of(ours: Cellwise, spans: Sequence[Span], goal: Goal) -> Best | None:
    """Return where a measure is best on some intervals; None where these are empty."""
    best: _Place | None = None
    for stretch in ours.ask(gain_of(goal)):
        for place in _places(stretch, spans):
            if best is None or _larger(place, best):
                best = place
    if best is None:
        return None
    exact = best.exact
    value = best.value(SHORT) if exact is None else exact
    if goal.least:
        value = (-value[1], -value[0]) if isinstance(value, tuple) else -value
    return Best(goal.measure, end_of(ours, best.point), value, best.attained, _cost(ours, best))


def _places(stretch: Stretch, spans: Sequence[Span]) -> Iterator[_Place]:
    """Yield where a function may be largest: at ends of intervals, and where its derivative is 0."""
    whole = [Span(stretch.low, stretch.high, stretch.with_low, stretch.with_high)]
    for span in common_spans(whole, spans):
        inside: list[Point] = []
        if span.high is None or span.high.compare(span.low):
            above, below = parts_in_x(stretch.value)
            slope = slope_of(above, below)
            inside = (
                [start for start, _, _ in signs_between(slope, span.low, span.high)[1:]] if slope.degree >= 0 else []
            )
        yield _Place(closed(span.low), stretch, span.with_low)
        for point in inside:
            yield _Place(closed(point), stretch, True)
        yield _Place(None if span.high is None else closed(span.high), stretch, span.with_high)


def _larger(place: _Place, other: _Place) -> bool:
    digits = SHORT
    while digits <= _TOLD_APART:
        ours, theirs = place.value(digits), other.value(digits)
        if ours[0] > theirs[1] or ours[1] < theirs[0]:
            return ours[0] > theirs[1]
        if ours == theirs and ours[0] == ours[1]:
            break
        digits *= 2
    return place.attained and not other.attained


def _cost(ours: Cellwise, best: _Place) -> Number | float | None:
    """Return the tight e^ε at the best place, where it has a closed form."""
    value = None if best.point is None or not best.attained else ours.value_at(best.point)
    return None if value is None else Largest(TightRatio()).at(ours.with_value(value))[0]
