"""From a compiled mechanism to results: each query compiles, goes through its set under watch, and reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tightdp.errors import LimitError
from tightdp.exact.enclosure import exp as exp_enclosure
from tightdp.exact.numbers import Exact
from tightdp.language.interp import target_value
from tightdp.language.program import Dataset
from tightdp.methods.chain_search import Found, largest_ratio
from tightdp.methods.factored import FactoredTable
from tightdp.methods.plan import Plan
from tightdp.methods.ratios import Ratio
from tightdp.queries import accuracy, curves, declared
from tightdp.queries.curves import Profile
from tightdp.queries.privacy import tight_ratio
from tightdp.results.answers import Accuracy, Distribution, in_order
from tightdp.results.privacy import Delta, Privacy, Renyi
from tightdp.results.result import EventWitness, PairWitness, TripleWitness
from tightdp.session.engine import Engine, Kept
from tightdp.session.monitor import Monitor
from tightdp.symmetry.sets import AccuracySet

_FEW_DATASETS = 1 << 14
"""Up to so many datasets, going through all of them replaces a search that had to be cut short."""
_DIGITS = 40
"""To how many digits e^ε is enclosed where δ is asked at a rational ε."""
_SHORT = 10**30
"""The denominator to which the two ends of an enclosed δ are rounded, outward."""


def tight_privacy(engine: Engine, top: int) -> Privacy:
    """Return the tight e^ε for δ = 0, and the `top` largest ratios."""
    monitor = engine.monitor()
    chain = engine.chain_plan(monitor) if top == 1 else None
    if chain is not None:
        found = _along_the_chain(engine, monitor, chain)
        if found is not None:
            return found
    plan = engine.plan(monitor)
    with monitor.searching():
        ratios = tight_ratio(plan.laws, monitor.compared(plan), top)
    if isinstance(plan.laws, FactoredTable):
        ratios = tuple(map(plan.laws.completed, ratios))
    best = ratios[0].exp_epsilon if ratios else Fraction(1)
    upper, kept = _closed(engine, monitor, plan, best, plan.ratio_bound, ranked=top > 1)
    return Privacy(exp_epsilon=upper, lower=best, witness=_triple(ratios), top=ratios, **kept)


def _closed(
    engine: Engine, monitor: Monitor, plan: Plan, lower: Exact, bound: Exact, ranked: bool = False
) -> tuple[Exact, Kept]:
    """Return the upper end of a value that a search found to be at least `lower`, and the common fields of a result.

    An interrupted search leaves the upper end to `bound`. With `ranked`, more than the largest value was asked for.
    """
    if monitor.stopped is None:
        return lower, engine.kept(monitor, plan)
    upper = max(lower, bound)
    return upper, engine.kept(monitor, plan, decided=upper == lower and not ranked, bounded=upper != math.inf)


def _along_the_chain(engine: Engine, monitor: Monitor, plan: Plan) -> Privacy | None:
    """Return the tight e^ε of a chain of client blocks; None where another way does better."""
    assert plan.chain is not None
    aggregates = engine.compiled(monitor).aggregate is not None
    with monitor.searching():
        found = largest_ratio(plan.chain, engine.bound, monitor.limits.watch, briefly=aggregates)
    if found.cut_short and (aggregates or plan.few_datasets(_FEW_DATASETS, monitor.limits.watch)):
        return None
    if found.reason is not None:
        monitor.stopped = found.reason
    ratios = () if found.found is None else (_ratio(plan, found.found),)
    monitor.counted(2 * len(ratios))
    kept = engine.kept(monitor, plan, decided=found.reason is None, bounded=found.upper != math.inf)
    return Privacy(exp_epsilon=found.upper, lower=found.lower, witness=_triple(ratios), top=ratios, **kept)


def _ratio(plan: Plan, found: Found) -> Ratio:
    """Return a witness with its probabilities, counted anew on the diagram."""
    output = plan.table.output(found.code)
    p, q = (plan.table.probability(x, output) for x in (found.x, found.x_prime))
    if (p / q if q else math.inf) != found.ratio:
        raise AssertionError("a witness does not have its ratio: a defect of the search")
    return Ratio(found.ratio, found.x, found.x_prime, output, p, q)


def _triple(ratios: Sequence[Ratio]) -> TripleWitness | None:
    if not ratios:
        return None
    found = ratios[0]
    return TripleWitness(found.x, found.x_prime, found.output, found.probability, found.probability_prime)


def approximate_privacy(engine: Engine, delta: Fraction) -> Privacy:
    """Return the least e^ε >= 1 with δ(e^ε) <= delta."""
    monitor = engine.monitor()
    plan = engine.plan(monitor)
    with monitor.searching():
        pairs = monitor.compared(plan)
        least, pair = curves.least_ratio(plan.laws, pairs, delta)
    upper, kept = _closed(engine, monitor, plan, least, plan.ratio_bound)
    witness = None if pair is None else PairWitness(*pair)
    return Privacy(exp_epsilon=upper, delta=delta, lower=least, witness=witness, **kept)


def declared_privacy(
    engine: Engine, privacy_set: Iterable[Any], inference_set: Iterable[Any] | None, top: int
) -> Privacy:
    """Return the tight e^ε over a privacy set that the user declares. Raises QueryError where it is not sound."""
    triples = declared.read_triples(engine.bound, privacy_set)
    needed = {(x, triple.output) for triple in triples for x in (triple.x, triple.x_prime)}
    if inference_set is not None:
        points = declared.read_points(engine.bound, inference_set)
        declared.check_inference_set(points, sorted(needed, key=str))
    monitor = engine.monitor()
    plan = engine.plan(monitor)
    ratios: list[Ratio] = []
    with monitor.searching():
        try:
            ratios = declared.ranked(plan.table, triples, monitor.limits.watch)
            declared.check_privacy_set(ratios, plan.every_ratio(monitor.limits.watch))
        except LimitError as error:
            monitor.stopped = error
    lower = max([Fraction(1), *(ratio.exp_epsilon for ratio in ratios)])
    upper, kept = _closed(engine, monitor, plan, lower, plan.ratio_bound, ranked=top > 1)
    kept["stats"] = replace(kept["stats"], privacy_set=len(triples), inference_set=len(needed))
    shown = tuple(ratios[:top])
    witness = _triple([ratio for ratio in shown[:1] if ratio.exp_epsilon == lower])
    return Privacy(exp_epsilon=upper, lower=lower, witness=witness, top=shown, **kept)


def declared_accuracy(
    engine: Engine, alpha: Fraction, accuracy_set: Iterable[Any], inference_set: Iterable[Any] | None, top: int
) -> Accuracy:
    """Return the tight 1 - β over an accuracy set that the user declares. Raises QueryError where it is not sound."""
    _check_target(engine)
    datasets = declared.read_datasets(engine.bound, accuracy_set)
    monitor = engine.monitor()
    plan = engine.plan(monitor)
    table = plan.table
    with monitor.searching():
        ours = AccuracySet(lambda: ((x, 1) for x in datasets), len(datasets))
        classes = accuracy.accuracy(table, monitor.inputs(table, ours), alpha)
        every = accuracy.accuracy(table, monitor.inputs(table, plan.accuracy_set(monitor.limits.watch)), alpha)
        if monitor.stopped is None:
            classes = declared.check_accuracy_set(classes, every, alpha)
            if inference_set is not None:
                points = declared.read_points(engine.bound, inference_set)
                declared.check_inference_set(points, declared.points_of(table, datasets, alpha))
    x, upper = (classes[0].x, classes[0].one_minus_beta) if classes else (None, Fraction(1))
    kept = engine.kept(monitor, plan)
    lower = upper if kept["status"] == "exact" else Fraction(0)
    kept["stats"] = replace(kept["stats"], accuracy_set=len(datasets))
    return Accuracy(
        alpha=alpha, one_minus_beta=lower, beta=1 - lower, x=x, top=classes[:top], lower=lower, upper=upper, **kept
    )


def delta_at(engine: Engine, t: Fraction) -> Delta:
    """Return δ at a rational t = e^ε."""
    profile, kept = engine.profile()
    found, witness = _delta(profile, t)
    upper, kept = _delta_end(engine, t, found, kept)
    return Delta(delta=upper, lower=found, exp_epsilon=t, witness=witness, **kept)


def _delta_end(engine: Engine, t: Fraction, lower: Fraction, kept: Kept) -> tuple[Fraction, Kept]:
    """Return the upper end of δ(t) that a search found to be at least `lower`, and the common fields of a result.

    Where no likelihood ratio exceeds R, P(E) - t·P'(E) is at most P(E)·(1 - t/R).
    """
    if kept["status"] == "exact":
        return lower, kept
    bound = engine.ratio_bound
    upper = max(lower, 1 - t / bound) if isinstance(bound, Fraction) else Fraction(1)
    if upper == lower:
        return upper, {**kept, "status": "exact", "reason": ""}
    return upper, {**kept, "status": "bounded"} if upper < 1 else kept


def delta_at_epsilon(engine: Engine, epsilon: Fraction) -> Delta:
    """Return an enclosure of δ at e^ε for a rational ε > 0."""
    low, high = exp_enclosure(epsilon, _DIGITS)
    profile, kept = engine.profile()
    (upper, _), (lower, witness) = _delta(profile, low), _delta(profile, high)
    upper, kept = _delta_end(engine, low, upper, kept)
    if lower == upper:
        kept = {**kept, "status": "exact", "reason": ""}
    else:
        kept = kept if kept["status"] == "unresolved" else {**kept, "status": "bounded"}
        lower, upper = Fraction(math.floor(lower * _SHORT), _SHORT), Fraction(math.ceil(upper * _SHORT), _SHORT)
    return Delta(delta=upper, lower=lower, exp_epsilon=(low, high), epsilon=epsilon, witness=witness, **kept)


def renyi_divergence(engine: Engine, order: int) -> Renyi:
    """Return the Rényi divergence of an integer order."""
    monitor = engine.monitor()
    plan = engine.plan(monitor)
    with monitor.searching():
        found = curves.renyi(plan.laws, monitor.compared(plan), order)
    witness = None if found.x is None or found.x_prime is None else PairWitness(found.x, found.x_prime)
    # Σ P (P/P')^(a-1) is at most the largest ratio to the power of a - 1.
    upper, kept = _closed(engine, monitor, plan, found.exp_moment, plan.ratio_bound ** (order - 1))
    return Renyi(order=order, exp_moment=upper, lower=found.exp_moment, witness=witness, **kept)


def accuracy_at(engine: Engine, alpha: Fraction, top: int) -> Accuracy:
    """Return the tight 1 - β at an error bound, and the `top` worst classes of datasets."""
    _check_target(engine)
    monitor = engine.monitor()
    plan = engine.plan(monitor)
    table, inputs = plan.table, plan.accuracy_set(monitor.limits.watch)
    with monitor.searching():
        classes = accuracy.accuracy(table, monitor.inputs(table, inputs), alpha)
    x, upper = (classes[0].x, classes[0].one_minus_beta) if classes else (None, Fraction(1))
    kept = engine.kept(monitor, plan)
    lower = upper if kept["status"] == "exact" else Fraction(0)
    return Accuracy(
        alpha=alpha, one_minus_beta=lower, beta=1 - lower, x=x, top=classes[:top], lower=lower, upper=upper, **kept
    )


def least_error(engine: Engine, beta: Fraction) -> Accuracy:
    """Return the least error bound that every dataset keeps with probability 1 - beta."""
    _check_target(engine)
    monitor = engine.monitor()
    plan = engine.plan(monitor)
    table, inputs = plan.table, plan.accuracy_set(monitor.limits.watch)
    with monitor.searching():
        alpha, x = accuracy.least_alpha(table, monitor.inputs(table, inputs), beta)
    kept = engine.kept(monitor, plan)
    upper = alpha if kept["status"] == "exact" else math.inf
    return Accuracy(alpha=upper, beta=beta, x=x, lower=alpha, upper=upper, **kept)


def output_law(engine: Engine, x: Dataset) -> Distribution:
    """Return the output law on one dataset."""
    monitor = engine.monitor()
    table = engine.table_of(x, monitor)
    monitor.look_at(table, x)
    return Distribution(x=x, law=in_order(table.law(x)), **engine.kept(monitor, Plan(engine.bound, table)))


def _delta(profile: Profile, t: Fraction) -> tuple[Fraction, EventWitness | None]:
    found = profile.delta(t)
    if found.x is None or found.x_prime is None or not found.event:
        return found.delta, None
    return found.delta, EventWitness(found.x, found.x_prime, found.event)


def _check_target(engine: Engine) -> None:
    """Complain of a missing target before anything is compiled."""
    target_value(engine.bound, (engine.bound.record.values[0],) * engine.bound.n)
