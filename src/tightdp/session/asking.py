"""What can be asked of a mechanism with an unknown: its tight ε, δ at an e^ε, accuracy, output laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightdp.errors import LimitError, QueryError
from tightdp.exact.cells import Cell
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.lines import quotient
from tightdp.exact.pieces import Piece
from tightdp.language.interp import target_of
from tightdp.language.program import Dataset
from tightdp.language.tails import Tail
from tightdp.methods import by_cells, questions
from tightdp.methods.base import Pair
from tightdp.methods.program import Method
from tightdp.queries import unknowns
from tightdp.queries.accuracy import Listed
from tightdp.queries.measures import AccuracyAt, Goal, LeastError
from tightdp.queries.privacy import DeltaAt, LeastRatio, TightRatio
from tightdp.results.answers import Accuracy
from tightdp.results.privacy import Privacy
from tightdp.results.result import EventWitness, PairWitness, Result, Stats, TripleWitness
from tightdp.session import accuracy, numeric, search
from tightdp.session.base import InstanceBase
from tightdp.session.cellwise import Cellwise, Question, Stretch
from tightdp.session.engine import AskedNumber, Engine, Query, neighbours

Pieces = Callable[[Cell], Sequence[Stretch]]
Collected = tuple[Pieces, Stats]
"""How the pieces of a cell are found, and what collecting them cost."""


@dataclass(frozen=True)
class Largest:
    """The largest over all pairs of neighbours, or the least over all datasets, of functions of the unknown.

    Where the question depends on the unknown, `at_value` gives it for an instance in which that has a value.
    """

    question: AskedNumber
    at_value: Callable[[InstanceBase], AskedNumber] | None = None

    @property
    def continuous(self) -> bool:
        """Whether the answer goes on where the comparisons of the mechanism come out the same: not for accuracy."""
        return not isinstance(self.question, AccuracyAt)

    def collect(self, instance: InstanceBase) -> Collected:
        """Compare all pairs, or all datasets; see `Question` of `cellwise`."""
        query, method, question = instance.engine.query(), _Method(), self.question
        if isinstance(question, AccuracyAt | TightRatio):
            finite = by_cells.finite_laws(instance.engine.program, query.control) is not None
            if isinstance(question, TightRatio):
                if not finite and isinstance(known := numeric.answer(instance.engine, question), Privacy):
                    found = known  # all comparisons come out alike on the whole cell
                    return lambda cell: [Stretch(cell.low, cell.high, found.exp_epsilon, found.witness)], found.stats
            elif not finite and (near := numeric.near(instance.engine, question)) is not None:
                return _worst(near, query.control), query.outcome(numeric.METHOD).stats
            query = instance.engine.query()
        pieces = _pieces_of(question, method, instance, query)
        return pieces, method.stats(query)

    def at(self, instance: InstanceBase) -> tuple[Any, Any]:
        """Ask at one value of the unknown."""
        question = self.question if self.at_value is None else self.at_value(instance)
        found = search.answer(instance.engine, question)
        if isinstance(found, Accuracy):
            return found.one_minus_beta, found.x
        return found.upper, found.witness


def _pieces_of(question: AskedNumber, method: _Method, instance: InstanceBase, query: Query) -> Pieces:
    """Return how the pieces of a cell are found, from the laws of all pairs, or datasets, with the unknown in them."""
    watch = query.control
    if isinstance(question, AccuracyAt):
        bound = instance.bound
        target_of(bound, (bound.record.values[0],) * bound.n)
        method.found, table, datasets = questions.accuracy_set(instance.engine.program, watch)
        laws, inputs = Listed(table), watch.inputs(table, datasets)
        near = [(laws.within(x, *question.within(target_of(bound, x)), None), x) for x, _ in inputs]
        _check_complete(watch.stopped)
        return _worst(near, watch)
    if isinstance(question, TightRatio):
        ratios = unknowns.ratios(method.pairs(instance, query))
        return lambda cell: (
            [
                _stretch(piece, _value(piece), _triple(*piece.witness.witness))
                for piece in unknowns.largest_quotient(
                    unknowns.leading(ratios, cell.low, cell.high, watch), cell.low, cell.high, watch
                )
            ]
            or [_constant(cell, 1)]
        )
    shares = unknowns.shares(method.pairs(instance, query))
    if isinstance(question, DeltaAt):
        return lambda cell: (
            [
                _stretch(piece, _value(piece), _event(*piece.witness))
                for piece in unknowns.largest_delta(shares, question.low, cell.low, cell.high, watch)
            ]
            or [_constant(cell, 0)]
        )
    assert isinstance(question, LeastRatio)
    return lambda cell: [
        _stretch(piece, _value(piece), neighbours(piece.witness))
        for piece in unknowns.least_ratio(shares, question.delta, cell.low, cell.high, watch)
    ]


def _worst(near: Sequence[tuple[Number | None, Dataset]], watch: Callable[[], None]) -> Pieces:
    """Return how the pieces of a cell are found on which a probability, of those on some datasets, is the least."""
    misses = [unknowns.as_quotient(1 - share, x) for share, x in near if share is not None]
    return lambda cell: [
        _stretch(piece, 1 - _value(piece), piece.witness.witness)
        for piece in unknowns.largest_quotient(misses, cell.low, cell.high, watch)
    ]


def gain_of(goal: Goal) -> Question:
    """Return the question for a measure on the worst dataset; minus an error, so that more is better."""
    if goal.alpha is not None:
        return Largest(AccuracyAt(goal.alpha))
    sign, measure = (-1, f"expected {goal.measure}") if goal.least else (1, goal.measure)

    def ask(instance: InstanceBase) -> Answered:
        found = accuracy.utility(instance.engine)
        return sign * found.value(measure), None, found

    return Computed(ask)


Answered = tuple[Any, Any, Result]
"""A value, what attains it, and the result that has both."""


@dataclass(frozen=True)
class Computed:
    """What the engine computes on every cell just as with numbers: all its comparisons come out the same there."""

    ask: Callable[[InstanceBase], Answered]
    continuous: bool = False

    def collect(self, instance: InstanceBase) -> Collected:
        """Ask once; see `Question`."""
        value, witness, found = self._asked(instance)
        return lambda cell: [Stretch(cell.low, cell.high, value, witness)], found.stats

    def at(self, instance: InstanceBase) -> tuple[Any, Any]:
        """Ask for the value."""
        return self._asked(instance)[:2]

    def _asked(self, instance: InstanceBase) -> Answered:
        answered = self.ask(instance)
        if answered[2].status != "exact":
            raise LimitError(answered[2].reason, "with an unknown all datasets are enumerated: use fewer records")
        return answered


@dataclass(frozen=True)
class LeastErrors:
    """The least error bound on every cell, of which there are infinitely many where noise may be as wide as one likes.

    Raises QueryError there unless the unknown has a range.
    """

    question: LeastError
    ours: Cellwise

    def __call__(self, engine: Engine) -> Accuracy:
        """Ask an engine."""
        if self.ours.range.low is None and _has_tails(engine):
            raise QueryError(
                f"noise on all integers has infinitely many least errors as {self.ours.name} goes through all values",
                f"give {self.ours.name} a range in which it is neither very narrow nor very wide, such as [1/4,1/2]",
            )
        found: Accuracy = search.answer(engine, self.question)
        return found


def _has_tails(engine: Engine) -> bool:
    """Whether integers without a bound are published, with an unknown in how likely they are."""
    watch = engine.control()
    if (cells := engine.program.cells(watch)) is not None:
        return cells.laws.published
    _, table, datasets = questions.accuracy_set(engine.program, watch)
    outputs = (table.codes.first(code) for x, _ in watch.inputs(table, datasets) for code in table.weights(x).by_code)
    return any(isinstance(each, Tail) and isinstance(each.ratio, ExpNumber) for each in outputs)


class _Method:
    """The method that gives the laws, once it is known."""

    found: Method | None = None

    def pairs(self, instance: InstanceBase, query: Query) -> Iterator[Pair]:
        """Yield the pairs of neighbours to compare. Raises QueryError or LimitError where these are not all."""
        self.found, found = questions.comparison(instance.engine.program, query.control)
        if found.incomplete is not None:
            raise QueryError(found.incomplete.what, "with an unknown all pairs are enumerated: use fewer records")
        yield from query.control.pairs(found)
        _check_complete(query.control.stopped)

    def stats(self, query: Query) -> Stats:
        """Return what it cost."""
        assert self.found is not None
        return query.stats(self.found.size(), self.found.name, self.found.symmetry())


def _check_complete(stopped: Exception | None) -> None:
    if stopped is not None:
        raise stopped


def _stretch(piece: Piece[Any], value: Any, witness: Any) -> Stretch:
    return Stretch(piece.low, piece.high, value, witness)


def _constant(cell: Cell, value: int) -> Stretch:
    return Stretch(cell.low, cell.high, Fraction(value), None)


def _value(piece: Piece[Any]) -> Any:
    """Return the function of a piece."""
    if piece.infinite:
        return math.inf
    return quotient(piece.above, piece.below)


def _triple(pair: Pair, code: int) -> TripleWitness:
    return TripleWitness(pair.x, pair.x_prime, *pair.table.named(code, pair.x, pair.x_prime))


def _event(pair: Pair, codes: tuple[int, ...]) -> PairWitness:
    listed = pair.table.event(codes, pair.x)
    return EventWitness(pair.x, pair.x_prime, listed) if listed else PairWitness(pair.x, pair.x_prime)
