"""What is kept of a query while it runs: its limits, its clock, how much was looked at, whether it was cut short."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from tightdp.errors import LimitError, QueryError
from tightdp.language.program import Dataset
from tightdp.limits import Limits
from tightdp.logic.formula import WeightedFormula
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.plan import Plan
from tightdp.results.result import Stats
from tightdp.symmetry.sets import AccuracySet, PrivacySet, Table

T = TypeVar("T")

__all__ = ["Monitor"]

Progress = Callable[[int, int], None]
"""Is told how many of how many datasets, or pairs of neighbours, were looked at."""


class Monitor:
    """Watches one query. Iterating over a set through it ends early at a limit; `stopped` then says which."""

    def __init__(self, limits: Limits, total: int = 0, progress: Progress | None = None) -> None:
        self.limits = limits
        self.stopped: LimitError | None = None
        self._total = total
        self._progress = progress
        self._stats = Stats()
        self._seen: set[Dataset] = set()

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Time the compilation."""
        start = time.perf_counter()
        yield
        self._stats = replace(self._stats, compile=self._stats.compile + time.perf_counter() - start)

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Time the search; what it counts on the way is taken off."""
        start, counted = time.perf_counter(), self._stats.count
        yield
        spent = time.perf_counter() - start - (self._stats.count - counted)
        self._stats = replace(self._stats, search=self._stats.search + spent)

    def pairs(self, table: Table, privacy_set: PrivacySet) -> PrivacySet:
        """Return the privacy set, watched."""
        return PrivacySet(lambda: self._watched_pairs(table, privacy_set), privacy_set.size)

    def compared(self, plan: Plan) -> PrivacySet:
        """Return the privacy set of a plan, watched; only promising pairs where it is too large and the plan has some.

        Raises QueryError where it is too large and there are none.
        """
        try:
            return self.pairs(plan.laws, plan.privacy_set(self.limits.watch))
        except QueryError as error:
            if plan.chain is None:
                raise
            too_many = LimitError(error.what, error.hint)
            pairs = plan.promising_pairs(self.limits.watch)
            return PrivacySet(lambda: self._some(plan.laws, pairs, too_many))

    def _some(self, table: Table, pairs: PrivacySet, reason: LimitError) -> Iterator[tuple[Dataset, Dataset, int]]:
        yield from self._watched_pairs(table, pairs)
        self.stopped = self.stopped or reason

    def inputs(self, table: Table, accuracy_set: AccuracySet) -> AccuracySet:
        """Return the accuracy set, watched."""
        return AccuracySet(lambda: self._watched_inputs(table, accuracy_set), accuracy_set.size)

    def look_at(self, table: Table, x: Dataset) -> int:
        """Count the law of a dataset, and return how many outputs it has."""
        start, table.watch = time.perf_counter(), self.limits.watch
        try:
            outputs = len(table.weights(x).by_code)
        finally:
            table.watch = lambda: None
        stats = self._stats
        if x not in self._seen:
            self._seen.add(x)
            stats = replace(stats, queries=stats.queries + 1, inference_set=stats.inference_set + outputs)
        self._stats = replace(stats, count=stats.count + time.perf_counter() - start)
        return outputs

    def counted(self, queries: int) -> None:
        """Take note of weighted counts made outside a watched set."""
        self._stats = replace(self._stats, queries=self._stats.queries + queries)

    def fill(self, plan: Plan) -> None:
        """Compute the laws of all classes of datasets, where there are such classes, or some of them until a limit."""
        if plan.aggregate is not None and plan.laws is plan.aggregate:
            start = time.perf_counter()
            try:
                plan.aggregate.fill(self.limits.watch)
            except LimitError as error:
                self.stopped = error
            self._stats = replace(self._stats, count=self._stats.count + time.perf_counter() - start)

    def stats(self, plan: Plan, formula: WeightedFormula | None = None) -> Stats:
        """Return what the query cost, and the sizes of the sets where symmetry gave them."""
        formula, symmetry = formula or plan.table.formula, plan.symmetry
        stats = replace(
            self._stats,
            variables=len(formula.variables),
            nodes=formula.nodes,
            method=plan.method,
            symmetries=symmetry.words,
            accuracy_set=symmetry.accuracy_set,
        )
        if plan.chain is not None and symmetry.inference_set is not None and not self._seen:
            stats = replace(stats, inference_set=symmetry.inference_set, privacy_set=symmetry.privacy_set or 0)
        return stats

    def _watched_pairs(self, table: Table, privacy_set: PrivacySet) -> Iterator[tuple[Dataset, Dataset, int]]:
        current: Dataset | None = None
        outputs = triples = done = 0
        known = self._until_stopped(privacy_set, lambda: _few_known_pairs(table))
        try:
            for number, (x, other, pairs) in enumerate(known, start=1):
                if x is not current:
                    current, outputs, done = x, self.look_at(table, x), done + 1
                    # A set of representatives counts its pairs, all datasets are counted one by one.
                    self._tell(*((done, self._total) if privacy_set.size is None else (number, privacy_set.size)))
                if other not in self._seen:
                    self.look_at(table, other)
                triples += outputs
                yield x, other, pairs
        except LimitError as error:
            self.stopped = error
        finally:
            self._stats = replace(self._stats, privacy_set=triples)

    def _watched_inputs(self, table: Table, accuracy_set: AccuracySet) -> Iterator[tuple[Dataset, int]]:
        for done, (x, inputs) in enumerate(
            self._until_stopped(accuracy_set, lambda: _few_known_inputs(table)), start=1
        ):
            try:
                self.look_at(table, x)
            except LimitError as error:
                self.stopped = error
                return
            self._tell(done, accuracy_set.size)
            yield x, inputs

    def _until_stopped(self, entries: Iterable[T], known: Callable[[], Iterable[T]]) -> Iterator[T]:
        """Yield entries until a limit is met; where that is before the first one, a few whose laws are known."""
        started = False
        try:
            for entry in entries if self.stopped is None else ():
                self.limits.watch()
                started = True
                yield entry
        except LimitError as error:
            self.stopped = error
        if self.stopped is not None and not started:
            yield from known()

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)


_FEW = 64
"""So many pairs or datasets are still looked at where a limit was met while the laws were computed."""


def _few_known_pairs(table: Table) -> Iterator[tuple[Dataset, Dataset, int]]:
    return islice(table.known_pairs(), _FEW) if isinstance(table, AggregateTable) else iter(())


def _few_known_inputs(table: Table) -> Iterator[tuple[Dataset, int]]:
    return islice(table.known_inputs(), _FEW) if isinstance(table, AggregateTable) else iter(())
