"""The value of the unknown at which a piecewise function is largest, among the values that are allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from tightdp.exact.enclosure import bits_of, ends
from tightdp.exact.field import Number
from tightdp.exact.pieces import Span, common_spans, signs_between
from tightdp.exact.roots import Point, closed, parts_in_x
from tightdp.results.pieces import Best
from tightdp.session.asking import TightRatio, WorstAccuracy
from tightdp.session.cellwise import Cellwise, Stretch, limit_of
from tightdp.session.ends import end_of

__all__ = ["best_of"]

_DIGITS = 30
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


def best_of(ours: Cellwise, spans: Sequence[Span], question: WorstAccuracy) -> Best | None:
    """Return where the accuracy is largest on some intervals; None where these are empty."""
    best: _Place | None = None
    for stretch in ours.ask(question):
        for place in _places(stretch, spans):
            if best is None or _larger(place, best):
                best = place
    if best is None:
        return None
    exact = best.exact
    value = best.value(_DIGITS) if exact is None else exact
    return Best(end_of(ours, best.point), value, best.attained, _cost(ours, best))


def _places(stretch: Stretch, spans: Sequence[Span]) -> Iterator[_Place]:
    """Yield where a function may be largest: at ends of intervals, and where its derivative is 0."""
    whole = [Span(stretch.low, stretch.high, stretch.with_low, stretch.with_high)]
    for span in common_spans(whole, spans):
        inside: list[Point] = []
        if span.high is None or span.high.compare(span.low):
            above, below = parts_in_x(stretch.value)
            slope = above.derivative() * below - above * below.derivative()
            inside = [start for start, _, _ in signs_between(slope, span.low, span.high)[1:]] if slope.parts else []
        yield _Place(closed(span.low), stretch, span.with_low)
        for point in inside:
            yield _Place(closed(point), stretch, True)
        yield _Place(None if span.high is None else closed(span.high), stretch, span.with_high)


def _larger(place: _Place, other: _Place) -> bool:
    digits = _DIGITS
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
    return None if value is None else TightRatio().at(ours.with_value(value))[0]
