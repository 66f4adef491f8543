"""What methods and questions share: ratios, pairs to compare, answers, the plan, and the control of one question."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tightdp.errors import LimitError, QueryError
from tightdp.exact.field import ExpNumber, Number
from tightdp.language.program import Dataset
from tightdp.limits import Limits
from tightdp.limits.calibrated import ALLOWED, NO_LIMIT
from tightdp.symmetry.sets import AccuracySet, Entries, PrivacySet, Table

Exact = Fraction | ExpNumber | float
"""An exact number, or infinity."""


@dataclass(frozen=True)
class Ratio:
    """A likelihood ratio P(output|x) / P(output|x').

    `triples` is the number of (x, x', y) that have it: pairs of neighbours, and outputs of positive probability on x, a
    tail of the integers being one; None where that was not counted.

    `exp_epsilon` is a Fraction, or infinity where P(output|x') = 0 < P(output|x).
    """

    exp_epsilon: Exact
    x: Dataset
    x_prime: Dataset
    output: Any
    probability: Number
    probability_prime: Number
    triples: int | None = None


Known = Callable[[], Exact | None]
"""Gives the value that a search has so far, None before there is one."""


@dataclass(frozen=True)
class Refusal:
    """Why a method does not apply to a program, or does not answer a question: what follows "it does not apply:".

    Where no method answers, a `decisive` refusal is the one that is shown. With `needs`, it would take at least so many
    steps, more than it was allowed: it is asked again when no other method needs fewer.
    """

    reason: str
    hint: str = "leave the method out, and one that applies is found"
    decisive: bool = False
    needs: int = 0

    @property
    def error(self) -> QueryError:
        """The refusal as an error to raise."""
        return QueryError(self.reason, self.hint)


@dataclass(frozen=True, slots=True)
class Pair:
    """Neighbours to compare on a table of laws.

    Each output of the table stands for `size` triples of neighbours and a whole output, which ranked ratios count (0:
    their number is not known).
    """

    x: Dataset
    x_prime: Dataset
    size: int
    table: Table


@dataclass(frozen=True)
class Comparison(Entries[Pair]):
    """Pairs of neighbours on which every divergence is attained; `size` is their number where it is known.

    Where `incomplete` is given, as the reason, they are only some of these pairs: they show a lower bound, and no
    likelihood ratio exceeds `bound`.
    """

    incomplete: LimitError | None = None
    bound: Exact = math.inf


@dataclass(frozen=True)
class Sought:
    """A value of pairs of neighbours of which the largest is looked for, at least `least`.

    `place(v)` gives a t and a δ so that a pair has at most the value v if its δ(t) <= δ; None where these do not tell.
    """

    least: Exact
    place: Callable[[Any], tuple[Number, Number] | None]
    value: Callable[[Pair], Exact]


def on_table(table: Table, privacy_set: PrivacySet, watch: Callable[[], None]) -> Comparison:
    """Return the pairs of a privacy set, compared on one table; `watch` is called before each."""

    def pairs() -> Iterator[Pair]:
        return (Pair(x, x_prime, size, table) for x, x_prime, size in privacy_set.watched(watch))

    return Comparison(pairs, privacy_set.size)


@dataclass(frozen=True)
class Tight:
    """What is known of the largest likelihood ratio: at least `lower`, which the witness attains, at most `upper`.

    Without a witness the lower end is 1. `reason` says why the ends differ, and is None where they are equal;
    `gave_up` that the method itself stopped and another one may know more.
    """

    lower: Exact
    upper: Exact
    witness: Ratio | None
    reason: LimitError | None = None
    gave_up: bool = False


def too_much(name: str, needs: int) -> Refusal:
    """Return the refusal of a method that needs more steps than it was allowed."""
    needs = min(needs, NO_LIMIT)
    return Refusal(f"{name}: it takes at least {needs:,} steps", needs=needs)


def exceeded(name: str, budget: int) -> Refusal:
    """Return the refusal of a method that was given so many steps and had not done: several times as many are next."""
    return Refusal(f"{name}: it takes more than {budget:,} steps", needs=ALLOWED * budget)


@dataclass
class Looked:
    """A method that was looked at: `refusal` says why it does not apply, or does not answer, and is empty if it does.

    `estimated` are the steps that it was estimated to take, `parts` the questions about parts of the program that it
    asks.
    """

    method: str
    refusal: str = ""
    answers: bool = False
    estimated: int = 0
    actual: Callable[[], int] = int
    """Gives the steps that a method that answers has taken so far."""
    parts: list[Looked] = field(default_factory=list)


@dataclass(frozen=True)
class Summary:
    """A method of a plan, with its steps so far, and those that it asks about parts; see `Looked`."""

    method: str
    refusal: str
    estimated: int = 0
    actual: int = 0
    parts: tuple[Summary, ...] = ()


_BEGUN = "it was not done when a limit was met"


def summary(steps: Iterable[Looked]) -> tuple[Summary, ...]:
    """Return the steps of several questions, each method once: the step in which it answers, else its last refusal."""
    found: dict[str, Looked] = {}
    for step in steps:
        if step.method not in found or step.answers or not found[step.method].answers:
            found[step.method] = step
    return tuple(
        Summary(
            step.method,
            "" if step.answers else step.refusal or _BEGUN,
            step.estimated,
            step.actual(),
            summary(step.parts) if step.answers else (),
        )
        for step in found.values()
    )


@dataclass
class Plan:
    """The steps of all questions so far that were asked of one program, and of its parts."""

    steps: list[Looked] = field(default_factory=list)
    begun: Callable[[], None] = lambda: None
    """Called when a step has begun."""
    _around: list[list[Looked]] = field(default_factory=list)

    @contextmanager
    def step(self, method: str) -> Iterator[Looked]:
        """Begin a step; what is asked meanwhile belongs to it."""
        found = Looked(method)
        self.steps.append(found)
        if not self._around:
            self.begun()
        self._around.append(self.steps)
        self.steps = found.parts
        try:
            yield found
        finally:
            self.steps = self._around.pop()


@dataclass(frozen=True)
class Reached:
    """What a search knows so far: which quantity is on which side of which value, as in "1 - β ≤"; None is nothing yet.

    The value is computed on request only, so that a search loses no time where nobody asks.
    """

    side: str
    value: Known


@dataclass(frozen=True)
class Step:
    """How far a search is: how many of how many datasets, or pairs, were looked at (0: of an unknown number)."""

    phase: str
    done: int
    total: int
    bound: Reached | None = None


Progress = Callable[[Step], None]
"""Called with each step of a search."""


@dataclass
class Control:
    """Watches one query: called with a number of nodes, it raises LimitError where a limit is exceeded.

    Its iterators over pairs and datasets end early at a limit, which `stopped` then holds. `total` is the number of
    datasets, 0 where no progress is reported.
    """

    limits: Callable[[int], None] = field(default_factory=Limits)
    progress: Progress | None = None
    total: int = 0
    stopped: LimitError | None = None
    queries: int = 0
    inference_set: int = 0
    privacy_set: int = 0
    counting: float = 0.0
    bound: Reached | None = None
    plan: Plan = field(default_factory=Plan)
    _seen: set[tuple[int, Dataset]] = field(default_factory=set)
    _tables: dict[int, Table] = field(default_factory=dict)

    def __call__(self, nodes: int = 0) -> None:
        """Raise LimitError where a limit is exceeded."""
        self.limits(nodes)

    def pairs(self, comparison: Comparison) -> Iterator[Pair]:
        """Yield the pairs of a comparison, with their laws counted, until a limit is met."""
        current: tuple[int, Dataset] | None = None
        outputs = done = 0
        try:
            for number, pair in enumerate(comparison, start=1):
                here = (id(pair.table), pair.x)
                if here != current:
                    current, outputs, done = here, self.look_at(pair.table, pair.x), done + 1
                    # A set of representatives counts its pairs; without one, datasets are counted one by one.
                    counted = (done, self.total) if comparison.size is None else (number, comparison.size)
                    self.tell("comparing neighbours", *counted)
                if (id(pair.table), pair.x_prime) not in self._seen:
                    self.look_at(pair.table, pair.x_prime)
                self.privacy_set += outputs
                yield pair
        except LimitError as error:
            self.stopped = self.stopped or error
        if comparison.incomplete is not None:
            self.stopped = self.stopped or comparison.incomplete

    def inputs(self, table: Table, accuracy_set: AccuracySet) -> Iterator[tuple[Dataset, int]]:
        """Yield the datasets of an accuracy set, with their laws counted, until a limit is met."""
        try:
            for done, (x, inputs) in enumerate(accuracy_set, start=1):
                self.look_at(table, x)
                self.tell("going through datasets", done, accuracy_set.size or 0)
                yield x, inputs
        except LimitError as error:
            self.stopped = self.stopped or error

    def look_at(self, table: Table, x: Dataset) -> int:
        """Count the law of a dataset, and return how many outputs it has."""
        start, table.watch = time.perf_counter(), self
        try:
            outputs = len(table.weights(x).by_code)
        finally:
            table.watch = lambda: None
        if (id(table), x) not in self._seen:
            self._seen.add((id(table), x))
            self._tables[id(table)] = table  # kept alive, so that its id stays its own
            self.queries += 1
            self.inference_set += outputs
        self.counting += time.perf_counter() - start
        return outputs

    def bounded(self, side: str) -> Callable[[Known], None]:
        """Return a function that a search calls with its current value of a quantity, as in bounded("ε ≥")."""

        def keep(value: Known) -> None:
            self.bound = Reached(side, value)

        return keep

    def tell(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Report how far the search is: `done` of `total` in this phase (`total` 0: unknown)."""
        if self.progress is not None:
            self.progress(Step(phase, done, total, self.bound))
