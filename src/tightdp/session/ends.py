"""Values of the unknown: the ends of intervals as results have them, and rationals inside of intervals."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import ctx

from tightdp.exact.enclosure import ball, bits_of, ends
from tightdp.exact.field import ExpNumber, Number, ratio
from tightdp.exact.pieces import Span
from tightdp.exact.polynomials import UNKNOWN, naming
from tightdp.exact.roots import Point, between, closed
from tightdp.results.pieces import End
from tightdp.session.cellwise import Cellwise

__all__ = ["end_of", "inside", "safe"]

_DIGITS = 30
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
    low, high = _enclosed(ours, point, _DIGITS)
    return End(None, _polynomial(ours, point), low, high)


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
        first, last = (ends(ball(each).log() * ours.unknown.denominator) for each in (low, high))
    assert first is not None
    assert last is not None
    return first.lower, last.upper


def inside(ours: Cellwise, low: Point, high: Point | None) -> Number:
    """Return a short rational value of the unknown between two points."""
    if not ours.unknown.denominator:
        return between(low, high)
    if high is None:
        return Fraction(math.floor(_enclosed(ours, low, _DIGITS)[1]) + 1)
    return between(*(Point(_middle(*_enclosed(ours, each, _DIGITS))) for each in (low, high)))


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
    start, stop = _enclosed(ours, span.low, _DIGITS), None
    if span.high is not None:
        stop = _enclosed(ours, span.high, _DIGITS)
    digits = _ROUNDED_EXPONENT if ours.unknown.denominator else _ROUNDED
    while stop is not None and (stop[0] - start[1]) * 10**digits < 3:
        digits += 1
    unit = 10**digits
    if low is None:
        low = Fraction(math.floor(start[1] * unit) + 1, unit)
    if high is None and stop is not None:
        high = Fraction(math.ceil(stop[0] * unit) - 1, unit)
    return low, high
