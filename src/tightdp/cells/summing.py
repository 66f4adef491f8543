"""Variables that meet are summed out, group by group: groups that are alike are summed up once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, prod
from typing import Any, NamedTuple

from tightdp.cells.linear import FALSE, REAL, TRUE, Coefficients, Row, Rows, connected, row, tightest
from tightdp.cells.noise import Multiple, Outside
from tightdp.cells.sums import (
    UNIT,
    Exact,
    Piece,
    Pieces,
    Terms,
    added,
    expanded,
    multiplied,
    substituted,
    summed_out,
    variables,
)
from tightdp.limits import pay
from tightdp.limits.calibrated import FEW_VALUES


class Factor(NamedTuple):
    """A function of some variables, in order; functions with the same name are the same but for these.

    Its pieces are those of a function of the variables 0, 1, ..., and of REAL + 1, ... where they are real.
    """

    name: int
    pieces: Pieces
    free: tuple[int, ...]

    def at(self, places: Mapping[int, int]) -> tuple[int, ...]:
        """Return its name, and where its variables are among others."""
        return self.name, *(places[v] for v in self.free)

    def moved(self, places: Mapping[int, int]) -> Factor:
        """Return the same of others."""
        return self._replace(free=tuple([places[v] for v in self.free]))

    def of(self, places: Mapping[int, int]) -> Pieces:
        """Return the function of what stands at these places for its variables."""
        return renamed(self.pieces, {own: places[v] for v, own in places_of(self.free).items()})


class Group(NamedTuple):
    """What variables that meet are summed up to: a number times functions of those that are left; by its name."""

    name: int
    constant: Exact
    functions: tuple[Pieces, ...]


class Summing:
    """Sums out variables of products of functions; sums that were found are kept."""

    def __init__(self, one: Exact, watch: Callable[[], None]) -> None:
        self.one, self.watch = one, watch
        self._names: dict[Any, int] = {}
        self._known: dict[Any, Factor] = {}
        self._products: dict[Any, Pieces] = {}
        self._groups: dict[Any, Group | None] = {}

    def name(self, what: Any) -> int:
        """Return a number, the same for equal values."""
        return self._names.setdefault(what, len(self._names))

    def summed(self, rows: list[Row], factors: list[Factor], hidden: set[int]) -> list[Group] | None:
        """Sum out the hidden variables of each group of variables that meet; None where nothing is left.

        Groups that are alike but for the names of their variables are summed up once.
        """
        if not all(each.pieces for each in factors):
            return None
        found = [Group(each.name, _constant(each.pieces), ()) for each in factors if not each.free]
        meeting = ({v for v, _ in normal} for normal, _ in rows)
        for group in connected([*meeting, *(factor.free for factor in factors)]):
            parts = [each for each in factors if each.free and each.free[0] in group]
            here = [line for line in rows if line[0][0][0] in group]
            places = places_of(_in_order(group, here, parts, hidden))
            within = _at_places(here, places)
            own = sorted([each.at(places) for each in parts])
            name = within, tuple(own), tuple([place for v, place in places.items() if v in hidden])
            if name not in self._groups:
                parts = [each.moved(places) for each in parts]
                self._groups[name] = self._group(self.name(name), list(within), parts, set(name[2]))
            known = self._groups[name]
            if known is None:
                return None
            names = {place: v for v, place in places.items()}
            found.append(known._replace(functions=tuple([renamed(each, names) for each in known.functions])))
        return found

    def _group(self, name: int, rows: list[Row], factors: list[Factor], hidden: set[int]) -> Group | None:
        functions = self._eliminated(rows, factors, hidden)
        if functions is None:
            return None
        constants = (_constant(each) for each in functions if not variables(each))
        return Group(name, prod(constants, start=self.one), tuple(each for each in functions if variables(each)))

    def _eliminated(
        self, rows: list[Row], factors: list[Factor], hidden: set[int], most: int = FEW_VALUES
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

    def _without(self, y: int, rows: list[Row], factors: list[Factor]) -> Factor:
        """Return the sum over a variable, or the integral, of a product of functions that all depend on it."""
        local = tightest(line for line in rows if any(v == y for v, _ in line[0]))
        others = {v for normal, _ in local for v, _ in normal}.union(*(factor.free for factor in factors)) - {y}
        places = places_of((*sorted(others), y))
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
            self._known[name] = Factor(self.name(name), renamed(pieces, places_of(free)), free)
        return self._known[name].moved(names)

    def _product(self, rows: Rows, factors: Sequence[Factor], places: Mapping[int, int]) -> Pieces:
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
        self, multiple: Multiple, rows: list[Row], factors: list[Factor], hidden: set[int], most: int
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
                    own = places_of(factor.free)[v]
                    moved = (_replaced(piece, own, {own: times}, residue) for piece in factor.pieces)
                    name = self.name((factor.name, own, times, residue))
                    factor = Factor(name, [each for each in moved if each is not None], factor.free)
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
        rest = (tuple(ours.items()), tuple(powers.items()))
        added(terms, substituted(rest, base, (*[0 * c] * degree, c), (dict(form), constant)))
    return None if FALSE in rows else (tightest(line for line in rows if line != TRUE), terms)


def places_of(variables: Sequence[int]) -> dict[int, int]:
    """Return places for variables in order, and others for real ones."""
    return {v: at + REAL * (v >= REAL) for at, v in enumerate(variables)}


def _in_order(group: set[int], rows: list[Row], factors: list[Factor], hidden: set[int]) -> list[int]:
    """Return variables by what they are in, real ones last: so groups are alike whatever the order of their draws."""
    marks: dict[int, list[tuple[Any, ...]]] = {v: [] for v in group}
    for normal, bound in rows:
        for v, c in normal:
            marks[v].append((c, bound, len(normal)))
    for factor in factors:
        for at, v in enumerate(factor.free):
            marks[v].append((factor.name, at))
    return sorted(group, key=lambda v: (v >= REAL, v in hidden, sorted(marks[v]), v))


def _at_places(rows: Iterable[Row], places: Mapping[int, int]) -> Rows:
    return frozenset([(tuple(sorted([(places[v], c) for v, c in normal])), bound) for normal, bound in rows])


def _constant(pieces: Pieces) -> Exact:
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


def _meeting(y: int, rows: list[Row], factors: list[Factor]) -> set[int]:
    """Return the variables that are summed over together with this one."""
    found: set[int] = set()
    for normal, _ in rows:
        here = {v for v, _ in normal}
        found |= here if y in here else set()
    return found.union(*(factor.free for factor in factors if y in factor.free))
