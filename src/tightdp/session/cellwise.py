"""From a mechanism with one unknown to piecewise functions: run on every cell of the unknown, and at the ends of cells.

The engine runs as it does with numbers, once per cell (`exact/cells`); what it finds there are rational functions. They
go on to an end of their cell where all comparisons come out there as on the cell. Where one does not, the engine runs
at the end: with a number where the end has a closed form, else with the unknown, and with signs decided at the end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from tightdp.errors import LanguageError, ParameterError, ProgramError, TightdpError
from tightdp.exact.cells import Cell, InExponents, Signs, Single, covered
from tightdp.exact.field import ExpNumber, Number, exp, ratio
from tightdp.exact.lines import parts_in_x
from tightdp.exact.numbers import exponent_of
from tightdp.exact.parameters import Range
from tightdp.exact.polynomials import LOG, UNKNOWN, InsideAndOutside, Unknown, at_place
from tightdp.exact.roots import Point, closed
from tightdp.language.program import Bound
from tightdp.limits import Limits, default_memory
from tightdp.methods.base import Progress, Reached, Step
from tightdp.results.result import Stats
from tightdp.session.base import InstanceBase

_DIGITS = 6
"""To so many digits the value up to which an answer is known is told."""
_PARTS = 1_000
"""In how many parts a range is counted where progress is reported."""


@dataclass(frozen=True)
class Stretch:
    """A function of X between two points, or its value at one, where both are the same; and what attains it.

    The value is an exact number with the unknown in it, or infinite, or an output law of those.
    """

    low: Point
    high: Point | None
    value: Any
    witness: Any
    with_low: bool = False
    with_high: bool = False


_Known: TypeAlias = tuple[Stretch, Signs]
"""A stretch, and the signs that were asked for on its cell: where these are kept it may be taken further."""


class Question(Protocol):
    """What is asked of a mechanism on every cell, and at single values."""

    @property
    def continuous(self) -> bool:
        """Whether a finite answer goes on wherever the comparisons of the mechanism come out the same."""

    def collect(self, instance: InstanceBase) -> tuple[Callable[[Cell], Sequence[Stretch]], Stats]:
        """Ask a mechanism with the unknown in it; return how the stretches of its cell are found, and the cost."""

    def at(self, instance: InstanceBase) -> tuple[Any, Any]:
        """Ask a mechanism at one value of the unknown; return the value and the witness."""


class Cellwise:
    """A mechanism in which the parameter `name` is unknown."""

    def __init__(self, instance: InstanceBase, name: str) -> None:
        self.instance, self.name = instance, name
        given = instance.bound.parameters[name]
        assert isinstance(given, Range)
        self.range = given
        self.unknown = Unknown(name)
        self.stats = Stats()
        """What the last question cost."""
        self.answered: dict[tuple[Question, Unknown], tuple[list[Stretch], Stats]] = {}
        """Answers to keep, with what X stands for in them."""

    @property
    def watch(self) -> Callable[[], None]:
        """Raise LimitError where a limit is exceeded; the limits count from now."""
        one = self.instance
        limits = Limits(one.timeout, one.max_nodes, one.max_memory or default_memory())
        return lambda: limits(0)

    def ask(self, question: Question) -> list[Stretch]:
        """Return the answer in pieces, in order. Raises ParameterError where the range is empty or extends too far."""
        start, watch = time.perf_counter(), self.watch
        while True:
            try:
                found = self._asked(question, watch)
                elapsed = time.perf_counter() - start - self.stats.compile - self.stats.count
                self.stats = replace(self.stats, search=max(0.0, elapsed))
                return found
            except InExponents as found:
                self.unknown = Unknown(self.name, found.denominator)
            except InsideAndOutside:
                self.unknown = Unknown(self.name, mixed=True)

    def _asked(self, question: Question, watch: Callable[[], None]) -> list[Stretch]:
        symbolic = self.with_value(self.symbol)

        def compute(cell: Cell) -> tuple[Callable[[Cell], Sequence[Stretch]], Signs] | TightdpError:
            symbolic.forget()
            try:
                meaning = _signs_of_program(symbolic, cell) if question.continuous else None
                pieces, stats = question.collect(symbolic)
                total.append(stats)
                return pieces, cell.signs if meaning is None else meaning
            except (ParameterError, ProgramError) as error:
                return error

        def reached(point: Point) -> None:
            watch()
            symbolic.progress = self._told(point, len(total))

        total: list[Stats] = []
        runs: list[list[_Known]] = []
        last: Point | None = None
        failures: list[tuple[Cell, TightdpError]] = []
        for cell, found in covered(*self.ends, compute, self.unknown, reached):
            if isinstance(found, TightdpError):
                failures.append((cell, found))
                continue
            pieces, signs = found
            if last is None or cell.low.compare(last):
                runs.append([])
            with at_place(cell):
                runs[-1] += [(piece, signs) for piece in pieces(cell)]
            last = cell.high
        self._check(runs, failures)
        self.stats = sum(total[1:], total[0])
        return [part for run in runs for part in self._finished(question, run)]

    def _told(self, point: Point, cells: int) -> Progress | None:
        """Report up to which value the answer is known; return the callback for the steps of a cell."""
        told = self.instance.progress
        if told is None:
            return None
        done, total = cells, 0
        first, last = self.ends
        if last is not None:
            done, total = math.floor(_PARTS * (point.near(_DIGITS)[0] - first.low) / (last.high - first.low)), _PARTS
        reached = Reached(f"answered to {self.name} =", lambda: self._near(point))
        told(Step(f"going through {self.name}", done, total, reached))
        return lambda step: told(replace(step, bound=reached))

    def _near(self, point: Point) -> float | None:
        """Return the value of the unknown at a point, rounded."""
        x = point.near(_DIGITS)[0]
        if not self.unknown.denominator:
            return float(x)
        return self.unknown.denominator * (math.log(x.numerator) - math.log(x.denominator)) if x > 0 else None

    @property
    def symbol(self) -> Number:
        """The number that stands for the unknown."""
        return ratio(LOG, LOG**0) if self.unknown.denominator else ratio(UNKNOWN, UNKNOWN**0)

    @property
    def ends(self) -> tuple[Point, Point | None]:
        """The range as values of X; the natural one is looked for from 0 on."""
        low, high = self.range.low, self.range.high
        if low is None or high is None:
            return (Point(Fraction(1)), None) if self.unknown.denominator else (Point(Fraction(0)), None)
        return Point(self.as_x(low)), Point(self.as_x(high))

    def as_x(self, value: Number) -> Number:
        """Return what X is at a value of the unknown."""
        if not self.unknown.denominator:
            return value
        return exp(value / self.unknown.denominator)

    def value_at(self, point: Point) -> Number | None:
        """Return the value of the unknown at a point; None where it has no closed form."""
        if point.value is None or not self.unknown.denominator:
            return point.value
        exponent = exponent_of(point.value)
        return None if exponent is None else exponent * self.unknown.denominator

    def with_value(self, value: Number) -> InstanceBase:
        """Return the mechanism with a number in place of the unknown."""
        whole = value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value
        bound: Bound = self.instance.bound
        bound = replace(bound, parameters={**bound.parameters, self.name: whole})
        one = self.instance
        return InstanceBase(bound, one.backend, max_nodes=one.max_nodes, method=one.method)

    def _check(self, runs: Sequence[object], failures: Sequence[tuple[Cell, TightdpError]]) -> None:
        if failures and (not runs or self.range.low is not None):
            cell, error = failures[0]
            if runs:
                where = self.value_at(Point(cell.sample))
                near = f"for some values of {self.name}" if where is None else f"for {self.name} = {where}"
                hint = "give a range on which the program runs"
            else:
                near = f"with {self.name} unknown"
                hint = f"{error.hint}; an unknown cannot be a loop bound or an index: else give {self.name} a value"
            if isinstance(error, ProgramError):
                raise ProgramError(f"{near}, {error.what}", hint, error.span, error.x)
            raise ParameterError(f"{near}, {error.what}", hint)

    def _finished(self, question: Question, run: Sequence[_Known]) -> list[Stretch]:
        """Join stretches where the answer goes on, and add single points where it does not.

        Within a cell the answer is a largest one of continuous functions.
        """
        points = [closed(run[0][0].low), *(None if each.high is None else closed(each.high) for each, _ in run)]
        joined: list[Stretch] = []
        for at, point in enumerate(points):
            left, right = run[at - 1][0] if at else None, run[at][0] if at < len(run) else None
            if point is None:
                break
            beside = run[max(at - 1, 0) : at + 1]
            sides = [side for side, _ in beside]
            single, reaching = (None, sides) if _goes_on(beside, point) else self._at_end(question, point, sides)
            goes_on = len(reaching) == len(sides)
            if left is not None:
                joined[-1] = replace(joined[-1], high=point, with_high=left in reaching)
            if single is not None:
                joined.append(single)
            if right is not None:
                alike = left is not None and same_function(left.value, right.value)
                if left is not None and goes_on and alike and str(left.witness) == str(right.witness):
                    joined[-1] = replace(joined[-1], high=right.high)
                else:
                    joined.append(replace(right, low=point, with_low=right in reaching))
        return joined

    def _at_end(
        self, question: Question, point: Point, sides: Sequence[Stretch]
    ) -> tuple[Stretch | None, list[Stretch]]:
        """Return the functions beside a point that go on to it; the answer at the point where none does."""
        value = self.value_at(point)
        try:
            if value is None:
                with at_place(Single(point, self.unknown)):
                    found, witness = question.at(self.with_value(self.symbol))
            else:
                found, witness = question.at(self.with_value(value))
        except (ParameterError, ProgramError):
            return None, []
        reaching = [side for side in sides if _meet(side.value, found, point)]
        return None if reaching else Stretch(point, point, found, witness, True, True), reaching


def _signs_of_program(instance: InstanceBase, cell: Cell) -> Signs | None:
    """Return the signs on which depends what the mechanism does; None where it is not compiled."""
    query = instance.engine.query()
    try:
        instance.engine.program.core(query.control)
    except LanguageError:
        return None
    return cell.signs


def _goes_on(beside: Sequence[_Known], point: Point) -> bool:
    """Whether the answer has, at an end of one cell or two, the value to which it tends there.

    It does where all comparisons come out as they do beside the point. An infinite value may still end there: a δ that
    is reached by no e^ε may be reached at a point.
    """
    if len(beside) == 2 and beside[0][1] is beside[1][1]:
        return True
    if not any(signs.kept_at(point) for _, signs in beside) or any(_is_infinite(s.value, point) for s, _ in beside):
        return False
    return len(beside) == 1 or _meet(beside[0][0].value, beside[1][0].value, point)


def limit_of(value: Any, point: Number) -> Any:
    """Return the value of a function at a point, or its limit there; infinite at a pole."""
    if isinstance(value, tuple):
        law = ((output, limit_of(mass, point)) for output, mass in value)
        return tuple((output, mass) for output, mass in law if mass)
    if not isinstance(value, ExpNumber) or not value.unknown:
        return value
    above, below = (line.at(point) for line in parts_in_x(value))
    return above / below if below else math.inf


def _meet(one: Any, other: Any, point: Point) -> bool:
    """Whether two functions, or laws, have the same limit at a point."""
    if point.value is not None:
        return bool(limit_of(one, point.value) == limit_of(other, point.value))
    if isinstance(one, tuple) and isinstance(other, tuple):
        ours, theirs = dict(one), dict(other)
        return all(_meet(ours.get(key, Fraction(0)), theirs.get(key, Fraction(0)), point) for key in {**ours, **theirs})
    if not all(isinstance(each, (Fraction, ExpNumber, float, tuple)) for each in (one, other)):  # no functions
        return bool(one == other)
    if isinstance(one, float) or isinstance(other, float):
        return _is_infinite(one, point) and _is_infinite(other, point)
    difference = one - other
    if not isinstance(difference, ExpNumber):
        return not difference
    above = parts_in_x(difference)[0]
    return above.degree >= 0 and not point.sign_of(above)


def _is_infinite(value: Any, point: Point) -> bool:
    return isinstance(value, float) or (isinstance(value, ExpNumber) and not point.sign_of(parts_in_x(value)[1]))


def same_function(one: Any, other: Any) -> bool:
    """Whether two values are the same function."""
    if isinstance(one, ExpNumber) and isinstance(other, ExpNumber):
        return one.parts == other.parts and one.root == other.root
    if isinstance(one, tuple) and isinstance(other, tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(a == c and same_function(b, d) for (a, b), (c, d) in pairs)
    return not isinstance(one, ExpNumber) and not isinstance(other, ExpNumber) and bool(one == other)
