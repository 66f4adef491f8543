"""Answers about published noise on all integers, whose laws are sums of exponentials (`cells`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product

from tightdp.cells import measures
from tightdp.cells.comparing import Comparing, Largest
from tightdp.cells.laws import CellLaws
from tightdp.cells.suprema import TooLong
from tightdp.cells.symbols import Outside
from tightdp.exact.field import Number
from tightdp.language.interp import target_of
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Dataset, Output
from tightdp.methods.symmetry import Symmetry
from tightdp.queries.accuracy import AccuracyClass
from tightdp.queries.nearness import AccuracyAt, LeastError
from tightdp.results.answers import Accuracy
from tightdp.results.privacy import Delta, Privacy
from tightdp.results.result import LimitWitness, PairWitness, TripleWitness
from tightdp.session.engine import Engine, Outcome, Query

__all__ = ["accuracy", "delta_at", "expected_errors", "outcome_of", "privacy_at", "probability", "tight_privacy"]

_METHOD = "cells"


def tight_privacy(engine: Engine) -> Privacy | None:
    """Return the tight e^ε, None for programs that are answered in another way."""
    query = engine.query()
    laws = engine.program.cells(query.control)
    if laws is None:
        return None
    with query.searching():
        found = laws.largest(_pairs(engine, query))
    value = laws.laws.one if found is None else found.value
    infinite = value == math.inf
    lower = math.inf if infinite else laws.laws.number(value)
    witness = None if found is None else _witness(laws, found)
    known = Privacy(subject=engine.subject, exp_epsilon=lower, lower=lower, witness=witness)
    if infinite or (laws.upper != math.inf and laws.upper <= value):
        return outcome_of(query).on(known)
    upper = math.inf if laws.upper == math.inf else laws.laws.number(laws.upper)
    return outcome_of(query).bounded.on(replace(known, exp_epsilon=upper))


def privacy_at(engine: Engine, delta: Number) -> Privacy | None:
    """Return the least e^ε >= 1 with δ(e^ε) <= delta, None for programs that are answered in another way."""
    query = engine.query()
    laws = engine.program.cells(query.control)
    if laws is None or not laws.laws.fits(delta):
        return None
    with query.searching():
        try:
            value, pair = laws.least(_pairs(engine, query), laws.laws.exact(delta))
        except TooLong:
            return None
    least = value if value == math.inf else laws.laws.number(value)
    witness = None if pair is None else PairWitness(*pair)
    return outcome_of(query).on(
        Privacy(subject=engine.subject, exp_epsilon=least, delta=delta, lower=least, witness=witness)
    )


def delta_at(engine: Engine, t: Number, epsilon: Fraction | None) -> Delta | None:
    """Return δ at t = e^ε, None for programs that are answered in another way."""
    query = engine.query()
    laws = engine.program.cells(query.control)
    if laws is None or not laws.laws.fits(t):
        return None
    with query.searching():
        try:
            value, pair = laws.delta(_pairs(engine, query), laws.laws.exact(t))
        except TooLong:
            return None
    found = laws.laws.number(value)
    witness = None if pair is None else PairWitness(*pair)
    return outcome_of(query).on(
        Delta(subject=engine.subject, delta=found, lower=found, exp_epsilon=t, epsilon=epsilon, witness=witness)
    )


def probability(engine: Engine, x: Dataset, y: Output) -> Number | None:
    """Return the probability of an output, None for programs that are answered in another way."""
    laws = engine.program.cells(engine.control())
    return None if laws is None else laws.laws.number(laws.laws.probability(x, y))


def accuracy(engine: Engine, question: AccuracyAt | LeastError) -> Accuracy | None:
    """Return the tight 1 - β at an error bound, or the least one for a β, over all datasets.

    None for programs that are answered in another way.
    """
    query = engine.query()
    laws = engine.program.cells(query.control)
    if laws is None or not _applies(question, laws.laws):
        return None
    with query.searching(), suppress(Outside):
        targets: dict[Dataset, int | Fraction] = {}
        for x in _datasets(engine, query):
            target = target_of(engine.bound, x)
            if not isinstance(target, (int, Fraction)):
                return None
            targets[x] = target
        if isinstance(question, AccuracyAt):
            classes = _classes(laws.laws, targets, question)
            x, value = classes[0].x, classes[0].one_minus_beta
            found = Accuracy.between(engine.subject, question, value, value, x, classes[: question.top])
        else:
            least = {x: _least_error(laws.laws, x, target, question) for x, target in targets.items()}
            x = max(least, key=lambda x: least[x])
            found = Accuracy.least(engine.subject, question, least[x], least[x], x)
        return outcome_of(query).on(found)
    return None


def _applies(question: AccuracyAt | LeastError, laws: CellLaws) -> bool:
    if isinstance(question, AccuracyAt):
        return isinstance(question.alpha, Fraction) and question.alpha >= 0
    return laws.fits(question.beta) and 0 < question.beta < 1


def _classes(laws: CellLaws, targets: dict[Dataset, int | Fraction], question: AccuracyAt) -> tuple[AccuracyClass, ...]:
    """Return the datasets of equal accuracy, worst first."""
    alike: dict[Number, list[Dataset]] = {}
    for x, target in targets.items():
        low, high = question.within(target)
        assert isinstance(low, Fraction)
        assert isinstance(high, Fraction)
        alike.setdefault(laws.number(measures.within(laws, x, low, high)), []).append(x)
    return tuple(AccuracyClass(alike[value][0], value, len(alike[value])) for value in sorted(alike))


def _least_error(laws: CellLaws, x: Dataset, target: int | Fraction, question: LeastError) -> Number:
    return measures.least_error(laws, x, Fraction(target), laws.exact(question.beta)) / question.unit(target)


def expected_errors(engine: Engine, query: Query, x: Dataset, target: Output) -> dict[int, Number] | None:
    """Return the expectations of |output - target|^k for k = 0, 1, 2, where 0 stands for another output than it.

    None for programs that are answered in another way.
    """
    laws = engine.program.cells(query.control)
    if laws is None or not isinstance(target, (int, Fraction)):
        return None
    with suppress(Outside):
        wrong = 1 - laws.laws.probability(x, target)
        means = [measures.expected_error(laws.laws, x, Fraction(target), power) for power in (1, 2)]
        return {power: laws.laws.number(value) for power, value in enumerate((wrong, *means))}
    return None


def _datasets(engine: Engine, query: Query) -> Iterator[Dataset]:
    for x in product(engine.bound.record.values, repeat=engine.bound.n):
        query.control()
        yield x


def _pairs(engine: Engine, query: Query) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield all pairs of neighbours, and count them."""
    relation = relation_of(engine.bound)
    for x in _datasets(engine, query):
        for x_prime in relation.neighbours(x):
            query.control.privacy_set += 1
            yield x, x_prime


def outcome_of(query: Query) -> Outcome:
    """Return the common fields of such an answer."""
    return Outcome("exact", "", query.stats((0, 0), _METHOD, Symmetry(())))


def _witness(laws: Comparing, found: Largest) -> PairWitness:
    output = found.label.output(found.start)
    if not found.attained:
        return LimitWitness(found.x, found.x_prime, output, found.label.direction(found.moved))

    def probability(x: Dataset) -> Number:
        return laws.laws.number(laws.laws.probability(x, output))

    return TripleWitness(found.x, found.x_prime, output, probability(found.x), probability(found.x_prime))
