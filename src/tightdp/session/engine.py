"""One compiled mechanism: what was derived from it, and its privacy profile, are made at the first use and kept."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, TypeVar

from tightdp.core.nodes import CoreProgram
from tightdp.core.unmerged import Uncut
from tightdp.errors import LimitError
from tightdp.every_n import one_record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.limits import Allowance, Limits, default_memory
from tightdp.limits.calibrated import FEW_DATASETS, LISTED_ROWS
from tightdp.methods import questions
from tightdp.methods.base import Control, Exact, Pair, Progress
from tightdp.methods.by_elimination import EliminationTable
from tightdp.methods.choose import program_of
from tightdp.methods.compiled import encode_dataset
from tightdp.methods.noisy_parts import many_outputs
from tightdp.methods.one_output import check_listable, table_without_diagram
from tightdp.methods.program import Method, Program
from tightdp.methods.symmetry import Symmetry
from tightdp.queries.curves import Profile, profile
from tightdp.queries.measures import AccuracyAt, LeastError
from tightdp.queries.privacy import DeltaAt, LeastRatio, TightRatio
from tightdp.queries.strategies import Games
from tightdp.results.result import PairWitness, Result, Stats, Status, Subject
from tightdp.symmetry.sets import DiagramTable

R = TypeVar("R", bound=Result)
AskedNumber: TypeAlias = TightRatio | LeastRatio | DeltaAt | AccuracyAt | LeastError
"""The questions that have several ways to an answer."""

_MANY = 1_000


@dataclass(frozen=True)
class Outcome:
    """What every result has: its status and its reason, and what it cost."""

    status: Status
    reason: str
    stats: Stats
    hint: str = ""

    def on(self, result: R) -> R:
        return replace(result, status=self.status, reason=self.reason, hint=self.hint, stats=self.stats)

    @property
    def bounded(self) -> Outcome:
        """The same, where both ends of an enclosure are known."""
        return replace(self, status="bounded")


def neighbours(pair: Pair | None) -> PairWitness | None:
    """Return neighbours as a witness."""
    return None if pair is None else PairWitness(pair.x, pair.x_prime)


class Query:
    """One query while it runs: its control, and its clock."""

    def __init__(self, program: Program, control: Control) -> None:
        self.control = control
        self._program = program
        self._start = program.seconds
        self._compile = self._search = 0.0

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Time a compilation that the program does not keep."""
        start = time.perf_counter()
        yield
        self._compile += time.perf_counter() - start

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Time the search; what is compiled and counted on the way is subtracted."""
        start, others = time.perf_counter(), self._program.seconds + self.control.counting
        yield
        others = self._program.seconds + self.control.counting - others
        self._search += time.perf_counter() - start - others

    def outcome(
        self, method: str, stopped: LimitError | None = None, exact: bool = True, size: tuple[int, int] = (0, 0)
    ) -> Outcome:
        """Return the common fields of an answer that is exact, or both ends of an enclosure, by a way of this name."""
        stats = self.stats(size, method, Symmetry(()))
        if stopped is None or exact:
            return Outcome("exact" if exact else "bounded", "", stats)
        return Outcome("bounded", stopped.what, stats, stopped.hint)

    def stats(self, size: tuple[int, int], method: str, symmetry: Symmetry) -> Stats:
        """Return what the query cost, and the sizes of the sets where symmetry gave them and nothing was looked at."""
        control = self.control
        inference_set, privacy_set = control.inference_set, control.privacy_set
        if symmetry.inference_set is not None and not privacy_set and not inference_set:
            inference_set, privacy_set = symmetry.inference_set, symmetry.privacy_set or 0
        return Stats(
            variables=size[0],
            nodes=size[1],
            queries=control.queries,
            inference_set=inference_set,
            privacy_set=privacy_set,
            compile=self._compile + self._program.seconds - self._start,
            count=control.counting,
            search=self._search,
            method=method,
            symmetries=symmetry.words,
            accuracy_set=symmetry.accuracy_set,
        )


class Engine:
    """Compiles a bound mechanism within limits, and says of every search whether it was cut short.

    With `method`, all questions go to the method of that name; QueryError where it does not apply. With `precision`,
    enclosures of that relative width are enough, at any size.
    """

    def __init__(
        self,
        bound: Bound,
        backend: str,
        timeout: float | None,
        max_nodes: int | None,
        max_memory: int | None = None,
        method: str | None = None,
        precision: Fraction | None = None,
    ) -> None:
        self.bound = bound
        self.backend = backend
        self.timeout = timeout
        self.max_nodes = max_nodes
        self.max_memory = max_memory
        self.precision = precision
        self.program = program_of(bound, backend, method)
        self.program.in_any_order = lambda: one_record.takes_records_in_any_order(bound)
        self.progress: Progress | None = None
        self.allowance: Allowance | None = None
        self.lower_only = False
        self.stopping = False
        self.profile_bound: Exact = math.inf
        self._profile: tuple[Profile, Outcome] | None = None

    @property
    def subject(self) -> Subject:
        """The mechanism, n and parameters, and the neighbours, as results name them."""
        return Subject(self.bound.program.name, self.bound.named, relation_of(self.bound).name)

    def control(self) -> Control:
        """Return a fresh control: the limits count from now."""
        memory = self.max_memory or default_memory()
        limits = Limits(self.timeout, self.max_nodes, memory, stop=lambda: self.stopping, allowance=self.allowance)
        return Control(limits, self.progress, self.program.datasets if self.progress else 0)

    def query(self) -> Query:
        """Return a fresh query."""
        return Query(self.program, self.control())

    @property
    def many(self) -> bool:
        """Whether datasets, up to order, may be so many that answers are better enclosed."""
        n, records = self.bound.n, self.bound.record.size
        several = self.program.forced is None and relation_of(self.bound).one_record and records > 1
        return several and (self.precision is not None or n > _MANY or math.comb(n + records - 1, n) > LISTED_ROWS)

    @cached_property
    def many_outputs(self) -> bool:
        """Whether outputs may be so many that answers are better enclosed, though datasets are few."""
        several = self.program.forced is None and self.program.datasets <= FEW_DATASETS
        return several and (self.precision is not None or many_outputs(self.program, self.control()))

    @cached_property
    def games(self) -> Games:
        """The games that analysts play who adapt, where the mechanism asks one."""
        return Games(self.bound)

    def table_of(self, x: Dataset, query: Query) -> DiagramTable:
        """Return a table made for one dataset, with its diagram."""
        with query.compiling():
            return self._encoded(self.program.core_of(x, query.control), x, query)

    def listing(self, x: Dataset, query: Query) -> DiagramTable | EliminationTable | None:
        """Return a table from which the law of a dataset is listed: the one for all datasets, if it is there.

        None where there is no diagram, as of real noise, or laws have too many digits for one, as of Gaussian noise.
        Raises QueryError for laws too long to list.
        """
        if self.program.compiled is not None:
            check_listable(self.program.core(query.control))
            return None if self.program.inexact else self.program.table(query.control)
        with query.compiling():
            try:
                core = self.program.core_of(x, query.control)
            except Uncut:  # the algebra may have its laws
                return None
            check_listable(core)
            found = table_without_diagram(self.bound, core, x, query.control)
            return found if found is not None or core.inexact else self._encoded(core, x, query)

    def _encoded(self, core: CoreProgram, x: Dataset, query: Query) -> DiagramTable:
        return DiagramTable(self.bound, encode_dataset(core, self.bound, x, self.backend, query.control))

    def profile(self) -> tuple[Profile, Outcome]:
        """Return the privacy profile; searched for once, unless that was cut short."""
        if self._profile is not None:
            return self._profile
        query = self.query()
        method, pairs = questions.comparison(self.program, query.control)
        compared = query.control.pairs(pairs)
        with query.searching():
            tests = self.games.hulled(compared) if self.bound.asks else compared
            found = profile(tests, query.control.bounded("δ at ε = 0 ≥"))
        result = found, self.outcome(query, method)
        if query.control.stopped is None:
            self._profile = result
        else:
            self.profile_bound = questions.ratio_bound(self.program, pairs)
        return result

    def outcome(self, query: Query, method: Method, decided: bool = False, bounded: bool = False) -> Outcome:
        """Return the common fields of a result.

        `decided`: looking further could not change it; `bounded`: both ends of an enclosure are known all the same.
        """
        stopped = query.control.stopped
        stats = query.stats(method.size(), method.name, method.symmetry())
        if stopped is None or decided:
            return Outcome("exact", "", stats)
        return Outcome("bounded" if bounded else "unresolved", stopped.what, stats, stopped.hint)
