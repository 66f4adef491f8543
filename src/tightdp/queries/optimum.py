"""The optimum: how accurate an (ε, δ)-DP mechanism can be at all, over every kernel on the same datasets and outputs.

Maximise over kernels K(y|x) >= 0 with Σ_y K(y|x) = 1, for all neighbours K(y|x) <= e^ε·K(y|x') + s(x,x',y) with
s >= 0 and Σ_y s <= δ, the least Σ_y gain(x,y)·K(y|x) over datasets x. Its dual proves upper ends: weights w >= 0 of
datasets with Σ w = 1 and multipliers λ(x,x',y) >= 0 show that no such mechanism gains more than

    Σ_x max_y [w(x)·gain(x,y) - Σ_x' λ(x,x',y) + e^ε·Σ_x' λ(x',x,y)] + δ·Σ_(x,x') max_y λ(x,x',y).

Datasets, outputs and neighbours that the program does not tell apart share their unknowns: the coarsest equitable
partition of the rows and columns is a fractional automorphism of the program, so that an optimum is constant on its
classes (Grohe, Kersting, Mladenov and Selman, Dimension reduction via colour refinement, ESA 2014). Both ends are
unfolded, and checked exactly on the whole program.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from flint import fmpq

from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.exact.linear_program import (
    Approximation,
    Control,
    LinearProgram,
    Row,
    approximations,
    exact_dual,
    exact_primal,
    no_limit,
)

Kernel: TypeAlias = "tuple[tuple[Fraction, ...], ...]"
"""The probabilities of the outputs, by dataset."""
Multipliers: TypeAlias = "dict[tuple[int, int, int], Fraction]"
"""Multipliers by dataset, neighbour and output."""


_UNIT_BITS = 28
"""Columns are scaled by so many bits at most."""


@dataclass(frozen=True)
class Design:
    """What a mechanism is designed for: the gain of every output on every dataset, and who must be hard to tell apart.

    Datasets and outputs are numbered. `gain` is at least 0; `pairs` are (x, x') for which the law on x is bounded by
    that on x'; `exp_epsilon` is rational, and so is `delta`.
    """

    gain: tuple[tuple[Fraction, ...], ...]
    pairs: tuple[tuple[int, int], ...]
    exp_epsilon: Fraction
    delta: Fraction = Fraction(0)

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return len(self.gain[0])


@dataclass(frozen=True)
class Dual:
    """What proves an upper end: weights of datasets, which add up to 1, and multipliers of pairs and outputs."""

    weights: tuple[Fraction, ...]
    multipliers: Multipliers


@dataclass(frozen=True)
class Solution:
    """A kernel and what it gains on every dataset, and a proof that none gains more than `upper`."""

    kernel: Kernel
    lower: Fraction
    dual: Dual
    upper: Fraction
    variables: int
    """How many unknowns the program has up to symmetry."""

    @property
    def exact(self) -> bool:
        """Whether both ends are equal."""
        return self.lower == self.upper


def least_gain(design: Design, kernel: Kernel) -> Fraction:
    """Return what a kernel gains on the dataset where it gains least."""
    return min(
        sum((gain * mass for gain, mass in zip(gains, law, strict=True) if gain and mass), Fraction(0))
        for gains, law in zip(design.gain, kernel, strict=True)
    )


def is_private(design: Design, kernel: Kernel) -> bool:
    """Decide whether every row is a law and every pair is (ε, δ)-close."""
    if any(sum(law) != 1 or min(law) < 0 for law in kernel):
        return False
    t, delta = design.exp_epsilon, design.delta
    if not delta:
        return all(p <= t * q for x, other in design.pairs for p, q in zip(kernel[x], kernel[other], strict=True))
    return all(
        sum(max(Fraction(0), p - t * q) for p, q in zip(kernel[x], kernel[other], strict=True)) <= delta
        for x, other in design.pairs
    )


def bound_of(design: Design, dual: Dual) -> Fraction:
    """Return the upper end that weights and multipliers prove. They are at least 0, and the weights add up to 1."""
    assert sum(dual.weights) == 1
    assert min(dual.weights) >= 0
    assert min(dual.multipliers.values(), default=0) >= 0
    rest = [
        [weight * gain for gain in gains] if weight else [Fraction(0)] * design.outputs
        for weight, gains in zip(dual.weights, design.gain, strict=True)
    ]
    largest: dict[tuple[int, int], Fraction] = {}
    for (x, other, y), value in dual.multipliers.items():
        rest[x][y] -= value
        rest[other][y] += design.exp_epsilon * value
        largest[x, other] = max(value, largest.get((x, other), value))
    return sum(map(max, rest), design.delta * sum(largest.values(), Fraction(0)))


def best_kernel(design: Design, control: Control = no_limit) -> Solution:
    """Return the best worst-case gain, from below with a kernel and from above with a dual; equal where it is exact.

    Where rounding the floats of the solver does not end in a vertex, both ends are proved all the same: the kernel is
    made private by mixing it with a constant one, and any multipliers prove an upper end.
    """
    folded = Folded(design, control)
    found = _Ends(design, folded.program.columns)
    near = None
    for near in approximations(folded.program, control):
        if not found.kernel_exact and (point := exact_primal(folded.program, near, control)) is not None:
            found.kernel_exact = found.reaches(folded.kernel(point))
        control()
        if found.kernel_exact and (multipliers := exact_dual(folded.program, near, control)) is not None:
            found.proves(folded.dual(multipliers))
        if found.lower == found.upper:
            return found.bound
    if near is not None:
        found.reaches(_repaired(design, folded.rounded(near)))
        found.proves(folded.dual(dict(enumerate(near.multipliers))))
    return found.bound


class _Ends:
    """Both ends so far: at first what a constant kernel gains, and what can be gained without privacy."""

    def __init__(self, design: Design, variables: int) -> None:
        self._design, self._variables = design, variables
        self.kernel, self.dual = _constant(design), Dual(_uniform(len(design.gain)), {})
        self.lower, self.upper = least_gain(design, self.kernel), bound_of(design, self.dual)
        self.kernel_exact = False

    def reaches(self, kernel: Kernel) -> bool:
        """Take a kernel that is private, if it gains as much; say whether it is."""
        if not is_private(self._design, kernel):
            return False
        if (value := least_gain(self._design, kernel)) >= self.lower:
            self.kernel, self.lower = kernel, value
        return True

    def proves(self, dual: Dual) -> None:
        """Take a dual, if it proves as much."""
        if (value := bound_of(self._design, dual)) <= self.upper:
            self.dual, self.upper = dual, value

    @property
    def bound(self) -> Solution:
        """What was found."""
        return Solution(self.kernel, self.lower, self.dual, self.upper, self._variables)


def _constant(design: Design) -> Kernel:
    return (_uniform(design.outputs),) * len(design.gain)


def _uniform(size: int) -> tuple[Fraction, ...]:
    return (Fraction(1, size),) * size


def _repaired(design: Design, kernel: Kernel) -> Kernel:
    """Mix a kernel that is almost private with as little as needed of the uniform one, which is private."""
    constant = Fraction(1, design.outputs)
    t, share = design.exp_epsilon, Fraction(0)
    room = (t - 1) * constant
    for x, other in design.pairs:
        over = [max(Fraction(0), p - t * q) for p, q in zip(kernel[x], kernel[other], strict=True)]
        if sum(over) > design.delta:
            if not room:
                return _constant(design)
            share = max(share, max(each / (each + room) for each in over))
    return tuple(tuple((1 - share) * mass + share * constant for mass in law) for law in kernel)


Colours: TypeAlias = "list[list[int]]"


def _numbered(keys: Iterable[Hashable], known: dict[Hashable, int]) -> list[int]:
    return [known.setdefault(key, len(known)) for key in keys]


class Folded:
    """A design with one unknown for every class of (dataset, output), and a slack for every class of triples."""

    def __init__(self, design: Design, control: Control) -> None:
        self.design = design
        self._control = control
        self._after: list[list[int]] = [[] for _ in design.gain]
        self._before: list[list[int]] = [[] for _ in design.gain]
        for x, other in design.pairs:
            self._after[x].append(other)
            self._before[other].append(x)
        self.colours = self._refined()

    def _refined(self) -> Colours:
        """Return the coarsest colours of (dataset, output) that rows and columns of the program do not tell apart."""
        known: dict[Hashable, int] = {}
        colours = [_numbered(gains, known) for gains in self.design.gain]
        number = len(known)
        while True:
            self._control()
            rows = _numbered((tuple(sorted(row)) for row in colours), {})
            edges = self._edges(colours)
            known = {}
            colours = [
                _numbered((self._signature(colours, rows, edges, x, y) for y in range(len(row))), known)
                for x, row in enumerate(colours)
            ]
            if len(known) == number:
                return colours
            number = len(known)

    def _edges(self, colours: Colours) -> dict[tuple[int, int], int]:
        """Return the colours of the pairs, whose rows bound the slacks of δ; all alike where δ is 0."""
        if not self.design.delta:
            return dict.fromkeys(self.design.pairs, 0)
        keys = (tuple(sorted(zip(colours[x], colours[other], strict=True))) for x, other in self.design.pairs)
        return dict(zip(self.design.pairs, _numbered(keys, {}), strict=True))

    def _signature(
        self, colours: Colours, rows: list[int], edges: dict[tuple[int, int], int], x: int, y: int
    ) -> Hashable:
        return (
            colours[x][y],
            rows[x],
            tuple(sorted((colours[other][y], edges[x, other]) for other in self._after[x])),
            tuple(sorted((colours[other][y], edges[other, x]) for other in self._before[x])),
        )

    @cached_property
    def _edge_colours(self) -> dict[tuple[int, int], int]:
        return self._edges(self.colours)

    @cached_property
    def _classes(self) -> dict[int, list[tuple[int, int]]]:
        """The (dataset, output) of every colour."""
        found: dict[int, list[tuple[int, int]]] = {}
        for x, row in enumerate(self.colours):
            for y, colour in enumerate(row):
                found.setdefault(colour, []).append((x, y))
        return found

    @cached_property
    def _datasets(self) -> dict[tuple[int, ...], list[int]]:
        """The datasets of every class."""
        found: dict[tuple[int, ...], list[int]] = {}
        for x, row in enumerate(self.colours):
            found.setdefault(tuple(sorted(row)), []).append(x)
        return found

    @cached_property
    def _triples(self) -> dict[tuple[int, int, int], list[tuple[int, int, int]]]:
        """The (x, x', y) of every class, without those that bound an unknown by itself."""
        found: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}
        for x, other in self.design.pairs:
            edge = self._edge_colours[x, other]
            for y, (one, two) in enumerate(zip(self.colours[x], self.colours[other], strict=True)):
                if one != two:
                    found.setdefault((one, two, edge), []).append((x, other, y))
        return found

    @cached_property
    def _slacks(self) -> dict[tuple[int, int, int], int]:
        """The column of the slack of every class of triples; none where δ is 0."""
        if not self.design.delta:
            return {}
        return {triple: len(self._classes) + at for at, triple in enumerate(self._triples)}

    @property
    def _value(self) -> int:
        return len(self._classes) + len(self._slacks)

    @cached_property
    def _units(self) -> list[fmpq]:
        """The units of the columns: masses fall by e^ε with every step away from where an output is best.

        They only make programs easier for the solver, and are powers of 2 that are not too small.
        """
        found: dict[int, int] = {}
        for y in range(self.design.outputs):
            away = self._away([row[y] for row in self.design.gain])
            for x, row in enumerate(self.colours):
                found.setdefault(row[y], away[x])
        up, down = self.design.exp_epsilon.as_integer_ratio()
        bits = math.log2(up) - math.log2(down)  # of integers of any length
        masses = [fmpq(1, 1 << min(_UNIT_BITS, round(found[colour] * bits))) for colour in range(len(found))]
        return [*masses, *(masses[triple[0]] for triple in self._slacks), fmpq(1)]

    def _away(self, gains: Sequence[Fraction]) -> list[int]:
        """Return how many steps every dataset is away from the nearest one with the largest gain."""
        best = max(gains)
        distance = {x: 0 for x, gain in enumerate(gains) if gain == best}
        pending = deque(distance)
        while pending:
            x = pending.popleft()
            for other in (*self._after[x], *self._before[x]):
                if other not in distance:
                    distance[other] = distance[x] + 1
                    pending.append(other)
        return [distance.get(x, 0) for x in range(len(gains))]

    @cached_property
    def program(self) -> LinearProgram:
        """The linear program: the rows of laws and gains by class of datasets, then those of triples, then of pairs."""
        gain_of = {colour: self.design.gain[x][y] for colour, ((x, y), *_) in self._classes.items()}
        program = LinearProgram(self._value + 1, {self._value: fmpq(1)})
        one, t = fmpq(1), as_fmpq(self.design.exp_epsilon)

        def add(terms: dict[int, fmpq], bound: fmpq, tight: bool = False) -> None:
            program.rows.append(Row({at: value * self._units[at] for at, value in terms.items()}, bound, tight))

        for row in self._datasets:
            counted = Counter(row)
            add({colour: fmpq(times) for colour, times in counted.items()}, one, tight=True)
            terms = {colour: -as_fmpq(gain_of[colour] * times) for colour, times in counted.items() if gain_of[colour]}
            add({self._value: one, **terms}, fmpq(0))
        for triple in self._triples:
            unit = self._unit_of(triple)
            slack = {self._slacks[triple]: -unit} if self._slacks else {}
            add({triple[0]: unit, triple[1]: -t * unit, **slack}, fmpq(0))
        for spent in self._spent.values():
            add(spent, as_fmpq(self.design.delta))
        return program

    def _unit_of(self, triple: tuple[int, int, int]) -> fmpq:
        """Return by what the row of a class of triples is multiplied."""
        return 1 / self._units[triple[0]]

    @cached_property
    def _spent(self) -> dict[int, dict[int, fmpq]]:
        """For every class of pairs, how often the slack of every column counts in δ."""
        if not self._slacks:
            return {}
        first = {edge: pair for pair, edge in reversed(self._edge_colours.items())}
        found: dict[int, dict[int, fmpq]] = {}
        for edge, (x, other) in first.items():
            columns = zip(self.colours[x], self.colours[other], strict=True)
            counted = Counter(self._slacks[one, two, edge] for one, two in columns if one != two)
            found[edge] = {column: fmpq(times) for column, times in counted.items()}
        return found

    def kernel(self, found: dict[int, fmpq]) -> Kernel:
        """Return the kernel with these values of the columns."""
        values = [as_fraction(found.get(at, fmpq(0)) * self._units[at]) for at in range(len(self._classes))]
        return tuple(tuple(values[colour] for colour in row) for row in self.colours)

    def rounded(self, near: Approximation) -> Kernel:
        """Return the kernel near a point, with rows that add up to 1."""
        table = self.kernel({column: max(value, fmpq(0)) for column, value in enumerate(near.point)})
        return tuple(tuple(value / total for value in row) for row in table for total in [sum(row)])

    def dual(self, found: dict[int, fmpq]) -> Dual:
        """Return the dual with these multipliers of the rows, made one that proves something."""
        values = {row: max(Fraction(0), as_fraction(value)) for row, value in found.items()}
        weights = [Fraction(0)] * len(self.design.gain)
        for at, datasets in enumerate(self._datasets.values()):
            for x in datasets:
                weights[x] = values.get(2 * at + 1, Fraction(0)) / len(datasets)
        total = sum(weights)
        if not total:
            return Dual(_uniform(len(weights)), {})
        multipliers: Multipliers = {}
        for at, (triple, triples) in enumerate(self._triples.items(), start=2 * len(self._datasets)):
            if value := values.get(at, Fraction(0)) * as_fraction(self._unit_of(triple)):
                multipliers.update(dict.fromkeys(triples, value / len(triples) / total))
        return Dual(tuple(weight / total for weight in weights), multipliers)
