"""What is left of geometric noise that a loop looks at round by round: it is geometric noise again.

Of a draw k that is known to be at least a, and of which no more is known, k - a has the law that k has from 0 on. So a
loop whose rounds take something off such a number, and ask whether there is more, is in one state all the time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, inf
from typing import Any, NamedTuple

from tightdp.cells.draws import is_generated, supported
from tightdp.cells.linear import COUNTER, Row, Rows, extent, feasible, needed, opposite, row, tightest
from tightdp.cells.noise import Outside
from tightdp.cells.pictures import Form, Picture, Place, as_form
from tightdp.exact.field import Number
from tightdp.language.laws import Exponentials

_MOST_DRAWS = 4
"""What is left of more draws than that is not told: where every round adds one, there is no end to it."""


class Left(NamedTuple):
    """A constant and multiples of draws k >= 0 that have masses base^k but for a factor: times, and base."""

    draws: tuple[tuple[int | Fraction, Number], ...]
    constant: Any
    """A number; or a form of counters, where it moves beside one."""


class Before(Outside):
    """A round of a loop asks about a draw from before the loop."""

    def __init__(self, variable: int) -> None:
        super().__init__("is drawn in a loop that compares it with noise from before")
        self.variable = variable

    def met(self, start: Picture) -> Place | None:
        """Return where a loop has a number with this draw when it begins."""
        numbers = ((place, dict(getattr(number, "coefficients", ()))) for place, number in zip(*start[1:], strict=True))
        return next((place for place, own in numbers if self.variable in own), None)


def from_0_on(base: Number) -> Exponentials:
    """Return the law of a draw k >= 0 with masses base^k but for a factor."""
    return Exponentials(0, 1 - base, ((Fraction(0), None, base),), real=False)


@dataclass(frozen=True)
class Known:
    """Draws, and what is known of them: where `rows` hold; of some the residue."""

    laws: Mapping[int, Exponentials]
    rows: Rows
    residues: Mapping[int, Any]

    def parting(self, number: Form) -> Row | None:
        """Return a condition on one draw of a number that is to be decided before it is known what is left of it."""
        for normal, _ in self._joint(number) if self._whole(number) else ():
            for v, _ in normal if {v for v, _ in normal} <= dict(number.coefficients).keys() else ():
                low, high = self._ends(v)
                if -inf < low < high:
                    return row({v: 1}, int(low))
        return None

    def left_of(self, number: Form) -> Left | None:
        """Return what is left of a number; None where more is known of its draws, or they are no geometric noise."""
        if not self._whole(number) or any(self._joint(number)):
            return None
        draws, constant = [], number.constant
        for v, c in number.coefficients:
            low, high = self._ends(v)
            if low == high:
                constant += c * int(low)
            elif base := self._base(v, low, high):
                draws.append((c, base) if high == inf else (-c, 1 / base))
                constant += c * int(low if high == inf else high)
            else:
                return None
        return Left(tuple(draws), constant)

    def _whole(self, number: Form) -> bool:
        return all(v in self.laws and not self.laws[v].real and v not in self.residues for v, _ in number.coefficients)

    def _joint(self, number: Form) -> Iterator[Row]:
        """Yield what is known of draws of a number and others, together."""
        own = dict(number.coefficients)
        for each in self.rows:
            if len(each[0]) > 1 and any(v in own for v, _ in each[0]):
                alone = (one for one in supported(self.laws, self.rows) if len(one[0]) == 1)
                if feasible(tightest([*alone, opposite(each)])):
                    yield each

    def _ends(self, v: int) -> tuple[Fraction | float, Fraction | float]:
        """Return between what a draw lies by itself."""
        own = (each for each in supported({v: self.laws[v]}, self.rows) if [w for w, _ in each[0]] == [v])
        return extent(tightest(own), v)

    def _base(self, v: int, low: Fraction | float, high: Fraction | float) -> Number | None:
        """Return the base of a draw where it has one from an end on."""
        for least, most, base in () if is_generated(self.laws[v]) else self.laws[v].pieces:
            reaches = (least is None or least <= low) and (most is None or high <= most)
            if reaches and base != 1 and (low == -inf) != (high == inf):
                return base
        return None


def _alone(numbers: Sequence[Any], at: int, places: Collection[Place], place: Place) -> bool:
    """Whether what is left of a number is asked, and it shares no draw with others."""
    number = numbers[at]
    if place not in places or not isinstance(number, Form):
        return False
    own = {v for v, _ in number.coefficients if v < COUNTER}
    others = (each for other, each in enumerate(numbers) if other != at and isinstance(each, Form))
    return not any(v in own for each in others for v, _ in each.coefficients)


def begun(run: Any, start: Picture, places: Collection[Place]) -> tuple[Picture, set[int]]:
    """Return with what a loop begins, by what is left of the numbers at some places, and the draws that these are of.

    No more can be known of these draws.
    """
    numbers, spent = list(start.numbers), set[int]()
    for at, place in enumerate(start.places):
        own = dict(getattr(numbers[at], "coefficients", ()))
        if _alone(start.numbers, at, places, place) and run.hidden.isdisjoint(own):
            while (condition := Known(run.laws, run.rows, run.residues).parting(numbers[at])) is not None:
                both = condition, opposite(condition)
                run.rows = tightest([*run.rows, both[run.decide([[each] for each in both])]])
            if (found := Known(run.laws, run.rows, run.residues).left_of(numbers[at])) is not None:
                numbers[at] = found
                spent |= own.keys()
    return start._replace(numbers=tuple(numbers)), spent


def told(end: Any, places: Collection[Place]) -> Iterator[Any]:
    """Yield how a round ends by what is left of the numbers at some places."""
    known = Known(end.path.laws, end.path.rows, end.path.residues)
    numbers = list(end.numbers)
    for at, place in enumerate(end.places):
        number = numbers[at]
        if not _alone(end.numbers, at, places, place) or any(0 <= v < COUNTER for v, _ in number.coefficients):
            continue
        named = Form(tuple((-1 - v, c) for v, c in number.coefficients if v < 0), number.constant)
        counted = tuple((v, c) for v, c in number.coefficients if v >= 0)
        if (condition := known.parting(named)) is not None:
            for one in (condition, opposite(condition)):
                rows = tightest([*end.path.rows, one])
                if feasible(supported(end.path.laws, rows)):
                    yield from told(replace(end, path=replace(end.path, rows=rows)), places)
            return
        if (found := known.left_of(named)) is not None:
            if len(found.draws) > _MOST_DRAWS:
                raise Outside("is drawn in a loop that goes on with more and more draws")
            numbers[at] = found._replace(constant=Form(counted, found.constant)) if counted else found
    yield replace(end, numbers=tuple(numbers))


def by_values(end: Any, most: int) -> Iterator[Any]:
    """Yield how a round ends by each value of a draw that it goes on with, where conditions leave fewer than `most`."""
    path, drawn = end.path, {v for number in end.numbers for v, _ in as_form(number).coefficients if v < 0}
    asked = {name for normal, _ in path.rows for name, _ in normal} & path.laws.keys()
    for v in sorted(drawn, reverse=True) if end.way == "round" else ():
        name = -1 - v
        low, high = extent(supported(path.laws, path.rows), name) if name in asked else (0, inf)
        if high - low >= most:
            continue
        for value in range(ceil(low), floor(high) + 1):
            rows = tightest([*path.rows, row({name: 1}, value), row({name: -1}, -value)])
            residue, modulus = path.residues.get(name, (0, 1))
            if feasible(rows) and (value - residue) % modulus == 0:
                numbers = tuple(_with_value(number, v, value) for number in end.numbers)
                yield from by_values(replace(end, path=replace(path, rows=needed(rows)), numbers=numbers), most)
        return
    yield end


def _with_value(number: Any, v: int, value: int) -> Any:
    """Return a number where a draw has a value."""
    coefficients = dict(as_form(number).coefficients)
    if v not in coefficients:
        return number
    constant = number.constant + coefficients.pop(v) * value
    return Form(tuple(coefficients.items()), constant) if coefficients else constant
