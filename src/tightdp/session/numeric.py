"""Answers about published noise on all integers, whose laws are sums of exponentials (`cells`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from flint import ctx

from tightdp.cells import comparing, deltas, distances, listing, noise, suprema
from tightdp.core.lowering import lower_target
from tightdp.core.operators import is_number
from tightdp.errors import LanguageError, ProgramError, QueryError
from tightdp.exact.enclosure import BITS, bounded, round_up
from tightdp.exact.field import Number, as_ball
from tightdp.exact.numbers import SHORT, down, up
from tightdp.language.interp import target_of
from tightdp.language.outputs import Output
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import TABLE_ENTRIES
from tightdp.logic.encode import prober
from tightdp.methods.ranking import neighbours_in_order
from tightdp.queries.accuracy import classes_of, least_alpha
from tightdp.queries.laws import Found
from tightdp.queries.measures import RIGHT, AccuracyAt, LeastError
from tightdp.queries.privacy import DeltaAt, LeastRatio, TightRatio
from tightdp.results.answers import Accuracy
from tightdp.results.privacy import Curve, Delta, Privacy, between
from tightdp.results.result import DensityWitness, LimitWitness, PairWitness, TripleWitness
from tightdp.session.engine import AskedNumber, Engine, Outcome, Query
from tightdp.symmetry.sets import every_dataset
from tightdp.symmetry.symmetries import exchangeable_clients

if TYPE_CHECKING:
    from tightdp.cells.comparing import Comparing, Largest
    from tightdp.cells.deltas import Tangent
    from tightdp.cells.laws import CellLaws

METHOD = "cells"
"""What the statistics of a result call this way."""
_OF_PAIRS = "ask for ε, or for δ at another ε, or publish fewer numbers"
_OF_ERRORS = "ask for 1 - β at an α, or for the expected errors, or publish one number"
_OF_ORDERS = "ask for ε, for δ or for the curve; or let each number have noise of its own, and ask for a whole order"
Measures = Callable[[Dataset, Output], Iterable[tuple[str, Any, Any]]]
"""The measures of the law on a dataset with its target, with both ends of their values."""
T = TypeVar("T")
Pair = tuple[Dataset, Dataset]
Through = tuple[Found[Pair], PairWitness | None, Outcome]
"""What is found of all pairs, the witness, and the common fields of a result."""
_POINTS = 64
"""At so many e^ε a curve is enclosed."""


def answer(engine: Engine, question: AskedNumber) -> Privacy | Delta | Accuracy | None:
    """Return the answer to a question, None for programs that are answered in another way."""
    query = engine.query()
    laws = engine.program.cells(query.control)
    if laws is None:
        return None
    if isinstance(question, AccuracyAt | LeastError):
        return _accuracy(engine, question, laws.laws, query)
    with query.searching():
        found = _unless_outside(laws.laws, lambda: _ends(laws, pairs_of(engine, query), question), _OF_PAIRS)
    if found is None:
        return None
    least, most, witness = found
    outcome = query.outcome(METHOD)
    return (outcome if least == most else outcome.bounded).on(between(question, engine.subject, least, most, witness))


def _unless_outside(laws: CellLaws, ask: Callable[[], T | None], hint: str) -> T | None:
    """Return an answer, None where there may be another way to it. Raises QueryError where real numbers have none."""
    try:
        return ask()
    except noise.Outside as outside:
        if of_reals(laws):
            raise QueryError(f"real noise {outside.reason}", hint) from None
    except suprema.TooLong:
        if of_reals(laws):
            raise QueryError("densities of several real numbers are too long to compare here", hint) from None
    return None


def _ends(
    laws: Comparing, pairs: Iterable[tuple[Dataset, Dataset]], question: TightRatio | LeastRatio | DeltaAt
) -> tuple[Any, Any, PairWitness | None] | None:
    """Return both ends of an answer and who has it; None for questions that are answered in another way."""
    if isinstance(question, TightRatio):
        if question.top > 1:
            return None
        best = laws.largest(pairs)
        value, witness = (laws.laws.one, None) if best is None else (best.value, _witness(laws, best))
        both = value, math.inf if math.inf in (laws.upper, value) else max(laws.upper, value)
        least, most = (each if each == math.inf else laws.laws.number(each) for each in both)
        return least, most, witness
    asked = deltas.Deltas(laws, pairs)
    if isinstance(question, DeltaAt):
        low, high = question.low, question.high
        if not laws.laws.fits(low) and of_reals(laws.laws):
            low, high = down(low, 2 * SHORT), up(high, 2 * SHORT)
        elif low != high or not laws.laws.fits(low):
            return None
        lower, upper, pair = asked.delta(high)
        if low != high:
            upper = asked.delta(low)[1]
    elif laws.laws.fits(question.delta):
        lower, upper, pair = asked.least_ratio(question.delta)
    else:
        return None
    return lower, upper, _neighbours(pair)


def through_pairs(engine: Engine, ask: Callable[[Comparing, Iterable[Pair]], Found[Pair]]) -> Through | None:
    """Return what is found of all pairs by algebra, None where another way is to answer."""
    query = engine.query()
    laws = engine.program.cells(query.control)
    if laws is None or not laws.laws.published:
        return None
    with query.searching():
        found = _unless_outside(laws.laws, lambda: ask(laws, pairs_of(engine, query)), _OF_ORDERS)
    if found is None:
        return None
    outcome = query.outcome(METHOD)
    return found, _neighbours(found.pair), outcome if found.lower == found.upper else outcome.bounded


def _neighbours(pair: Pair | None) -> PairWitness | None:
    return None if pair is None else PairWitness(*pair)


def of_reals(laws: CellLaws) -> bool:
    """Whether real numbers are published: then there is no other way to an answer."""
    return any(label.real for law in laws.laws.values() for label in law)


def curve(engine: Engine) -> Curve | None:
    """Return the privacy curve of real numbers that are published, enclosed by chords and tangents at some e^ε.

    None where ε is infinite, and for programs that are answered in another way.
    """
    query = engine.query()
    laws = engine.program.cells(query.control)
    if laws is None or not of_reals(laws.laws):
        return None
    tight = answer(engine, TightRatio())
    if not isinstance(tight, Privacy) or isinstance(tight.exp_epsilon, float) or tight.exp_epsilon == 1:
        return None
    with ctx.workprec(BITS):
        end = round_up(bounded(as_ball(tight.exp_epsilon)).upper)
    with query.searching():
        try:
            places = [1 + (end - 1) * k / _POINTS for k in range(_POINTS)]
            every = deltas.Deltas(laws, pairs_of(engine, query))
            tangents = [every.tangent(t, _POINTS) for t in places]
        except (suprema.TooLong, noise.Outside):
            return None
    upper = (*((each.t, each.upper) for each in tangents), (end, Fraction(0)))
    found_curve = Curve(subject=engine.subject, points=upper, lower=_below(tangents, end))
    return query.outcome(METHOD).bounded.on(found_curve)


def _below(tangents: Sequence[Tangent], end: Fraction) -> tuple[tuple[Number, Number], ...]:
    """Return the break points of the largest of some tangents, which is 0 from an end on."""
    found: list[tuple[Number, Number]] = []
    for each, after in pairwise(tangents):
        found.append((each.t, each.delta))
        falls = each.most_fall - after.least_fall
        if falls > 0:
            t = each.t + (each.delta - after.delta - after.least_fall * (after.t - each.t)) / falls
            if each.t < t < after.t:
                found.append((t, each.after(t)))
    last = tangents[-1]
    zero = min(end, last.t + last.delta / last.most_fall) if last.most_fall else end
    return (*found, (last.t, last.delta), (zero, Fraction(0)))


def probability(engine: Engine, x: Dataset, y: Output) -> Number | None:
    """Return the probability of an output, None for programs that are answered in another way."""
    laws = engine.program.laws_on((x,), engine.control())
    return None if laws is None else laws.number(laws.probability(x, y))


def of_pair(engine: Engine, x: Dataset, x_prime: Dataset) -> tuple[Number | float, PairWitness] | None:
    """Return the largest likelihood ratio of one pair with its witness, None where another way is to answer."""
    query = engine.query()
    known = engine.program.laws_on((x, x_prime), query.control)
    if known is None:
        return None
    try:
        laws = comparing.Comparing(known, query.control)
        found = laws.largest([(x, x_prime)])
    except suprema.TooLong:
        return None
    if found is None:
        return None
    return math.inf if found.value == math.inf else known.number(found.value), _witness(laws, found)


def output_laws(engine: Engine, *datasets: Dataset) -> tuple[list[dict[Output, Number]], Outcome] | None:
    """Return output laws by algebra, None where another way is to answer.

    Raises QueryError where real numbers are published in a way that has no listed law.
    """
    query = engine.query()
    with query.compiling():
        laws = engine.program.laws_on(datasets, query.control)
    if laws is None:
        return None
    with query.searching():
        try:
            found = listing.listed(laws, datasets)
        except noise.Outside as outside:
            if not of_reals(laws):
                return None
            raise QueryError(
                f"this output law is not listed: real noise {outside.reason}",
                "return one of the numbers, with noise of one kind, to see its density; or ask for ε, δ or the curve",
            ) from None
    query.control.inference_set += sum(map(len, found))
    return found, query.outcome(METHOD)


def pairs_of(engine: Engine, query: Query) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield all pairs of neighbours, and count them."""
    orbits = engine.program.contents
    for x, x_prime in neighbours_in_order(engine.bound, [] if orbits is None else [range(engine.bound.n)]):
        query.control()
        query.control.privacy_set += 1
        yield x, x_prime


def _witness(laws: Comparing, found: Largest) -> PairWitness:
    output = found.label.output(found.start)
    if any(found.moved):
        return LimitWitness(found.x, found.x_prime, output, found.label.direction(found.moved), found.attained)
    if found.label.real:
        side = found.label.direction(found.side) if any(found.side) else None
        return DensityWitness(found.x, found.x_prime, output, side, found.attained)

    def probability(x: Dataset) -> Number:
        return laws.laws.number(laws.laws.probability(x, output))

    return TripleWitness(found.x, found.x_prime, output, probability(found.x), probability(found.x_prime))


def _accuracy(engine: Engine, question: AccuracyAt | LeastError, laws: CellLaws, query: Query) -> Accuracy | None:
    """Return the tight 1 - β at an error bound, or the least one for a β, over all datasets."""
    if isinstance(question, LeastError) and not (question.beta and laws.fits(question.beta)):
        return None
    if (datasets := accuracy_set(engine, question, laws)) is None:
        return None
    numbers = _Numbers(engine.bound, laws, query.control)

    def asked() -> Accuracy:
        if isinstance(question, LeastError):
            return Accuracy.least(engine.subject, question, *least_alpha(numbers, datasets, question))
        classes = classes_of(numbers, datasets, question)
        value, x = classes[0].one_minus_beta, classes[0].x
        return Accuracy.between(engine.subject, question, value, value, x, classes)

    with query.searching():
        found = _unless_outside(laws, asked, _OF_ERRORS)
    if found is None:
        return None
    outcome = query.outcome(METHOD)
    return (outcome if found.lower == found.upper else outcome.bounded).on(found)


def accuracy_set(
    engine: Engine, question: AccuracyAt | LeastError, laws: CellLaws
) -> Iterable[tuple[Dataset, int]] | None:
    """Return the datasets that are looked at for accuracy, None where another way is to answer."""
    if isinstance(question, AccuracyAt) and not isinstance(question.alpha, Fraction):
        return None
    orbits = engine.program.contents
    if orbits is None or not _target_in_any_order(engine.bound):
        if engine.program.datasets > TABLE_ENTRIES:
            return None
        orbits = None
    if laws.published:
        _check_numbers(engine, laws)
    return ((x, 1) for x in every_dataset(engine.bound)) if orbits is None else orbits.accuracy_set()


def near(engine: Engine, question: AccuracyAt) -> list[tuple[Number | None, Dataset]] | None:
    """Return the probabilities, by dataset, that the output is near the target; None where another way is to answer."""
    query = engine.query()
    laws = engine.program.cells(query.control)
    datasets = None if laws is None else accuracy_set(engine, question, laws.laws)
    if laws is None or datasets is None:
        return None
    numbers = _Numbers(engine.bound, laws.laws, query.control)
    with query.searching(), suppress(noise.Outside):
        return [(numbers.within(x, *question.within(target_of(engine.bound, x)), None), x) for x, _ in datasets]
    return None


def _target_in_any_order(bound: Bound) -> bool:
    """Whether the target is known not to depend on the order of records."""
    try:
        return len(exchangeable_clients([lower_target(bound, prober())], bound.n)) == 1
    except (LanguageError, ProgramError):
        return False


def _check_numbers(engine: Engine, laws: CellLaws) -> None:
    """Raise QueryError where an output is no number."""
    for x, law in laws.laws.items():
        for label in law:
            if label.shape is not True and not (label.shape is False and is_number(label.constants[0])):
                what = "several values" if isinstance(label.shape, tuple) else repr(label.constants[0])
                output = f"on the dataset {x} {engine.subject.mechanism} can output {what}"
                raise QueryError(
                    f"accuracy needs a numeric output, and {output}",
                    "ask accuracy of a mechanism that returns a number on every run",
                )


@dataclass
class _Numbers:
    """Laws of noise on all integers, or on the reals, that is published as one number."""

    bound: Bound
    laws: CellLaws
    watch: Callable[[], None]

    def within(self, x: Dataset, low: Number, high: Number, bar: Number | None) -> Number:
        self.watch()
        return self.laws.number(distances.within(self.laws, x, _rational(low), _rational(high)))

    def least_error(self, x: Dataset, beta: Number) -> tuple[Number, Number]:
        target, bar = _rational(target_of(self.bound, x)), self.laws.exact(beta)
        return distances.least_error(self.laws, x, target, bar, self.watch)

    def measures(self, x: Dataset, target: Output) -> Iterator[tuple[str, Number, Number]]:
        """Yield the measures of a law, with both ends of their values. Raises Outside where it is not of one number."""
        wanted = _rational(target)
        for power, name in ((1, "absolute"), (2, "squared")):
            mean = self.laws.number(distances.expected_error(self.laws, x, wanted, power))
            yield f"expected {name} error", mean, mean
        right = self.laws.number(self.laws.probability(x, target))
        yield RIGHT, right, right


def _rational(value: Output) -> Fraction:
    if not isinstance(value, (int, Fraction)):
        raise noise.Outside("has an irrational target")
    return Fraction(value)


def with_measures(engine: Engine, query: Query, ask: Callable[[Measures], T]) -> T | None:
    """Return what is made of the measures of all laws, None for programs that are answered in another way."""
    laws = engine.program.cells(query.control)
    with suppress(noise.Outside):
        return None if laws is None else ask(_Numbers(engine.bound, laws.laws, query.control).measures)
    return None
