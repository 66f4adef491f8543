"""Outputs in parts that share no draw, whatever clients they see: the ratio of an output is the product of its parts'.

Given the dataset the parts are independent, so P(y|x) is a product over the parts. A change of one record changes the
parts that see it, and the largest ratio over outputs is the product of the largest ratios of these parts. Which records
the others should have is decided on rounded logarithms, for all at once; what is left is multiplied exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from tightdp.core.passes import expand_shuffles
from tightdp.errors import ProgramError
from tightdp.exact.arrays import Doubles, Integers, np
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import as_output, order_of
from tightdp.language.program import Dataset
from tightdp.limits.calibrated import CELL_STEPS, DOUBLES_AT_ONCE, LITTLE_WORK, MOST_ENTRIES, PAIR_STEPS
from tightdp.logic.count import Weights
from tightdp.methods import questions
from tightdp.methods.base import Comparison, Control, Pair, Ratio, Refusal, Tight, exceeded, too_much
from tightdp.methods.by_clients import hold
from tightdp.methods.compiled import TooLarge, at_most, cells
from tightdp.methods.parts import Largest, Part, Told, attains, largest_of, split_by_draws, told_apart
from tightdp.methods.pieces import Changed, Piece, Pieces, PieceTable, plain
from tightdp.methods.program import Method, Program
from tightdp.methods.ranking import neighbours_in_order, position_of

_MARGIN = 1e-4
"""Sums of rounded logarithms have a smaller error."""
_CONTENT_STEPS = PAIR_STEPS // 4
"""Steps for comparing the laws of all parts on one content of the other clients."""


@dataclass(frozen=True)
class _Step:
    """A change of one client's record, the parts that see it, and the other clients that these see.

    It stands for `times` changes between records that the parts do not tell apart, of which it is the first.
    """

    client: int
    old: Record
    new: Record
    times: int
    parts: tuple[int, ...]
    others: tuple[int, ...]


class OverlappingParts(Method):
    """A program whose output falls into parts that share clients, but no draws."""

    name = "independent outputs"

    def __init__(self, program: Program, parts: Sequence[Part]) -> None:
        self.program = program
        self.parts = tuple(parts)
        self._first = (program.bound.record.values[0],) * program.bound.n
        self._programs: dict[object, Program] = {}
        self._pieces: Pieces | None = None
        self._ratios: dict[tuple[int, int], Largest] = {}
        numbers: dict[object, int] = {}
        self._number = [numbers.setdefault(part.key, len(numbers)) for part in parts]
        """The same for parts that are the same program."""
        self._laws: dict[tuple[int, Dataset], Weights] = {}
        self._distinct: dict[object, Weights] = {}
        self._told: list[Told] = []
        """By client, which records some part tells apart."""
        self._numbers: dict[int, Integers] = {}
        """By number of a part, the number of its law for all contents of its clients, in order."""
        self._numbered: dict[int, list[Weights]] = {}

    def pieces(self, control: Control) -> Pieces:
        """Return the parts with the tables of their laws."""
        if self._pieces is None:
            whole = self.program
            for part in self.parts:
                if part.key not in self._programs:
                    bound = replace(whole.bound, n=len(part.clients))
                    self._programs[part.key] = Program(bound, whole.candidates, whole.backend, given=part.program)
            tables = {key: questions.laws(program, control)[1] for key, program in self._programs.items()}
            every = [Piece(part.components, part.clients, tables[part.key]) for part in self.parts]
            self._pieces = Pieces(whole.bound, whole.core(control).shape, every)
        return self._pieces

    def size(self) -> tuple[int, int]:
        sizes = [program.size for program in self._programs.values()]
        return sum(variables for variables, _ in sizes), sum(nodes for _, nodes in sizes)

    def work(self) -> int:
        return CELL_STEPS * len(self._laws) + _CONTENT_STEPS * sum(map(self.contents, self.steps()))

    def laws(self, control: Control) -> PieceTable:
        return self.pieces(control).table(tuple(range(len(self.parts))))

    # the tight ratio

    def tight(self, control: Control, budget: int) -> Tight | Refusal:
        best: tuple[Exact, tuple[Dataset, Dataset]] | None = None
        least = -math.inf
        for step in self.steps():
            control()
            total = self._logarithms(step)
            most = float(total.max())
            if most < least - _MARGIN:
                continue
            least = max(least, most)
            for ratio, x in self._largest(step, np.flatnonzero(total >= most - _MARGIN).tolist(), control):
                pair = self._placed(step, x)
                if best is None or ratio > best[0] or (ratio == best[0] and self._before(pair, best[1])):
                    best = ratio, pair
        if best is None:
            return Tight(Fraction(1), Fraction(1), None)
        control.privacy_set += sum(map(self.contents, self.steps()))
        return Tight(best[0], best[0], self._witness(best[0], *best[1], control))

    def prepare(self, control: Control) -> None:
        """Compute the laws of all parts for all contents, and find which records of a client they tell apart."""
        records = self.program.bound.record.values
        for at, part in enumerate(self.parts):
            if self._number[at] not in self._numbers:
                place: dict[int, int] = {}
                laws = self._numbered[self._number[at]] = []
                numbers = []
                for content in product(records, repeat=len(part.clients)):
                    control()
                    law = self.law(at, content, control)
                    if place.setdefault(id(law), len(laws)) == len(laws):
                        laws.append(law)
                    numbers.append(place[id(law)])
                self._numbers[self._number[at]] = np.array(numbers).reshape((len(records),) * len(part.clients))
        for client in range(self.program.bound.n):
            seen = [
                np.moveaxis(self._numbers[number], part.clients.index(client), 0).reshape(len(records), -1)
                for number, part in zip(self._number, self.parts, strict=True)
                if client in part.clients
            ]
            self._told.append(told_apart(records, seen))

    def steps(self) -> Iterator[_Step]:
        for client, told in enumerate(self._told):
            parts = tuple(at for at, part in enumerate(self.parts) if client in part.clients)
            others = tuple(sorted({other for at in parts for other in self.parts[at].clients} - {client}))
            found: dict[tuple[Record, Record], list[tuple[Record, Record]]] = {}
            for old, after in relation_of(self.program.bound).steps.items():
                for new in after:
                    if new != old:
                        found.setdefault((told.like[old], told.like[new]), []).append((old, new))
            yield from (_Step(client, *ways[0], len(ways), parts, others) for ways in found.values())

    def contents(self, step: _Step) -> int:
        """Return how many contents of the others there are that some part tells apart."""
        return prod(len(self._told[client].times) for client in step.others)

    def _logarithms(self, step: _Step) -> Doubles:
        """Return, for all contents of the other clients in order, the logarithm of the largest ratio of the step."""
        total = np.zeros((1,) * len(step.others))
        for at in step.parts:
            clients, number = self.parts[at].clients, self._number[at]
            ours, theirs = (
                self._numbers[number][self._among(clients, step, record)] for record in (step.old, step.new)
            )
            laws = self._numbered[number]
            pairs, place = np.unique(ours * len(laws) + theirs, return_inverse=True)
            found = [self._ratio(laws[pair // len(laws)], laws[pair % len(laws)]).logarithm for pair in pairs.tolist()]
            values = np.array(found)[place.reshape(ours.shape)].transpose(
                sorted(range(len(clients)), key=clients.__getitem__)
            )
            total = total + values.reshape(
                [len(self._told[client].times) if client in clients else 1 for client in step.others]
            )
        whole: Doubles = np.broadcast_to(total, [len(self._told[client].times) for client in step.others]).reshape(-1)
        return whole

    def _among(self, clients: Sequence[int], step: _Step, record: Record) -> tuple[Integers, ...]:
        """Return the places of what the clients may hold, among all contents of a part that sees them."""
        index = self.program.bound.record.values.index
        held = ([record] if client == step.client else self._told[client].times for client in clients)
        return np.ix_(*([index(each) for each in one] for one in held))

    def _largest(
        self, step: _Step, places: Sequence[int], control: Control
    ) -> Iterator[tuple[Exact, dict[int, Record]]]:
        """Yield the exact ratios at some places, each with the first of its contents."""
        seen: set[frozenset[tuple[Whole, Whole, int]]] = set()
        for place in places:
            control()
            content: dict[int, Record] = {}
            for client in reversed(step.others):
                held = list(self._told[client].times)
                place, at = divmod(place, len(held))
                content[client] = held[at]
            x, x_prime = self._placed(step, content)
            ratios = [
                self._ratio(self._law_on(at, x, control), self._law_on(at, x_prime, control)) for at in step.parts
            ]
            key = frozenset((one.up, one.down, ratios.count(one)) for one in ratios)
            if key not in seen:
                seen.add(key)
                down = prod(one.down for one in ratios)
                yield quotient(prod(one.up for one in ratios), down) if down else math.inf, content

    def _ratio(self, ours: Weights, theirs: Weights) -> Largest:
        key = id(ours), id(theirs)
        if key not in self._ratios:
            self._ratios[key] = largest_of(ours, theirs)
        return self._ratios[key]

    def law(self, at: int, content: Dataset, control: Control) -> Weights:
        """Return the law of a part; laws that are the same are one object."""
        key = self._number[at], content
        if key not in self._laws:
            found = self.pieces(control).every[at].table.weights(content)
            self._laws[key] = self._distinct.setdefault((key[0], found.total, *found.by_code.items()), found)
        return self._laws[key]

    def _law_on(self, at: int, x: Dataset, control: Control) -> Weights:
        """Return the law of a part on a dataset of all clients."""
        return self.law(at, tuple(x[client] for client in self.parts[at].clients), control)

    def _before(self, pair: tuple[Dataset, Dataset], other: tuple[Dataset, Dataset]) -> bool:
        bound = self.program.bound
        assert self._pieces is not None
        table = self._pieces.table(())
        here, there = (position_of(bound, Pair(*one, 0, table)) for one in (pair, other))
        return here < there

    def _placed(self, step: _Step, content: dict[int, Record]) -> tuple[Dataset, Dataset]:
        """Return the neighbours in which the clients have these records, and those that no part sees the first."""
        x, x_prime = (
            tuple(
                record if client == step.client else content.get(client, first)
                for client, first in enumerate(self._first)
            )
            for record in (step.old, step.new)
        )
        return x, x_prime

    def _witness(self, ratio: Exact, x: Dataset, x_prime: Dataset, control: Control) -> Ratio:
        """Return the first output in order that attains the ratio of two neighbours, with its probabilities."""
        pieces = self.pieces(control).every
        laws = [(piece.weights(x), piece.weights(x_prime)) for piece in pieces]
        every = [sorted(ours.by_code) for ours, _ in laws]
        attaining = [[code for code in codes if attains(code, *law)] for codes, law in zip(every, laws, strict=True)]
        if ratio == math.inf:
            endless = [at for at, law in enumerate(laws) if largest_of(*law).down == 0]
            choices = [[*every[:at], attaining[at], *every[at + 1 :]] for at in endless]
        else:
            choices = [attaining]
        table = self.laws(control)
        found = []
        for choice in choices:
            first = [
                min((order_of(piece.table.codes.first(code)), code) for code in own)[1]
                for own, piece in zip(choice, pieces, strict=True)
            ]
            found.append(table.named(table.codes.join(first), x, x_prime))
        output, p, q = min(found, key=lambda named: order_of(named[0]))
        return Ratio(ratio, x, x_prime, as_output(output), p, q)

    # all divergences

    def comparison(self, control: Control) -> Comparison | Refusal:
        pieces = self.pieces(control).every
        joined = 0
        for step in self.steps():
            outputs = prod(len(pieces[at].weights(self._first).by_code) for at in step.parts)
            joined += outputs * self.contents(step)
            if joined > DOUBLES_AT_ONCE:
                return Refusal("independent outputs: the joint laws of the parts that a record changes are long")
        return Comparison(lambda: self._pairs(control))

    def _pairs(self, control: Control) -> Iterator[Pair]:
        """Yield one pair of neighbours for every way in which the laws of the parts can change."""
        pieces = self.pieces(control)

        def outputs(at: int) -> set[int]:
            return set(map(pieces.every[at].outputs_of, self._numbered[self._number[at]]))

        return pieces.pairs(self._changes(control), outputs)

    def _changes(self, control: Control) -> Iterator[Changed]:
        bound = self.program.bound
        for step in self.steps():
            unseen = bound.record.size ** (bound.n - 1 - len(step.others)) * step.times
            for content in product(*(self._told[client].times.items() for client in step.others)):
                control()
                held = {client: record for client, (record, _) in zip(step.others, content, strict=True)}
                x, x_prime = self._placed(step, held)
                laws = [
                    (at, id(self._law_on(at, x, control)), id(self._law_on(at, x_prime, control))) for at in step.parts
                ]
                yield x, x_prime, laws, unseen * prod(times for _, times in content)

    def in_order(self, control: Control) -> Iterator[Pair]:
        for x, x_prime in neighbours_in_order(self.program.bound):
            at = next(at for at, (old, new) in enumerate(zip(x, x_prime, strict=True)) if old != new)
            seen = tuple(number for number, part in enumerate(self.parts) if at in part.clients)
            yield Pair(x, x_prime, 0, self.pieces(control).table(seen))


def look(program: Program, control: Control, budget: int) -> OverlappingParts | Refusal:
    """Return the method where the output has parts that share no draw."""
    core = program.core(control)
    if not relation_of(program.bound).one_record or not plain(core.shape) or core.evidence:
        return Refusal("independent outputs: neighbours differ in several records, or runs are conditioned")
    parts, checks = split_by_draws(core)
    records = program.bound.record.size
    laws = sum(records ** len(part.clients) for part in parts)
    if len(parts) < 2 or laws > LITTLE_WORK:
        return Refusal("independent outputs: the parts of the output share draws, or see too many records")
    needs = max(CELL_STEPS * laws, cells(expand_shuffles(core)))
    if needs > budget:
        return too_much("independent outputs", needs)
    found = OverlappingParts(program, parts)
    try:
        hold(program, core, checks, at_most(control, budget))
        found.prepare(control)
    except TooLarge:
        return exceeded("independent outputs", budget)
    except ProgramError:
        return Refusal("independent outputs: a run can fail, and the whole program says on which dataset")
    contents = sum(map(found.contents, found.steps()))
    if contents > MOST_ENTRIES:
        return Refusal("independent outputs: the parts that see a record see too many others")
    found.estimate = CELL_STEPS * laws + _CONTENT_STEPS * contents
    return found if found.estimate <= budget else too_much("independent outputs", found.estimate)
