"""Simplices of real numbers, some of whose corners are at infinity, and sums of exponentials on them.

A simplex has vertices and rays, together one more than its dimension; the places in it are the first vertex and steps
towards the other vertices, whose lengths are at least 0 and add up to 1 at most, and along rays. Functions on it are
those of these lengths. Space is cut by planes first, and what is between them then into simplices with its corners:
planes that cut simplices would meet sides that no condition has, at places with ever larger denominators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import permutations, product
from math import factorial, gcd, lcm, prod
from operator import or_
from typing import Any, NamedTuple, TypeAlias

from flint import arb, fmpq, fmpq_mat

from tightdp.cells.linear import Row, Rows
from tightdp.cells.noise import Outside
from tightdp.cells.sums import add
from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.exact.field import exp
from tightdp.exact.waves import antiderivative

_MOST_SIMPLICES = 4_000
_MOST_NAMED = 5
"""Coordinates of at most so many are tried in every order."""

Vector: TypeAlias = tuple[fmpq, ...]
Length: TypeAlias = tuple[fmpq, int]
"""A rate and a degree: e^(rate·length)·length^degree."""
Function: TypeAlias = dict[tuple[Length, ...], Any]
"""Coefficients, exact or enclosed, of products over all lengths."""
Held: TypeAlias = frozenset[int]
"""The numbers of those systems of conditions that hold."""


class Simplex(NamedTuple):
    """The places between some vertices, and from there along some rays."""

    vertices: tuple[Vector, ...]
    rays: tuple[Vector, ...]

    @property
    def bounded(self) -> int:
        """How many lengths are bounded: they come first."""
        return len(self.vertices) - 1

    @property
    def columns(self) -> list[Vector]:
        """The steps that are as long as the lengths say."""
        root = self.vertices[0]
        return [*(_plus(v, root, -1) for v in self.vertices[1:]), *self.rays]

    @property
    def inside(self) -> Vector:
        """A place that is on none of its faces."""
        middle = [sum(c) / len(self.vertices) for c in zip(*self.vertices, strict=True)]
        return tuple(c + sum(r[at] for r in self.rays) for at, c in enumerate(middle))

    @property
    def volume(self) -> fmpq:
        """By how much volumes are larger than those of lengths."""
        columns = self.columns
        entries = [c for column in columns for c in column]
        return abs(fmpq_mat(len(columns), len(columns), entries).det())

    def at(self, lengths: Sequence[Any]) -> tuple[Any, ...]:
        """Return a place."""
        return tuple(map(sum, zip(self.vertices[0], self.along(lengths), strict=True)))

    def along(self, lengths: Sequence[Any]) -> tuple[Any, ...]:
        """Return how far a place is from the first vertex."""
        return tuple(sum(c * s for c, s in zip(line, lengths, strict=True)) for line in zip(*self.columns, strict=True))


@dataclass(frozen=True)
class Region:
    """A simplex; functions on it are told apart by their terms, by how many lengths are bounded, and its volume."""

    simplex: Simplex

    @property
    def length(self) -> tuple[int, fmpq]:
        """What integrals depend on besides terms."""
        return self.simplex.bounded, self.simplex.volume


def standard(bounded: int, dimension: int) -> Simplex:
    """Return the simplex of all lengths."""
    units = [tuple(fmpq(i == j) for j in range(dimension)) for i in range(dimension)]
    return Simplex(((fmpq(0),) * dimension, *units[:bounded]), tuple(units[bounded:]))


def _plus(left: Vector, right: Vector, times: fmpq | int) -> Vector:
    return tuple(a + times * b for a, b in zip(left, right, strict=True))


def _dot(normal: Sequence[Any], place: Sequence[Any]) -> Any:
    return sum(a * b for a, b in zip(normal, place, strict=True))


class _Cell(NamedTuple):
    """A convex set without lines, by its corners, and the numbers of the planes that each is on, as bits.

    A corner (c, d) of integers is the vertex c/d, or the ray c where d is 0: that is a cone of one dimension more.
    """

    corners: tuple[tuple[int, ...], ...]
    planes: tuple[int, ...]

    @classmethod
    def of(cls, simplex: Simplex) -> _Cell:
        """Return a simplex, whose sides have the first numbers."""
        corners = (*(_corner(v, 1) for v in simplex.vertices), *(_corner(r, 0) for r in simplex.rays))
        every = (1 << len(corners)) - 1
        return cls(corners, tuple(every ^ 1 << at for at in range(len(corners))))

    def heights(self, plane: Sequence[int]) -> list[int]:
        """Return by how much corners are above a plane, up to factors."""
        return [sum(a * b for a, b in zip(plane, corner, strict=True)) for corner in self.corners]

    def cut(self, heights: Sequence[int], name: int) -> tuple[_Cell, _Cell]:
        """Return what is below and what is above a plane with a number, for the heights of corners on both sides."""
        low, high = ([at for at, height in enumerate(heights) if height * sign > 0] for sign in (-1, 1))
        border = {c: p | 1 << name for c, p, height in zip(*self, heights, strict=True) if not height}
        for i, j in product(low, high):
            both = self.planes[i] & self.planes[j]
            if both.bit_count() < len(self.corners[0]) - 2:
                continue
            if sum(both & planes == both for planes in self.planes) == 2:  # an edge
                pairs = zip(self.corners[i], self.corners[j], strict=True)
                whole = [heights[j] * a - heights[i] * b for a, b in pairs]
                border[tuple(c // gcd(*whole) for c in whole)] = both | 1 << name
        below, above = ({self.corners[at]: self.planes[at] for at in side} | border for side in (low, high))
        return _Cell(tuple(below), tuple(below.values())), _Cell(tuple(above), tuple(above.values()))

    def simplices(self) -> list[Simplex]:
        """Cut into simplices without further corners: of the first one, and simplices of the sides without it."""
        dimension, found = len(self.corners[0]), list[Simplex]()
        order = sorted(range(len(self.corners)), key=lambda at: (not self.corners[at][-1], _place(self.corners[at])))
        todo: list[tuple[list[int], list[int]]] = [([], order)]
        while todo:
            chosen, face = todo.pop()
            if len(chosen) + len(face) == dimension:
                corners = [self.corners[at] for at in (*chosen, *face)]
                vertices, rays = (
                    sorted(_place(c) for c in corners if bool(c[-1]) is finite) for finite in (True, False)
                )
                found.append(Simplex(tuple(vertices), tuple(rays)))
                continue
            every = reduce(or_, (self.planes[at] for at in face))
            sides = {tuple(at for at in face if self.planes[at] >> name & 1) for name in range(every.bit_length())}
            sides.discard(tuple(face))
            largest = [side for side in sides if side and not any(set(side) < set(other) for other in sides)]
            todo += [([*chosen, face[0]], list(side)) for side in sorted(largest) if side[0] != face[0]]
        return found


def _place(corner: Sequence[int]) -> Vector:
    return tuple(fmpq(c, corner[-1] or 1) for c in corner[:-1])


def _corner(place: Vector, finite: int) -> tuple[int, ...]:
    times = lcm(*(int(c.q) for c in place))
    whole = [*(int((c * times).p) for c in place), times * finite]
    return tuple(c // gcd(*whole) for c in whole)


def cut(simplex: Simplex, normal: Vector, bound: fmpq) -> tuple[list[Simplex], list[Simplex]]:
    """Cut a simplex where normal·place = bound, and return what is below and what is above."""
    cell = _Cell.of(simplex)
    heights = cell.heights(_plane(normal, bound))
    if min(heights) >= 0 or max(heights) <= 0:
        return ([], [simplex]) if max(heights) > 0 else ([simplex], [])
    below, above = cell.cut(heights, len(normal) + 1)
    return below.simplices(), above.simplices()


def split(simplex: Simplex, i: int, j: int) -> list[Simplex]:
    """Cut in the middle of the edge between two vertices."""
    both = simplex.vertices[i], simplex.vertices[j]
    new = tuple((a + b) / 2 for a, b in zip(*both, strict=True))
    return [simplex._replace(vertices=tuple(sorted({*simplex.vertices, new} - {gone}))) for gone in both]


def divided(functions: Sequence[Sequence[Rows]], dimension: int) -> list[tuple[Simplex, tuple[Held, ...]]]:
    """Cut space until every system of conditions holds everywhere or nowhere inside, with those that hold, by numbers.

    A function is a sum over systems; there are no simplices where none of the first function holds, and no condition is
    looked at where none that it belongs to may hold. Raises Outside where they are too many.
    """
    lines = {
        row: _plane([dict(row[0]).get(at, 0) for at in range(dimension)], as_fmpq(row[1]))
        for systems in functions
        for rows in systems
        for row in rows
    }
    order = {row: at for at, row in enumerate(sorted(lines, key=lambda each: (len(each[0]), each)))}
    every = [dict(enumerate(systems)) for systems in functions]
    todo = []
    for signs in product((1, -1), repeat=dimension):
        rays = (tuple(fmpq(s * (i == j)) for j in range(dimension)) for i, s in enumerate(signs))
        todo.append((_Cell.of(Simplex(((fmpq(0),) * dimension,), tuple(rays))), every))
    found: list[tuple[Simplex, tuple[Held, ...]]] = []
    while todo:
        cell, left = todo.pop()
        open_, holding = {}, set()
        for row in {row for systems in left for rows in systems.values() for row in rows}:
            heights = cell.heights(lines[row])
            if max(heights) <= 0:
                holding.add(row)
            elif min(heights) < 0:
                open_[row] = heights
        undecided = holding.union(open_)
        left = [{at: rows - holding for at, rows in each.items() if rows <= undecided} for each in left]
        if not left[0]:
            continue
        rows = Counter(row for systems in left for rows in systems.values() for row in rows)
        if not rows:
            held = tuple(map(frozenset, left))
            found += [(simplex, held) for simplex in cell.simplices()]
        else:
            row = max(rows, key=lambda row: (rows[row], -order[row]))
            todo += [(side, left) for side in cell.cut(open_[row], dimension + 1 + order[row])]
        if len(found) + len(todo) > _MOST_SIMPLICES:
            raise Outside("is published in too many real numbers that depend on each other")
    return found


def _plane(normal: Sequence[fmpq | int], bound: fmpq) -> list[int]:
    times = lcm(*(int(fmpq(c).q) for c in (*normal, bound)))
    return [int((c * times).p) for c in map(fmpq, (*normal, -bound))]


def frame_of(pair: Iterable[Iterable[Row]], dimension: int) -> Simplex:
    """Return a place and a ray for each coordinate, by which the conditions of two functions are the first in order.

    Where coordinates of other functions are named otherwise, moved or all negated, they have the same conditions there,
    as far as their single conditions show that.
    """
    both = [set(rows) for rows in pair]
    names = permutations(range(dimension)) if dimension <= _MOST_NAMED else [tuple(range(dimension))]
    frames = [
        Simplex(
            (_origin(both, dimension, sign),),
            tuple(tuple(fmpq(sign * (v == u)) for u in range(dimension)) for v in each),
        )
        for each in names
        for sign in (1, -1)
    ]
    return min(frames, key=lambda frame: [sorted(seen_from(row, frame) for row in rows) for rows in both])


def _origin(pair: Iterable[Iterable[Row]], dimension: int, sign: int) -> Vector:
    """Return the first places at which a condition on a single coordinate changes, or the last ones."""
    found: list[list[fmpq]] = [[] for _ in range(dimension)]
    for rows in pair:
        for normal, bound in rows:
            if len(normal) == 1:
                ((v, c),) = normal
                found[v].append(as_fmpq(bound) / c)
    return tuple((min if sign > 0 else max)(places) if places else fmpq(0) for places in found)


def seen_from(row: Row, frame: Simplex) -> Row:
    """Return a condition as one on the lengths of rays."""
    normal, bound = row
    lengths = ((j, int(sum(c * ray[v] for v, c in normal))) for j, ray in enumerate(frame.rays))
    start = sum(c * frame.vertices[0][v] for v, c in normal)
    return tuple((j, c) for j, c in lengths if c), as_fraction(as_fmpq(bound) - start)


def within(simplex: Simplex, frame: Simplex) -> Simplex:
    """Return the places of a simplex of lengths in a frame."""
    return Simplex(tuple(map(frame.at, simplex.vertices)), tuple(map(frame.along, simplex.rays)))


# functions


def grown(c: Any, exponent: fmpq) -> Any:
    """Return c·e^exponent."""
    if not exponent:
        return c
    return c * arb(exponent).exp() if isinstance(c, arb) else c * exp(as_fraction(exponent))


def scaled(c: Any, times: fmpq) -> Any:
    """Return a multiple of a coefficient."""
    return c * times if isinstance(c, arb) else c * as_fraction(times)


def on_simplex(function: Function, simplex: Simplex) -> Function:
    """Return a function of places, or of lengths in a simplex around, as one of the lengths in a simplex."""
    root, columns = simplex.vertices[0], simplex.columns
    lines = [(b, *(column[at] for column in columns)) for at, b in enumerate(root)]
    found: Function = {}
    for key, c in function.items():
        rates = [rate for rate, _ in key]
        inner = [_dot(rates, column) for column in columns]
        c = grown(c, _dot(rates, root))
        factors = [line for line, (_, degree) in zip(lines, key, strict=True) for _ in range(degree)]
        for degrees, times in _expanded(factors, len(columns)):
            add(found, tuple(zip(inner, degrees, strict=True)), scaled(c, times) if factors else c)
    return found


def _expanded(lines: Sequence[Sequence[fmpq]], count: int) -> Iterator[tuple[tuple[int, ...], fmpq]]:
    """Yield the degrees and coefficients of a product of linear functions."""
    found = {(0,) * count: fmpq(1)}
    for constant, *slopes in lines:
        grown_: dict[tuple[int, ...], fmpq] = {}
        for degrees, c in found.items():
            add(grown_, degrees, c * constant)
            for at, slope in enumerate(slopes):
                if slope:
                    add(grown_, (*degrees[:at], degrees[at] + 1, *degrees[at + 1 :]), c * slope)
        found = grown_
    yield from found.items()


def integral(function: Function, bounded: int) -> Any:
    """Return the integral over all lengths; along rays it falls."""
    inner: Function = {}
    for key, c in function.items():
        far = prod((factorial(k) / (-rate) ** (k + 1) for rate, k in key[bounded:]), start=fmpq(1))
        add(inner, key[:bounded], scaled(c, far))
    for last in range(bounded - 1, -1, -1):
        function, inner = inner, {}
        for key, c in function.items():
            rate, degree = key[last]
            line = [as_fmpq(q) for q in antiderivative(as_fraction(rate), degree)]
            if line[0]:
                add(inner, key[:last], scaled(c, -line[0]))
            above = grown(c, rate)
            for k, q in enumerate(line):
                for degrees, times in _expanded([(fmpq(1), *[fmpq(-1)] * last)] * k, last) if q else ():
                    shares = ((r - rate, d + e) for (r, d), e in zip(key[:last], degrees, strict=True))
                    add(inner, tuple(shares), scaled(above, q * times))
    return inner.get((), 0)
