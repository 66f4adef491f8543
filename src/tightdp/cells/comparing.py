"""Two laws beside each other: their largest ratio over infinitely many outputs, δ at an ε and ε at a δ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from types import ModuleType
from typing import Any, TypeAlias

from flint import arb, ctx, fmpq

from tightdp.cells import joint, lines, suprema
from tightdp.cells.joint import Region, on_region
from tightdp.cells.laws import CellLaws
from tightdp.cells.linear import REAL, Label
from tightdp.cells.lines import Stretch, on_stretch, stretches
from tightdp.cells.maker import Contribution
from tightdp.cells.noise import Outside
from tightdp.cells.patterns import Counted, Pattern, holding, on_pattern, patterns
from tightdp.cells.simplices import Function, simplices
from tightdp.cells.sums import (
    UNIT,
    Base,
    Exact,
    Piece,
    Pieces,
    expanded,
    variables,
)
from tightdp.cells.suprema import Supremum, TooLong
from tightdp.exact.field import as_ball
from tightdp.exact.waves import WAVE_BITS
from tightdp.language.program import Dataset

_Function: TypeAlias = Counted | Function
Number: TypeAlias = Callable[[_Function, Any], int]
"""Gives a function a number, the same for equal ones of "counts", or on stretches and regions of equal length."""


@dataclass(frozen=True)
class Largest:
    """The largest ratio: that of an output, or the limit of outputs that move in a direction."""

    value: Any
    x: Dataset
    x_prime: Dataset
    label: Label
    start: tuple[Any, ...]
    moved: tuple[Any, ...]

    @property
    def attained(self) -> bool:
        """Whether it is the ratio of an output."""
        return not any(self.moved)


class _Integers:
    """Functions of some integer coordinates of a label, by dataset; on a pattern each is known by a number."""

    by: ModuleType = suprema

    def __init__(self, group: tuple[int, ...], whole: dict[Dataset, list[Piece]], number: Number, unit: Base) -> None:
        self.coordinates = group
        every = {row for pieces in whole.values() for rows, _ in pieces for row in rows}
        self._patterns = patterns(every, len(group))
        held = [holding(every, pattern) for pattern in self._patterns]
        self._nothing = number({}, "counts")
        self._functions = {
            x: [number(on_pattern(pieces, *each, unit), "counts") for each in zip(self._patterns, held, strict=True)]
            for x, pieces in whole.items()
        }

    def compared(self, x: Dataset, x_prime: Dataset) -> list[tuple[int, int, Pattern]]:
        """Return the functions of two datasets pattern by pattern; none where the first has none."""
        ours = self._functions.get(x, [])
        theirs = self._functions.get(x_prime, [self._nothing] * len(ours))
        return list(zip(ours, theirs, self._patterns, strict=True)) if ours else []


class _Real:
    """Functions of a real coordinate of a label, by dataset; on a stretch each is known by a number.

    The line is cut for each pair of datasets where conditions of the two change.
    """

    by: ModuleType = lines

    def __init__(self, group: tuple[int, ...], whole: dict[Dataset, list[Piece]], number: Number, unit: Base) -> None:
        self.coordinates, self._whole, self._number, self._unit = group, whole, number, unit
        self._known: dict[tuple[Dataset, Stretch], int] = {}

    def compared(self, x: Dataset, x_prime: Dataset) -> list[tuple[int, int, Stretch]]:
        """Return the functions of two datasets stretch by stretch; none where the first has none."""
        if x not in self._whole:
            return []
        both = self._whole[x], self._whole.get(x_prime, [])
        cut = stretches({row for pieces in both for rows, _ in pieces for row in rows})
        return [(self._on(x, each), self._on(x_prime, each), each) for each in cut]

    def _on(self, x: Dataset, stretch: Stretch) -> int:
        if (x, stretch) not in self._known:
            function = on_stretch(self._whole.get(x, []), stretch, self._unit)
            self._known[x, stretch] = self._number(function, stretch.length)
        return self._known[x, stretch]


class _Reals:
    """Functions of several real coordinates of a label, by dataset; on a region each is known by a number.

    Space is cut for each pair of datasets where conditions of the two change.
    """

    by: ModuleType = joint

    def __init__(self, group: tuple[int, ...], whole: dict[Dataset, list[Piece]], number: Number, unit: Base) -> None:
        if group[0] < REAL:
            raise Outside(
                "is published beside noise on the integers: together they have an ε, if independent, and no δ"
            )
        self.coordinates, self._whole, self._number = group, whole, number

    def compared(self, x: Dataset, x_prime: Dataset) -> list[tuple[int, int, Region]]:
        """Return the functions of two datasets region by region; none where the first has none."""
        if x not in self._whole:
            return []
        both = self._whole[x], self._whole.get(x_prime, [])
        rows = {row for pieces in both for rows, _ in pieces for row in rows}
        cut = [Region(each) for each in simplices(rows, len(self.coordinates))]
        ours, theirs = ([self._number(on_region(pieces, each), each.length) for each in cut] for pieces in both)
        return list(zip(ours, theirs, cut, strict=True))


_Part: TypeAlias = _Integers | _Real | _Reals
_Place: TypeAlias = Pattern | Stretch | Region


class _Kind:
    """All that is known of one label: for each dataset a weight, and the functions of independent coordinates."""

    def __init__(self, laws: CellLaws, label: Label, apart: bool, number: Number) -> None:
        self.label, self._one, self._unit = label, laws.one, laws.unit
        self._found = {x: law[label] for x, law in laws.laws.items() if label in law}
        self.weights: dict[Dataset, Exact] = dict.fromkeys(self._found, laws.one)
        self.parts: list[_Part] = []
        single = apart and all(len(each) == 1 for each in self._found.values())
        groups = self._groups() if single else [label.variables]
        if single:
            weights = {x: self._weight(each[0]) for x, each in self._found.items()}
            self.weights = {x: weight for x, weight in weights.items() if weight}
        for group in groups:
            self.parts.append(self._part(group, single, number))

    def _groups(self) -> list[tuple[int, ...]]:
        """Return the coordinates that are independent of each other under all datasets."""
        groups: list[set[int]] = [{v} for v in self.label.variables]
        for contributions in self._found.values():
            for pieces in contributions[0]:
                free = variables(pieces)
                together = [group for group in groups if group & free]
                if len(together) > 1:
                    groups = [group for group in groups if not group & free] + [set().union(*together)]
        return [tuple(sorted(group)) for group in groups]

    def _weight(self, contribution: Contribution) -> Exact:
        constants = [pieces for pieces in contribution if not variables(pieces)]
        return prod((_constant(pieces) for pieces in constants), start=self._one)

    def _part(self, group: tuple[int, ...], single: bool, number: Number) -> _Part:
        names = {v: at for at, v in enumerate(group)}
        whole: dict[Dataset, list[Piece]] = {}
        for x, contributions in self._found.items():
            total: list[Piece] = []
            for contribution in contributions:
                used = [p for p in contribution if not single or variables(p) & set(group)]
                total += _renamed(expanded(used, self._one), names)
            whole[x] = total
        kind = _Integers if not group or group[-1] < REAL else _Real if len(group) == 1 else _Reals
        return kind(group, whole, number, self._unit)


def _constant(pieces: Pieces) -> Exact:
    return sum((terms[UNIT] for _, terms in pieces), 0)


def _renamed(pieces: Pieces, names: dict[int, int]) -> list[Piece]:
    if all(old == new for old, new in names.items()):
        return list(pieces)
    found = []
    for rows, terms in pieces:
        moved = frozenset((tuple((names[v], c) for v, c in normal), bound) for normal, bound in rows)
        found.append(
            (
                moved,
                {
                    (tuple((names[v], b) for v, b in bases), tuple((names[v], d) for v, d in degrees)): c
                    for (bases, degrees), c in terms.items()
                },
            )
        )
    return found


class Comparing:
    """Compares pairs of datasets by their laws.

    Where a supremum was not found, ratios are proved not to exceed `upper`; else that is 0.
    """

    def __init__(self, laws: CellLaws, watch: Callable[[], None]) -> None:
        self.laws, self._watch = laws, watch
        self._numbers: dict[tuple[frozenset[Any], Any], int] = {}
        self._functions: list[_Function] = []
        self._sums: dict[Any, tuple[Exact, Exact]] = {}
        self.upper: Any = 0 * laws.one
        if laws.published:  # what stands in the way is to be said at once
            self._apart = self._kinds(True)

    def _number(self, function: _Function, on: Any) -> int:
        self._watch()
        name = frozenset(function.items()), on
        if name not in self._numbers:
            self._numbers[name] = len(self._functions)
            self._functions.append(function)
        return self._numbers[name]

    def _kinds(self, apart: bool) -> list[_Kind]:
        labels = dict.fromkeys(label for law in self.laws.laws.values() for label in law)
        return [_Kind(self.laws, label, apart, self._number) for label in labels]

    @cached_property
    def _apart(self) -> list[_Kind]:
        return self._kinds(True)

    @cached_property
    def _together(self) -> list[_Kind]:
        return self._kinds(False)

    def largest(self, pairs: Iterable[tuple[Dataset, Dataset]]) -> Largest | None:
        """Return the largest likelihood ratio P(output|x)/P(output|x') above 1, None where there is none."""
        best: Largest | None = None
        done: set[Any] = set()
        for x, x_prime in pairs:
            self._watch()
            for kind in self._apart:
                if x not in kind.weights:
                    continue
                found = self._of_pair(kind, x, x_prime, done, self.laws.one if best is None else best.value)
                if found is not None:
                    best = found
                    if best.value == math.inf:
                        return best
        return best

    def _of_pair(self, kind: _Kind, x: Dataset, x_prime: Dataset, done: set[Any], least: Any) -> Largest | None:
        """Return the largest ratio of a pair on one kind of output, None where it is at most `least`."""
        start: list[Any] = [0] * kind.label.dimension
        moved = list(start)
        value: Any = math.inf
        if x_prime in kind.weights:
            value = kind.weights[x] / kind.weights[x_prime]
        several = len(kind.parts) > 1
        for part in kind.parts:
            functions = part.compared(x, x_prime)
            name = value, tuple((p, q) for p, q, _ in functions)
            if not several:
                if name in done:
                    return None
                done.add(name)
            found = self._of_part(part, functions, 0 * self.laws.one if several else least, value)
            if found is None:
                return None
            value, at, along = found
            for v, place, step in zip(part.coordinates, at, along, strict=True):
                index = kind.label.variables.index(v)
                start[index], moved[index] = place, step
        if least != math.inf and (value == math.inf or value > least):
            return Largest(value, x, x_prime, kind.label, tuple(start), tuple(moved))
        return None

    def _of_part(
        self, part: _Part, functions: Sequence[tuple[int, int, Any]], least: Any, times: Any
    ) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]] | None:
        """Return the largest ratio of two functions, times a number, where it is above `least`, and its place."""
        infinite = times == math.inf
        times = self.laws.one if infinite else times
        best: tuple[Any, tuple[Any, ...], tuple[Any, ...]] | None = None
        least = least / times
        for (p, q), pattern in {(p, q): pattern for p, q, pattern in functions}.items():
            if p == q and least >= 1:
                continue
            found = self._supremum(part.by, p, q, pattern, least, times)
            if found is not None:
                value = math.inf if infinite or found.value == math.inf else found.value * times
                best, least = (value, found.place, found.moved), found.value
                if value == math.inf:
                    break
        return best

    def _supremum(self, by: ModuleType, p: int, q: int, pattern: _Place, least: Any, times: Any) -> Supremum | None:
        """Return the supremum of p/q where it is above `least`, what is found of it where the search is too long."""
        functions = self._functions[p], self._functions[q]
        try:
            found: Supremum | None = by.supremum(*functions, pattern, least, self._watch)
            return found
        except TooLong as error:
            known = least if error.best is None else error.best.value
            end = by.upper_end(*functions, pattern, known, self._watch)
            end = math.inf if end == math.inf or not least else end * times  # a product has further factors
            if self.upper != math.inf and (end == math.inf or end > self.upper):
                self.upper = end
            return error.best

    def larger(self, x: Dataset, x_prime: Dataset, t: Exact) -> tuple[Any, Any]:
        """Return the probabilities on x and on x' of the outputs with P(output|x) > t·P(output|x').

        They are exact, or both are enclosed, where densities cross at irrational points. Raises TooLong.
        """
        ours_in_all, theirs_in_all = 0 * self.laws.one, 0 * self.laws.one
        for kind in self._together:
            (part,) = kind.parts
            for p, q, pattern in part.compared(x, x_prime):
                name = p, q, t
                if name not in self._sums:
                    functions = self._functions[p], self._functions[q]
                    self._sums[name] = part.by.larger(*functions, t, pattern, self._watch)
                ours, theirs = self._sums[name]
                ours_in_all, theirs_in_all = _plus(ours_in_all, ours), _plus(theirs_in_all, theirs)
        return ours_in_all, theirs_in_all


def near(c: Any) -> arb:
    return arb(c) if isinstance(c, (fmpq, arb)) else as_ball(c)


def _plus(total: Any, more: Any) -> Any:
    with ctx.workprec(WAVE_BITS):
        return near(total) + near(more) if isinstance(total, arb) or isinstance(more, arb) else total + more
