"""From a compiled mechanism to results: each query tries the methods, enumerates pairs or datasets, and reports.

Claims are decided here too: the tight value is compared with what is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tightdp.errors import LimitError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import SHORT, Exact, as_text, compare_log, exponent_of, log, log_down, log_up, outward
from tightdp.exact.weights import as_exact
from tightdp.language.program import Dataset
from tightdp.limits import snapshot
from tightdp.methods import questions
from tightdp.methods.base import Comparison, Pair, Ratio, Sought, summary
from tightdp.methods.compiled import TooLarge, at_most
from tightdp.methods.program import Method
from tightdp.methods.ranking import first_alike, first_pair, first_ratio
from tightdp.methods.symmetry import Symmetry
from tightdp.queries import curves, declared, laws
from tightdp.queries.laws import ExactLaws, Found
from tightdp.queries.measures import AccuracyAt, LeastError
from tightdp.queries.privacy import DeltaAt, LeastRatio, Question, RenyiAt, TightRatio, TwoLaws
from tightdp.results.answers import Accuracy, Claim, Verification
from tightdp.results.privacy import Curve, Delta, Privacy, Renyi, Tradeoff, between
from tightdp.results.report import Structure
from tightdp.results.result import EventWitness, Result, Status, TripleWitness
from tightdp.session import accuracy, large, numeric, strategies
from tightdp.session.arguments import AccuracyClaim, PrivacyClaim
from tightdp.session.engine import AskedNumber, Engine, Outcome, Query, neighbours
from tightdp.session.widened import around_curve, around_ratio, around_tradeoff

_IN_ORDER = 16
"""Of so many of the largest ratios, the first triple in order is looked for."""
_NONE = Fraction(0)


def answer(engine: Engine, question: AskedNumber | RenyiAt) -> Any:
    """Return the answer to a question: by a way that lists no laws where there is one, else from the laws."""
    if isinstance(question, AccuracyAt | LeastError):
        accuracy.check_target(engine)
    by_strategy = engine.bound.asks and not isinstance(question, TightRatio)
    if not by_strategy and not isinstance(question, RenyiAt) and (known := _elsewhere(engine, question)) is not None:
        return known
    match question:
        case TightRatio():
            return compared_ratios(engine, question)
        case AccuracyAt() | LeastError():
            return accuracy.listed_accuracy(engine, question)
    return listed(engine, question)


def _elsewhere(engine: Engine, question: AskedNumber) -> Result | None:
    known: Result | None = None
    if (cells := engine.program.cells(engine.control())) is not None:
        known = numeric.answer(engine, question)
    at_delta = isinstance(question, LeastRatio | DeltaAt) and (cells is None or cells.laws.published)
    if known is None and (engine.many or (at_delta and engine.many_outputs)):
        known = large.answer(engine, question)
    return known


def tight_privacy(engine: Engine, delta: Number = _NONE) -> Privacy:
    """Return the tight e^ε at δ: for δ > 0 the least e^ε >= 1 with δ(e^ε) <= delta."""
    found: Privacy = answer(engine, LeastRatio(delta) if delta else TightRatio())
    return found


def compared_ratios(engine: Engine, question: TightRatio) -> Privacy:
    """Return the tight e^ε for δ = 0, and the largest ratios, from all likelihood ratios."""
    query, top = engine.query(), question.top
    control = query.control
    if top == 1:
        with query.searching():
            method, found = questions.tight(engine.program, control)
        ratios: tuple[Ratio, ...] = () if found.witness is None else (found.witness,)
    else:
        method, pairs = questions.every_pair(engine.program, control)
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
    result = outcome.on(between(question, engine.subject, found.lower, found.upper, _triple(ratios), ratios))
    return result if engine.program.inexact is None else around_ratio(engine, result)


def _triple(ratios: Sequence[Ratio]) -> TripleWitness | None:
    if not ratios:
        return None
    found = ratios[0]
    return TripleWitness(found.x, found.x_prime, found.output, found.probability, found.probability_prime)


def listed(engine: Engine, question: LeastRatio | DeltaAt | RenyiAt) -> Privacy | Delta | Renyi:
    """Return the answer to a question by way of the laws of whole outputs."""
    lower, upper, pair, outcome = largest(engine, question)
    if pair is None or lower == question.least:
        witness = None
    elif isinstance(question, RenyiAt):
        witness = neighbours(pair)
    elif engine.bound.asks:
        witness = strategies.witness(engine, pair, question.high if isinstance(question, DeltaAt) else lower)
    elif isinstance(question, LeastRatio):
        witness = neighbours(pair)
    else:
        event = curves.event_of(pair, question.high)
        witness = EventWitness(pair.x, pair.x_prime, event) if event else None
    return outcome.on(between(question, engine.subject, lower, upper, witness))


def largest(engine: Engine, question: Question[TwoLaws]) -> tuple[Exact, Exact, Pair | None, Outcome]:
    """Return both ends of the largest value over all neighbours, who have it, and the common fields of a result."""
    query, method, pairs = compared(engine, question)
    error = engine.program.inexact
    kind = engine.games.laws if engine.bound.asks else laws.kind_of(error)
    with query.searching():
        found = laws.largest(query.control.pairs(pairs), question, kind, query.control.bounded(question.side))
        stopped = query.control.stopped is not None
        if found.upper == math.inf and error and not stopped and (finer := engine.program.finer(query.control)):
            above = query.control.pairs(questions.comparison(finer, query.control)[1])
            found = replace(found, upper=laws.largest(above, question, laws.kind_of(None)).upper)
        ratio = questions.ratio_bound(engine.program, pairs) if stopped and error is None else math.inf
        lower, upper, pair, outcome = ended(engine, query, method, found, question.bound(ratio), question)
    if lower != upper and error is None and query.control.stopped is None:
        lower, upper = outward(lower, upper, SHORT)
    return lower, upper, pair, outcome


def ended(
    engine: Engine,
    query: Query,
    method: Method,
    found: Found[Pair],
    bound: Exact,
    question: Question[TwoLaws] | None = None,
) -> tuple[Exact, Exact, Pair | None, Outcome]:
    """Return both ends of a value that was searched for, the first who have it, and the common fields of a result.

    An interrupted search leaves the upper end to `bound`.
    """
    pair, stopped, most = found.pair, query.control.stopped is not None, math.inf if question is None else question.most
    upper = max(found.lower, bound) if stopped else found.upper
    if pair is not None and not engine.bound.asks and (not stopped or found.lower == math.inf):
        ends = found.lower, found.upper
        if question is not None and engine.program.inexact is not None:  # those of the laws that are known
            ends = question.ends(ExactLaws.of(pair))
        if question is not None and ends[0] == ends[1]:
            pair = first_pair(method, query.control, lambda *both: question.ends(ExactLaws(*both)) == ends) or pair
        else:
            pair = first_alike(method, query.control, pair)
    decided = found.lower == upper
    outcome = engine.outcome(query, method, decided=decided, bounded=upper < most)
    return found.lower, upper, pair, outcome if decided or stopped else outcome.bounded


def compared(engine: Engine, question: Question[TwoLaws] | None = None) -> tuple[Query, Method, Comparison]:
    """Return a query with the pairs of neighbours to compare, for one question where that is given."""
    query, sought = engine.query(), None
    if question is not None and question.place(question.least) is not None:
        sought = Sought(question.least, question.place, lambda pair: question.ends(ExactLaws.of(pair))[0])
    return query, *questions.comparison(engine.program, query.control, sought)


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
            pairs = questions.every_pair(engine.program, query.control)[1]
            declared.check_privacy_set(ratios, query.control.pairs(pairs))
        except LimitError as error:
            query.control.stopped = error
    lower = max([Fraction(1), *(ratio.exp_epsilon for ratio in ratios)])
    upper = lower if query.control.stopped is None else max(lower, questions.ratio_bound(engine.program))
    decided = upper == lower and question.top == 1
    outcome = engine.outcome(query, method, decided=decided, bounded=upper != math.inf)
    outcome = replace(outcome, stats=replace(outcome.stats, privacy_set=len(triples), inference_set=len(needed)))
    shown = tuple(ratios[: question.top])
    witness = _triple([ratio for ratio in shown[:1] if ratio.exp_epsilon == lower])
    return around_ratio(engine, outcome.on(between(question, engine.subject, lower, upper, witness, shown)))


def curve(engine: Engine) -> Curve:
    """Return the privacy curve as its break points."""
    if (known := numeric.curve(engine)) is not None:
        return known
    profile, outcome = engine.profile()
    return around_curve(engine, outcome.on(Curve(subject=engine.subject, points=profile.breakpoints())))


def tradeoff(engine: Engine) -> Tradeoff:
    """Return the trade-off function as its vertices."""
    profile, outcome = engine.profile()
    return around_tradeoff(engine, outcome.on(Tradeoff(subject=engine.subject, vertices=profile.vertices())))


def structure(engine: Engine, x: Dataset | None) -> Structure:
    """Return the plan of the tight ε, the symmetries, and the diagram on all datasets if it is not large; or on one."""
    query = engine.query()
    control, program = query.control, engine.program
    if x is not None:
        one = engine.table_of(x, query).formula
        stats = query.stats((len(one.variables), one.nodes), "exhaustive", Symmetry(()))
        return Structure(subject=engine.subject, formula=one, symmetry=Symmetry(()), stats=stats)

    def so_far(name: str = "", **known: Any) -> Structure:
        found: Structure = Structure(subject=engine.subject, formula=None, symmetry=Symmetry(()), **known)
        return replace(found, plan=summary(control.plan.steps), stats=query.stats((0, 0), name, Symmetry(())))

    control.plan.begun = lambda: snapshot(so_far(status="unresolved"))
    if program.cells(control) is not None and numeric.answer(engine, TightRatio()) is not None:
        with control.plan.step("cells") as step:
            step.answers = True
        return so_far("cells")
    with query.searching():
        try:
            method = questions.tight(program, control)[0]
        except LimitError as error:
            return so_far(status="unresolved", reason=error.what, hint=error.hint)
    found = so_far(method.name)
    snapshot(found)
    with suppress(LimitError, TooLarge):  # the plan is known without the diagram and the symmetries
        formula, symmetry = program.moderate(control), questions.every_symmetry(program, at_most(control))[1]
        size = (0, 0) if formula is None else (len(formula.variables), formula.nodes)
        return replace(found, formula=formula, symmetry=symmetry, stats=query.stats(size, method.name, symmetry))
    return found


# claims


def verify(
    engine: Engine, privacy: PrivacyClaim | None, accuracy: AccuracyClaim | None, tight: Privacy | None = None
) -> Verification:
    """Return the verdicts on the claims that are given; the tight e^ε may be known."""
    decided = []
    if privacy is not None:
        decided.append(_of_privacy(engine, privacy, tight))
    if accuracy is not None:
        decided.append(_of_accuracy(engine, accuracy))
    claims = tuple(claim for claim, _ in decided)
    results = [result for _, result in decided]
    status: Status = "unresolved" if any(claim.holds is None for claim in claims) else "exact"
    stats = results[0].stats
    for result in results[1:]:
        stats += result.stats
    cut = next((result for result in results if result.reason), results[0])
    found = Verification(subject=engine.subject, status=status, claims=claims, stats=stats)
    return replace(found, reason=cut.reason, hint=cut.hint)


def _of_privacy(engine: Engine, asked: PrivacyClaim, tight: Privacy | None) -> tuple[Claim, Result]:
    exp_epsilon, epsilon, delta = asked
    found = strategies.with_strategy(engine.bound, tight or tight_privacy(engine, delta))
    at = f" at delta = {as_text(delta)}" if delta else ""
    if exp_epsilon is not None:
        holds = _at_most(found, _compare_plain, exp_epsilon)
        if found.status == "exact":
            return Claim(f"exp_epsilon{at}", exp_epsilon, found.exp_epsilon, holds, found.witness), found
        ends = found.lower, found.upper
        return Claim(f"exp_epsilon{at}", exp_epsilon, None, holds, found.witness, ends=ends), found
    assert epsilon is not None
    holds = _at_most(found, compare_log, epsilon)
    if found.status == "exact":
        rounded, exponent = log(found.exp_epsilon), exponent_of(found.exp_epsilon)
        return Claim(f"epsilon{at}", epsilon, rounded, holds, found.witness, exponent), found
    ends = log_down(found.lower), log_up(found.upper)
    return Claim(f"epsilon{at}", epsilon, None, holds, found.witness, ends=ends), found


def _at_most(found: Privacy, compare: Callable[[Exact, Any], int], claimed: Number) -> bool | None:
    """Say whether the tight value is at most the claimed one; None where that is not known."""
    if compare(found.lower, claimed) > 0:
        return False
    return True if compare(found.upper, claimed) <= 0 else None


def _compare_plain(value: Exact, claimed: Number) -> int:
    return (value > claimed) - (value < claimed)


def _of_accuracy(engine: Engine, asked: AccuracyClaim) -> tuple[Claim, Result]:
    alpha, beta = asked
    found: Accuracy = answer(engine, AccuracyAt(alpha))
    least_beta = 1 - as_exact(found.upper)
    holds = False if least_beta > beta else True if 1 - as_exact(found.lower) <= beta else None
    tight, ends = (least_beta, None) if found.status == "exact" else (None, (least_beta, 1 - as_exact(found.lower)))
    return Claim(f"beta at alpha = {as_text(alpha)}", beta, tight, holds, found.x, ends=ends), found
