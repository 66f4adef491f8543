"""What can be asked of a mechanism with an unknown: its tight ε, δ at an e^ε, accuracy, output laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.errors import LimitError, QueryError
from tightdp.exact.cells import Cell
from tightdp.exact.field import Number
from tightdp.exact.mixed import quotient
from tightdp.exact.numbers import Exact
from tightdp.exact.pieces import Piece
from tightdp.language.interp import target_of
from tightdp.language.program import Dataset
from tightdp.language.tails import Interval, parts_of
from tightdp.methods import questions
from tightdp.methods.base import Pair
from tightdp.methods.program import Method
from tightdp.queries import unknowns
from tightdp.queries.accuracy import AccuracyAt, Goal, LeastError
from tightdp.queries.unknowns import least_ratio
from tightdp.results.guessing import Guessing
from tightdp.results.result import EventWitness, PairWitness, Result, Stats, TripleWitness
from tightdp.session import accuracy, numeric, one_run, outputs, search
from tightdp.session.base import InstanceBase
from tightdp.session.cellwise import Question, Stretch
from tightdp.session.engine import Query

Pieces = Callable[[Cell], Sequence[Stretch]]
Collected = tuple[Pieces, Stats]
"""How the pieces of a cell are found, and what collecting them cost."""


@dataclass(frozen=True)
class TightRatio:
    """The tight e^ε."""

    continuous: ClassVar[bool] = True

    def collect(self, instance: InstanceBase) -> Collected:
        """Compare all pairs; see `Question`."""
        query = instance.engine.query()
        if (listed := numeric.ratios(instance.engine, query)) is not None:
            return _largest_of(listed, query), numeric.outcome_of(query).stats
        if (known := numeric.tight_privacy(instance.engine)) is not None:
            return _everywhere(known.exp_epsilon, known.witness), known.stats
        query, method = instance.engine.query(), _Method()
        quotients = list(unknowns.ratios(method.pairs(instance, query)))

        def pieces(cell: Cell) -> list[Stretch]:
            if not quotients:
                return [_constant(cell, 1)]
            found = unknowns.largest_quotient(quotients, cell.low, cell.high, query.control)
            return [_stretch(piece, _value(piece), _triple(piece.witness)) for piece in found]

        return pieces, method.stats(query)

    def at(self, instance: InstanceBase) -> tuple[Exact, PairWitness | None]:
        """Ask for the tight e^ε."""
        found = search.tight_privacy(instance.engine, 1)
        return found.exp_epsilon, found.witness


@dataclass(frozen=True)
class DeltaAt:
    """δ at t = e^ε; where t is a function of the unknown, `t_of` gives it for an instance in which that has a value."""

    continuous: ClassVar[bool] = True
    t: Number
    t_of: Callable[[InstanceBase], Number] | None = None

    def collect(self, instance: InstanceBase) -> Collected:
        """Compare all pairs; see `Question`."""
        query, method = instance.engine.query(), _Method()
        shares = unknowns.shares(method.pairs(instance, query))

        def pieces(cell: Cell) -> list[Stretch]:
            found = unknowns.largest_delta(shares, self.t, cell.low, cell.high, query.control)
            return [_stretch(piece, _value(piece), _event(*piece.witness)) for piece in found] or [_constant(cell, 0)]

        return pieces, method.stats(query)

    def at(self, instance: InstanceBase) -> tuple[Number, PairWitness | None]:
        """Ask for δ."""
        found = search.delta_at(instance.engine, self.t if self.t_of is None else self.t_of(instance))
        return found.delta, found.witness


@dataclass(frozen=True)
class LeastRatioAt:
    """The least e^ε >= 1 at a δ."""

    continuous: ClassVar[bool] = True
    delta: Number

    def collect(self, instance: InstanceBase) -> Collected:
        """Compare all pairs; see `Question`."""
        query, method = instance.engine.query(), _Method()
        shares = unknowns.shares(method.pairs(instance, query))

        def pieces(cell: Cell) -> list[Stretch]:
            found = least_ratio(shares, self.delta, cell.low, cell.high, query.control)
            return [_stretch(piece, _value(piece), _neighbours(piece.witness)) for piece in found]

        return pieces, method.stats(query)

    def at(self, instance: InstanceBase) -> tuple[Exact, PairWitness | None]:
        """Ask for the least e^ε."""
        found = search.approximate_privacy(instance.engine, self.delta)
        return found.exp_epsilon, found.witness


@dataclass(frozen=True)
class WorstAccuracy:
    """The tight 1 - β at an error bound."""

    continuous: ClassVar[bool] = False
    question: AccuracyAt

    def collect(self, instance: InstanceBase) -> Collected:
        """Measure all datasets; see `Question`."""
        bound = instance.bound
        target_of(bound, (bound.record.values[0],) * bound.n)
        query, method = instance.engine.query(), _Method()
        method.found, table, datasets = questions.accuracy_set(instance.engine.program, query.control)
        quotients = list(unknowns.errors_beyond(table, query.control.inputs(table, datasets), self.question))
        _check_complete(query.control.stopped)

        def pieces(cell: Cell) -> list[Stretch]:
            found = unknowns.largest_quotient(quotients, cell.low, cell.high, query.control)
            return [_stretch(piece, 1 - _value(piece), piece.witness.x) for piece in found]

        return pieces, method.stats(query)

    def at(self, instance: InstanceBase) -> tuple[Number, Dataset | None]:
        """Ask for 1 - β."""
        found = accuracy.accuracy_at(instance.engine, self.question)
        assert found.one_minus_beta is not None
        return found.one_minus_beta, found.x


def gain_of(goal: Goal) -> Question:
    """Return the question for a measure on the worst dataset; minus an error, so that more is better."""
    if goal.alpha is not None:
        return WorstAccuracy(AccuracyAt(goal.alpha))
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

    continuous: ClassVar[bool] = False
    ask: Callable[[InstanceBase], Answered]

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


def law_on(x: Dataset) -> Computed:
    """Return the question for the output law on a dataset."""

    def ask(instance: InstanceBase) -> Answered:
        found = outputs.output_law(instance.engine, x)
        if any(isinstance(part, Interval) for output, _ in found.law for part in parts_of(output)):
            raise QueryError("densities with an unknown in them are not listed", "give the parameter a value")
        return _nonzero(found.law), None, found

    return Computed(ask)


def least_error_of(question: LeastError) -> Computed:
    """Return the question for the least error bound that every dataset keeps with a probability."""

    def ask(instance: InstanceBase) -> Answered:
        found = accuracy.least_error(instance.engine, question)
        return found.alpha, found.x, found

    return Computed(ask)


def efficacies_of(guesses: int | None, pairs: Any, adaptive: bool) -> Computed:
    """Return the question for efficacies and what bounds them, by name and number of guesses."""

    def ask(instance: InstanceBase) -> Answered:
        found = one_run.efficacy(instance.engine, guesses, pairs, adaptive)
        return tuple(((row.guesses, name), getattr(row, name)) for row in found.rows for name in names), None, found

    names = ("efficacy", "ac", "ddp", "dp", *(("adaptive",) if adaptive else ()))
    return Computed(ask)


def guesses_of(ask_guessing: Callable[[InstanceBase], Guessing]) -> Computed:
    """Return the question for the law of (guesses, right guesses)."""

    def ask(instance: InstanceBase) -> Answered:
        found = ask_guessing(instance)
        return _nonzero([((r, v), p) for r, v, p in found.joint.entries]), None, found

    return Computed(ask)


def _nonzero(law: Sequence[tuple[Any, Number]]) -> tuple[tuple[Any, Number], ...]:
    return tuple((output, mass) for output, mass in law if mass)


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


def _largest_of(listed: Sequence[tuple[Number, Number, TripleWitness]], query: Query) -> Pieces:
    """Return the pieces of the largest of some likelihood ratios, of numerators that are positive."""

    def pieces(cell: Cell) -> list[Stretch]:
        found = unknowns.largest_ratio(listed, cell.low, cell.high, cell.sample, query.control)
        return [_stretch(piece, _value(piece), piece.witness) for piece in found] or [_constant(cell, 1)]

    return pieces


def _everywhere(value: Exact, witness: PairWitness | None) -> Pieces:
    """Return the pieces of an answer that was found with comparisons that come out alike on a whole cell."""
    return lambda cell: [Stretch(cell.low, cell.high, value, witness)]


def _stretch(piece: Piece[Any], value: Any, witness: Any) -> Stretch:
    return Stretch(piece.low, piece.high, value, witness)


def _constant(cell: Cell, value: int) -> Stretch:
    return Stretch(cell.low, cell.high, Fraction(value), None)


def _value(piece: Piece[Any]) -> Any:
    """Return the function of a piece."""
    if piece.infinite:
        return math.inf
    return quotient(piece.above, piece.below)


def _triple(found: unknowns.Quotient) -> TripleWitness:
    pair = found.pair
    assert pair is not None
    output, p, q = pair.table.named(found.code, pair.x, pair.x_prime)
    return TripleWitness(pair.x, pair.x_prime, output, p, q)


def _neighbours(pair: Pair | None) -> PairWitness | None:
    return None if pair is None else PairWitness(pair.x, pair.x_prime)


def _event(pair: Pair, codes: tuple[int, ...]) -> PairWitness:
    listed = pair.table.event(codes, pair.x)
    return EventWitness(pair.x, pair.x_prime, listed) if listed else PairWitness(pair.x, pair.x_prime)
