"""Questions about mechanisms that ask an analyst: the answer for the best strategy, and the strategy."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from tightdp.errors import QueryError
from tightdp.exact.numbers import Exact
from tightdp.language.outputs import as_output
from tightdp.language.program import Bound
from tightdp.methods.base import Pair
from tightdp.queries.strategies import multiplicity, path_of
from tightdp.results.privacy import Privacy
from tightdp.results.result import ConversationWitness, StrategyWitness, TripleWitness
from tightdp.session.engine import Engine

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


def witness(engine: Engine, pair: Pair, t: Exact) -> StrategyWitness:
    """Return the strategy of a pair that is best at an e^ε, and the outcomes that are more likely than that on x."""
    strategy, event = engine.games.of(pair).strategy(engine.games.excess(pair, t)[0])
    return StrategyWitness(pair.x, pair.x_prime, event, strategy)


def refusal(name: str) -> QueryError:
    """Return the error for a question that has no answer while the strategy of the analyst is open."""
    hint = "give strategy=f (on the command line --strategy NAME), a function of history and choices"
    return QueryError(f"{name} depends on what the analyst asks, and the mechanism leaves that open", hint)
