"""What one record does with the numbers that a state holds, at least and at most: on cells of numbers.

A cell is one integer, a short interval of reals, or all that is farther out on one side. Probabilities are integers
over `ONE`, rounded down for what happens for all numbers of a cell, up for what may happen for some. No cell has its
ends in it where numbers are real, as these have densities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from tightdp.cells.draws import by_pieces
from tightdp.cells.masses import Masses
from tightdp.core.between import cells_of
from tightdp.every_n.edges import Edge, finite
from tightdp.every_n.paths import Affine, Noise, Path, Terms, support
from tightdp.every_n.shifts import is_real
from tightdp.exact.arrays import Doubles, Flags, Integers, np
from tightdp.exact.field import Number

BITS = 30
ONE = 1 << BITS
MOST_ENTRIES = 1 << 21
"""What depends on more cells at once is not looked at: it may happen, and need not."""
_MOST_MOVED = 3
"""What may be in more cells than that afterwards may be in any."""

_LARGEST = 1 << 40
"""Numbers in units of a grid are below that: doubles hold them, and sums of multiples of them, exactly."""

Weights: TypeAlias = "dict[int, Integers]"
"""A number over `ONE` for every state and all cells of what it holds."""
Bound: TypeAlias = tuple[Terms, Edge, Edge]
_Span: TypeAlias = "tuple[Doubles, Doubles]"


class Unheld(Exception):
    """A number is so large that doubles need not hold it."""


class Moved(NamedTuple):
    """In which cells a value is afterwards, first and last."""

    first: Integers
    last: Integers


class Grid:
    """Cells of numbers up to `far` on both sides of 0; real ones have the length 1/parts, which is the unit of ends."""

    def __init__(self, far: int, parts: int) -> None:
        self.far, self.parts = far, parts
        self._masses: dict[tuple[Noise, bool], Integers] = {}

    def size(self, real: bool) -> int:
        """Return how many cells there are."""
        return 2 * self.far * self.parts + 2 if real else 2 * self.far + 3

    def cells(self, real: bool) -> _Span:
        """Return the lower and the upper ends of all cells."""
        if real:
            inner = np.arange(-self.far * self.parts, self.far * self.parts + 1, dtype=float)
            return np.append(-math.inf, inner), np.append(inner, math.inf)
        inner = np.arange(-self.far - 1, self.far + 2, dtype=float) * self.parts
        low, high = inner.copy(), inner.copy()
        low[0], high[-1] = -math.inf, math.inf
        return low, high

    def within(self, span: _Span, real: bool) -> Moved:
        """Return the cells in which numbers between two ends are."""
        low, high = span
        if real:
            last = 2 * self.far * self.parts + 1
            first_, last_ = np.floor(low) + self.far * self.parts + 1, np.ceil(high) + self.far * self.parts
        else:
            last = 2 * self.far + 2
            first_, last_ = np.ceil(low / self.parts) + self.far + 1, np.floor(high / self.parts) + self.far + 1
        return Moved(np.clip(first_, 0, last).astype(np.int64), np.clip(last_, 0, last).astype(np.int64))

    def masses(self, law: Noise, up: bool) -> Integers:
        """Return the probabilities of all cells."""
        if (law, up) not in self._masses:
            assert not isinstance(law, Masses)
            pieces = by_pieces(law)
            low, _ = self.cells(pieces.real)
            cuts = [Fraction(int(end), self.parts) - (0 if pieces.real else Fraction(1, 2)) for end in low[1:]]
            least = np.array([_double(support(law)[0] * self.parts)])
            first = int(self.within((least, least), pieces.real).first[0])
            inside = [rounded(mass, up) for _, mass in cells_of(pieces, cuts, None, set())]
            found = np.zeros(low.shape, dtype=np.int64)
            found[first : first + len(inside)] = inside
            self._masses[law, up] = found
        return self._masses[law, up]


def rounded(mass: Number, up: bool) -> int:
    """Return a probability over `ONE`, rounded."""
    return math.ceil(mass * ONE) if up else math.floor(mass * ONE)


def shifted(total: Integers, up: bool) -> Integers:
    """Return products of two numbers over `ONE` as such numbers."""
    return -(-total >> BITS) if up else total >> BITS


def _picked(values: Integers, moved: Moved, others: Sequence[Integers], up: bool) -> Integers:
    """Return the extremes between two places along the first axis, at these places of the other axes."""
    found: Integers = values[(moved.first, *others)]
    if (moved.first == moved.last).all():
        return found
    for more in range(1, _MOST_MOVED):
        other = values[(np.minimum(moved.first + more, moved.last), *others)]
        found = np.maximum(found, other) if up else np.minimum(found, other)
    far = moved.last - moved.first >= _MOST_MOVED
    found[np.broadcast_to(far, found.shape) if others else far] = values.max() if up else 0
    return found


class Way:
    """A path on cells: with which weight it is taken from each, and where it leads: to -1 at the end."""

    def __init__(
        self,
        path: Path,
        held: Sequence[bool],
        later: Sequence[bool],
        grid: Grid,
        also: Sequence[Bound],
        up: bool,
        ends: bool = False,
    ) -> None:
        self.target = -1 if ends else path.target
        self.up = up
        self._shape = tuple(map(grid.size, held))
        bounds = [(terms, *ends_) for terms, ends_ in path.bounds.items() if not _is_support(path, terms, ends_)]
        bounds += [each for each in also if finite(each[1]) or finite(each[2])]
        asked = _symbols([terms for terms, *_ in bounds])
        renewed = {at: place for at, place in _renewed(path.values).items() if ("fresh", place) not in asked}
        kept = [at for at in range(len(path.values)) if at not in renewed]
        moved = _symbols([path.values[at].terms for at in kept])
        noises = sorted(place for kind, place in asked | moved if kind == "fresh")
        names = [*(("held", at) for at in range(len(held))), *(("fresh", place) for place in noises)]
        reals = {("held", at): real for at, real in enumerate(held)}
        reals |= {("fresh", at): is_real(law) for at, law in enumerate(path.noises)}
        spans = {
            name: (_along(low, at, len(names)), _along(high, at, len(names)))
            for at, name in enumerate(names)
            for low, high in [grid.cells(reals[name])]
        }
        used = [name for name in names if name in asked | moved]
        weight: Integers = np.full((1,) * len(names), rounded(path.probability, up), dtype=np.int64)
        self._renewed: list[tuple[int, Moved, Integers]] = []
        self._moved: list[Moved] = []
        self._wide = math.prod(grid.size(reals[name]) for name in used) > MOST_ENTRIES
        if not self._wide:
            for at, place in enumerate(noises, len(held)):
                mass = grid.masses(path.noises[place], up)
                weight = shifted(weight * _along(mass, at, len(names)), up)
            for terms, low, high in bounds:
                real = any(reals[name] for name, _ in terms)
                span = _value(Affine(terms, Fraction(0)), spans, grid)
                weight = weight * _holds(span, low, high, grid.parts, up, real)
            gone = tuple(at for at, name in enumerate(names) if name[0] == "fresh" and name not in moved)
            weight = weight.sum(axis=gone, keepdims=True)
            self._moved = [grid.within(_value(path.values[at], spans, grid), later[at]) for at in kept]
            for at, place in sorted(renewed.items(), reverse=True):
                own = {("fresh", place): grid.cells(reals["fresh", place])}
                inside = grid.within(_value(path.values[at], own, grid), later[at])
                self._renewed.append((at, inside, grid.masses(path.noises[place], up)))
        self.weight = weight
        varied = [at for at, each in enumerate(self._moved) if (each.first != each.last).any()]
        self._at = varied[0] if varied else 0
        self._wide |= len(varied) > 1

    def before(self, later: Any) -> Integers:
        """Return what is expected of a number of the state that it leads to, at least or at most, in every cell."""
        values = later
        if self._wide:
            values = values.max() if self.up else np.int64(0)
        else:
            for axis, moved, mass in self._renewed:
                front = _picked(np.moveaxis(values, axis, 0), moved, (), self.up)
                values = shifted(np.tensordot(mass, front, 1), self.up)
            if self._moved:
                others = [each.first for number, each in enumerate(self._moved) if number != self._at]
                values = _picked(np.moveaxis(values, self._at, 0), self._moved[self._at], others, self.up)
        total = self.weight * values
        inner = tuple(range(len(self._shape), total.ndim))
        found: Integers = np.broadcast_to(shifted(total.sum(axis=inner), self.up), self._shape)
        return found

    def after(self, here: Flags, found: Flags) -> None:
        """Mark the cells that it may lead to from those here."""
        taken = (self.weight > 0) & here.reshape(here.shape + (1,) * (self.weight.ndim - here.ndim))
        if not taken.any():
            return
        if self._renewed or self._wide or not self._moved:
            found[...] = True
            return
        shape = np.broadcast_shapes((1,), taken.shape, *(each.first.shape for each in self._moved))
        at = np.nonzero(np.broadcast_to(taken, shape))
        firsts = [np.broadcast_to(each.first, shape)[at] for each in self._moved]
        last = np.broadcast_to(self._moved[self._at].last, shape)[at]
        for more in range(int((last - firsts[self._at]).max()) + 1):
            places = list(firsts)
            places[self._at] = np.minimum(places[self._at] + more, last)
            found[tuple(places)] = True


def _double(number: Edge) -> float:
    """Return a number of units, or an infinite end. Raises Unheld."""
    if finite(number) and abs(number) >= _LARGEST:
        raise Unheld
    return float(number)


def _along(values: Any, axis: int, count: int) -> Any:
    """Return a row as an array of so many axes."""
    return values.reshape([-1 if at == axis else 1 for at in range(count)])


def _symbols(some: Sequence[Terms]) -> set[tuple[str, int]]:
    return {name for terms in some for name, _ in terms}


def _renewed(values: Sequence[Affine]) -> dict[int, int]:
    """Return which values are new noise that no other has in it, and the number of the noise."""
    names = [name for form in values for name, _ in form.terms]
    return {
        at: form.terms[0][0][1]
        for at, form in enumerate(values)
        if len(form.terms) == 1 and form.terms[0][0][0] == "fresh" and names.count(form.terms[0][0]) == 1
    }


def _is_support(path: Path, terms: Terms, ends: tuple[Edge, Edge]) -> bool:
    """Whether a bound says no more than the law of a noise."""
    ((kind, at), factor), *more = terms
    return not more and kind == "fresh" and factor == 1 and support(path.noises[at]) == ends


def _value(form: Affine, spans: Mapping[tuple[str, int], _Span], grid: Grid) -> _Span:
    """Return between what a form is, in units of the grid."""
    low = high = np.array(_double(form.constant * grid.parts))
    for name, factor in form.terms:
        least, most = spans[name] if factor > 0 else spans[name][::-1]
        times = _double(factor)
        low, high = low + times * least, high + times * most
    return low, high


def _holds(span: _Span, low: Edge, high: Edge, parts: int, up: bool, real: bool) -> Flags:
    """Whether numbers between two ends are within a range: all of them, or with `up` some."""
    least, most = span
    start, end = _double(low * parts), _double(high * parts)
    found: Flags = (least >= start) & (most <= end)
    if up:
        found = (most > start) & (least < end) if real else (most >= start) & (least <= end)
    return found


def expected(ways: Mapping[int, Sequence[Way]], later: Weights, up: bool) -> Weights:
    """Return what is expected of numbers for what comes next, in every state and cell."""
    found = {at: np.zeros_like(each) for at, each in later.items()}
    for at, some in ways.items():
        for way in some:
            found[at] += way.before(later[way.target] if way.target >= 0 else np.int64(ONE))
    if up:  # probabilities sum to 1
        top = max(int(each.max()) for each in later.values())
        found = {at: np.minimum(each, top) for at, each in found.items()}
    return found
