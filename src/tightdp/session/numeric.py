"""Answers about published noise on all integers, whose laws are sums of exponentials (`cells`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

from tightdp.cells.comparing import Comparing, Largest
from tightdp.cells.suprema import TooLong
from tightdp.exact.field import Number
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Dataset, Output
from tightdp.methods.symmetry import Symmetry
from tightdp.results.privacy import Delta, Privacy
from tightdp.results.result import LimitWitness, PairWitness, TripleWitness
from tightdp.session.engine import Engine, Outcome, Query

__all__ = ["datasets_of", "delta_at", "outcome_of", "privacy_at", "probability", "tight_privacy"]

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


def datasets_of(engine: Engine, query: Query) -> Iterator[Dataset]:
    """Yield all datasets."""
    for x in product(engine.bound.record.values, repeat=engine.bound.n):
        query.control()
        yield x


def _pairs(engine: Engine, query: Query) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield all pairs of neighbours, and count them."""
    relation = relation_of(engine.bound)
    for x in datasets_of(engine, query):
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
