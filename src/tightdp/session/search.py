"""From a compiled mechanism to results: each query tries the methods, enumerates pairs or datasets, and reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightdp.errors import LimitError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.lazily import lazily
from tightdp.exact.numbers import SHORT, Exact, down, up
from tightdp.methods import questions
from tightdp.methods.base import Comparison, Pair, Ratio
from tightdp.methods.program import Method
from tightdp.methods.ranking import first_pair, first_ratio
from tightdp.queries import curves, declared
from tightdp.queries.measures import AccuracyAt, LeastError
from tightdp.results.privacy import Curve, Delta, DeltaAt, LeastRatio, Privacy, TightRatio, Tradeoff
from tightdp.results.result import EventWitness, PairWitness, Result, TripleWitness
from tightdp.session import accuracy
from tightdp.session.engine import AskedNumber, Engine, Outcome, Query
from tightdp.session.widened import widened

if TYPE_CHECKING:
    from tightdp.session import large, mixed, numeric, strategies
else:  # enclosures take numpy, which most questions do without
    numeric, strategies = lazily("tightdp.session.numeric"), lazily("tightdp.session.strategies")
    large = lazily("tightdp.session.large")
    mixed = lazily("tightdp.session.mixed")

_IN_ORDER = 16
"""Of so many of the largest ratios, the first triple in order is looked for."""
_NONE = Fraction(0)


def answer(engine: Engine, question: AskedNumber) -> Any:
    """Return the answer to a question: by a way that lists no laws where there is one, else from the laws."""
    if isinstance(question, AccuracyAt | LeastError):
        accuracy.check_target(engine)
    if engine.bound.asks and isinstance(question, LeastRatio | DeltaAt):
        return strategies.answer(engine, question)
    if (known := _elsewhere(engine, question)) is not None:
        return known
    match question:
        case TightRatio():
            return compared_ratios(engine, question)
        case LeastRatio():
            return listed_privacy(engine, question)
        case DeltaAt():
            return listed_delta(engine, question)
    return accuracy.listed_accuracy(engine, question)


def _elsewhere(engine: Engine, question: AskedNumber) -> Result | None:
    known: Result | None = None
    if engine.program.cells(engine.control()) is not None:
        known = numeric.answer(engine, question)
    if known is None and engine.many:
        known = large.answer(engine, question)
    if known is None and isinstance(question, LeastRatio | DeltaAt) and engine.many_outputs:
        known = mixed.answer(engine, question)
    return known


def tight_privacy(engine: Engine, delta: Number = _NONE) -> Privacy:
    """Return the tight e^ε at δ: for δ > 0 the least e^ε >= 1 with δ(e^ε) <= delta."""
    found: Privacy = answer(engine, LeastRatio(delta) if delta else TightRatio())
    return found


@widened
def compared_ratios(engine: Engine, question: TightRatio) -> Privacy:
    """Return the tight e^ε for δ = 0, and the largest ratios, from all likelihood ratios."""
    query, top = engine.query(), question.top
    control = query.control
    if top == 1:
        with query.searching():
            method, found = questions.tight(engine.program, control)
        ratios: tuple[Ratio, ...] = () if found.witness is None else (found.witness,)
    else:
        method, pairs = questions.comparison(engine.program, control)
        with query.searching():
            ratios, found = questions.ranked(engine.program, control, pairs, top)
            if control.stopped is None:
                shown = [first_ratio(method, control, ratio.exp_epsilon, ratio) for ratio in ratios[:_IN_ORDER]]
                ratios = (*(ratio for ratio in shown if ratio is not None), *ratios[_IN_ORDER:])
    control.stopped = found.reason
    decided = found.upper == found.lower
    outcome = engine.outcome(query, method, decided, bounded=found.upper != math.inf)
    if top > 1 and decided and found.reason is not None:
        outcome = replace(outcome, reason=f"the ranking may miss ratios: {found.reason.what}", hint=found.reason.hint)
    return outcome.on(question.between(engine.subject, found.lower, found.upper, _triple(ratios), ratios))


def closed(
    engine: Engine, query: Query, method: Method, lower: Exact, bound: Exact, ranked: bool = False
) -> tuple[Exact, Outcome]:
    """Return the upper end of a value that a search found to be at least `lower`, and the common fields of a result.

    An interrupted search leaves the upper end to `bound`. With `ranked`, more than the largest value was asked for.
    """
    if query.control.stopped is None:
        return lower, engine.outcome(query, method)
    upper = max(lower, bound)
    decided = upper == lower and not ranked
    return upper, engine.outcome(query, method, decided=decided, bounded=upper != math.inf)


def _triple(ratios: Sequence[Ratio]) -> TripleWitness | None:
    if not ratios:
        return None
    found = ratios[0]
    return TripleWitness(found.x, found.x_prime, found.output, found.probability, found.probability_prime)


@widened
def listed_privacy(engine: Engine, question: LeastRatio) -> Privacy:
    """Return the least e^ε >= 1 at a δ by way of the laws of whole outputs."""
    delta = question.delta
    query, method, pairs = compared(engine)
    with query.searching():
        least, pair = curves.least_ratio(query.control.pairs(pairs), delta, query.control.bounded("e^ε ≥"))
        if pair is not None and (query.control.stopped is None or least == math.inf):
            pair = first_pair(method, query.control, lambda p, q: curves.least_of(p, q, delta) == least) or pair
    upper, outcome = closed(engine, query, method, least, questions.ratio_bound(engine.program, pairs))
    witness = None if pair is None else PairWitness(pair.x, pair.x_prime)
    return outcome.on(question.between(engine.subject, least, upper, witness))


def compared(engine: Engine) -> tuple[Query, Method, Comparison]:
    """Return a query with the pairs of neighbours to compare."""
    query = engine.query()
    return query, *questions.comparison(engine.program, query.control)


@widened
def declared_privacy(
    engine: Engine, question: TightRatio | LeastRatio, privacy_set: Iterable[Any], inference_set: Iterable[Any] | None
) -> Privacy:
    """Return the tight e^ε over a privacy set that the user declares. Raises QueryError where it is not sound."""
    if isinstance(question, LeastRatio):
        raise QueryError("a privacy set of triples decides delta = 0 only", "leave out privacy_set, or delta")
    triples = declared.read_triples(engine.bound, privacy_set)
    needed = {(x, triple.output) for triple in triples for x in (triple.x, triple.x_prime)}
    if inference_set is not None:
        points = declared.read_points(engine.bound, inference_set)
        declared.check_inference_set(points, sorted(needed, key=str))
    query = engine.query()
    method, table = questions.laws(engine.program, query.control)
    ratios: list[Ratio] = []
    with query.searching():
        try:
            ratios = declared.ranked(table, triples, query.control)
            declared.check_privacy_set(ratios, questions.every_ratio(engine.program, query.control))
        except LimitError as error:
            query.control.stopped = error
    lower = max([Fraction(1), *(ratio.exp_epsilon for ratio in ratios)])
    upper, outcome = closed(engine, query, method, lower, engine.ratio_bound, ranked=question.top > 1)
    outcome = replace(outcome, stats=replace(outcome.stats, privacy_set=len(triples), inference_set=len(needed)))
    shown = tuple(ratios[: question.top])
    witness = _triple([ratio for ratio in shown[:1] if ratio.exp_epsilon == lower])
    return outcome.on(question.between(engine.subject, lower, upper, witness, shown))


@widened
def listed_delta(engine: Engine, question: DeltaAt) -> Delta:
    """Return δ at an e^ε by way of the laws of whole outputs; an enclosure where e^ε is enclosed."""
    query, method, pairs = compared(engine)
    ts = list(dict.fromkeys((question.high, question.low)))
    with query.searching():
        found = curves.largest_deltas(query.control.pairs(pairs), ts, query.control.bounded("δ ≥"))
        (lower, pair), (most, _) = found[0], found[-1]
        witness = None if pair is None else _witness(query, method, pair, question.high, lower)
    outcome = engine.outcome(query, method)
    upper, outcome = _delta_end(engine, pairs, question.low, most, outcome)
    if lower == upper:
        outcome = outcome.exact
    elif lower != most:
        outcome = outcome if outcome.status == "unresolved" else outcome.bounded
        lower, upper = down(lower, SHORT), up(upper, SHORT)
    return outcome.on(question.between(engine.subject, lower, upper, witness))


def _delta_end(engine: Engine, pairs: Comparison, t: Number, lower: Number, outcome: Outcome) -> tuple[Number, Outcome]:
    """Return the upper end of δ(t) that a search found to be at least `lower`, and the common fields of a result.

    Where no likelihood ratio exceeds R, P(E) - t·P'(E) is at most P(E)·(1 - t/R).
    """
    if outcome.status == "exact":
        return lower, outcome
    bound = questions.ratio_bound(engine.program, pairs)
    upper = Fraction(1) if isinstance(bound, float) else max(lower, 1 - t / bound)
    if upper == lower:
        return upper, outcome.exact
    return upper, outcome.bounded if upper < 1 else outcome


def _witness(query: Query, method: Method, pair: Pair, t: Number, delta: Number) -> EventWitness | None:
    """Return the first pair in order that has a δ(t), where that is found, and its event, where that can be listed."""
    pair = first_pair(method, query.control, lambda p, q: curves.delta_of(p, q, t) == delta) or pair
    event = curves.event_of(pair, t)
    return EventWitness(pair.x, pair.x_prime, event) if event else None


@widened
def curve(engine: Engine) -> Curve:
    """Return the privacy curve as its break points."""
    if (known := numeric.curve(engine)) is not None:
        return known
    profile, outcome = engine.profile()
    return outcome.on(Curve(subject=engine.subject, points=profile.breakpoints()))


@widened
def tradeoff(engine: Engine) -> Tradeoff:
    """Return the trade-off function as its vertices."""
    profile, outcome = engine.profile()
    return outcome.on(Tradeoff(subject=engine.subject, vertices=profile.vertices()))
