"""Rényi divergences, and zero-concentrated DP: moments of the likelihood ratio, over all pairs of neighbours."""

from __future__ import annotations

import math
from fractions import Fraction

from tightdp.exact.numbers import Exact
from tightdp.methods import questions
from tightdp.methods.base import Pair
from tightdp.methods.first import first_alike, first_pair
from tightdp.methods.program import Method
from tightdp.queries import curves, divergences
from tightdp.results.privacy import Renyi, Zcdp
from tightdp.results.result import PairWitness
from tightdp.session import widened as widening
from tightdp.session.engine import Engine, Outcome, Query
from tightdp.session.search import closed, compared, tight_privacy


def renyi_divergence(engine: Engine, order: Fraction | float) -> Renyi:
    """Return the Rényi divergence of a rational order > 1, or of the order infinity, which is pure DP."""
    if isinstance(order, float):
        pure = tight_privacy(engine, 1)
        return Renyi(
            subject=engine.subject, order=order, exp_moment=pure.upper, lower=pure.lower, witness=pure.witness,
            status=pure.status, stats=pure.stats, reason=pure.reason, hint=pure.hint,
        )  # fmt: skip
    if error := widening.inexact_after(engine):
        return widening.renyi(engine, error, order)
    if order.denominator > 1:
        return _enclosed_renyi(engine, order)
    return _whole_renyi(engine, order.numerator)


def _enclosed_renyi(engine: Engine, order: Fraction) -> Renyi:
    query, method, pairs = compared(engine)
    with query.searching():
        found = divergences.renyi_of_order(query.control.pairs(pairs), order, query.control.bounded("exp((a-1)·D_a) ≥"))
    upper, witness, outcome = _divergence(engine, query, method, found.lower, found.upper, found.pair)
    return outcome.on(Renyi(subject=engine.subject, order=order, exp_moment=upper, lower=found.lower, witness=witness))


def _divergence(
    engine: Engine, query: Query, method: Method, lower: Exact, upper: Exact, pair: Pair | None
) -> tuple[Exact, PairWitness | None, Outcome]:
    """Return the upper end of a divergence that was enclosed, the first witness, and the common fields of a result."""
    outcome = engine.outcome(query, method)
    if query.control.stopped is not None:
        upper = math.inf
    elif lower != upper:
        outcome = outcome.bounded
    return upper, _first_alike(query, method, pair), outcome


def _first_alike(query: Query, method: Method, pair: Pair | None) -> PairWitness | None:
    """Return the first pair in order whose two laws are, output by output, those of a pair that a search found."""
    if pair is not None and query.control.stopped is None:
        pair = first_alike(method, query.control, pair)
    return None if pair is None else PairWitness(pair.x, pair.x_prime)


def concentrated(engine: Engine) -> Zcdp:
    """Return the least ρ of zero-concentrated DP over all orders and neighbours, enclosed."""
    if error := widening.inexact_after(engine):
        return widening.concentrated(engine, error, tight_privacy(engine, 1).upper)
    query, method, pairs = compared(engine)

    def reached(done: int, total: int, lower: Fraction) -> None:
        query.control.bounded("ρ ≥")(lambda: lower)
        query.control.tell("going through orders", done, total)

    with query.searching():
        found = divergences.concentrated(query.control.pairs(pairs), reached)
    upper, witness, outcome = _divergence(engine, query, method, found.lower, found.upper, found.pair)
    return outcome.on(Zcdp(subject=engine.subject, rho=upper, lower=found.lower, order=found.order, witness=witness))


def _whole_renyi(engine: Engine, order: int) -> Renyi:
    query, method, pairs = compared(engine)
    with query.searching():
        found = curves.renyi(query.control.pairs(pairs), order, query.control.bounded("exp((a-1)·D_a) ≥"))
        pair = None
        if found.x is not None and query.control.stopped is None:
            moment = found.exp_moment
            pair = first_pair(method, query.control, lambda p, q: curves.moment_of(p, q, order) == moment)
    x, x_prime = (found.x, found.x_prime) if pair is None else (pair.x, pair.x_prime)
    witness = None if x is None or x_prime is None else PairWitness(x, x_prime)
    # Σ P (P/P')^(a-1) is at most the largest ratio to the power of a - 1.
    bound = questions.ratio_bound(engine.program, pairs) ** (order - 1)
    upper, outcome = closed(engine, query, method, found.exp_moment, bound)
    return outcome.on(
        Renyi(subject=engine.subject, order=order, exp_moment=upper, lower=found.exp_moment, witness=witness)
    )
