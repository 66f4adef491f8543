"""Outputs in parts that share no draw, whatever clients they see: the ratio of an output is the product of theirs.

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
from typing import TYPE_CHECKING

from tightdp.core.nodes import Shuffled, reachable
from tightdp.errors import ProgramError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.lazily import lazily
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole, gcd
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Dataset, Output, as_output, order_of
from tightdp.logic.count import Weights
from tightdp.methods import questions
from tightdp.methods.base import Comparison, Pair, Refusal, Tight
from tightdp.methods.by_clients import hold
from tightdp.methods.chain_forms import logarithm
from tightdp.methods.control import Control
from tightdp.methods.first import MOST_OUTPUT_BITS, neighbours_in_order, position_of
from tightdp.methods.parts import Part, split_by_draws
from tightdp.methods.pieces import Piece, PieceTable, plain
from tightdp.methods.program import Method, Program, TooLarge
from tightdp.methods.ratios import Ratio
from tightdp.symmetry.sets import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
else:
    np = lazily("numpy")

__all__ = ["OverlappingParts", "look", "look_at_few"]

_MOST_CONTENTS = 1 << 22
"""So many contents of the clients that some part sees together with one client are gone through at most."""
_FEW_CONTENTS = 1 << 12
"""So many of them are gone through before anything else is tried."""
_MOST_LAWS = 1 << 17
"""So many laws of parts are made at most."""
_MOST_JOINED = 1 << 24
"""So many probabilities the laws of the parts that a record changes have at most, over all pairs together."""
_MARGIN = 1e-4
"""Sums of rounded logarithms err by less."""

_Codes = tuple[int, ...]


@dataclass(frozen=True)
class _Largest:
    """The largest ratio of a part between two of its laws, as up / down, and its rounded logarithm."""

    up: Whole
    down: Whole
    logarithm: float


@dataclass(frozen=True)
class _Step:
    """A change of one client's record, and what the clients hold that any part sees together with it."""

    client: int
    old: Record
    new: Record
    parts: tuple[int, ...]
    clients: tuple[int, ...]


class OverlappingParts(Method):
    """A program whose output falls into parts that share clients, but no draws."""

    name = "independent outputs"

    def __init__(self, program: Program, parts: Sequence[Part]) -> None:
        self.program = program
        self.parts = tuple(parts)
        self._first = (program.bound.record.values[0],) * program.bound.n
        self._programs: dict[object, Program] = {}
        self._pieces: list[Piece] = []
        self._tables: dict[tuple[int, ...], PieceTable] = {}
        self._ratios: dict[tuple[int, int], _Largest] = {}
        numbers: dict[object, int] = {}
        self._number = [numbers.setdefault(part.key, len(numbers)) for part in parts]
        """The same for parts that are the same program."""
        self._laws: dict[tuple[int, Dataset], Weights] = {}
        self._distinct: dict[object, Weights] = {}

    def pieces(self, control: Control) -> list[Piece]:
        """Return the parts with the tables of their laws."""
        if not self._pieces:
            whole = self.program
            for part in self.parts:
                if part.key not in self._programs:
                    bound = replace(whole.bound, n=len(part.clients))
                    self._programs[part.key] = Program(bound, whole.candidates, whole.backend, given=part.program)
            tables = {key: questions.laws(program, control)[1] for key, program in self._programs.items()}
            self._pieces = [Piece(part.components, part.clients, tables[part.key]) for part in self.parts]
        return self._pieces

    def size(self) -> tuple[int, int]:
        sizes = [program.size for program in self._programs.values()]
        return sum(variables for variables, _ in sizes), sum(nodes for _, nodes in sizes)

    def laws(self, control: Control) -> Table:
        return PieceTable(self.program.bound, self.program.core(control).shape, self.pieces(control), [])

    # the tight ratio

    def tight(self, control: Control) -> Tight | Refusal:
        best: tuple[Exact, tuple[Dataset, Dataset]] | None = None
        least = -math.inf
        for step in self.steps():
            control()
            total = self._logarithms(step, control)
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
        control.privacy_set += sum(self.contents(step) for step in self.steps())
        return Tight(best[0], best[0], self._witness(best[0], *best[1], control))

    def steps(self) -> Iterator[_Step]:
        for client in range(self.program.bound.n):
            parts = tuple(at for at, part in enumerate(self.parts) if client in part.clients)
            clients = tuple(sorted({other for at in parts for other in self.parts[at].clients} | {client}))
            for old, after in relation_of(self.program.bound).steps.items():
                yield from (_Step(client, old, new, parts, clients) for new in after if new != old)

    def contents(self, step: _Step) -> int:
        return int(self.program.bound.record.size ** (len(step.clients) - 1))

    def _logarithms(self, step: _Step, control: Control) -> Floats:
        """Return, for all contents of the other clients in order, the logarithm of the largest ratio of the step."""
        records = self.program.bound.record.values
        others = [client for client in step.clients if client != step.client]
        total = np.zeros((1,) * len(others))
        for at in step.parts:
            own = [client for client in self.parts[at].clients if client != step.client]
            found = []
            for content in product(records, repeat=len(own)):
                control()
                found.append(self._ratio(at, step, dict(zip(own, content, strict=True)), control).logarithm)
            seen = sorted(range(len(own)), key=own.__getitem__)
            values = np.array(found).reshape((len(records),) * len(own)).transpose(seen)
            total = total + values.reshape([len(records) if client in own else 1 for client in others])
        whole: Floats = np.broadcast_to(total, (len(records),) * len(others)).reshape(-1)
        return whole

    def _largest(
        self, step: _Step, places: Sequence[int], control: Control
    ) -> Iterator[tuple[Exact, dict[int, Record]]]:
        """Yield the exact ratios at some places, each with the first of its contents."""
        records = self.program.bound.record.values
        others = [client for client in step.clients if client != step.client]
        seen: set[frozenset[tuple[Whole, Whole, int]]] = set()
        for place in places:
            control()
            content: dict[int, Record] = {}
            for client in reversed(others):
                place, at = divmod(place, len(records))
                content[client] = records[at]
            ratios = [self._ratio(at, step, content, control) for at in step.parts]
            key = frozenset((one.up, one.down, ratios.count(one)) for one in ratios)
            if key not in seen:
                seen.add(key)
                down = prod(one.down for one in ratios)
                yield quotient(prod(one.up for one in ratios), down) if down else math.inf, content

    def _ratio(self, at: int, step: _Step, content: dict[int, Record], control: Control) -> _Largest:
        clients = self.parts[at].clients
        ours, theirs = (
            self.law(at, tuple(record if client == step.client else content[client] for client in clients), control)
            for record in (step.old, step.new)
        )
        key = id(ours), id(theirs)
        if key not in self._ratios:
            self._ratios[key] = _largest(ours, theirs)
        return self._ratios[key]

    def law(self, at: int, content: Dataset, control: Control) -> Weights:
        """Return the law of a part; laws that are the same are one object."""
        key = self._number[at], content
        if key not in self._laws:
            found = self.pieces(control)[at].table.weights(content)
            self._laws[key] = self._distinct.setdefault((key[0], found.total, *found.by_code.items()), found)
        return self._laws[key]

    def _law_on(self, at: int, x: Dataset, control: Control) -> Weights:
        """Return the law of a part on a dataset of all clients."""
        return self.law(at, tuple(x[client] for client in self.parts[at].clients), control)

    def _before(self, pair: tuple[Dataset, Dataset], other: tuple[Dataset, Dataset]) -> bool:
        bound = self.program.bound
        here, there = (position_of(bound, Pair(*one, 0, self._pieces[0].table)) for one in (pair, other))
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
        pieces = self.pieces(control)
        laws = [(piece.weights(x), piece.weights(x_prime)) for piece in pieces]
        every = [sorted(ours.by_code) for ours, _ in laws]
        attaining = [[code for code in codes if _attains(code, *law)] for codes, law in zip(every, laws, strict=True)]
        if ratio == math.inf:
            endless = [at for at, law in enumerate(laws) if _largest(*law).down == 0]
            choices = [[*every[:at], attaining[at], *every[at + 1 :]] for at in endless]
        else:
            choices = [attaining]
        found: list[tuple[Output, _Codes]] = []
        for choice in choices:
            first = tuple(
                min((order_of(piece.table.output(code)), code) for code in own)[1]
                for own, piece in zip(choice, pieces, strict=True)
            )
            values: dict[int, Output] = {}
            for code, piece in zip(first, pieces, strict=True):
                values.update(zip(piece.components, piece.table.output(code), strict=True))
            shape = self.program.core(control).shape
            found.append((shape.decode([values[component] for component in sorted(values)]), first))
        output, codes = min(found, key=lambda entry: order_of(entry[0]))
        p: Number = Fraction(1)
        q: Number = Fraction(1)
        for (ours, theirs), code in zip(laws, codes, strict=True):
            p, q = p * ours.probability(code), q * theirs.probability(code)
        return Ratio(ratio, x, x_prime, as_output(output), p, q)

    # all divergences

    def comparison(self, control: Control) -> Comparison | Refusal:
        pieces = self.pieces(control)
        joined = 0
        for step in self.steps():
            outputs = prod(len(pieces[at].weights(self._first).by_code) for at in step.parts)
            joined += outputs * self.contents(step)
            if joined > _MOST_JOINED:
                return Refusal("independent outputs: the joint laws of the parts that a record changes are long")
        return Comparison(lambda: self._pairs(control))

    def _pairs(self, control: Control) -> Iterator[Pair]:
        """Yield one pair of neighbours for every way in which the laws of parts change."""
        records = self.program.bound.record.values
        merged: dict[object, tuple[Dataset, Dataset, tuple[int, ...], int]] = {}
        for step in self.steps():
            others = [client for client in step.clients if client != step.client]
            alike = len(records) ** (self.program.bound.n - len(step.clients))
            for content in product(records, repeat=len(others)):
                control()
                x, x_prime = self._placed(step, dict(zip(others, content, strict=True)))
                laws = [(at, self._law_on(at, x, control), self._law_on(at, x_prime, control)) for at in step.parts]
                shown = tuple(at for at, ours, theirs in laws if ours is not theirs)
                key = tuple(sorted((id(ours), id(theirs)) for _, ours, theirs in laws if ours is not theirs))
                *first, size = merged.get(key, (x, x_prime, shown, 0))
                merged[key] = first[0], first[1], first[2], size + alike
        for x, x_prime, shown, size in merged.values():
            yield Pair(x, x_prime, size, self._table(shown, control))

    def in_order(self, control: Control) -> Iterator[Pair]:
        for x, x_prime in neighbours_in_order(self.program.bound):
            at = next(at for at, (old, new) in enumerate(zip(x, x_prime, strict=True)) if old != new)
            table = self._table(tuple(number for number, part in enumerate(self.parts) if at in part.clients), control)
            if table.code_bits > MOST_OUTPUT_BITS:
                raise QueryError("there are too many outputs to look at single laws", "")
            yield Pair(x, x_prime, 0, table)

    def _table(self, shown: tuple[int, ...], control: Control) -> PieceTable:
        """Return the table of some parts; where there are none, any of them will do."""
        if shown not in self._tables:
            pieces, chosen = self.pieces(control), shown or (0,)
            self._tables[shown] = PieceTable(
                self.program.bound,
                self.program.core(control).shape,
                [piece for at, piece in enumerate(pieces) if at in chosen],
                [piece for at, piece in enumerate(pieces) if at not in chosen],
            )
        return self._tables[shown]


def _largest(ours: Weights, theirs: Weights) -> _Largest:
    """Return the largest ratio of the probabilities of an output under two laws."""
    up: Whole = 0
    down: Whole = 1
    for code, weight in ours.by_code.items():
        other = theirs.by_code.get(code, 0)
        if not other:
            return _Largest(1, 0, math.inf)
        if weight * down > up * other:
            up, down = weight, other
    up, down = up * theirs.total, down * ours.total
    shared = gcd(up, down)
    up, down = up // shared, down // shared
    return _Largest(up, down, logarithm(up) - logarithm(down))


def _attains(code: int, ours: Weights, theirs: Weights) -> bool:
    """Whether an output has the largest ratio of two laws."""
    largest = _largest(ours, theirs)
    up, down = ours.by_code[code] * theirs.total, theirs.by_code.get(code, 0) * ours.total
    return up * largest.down == largest.up * down


def look(program: Program, control: Control) -> OverlappingParts | Refusal:
    """Return the method where the output has parts that share no draw."""
    return program.once("overlapping parts", lambda: _look(program, control, _MOST_CONTENTS))


def look_at_few(program: Program, control: Control) -> OverlappingParts | Refusal:
    """Return the method where what the parts see is gone through in no time, and nothing comes in random order."""
    if program.forced is not None:
        return look(program, control)
    if any(isinstance(expr, Shuffled) for expr in reachable(program.core(control).components)):
        return Refusal("independent outputs: orders of shuffled messages are counted, not gone through")
    return program.once("few overlapping parts", lambda: _look(program, control, _FEW_CONTENTS))


def _look(program: Program, control: Control, most: int) -> OverlappingParts | Refusal:
    core = program.core(control)
    if not relation_of(program.bound).one_record or not plain(core.shape) or core.evidence:
        return Refusal("independent outputs: neighbours differ in several records, or runs are conditioned")
    parts, checks = split_by_draws(core)
    records = program.bound.record.size
    if len(parts) < 2 or sum(records ** len(part.clients) for part in parts) > min(most, _MOST_LAWS):
        return Refusal("independent outputs: the parts of the output share draws, or see too many records")
    found = OverlappingParts(program, parts)
    if sum(found.contents(step) for step in found.steps()) > most:
        return Refusal("independent outputs: the parts that see a record see too many others")
    try:
        hold(program, core, checks, control)
        for at, part in enumerate(parts):
            for content in product(program.bound.record.values, repeat=len(part.clients)):
                control()
                found.law(at, content, control)
    except TooLarge:
        return Refusal("independent outputs: whether checks hold takes a large diagram")
    except ProgramError:
        return Refusal("independent outputs: a run can fail, which the whole program tells better")
    return found
