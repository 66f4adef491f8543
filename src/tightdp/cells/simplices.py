"""Simplices of real numbers, some of whose corners are at infinity, and sums of exponentials on them.

A simplex has vertices and rays, together one more than its dimension; the places in it are the first vertex and steps
towards the other vertices, whose lengths are at least 0 and add up to 1 at most, and along rays. Functions on it are
those of these lengths. It is cut by cutting edges: one of the two ends is replaced by a place between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial, gcd, lcm, prod
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


def _primitive(ray: Vector) -> Vector:
    times = lcm(*(int(c.q) for c in ray))
    whole = [int((c * times).p) for c in ray]
    return tuple(fmpq(c, gcd(*whole)) for c in whole)


def cut(simplex: Simplex, normal: Vector, bound: fmpq) -> tuple[list[Simplex], list[Simplex]]:
    """Cut a simplex where normal·place = bound, and return what is below and what is above."""
    below: list[Simplex] = []
    above: list[Simplex] = []
    todo = [simplex]
    while todo:
        each = todo.pop()
        heights = [*(_dot(normal, v) - bound for v in each.vertices), *(_dot(normal, r) for r in each.rays)]
        low, high = min(heights), max(heights)
        if low >= 0 or high <= 0:
            (above if high > 0 else below).append(each)
        else:
            todo += split(each, heights.index(low), heights.index(high), -low / (high - low))
    return below, above


def split(simplex: Simplex, i: int, j: int, share: fmpq) -> list[Simplex]:
    """Cut the edge between two corners, so much of the way from the first to the second one, with heights between them.

    Corners are numbered vertices first. From a vertex it is share/(1 - share) of a ray that leads to it.
    """
    corners = [*simplex.vertices, *simplex.rays]
    count = len(simplex.vertices)
    first, second = corners[i], corners[j]
    if (i < count) == (j < count):
        new = tuple((1 - share) * a + share * b for a, b in zip(first, second, strict=True))
    elif i < count:
        new = _plus(first, second, share / (1 - share))
    else:
        new = _plus(second, first, (1 - share) / share)
    found = []
    for gone in (i, j):
        rest = [c for at, c in enumerate(corners) if at != gone]
        vertices, rays = rest[: count - (gone < count)], rest[count - (gone < count) :]
        if i < count or j < count:
            vertices.append(new)
        else:
            rays.append(_primitive(new))
        found.append(Simplex(tuple(sorted(vertices)), tuple(sorted(rays))))
    return found


def divided(functions: Sequence[Sequence[Rows]], dimension: int) -> list[tuple[Simplex, tuple[Held, ...]]]:
    """Cut space until every system of conditions holds everywhere or nowhere inside, with those that hold, by numbers.

    A function is a sum over systems; there are no simplices where none of the first function holds, and no condition is
    looked at where none that it belongs to may hold. Raises Outside where they are too many.
    """
    lines = {row: _line(row, dimension) for systems in functions for rows in systems for row in rows}
    order = {row: at for at, row in enumerate(sorted(lines, key=lambda each: (len(each[0]), each)))}
    every = [dict(enumerate(systems)) for systems in functions]
    origin = (fmpq(0),) * dimension
    todo = [
        (
            Simplex((origin,), tuple(sorted(tuple(fmpq(s * (i == j)) for j in range(dimension)) for i, s in signs))),
            every,
        )
        for signs in map(enumerate, product((1, -1), repeat=dimension))
    ]
    found: list[tuple[Simplex, tuple[Held, ...]]] = []
    while todo:
        simplex, left = todo.pop()
        open_, holding = [], set()
        for row in {row for systems in left for rows in systems.values() for row in rows}:
            low, high = _extent(simplex, *lines[row])
            if high <= 0:
                holding.add(row)
            elif low < 0:
                open_.append(row)
        undecided = holding.union(open_)
        left = [{at: rows - holding for at, rows in each.items() if rows <= undecided} for each in left]
        if not left[0]:
            continue
        rows = Counter(row for systems in left for rows in systems.values() for row in rows)
        if not rows:
            found.append((simplex, tuple(map(frozenset, left))))
        else:
            sides = cut(simplex, *lines[max(rows, key=lambda row: (rows[row], -order[row]))])
            todo += [(piece, left) for side in sides for piece in side]
        if len(found) + len(todo) > _MOST_SIMPLICES:
            raise Outside("is published in too many real numbers that depend on each other")
    return found


def _line(row: Row, dimension: int) -> tuple[Vector, fmpq]:
    normal, bound = dict(row[0]), row[1]
    return tuple(fmpq(normal.get(at, 0)) for at in range(dimension)), as_fmpq(bound)


def _extent(simplex: Simplex, normal: Vector, bound: fmpq) -> tuple[fmpq, fmpq]:
    """Return how far below and above a bound some normal·place is at the corners, where rays count by their slopes."""
    heights = [*(_dot(normal, v) - bound for v in simplex.vertices), *(_dot(normal, r) for r in simplex.rays)]
    return min(heights), max(heights)


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
