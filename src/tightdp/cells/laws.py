"""The laws of what a mechanism publishes: on every dataset, for each kind of output, a sum of products of functions.

An output is of a kind, `Label`, together with finitely many integers, its coordinates, which are the variables of these
functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import lcm, prod
from typing import Any, NamedTuple, TypeAlias

from flint import fmpq

from tightdp.cells.bases import Base, Bases
from tightdp.cells.lattices import Lattice, lattice_of
from tightdp.cells.linear import FALSE, TRUE, Row, Rows, row, tightest
from tightdp.cells.paths import Path, paths
from tightdp.cells.sums import UNIT, Exact, Piece, Pieces, absolute, multiplied, summed_out, value_at, variables
from tightdp.cells.symbols import Noisy, Outside
from tightdp.exact.field import Number
from tightdp.language.program import Bound, Dataset, as_output

__all__ = ["MOST_DATASETS", "CellLaws", "Contribution", "Label", "cell_laws"]

MOST_DATASETS = 4_096
"""For more datasets laws are not written down one by one."""
_MOST_RESIDUES = 64
_HIDDEN = 1_000
"""Variables from here on are summed out; those before are the coordinates of an output."""
_PLACE = object()

Contribution: TypeAlias = tuple[Pieces, ...]
"""A product of functions."""


@dataclass(frozen=True)
class Label:
    """A kind of output: `template` with numbers in place of `None`-th places, base + columns·coordinates."""

    shape: Any
    constants: tuple[Any, ...]
    base: tuple[Fraction, ...]
    columns: tuple[tuple[int, ...], ...] = field(compare=False)
    scales: tuple[int, ...] = field(compare=False)

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.columns[0]) if self.columns else 0

    def output(self, coordinates: Sequence[int]) -> Any:
        """Return the output with these coordinates."""
        numbers = [
            (base + sum(c * u for c, u in zip(line, coordinates, strict=True))) / scale
            for base, line, scale in zip(self.base, self.columns, self.scales, strict=True)
        ]
        return self._filled(numbers)

    def direction(self, moved: Sequence[int]) -> Any:
        """Return how the numbers of an output move with its coordinates, everything else being None."""
        numbers = [sum(c * u for c, u in zip(line, moved, strict=True)) for line in self.columns]
        return self._filled(numbers)

    def coordinates(self, output: Any) -> tuple[int, ...] | None:
        """Return the coordinates of an output, None where it is of another kind."""
        leaves: list[Any] = []
        if _shape(output, leaves) != _rebuilt(self.shape, lambda _: True):
            return None
        free = _leaves(self.shape)
        if tuple(leaf for leaf, noise in zip(leaves, free, strict=True) if not noise) != self.constants:
            return None
        numbers = [leaf for leaf, noise in zip(leaves, free, strict=True) if noise]
        if not all(isinstance(number, (int, Fraction)) for number in numbers):
            return None
        rest = [Fraction(x) * s - b for x, s, b in zip(numbers, self.scales, self.base, strict=True)]
        pivots = [next(at for at, line in enumerate(self.columns) if line[c]) for c in range(self.dimension)]
        lattice = Lattice(self.columns, tuple(pivots), ())
        place = lattice.place(rest)
        exact = all(u.denominator == 1 for u in place) and lattice.at(place) == rest
        return tuple(map(int, place)) if exact else None

    def _filled(self, numbers: Sequence[Any]) -> Any:
        rest, constants = iter(numbers), iter(self.constants)
        return as_output(_rebuilt(self.shape, lambda free: next(rest) if free else next(constants)))


def _shape(value: Any, leaves: list[Any]) -> Any:
    """Return how an output is nested, with True for every scalar, which is added to the leaves."""
    if isinstance(value, tuple):
        return tuple([_shape(item, leaves) for item in value])
    leaves.append(value)
    return True


def _leaves(shape: Any) -> list[bool]:
    return [leaf for item in shape for leaf in _leaves(item)] if isinstance(shape, tuple) else [shape]


def _rebuilt(shape: Any, leaf: Callable[[bool], Any]) -> Any:
    return tuple(_rebuilt(item, leaf) for item in shape) if isinstance(shape, tuple) else leaf(shape)


def _exact(one: Exact, value: Number) -> Exact:
    """Return a number as those are that have this 1."""
    if isinstance(one, fmpq) and isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    return value


@dataclass
class CellLaws:
    """Laws by dataset and label, with the 1 of the bases that they are written with."""

    laws: dict[Dataset, dict[Label, list[Contribution]]]
    unit: Base

    @property
    def one(self) -> Exact:
        """The 1 of the numbers that they are written with."""
        return self.unit.value

    def probability(self, x: Dataset, output: Any) -> Exact:
        """Return the probability of an output."""
        total = 0 * self.one
        for label, contributions in self.laws.get(x, {}).items():
            place = label.coordinates(output)
            if place is not None:
                total += sum(prod((value_at(f, place) for f in each), start=self.one) for each in contributions)
        return total

    def exact(self, value: Number) -> Exact:
        """Return a number that fits as those of these laws are."""
        return _exact(self.one, value)

    def fits(self, value: Number) -> bool:
        """Whether a number can be compared with those of these laws: they may all be rational."""
        return isinstance(value, Fraction) or not isinstance(self.one, fmpq)

    def number(self, value: Exact) -> Number:
        """Return a number of these laws as the others are."""
        return Fraction(int(value.p), int(value.q)) if isinstance(value, fmpq) else value


@dataclass
class _Draft:
    """A path with its output taken apart: numbers that may be noisy, and everything else."""

    x: Dataset
    path: Path
    shape: Any
    numbers: list[Any]


def cell_laws(bound: Bound, watch: Callable[[], None]) -> CellLaws:
    """Return the laws of a mechanism on all datasets. Raises Outside where its programs are not of this kind."""
    drafts: list[_Draft] = []
    conditioned = set()
    for x in product(bound.record.values, repeat=bound.n):
        found, rejected = paths(bound, x, watch)
        if rejected:
            conditioned.add(x)
        drafts += [_draft(x, path) for path in found]
    rational = all(isinstance(value, Fraction) for draft in drafts for value in (*draft.path.ratios, draft.path.weight))
    maker = _Maker(fmpq(1) if rational else Fraction(1), watch)
    laws: dict[Dataset, dict[Label, list[Contribution]]] = {}
    for label, draft, contribution in _labelled(drafts, maker):
        laws.setdefault(draft.x, {}).setdefault(label, []).append(contribution)
    for x in conditioned:
        _normalise(laws, x, [maker.total(draft.path) for draft in drafts if draft.x == x])
    return CellLaws(laws, maker.bases.unit)


def _normalise(laws: dict[Dataset, dict[Label, list[Contribution]]], x: Dataset, masses: list[Exact]) -> None:
    total = sum(masses)
    if not total:
        raise Outside("never meets a condition")
    share: Pieces = [(frozenset(), {UNIT: 1 / total})]
    laws[x] = {label: [(*each, share) for each in found] for label, found in laws[x].items()}


def _draft(x: Dataset, path: Path) -> _Draft:
    numbers: list[Any] = []
    return _Draft(x, path, _shape(path.output, numbers), numbers)


def _labelled(drafts: list[_Draft], maker: _Maker) -> list[tuple[Label, _Draft, Contribution]]:
    by_shape: dict[Any, list[_Draft]] = {}
    for draft in drafts:
        kinds = tuple(_kind(value) for value in draft.numbers)
        by_shape.setdefault((draft.shape, kinds), []).append(draft)
    found = []
    for (shape, _), group in by_shape.items():
        free = [any(isinstance(d.numbers[at], Noisy) for d in group) for at in range(len(group[0].numbers))]
        by_constants: dict[Any, list[_Draft]] = {}
        for draft in group:
            constants = tuple(value for value, noise in zip(draft.numbers, free, strict=True) if not noise)
            by_constants.setdefault(constants, []).append(draft)
        flags = iter(free)
        marked = _rebuilt(shape, lambda _: next(flags))  # noqa: B023
        for constants, same in by_constants.items():
            found += _placed(marked, constants, same, free, maker)
    return found


def _kind(value: Any) -> str:
    return "number" if isinstance(value, (int, Fraction, Noisy)) else type(value).__name__


def _placed(
    shape: Any, constants: Any, drafts: list[_Draft], free: list[bool], maker: _Maker
) -> list[tuple[Label, _Draft, Contribution]]:
    """Give the outputs of one kind their coordinates, and sum out everything else."""
    places = [at for at, noise in enumerate(free) if noise]
    forms = [[_form(draft, draft.numbers[at]) for at in places] for draft in drafts]
    scales = [lcm(*(_scale(lines[k]) for lines in forms)) for k in range(len(places))]
    lattices, bases = [], []
    for draft, lines in zip(drafts, forms, strict=True):
        draws = len(draft.path.ratios)
        matrix = [[int(c.get(v, 0) * s) for v in range(draws)] for (c, _), s in zip(lines, scales, strict=True)]
        lattices.append(lattice_of(matrix, draws))
        bases.append([constant * s for (_, constant), s in zip(lines, scales, strict=True)])
    found = []
    for start, columns in _origins(lattices, bases):
        label = Label(shape, constants, start, columns, tuple(scales))
        for draft, lattice, base in zip(drafts, lattices, bases, strict=True):
            moved = [s - b for s, b in zip(start, base, strict=True)]
            contribution = maker.contribution(draft.path, lattice, columns, moved)
            if contribution is not None:
                found.append((label, draft, contribution))
    return found


def _origins(
    lattices: Sequence[Lattice], bases: Sequence[Sequence[Fraction]]
) -> Iterator[tuple[tuple[Fraction, ...], tuple[tuple[int, ...], ...]]]:
    """Yield an origin and columns, for each kind of outputs: one that all paths share, or a residue of the outputs."""
    first, dimension = lattices[0], len(bases[0])
    if all(first.same(other) for other in lattices):
        for start in dict.fromkeys(first.coset(base) for base in bases):
            yield start, first.columns
        return
    step = lcm(*(lattice.index for lattice in lattices))
    if step**dimension > _MOST_RESIDUES:
        raise Outside("is published as multiples that differ from run to run")
    columns = tuple(tuple(step * (i == j) for j in range(dimension)) for i in range(dimension))
    for shares in {tuple(value % 1 for value in base) for base in bases}:
        for residues in product(range(step), repeat=dimension):
            yield tuple(share + residue for share, residue in zip(shares, residues, strict=True)), columns


def _form(draft: _Draft, value: Any) -> tuple[dict[int, Fraction], Fraction]:
    """Return a published number as a form of draws that take all integer values."""
    if not isinstance(value, Noisy):
        return {}, Fraction(value)
    return _rebased(draft.path, {v: Fraction(c) for v, c in value.coefficients.items()}, Fraction(value.constant))


def _rebased(path: Path, form: dict[int, Fraction], constant: Fraction) -> tuple[dict[int, Fraction], Fraction]:
    scaled: dict[int, Fraction] = {}
    for v, c in form.items():
        residue, modulus = path.residues.get(v, (0, 1))
        scaled[v] = c * modulus
        constant += c * residue
    return scaled, constant


def _scale(form: tuple[dict[int, Fraction], Fraction]) -> int:
    return lcm(*(c.denominator for c in form[0].values()))


class _Factor(NamedTuple):
    """A function with a name of its own, and the variables that it depends on."""

    name: Any
    pieces: Pieces
    free: frozenset[int]


class _Maker:
    """Turns paths into functions of the coordinates; sums that were found are kept."""

    def __init__(self, one: Exact, watch: Callable[[], None]) -> None:
        self.one, self.watch, self.bases = one, watch, Bases(one)
        self._known: dict[Any, _Factor] = {}

    def total(self, path: Path) -> Exact:
        """Return the probability of a path."""
        draws = len(path.ratios)
        found = self.contribution(path, lattice_of([], draws), (), [])
        return prod((sum((t[UNIT] for _, t in part), 0 * self.one) for part in found), start=self.one) if found else 0

    def contribution(
        self, path: Path, lattice: Lattice, columns: tuple[tuple[int, ...], ...], moved: Sequence[Fraction]
    ) -> Contribution | None:
        """Return the law of a path whose output is columns·w + moved in its own terms; None where it has no runs."""
        dimension = len(columns[0]) if columns else 0
        own, rows = _coordinates(lattice, columns, moved, dimension)
        if own is None:
            return None
        draws = [self._draw(lattice, line, own) for line in lattice.change]
        weight = _exact(self.one, path.weight)
        factors: list[_Factor] = []
        for (form, constant), ratio, v in zip(draws, path.ratios, range(len(draws)), strict=True):
            r = _exact(self.one, ratio)
            weight *= (1 - r) / (1 + r)
            residue, modulus = path.residues.get(v, (0, 1))
            form, constant = {w: c * modulus for w, c in form.items()}, constant * modulus + residue
            base = self.bases.of(r)
            name = tuple(sorted(form.items())), constant, base
            factors.append(_Factor(name, absolute(form, constant, base), frozenset(form)))
        for normal, bound in path.rows:
            rows.append(self._moved(path, normal, bound, draws))
        if FALSE in rows:
            return None
        hidden = {_HIDDEN + c for c in range(len(lattice.pivots), len(path.ratios))}
        found = self._eliminated([line for line in rows if line != TRUE], factors, hidden)
        return (*found, [(frozenset(), {UNIT: weight})])

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
    def _moved(path: Path, normal: Any, bound: int, draws: Sequence[tuple[dict[int, int], int]]) -> Row:
        form: dict[int, int] = {}
        rest = bound
        for v, c in normal:
            residue, modulus = path.residues.get(v, (0, 1))
            rest -= c * (residue + modulus * draws[v][1])
            for w, a in draws[v][0].items():
                form[w] = form.get(w, 0) + c * modulus * a
        return row(form, rest)

    def _eliminated(self, rows: list[Row], factors: list[_Factor], hidden: set[int]) -> list[Pieces]:
        """Sum out the hidden variables, each time the one that meets the fewest others."""
        while hidden:
            self.watch()
            y = min(hidden, key=lambda y: (len(_meeting(y, rows, factors)), y))
            here = [factor for factor in factors if y in factor.free]
            local = tightest(line for line in rows if any(v == y for v, _ in line[0]))
            name = y, local, tuple(factor.name for factor in here)
            if name not in self._known:
                total: list[Piece] = [(local, {UNIT: self.one})]
                for factor in here:
                    total = multiplied(total, factor.pieces)
                pieces = summed_out(total, y)
                self._known[name] = _Factor((len(self._known),), pieces, frozenset(variables(pieces)))
            factors = [factor for factor in factors if y not in factor.free] + [self._known[name]]
            rows = [line for line in rows if not any(v == y for v, _ in line[0])]
            hidden = hidden - {y}
        bounds: Rows = tightest(rows)
        return [*([[(bounds, {UNIT: self.one})]] if bounds else []), *(factor.pieces for factor in factors)]


def _meeting(y: int, rows: list[Row], factors: list[_Factor]) -> set[int]:
    """Return the variables that are summed over together with this one."""
    found: set[int] = set()
    for normal, _ in rows:
        here = {v for v, _ in normal}
        found |= here if y in here else set()
    return found.union(*(factor.free for factor in factors if y in factor.free))


def _coordinates(
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
