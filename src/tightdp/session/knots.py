"""δ, ε at a δ, and least errors, of published real numbers as functions of an unknown scale: enclosed.

Where the unknown s is the scale of draws, or the rate, the second derivative of the probability of any event is at most
c/s² in size (`cells/scales.py`). δ is the largest of P(E) - t·Q(E) over all events E. So, with M = (1 + t)·c/s², it is
convex when M·s²/2 is added: δ is at most its chord between two values of s and M·h²/8, and at least what a line through
two values is beyond them, less M/2 times both distances. For ε at a δ lines are those of t and s together, along which
Q(E) changes, too. The least error for a β is known where it is in proportion to the scale of all draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from flint import arb, ctx

from tightdp.cells import scales
from tightdp.cells.laws import CellLaws
from tightdp.errors import ParameterError, ProgramError, QueryError
from tightdp.exact.cells import Cell
from tightdp.exact.enclosure import BITS, ends, round_up
from tightdp.exact.field import Number, as_ball, ratio
from tightdp.exact.lines import parts_in_x
from tightdp.exact.polynomials import UNKNOWN
from tightdp.methods.base import Control
from tightdp.queries.measures import LeastError
from tightdp.queries.privacy import DeltaAt, LeastRatio, TightRatio
from tightdp.results.pieces import End, Part
from tightdp.results.result import Stats
from tightdp.session import numeric, search
from tightdp.session.asking import Largest
from tightdp.session.base import InstanceBase
from tightdp.session.cellwise import Cellwise, Stretch
from tightdp.session.ends import inside, part_of
from tightdp.session.engine import AskedNumber, Engine

_CELLS = 64
"""The range is cut into so many."""
_MARGIN = Fraction(4, 3)
"""A line may be off by that times an estimate."""
_ROUNDS = 4
"""So often it is estimated anew."""
_ROUNDED = 40
"""Ends of values are rounded to so many binary digits."""

Line = tuple[Fraction, Fraction]
"""a + b·s."""
Both = tuple[Fraction, Any]
"""Both ends of a number; the upper one may be infinite."""


class _Range(NamedTuple):
    """From `start` to `stop`, within a cell: there lines go on that lead through values number `first` and `second`."""

    cell: int
    start: Fraction
    stop: Fraction
    first: int
    second: int


_Lines = tuple[_Range, Line, "Line | None"]
"""A range, and lines that a function is at most, and at least, there."""


def enclosed(ours: Cellwise, question: AskedNumber) -> tuple[Part, ...] | None:
    """Return both ends of an answer; None where no real numbers are published, and for ε and 1 - β, which are exact.

    Raises QueryError where the unknown is not a scale alone, or has no range.
    """
    if isinstance(question, LeastError):
        return _least_error(ours, question)
    return _between_lines(ours, question) if isinstance(question, DeltaAt | LeastRatio) else None


def _between_lines(ours: Cellwise, question: DeltaAt | LeastRatio) -> tuple[Part, ...] | None:
    """Return both ends as lines on parts of the range."""
    found = ours.ask(_scaled(ours))
    if all(each.value is None for each in found):
        return None
    low, high = ours.range.low, ours.range.high
    if not isinstance(low, Fraction) or not isinstance(high, Fraction) or not 0 < low < high:
        given = isinstance(low, Fraction) and isinstance(high, Fraction)
        wrong = "not one of positive numbers" if given else "not given"
        raise QueryError(
            f"δ of published real numbers is enclosed between values of {ours.name}, and its range is {wrong}",
            f"give one of positive rational numbers, as in {ours.name}=?[1/2,2]",
        )
    if len(found) > 1 or not found[0].value or not (found[0].with_low and found[0].with_high):
        raise QueryError(
            f"δ of published real numbers is not enclosed where {ours.name} is more than the scale of Laplace noise",
            "give the unknown a value, or ask for ε with δ = 0",
        )
    values = _values(low, high)
    bend, engines = _Bend(found[0].value, values), [ours.with_value(value).engine for value in values]

    def at(place: int, asked: DeltaAt | LeastRatio) -> Both:
        answered = search.answer(engines[place], asked)
        ours.stats += answered.stats
        ours.watch()
        return _down(answered.lower), _up(answered.upper)

    if isinstance(question, DeltaAt):
        lines = _of_delta(values, bend, _up(question.high), [at(place, question) for place in range(len(values))])
        return tuple(_parts(lines, Fraction(0)))
    most = partial(_most, ours)
    ratios = _of_ratio(values, bend, question.delta, lambda place, delta: at(place, LeastRatio(delta)), most)
    return tuple(_parts(ratios, Fraction(1)))


@dataclass(frozen=True)
class _OfReals:
    """What is seen of published real numbers at values of the unknown: False for nothing of use, None for others."""

    look: Callable[[Engine, CellLaws, Control], Any]
    beside: Callable[[Cell], Any] = lambda cell: None
    """What keeps cells apart on which the same is seen."""
    continuous: bool = True

    def collect(self, instance: InstanceBase) -> tuple[Callable[[Cell], Sequence[Stretch]], Stats]:
        """Look at the program; see `Question` of `cellwise`."""
        query = instance.engine.query()
        value, _ = self.at(instance)
        stats = query.outcome(numeric.METHOD).stats
        return lambda cell: [Stretch(cell.low, cell.high, value, self.beside(cell))], stats

    def at(self, instance: InstanceBase) -> tuple[Any, Any]:
        """Look at the program at one value of the unknown, which is that of the cell, or of its end."""
        engine, watch = instance.engine, instance.engine.control()
        laws = engine.program.cells(watch)
        if laws is None or not numeric.of_reals(laws.laws):
            return None, None
        return self.look(engine, laws.laws, watch) or False, None


def _scaled(ours: Cellwise) -> _OfReals:
    """Return a question for the draws that have the unknown scale."""

    def look(engine: Engine, laws: CellLaws, watch: Control) -> scales.Scaled | None:
        return scales.scaled_draws(engine.bound, laws.laws, ours.symbol, watch)

    # cells on which the program does something else stay apart, though they draw as often
    return _OfReals(look, attrgetter("sample"))


def _least_error(ours: Cellwise, question: LeastError) -> tuple[Part, ...] | None:
    """Return both ends of the least error as multiples of the scale, or of 1 over the rate; None for integers."""
    stretches, parts = ours.ask(_in_proportion(ours, question)), []
    if all(each.value is None for each in stretches):
        return None
    u = ratio(UNKNOWN, UNKNOWN**0)
    for each in stretches:
        point = each.high is not None and not each.high.compare(each.low)
        value = ours.value_at(each.low) if point else inside(ours, each.low, each.high)
        if each.value is False or value is None:
            raise QueryError(
                f"the least error for a β is no multiple of {ours.name}, or of 1/{ours.name}, here",
                f"give {ours.name} a value, or ask for the values of it at which an α is enough: solve --alpha --beta",
            )
        try:
            found = search.answer(ours.with_value(value).engine, question)
        except (ParameterError, ProgramError):  # a value at which the program does not run
            continue
        times = {"rates": value / u, "scales": u / value, None: 1}[each.value]
        least = None if found.lower == found.upper else found.lower * times
        parts.append(replace(part_of(ours, each, found.upper * times, found.x), least=least))
    return tuple(parts)


def _in_proportion(ours: Cellwise, question: LeastError) -> _OfReals:
    """Return a question for whether errors are in proportion to 1 over "rates" or to "scales"."""

    def look(engine: Engine, laws: CellLaws, watch: Control) -> str | None:
        datasets = numeric.accuracy_set(engine, question, laws) or ()
        ways = {scales.errors_in_proportion(engine.bound, x, ours.symbol, watch) for x, _ in datasets}
        return None if len(ways) != 1 or None in ways else "rates" if ways.pop() else "scales"

    return _OfReals(look)


def _most(ours: Cellwise, a: Fraction, b: Fraction) -> Fraction:
    """Return how large e^ε is at most between two values, with δ = 0."""
    best = Fraction(1)
    for each in ours.ask(Largest(TightRatio())):
        if each.value == math.inf:
            raise QueryError("e^ε is not enclosed at this δ for all values", "ask for δ at an ε, or at a larger δ")
        with ctx.workprec(BITS):
            x = as_ball(a).union(as_ball(b))
            x = (x / ours.unknown.denominator).exp() if ours.unknown.denominator else x
            above, below = (line.ball(x) for line in parts_in_x(each.value))
            best = max(best, _least_above(above / below))
    return best


def _values(low: Fraction, high: Fraction) -> list[Fraction]:
    """Return values from one end to the other with quotients that are about equal, and short but for the ends."""
    quotient = (float(high) / float(low)) ** (1 / _CELLS)
    unit = Fraction(2) ** math.floor(math.log2(float(low) * (quotient - 1) / 2))
    between = (round(float(low) * quotient**k / float(unit)) * unit for k in range(1, _CELLS))
    return sorted({low, high, *(value for value in between if low < value < high)})


def _ranges(values: Sequence[Fraction]) -> Iterator[_Range]:
    """Yield ranges to the middles of cells, lines to which come from outside, and whole cells at both ends."""
    last = len(values) - 2
    for at, (a, b) in enumerate(pairwise(values)):
        if at:
            yield _Range(at, a, b if at == last else (a + b) / 2, at - 1, at)
        if at < last:
            yield _Range(at, (a + b) / 2 if at else a, b, at + 2, at + 1)


class _Bend:
    """By how much δ may be off lines between some values."""

    def __init__(self, scaled: scales.Scaled, values: Sequence[Fraction]) -> None:
        self._bent, self._turned, self.values = scaled.bent, scaled.turned, values

    def _most(self, line: Line, low: Fraction, high: Fraction) -> Fraction:
        """Return M between two values for the events of P - t·Q, with t on a line."""
        t = max(abs(_value(line, s)) for s in (low, high))
        return (1 + t) * self._bent / low**2 + 2 * abs(line[1]) * self._turned / low

    def above(self, t: Sequence[Fraction], cell: int) -> Fraction:
        """Return by how much δ may be above its chord on a cell, with t between two values."""
        a, b = self.values[cell : cell + 2]
        return self._most(_chord(self.values, t, cell), a, b) * (b - a) ** 2 / 8

    def below(self, line: Line, each: _Range) -> Fraction:
        """Return by how much δ may be below a line on a range, with t on a line."""
        first, second = self.values[each.first], self.values[each.second]
        far = max(abs((s - first) * (s - second)) for s in (each.start, each.stop))
        low, *_, high = sorted((each.start, each.stop, first))
        return self._most(line, low, high) * far / 2


def _of_delta(values: Sequence[Fraction], bend: _Bend, t: Fraction, found: Sequence[Both]) -> Iterator[_Lines]:
    """Yield the lines that δ is at most, and at least."""
    for each in _ranges(values):
        above = _chord(values, [high for _, high in found], each.cell)
        below = _beyond(values, each, found[each.first][1], found[each.second][0])
        more, less = bend.above([t] * len(values), each.cell), bend.below((t, Fraction(0)), each)
        yield each, (above[0] + more, above[1]), (below[0] - less, below[1])


def _of_ratio(
    values: Sequence[Fraction],
    bend: _Bend,
    delta: Number,
    ask: Callable[[int, Number], Both],
    most: Callable[[Fraction, Fraction], Fraction],
) -> Iterator[_Lines]:
    """Yield the lines of the least e^ε at a δ: along one δ is surely not more, along the other it is.

    They lead through the least e^ε at a δ that is less, or more: by how much, depends on these lines.
    """
    found = [ask(place, delta)[1] for place in range(len(values))]
    if math.inf in found:
        raise QueryError("no e^ε is enough for this δ, or none is known", "ask for δ at an ε, or at a larger δ")
    upper, lower = list(found), list(found)
    less, more = ([Fraction(0)] * len(values) for _ in range(2))
    for _ in range(_ROUNDS):
        changed = [False] * len(values), [False] * len(values)
        for each in _ranges(values):
            below = bend.below(_beyond(values, each, found[each.first], lower[each.second]), each)
            needs = [(1, each.second, more, below)]
            if math.inf not in upper[each.cell : each.cell + 2]:
                needs += [(0, place, less, bend.above(upper, each.cell)) for place in (each.cell, each.cell + 1)]
            for which, place, allowed, needed in needs:
                if needed >= allowed[place]:
                    allowed[place], changed[which][place] = _MARGIN * needed, True
        for place in range(len(values)):
            if changed[0][place]:
                upper[place] = ask(place, delta - less[place])[1] if less[place] < delta else math.inf
            if changed[1][place]:
                lower[place] = ask(place, delta + more[place])[0] if delta + more[place] < 1 else Fraction(1)
    for each in _ranges(values):
        cell = slice(each.cell, each.cell + 2)
        near = math.inf not in upper[cell] and bend.above(upper, each.cell) < min(less[cell])
        above = _chord(values, upper, each.cell) if near else (most(*values[cell]), Fraction(0))
        line = _beyond(values, each, found[each.first], lower[each.second])
        sure = lower[each.second] > 1 and bend.below(line, each) < more[each.second]
        yield each, above, line if sure else None


def _chord(values: Sequence[Fraction], of_values: Sequence[Fraction], cell: int) -> Line:
    """Return the line through two values of a function."""
    return _through(*values[cell : cell + 2], *of_values[cell : cell + 2])


def _beyond(values: Sequence[Fraction], each: _Range, first: Fraction, second: Fraction) -> Line:
    return _through(values[each.first], values[each.second], first, second)


def _through(a: Fraction, b: Fraction, at_a: Fraction, at_b: Fraction) -> Line:
    slope = (at_b - at_a) / (b - a)
    return at_a - slope * a, slope


def _value(line: Line, s: Fraction) -> Fraction:
    return line[0] + line[1] * s


def _parts(lines: Iterable[_Lines], least: Fraction) -> Iterator[Part]:
    """Yield the parts of a function that is `least` at least."""
    for (_, start, stop, *_), above, below in lines:
        if below is None or least >= min(_value(below, start), _value(below, stop)):
            below = least, Fraction(0)
        yield Part(End(start), End(stop), _function(above, start, stop), least=-_function(_minus(below), start, stop))


def _minus(line: Line) -> Line:
    return -line[0], -line[1]


def _function(line: Line, *ends_of_it: Fraction) -> Number:
    """Return a short linear function that is not less between two values."""
    slope = round_up(line[1], _ROUNDED)
    start = round_up(max(_value(line, s) - slope * s for s in ends_of_it), _ROUNDED)
    return start + slope * ratio(UNKNOWN, UNKNOWN**0)


def _down(value: Number | float) -> Any:
    return -_up(-value)


def _up(value: Number | float) -> Any:
    if isinstance(value, float):
        return value
    with ctx.workprec(BITS):
        return _least_above(as_ball(value))


def _least_above(value: arb) -> Fraction:
    """Return a short number that a value does not exceed."""
    found = ends(value)
    if found is None:
        raise QueryError("a value is not enclosed", "give a smaller range")
    return round_up(found.upper, _ROUNDED)
