"""The argument that every step of a query receives: its limits, its progress, and counts of what was looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tightdp.errors import LimitError
from tightdp.language.program import Dataset
from tightdp.limits import Limits
from tightdp.methods.base import Comparison, Known, Pair
from tightdp.methods.plan import Plan
from tightdp.symmetry.sets import AccuracySet, Table

__all__ = ["Control", "Progress", "Reached", "Step"]


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
                self.tell("going through datasets", done, accuracy_set.size)
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
