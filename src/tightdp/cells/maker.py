"""Paths as functions of the coordinates of an output: draws are summed out, coordinates remain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, prod
from typing import Any, NamedTuple

from flint import fmpq

from tightdp.cells.draws import Parted, Path
from tightdp.cells.linear import (
    FALSE,
    REAL,
    TRUE,
    Coefficients,
    Lattice,
    Row,
    Rows,
    connected,
    coordinates,
    lattice_of,
    row,
    tightest,
)
from tightdp.cells.noise import Multiple, Outside
from tightdp.cells.spans import Solved
from tightdp.cells.sums import (
    UNIT,
    Base,
    Bases,
    Exact,
    Piece,
    Pieces,
    Terms,
    added,
    exact_number,
    expanded,
    multiplied,
    power,
    substituted,
    summed_out,
    value_at,
    variables,
)
from tightdp.exact.enclosure import as_fraction
from tightdp.exact.field import Number
from tightdp.language.laws import Exponentials
from tightdp.limits import pay
from tightdp.limits.calibrated import FEW_VALUES

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


class _Factor(NamedTuple):
    """A function of some variables, in order; functions with the same name are the same but for these.

    Its pieces are those of a function of the variables 0, 1, ..., and of REAL + 1, ... where they are real.
    """

    name: int
    pieces: Pieces
    free: tuple[int, ...]

    def at(self, places: Mapping[int, int]) -> tuple[int, ...]:
        """Return its name, and where its variables are among others."""
        return self.name, *(places[v] for v in self.free)

    def moved(self, places: Mapping[int, int]) -> _Factor:
        """Return the same of others, which are in the same order."""
        return self._replace(free=tuple([places[v] for v in self.free]))

    def of(self, places: Mapping[int, int]) -> Pieces:
        """Return the function of what stands at these places for its variables."""
        return renamed(self.pieces, {own: places[v] for v, own in _places(self.free).items()})


class _Group(NamedTuple):
    """What variables that meet are summed up to: a number times functions of those that are left; by its name."""

    name: int
    constant: Exact
    functions: tuple[Pieces, ...]


class Maker:
    """Turns paths into functions of the coordinates; sums that were found are kept."""

    def __init__(self, one: Exact, watch: Callable[[], None]) -> None:
        self.one, self.watch, self.bases = one, watch, Bases(one)
        self._names: dict[Any, int] = {}
        self._known: dict[Any, _Factor] = {}
        self._products: dict[Any, Pieces] = {}
        self._groups: dict[Any, _Group | None] = {}
        self._constants: dict[Any, Exact] = {}
        self._draws: dict[Any, tuple[Exponentials, Drawn, _Factor]] = {}
        self._weights: dict[Any, tuple[tuple[Exponentials, ...], Exact]] = {}

    def _name(self, what: Any) -> int:
        return self._names.setdefault(what, len(self._names))

    def total(self, path: Path) -> Exact:
        """Return the probability of a path."""
        found = self.contribution(path, lattice_of([], path.integers), (), [])
        if found is None:
            return 0
        return found.weight

    def contribution(
        self,
        path: Path,
        lattice: Lattice,
        columns: tuple[tuple[int, ...], ...],
        moved: Sequence[Fraction],
        reals: Solved = _NO_REALS,
    ) -> Contribution | None:
        """Return the law of a path whose output is columns·w + moved in its own terms; None where it has no runs.

        `reals` says what it publishes of its real draws: then that is a density.
        """
        dimension = len(columns[0]) if columns else 0
        own, rows = coordinates(lattice, columns, moved, dimension)
        if own is None:
            return None
        draws: dict[int, tuple[Any, Any]] = dict(enumerate(self._draw(lattice, line, own) for line in lattice.change))
        draws |= {v: reals.draws.get(v, ({v: 1}, 0)) for v in path.laws if v >= REAL}
        draws |= {v: (_renamed(form), constant) for v, (form, constant) in draws.items() if v >= REAL}
        placed: list[tuple[Drawn, _Factor]] = []
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
        groups = self._summed(rows, factors, hidden)
        if groups is None:
            return None
        for each in sorted(groups, key=lambda each: each.name):
            name = self._name((name, each.name))
            if name not in self._constants:
                self._constants[name] = weight * each.constant
            weight = self._constants[name]
        return Contribution(weight, tuple(f for each in groups for f in each.functions), runs, path.parted)

    def _placed(self, law: Exponentials, form: tuple[tuple[int, Any], ...], constant: Any) -> tuple[Drawn, _Factor]:
        """Return a draw with a law at a form, and the function of its variables that this is."""
        place = id(law), form, constant  # the law is kept, so that no other one has its identity
        if place not in self._draws:
            pieces = self._pieces(law)
            free = tuple(v for v, _ in form)
            own = {place: c for place, (_, c) in zip(_places(free).values(), form, strict=True)}
            name = self._name((tuple(own.items()), constant, pieces))
            factor = _Factor(name, _by_pieces(pieces, own, constant), free)
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
        return self._name(place), self._weights[place][1]

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

    def _summed(self, rows: list[Row], factors: list[_Factor], hidden: set[int]) -> list[_Group] | None:
        """Sum out the hidden variables of each group of variables that meet; None where nothing is left.

        Groups that are alike but for the names of their variables are summed up once.
        """
        found = [_Group(each.name, constant_of(each.pieces), ()) for each in factors if not each.free]
        if not all(each.constant for each in found):
            return None
        meeting = ({v for v, _ in normal} for normal, _ in rows)
        for group in connected([*meeting, *(factor.free for factor in factors)]):
            places = _places(sorted(group))
            within = _at_places((line for line in rows if line[0][0][0] in group), places)
            own = sorted([each.at(places) for each in factors if each.free and each.free[0] in group])
            name = within, tuple(own), tuple([place for v, place in places.items() if v in hidden])
            if name not in self._groups:
                parts = [each.moved(places) for each in factors if each.free and each.free[0] in group]
                self._groups[name] = self._group(self._name(name), list(within), parts, set(name[2]))
            known = self._groups[name]
            if known is None:
                return None
            names = {place: v for v, place in places.items()}
            found.append(known._replace(functions=tuple([renamed(each, names) for each in known.functions])))
        return found

    def _group(self, name: int, rows: list[Row], factors: list[_Factor], hidden: set[int]) -> _Group | None:
        functions = self._eliminated(rows, factors, hidden)
        if functions is None:
            return None
        constants = (constant_of(each) for each in functions if not variables(each))
        return _Group(name, prod(constants, start=self.one), tuple(each for each in functions if variables(each)))

    def _eliminated(
        self, rows: list[Row], factors: list[_Factor], hidden: set[int], most: int = FEW_VALUES
    ) -> list[Pieces] | None:
        """Sum out the hidden variables, first those that meet few others, and functions; None where nothing is left.

        Where each of them meets others as a multiple, those are told apart by residues, in at most so many parts.
        """
        while hidden:
            self.watch()
            first: Multiple | None = None
            meeting = {y: (len(_meeting(y, rows, factors)), sum(y in each.free for each in factors)) for y in hidden}
            for y in sorted(hidden, key=lambda y: (y < REAL, meeting[y], y)):
                try:
                    found = self._without(y, rows, [factor for factor in factors if y in factor.free])
                    break
                except Multiple as multiple:
                    first = first or multiple
            else:
                assert first is not None
                return self._by_residues(first, rows, factors, hidden, most)
            if not found.pieces:
                return None
            factors = [factor for factor in factors if y not in factor.free] + [found]
            rows = [line for line in rows if not any(v == y for v, _ in line[0])]
            hidden = hidden - {y}
        left = tightest(rows)
        groups = connected({v for v, _ in normal} for normal, _ in left)
        bounds: list[Pieces] = [
            [(frozenset(line for line in left if line[0][0][0] in group), {UNIT: self.one})] for group in groups
        ]
        return [*bounds, *(factor.of({v: v for v in factor.free}) for factor in factors)]

    def _without(self, y: int, rows: list[Row], factors: list[_Factor]) -> _Factor:
        """Return the sum over a variable, or the integral, of a product of functions that all depend on it."""
        local = tightest(line for line in rows if any(v == y for v, _ in line[0]))
        others = {v for normal, _ in local for v, _ in normal}.union(*(factor.free for factor in factors)) - {y}
        places = _places((*sorted(others), y))
        alike = _at_places(local, places)
        name = places[y], alike, tuple(sorted(factor.at(places) for factor in factors))
        names = {place: v for v, place in places.items()}
        if name not in self._known:
            total = self._product(alike, factors, places)
            pay(self.watch, 40 * len(total))
            try:
                pieces = _summed_out(total, places[y])
            except Multiple as multiple:
                raise Multiple({names[place]: times for place, times in multiple.times.items()}) from None
            free = tuple(sorted(variables(pieces)))
            self._known[name] = _Factor(self._name(name), renamed(pieces, _places(free)), free)
        return self._known[name].moved(names)

    def _product(self, rows: Rows, factors: Sequence[_Factor], places: Mapping[int, int]) -> Pieces:
        """Return a product of functions of variables at some places, where rows hold.

        What others have begun with, too, is known.
        """
        total: Pieces = [(rows, {UNIT: self.one})]
        begun: Any = rows
        for factor in sorted(factors, key=lambda each: (len(each.free), each.at(places))):
            begun = begun, factor.at(places)
            if begun not in self._products:
                self._products[begun] = multiplied(total, factor.of(places))
            total = self._products[begun]
        return total

    def _by_residues(
        self, multiple: Multiple, rows: list[Row], factors: list[_Factor], hidden: set[int], most: int
    ) -> list[Pieces]:
        """Tell one of the hidden variables apart by its residues, and sum out all of them each time."""
        v = next((v for v in multiple.times if v in hidden), None)
        if v is None or (times := multiple.times[v]) > most:
            raise multiple if v is None else Multiple({})
        found: list[Piece] = []
        for residue in range(times):
            within = _replaced((frozenset(rows), {}), v, {v: times}, residue)
            parts = []
            for factor in factors:
                if v in factor.free:
                    own = _places(factor.free)[v]
                    moved = (_replaced(piece, own, {own: times}, residue) for piece in factor.pieces)
                    name = self._name((factor.name, own, times, residue))
                    factor = _Factor(name, [each for each in moved if each is not None], factor.free)
                parts.append(factor)
            left = None if within is None else self._eliminated(list(within[0]), parts, hidden, most // times)
            found += [] if left is None else expanded(left, self.one)
        return [found]


def _summed_out(pieces: Pieces, y: int) -> Pieces:
    """Return the sum over a variable; value by value where it has few, and other numbers meet multiples of it."""
    try:
        return summed_out(pieces, y)
    except Outside:
        few = [_few_values(rows, y) for rows, _ in pieces]
        if None in few:
            raise
    found = (_replaced(piece, y, {}, z) for piece, values in zip(pieces, few, strict=True) for z in values or ())
    return [each for each in found if each is not None]


def _few_values(rows: Rows, y: int) -> range | None:
    """Return the values that an integer may have, None where they are not few."""
    ends = [(line[0][1], Fraction(bound)) for line, bound in rows if [v for v, _ in line] == [y]]
    lows, highs = [bound / c for c, bound in ends if c < 0], [bound / c for c, bound in ends if c > 0]
    found = range(ceil(max(lows)), floor(min(highs)) + 1) if y < REAL and lows and highs else None
    return None if found is None or len(found) > FEW_VALUES else found


def _replaced(piece: Piece, v: int, form: Coefficients, constant: int) -> Piece | None:
    """Return a piece with a linear form in place of a variable, None where that is nowhere."""
    rows = []
    for normal, bound in piece[0]:
        other = dict(normal)
        c = other.pop(v, 0)
        rows.append(row(other | {w: c * a for w, a in form.items()}, bound - c * constant))
    terms: Terms = {}
    for (bases, degrees), c in piece[1].items():
        ours, powers = dict(bases), dict(degrees)
        base, degree = ours.pop(v, None), powers.pop(v, 0)
        rest: Terms = {(tuple(ours.items()), tuple(powers.items())): c}
        added(terms, substituted(rest, base, (*[0 * c] * degree, c / c), (dict(form), constant)))
    return None if FALSE in rows else (tightest(line for line in rows if line != TRUE), terms)


def _renamed(form: dict[int, Any]) -> dict[int, Any]:
    """Return a form of real coordinates, numbered by -1, -2, ..., and of draws that are integrated out."""
    return {(REAL - 1 - w if w < 0 else w + _HIDDEN): c for w, c in form.items()}


def _places(variables: Sequence[int]) -> dict[int, int]:
    """Return places for variables in order, and others for real ones."""
    return {v: at + REAL * (v >= REAL) for at, v in enumerate(variables)}


def _at_places(rows: Iterable[Row], places: Mapping[int, int]) -> Rows:
    return frozenset([(tuple(sorted([(places[v], c) for v, c in normal])), bound) for normal, bound in rows])


def constant_of(pieces: Pieces) -> Exact:
    """Return the number that a function of no variables is."""
    return sum((terms[UNIT] for _, terms in pieces), 0)


def renamed(pieces: Pieces, names: Mapping[int, int]) -> Pieces:
    """Return a function of other variables."""
    if all(old == new for old, new in names.items()):
        return pieces

    def others(part: tuple[tuple[int, Any], ...]) -> tuple[tuple[int, Any], ...]:
        return tuple(sorted([(names[v], each) for v, each in part]))

    found = []
    for rows, terms in pieces:
        where = frozenset([(others(normal), bound) for normal, bound in rows])
        found.append((where, {(others(bases), others(degrees)): c for (bases, degrees), c in terms.items()}))
    return found


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


def _meeting(y: int, rows: list[Row], factors: list[_Factor]) -> set[int]:
    """Return the variables that are summed over together with this one."""
    found: set[int] = set()
    for normal, _ in rows:
        here = {v for v, _ in normal}
        found |= here if y in here else set()
    return found.union(*(factor.free for factor in factors if y in factor.free))


def mass_of(path: Path, watch: Callable[[], None]) -> Number:
    """Return the probability of a path."""
    if not path.laws:
        return path.weight
    rational = all(isinstance(value, Fraction) for value in path.numbers())
    total = Maker(fmpq(1) if rational else Fraction(1), watch).total(path)
    return as_fraction(total) if isinstance(total, fmpq) else total
