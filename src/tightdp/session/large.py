"""Answers in enclosures, where the exact laws of all datasets would be too many or too long, or outputs too many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TypeVar

from tightdp.errors import LimitError
from tightdp.exact.numbers import Exact, down, ends_of, outward, up
from tightdp.language.program import Dataset
from tightdp.limits import snapshot
from tightdp.limits.calibrated import LISTED_MASSES, LISTED_ROWS, MOST_WORK
from tightdp.methods.base import Refusal
from tightdp.methods.noisy_parts import NoisyParts, find_noisy_parts
from tightdp.queries.enclosed.accuracy import Measured, least_bound, surely_within
from tightdp.queries.enclosed.forms import ErrorSum, PublishedSum, error_sum, published_sum
from tightdp.queries.enclosed.mixtures import Ends, chain_of, enclosed
from tightdp.queries.enclosed.privacy import Asked, Found, exact_delta, largest, largest_ratio
from tightdp.queries.measures import AccuracyAt, LeastError, Measure
from tightdp.queries.privacy import DeltaAt, LeastRatio, TightRatio
from tightdp.results.answers import Accuracy
from tightdp.results.privacy import Delta, Privacy, between
from tightdp.results.result import CheckedWitness, PairWitness, Result
from tightdp.session.engine import AskedNumber, Engine, Query

WIDTH = Fraction(1, 10**9)
"""How far apart both ends may be, relatively, unless asked otherwise."""
_MASS = 1e-25
"""The least mass that the ends of laws keep; less where a small δ asks for it."""
_MASSES = (_MASS, 1e-80, 1e-180)
_MISSING = 1e3
"""All that is cut off from laws together is less than this many times the least mass."""
_DIGITS = 20
R = TypeVar("R", bound=Result)
METHOD, _BY_PARTS = "sums of records alike", "parts with noise of their own"
"""What the statistics of a result call these methods."""
_SMALLEST = 1e-14
"""Values of a part that are rarer than this times δ do not matter."""


def answer(engine: Engine, question: AskedNumber) -> Result | None:
    """Return both ends of an answer, None where the program is not of a form that is known, or not large."""
    found = _by_sums(engine, question) if engine.many else None
    if found is None and isinstance(question, Asked) and engine.many_outputs:
        found = _by_parts(engine, question)
    return found


def _by_sums(engine: Engine, question: AskedNumber) -> Result | None:
    """Return both ends of an answer about a published sum over records that are treated alike."""
    match question:
        case TightRatio(top=1):
            return _tight(engine, question)
        case LeastRatio() | DeltaAt():
            return _enclosed(engine, question)
        case AccuracyAt():
            return _accuracy_at(engine, question)
        case LeastError():
            return _least_error(engine, question)
    return None


def _tight(engine: Engine, question: TightRatio) -> Privacy | None:
    """Return the tight e^ε at δ = 0 where it follows without computing any law."""
    form, query = _published(engine)
    if form is None or form.noises:  # noise has other ends
        return None
    lower, upper, move = largest_ratio(form.summands(_MASS), list(form.moves))
    others = (form.n - 1, *(0 for _ in form.letters[1:]))
    witness = None if move is None else PairWitness(*form.neighbours(others, move))
    found = between(question, engine.subject, lower, upper, witness)
    return query.outcome(METHOD, exact=lower == upper).on(found) if lower == upper or _large(form) else None


def _enclosed(engine: Engine, question: Asked) -> Privacy | Delta | None:
    """Return both ends of the least e^ε >= 1 at a δ, or of δ at an e^ε."""
    form, query = _published(engine)
    if form is None or not _wanted(engine, form):
        return None
    moves, width = list(form.moves), float(engine.precision or WIDTH)

    def known(found: Found) -> None:  # printed where the search must be abandoned
        snapshot(enclosure(engine, query, question, found, _witness(form, found)))

    with query.searching():
        for mass in _masses(question):
            letters, floor = form.summands(mass), mass * _MISSING
            bound = largest_ratio(letters, moves)[1]
            found = largest(question, letters, moves, form.n - 1, width, query.control, known, bound, floor)
            if found.stopped or found.lower == found.upper or float(found.lower) > floor / width:
                break
        else:
            found = replace(found, stopped=_too_small())
        found, witness = _checked(form, found, question)
    return _close(engine, form, enclosure(engine, query, question, found, witness))


def _masses(question: Asked) -> tuple[float, ...]:
    """Return the least masses that ends of laws keep, of which the first is taken that does not matter."""
    return (min(_MASS, float(question.delta) * 1e-16),) if isinstance(question, LeastRatio) else _MASSES


def _too_small() -> LimitError:
    return LimitError("δ is too small for an enclosure in doubles", "ask for δ at a smaller e^ε, or for ε at a δ")


def enclosure(
    engine: Engine,
    query: Query,
    question: Asked,
    found: Found,
    witness: PairWitness | None,
    method: str = METHOD,
) -> Privacy | Delta:
    """Return the result with these ends, rounded outward to few digits."""
    lower, upper = outward(found.lower, found.upper, _DIGITS)
    outcome = query.outcome(method, found.stopped, found.lower == found.upper)
    if found.stopped is not None and found.upper == math.inf > found.lower:
        outcome = replace(outcome, status="unresolved")
    return outcome.on(between(question, engine.subject, lower, upper, witness))


def _accuracy_at(engine: Engine, question: AccuracyAt) -> Accuracy | None:
    """Return both ends of 1 - β at an error bound, where output and target are of this form, and large."""
    form, query = _error(engine, question)
    if form is None or not isinstance(question.alpha, Fraction):
        return None
    width = engine.precision or WIDTH

    def answer(found: Measured) -> Accuracy:
        lower, upper = down(found.lower, _DIGITS), up(found.upper, _DIGITS)
        answer = Accuracy.between(engine.subject, question, lower, min(upper, Fraction(1)), form.dataset(found.counts))
        return query.outcome(METHOD, found.stopped, lower == upper).on(answer)

    with query.searching():
        letters = form.summands(_MASS, form.step)
        window = partial(form.window, question)
        found = surely_within(letters, form.n, window, width, query.control, note=lambda found: snapshot(answer(found)))
    return _close(engine, form, answer(found))


def _least_error(engine: Engine, question: LeastError) -> Accuracy | None:
    """Return the least error bound that every dataset keeps with a probability, or both its ends."""
    form, query = _error(engine, question)
    if form is None or question.relative:  # then the bound that a dataset needs is no distance of integers
        return None
    with query.searching():
        letters, ends = form.summands(_MASS, form.step), dict.fromkeys(reversed(ends_of(question.beta)))
        found = [least_bound(letters, form.n, form.centre, end, query.control) for end in ends]
    (low, _, counts, _), (_, high, _, stopped) = found[0], found[-1]
    upper: Exact = high / form.scale if isinstance(high, Fraction) else high
    x, lower = form.dataset(counts), low / form.scale
    answer = Accuracy.least(engine.subject, question, lower, upper, x)
    return query.outcome(METHOD, stopped, lower == upper).on(answer)


def _published(engine: Engine) -> tuple[PublishedSum | None, Query]:
    query = engine.query()
    return (None if engine.program.forced else published_sum(engine.bound, query.control)), query


def _error(engine: Engine, measure: Measure) -> tuple[ErrorSum | None, Query]:
    query = engine.query()
    form = None if engine.program.forced else error_sum(engine.bound, measure.relative, query.control)
    return (form if form is not None and _wanted(engine, form) else None), query


def _wanted(engine: Engine, form: PublishedSum | ErrorSum) -> bool:
    return engine.precision is not None or _large(form)


def _close(engine: Engine, form: PublishedSum | ErrorSum, found: R) -> R | None:
    """Return an answer, None where exact laws can be had, and it is not as narrow as was asked for."""
    return found if found.within(engine.precision) or _large(form) else None


def _large(form: PublishedSum | ErrorSum) -> bool:
    """Whether the laws of all datasets, up to order, would have too many probabilities."""
    values = [value for law in form.letters for value in law]
    states = (max(values) - min(values)) * form.n + 1
    return math.comb(form.n + len(form.letters) - 1, len(form.letters) - 1) * states > LISTED_MASSES


def _witness(form: PublishedSum, found: Found) -> PairWitness | None:
    if found.others is None or found.move is None:
        return None
    return PairWitness(*form.neighbours(found.others, found.move))


def _checked(form: PublishedSum, found: Found, question: Asked) -> tuple[Found, PairWitness | None]:
    """Return the same with its witness, computed again in exact numbers where that is quick and no limit was met.

    The lower end is infinite where the pair that was found has a δ above the bar however large e^ε is.
    """
    witness = _witness(form, found)
    if witness is None or found.others is None or found.move is None or found.stopped or math.isinf(found.lower):
        return found, witness
    value = down(Fraction(found.lower), _DIGITS)
    t, bar = (ends_of(question.high)[1], value) if isinstance(question, DeltaAt) else (value, question.delta)
    left = exact_delta(form, found.others, found.move, None) if found.upper == math.inf else None
    if left is not None and left > bar:
        return replace(found, lower=math.inf), witness
    exact = exact_delta(form, found.others, found.move, t)
    if exact is None:
        return found, witness
    assert exact >= bar, "the doubles of this pair have the error that is proved for them"
    return found, CheckedWitness(witness.x, witness.x_prime, t, exact)


# outputs of many parts


Value = Fraction | float


@dataclass
class _Pair:
    """Neighbours whose enclosure is refined step by step, and its ends so far."""

    x: Dataset
    x_prime: Dataset
    closer: Iterator[Ends]
    lower: Value
    upper: Value = math.inf


def _by_parts(engine: Engine, question: Asked) -> Privacy | Delta | None:
    """Return both ends of the answer where outputs have many parts with noise of their own, and are too many."""
    query = engine.query()
    parts = find_noisy_parts(engine.program, query.control)
    if (known := engine.program.inexact) is not None and known.cut:
        return None
    if (
        parts is None
        or math.prod(len(kernel) for kernel in parts.kernels) > LISTED_ROWS
        or (engine.precision is None and _listed(engine, parts, query))
    ):
        return None

    def found(stopped: LimitError | None = None) -> Privacy | Delta:
        best = max(pairs, key=lambda pair: pair.lower, default=None)
        if best is None:
            return enclosure(engine, query, question, Found(question.least, question.least), None, _BY_PARTS)
        upper = min(question.most, max(pair.upper for pair in pairs))
        witness = PairWitness(best.x, best.x_prime) if best.lower > question.least else None
        ends = Found(best.lower, max(upper, best.lower), stopped=stopped)
        return enclosure(engine, query, question, ends, witness, _BY_PARTS)

    width, stopped = engine.precision or WIDTH, None
    pairs: list[_Pair] = []
    with query.searching():
        try:
            pairs += _pairs(engine, parts, query, question)
            while (first := max(pairs, key=lambda pair: pair.upper, default=None)) is not None:
                best = max(pair.lower for pair in pairs)
                if first.upper <= best * (1 + width) or (ends := next(first.closer, None)) is None:
                    break
                lower = ends.lower.shown(question)
                upper = lower if lower == math.inf else ends.upper.enough(question, float(lower))
                first.lower = max(first.lower, lower)
                first.upper = min(first.upper, Fraction(upper) if math.isfinite(upper) else math.inf)
                snapshot(found())  # printed where the search must be abandoned
        except LimitError as error:
            stopped = error
    if not pairs and stopped is not None:
        return None
    ended = found(stopped)
    return None if not ended.within(engine.precision) and _listed(engine, parts, query) else ended


def _pairs(engine: Engine, parts: NoisyParts, query: Query, question: Asked) -> list[_Pair]:
    """Return the pairs of neighbours whose chains are different."""
    least = max(float(question.delta) if isinstance(question, LeastRatio) else 1e-6, 1e-200) * _SMALLEST
    known = engine.program.inexact
    relative, lost = (0.0, 0.0) if known is None else (float(known.relative), float(known.lost))
    found: dict[object, _Pair] = {}
    for x, x_prime, ours, theirs in parts.pairs(query.control):
        chain = chain_of(ours, theirs, parts.kernels, least)
        if chain.ours != chain.theirs and chain.key not in found:
            found[chain.key] = _Pair(x, x_prime, enclosed(chain, relative, lost, query.control), question.least)
    return list(found.values())


def _listed(engine: Engine, parts: NoisyParts, query: Query) -> bool:
    """Whether the exact answer is to be had: all laws are, and can be listed, or clients share nothing."""
    if engine.program.inexact is not None:
        return False
    outputs = math.prod(len({value for law in kernel.values() for value in law}) for kernel in parts.kernels)
    alone = (each for each in engine.program.candidates if each.name.startswith("independent"))
    return outputs <= LISTED_MASSES or any(
        not isinstance(engine.program.look(each, query.control, MOST_WORK), Refusal) for each in alone
    )
