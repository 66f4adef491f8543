"""The laws of what a mechanism publishes: on every dataset, for each kind of output, a sum of products of functions.

An output is of a kind, `Label`, together with finitely many integers, its coordinates, which are the variables of these
functions. A path contributes a product: draws are summed out, coordinates remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import lcm
from operator import add
from typing import Any, TypeAlias

from flint import fmpq

from tightdp.cells.draws import Path
from tightdp.cells.followed import Loops
from tightdp.cells.linear import (
    REAL,
    Label,
    Lattice,
    connected,
    lattice_of,
    rebuilt,
    shape_of,
)
from tightdp.cells.maker import Contribution, Maker, mass_of
from tightdp.cells.noise import Multiple, Noisy, Outside
from tightdp.cells.paths import few_runs, paths
from tightdp.cells.recurrent import Recurrent
from tightdp.cells.spans import Form, Solved, Span, by_draws, in_steps, solved, span_of, step_of
from tightdp.cells.sums import (
    Base,
    Exact,
    exact_number,
    kept,
    rational_number,
)
from tightdp.cells.together import paths_together
from tightdp.exact.field import Number
from tightdp.exact.rationals import Symbolic
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import FEW_VALUES

_FEW_RUNS = 300
"""So many runs are looked at, by records fewer of them, to see what a program does."""


@dataclass
class CellLaws:
    """Laws by dataset and label, with the 1 of the bases that they are written with.

    Datasets with the same `content` have one law, which stands there under their content.
    """

    laws: dict[Dataset, dict[Label, list[Any]]]
    unit: Base
    content: Callable[[Dataset], Dataset] = lambda x: x

    def of(self, x: Dataset) -> dict[Label, list[Any]]:
        """Return the law on a dataset; nothing where it is not known."""
        return self.laws.get(self.content(x), {})

    @property
    def one(self) -> Exact:
        """The 1 of the numbers that they are written with."""
        return self.unit.value

    def probability(self, x: Dataset, output: Any) -> Exact:
        total = 0 * self.one
        for label, contributions in self.of(x).items():
            place = None if label.real else label.coordinates(output)
            if place is not None:
                total += sum(each.at(place) for each in contributions)
        return total

    @property
    def published(self) -> bool:
        """Whether numbers with noise are published: then outputs are not finitely many."""
        return any(label.dimension for law in self.laws.values() for label in law)

    def finite(self) -> dict[Dataset, dict[Any, Number]] | None:
        """Return the probabilities of all outputs by dataset, None where some are numbers with noise."""
        if self.published:
            return None
        found: dict[Dataset, dict[Any, Number]] = {}
        for x, law in self.laws.items():
            masses = {label: sum((each.weight for each in rest), first.weight) for label, (first, *rest) in law.items()}
            found[x] = {label.output(()): self.number(mass) for label, mass in masses.items() if kept(mass)}
        return found

    def exact(self, value: Number) -> Exact:
        """Return a number that fits as those of these laws are."""
        return exact_number(self.one, value)

    def fits(self, value: Number) -> bool:
        """Whether a number can be compared with those of these laws: they may all be rational."""
        return isinstance(value, Fraction) or not isinstance(self.one, fmpq)

    number = staticmethod(rational_number)


_On: TypeAlias = "tuple[tuple[Fraction, ...], tuple[tuple[int, ...], ...], list[int], _Draft, Contribution | Recurrent]"


@dataclass
class _Draft:
    """A path with its output taken apart: numbers that may be noisy, and everything else."""

    x: Dataset
    path: Path
    shape: Any
    numbers: list[Any]
    wholes: Mapping[int, Any] = field(default_factory=dict)
    """What is added to real numbers: multiples of a step."""


def draws_noise(bound: Bound, watch: Callable[[], None] = lambda: None) -> bool:
    """Whether a few runs on one dataset draw noise on all integers from an end on, or on the reals."""
    loops = Loops(lambda path: mass_of(path, watch), watch)
    return any(few_runs(bound, _first(bound), loops, 1 + _FEW_RUNS // (bound.n + 1)))


def _first(bound: Bound) -> Dataset:
    return (bound.record.values[0],) * bound.n


def cell_laws(bound: Bound, watch: Callable[[], None], datasets: Iterable[Dataset] | None = None) -> CellLaws:
    """Return the laws of a mechanism on all datasets, or on those given.

    Raises Outside where its programs are not of this kind, ProgramError where no run meets what is observed.
    """
    drafts: list[_Draft] = []
    conditioned = set()
    loops = Loops(lambda path: mass_of(path, watch), watch)
    every = [*product(bound.record.values, repeat=bound.n)] if datasets is None else [*dict.fromkeys(datasets)]
    together = paths_together(bound, every, loops)
    for x in every:
        found, rejected = paths(bound, x, loops) if together is None else (together(x), False)
        if rejected:
            conditioned.add(x)
        drafts += [draft_of(x, path) for path in found]
    rational = all(isinstance(value, Fraction) for draft in drafts for value in draft.path.numbers())
    maker = Maker(fmpq(1) if rational else Fraction(1), watch)
    laws: dict[Dataset, dict[Label, list[Any]]] = {}
    for label, draft, contribution in labelled(drafts, maker):
        laws.setdefault(draft.x, {}).setdefault(label, []).append(contribution)
    for x in conditioned:
        total = sum(maker.total(draft.path) for draft in drafts if draft.x == x)
        if not total:
            raise bound.contradiction(x, "is false in every run")
        laws[x] = {label: [each.times(1 / total) for each in found] for label, found in laws[x].items()}
    return CellLaws(laws, maker.bases.unit)


def draft_of(x: Dataset, path: Path) -> _Draft:
    """Return a path of the program on a dataset with its output taken apart."""
    numbers: list[Any] = []
    return _Draft(x, path, shape_of(path.output, numbers), numbers)


def labelled(drafts: list[_Draft], maker: Maker) -> list[tuple[Label, _Draft, Contribution | Recurrent]]:
    """Return what paths contribute to each kind of outputs."""
    by_shape: dict[Any, list[_Draft]] = {}
    for draft in drafts:
        kinds = tuple(_kind(value) for value in draft.numbers)
        by_shape.setdefault((draft.shape, kinds), []).append(draft)
    found = []
    for (shape, kinds), drawn in by_shape.items():
        group = _in_steps(drawn, kinds)
        free = [any(isinstance(d.numbers[at], Noisy) for d in group) for at in range(len(kinds))]
        by_constants: dict[Any, list[_Draft]] = {}
        for draft in group:
            constants = tuple(value for value, noise in zip(draft.numbers, free, strict=True) if not noise)
            by_constants.setdefault(constants, []).append(draft)
        flags = iter(free)
        marked = rebuilt(shape, lambda _: next(flags))  # noqa: B023
        for constants, same in by_constants.items():
            found += _placed(marked, constants, same, free, maker)
    return found


def _in_steps(drafts: list[_Draft], kinds: Sequence[str]) -> list[_Draft]:
    """Return drafts whose real numbers have no integer draws in them."""
    real = [at for at, kind in enumerate(kinds) if kind == "real"]
    steps = {at: step_of((d.path, d.numbers[at]) for d in drafts) for at in real}
    for group in connected([at, *_others(drafts, real, at)] for at in real):
        whole = any(steps[at] for at in group)  # their draws are parted for all of them
        steps |= {at: steps[at] or Fraction(whole) for at in group}
    steps = {at: step for at, step in steps.items() if step}
    found = []
    for draft in drafts if steps else ():
        for path, parts in in_steps(draft.path, {at: draft.numbers[at] for at in steps}, steps):
            numbers = [parts[at][1] if at in parts else value for at, value in enumerate(draft.numbers)]
            wholes = {at: times for at, (times, _) in parts.items()}
            found.append(replace(draft, path=path, numbers=numbers, wholes=wholes))
    return found if steps else drafts


def _others(drafts: Iterable[_Draft], real: Sequence[int], at: int) -> set[int]:
    """Return the real numbers that have some real draws in common with another one."""
    found = set()
    for draft in drafts:
        own = {v for v in draft.numbers[at].coefficients if v >= REAL}
        found |= {other for other in real if own & draft.numbers[other].coefficients.keys()}
    return found


def _kind(value: Any) -> str:
    if isinstance(value, Symbolic) and not isinstance(value, Noisy):
        raise Outside("divides a number, or ends a draw, and the outcome is published")
    if isinstance(value, Noisy) and value.continuous:
        return "real"
    return "number" if isinstance(value, (int, Fraction, Noisy)) else type(value).__name__


def _placed(
    shape: Any, constants: Any, drafts: list[_Draft], free: list[bool], maker: Maker
) -> list[tuple[Label, _Draft, Contribution | Recurrent]]:
    """Give the outputs of one kind their coordinates, and sum out everything else."""
    places = [at for at, noise in enumerate(free) if noise]
    real = [_kind(drafts[0].numbers[at]) == "real" for at in places]
    spans: dict[Span, list[tuple[_Draft, list[Form]]]] = {}
    for draft in drafts:
        values = [draft.numbers[at] for at, is_real in zip(places, real, strict=True) if is_real]
        lines = [(value.coefficients, value.constant) for value in values]
        spans.setdefault(span_of(lines), []).append((draft, lines))
    integers = [at for at, is_real in zip(places, real, strict=True) if not is_real or at in drafts[0].wholes]
    found = []
    for first, alike in spans.items():
        chosen = by_draws([lines for _, lines in alike], first)
        span, placed = chosen or (first, [solved(lines, first) for _, lines in alike])
        same = [(draft, reals) for (draft, _), reals in zip(alike, placed, strict=True)]
        for start, columns, scales, draft, contribution in _in_multiples(integers, same, maker):
            whole = dict(zip(integers, zip(start, columns, scales, strict=True), strict=True))
            left = iter(zip(span.base, span.lines, strict=True))
            nothing = (0, (0,) * (len(columns[0]) if columns else 0), 1), (0, (0,) * len(span.pivots))
            merged = []
            for at, is_real in zip(places, real, strict=True):
                (b, line, scale), (c, more) = whole.get(at, nothing[0]), next(left) if is_real else nothing[1]
                merged.append((b + c * scale, (*line, *(each * scale for each in more)), scale))
            base, matrix, units = zip(*merged, strict=True) if merged else ((), (), ())
            found.append((Label(shape, constants, base, matrix, units, span.lines), draft, contribution))
    return found


def _in_multiples(places: list[int], drawn: Sequence[tuple[_Draft, Solved]], maker: Maker) -> list[_On]:
    """Return what `_on_lattices` yields: of coordinates with so many residues that what is summed out has no others."""
    times = 1
    while True:
        try:
            return list(_on_lattices(places, drawn, maker, times))
        except Multiple as multiple:
            more = lcm(*multiple.times.values())
            times *= more
            if more == 1 or times ** len(places) > FEW_VALUES:
                raise


def _on_lattices(places: list[int], drawn: Sequence[tuple[_Draft, Solved]], maker: Maker, times: int) -> Iterator[_On]:
    """Yield where the integers of outputs lie, with the paths that have them and what they contribute."""
    drafts = [draft for draft, _ in drawn]
    forms = [[_form(draft, draft.wholes.get(at, draft.numbers[at])) for at in places] for draft in drafts]
    scales = [lcm(*(_scale(lines[k]) for lines in forms)) for k in range(len(places))]
    lattices, bases = [], []
    for draft, lines in zip(drafts, forms, strict=True):
        draws = draft.path.integers
        matrix = [[int(c.get(v, 0) * s) for v in range(draws)] for (c, _), s in zip(lines, scales, strict=True)]
        lattices.append(lattice_of(matrix, draws))
        bases.append([constant * s for (_, constant), s in zip(lines, scales, strict=True)])
    for start, columns in _origins(lattices, bases, times):
        for (draft, reals), lattice, base in zip(drawn, lattices, bases, strict=True):
            moved = [s - b for s, b in zip(start, base, strict=True)]
            contribution = maker.contribution(draft.path, lattice, columns, moved, reals)
            if contribution is not None:
                yield start, columns, scales, draft, contribution


def _origins(
    lattices: Sequence[Lattice], bases: Sequence[Sequence[Fraction]], times: int
) -> Iterator[tuple[tuple[Fraction, ...], tuple[tuple[int, ...], ...]]]:
    """Yield an origin and columns, for each kind of outputs: one that all paths share, or a residue of the outputs.

    Coordinates are told apart by their residues by a number.
    """
    first, dimension = lattices[0], len(bases[0])
    if all(first.same(other) for other in lattices):
        columns = tuple(tuple(times * c for c in line) for line in first.columns)
        for start in dict.fromkeys(first.coset(base) for base in bases):
            for residue in product(map(Fraction, range(times)), repeat=len(first.pivots)):
                yield tuple(map(add, start, first.at(residue))), columns
        return
    step = times * lcm(*(lattice.index for lattice in lattices))
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
    scaled, constant = dict[int, Fraction](), Fraction(value.constant)
    for v, c in value.coefficients.items():
        residue, modulus = draft.path.residues.get(v, (0, 1))
        scaled[v] = Fraction(c) * modulus
        constant += Fraction(c) * residue
    return scaled, constant


def _scale(form: tuple[dict[int, Fraction], Fraction]) -> int:
    return lcm(*(c.denominator for c in form[0].values()))
