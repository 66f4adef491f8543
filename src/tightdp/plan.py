"""How a mechanism is looked at: which of the methods its structure allows, found out and verified, never assumed.

In this order: cut at aggregates (sums and the like of one contribution per client), a chain of client blocks (with
independent clients as the simplest case), and going through all datasets. The choice looks at the compiled program
only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from tightdp.errors import ProgramError
from tightdp.lang.lower import lower
from tightdp.lang.program import Bound, Dataset
from tightdp.logic.chain import Chain, make_chain
from tightdp.logic.encode import prober
from tightdp.pipeline import Limits, compile_symbolic, deep_recursion, table_for
from tightdp.query.aggregated import AggregateTable, find_aggregate_table
from tightdp.query.chain_ratios import TooManyForms, every_ratio
from tightdp.query.chain_search import blockwise_bound
from tightdp.query.declared import Named, ratios_of_pairs
from tightdp.query.local import LocalTable, find_local_table
from tightdp.query.sets import AccuracySet, PrivacySet, Table, every_input, every_neighbouring_pair
from tightdp.query.symmetry import Symmetry, of_chain, of_orbits

__all__ = ["Method", "Plan", "make_plan"]

_FEW_DATASETS = 256
"""Up to so many datasets, events are listed output by output even where clients are independent."""

Method = Literal["aggregate", "independent clients", "chain", "exhaustive"]


@dataclass
class Plan:
    """A compiled mechanism with what its structure makes possible.

    `table` gives the output laws; `chain` is there where a chain of client blocks gives the tight ratio directly,
    `local` where clients act independently.
    """

    bound: Bound
    table: Table
    aggregate: AggregateTable | None = None
    chain: Chain | None = None
    local: LocalTable | None = None

    @property
    def method(self) -> Method:
        """The method for the tight likelihood ratio."""
        if self.aggregate is not None:
            return "aggregate"
        if self.local is not None:
            return "independent clients"
        return "chain" if self.chain is not None else "exhaustive"

    @property
    def laws(self) -> Table:
        """The table on which divergences between neighbours are computed."""
        return self.table if self._compared is None else self._compared

    @property
    def _compared(self) -> LocalTable | None:
        """The table of one client's part; not where all outputs are few enough to be named in full."""
        return self.local if self.bound.record.size**self.bound.n > _FEW_DATASETS else None

    def privacy_set(self, watch: Callable[[], None] = lambda: None) -> PrivacySet:
        """Return the pairs of neighbours to compare. Raises QueryError where they are too many."""
        if self.aggregate is not None and isinstance(self.bound.neighbours, str):
            return self.aggregate.privacy_set(watch)
        if self._compared is not None:
            return self._compared.privacy_set()
        return every_neighbouring_pair(self.bound)

    def every_ratio(self, watch: Callable[[], None]) -> Iterator[Named]:
        """Yield every likelihood ratio over neighbours and outputs, with a triple that has it.

        Raises QueryError where the structure leaves too many.
        """
        if self.aggregate is not None and isinstance(self.bound.neighbours, str):
            yield from ratios_of_pairs(self.aggregate, watched(self.aggregate.privacy_set(watch), watch))
            return
        if self.chain is not None:
            try:
                for ratio, x, x_prime, code in every_ratio(self.chain, self.bound, watch):
                    yield ratio, x, x_prime, self.table.output(code)
            except TooManyForms:
                pass
            else:
                return
        yield from ratios_of_pairs(self.table, watched(every_neighbouring_pair(self.bound), watch))

    @cached_property
    def ratio_bound(self) -> Fraction | float:
        """An upper bound on every likelihood ratio that the structure gives without a search; often infinite."""
        if not isinstance(self.bound.neighbours, str):
            return math.inf
        if self.aggregate is not None:
            return self.aggregate.ratio_bound()
        return math.inf if self.chain is None else blockwise_bound(self.chain, self.bound)

    def accuracy_set(self) -> AccuracySet:
        """Return the datasets on which to measure accuracy. Raises QueryError where they are too many."""
        found = None if self.aggregate is None else self.aggregate.accuracy_set()
        return every_input(self.bound) if found is None else found

    @cached_property
    def symmetry(self) -> Symmetry:
        """The symmetries in words, and the sizes of the sets that are left."""
        if self.aggregate is not None:
            outputs = len(self.aggregate.codes())
            return of_orbits(self.aggregate.orbits, self.bound, outputs, self.aggregate.accuracy_classes())
        return Symmetry(()) if self.chain is None else of_chain(self.chain, self.bound, self.table.formula)


def watched(privacy_set: PrivacySet, watch: Callable[[], None]) -> PrivacySet:
    """Return a privacy set that calls `watch` before every pair."""

    def pairs() -> Iterator[tuple[Dataset, Dataset, int]]:
        for entry in privacy_set:
            watch()
            yield entry

    return PrivacySet(pairs, privacy_set.size)


def make_plan(bound: Bound, backend: str, limits: Limits) -> Plan:
    """Compile a mechanism for all datasets in the way that its structure allows.

    Raises LanguageError, ProgramError or LimitError.
    """
    with deep_recursion():
        try:
            core = lower(bound, None, prober(backend, limits.watch), limits.watch)
            aggregate = find_aggregate_table(bound, core, backend, limits.watch)
        except ProgramError:
            aggregate = None  # compiling the whole program below says on which dataset it fails
    if aggregate is not None and aggregate.affordable:
        return Plan(bound, aggregate, aggregate=aggregate)
    formula = compile_symbolic(bound, backend, limits)
    limits.watch(formula.nodes)
    table = table_for(bound, formula)
    chain = make_chain(formula, bound.record) if isinstance(bound.neighbours, str) else None
    local = None if chain is None else find_local_table(bound, formula, chain)
    return Plan(bound, table, chain=chain, local=local)
