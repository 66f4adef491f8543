"""Accuracy: the probability that a numeric output is close to its target, on the worst dataset (oakley2024, Alg. 3).

What the distance of an output from its target is, and its mean for outputs that stand for many integers, is defined
here alone.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from tightdp.core.nodes import Inexact
from tightdp.core.operators import is_number
from tightdp.errors import ParameterError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.weights import as_exact, quotient
from tightdp.exact.whole import Whole
from tightdp.language.interp import target_of
from tightdp.language.program import Bound, Dataset
from tightdp.language.tails import GaussianTail, Tail, is_beyond
from tightdp.methods.base import Known
from tightdp.methods.sums import mass, surely_more
from tightdp.queries.measures import AccuracyAt, LeastError
from tightdp.symmetry.sets import Table


@dataclass(frozen=True)
class AccuracyClass:
    """Datasets with the same P(|M(x) - V(x)| <= alpha): one of them, the probability, and their number."""

    x: Dataset
    one_minus_beta: Number
    inputs: int


class NumericLaws(Protocol):
    """Output laws of a mechanism that returns a number, whatever they are made of."""

    bound: Bound

    def within(self, x: Dataset, low: Number, high: Number, bar: Number | None) -> Number | None:
        """Return the probability of an output from `low` to `high`; None where it is surely more than `bar`."""

    def least_error(self, x: Dataset, beta: Number) -> tuple[Number, Number]:
        """Return both ends of the least distance of the output from the target with probability 1 - beta."""


class Listed:
    """The laws of a table, whose least errors are enclosed where that has an error."""

    def __init__(self, table: Table, error: Inexact | None = None) -> None:
        self.bound = table.bound
        self._table, self._error = table, error
        self._outputs: dict[int, Any] = {}

    def within(self, x: Dataset, low: Number, high: Number, bar: Number | None) -> Number | None:
        weights, outputs = self._table.weights(x), self._outputs
        for code in weights.by_code:
            if code not in outputs:
                outputs[code] = number_or_tail(self._table, x, code)
        tails = [code for code in weights.by_code if isinstance(outputs[code], Tail)]
        codes = [code for code in weights.by_code if code not in tails and low <= outputs[code] <= high]
        if bar is not None and not tails and surely_more(weights.by_code, codes, bar):
            return None
        value = quotient(mass(weights.by_code, codes), weights.total)
        for code in tails:
            value += quotient(weights.by_code[code], weights.total) * outputs[code].share(low, high)
        return value

    def least_error(self, x: Dataset, beta: Number) -> tuple[Number, Number]:
        if self._error is None:
            return (self._least(x, beta),) * 2
        total = self._error.total
        if beta <= total:
            raise QueryError("this beta is below the error of Gaussian probabilities", "give a larger beta")
        return self._least(x, beta + total) if beta + total < 1 else Fraction(0), self._least(x, beta - total)

    def _least(self, x: Dataset, beta: Number) -> Number:
        weights, total = errors(self._table, x, beta)
        enough = (beta.denominator - beta.numerator) * total
        reached: Any = 0
        for error, weight in sorted(weights.items()):
            reached += weight
            if reached * beta.denominator >= enough and error < math.inf:
                return as_exact(error)
        raise QueryError("Gaussian noise is not looked at so far out", "give a larger beta")


def classes_of(
    laws: NumericLaws,
    datasets: Iterable[tuple[Dataset, int]],
    question: AccuracyAt,
    knows: Callable[[Known], None] = lambda _: None,
) -> tuple[AccuracyClass, ...]:
    """Return the classes of datasets of equal accuracy, worst first: the `top` worst, or all where `top` is 0.

    The first gives the tight 1 - β; `knows` is passed a function that returns it as known so far. Raises QueryError
    where an output is not a number or there is no target.
    """
    if question.alpha < 0:
        raise ParameterError(f"alpha is {question.alpha}", "give an error bound of at least 0")
    top = question.top
    classes: dict[Number, tuple[Dataset, int]] = {}
    worst: list[Number] = []
    knows(lambda: worst[0] if worst else None)
    for x, inputs in datasets:
        bar = worst[-1] if worst and len(worst) == top else None
        value = laws.within(x, *question.within(target_of(laws.bound, x)), bar)
        if value is None:
            continue
        if value not in classes:
            insort(worst, value)
            del worst[top or len(worst) :]
        first, count = classes.get(value, (x, 0))
        classes[value] = first, count + inputs
    return tuple(AccuracyClass(first, value, count) for value in worst for first, count in [classes[value]])


def least_alpha(
    laws: NumericLaws,
    datasets: Iterable[tuple[Dataset, int]],
    question: LeastError,
    knows: Callable[[Known], None] = lambda _: None,
) -> tuple[Number, Number, Dataset | None]:
    """Return both ends of the least bound that the error keeps with probability 1 - beta, and who needs it.

    Over an empty set that is 0, which no dataset needs. `knows` is passed a function that returns alpha so far.
    """
    if not 0 <= question.beta < 1:
        raise ParameterError(f"beta is {question.beta}", "give a failure probability of at least 0 and below 1")
    lower: Number = Fraction(0)
    upper: Number = Fraction(0)
    worst: Dataset | None = None
    knows(lambda: lower)
    for x, _ in datasets:
        unit = question.unit(target_of(laws.bound, x))
        least, most = (end / unit for end in laws.least_error(x, question.beta))
        if worst is None or least > lower:
            lower, worst = least, x
        upper = max(upper, most)
    return lower, upper, worst


def number_or_tail(table: Table, x: Dataset, code: int) -> int | float | Number | Tail:
    """Return the output with a code, a possible one on x: a number, or a tail of the integers.

    Tails of Gaussian noise, which are very rare, are infinite: farther from every target than any bound.
    Raises QueryError where it is neither.
    """
    output = table.codes.first(code)
    if isinstance(output, GaussianTail) or is_beyond(output):
        return math.inf
    if not is_number(output) and not isinstance(output, Tail):
        raise QueryError(
            f"accuracy needs a numeric output, and on the dataset {x} {table.bound.program.name} can output {output!r}",
            "ask accuracy of a mechanism that returns a number on every run",
        )
    found: int | float | Number | Tail = output
    return found


def errors(table: Table, x: Dataset, beta: Number) -> tuple[dict[int | Number, Whole | Number], Whole]:
    """Return the law of |M(x) - V(x)| as weights by error, and their total.

    Of tails of the integers only the errors needed for a probability of 1 - `beta` are listed.
    """
    target = target_of(table.bound, x)
    weights = table.weights(x)
    masses: dict[Any, Any] = {}
    tails: list[tuple[Tail, Whole]] = []
    for code, weight in weights.by_code.items():
        found = number_or_tail(table, x, code)
        if isinstance(found, Tail):
            tails.append((found, weight))
            continue
        error = abs(found - target)
        masses[error] = masses.get(error, 0) + weight
    if tails and not beta:
        raise QueryError("noise on all integers is beyond every bound with some probability", "give a positive beta")
    # What is left out of all tails has mass at most beta, and is farther from the target than the rest.
    shares = [quotient(weight, weights.total) for _, weight in tails]
    spans = [_span(tail, share * len(tails), beta) for (tail, _), share in zip(tails, shares, strict=True)]
    reach: Any = max(
        [*(error for error in masses if error != math.inf), *(abs(span[-1] - target) for span in spans if span)],
        default=0,
    )
    if tails:  # the numbers of a tail have shares of a weight
        masses = {error: quotient(weight, weights.total) for error, weight in masses.items()}
    for (tail, _), span, share in zip(tails, spans, shares, strict=True):
        end = target + tail.direction * reach
        left = as_exact(1)
        number = int((end - tail.first) * tail.direction / Fraction(tail.step)) + 1
        for value in _through(tail, max(len(span), number)):
            error = abs(value - target)
            masses[error] = masses.get(error, 0) + share * left * (1 - tail.ratio)
            left *= tail.ratio
    return masses, 1 if tails else weights.total


def _span(tail: Tail, mass: Number, beta: Number) -> list[int | Fraction]:
    """Return the first integers of a tail of this mass, enough to leave a mass of at most `beta`."""
    number = 0
    while mass > beta:
        number, mass = number + 1, mass * tail.ratio
    return _through(tail, number)


def _through(tail: Tail, number: int) -> list[int | Fraction]:
    return [tail.number(place) for place in range(number)]
