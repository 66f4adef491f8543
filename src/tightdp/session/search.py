"""From a compiled mechanism to results: each query tries the methods, enumerates pairs or datasets, and reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightdp.errors import LimitError
from tightdp.exact.enclosure import exp as exp_enclosure
from tightdp.exact.field import Number, exp
from tightdp.exact.lazily import lazily
from tightdp.exact.numbers import Exact, down, up
from tightdp.language.program import Dataset
from tightdp.logic.formula import WeightedFormula
from tightdp.methods import questions
from tightdp.methods.base import Comparison, Ratio, Summary, summary
from tightdp.methods.program import Method
from tightdp.methods.ranking import first_pair, first_ratio
from tightdp.methods.symmetry import Symmetry
from tightdp.queries import curves, declared
from tightdp.queries.curves import Profile
from tightdp.results.privacy import Curve, Delta, Privacy, Tradeoff
from tightdp.results.report import Structure
from tightdp.results.result import EventWitness, PairWitness, TripleWitness
from tightdp.session import numeric, strategies
from tightdp.session.engine import Engine, Outcome, Query
from tightdp.session.widened import widened

if TYPE_CHECKING:
    from tightdp.session import large, mixed
else:  # enclosures take numpy, which most questions do without
    large = lazily("tightdp.session.large")
    mixed = lazily("tightdp.session.mixed")

_DIGITS = 40
"""To how many digits e^ε is enclosed for δ at a rational ε."""
_LONGEST_EPSILON = 10_000
"""Up to such numerators and denominators of ε, δ at e^ε is computed exactly."""
_IN_ORDER = 16
"""Of so many of the largest ratios, the first triple in order is looked for."""
_SHORT = 30
"""To so many digits the two ends of an enclosed δ are rounded, outward."""


@widened
def tight_privacy(engine: Engine, top: int) -> Privacy:
    """Return the tight e^ε for δ = 0, and the `top` largest ratios."""
    if top == 1 and (known := numeric.tight_privacy(engine)) is not None:
        return known
    if top == 1 and engine.many and (seen := large.tight_privacy(engine)) is not None:
        return seen
    query = engine.query()
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
    return outcome.on(
        Privacy(
            subject=engine.subject,
            exp_epsilon=found.upper,
            lower=found.lower,
            witness=_triple(ratios),
            top=ratios,
        )
    )


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


def approximate_privacy(engine: Engine, delta: Number) -> Privacy:
    """Return the least e^ε >= 1 with δ(e^ε) <= delta."""
    if engine.bound.asks:
        return strategies.privacy_at(engine, delta)
    if (known := numeric.privacy_at(engine, delta)) is not None:
        return known
    if engine.many and (seen := large.privacy_at(engine, delta)) is not None:
        return seen
    if engine.many_outputs and (seen := mixed.privacy_at(engine, delta)) is not None:
        return seen
    return listed_privacy(engine, delta)


@widened
def listed_privacy(engine: Engine, delta: Number) -> Privacy:
    """Return the same by way of the laws of whole outputs."""
    query, method, pairs = compared(engine)
    with query.searching():
        least, pair = curves.least_ratio(query.control.pairs(pairs), delta, query.control.bounded("e^ε ≥"))
        if pair is not None and (query.control.stopped is None or least == math.inf):
            pair = first_pair(method, query.control, lambda p, q: curves.least_of(p, q, delta) == least) or pair
    upper, outcome = closed(engine, query, method, least, questions.ratio_bound(engine.program, pairs))
    witness = None if pair is None else PairWitness(pair.x, pair.x_prime)
    return outcome.on(Privacy(subject=engine.subject, exp_epsilon=upper, delta=delta, lower=least, witness=witness))


def compared(engine: Engine) -> tuple[Query, Method, Comparison]:
    """Return a query with the pairs of neighbours to compare."""
    query = engine.query()
    return query, *questions.comparison(engine.program, query.control)


@widened
def declared_privacy(
    engine: Engine, privacy_set: Iterable[Any], inference_set: Iterable[Any] | None, top: int
) -> Privacy:
    """Return the tight e^ε over a privacy set that the user declares. Raises QueryError where it is not sound."""
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
    upper, outcome = closed(engine, query, method, lower, engine.ratio_bound, ranked=top > 1)
    outcome = replace(outcome, stats=replace(outcome.stats, privacy_set=len(triples), inference_set=len(needed)))
    shown = tuple(ratios[:top])
    witness = _triple([ratio for ratio in shown[:1] if ratio.exp_epsilon == lower])
    return outcome.on(Privacy(subject=engine.subject, exp_epsilon=upper, lower=lower, witness=witness, top=shown))


def delta_at(engine: Engine, t: Number, epsilon: Fraction | None = None) -> Delta:
    """Return δ at t = e^ε, where `epsilon` is ε if that is what was asked."""
    if engine.bound.asks:
        return strategies.delta_between(engine, t, t, epsilon)
    if (known := numeric.delta_at(engine, t, epsilon)) is not None:
        return known
    if engine.many and (seen := large.delta_at(engine, t, epsilon)) is not None:
        return seen
    if engine.many_outputs and (seen := mixed.delta_at(engine, t, epsilon)) is not None:
        return seen
    return listed_delta(engine, t, epsilon)


@widened
def listed_delta(engine: Engine, t: Number, epsilon: Fraction | None) -> Delta:
    """Return the same by way of the laws of whole outputs."""
    profile, outcome = engine.profile()
    found, witness = _delta(engine, profile, t)
    upper, outcome = _delta_end(engine, t, found, outcome)
    return outcome.on(
        Delta(subject=engine.subject, delta=upper, lower=found, exp_epsilon=t, epsilon=epsilon, witness=witness)
    )


def _delta_end(engine: Engine, t: Number, lower: Number, outcome: Outcome) -> tuple[Number, Outcome]:
    """Return the upper end of δ(t) that a search found to be at least `lower`, and the common fields of a result.

    Where no likelihood ratio exceeds R, P(E) - t·P'(E) is at most P(E)·(1 - t/R).
    """
    if outcome.status == "exact":
        return lower, outcome
    bound = engine.profile_bound
    upper = Fraction(1) if isinstance(bound, float) else max(lower, 1 - t / bound)
    if upper == lower:
        return upper, outcome.exact
    return upper, outcome.bounded if upper < 1 else outcome


@widened
def delta_at_epsilon(engine: Engine, epsilon: Fraction) -> Delta:
    """Return δ at e^ε for a rational ε > 0: exactly, or an enclosure where ε is too long to compute with e^ε."""
    if max(epsilon.numerator, epsilon.denominator) <= _LONGEST_EPSILON:
        return delta_at(engine, exp(epsilon), epsilon)
    low, high = exp_enclosure(epsilon, _DIGITS)
    if engine.bound.asks:
        return strategies.delta_between(engine, low, high, epsilon)
    profile, outcome = engine.profile()
    (upper, _), (lower, witness) = _delta(engine, profile, low), _delta(engine, profile, high)
    upper, outcome = _delta_end(engine, low, upper, outcome)
    if lower == upper:
        outcome = outcome.exact
    else:
        outcome = outcome if outcome.status == "unresolved" else outcome.bounded
        lower, upper = down(lower, _SHORT), up(upper, _SHORT)
    return outcome.on(
        Delta(
            subject=engine.subject,
            delta=upper,
            lower=lower,
            exp_epsilon=(low, high),
            epsilon=epsilon,
            witness=witness,
        )
    )


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


def structure(engine: Engine, x: Dataset | None) -> Structure:
    """Return the plan of the tight ε, the symmetries, and the diagram on all datasets if it is not large; or on one."""
    query = engine.query()
    control, plan, symmetry = query.control, tuple[Summary, ...](), Symmetry(())
    formula: WeightedFormula | None
    if x is not None:
        name, formula = "exhaustive", engine.table_of(x, query).formula
    else:
        with query.searching():
            name = questions.tight(engine.program, control)[0].name
        plan = summary(control.plan.steps)
        formula = engine.program.moderate(control)
        symmetry = questions.every_symmetry(engine.program, control)[1]
    size = (0, 0) if formula is None else (len(formula.variables), formula.nodes)
    stats = query.stats(size, name, symmetry)
    return Structure(subject=engine.subject, formula=formula, symmetry=symmetry, stats=stats, plan=plan)


def _delta(engine: Engine, profile: Profile, t: Number) -> tuple[Number, EventWitness | None]:
    """Return δ(t) over some pairs of neighbours, and of those that attain it the first in order."""
    found = profile.delta(t)
    x, x_prime, event, method = found.x, found.x_prime, found.event, engine.profile_method
    if x is not None and method is not None:
        pair = first_pair(method, engine.control(), lambda p, q: curves.delta_of(p, q, t) == found.delta)
        if pair is not None:
            x, x_prime, event = pair.x, pair.x_prime, curves.event_of(pair, t)
    if x is None or x_prime is None or not event:
        return found.delta, None
    return found.delta, EventWitness(x, x_prime, event)
