"""One compiled mechanism: its table and its privacy profile are made at the first use and kept."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tightdp.language.neighbours import relation_name
from tightdp.language.program import Bound, Dataset
from tightdp.limits import Limits, default_memory
from tightdp.methods.pipeline import compile_dataset, compile_symbolic, table_for
from tightdp.methods.plan import Plan, chain_plan, make_plan
from tightdp.queries.curves import Profile, profile
from tightdp.results.result import Subject
from tightdp.session.monitor import Monitor, Progress
from tightdp.symmetry.sets import Table

__all__ = ["Engine", "Kept"]

Kept = dict[str, Any]
"""The fields that every result has: subject, status, stats, reason."""


class Engine:
    """Compiles a bound mechanism within limits, and says of every search whether it was cut short."""

    def __init__(
        self, bound: Bound, backend: str, timeout: float | None, max_nodes: int | None, max_memory: int | None = None
    ) -> None:
        self.bound = bound
        self.backend = backend
        self.timeout = timeout
        self.max_nodes = max_nodes
        self.max_memory = max_memory
        self.progress: Progress | None = None
        self.stopping = False
        self._table: Table | None = None
        self._plan: Plan | None = None
        self._profile: tuple[Profile, Kept] | None = None

    @property
    def subject(self) -> Subject:
        """The mechanism, n and parameters, and the neighbours, as results name them."""
        parameters = tuple({"n": self.bound.n, **self.bound.parameters}.items())
        return Subject(self.bound.program.name, parameters, relation_name(self.bound))

    def monitor(self) -> Monitor:
        """Return a fresh monitor: the limits count from now."""
        memory = self.max_memory or default_memory()
        limits = Limits(self.timeout, self.max_nodes, memory, stop=lambda: self.stopping)
        return Monitor(limits, self.bound.record.size**self.bound.n if self.progress else 0, self.progress)

    def table(self, monitor: Monitor) -> Table:
        """Return the table for all datasets; compiled once."""
        if self._table is None and self._plan is not None and self._plan.aggregate is None:
            self._table = self._plan.table
        if self._table is None:
            with monitor.compiling():
                formula = compile_symbolic(self.bound, self.backend, monitor.limits)
                monitor.limits.watch(formula.nodes)
            self._table = table_for(self.bound, formula)
        return self._table

    def plan(self, monitor: Monitor) -> Plan:
        """Return how the mechanism is looked at; compiled once."""
        plan = self.compiled(monitor)
        monitor.fill(plan)
        return plan

    def chain_plan(self, monitor: Monitor) -> Plan | None:
        """Return a plan with a chain of client blocks, where the mechanism has one that is worth trying first."""
        plan = self.compiled(monitor)
        if plan.chain is not None:
            return plan
        with monitor.compiling():
            return chain_plan(plan, monitor.limits)

    def compiled(self, monitor: Monitor) -> Plan:
        """Return the same before any law of aggregates is computed."""
        if self._plan is None:
            with monitor.compiling():
                self._plan = make_plan(self.bound, self.backend, monitor.limits)
        return self._plan

    @property
    def ratio_bound(self) -> Fraction | float:
        """An upper bound on every likelihood ratio that is known without a search; infinite before compilation."""
        return math.inf if self._plan is None else self._plan.ratio_bound

    def table_of(self, x: Dataset, monitor: Monitor, reuse: bool = True) -> Table:
        """Return a table that has at least dataset x: the one for all datasets, if it is there."""
        if reuse and self._table is not None:
            return self._table
        with monitor.compiling():
            formula = compile_dataset(self.bound, x, self.backend, monitor.limits)
            monitor.limits.watch(formula.nodes)
        return table_for(self.bound, formula)

    def profile(self) -> tuple[Profile, Kept]:
        """Return the privacy profile; searched for once, unless that was cut short."""
        if self._profile is not None:
            return self._profile
        monitor = self.monitor()
        plan = self.plan(monitor)
        with monitor.searching():
            found = profile(plan.laws, monitor.compared(plan))
        result = found, self.kept(monitor, plan)
        if monitor.stopped is None:
            self._profile = result
        return result

    def kept(self, monitor: Monitor, plan: Plan, decided: bool = False, bounded: bool = False) -> Kept:
        """Return the common fields of a result.

        `decided`: looking further could not change it; `bounded`: both ends of an enclosure are known all the same.
        """
        open_ = monitor.stopped is not None and not decided
        return {
            "subject": self.subject,
            "stats": monitor.stats(plan),
            "status": ("bounded" if bounded else "unresolved") if open_ else "exact",
            "reason": monitor.stopped.what if monitor.stopped is not None and open_ else "",
        }
