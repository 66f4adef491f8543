"""What is asked of one law whose outputs are numbers: probabilities of intervals, expected errors, quantiles."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import lcm

from tightdp.cells.laws import CellLaws
from tightdp.cells.linear import REAL, Label, row, tightest
from tightdp.cells.lines import Stretch, on_stretch, terms_of
from tightdp.cells.maker import Contribution
from tightdp.cells.noise import Outside
from tightdp.cells.sums import (
    UNIT,
    Exact,
    Piece,
    Pieces,
    Terms,
    multiplied,
    multiplied_terms,
    rational_number,
    summed_out,
)
from tightdp.exact.field import Number
from tightdp.exact.waves import Undecided, Wave, antiderivative
from tightdp.language.program import Dataset

_FARTHEST = 1 << 40


def within(laws: CellLaws, x: Dataset, low: Fraction, high: Fraction) -> Exact:
    """Return the probability that the output is from `low` to `high`. Raises Outside where it may be no number."""
    total = 0 * laws.one
    for label, contributions in laws.of(x).items():
        form, constant = _number(label)
        rows = [row(form, high - constant), row({v: -c for v, c in form.items()}, constant - low)]
        total += _sum(laws, label, contributions, [(tightest(rows), {UNIT: laws.one})])
    return total


def expected_error(laws: CellLaws, x: Dataset, target: Fraction, power: int) -> Exact:
    """Return the expectation of |output - target|^power. Raises Outside where the output may be no number."""
    total = 0 * laws.one
    for label, contributions in laws.of(x).items():
        form, constant = _number(label)
        away: Terms = {((), ((v, 1),)): laws.exact(c) for v, c in form.items()}
        if constant != target:
            away[UNIT] = laws.exact(constant - target)
        error: Terms = {UNIT: laws.one}
        for _ in range(power):
            error = multiplied_terms(error, away)
        signed = {key: c if power % 2 == 0 else -c for key, c in error.items()}
        below = row(form, target - constant, strict=True)
        above = row({v: -c for v, c in form.items()}, constant - target)
        sides = [(tightest([above]), error), (tightest([below]), signed)]
        total += _sum(laws, label, contributions, sides)
    return total


def least_error(
    laws: CellLaws, x: Dataset, target: Fraction, beta: Exact, watch: Callable[[], None]
) -> tuple[Fraction, Fraction]:
    """Return both ends of the least α such that |output - target| <= α with probability 1 - beta; beta is positive.

    They are equal for integers, at single values, and where a short rational is it. Raises Outside where the output may
    be no number.
    """
    if any(label.real for label in laws.of(x)):
        return _least_real(laws, x, target, beta, watch)
    parts = [number for label in laws.of(x) for number in (*_number(label)[0].values(), _number(label)[1], target)]
    unit = Fraction(1, lcm(*(Fraction(part).denominator for part in parts)))

    def enough(steps: int) -> bool:
        return bool(within(laws, x, target - steps * unit, target + steps * unit) >= 1 - beta)

    if enough(0):
        return Fraction(0), Fraction(0)
    high = 1
    while not enough(high):
        high = 2 * high
        if high > _FARTHEST:
            raise Outside("is too far out")
    found = bisect_left(range(high), True, lo=high // 2 + 1, key=enough) * unit
    return found, found


def _least_real(
    laws: CellLaws, x: Dataset, target: Fraction, beta: Exact, watch: Callable[[], None]
) -> tuple[Fraction, Fraction]:
    """Return both ends of that α where real numbers are published.

    Between the distances at which there are single values, or conditions change, the probability of a smaller distance
    is a sum of polynomials times exponentials. It does not fall, and is 1 - beta once, or jumps over it at such an end.
    """
    lines, places = list(_lines(laws, x)), {Fraction(0)}
    for slope, constant, pieces in lines:
        cuts = [Fraction(bound) / normal[0][1] for rows, _ in pieces for normal, bound in rows]
        places.update(abs(slope * cut + constant - target) for cut in cuts)
    places.update(abs(constant - target) for form, constant in map(_number, laws.of(x)) if not form)
    ends = sorted(places)

    def missing(end: Fraction) -> Exact:
        watch()
        return 1 - beta - within(laws, x, target - end, target + end)

    at = bisect_left(ends, True, key=lambda end: bool(missing(end) <= 0))
    if not at:
        return ends[0], ends[0]
    low, high = ends[at - 1], ends[at] if at < len(ends) else None
    length = None if high is None else high - low
    more: dict[tuple[Fraction, int], Number] = {(Fraction(0), 0): -rational_number(missing(low))}
    for slope, constant, pieces in lines:
        wide = abs(slope)
        for side in (1, -1):
            start = (target + side * low - constant) / slope
            stretch = Stretch(start, side if slope > 0 else -side, None if length is None else length / wide)
            for (rate, degree), c in terms_of(on_stretch(pieces, stretch, laws.unit)).items():
                line = antiderivative(rate / wide, degree)
                more[Fraction(0), 0] -= c * line[0] / wide ** (degree + 1)
                for k, q in enumerate(line):
                    key = rate / wide, k
                    more[key] = more.get(key, Fraction(0)) + c * q / wide ** (degree + 1)
    wave = Wave({key: c for key, c in more.items() if c}, Fraction(0), length, watch)
    try:
        for first, last in wave.crossings():
            return low + first, low + last
    except Undecided:
        raise Outside("has a law of too many terms to find its quantiles") from None
    if high is None:
        raise Outside("is too far out")
    return high, high


def _lines(laws: CellLaws, x: Dataset) -> Iterator[tuple[Fraction, Fraction, list[Piece]]]:
    """Yield the real numbers slope·u + constant that may be published, with the density of u."""
    for label, contributions in laws.of(x).items():
        form, constant = _number(label)
        if form:
            if label.variables != (REAL,):
                raise Outside("beside noise on the integers has quantiles that are not looked for")
            pieces = [piece for each in contributions for piece in each.pieces]
            yield form[REAL], constant, pieces


def _number(label: Label) -> tuple[dict[int, Fraction], Fraction]:
    """Return an output that is one number as a form of its coordinates."""
    if label.shape is True:
        (line,), (base,), (scale,) = label.columns, label.base, label.scales
        return {v: Fraction(c, scale) for v, c in zip(label.variables, line, strict=True) if c}, base / scale
    if label.shape is False and isinstance(label.constants[0], (int, Fraction)):
        return {}, Fraction(label.constants[0])
    raise Outside("is published beside others")


def _sum(laws: CellLaws, label: Label, contributions: list[Contribution], what: list[Piece]) -> Exact:
    """Return the sum of a function times the law over all coordinates."""
    total = 0 * laws.one
    for contribution in contributions:
        pieces: Pieces = multiplied(contribution.pieces, what)
        for v in reversed(label.variables):  # real ones first: integers in their conditions are summed over then
            pieces = summed_out(pieces, v)
        total += sum((terms.get(UNIT, 0) for _, terms in pieces), 0 * laws.one)
    return total
