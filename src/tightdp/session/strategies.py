"""Questions about mechanisms that ask an analyst: the answer for the best strategy, and the strategy."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import SHORT, Exact, down, up
from tightdp.language.outputs import as_output
from tightdp.language.program import Bound
from tightdp.methods import questions
from tightdp.methods.base import Comparison, Pair
from tightdp.methods.program import Method
from tightdp.queries.strategies import multiplicity, path_of
from tightdp.results.privacy import Delta, DeltaAt, LeastRatio, Privacy, Renyi
from tightdp.results.result import ConversationWitness, PairWitness, StrategyWitness, TripleWitness
from tightdp.session.engine import Engine, Query

W = TypeVar("W")
R = TypeVar("R")


def told(bound: Bound, witness: W) -> W | ConversationWitness:
    """Return a witness with the strategy that leads to it, where its output is a conversation with an analyst."""
    if not bound.asks or not isinstance(witness, TripleWitness) or isinstance(witness, ConversationWitness):
        return witness
    times = multiplicity(witness.output)
    p, q = witness.probability * times, witness.probability_prime * times
    output, strategy = as_output(witness.output[0]), path_of(witness.output)
    return ConversationWitness(witness.x, witness.x_prime, output, p, q, strategy)


def with_strategy(bound: Bound, found: R) -> R:
    """Return the answer about a mechanism that asks an analyst with the strategy that leads to its witness."""
    return replace(found, witness=told(bound, found.witness)) if isinstance(found, Privacy) else found


def answer(engine: Engine, question: LeastRatio | DeltaAt) -> Privacy | Delta:
    """Return the answer to a question for the best strategy."""
    return _privacy_at(engine, question) if isinstance(question, LeastRatio) else _delta_at(engine, question)


def _privacy_at(engine: Engine, question: LeastRatio) -> Privacy:
    """Return the least e^ε >= 1 with which δ(e^ε) <= delta for every strategy."""
    query, method, pairs = _compared(engine)
    with query.searching():
        compared, knows = query.control.pairs(pairs), query.control.bounded("e^ε ≥")
        best, pair = engine.games.least_ratio(compared, question.delta, knows)
    upper: Exact = best if query.control.stopped is None else math.inf
    witness = None if pair is None else _witness(engine, pair, best)
    outcome = engine.outcome(query, method, decided=upper == best)
    return outcome.on(question.between(engine.subject, best, upper, witness))


def _delta_at(engine: Engine, question: DeltaAt) -> Delta:
    """Return δ at an e^ε for the best strategy."""
    low, high = question.low, question.high
    query, method, pairs = _compared(engine)
    found: Number = Fraction(0)
    upper: Number = Fraction(0)
    worst: Pair | None = None
    query.control.bounded("δ ≥")(lambda: found)
    with query.searching():
        for pair in query.control.pairs(pairs):
            value = engine.games.delta(pair, high)
            if value > found:
                found, worst = value, pair
            upper = max(upper, value if low == high else engine.games.delta(pair, low))
    if query.control.stopped is not None:
        upper = Fraction(1)
    outcome = engine.outcome(query, method, decided=upper == found)
    if upper != found and query.control.stopped is None:
        found, upper, outcome = down(found, SHORT), up(upper, SHORT), outcome.bounded
    witness = None if worst is None else _witness(engine, worst, high)
    return outcome.on(question.between(engine.subject, found, upper, witness))


def renyi_divergence(engine: Engine, order: Fraction) -> Renyi:
    """Return the largest Rényi moment of an integer order. Raises QueryError for other orders."""
    if order.denominator != 1:
        what = "with an analyst who adapts, Rényi divergences are known for integer orders"
        raise QueryError(what, f"ask for the orders {math.floor(order)} and {math.ceil(order)}")
    query, method, pairs = _compared(engine)
    best: Exact = Fraction(1)
    worst: Pair | None = None
    query.control.bounded("exp((a-1)·D) ≥")(lambda: best)
    with query.searching():
        for pair in query.control.pairs(pairs):
            value = engine.games.moment(pair, order.numerator)
            if value > best:
                best, worst = value, pair
    upper = best if query.control.stopped is None else math.inf
    witness = None if worst is None else PairWitness(worst.x, worst.x_prime)
    outcome = engine.outcome(query, method, decided=upper == best)
    return outcome.on(
        Renyi(subject=engine.subject, order=order.numerator, exp_moment=upper, lower=best, witness=witness)
    )


def _compared(engine: Engine) -> tuple[Query, Method, Comparison]:
    query = engine.query()
    return query, *questions.comparison(engine.program, query.control)


def _witness(engine: Engine, pair: Pair, t: Exact) -> StrategyWitness:
    """Return the strategy of a pair that is best at an e^ε, and the outcomes that are more likely than that on x."""
    strategy, event = engine.games.of(pair).strategy(engine.games.excess(pair, t)[0])
    return StrategyWitness(pair.x, pair.x_prime, event, strategy)


def refusal(name: str) -> QueryError:
    """Return the error for a question that has no answer while the strategy of the analyst is open."""
    hint = "give strategy=f (on the command line --strategy NAME), a function of history and choices"
    return QueryError(f"{name} depends on what the analyst asks, and the mechanism leaves that open", hint)
