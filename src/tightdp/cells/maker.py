"""Paths as functions of the coordinates of an output: draws are summed out, coordinates remain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

from flint import fmpq

from tightdp.cells.draws import Parted, Path, is_generated
from tightdp.cells.linear import (
    FALSE,
    REAL,
    TRUE,
    Coefficients,
    Lattice,
    Row,
    Rows,
    coordinates,
    lattice_of,
    row,
    tightest,
)
from tightdp.cells.noise import Outside
from tightdp.cells.recurrent import Recurrent, of_path, without_hidden
from tightdp.cells.spans import Solved
from tightdp.cells.summing import Factor, Summing, places_of
from tightdp.cells.sums import (
    Base,
    Bases,
    Exact,
    Piece,
    Pieces,
    exact_number,
    expanded,
    power,
    value_at,
)
from tightdp.exact.enclosure import as_fraction
from tightdp.exact.field import Number
from tightdp.language.laws import Exponentials

_HIDDEN = 1_000
"""Variables from here on are summed out; those before are the coordinates of an output."""
_NO_REALS = Solved({}, Fraction(1))

Places = tuple[tuple[Any, Any, Base], ...]
"""Where a law is base^place: from, and up to; None where an end is missing."""


class Drawn(NamedTuple):
    """A draw at a form of coordinates and hidden draws."""

    form: tuple[tuple[int, Any], ...]
    constant: Any
    pieces: Places


class Runs(NamedTuple):
    """What a path is a sum of, or an integral: its weight times the laws of all draws, where `rows` hold."""

    weight: Exact
    rows: Rows
    draws: tuple[Drawn, ...]
    hidden: tuple[int, ...]


class Contribution(NamedTuple):
    """What a path has of a law: a number times functions of the coordinates, and what they were summed up from."""

    weight: Exact
    factors: tuple[Pieces, ...]
    runs: Runs
    parted: Parted | None = None
    """These are the runs of all parts."""

    def times(self, share: Exact) -> Contribution:
        """Return a multiple."""
        return self._replace(weight=self.weight * share, runs=self.runs._replace(weight=self.runs.weight * share))

    def at(self, place: Sequence[int]) -> Exact:
        """Return the value at a place."""
        return prod((value_at(each, place) for each in self.factors), start=self.weight)

    @property
    def pieces(self) -> list[Piece]:
        """The product as one function."""
        return expanded(self.factors, self.weight)


class Maker:
    """Turns paths into functions of the coordinates; sums that were found are kept."""

    def __init__(self, one: Exact, watch: Callable[[], None]) -> None:
        self.one, self.bases, self.summing = one, Bases(one), Summing(one, watch)
        self._constants: dict[Any, Exact] = {}
        self._draws: dict[Any, tuple[Exponentials, Drawn, Factor]] = {}
        self._weights: dict[Any, tuple[tuple[Exponentials, ...], Exact]] = {}

    def total(self, path: Path) -> Exact:
        """Return the probability of a path."""
        found = self.contribution(path, lattice_of([], path.integers), (), [])
        return 0 if found is None else found.weight

    def contribution(
        self,
        path: Path,
        lattice: Lattice,
        columns: tuple[tuple[int, ...], ...],
        moved: Sequence[Fraction],
        reals: Solved = _NO_REALS,
    ) -> Contribution | Recurrent | None:
        """Return the law of a path whose output is columns·w + moved in its own terms; None where it has no runs.

        `reals` says what it publishes of its real draws: then that is a density.
        """
        dimension = len(columns[0]) if columns else 0
        path = without_hidden(path, lattice)
        own, rows = coordinates(lattice, columns, moved, dimension)
        if own is None:
            return None
        if any(map(is_generated, path.laws.values())):
            if rows or not isinstance(self.one, fmpq) or dimension != 1:
                raise Outside("is drawn in a loop whose counter has no sum of rational powers as its law")
            return of_path(path, lattice, own)
        draws: dict[int, tuple[Any, Any]] = dict(enumerate(self._draw(lattice, line, own) for line in lattice.change))
        draws |= {v: reals.draws.get(v, ({v: 1}, 0)) for v in path.laws if v >= REAL}
        draws |= {v: (_renamed(form), constant) for v, (form, constant) in draws.items() if v >= REAL}
        placed: list[tuple[Drawn, Factor]] = []
        for v, law in path.laws.items():
            form, constant = draws[v]
            residue, modulus = path.residues.get(v, (0, 1))
            at = tuple(sorted((w, c * modulus) for w, c in form.items())), constant * modulus + residue
            placed.append(self._placed(law, *at))
        drawn, factors = [draw for draw, _ in placed], [factor for _, factor in placed]
        name, weight = self._weight(path, reals.shrink)
        reached = rows
        rows = [*reached, *(self._moved(path, *each, draws) for each in path.rows)]
        if FALSE in rows:
            return None
        hidden = {_HIDDEN + c for c in range(len(lattice.pivots), path.integers)}
        hidden |= {_HIDDEN + v for v in path.laws if v >= REAL and v not in reals.draws}
        rows = [line for line in rows if line != TRUE]
        runs = Runs(weight, tightest(rows), tuple(drawn), tuple(sorted(hidden)))
        if path.parted:
            together = [*reached, *(self._moved(path, *each, draws) for each in path.parted.rows)]
            runs = self._together(path, path.parted, draws, runs._replace(rows=tightest(together)))
        groups = self.summing.summed(rows, factors, hidden)
        if groups is None:
            return None
        for each in sorted(groups, key=lambda each: each.name):
            name = self.summing.name((name, each.name))
            if name not in self._constants:
                self._constants[name] = weight * each.constant
            weight = self._constants[name]
        return Contribution(weight, tuple(f for each in groups for f in each.functions), runs, path.parted)

    def _placed(self, law: Exponentials, form: tuple[tuple[int, Any], ...], constant: Any) -> tuple[Drawn, Factor]:
        """Return a draw with a law at a form, and the function of its variables that this is."""
        place = id(law), form, constant  # the law is kept, so that no other one has its identity
        if place not in self._draws:
            pieces = self._pieces(law)
            free = tuple(v for v, _ in form)
            own = {place: c for place, (_, c) in zip(places_of(free).values(), form, strict=True)}
            name = self.summing.name((tuple(own.items()), constant, pieces))
            factor = Factor(name, _by_pieces(pieces, own, constant), free)
            self._draws[place] = law, Drawn(form, constant, pieces), factor
        return self._draws[place][1:]

    def _pieces(self, law: Exponentials) -> tuple[tuple[Any, Any, Base], ...]:
        return tuple((low, high, self.bases.of(exact_number(self.one, base))) for low, high, base in law.pieces)

    def _weight(self, path: Path, shrink: Fraction) -> tuple[int, Exact]:
        """Return the weight of a path and all of its laws, with a name for it."""
        laws = tuple(path.laws.values())
        place = path.weight, shrink, *map(id, laws)
        if place not in self._weights:
            every = (exact_number(self.one, each) for each in (path.weight, shrink, *(law.weight for law in laws)))
            self._weights[place] = laws, prod(every, start=self.one)
        return self.summing.name(place), self._weights[place][1]

    def _together(self, path: Path, parted: Parted, draws: dict[int, tuple[Any, Any]], runs: Runs) -> Runs:
        """Return runs with the laws that draws have before they are told apart by pieces."""
        found = dict(zip(path.laws, runs.draws, strict=True))
        for v, (whole, width, law) in parted.draws.items():
            del found[whole]
            form = {w: width * c for w, c in draws[whole][0].items()}
            for w, c in draws[v][0].items():
                form[w] = form.get(w, 0) + c
            constant = draws[v][1] + width * draws[whole][1]
            found[v] = Drawn(tuple(sorted(form.items())), constant, self._pieces(law))
        return runs._replace(draws=tuple(found.values()))

    @staticmethod
    def _draw(
        lattice: Lattice, line: Sequence[int], own: Sequence[tuple[dict[int, int], int]]
    ) -> tuple[dict[int, int], int]:
        """Return a draw as a form of coordinates and hidden variables."""
        form: dict[int, int] = {}
        constant = 0
        for c, times in enumerate(line):
            if times and c < len(own):
                for w, a in own[c][0].items():
                    form[w] = form.get(w, 0) + times * a
                constant += times * own[c][1]
            elif times:
                form[_HIDDEN + c] = times
        return {w: a for w, a in form.items() if a}, constant

    @staticmethod
    def _moved(path: Path, normal: Any, bound: int | Fraction, draws: dict[int, tuple[dict[int, int], int]]) -> Row:
        form: dict[int, int] = {}
        rest = bound
        for v, c in normal:
            residue, modulus = path.residues.get(v, (0, 1))
            rest -= c * (residue + modulus * draws[v][1])
            for w, a in draws[v][0].items():
                form[w] = form.get(w, 0) + c * modulus * a
        return row(form, rest)


def _renamed(form: dict[int, Any]) -> dict[int, Any]:
    """Return a form of real coordinates, numbered by -1, -2, ..., and of draws that are integrated out."""
    return {(REAL - 1 - w if w < 0 else w + _HIDDEN): c for w, c in form.items()}


def _by_pieces(
    pieces: Sequence[tuple[Fraction | None, Fraction | None, Base]], form: Coefficients, constant: int | Fraction
) -> Pieces:
    """Return a law by pieces at a form."""
    found = []
    for low, high, base in pieces:
        rows = [] if low is None else [row({v: -c for v, c in form.items()}, constant - low)]
        rows += [] if high is None else [row(form, high - constant)]
        if FALSE not in rows:
            found.append((tightest(line for line in rows if line != TRUE), power(base, form, constant)))
    return found


def mass_of(path: Path, watch: Callable[[], None]) -> Number:
    """Return the probability of a path."""
    if not path.laws:
        return path.weight
    rational = all(isinstance(value, Fraction) for value in path.numbers())
    total = Maker(fmpq(1) if rational else Fraction(1), watch).total(path)
    return as_fraction(total) if isinstance(total, fmpq) else total
