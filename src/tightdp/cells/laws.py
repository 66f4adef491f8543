"""The laws of what a mechanism publishes: on every dataset, for each kind of output, a sum of products of functions.

An output is of a kind, `Label`, together with finitely many integers, its coordinates, which are the variables of these
functions. A path contributes a product: draws are summed out, coordinates remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm, prod
from typing import Any, NamedTuple, TypeAlias

from flint import fmpq

from tightdp.cells.linear import (
    FALSE,
    REAL,
    TRUE,
    Coefficients,
    Label,
    Lattice,
    Row,
    Rows,
    coordinates,
    lattice_of,
    rebuilt,
    row,
    shape_of,
    tightest,
)
from tightdp.cells.paths import Noisy, Outside, Path, paths
from tightdp.cells.spans import Form, Solved, Span, by_draws, solved, span_of
from tightdp.cells.sums import (
    UNIT,
    Base,
    Bases,
    Exact,
    Piece,
    Pieces,
    exact_number,
    multiplied,
    power,
    summed_out,
    value_at,
    variables,
)
from tightdp.exact.enclosure import as_fraction
from tightdp.exact.field import Number
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import FEW_VALUES

_HIDDEN = 1_000
"""Variables from here on are summed out; those before are the coordinates of an output."""
_NO_REALS = Solved({}, Fraction(1))

Contribution: TypeAlias = tuple[Pieces, ...]
"""A product of functions."""


class _Factor(NamedTuple):
    """A function with a name of its own, and the variables that it depends on."""

    name: Any
    pieces: Pieces
    free: frozenset[int]


class Maker:
    """Turns paths into functions of the coordinates; sums that were found are kept."""

    def __init__(self, one: Exact, watch: Callable[[], None]) -> None:
        self.one, self.watch, self.bases = one, watch, Bases(one)
        self._known: dict[Any, _Factor] = {}

    def total(self, path: Path) -> Exact:
        """Return the probability of a path."""
        found = self.contribution(path, lattice_of([], path.integers), (), [])
        return prod((sum((t[UNIT] for _, t in part), 0 * self.one) for part in found), start=self.one) if found else 0

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
        weight = exact_number(self.one, path.weight) * exact_number(self.one, reals.shrink)
        factors: list[_Factor] = []
        for v, law in path.laws.items():
            form, constant = draws[v]
            weight *= exact_number(self.one, law.weight)
            residue, modulus = path.residues.get(v, (0, 1))
            form, constant = {w: c * modulus for w, c in form.items()}, constant * modulus + residue
            pieces = tuple((low, high, self.bases.of(exact_number(self.one, base))) for low, high, base in law.pieces)
            name = tuple(sorted(form.items())), constant, pieces
            factors.append(_Factor(name, _by_pieces(pieces, form, constant), frozenset(form)))
        for normal, bound in path.rows:
            rows.append(self._moved(path, normal, bound, draws))
        if FALSE in rows:
            return None
        hidden = {_HIDDEN + c for c in range(len(lattice.pivots), path.integers)}
        hidden |= {_HIDDEN + v for v in path.laws if v >= REAL and v not in reals.draws}
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
    def _moved(path: Path, normal: Any, bound: int | Fraction, draws: dict[int, tuple[dict[int, int], int]]) -> Row:
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
            y = min(hidden, key=lambda y: (y < REAL, len(_meeting(y, rows, factors)), y))
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


def _meeting(y: int, rows: list[Row], factors: list[_Factor]) -> set[int]:
    """Return the variables that are summed over together with this one."""
    found: set[int] = set()
    for normal, _ in rows:
        here = {v for v, _ in normal}
        found |= here if y in here else set()
    return found.union(*(factor.free for factor in factors if y in factor.free))


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
            place = None if label.real else label.coordinates(output)
            if place is not None:
                total += sum(prod((value_at(f, place) for f in each), start=self.one) for each in contributions)
        return total

    def exact(self, value: Number) -> Exact:
        """Return a number that fits as those of these laws are."""
        return exact_number(self.one, value)

    def fits(self, value: Number) -> bool:
        """Whether a number can be compared with those of these laws: they may all be rational."""
        return isinstance(value, Fraction) or not isinstance(self.one, fmpq)

    def number(self, value: Exact) -> Number:
        """Return a number of these laws as the others are."""
        return as_fraction(value) if isinstance(value, fmpq) else value


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
    rational = all(isinstance(value, Fraction) for draft in drafts for value in draft.path.numbers())
    maker = Maker(fmpq(1) if rational else Fraction(1), watch)
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
    return _Draft(x, path, shape_of(path.output, numbers), numbers)


def _labelled(drafts: list[_Draft], maker: Maker) -> list[tuple[Label, _Draft, Contribution]]:
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
        marked = rebuilt(shape, lambda _: next(flags))  # noqa: B023
        for constants, same in by_constants.items():
            found += _placed(marked, constants, same, free, maker)
    return found


def _kind(value: Any) -> str:
    if isinstance(value, Noisy) and value.real:
        return "real"
    return "number" if isinstance(value, (int, Fraction, Noisy)) else type(value).__name__


def _placed(
    shape: Any, constants: Any, drafts: list[_Draft], free: list[bool], maker: Maker
) -> list[tuple[Label, _Draft, Contribution]]:
    """Give the outputs of one kind their coordinates, and sum out everything else."""
    places = [at for at, noise in enumerate(free) if noise]
    real = [_kind(drafts[0].numbers[at]) == "real" for at in places]
    spans: dict[Span, list[tuple[_Draft, list[Form]]]] = {}
    for draft in drafts:
        lines = [_real_form(draft.numbers[at]) for at, is_real in zip(places, real, strict=True) if is_real]
        spans.setdefault(span_of(lines), []).append((draft, lines))
    integers = [at for at, is_real in zip(places, real, strict=True) if not is_real]
    found = []
    for first, alike in spans.items():
        chosen = by_draws([lines for _, lines in alike], first)
        span, placed = chosen or (first, [solved(lines, first) for _, lines in alike])
        same = [(draft, reals) for (draft, _), reals in zip(alike, placed, strict=True)]
        for start, columns, scales, draft, contribution in _on_lattices(integers, same, maker):
            before, after = (0,) * (len(columns[0]) if columns else 0), (0,) * len(span.pivots)
            rows = {
                False: ((b, (*line, *after), scale) for b, line, scale in zip(start, columns, scales, strict=True)),
                True: ((b, (*before, *line), 1) for b, line in zip(span.base, span.lines, strict=True)),
            }
            merged = [next(rows[is_real]) for is_real in real]
            base, matrix, units = zip(*merged, strict=True) if merged else ((), (), ())
            found.append((Label(shape, constants, base, matrix, units, span.lines), draft, contribution))
    return found


def _real_form(value: Noisy) -> Form:
    if min(value.coefficients) < REAL:
        raise Outside("is added to noise on the integers and published")
    return value.coefficients, value.constant


def _on_lattices(
    places: list[int], drawn: Sequence[tuple[_Draft, Solved]], maker: Maker
) -> Iterator[tuple[tuple[Fraction, ...], tuple[tuple[int, ...], ...], list[int], _Draft, Contribution]]:
    """Yield where the integers of outputs lie, with the paths that have them and what they contribute."""
    drafts = [draft for draft, _ in drawn]
    forms = [[_form(draft, draft.numbers[at]) for at in places] for draft in drafts]
    scales = [lcm(*(_scale(lines[k]) for lines in forms)) for k in range(len(places))]
    lattices, bases = [], []
    for draft, lines in zip(drafts, forms, strict=True):
        draws = draft.path.integers
        matrix = [[int(c.get(v, 0) * s) for v in range(draws)] for (c, _), s in zip(lines, scales, strict=True)]
        lattices.append(lattice_of(matrix, draws))
        bases.append([constant * s for (_, constant), s in zip(lines, scales, strict=True)])
    for start, columns in _origins(lattices, bases):
        for (draft, reals), lattice, base in zip(drawn, lattices, bases, strict=True):
            moved = [s - b for s, b in zip(start, base, strict=True)]
            contribution = maker.contribution(draft.path, lattice, columns, moved, reals)
            if contribution is not None:
                yield start, columns, scales, draft, contribution


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
    if step**dimension > FEW_VALUES:
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
