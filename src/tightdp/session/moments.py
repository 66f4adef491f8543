"""Rényi divergences, and zero-concentrated DP: power sums of two laws, over all pairs of neighbours."""

from __future__ import annotations

import math
from fractions import Fraction

from tightdp.exact.numbers import Exact
from tightdp.methods import questions
from tightdp.methods.first import first_alike, first_pair
from tightdp.methods.program import Method
from tightdp.queries import powers
from tightdp.queries.powers import ExactLaws, Found, Question
from tightdp.results.privacy import Renyi, Zcdp
from tightdp.results.result import PairWitness
from tightdp.session.engine import Engine, Outcome, Query
from tightdp.session.search import compared, tight_privacy

__all__ = ["concentrated", "largest", "renyi_divergence"]


def renyi_divergence(engine: Engine, order: Fraction | float) -> Renyi:
    """Return the Rényi divergence of a rational order > 1, or of the order infinity, which is pure DP."""
    if isinstance(order, float):
        pure = tight_privacy(engine, 1)
        return Renyi(
            subject=engine.subject, order=order, exp_moment=pure.upper, lower=pure.lower, witness=pure.witness,
            status=pure.status, stats=pure.stats, reason=pure.reason, hint=pure.hint,
        )  # fmt: skip
    lower, upper, witness, outcome = largest(engine, powers.Renyi(order))
    shown = order.numerator if order.denominator == 1 else order
    return outcome.on(Renyi(subject=engine.subject, order=shown, exp_moment=upper, lower=lower, witness=witness))


def largest(engine: Engine, question: Question) -> tuple[Exact, Exact, PairWitness | None, Outcome]:
    """Return both ends of the largest value over all neighbours, who have it, and the common fields of a result."""
    query, method, pairs = compared(engine)
    with query.searching():
        error = engine.program.inexact
        found = powers.largest(query.control.pairs(pairs), question, error, query.control.bounded(question.side))
        bound = math.inf if error is not None else question.bound(questions.ratio_bound(engine.program, pairs))
        return _ended(engine, query, method, found, bound, question)


def concentrated(engine: Engine) -> Zcdp:
    """Return the least ρ of zero-concentrated DP over all orders and neighbours, enclosed."""
    query, method, pairs = compared(engine)

    def reached(done: int, total: int, lower: Fraction) -> None:
        query.control.bounded("ρ ≥")(lambda: lower)
        query.control.tell("going through orders", done, total)

    with query.searching():
        error = engine.program.inexact
        found = powers.concentrated(query.control.pairs(pairs), error, lambda: tight_privacy(engine, 1).upper, reached)
        lower, upper, witness, outcome = _ended(engine, query, method, found, math.inf, None)
    return outcome.on(Zcdp(subject=engine.subject, rho=upper, lower=lower, order=found.order, witness=witness))


def _ended(
    engine: Engine, query: Query, method: Method, found: Found, bound: Exact, question: Question | None
) -> tuple[Exact, Exact, PairWitness | None, Outcome]:
    """Return both ends of a value that was searched for, the first witness, and the common fields of a result."""
    pair, stopped, exact = found.pair, query.control.stopped is not None, engine.program.inexact is None
    upper = max(found.lower, bound) if stopped else found.upper
    if pair is not None and not stopped and exact:
        if question is not None and found.lower == found.upper:
            ends = found.lower, found.upper
            pair = first_pair(method, query.control, lambda *laws: question.ends(ExactLaws(*laws)) == ends) or pair
        else:
            pair = first_alike(method, query.control, pair)
    decided = found.lower == upper
    outcome = engine.outcome(query, method, decided=decided, bounded=upper != math.inf)
    if not decided and not stopped:
        outcome = outcome.bounded
    return found.lower, upper, None if pair is None else PairWitness(pair.x, pair.x_prime), outcome
