"""A law in closed form: the masses of single outputs, tails of the integers, and densities on intervals."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import Any

from tightdp.cells.laws import CellLaws
from tightdp.cells.linear import Label, Row
from tightdp.cells.lines import Stretch, mass_between, on_stretch, rate_of, stretches
from tightdp.cells.noise import Outside
from tightdp.cells.patterns import Counted, Pattern, holding, on_pattern, shifted, without
from tightdp.cells.sums import UNIT, Exact, Piece, Terms, summed_out
from tightdp.exact.field import Number
from tightdp.language.program import Dataset
from tightdp.language.tails import Interval, Tail

_FIRST = 8
"""So many masses are listed before a tail begins."""
_MOST_PLACES = 10_000
"""At most so many places are listed between two tails."""


def listed(laws: CellLaws, datasets: Sequence[Dataset]) -> list[dict[Any, Number]]:
    """Return the laws on some datasets: tails begin at the same places, and are one output each, as intervals are.

    Raises Outside where an output has several noisy numbers, or one with noise of both kinds.
    """
    found: list[dict[Any, Exact]] = [{} for _ in datasets]
    for label in dict.fromkeys(label for x in datasets for label in laws.of(x)):
        kinds = [laws.of(x).get(label, []) for x in datasets]
        functions = [[piece for each in kind for piece in each.pieces] for kind in kinds]
        for law, pieces in zip(found, _listed(laws, label, functions), strict=True):
            for output, mass in pieces:
                law[output] = law.get(output, 0) + mass
    return [{output: laws.number(mass) for output, mass in law.items()} for law in found]


def _listed(laws: CellLaws, label: Label, functions: Sequence[list[Piece]]) -> Iterator[list[tuple[Any, Exact]]]:
    """Yield the outputs of one kind with their masses, dataset by dataset."""
    if not label.dimension:
        for pieces in functions:
            yield [(label.output(()), sum((terms[UNIT] for _, terms in pieces), 0 * laws.one))]
        return
    noisy = [at for at, line in enumerate(label.columns) if any(line)]
    if len(noisy) > 1:
        raise Outside("is published in several numbers")
    if label.dimension > 1:
        raise Outside("is published in a sum with noise on the integers")
    (at,) = noisy
    line = _Line(laws, label, at)
    every = {row for pieces in functions for rows, _ in pieces for row in rows}
    if label.real:
        for pieces in functions:
            cut = stretches({row for rows, _ in pieces for row in rows})
            on = ((stretch, on_stretch(pieces, stretch, laws.unit)) for stretch in cut)
            yield [line.interval(stretch, function) for stretch, function in on if function]
        return
    cells = [(pattern, holding(every, pattern)) for pattern in _patterns(every)]
    for pieces in functions:
        yield [
            each
            for pattern, held in cells
            for each in line.masses(pattern, on_pattern(pieces, pattern, held, laws.unit))
        ]


def _patterns(rows: Collection[Row]) -> list[Pattern]:
    """Return the places between the conditions on the only coordinate one by one, and all beyond them on each side."""
    cuts = [bound + 1 if normal[0][1] > 0 else -bound for normal, bound in rows] or [0]
    low, high = int(min(cuts)), int(max(cuts))
    if high - low > _MOST_PLACES:
        raise Outside("is published with conditions that are far from each other")
    middle = [Pattern((place,), ()) for place in range(low, high)]
    return [Pattern((low - 1,), ((-1,),)), *middle, Pattern((high,), ((1,),))]


class _Line:
    """The outputs of a kind that has one coordinate, which moves their number at a place."""

    def __init__(self, laws: CellLaws, label: Label, at: int) -> None:
        self.laws, self.label, self.at = laws, label, at
        self.slope = Fraction(label.columns[at][0]) / label.scales[at]

    def number(self, coordinate: int | Fraction) -> Fraction:
        return self.label.base[self.at] / self.label.scales[self.at] + self.slope * coordinate

    def output(self, shown: object) -> Any:
        """Return the output with something in place of this number."""
        numbers: list[Any] = [base / scale for base, scale in zip(self.label.base, self.label.scales, strict=True)]
        numbers[self.at] = shown
        return self.label.filled(numbers)

    def masses(self, pattern: Pattern, function: Counted) -> Iterator[tuple[Any, Exact]]:
        """Yield the masses on a pattern: all of them, or the first ones and a tail."""
        (place,) = pattern.start
        if not pattern.steps:
            if function:
                yield self.output(self.number(place)), function[()]
            return
        ((step,),) = pattern.steps
        for _ in range(_FIRST):
            here = without(function, 0)
            if here:
                yield self.output(self.number(place)), here[()]
            place, function = place + step, shifted(function, 0)
        if not function:
            return
        total = self._total(function)
        way = step if self.slope > 0 else -step
        first, distance = self.number(place), abs(self.slope)
        terms = tuple(
            (self.laws.number(c / total), k, self.laws.number(base.value)) for ((base, k),), c in function.items()
        )
        terms = tuple(sorted(terms, key=lambda term: (term[2], term[1]), reverse=True))
        ratio = terms[0][2]
        whole = [int(each) if each.denominator == 1 else each for each in (first, distance)]
        yield (
            self.output(Tail(whole[0], way, ratio, whole[1], terms=terms if len(terms) > 1 or terms[0][1] else ())),
            total,
        )

    def _total(self, function: Counted) -> Exact:
        """Return the sum of a function over all counts."""
        terms: Terms = {
            (((0, base),) if base is not base.unit else (), ((0, k),) if k else ()): c
            for ((base, k),), c in function.items()
        }
        found = summed_out([(frozenset([(((0, -1),), 0)]), terms)], 0)
        return sum((each[UNIT] for _, each in found), 0 * self.laws.one)

    def interval(self, stretch: Stretch, function: Counted) -> tuple[Any, Exact]:
        """Return an interval with its density, and its probability."""
        wide = abs(self.slope)
        origin = self.number(stretch.start)
        sign = stretch.sign if self.slope > 0 else -stretch.sign
        end = None if stretch.length is None else origin + sign * wide * stretch.length
        low, high = (origin, end) if sign > 0 else (end, origin)
        terms = tuple(
            (self.laws.number(c) / wide ** (k + 1), k, rate_of(base) / wide) for ((base, k),), c in function.items()
        )
        return self.output(Interval(low, high, origin, terms)), mass_between(function, Fraction(0), stretch.length)
