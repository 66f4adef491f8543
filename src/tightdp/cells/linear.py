"""Linear forms on integer variables: inequalities between them, the points that they reach, and kinds of outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import floor, gcd, inf, lcm, prod
from typing import Any, TypeAlias

from tightdp.language.outputs import as_output

REAL = 1 << 20
"""Variables from here on are real."""
COUNTER = REAL >> 1
"""Integer variables from here on stand for counters of a loop."""

Coefficients: TypeAlias = Mapping[int, "int | Fraction"]
Normal: TypeAlias = tuple[tuple[int, int], ...]
"""Coefficients by variable, in the order of variables, without a common divisor."""
Row: TypeAlias = tuple[Normal, "int | Fraction"]
"""normal · variables <= bound."""
Rows: TypeAlias = frozenset[Row]

TRUE: Row = ((), 0)
FALSE: Row = ((), -1)


def row(coefficients: Coefficients, bound: int | Fraction, strict: bool = False) -> Row:
    """Return the inequality Σ coefficient·variable <= bound (or <, if strict), reduced."""
    times = lcm(*(c.denominator for c in coefficients.values()), bound.denominator)
    most = int(bound * times)
    scaled = {v: int(c * times) for v, c in coefficients.items() if c}
    if not scaled:
        return TRUE if most - strict >= 0 else FALSE
    divisor = gcd(*scaled.values())
    normal = tuple(sorted((v, c // divisor) for v, c in scaled.items()))
    if normal[-1][0] < REAL:
        return normal, (most - strict) // divisor
    return normal, Fraction(most, divisor) if most % divisor else most // divisor  # integers are quickly compared


def tightest(rows: Iterable[Row]) -> Rows:
    """Return a system with one row for each normal."""
    least: dict[Normal, int | Fraction] = {}
    for normal, bound in rows:
        if normal or bound < 0:
            least[normal] = min(bound, least.get(normal, bound))
    return frozenset(least.items())


@lru_cache(1 << 18)
def feasible(rows: Rows) -> bool:
    """Whether a system may have a solution: False is certain; for differences of variables True is, too."""
    system = dict(rows)
    while True:
        if system.get((), 0) < 0:
            return False
        above: dict[int, int] = {}
        below: dict[int, int] = {}
        for normal in system:
            for v, c in normal:
                counts = above if c > 0 else below
                counts[v] = counts.get(v, 0) + 1
        if free := above.keys() ^ below.keys():  # with such a variable what it stands in can always be met
            system = {normal: bound for normal, bound in system.items() if free.isdisjoint([v for v, _ in normal])}
        elif not above:
            return True
        else:
            system = _without(system, min(above, key=lambda v: (above[v] * below[v], v)))


def extent(rows: Rows, variable: int) -> tuple[Fraction | float, Fraction | float]:
    """Return between what a variable lies in a system that has solutions: there may be less than is returned."""
    system = dict(rows)
    while others := {v for normal in system for v, _ in normal if v != variable}:
        system = _without(system, min(others))
    low: Fraction | float = -inf
    high: Fraction | float = inf
    for normal, bound in system.items():
        for _, c in normal:
            low, high = (low, min(high, Fraction(bound) / c)) if c > 0 else (max(low, Fraction(bound) / c), high)
    return low, high


def needed(rows: Rows) -> Rows:
    """Return a system without rows that follow from the others."""
    left = set(rows)
    number = Counter(v for normal, _ in rows for v, _ in normal)
    for one in sorted(rows, key=lambda each: (-len(each[0]), each)):
        rest = left - {one}
        if all(number[v] > 1 for v, _ in one[0]) and not feasible(tightest([*rest, opposite(one)])):
            left = rest
            number.subtract(v for v, _ in one[0])
    return frozenset(left)


def opposite(one: Row) -> Row:
    """Return what holds where an inequality does not: of real variables but for the border."""
    normal, bound = one
    return tuple((v, -c) for v, c in normal), -bound - (not normal or normal[-1][0] < REAL)


def _without(system: Mapping[Normal, int | Fraction], v: int) -> dict[Normal, int | Fraction]:
    """Return what a system says of the other variables (Fourier and Motzkin)."""
    above: list[tuple[dict[int, int], int | Fraction]] = []
    below: list[tuple[dict[int, int], int | Fraction]] = []
    found: dict[Normal, int | Fraction] = {}
    for normal, bound in system.items():
        coefficients = dict(normal)
        if v not in coefficients:
            found[normal] = min(bound, found.get(normal, bound))
        else:
            (above if coefficients[v] > 0 else below).append((coefficients, bound))
    for ours, most in above:
        for theirs, least in below:
            a, b = -theirs[v], ours[v]
            joined = {w: a * ours.get(w, 0) + b * theirs.get(w, 0) for w in ours.keys() | theirs.keys()}
            normal, bound = row(joined, a * most + b * least, strict=v >= REAL)
            if normal or bound < 0:
                found[normal] = min(bound, found.get(normal, bound))
    return found


def residues_at(rows: Rows, variable: int) -> dict[int, int]:
    """Return by how many residues of other variables the bounds of an integer are forms with integers."""
    found: dict[int, int] = {}
    for normal, _ in rows:
        times = abs(dict(normal).get(variable, 1))
        for v, c in normal:
            share = times // gcd(times, c)
            found |= {v: lcm(found.get(v, 1), share)} if v != variable and share > 1 else {}
    return found


@dataclass(frozen=True)
class Lattice:
    """Forms of draws are Σ columns·u, where u are integers: draw j is Σ change[j]·(u and further integers).

    `columns` is a matrix with a row for each form, lower triangular: column c begins at row `pivots[c]`.
    """

    columns: tuple[tuple[int, ...], ...]
    pivots: tuple[int, ...]
    change: tuple[tuple[int, ...], ...]

    @property
    def index(self) -> int:
        """A number that makes all vectors of integers points of the lattice, as far as its pivots tell."""
        return prod(self.columns[pivot][c] for c, pivot in enumerate(self.pivots))

    def place(self, vector: Sequence[Fraction]) -> list[Fraction]:
        """Return u with columns·u = vector at the pivots."""
        found: list[Fraction] = []
        for pivot in self.pivots:
            rest = vector[pivot] - sum(self.columns[pivot][c] * u for c, u in enumerate(found))
            found.append(Fraction(rest, self.columns[pivot][len(found)]))
        return found

    def at(self, place: Sequence[Fraction]) -> list[Fraction]:
        """Return columns·u."""
        return [sum((c * u for c, u in zip(line, place, strict=True)), Fraction(0)) for line in self.columns]

    def coset(self, vector: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return a vector that differs from this one by a point of the lattice, the same for all of them."""
        rest = list(vector)
        for c, pivot in enumerate(self.pivots):
            times = floor(rest[pivot] / self.columns[pivot][c])
            rest = [value - times * line[c] for value, line in zip(rest, self.columns, strict=True)]
        return tuple(rest)

    def same(self, other: Lattice) -> bool:
        """Whether two lattices have the same points."""
        return self.pivots == other.pivots and self._holds(other) and other._holds(self)

    def _holds(self, other: Lattice) -> bool:
        for c in range(len(other.pivots)):
            vector = [Fraction(line[c]) for line in other.columns]
            place = self.place(vector)
            if any(u.denominator > 1 for u in place) or self.at(place) != vector:
                return False
        return True


def lattice_of(forms: Sequence[Sequence[int]], draws: int) -> Lattice:
    """Return the lattice of forms, each given by the coefficients of the draws."""
    matrix = [list(form) for form in forms]
    change = [[int(i == j) for j in range(draws)] for i in range(draws)]
    pivots: list[int] = []
    for at, line in enumerate(matrix):
        first = len(pivots)
        while len(left := [c for c in range(first, draws) if line[c]]) > 1:
            best = min(left, key=lambda c: (abs(line[c]), c))
            for c in left:
                if c != best:
                    times = line[c] // line[best]
                    for each in (*matrix, *change):
                        each[c] -= times * each[best]
        if left:
            for each in (*matrix, *change):
                each[first], each[left[0]] = each[left[0]], each[first]
            if line[first] < 0:
                for each in (*matrix, *change):
                    each[first] = -each[first]
            pivots.append(at)
    return Lattice(
        tuple(tuple(line[: len(pivots)]) for line in matrix), tuple(pivots), tuple(tuple(each) for each in change)
    )


def coordinates(
    lattice: Lattice, columns: tuple[tuple[int, ...], ...], moved: Sequence[Fraction], dimension: int
) -> tuple[list[tuple[dict[int, int], int]] | None, list[Row]]:
    """Return the u with lattice·u = columns·w + moved as forms of w, and the conditions on w that there is one."""
    vectors = [[Fraction(line[w]) for line in columns] for w in range(dimension)]
    linear = [lattice.place(vector) for vector in vectors]
    constant = lattice.place(moved)
    found = []
    for c in range(len(lattice.pivots)):
        form = {w: linear[w][c] for w in range(dimension) if linear[w][c]}
        assert all(a.denominator == 1 for a in form.values())
        if constant[c].denominator > 1:
            return None, []
        found.append(({w: int(a) for w, a in form.items()}, int(constant[c])))
    rows: list[Row] = []
    reached = [lattice.at(place) for place in linear]
    base = lattice.at(constant)
    for k in range(len(columns)):
        form = {w: Fraction(columns[k][w]) - reached[w][k] for w in range(dimension)}
        rest = base[k] - moved[k]
        for sign in (1, -1):
            rows.append(row({w: sign * a for w, a in form.items() if a}, sign * rest))
    return found, [line for line in rows if line != TRUE]


@dataclass(frozen=True)
class Label:
    """A kind of output: nested like `shape`, which has True for noisy numbers and False for the `constants`.

    The noisy numbers are (base + columns·coordinates) / scales, for integer coordinates, and real ones after these:
    what they span stands in `reals`, a matrix with a column for each.
    """

    shape: Any
    constants: tuple[Any, ...]
    base: tuple[Fraction, ...]
    columns: tuple[tuple[int | Fraction, ...], ...]
    scales: tuple[int, ...]
    reals: tuple[tuple[Fraction, ...], ...] = ()

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.columns[0]) if self.columns else 0

    @property
    def real(self) -> bool:
        """Whether there are real coordinates: then an output has a density, and the probability 0."""
        return bool(self.reals) and bool(self.reals[0])

    @property
    def variables(self) -> tuple[int, ...]:
        """The names of the coordinates."""
        real = len(self.reals[0]) if self.real else 0
        return (*range(self.dimension - real), *range(REAL, REAL + real))

    def output(self, coordinates: Sequence[Any]) -> Any:
        numbers = [
            (base + sum(c * u for c, u in zip(line, coordinates, strict=True))) / scale
            for base, line, scale in zip(self.base, self.columns, self.scales, strict=True)
        ]
        return self.filled(numbers)

    def direction(self, moved: Sequence[Any]) -> Any:
        """Return how the numbers of an output move with its coordinates; what is no number is None."""
        numbers = [sum(c * u for c, u in zip(line, moved, strict=True)) for line in self.columns]
        still = tuple(0 if isinstance(value, (int, Fraction)) else None for value in self.constants)
        return replace(self, constants=still).filled(numbers)

    def coordinates(self, output: Any) -> tuple[int, ...] | None:
        """Return the coordinates of an output of integers, None where it is of another kind."""
        leaves: list[Any] = []
        if shape_of(output, leaves) != rebuilt(self.shape, lambda _: True):
            return None
        free = _leaves(self.shape)
        if tuple(leaf for leaf, noise in zip(leaves, free, strict=True) if not noise) != self.constants:
            return None
        numbers = [leaf for leaf, noise in zip(leaves, free, strict=True) if noise]
        if not all(isinstance(number, (int, Fraction)) for number in numbers):
            return None
        rest = [Fraction(x) * s - b for x, s, b in zip(numbers, self.scales, self.base, strict=True)]
        pivots = [next(at for at, line in enumerate(self.columns) if line[c]) for c in range(self.dimension)]
        columns = tuple(tuple(map(int, line)) for line in self.columns)
        lattice = Lattice(columns, tuple(pivots), ())
        place = lattice.place(rest)
        exact = all(u.denominator == 1 for u in place) and lattice.at(place) == rest
        return tuple(map(int, place)) if exact else None

    def filled(self, numbers: Sequence[Any]) -> Any:
        """Return the output with something in place of its noisy numbers."""
        rest, constants = iter(numbers), iter(self.constants)
        return as_output(rebuilt(self.shape, lambda free: next(rest) if free else next(constants)))


def connected(sets: Iterable[Iterable[int]]) -> list[set[int]]:
    """Return the unions of sets of variables that have some in common, in the order of their first ones."""
    found: list[set[int]] = []
    for each in map(set, sets):
        meeting = [group for group in found if group & each]
        if each:
            found = [*(group for group in found if not group & each), each.union(*meeting)]
    return sorted(found, key=min)


def shape_of(value: Any, leaves: list[Any]) -> Any:
    """Return how an output is nested, with True for every scalar, which is added to the leaves."""
    if isinstance(value, tuple):
        return tuple([shape_of(item, leaves) for item in value])
    leaves.append(value)
    return True


def _leaves(shape: Any) -> list[bool]:
    return [leaf for item in shape for leaf in _leaves(item)] if isinstance(shape, tuple) else [shape]


def rebuilt(shape: Any, leaf: Callable[[bool], Any]) -> Any:
    """Return a nested tuple with something in place of every leaf."""
    return tuple(rebuilt(item, leaf) for item in shape) if isinstance(shape, tuple) else leaf(shape)
