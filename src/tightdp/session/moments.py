"""Rényi divergences, zero-concentrated DP, and the privacy loss, over all pairs of neighbours."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from tightdp.errors import LimitError
from tightdp.exact.numbers import Exact, up
from tightdp.language.neighbours import DIRECTIONS
from tightdp.methods import questions
from tightdp.methods.program import Method
from tightdp.methods.ranking import first_alike, first_pair
from tightdp.queries import powers
from tightdp.queries.composition.loss import Direction, Losses, direction_below, direction_of
from tightdp.queries.powers import ExactLaws, Found, Question
from tightdp.results.privacy import Renyi, Zcdp
from tightdp.results.privacy_loss import PrivacyLoss, status_of
from tightdp.results.result import PairWitness, Stats
from tightdp.session import strategies
from tightdp.session.engine import Engine, Outcome, Query
from tightdp.session.search import compared, tight_privacy


def renyi_divergence(engine: Engine, order: Fraction | float) -> Renyi:
    """Return the Rényi divergence of a rational order > 1, or of the order infinity, which is pure DP."""
    if isinstance(order, float):
        pure = tight_privacy(engine)
        return Renyi(
            subject=engine.subject, order=order, exp_moment=pure.upper, lower=pure.lower, witness=pure.witness,
            status=pure.status, stats=pure.stats, reason=pure.reason, hint=pure.hint,
        )  # fmt: skip
    if engine.bound.asks:
        return strategies.renyi_divergence(engine, order)
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
        found = powers.concentrated(query.control.pairs(pairs), error, lambda: tight_privacy(engine).upper, reached)
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


def privacy_loss(engine: Engine) -> PrivacyLoss:
    """Return the privacy loss. Raises LimitError where a limit is met before anything bounds it."""
    found = [(*_direction(name, one), _error(one)) for name, one in _engines(engine)]
    stats = sum((stats for _, stats, _ in found[1:]), found[0][1])
    losses = Losses(tuple(direction for direction, _, _ in found if direction is not None))
    error = max(each for _, _, each in found)
    return PrivacyLoss(
        subject=engine.subject,
        status=status_of(losses, error),
        stats=stats,
        losses=losses,
        error=error,
        precision=engine.precision,
    )


def _error(engine: Engine) -> Fraction:
    """Return how far the probabilities of an event, once it was compiled, may be from the true ones."""
    known = engine.program.inexact
    return Fraction(0) if known is None else up(known.total)


def _engines(engine: Engine) -> list[tuple[str, Engine]]:
    """Return what searches each direction of change."""
    if engine.subject.neighbours != "add-remove":
        return [(engine.subject.neighbours, engine)]
    result = []
    for name in DIRECTIONS:
        bound = replace(engine.bound, neighbours=name)
        one = Engine(bound, engine.backend, engine.timeout, engine.max_nodes, engine.max_memory, engine.program.forced)
        one.progress = engine.progress
        result.append((name, one))
    return result


def _direction(name: str, engine: Engine) -> tuple[Direction | None, Stats]:
    found, outcome = engine.profile()
    if outcome.status != "exact":
        bound = engine.profile_bound
        if isinstance(bound, float):
            raise LimitError(outcome.reason, outcome.hint or "use fewer records, or allow more time")
        return direction_below(name, found, bound), outcome.stats
    query = engine.query()
    _, pairs = questions.comparison(engine.program, query.control)
    direction = direction_of(name, found, lambda: query.control.pairs(pairs))
    if query.control.stopped is not None:
        raise query.control.stopped
    return direction, outcome.stats
