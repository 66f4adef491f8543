"""Clients that act independently, alone or in groups: privacy depends on a single one of them.

The core program falls into parts that share neither a client nor a draw, so P(y|x) is a product over the parts. Two
neighbours that differ in one record differ in one factor, and every divergence between their output laws is that
between the laws of this part. Parts that are the same program are analysed once, by whichever method fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from heapq import merge
from math import prod

from tightdp.core.nodes import Check, CoreProgram
from tightdp.core.outputs import Leaf
from tightdp.core.passes import expand_shuffles
from tightdp.errors import LimitError, ProgramError
from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import Output
from tightdp.language.program import Dataset
from tightdp.limits.calibrated import FEW_DATASETS
from tightdp.logic.encode import encode
from tightdp.methods import questions
from tightdp.methods.base import Comparison, Control, Exact, Pair, Ratio, Refusal, Sought, Tight, exceeded
from tightdp.methods.compiled import TooLarge, at_most
from tightdp.methods.parts import Part, split
from tightdp.methods.pieces import Piece, PieceTable, plain
from tightdp.methods.program import Method, Program
from tightdp.methods.ranking import position_of
from tightdp.methods.symmetry import Letters, Symmetry, of_independent
from tightdp.symmetry.sets import Table, every_dataset


@dataclass(frozen=True)
class Alike:
    """Parts that are the same program, as one program of their clients alone."""

    parts: tuple[Part, ...]
    program: Program

    def law_table(self, control: Control) -> Table:
        """Return the table of the laws of one of the parts."""
        return questions.laws(self.program, control)[1]


class Independent(Method):
    """A program in independent parts, identical ones grouped."""

    def __init__(self, program: Program, parts: list[Part]) -> None:
        self.program = program
        self.name = "independent clients"
        core = program.core(Control())
        self.shape, self._size = core.shape, len(core.components)
        by_key: dict[object, list[Part]] = {}
        for part in parts:
            by_key.setdefault(part.key, []).append(part)
        self._alike = [self._made(tuple(same)) for same in by_key.values()]
        self.kinds = [alike for alike in self._alike if alike.parts[0].clients]
        if any(len(alike.parts[0].clients) > 1 for alike in self.kinds):
            self.name = "independent groups"
        self._first = (program.bound.record.values[0],) * program.bound.n

    def _made(self, parts: tuple[Part, ...]) -> Alike:
        whole = self.program
        bound = replace(whole.bound, n=len(parts[0].clients))
        return Alike(parts, Program(bound, whole.candidates, whole.backend, given=parts[0].program))

    def work(self) -> int:
        return 0  # all is done by the methods that are asked about the parts

    def tight(self, control: Control, budget: int) -> Tight:
        lower: Exact = Fraction(1)
        upper: Exact = Fraction(1)
        best: tuple[Alike, Ratio] | None = None
        reason: LimitError | None = None
        for alike in self.kinds:
            try:
                with self._placing_failures(alike):
                    found = questions.tight(alike.program, Control(control.limits, plan=control.plan))[1]
            except LimitError as error:
                found = Tight(Fraction(1), math.inf, None, error)
            if found.witness is not None and (best is None or found.lower > best[1].exp_epsilon):
                best = alike, found.witness
            lower, upper, reason = max(lower, found.lower), max(upper, found.upper), reason or found.reason
        if upper > lower and reason is not None:
            upper = max(lower, min(upper, self.ratio_bound()))
            if best is None and upper == math.inf:  # no part is known
                raise reason
        witness = None if best is None else self._completed(*best, control)
        return Tight(lower, upper, witness, reason if upper > lower else None)

    def comparison(self, control: Control) -> Comparison:
        return self._compared(lambda part: questions.every_pair(part, control)[1], control)

    def telling(self, control: Control, sought: Sought | None) -> Comparison:
        return self._compared(lambda part: questions.comparison(part, control, sought)[1], control)

    def _compared(self, of_part: Callable[[Program], Comparison], control: Control) -> Comparison:
        found = []
        for alike in self.kinds:
            with self._placing_failures(alike):
                found.append((alike, of_part(alike.program)))
        incomplete = next((pairs.incomplete for _, pairs in found if pairs.incomplete is not None), None)
        sizes = [pairs.size for _, pairs in found]
        size = None if None in sizes else sum(number for number in sizes if number is not None)
        bound = max((pairs.bound for _, pairs in found), default=Fraction(1))

        def pairs() -> Iterator[Pair]:
            for alike, some in found:
                ways = self._ways(alike, control)
                tables: dict[int, PieceTable] = {}
                with self._placing_failures(alike):
                    for pair in some:
                        table = tables.get(id(pair.table))
                        if table is None:
                            table = tables[id(pair.table)] = self._table(alike, pair.table, control)
                        x, x_prime = (self._placed(alike.parts[0], given) for given in (pair.x, pair.x_prime))
                        yield Pair(x, x_prime, pair.size * ways, table)

        return Comparison(pairs, size, incomplete, bound)

    def in_order(self, control: Control) -> Iterator[Pair] | Refusal:
        bound = self.program.bound
        streams = []
        for alike in self.kinds:
            pairs = questions.first(alike.program, control).in_order(control)
            if isinstance(pairs, Refusal):
                return pairs
            streams.append(self._placed_in_order(alike, pairs, control))
        return merge(*streams, key=partial(position_of, bound))

    def _placed_in_order(self, alike: Alike, pairs: Iterator[Pair], control: Control) -> Iterator[Pair]:
        """Yield pairs of one part as pairs of whole datasets, each with the part that puts it first."""
        tables: dict[tuple[int, int], PieceTable] = {}
        ends = (alike.parts[0], alike.parts[-1])
        for pair in pairs:
            placed = [
                replace(pair, x=self._placed(part, pair.x), x_prime=self._placed(part, pair.x_prime)) for part in ends
            ]
            at = min(range(2), key=lambda at: position_of(self.program.bound, placed[at]))
            key = (at, id(pair.table))
            if key not in tables:
                tables[key] = self._table(alike, pair.table, control, ends[at])
            yield replace(placed[at], table=tables[key])

    def laws(self, control: Control) -> Table:
        pieces = [
            Piece(part.components, part.clients, table)
            for alike in self._alike
            for table in [alike.law_table(control)]
            for part in alike.parts
            if part.components or part.program.evidence
        ]
        return PieceTable(self.program.bound, self.shape, pieces, (), self._size)

    def size(self) -> tuple[int, int]:
        sizes = [alike.program.size for alike in self._alike]
        return sum(variables for variables, _ in sizes), sum(nodes for _, nodes in sizes)

    def ratio_bound(self) -> Exact:
        return max((questions.ratio_bound(alike.program) for alike in self.kinds), default=Fraction(1))

    def symmetry(self) -> Symmetry:
        kinds = [([part.clients for part in alike.parts], bool(alike.parts[0].components)) for alike in self.kinds]
        return of_independent(self.program.bound, kinds, self._letters)

    @cached_property
    def _letters(self) -> list[Letters] | None:
        """The laws of single clients, by record and code, one client of every kind."""
        if self.name != "independent clients":
            return None
        control = Control()
        found: list[Letters] = []
        for alike in self.kinds:
            table = alike.law_table(control)
            found.append({record: table.weights((record,)) for record in self.program.bound.record.values})
        return found

    # from a part to the whole

    def _placed(self, part: Part, content: Dataset) -> Dataset:
        """Return the dataset in which the clients of a part have these records, and all others the first."""
        x: list[Record] = list(self._first)
        for client, record in zip(part.clients, content, strict=True):
            x[client] = record
        return tuple(x)

    @contextmanager
    def _placing_failures(self, alike: Alike) -> Iterator[None]:
        """Raise an observation that never holds in a part as one of the whole program, on a whole dataset."""
        try:
            yield
        except ProgramError as error:
            x = self._first if error.x is None else self._placed(alike.parts[0], error.x)
            raise self.program.bound.contradiction(x, "is false in every run") from None

    def _table(self, shown: Alike, table: Table, control: Control, first: Part | None = None) -> PieceTable:
        """Return a table that shows one part (the first of `shown`, unless given), whose laws are in `table`."""
        first = first or shown.parts[0]
        own = Piece(first.components, first.clients, table)
        return PieceTable(self.program.bound, self.shape, [own], self._others(first, control), self._size)

    def _others(self, first: Part, control: Control) -> Iterator[Piece]:
        """Yield all parts of the output but one."""
        for alike in self._alike:
            laws = None
            for part in alike.parts:
                if part is not first and part.components:
                    laws = laws or alike.law_table(control)
                    yield Piece(part.components, part.clients, laws)

    def _completed(self, alike: Alike, ratio: Ratio, control: Control) -> Ratio:
        """Return a ratio of one part as one of whole datasets and outputs."""
        first = alike.parts[0]
        x, x_prime = (self._placed(first, given) for given in (ratio.x, ratio.x_prime))
        values: dict[int, Output] = dict(zip(first.components, ratio.output, strict=True))
        shares: list[Number] = []
        for piece in self._others(first, control):
            code, codes = piece.least(x), piece.table.codes
            values.update(zip(piece.components, codes.first(code), strict=True))
            shares.append(piece.chance(x, code) / codes.number(code))
        share = quotient(prod(one.numerator for one in shares), prod(one.denominator for one in shares))
        output = self.shape.decode([values[at] for at in sorted(values)])
        return Ratio(ratio.exp_epsilon, x, x_prime, output, ratio.probability * share, ratio.probability_prime * share)

    def _ways(self, alike: Alike, control: Control) -> int:
        """Return in how many ways a part can be chosen and the others given records and outputs; 0: not counted."""
        records = self.program.bound.record.size
        if any(records ** len(other.parts[0].clients) > FEW_DATASETS for other in self._alike):
            return 0
        ways = len(alike.parts)
        for other in self._alike:
            with self._placing_failures(other):
                outputs = _outputs(other.law_table(control), other.program, control)
            ways *= outputs ** (len(other.parts) - (other is alike))
        return ways


def _outputs(table: Table, program: Program, control: Control) -> int:
    """Return how many pairs of a dataset and an output of positive probability there are."""
    total = 0
    for x in every_dataset(program.bound):
        control()
        total += sum(map(table.codes.number, table.weights(x).by_code))
    return total


def look(name: str, program: Program, control: Control, budget: int) -> Independent | Refusal:
    """Return the method where every client, or groups of clients, as the name says, act for themselves."""
    try:
        found = program.once("independent", lambda: _independent(program, at_most(control, budget), control))
    except TooLarge:
        return exceeded(name, budget)
    if isinstance(found, Refusal) or found.name == name:
        return found
    return Refusal(f"{name}: the clients fall into {found.name}")


def _independent(program: Program, checking: Control, control: Control) -> Independent | Refusal:
    if not relation_of(program.bound).one_record:
        return Refusal("independent clients: neighbours may differ in several records, or are given by a function")
    core = program.core(control)
    if not plain(core.shape):
        return Refusal("independent clients: the output chooses its own form")
    parts, checks = split(core, least=2)
    control()
    if not parts:
        return Refusal("independent clients: all clients share draws or components of the output")
    try:
        hold(program, core, checks, checking)
        found = Independent(program, parts)
        for alike in found._alike:
            part = alike.parts[0]
            if part.program.checks or part.program.evidence:
                table = alike.law_table(control)  # compiled: says whether a run can fail
                if not part.clients:
                    table.weights(())
    except ProgramError:
        return Refusal("independent clients: a run can fail, and the whole program says on which dataset")
    return found


def hold(program: Program, core: CoreProgram, checks: Sequence[Check], control: Control) -> None:
    """Raise ProgramError where some checks of a program fail, as `control` does where that takes long."""
    if checks:
        only = replace(core, components=core.components[:1], shape=Leaf(0), evidence=(), checks=tuple(checks))
        encode(expand_shuffles(only), program.backend, control)
