"""What can be asked of a mechanism with an unknown: its tight ε, δ at an e^ε, accuracy, output laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightdp.errors import QueryError
from tightdp.exact.cells import Cell
from tightdp.exact.field import Number, ratio
from tightdp.exact.numbers import Exact
from tightdp.exact.pieces import Piece
from tightdp.language.interp import target_of
from tightdp.language.program import Dataset
from tightdp.methods import questions
from tightdp.methods.base import Pair
from tightdp.queries import unknowns
from tightdp.results.answers import in_order
from tightdp.results.result import EventWitness, PairWitness, TripleWitness
from tightdp.session import search
from tightdp.session.cellwise import Stretch
from tightdp.session.instance import Instance

__all__ = ["AccuracyAt", "DeltaAt", "LawOn", "TightRatio"]

Pieces = Callable[[Cell], Sequence[Stretch]]


@dataclass(frozen=True)
class TightRatio:
    """The tight e^ε."""

    def collect(self, instance: Instance) -> Pieces:
        """Compare all pairs; see `Question`."""
        query = instance.engine.query()
        quotients = list(unknowns.ratios(_pairs(instance, query)))

        def pieces(cell: Cell) -> list[Stretch]:
            if not quotients:
                return [_constant(cell, 1)]
            found = unknowns.largest_quotient(quotients, cell.low, cell.high, query.control)
            return [_stretch(piece, _value(piece), _triple(piece.witness)) for piece in found]

        return pieces

    def at(self, instance: Instance) -> tuple[Exact, PairWitness | None]:
        """Ask for the tight e^ε."""
        found = search.tight_privacy(instance.engine, 1)
        return found.exp_epsilon, found.witness


@dataclass(frozen=True)
class DeltaAt:
    """δ at t = e^ε."""

    t: Number

    def collect(self, instance: Instance) -> Pieces:
        """Compare all pairs; see `Question`."""
        query = instance.engine.query()
        shares = list(unknowns.deltas(_pairs(instance, query), self.t))

        def pieces(cell: Cell) -> list[Stretch]:
            found = unknowns.largest_delta(shares, cell.low, cell.high, query.control)
            return [_stretch(piece, _value(piece), _event(*piece.witness)) for piece in found] or [_constant(cell, 0)]

        return pieces

    def at(self, instance: Instance) -> tuple[Number, PairWitness | None]:
        """Ask for δ."""
        found = search.delta_at(instance.engine, self.t)
        return found.delta, found.witness


@dataclass(frozen=True)
class AccuracyAt:
    """The tight 1 - β at an error bound."""

    alpha: Fraction

    def collect(self, instance: Instance) -> Pieces:
        """Measure all datasets; see `Question`."""
        bound = instance.bound
        target_of(bound, (bound.record.values[0],) * bound.n)
        query = instance.engine.query()
        _, table, datasets = questions.accuracy_set(instance.engine.program, query.control)
        quotients = list(unknowns.errors_beyond(table, query.control.inputs(table, datasets), self.alpha))
        _check_complete(query.control.stopped)

        def pieces(cell: Cell) -> list[Stretch]:
            found = unknowns.largest_quotient(quotients, cell.low, cell.high, query.control)
            return [_stretch(piece, 1 - _value(piece), piece.witness.x) for piece in found]

        return pieces

    def at(self, instance: Instance) -> tuple[Number, Dataset | None]:
        """Ask for 1 - β."""
        found = search.accuracy_at(instance.engine, self.alpha, 1)
        assert found.one_minus_beta is not None
        return found.one_minus_beta, found.x


@dataclass(frozen=True)
class LawOn:
    """The output law on a dataset."""

    x: Dataset

    def collect(self, instance: Instance) -> Pieces:
        """Compute the law; see `Question`."""
        law = self._law(instance)
        return lambda cell: [Stretch(cell.low, cell.high, law, None)]

    def at(self, instance: Instance) -> tuple[Any, None]:
        """Ask for the law."""
        return self._law(instance), None

    def _law(self, instance: Instance) -> tuple[tuple[Any, Number], ...]:
        law = search.output_law(instance.engine, self.x).law
        return in_order({output: mass for output, mass in law if mass})


def _pairs(instance: Instance, query: Any) -> Iterable[Pair]:
    """Yield the pairs of neighbours to compare. Raises QueryError or LimitError where these are not all."""
    _, found = questions.comparison(instance.engine.program, query.control)
    if found.incomplete is not None:
        raise QueryError(found.incomplete.what, "with an unknown all pairs are gone through: use fewer records")
    yield from query.control.pairs(found)
    _check_complete(query.control.stopped)


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
    return ratio(piece.above.polynomial, piece.below.polynomial, piece.below.root)


def _triple(found: unknowns.Quotient) -> TripleWitness:
    pair = found.pair
    assert pair is not None
    output, p, q = pair.table.named(found.code, pair.x, pair.x_prime)
    return TripleWitness(pair.x, pair.x_prime, output, p, q)


def _event(pair: Pair, codes: tuple[int, ...]) -> PairWitness:
    listed = pair.table.event(codes, pair.x)
    return EventWitness(pair.x, pair.x_prime, listed) if listed else PairWitness(pair.x, pair.x_prime)
