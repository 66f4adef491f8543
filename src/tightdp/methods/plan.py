"""How a mechanism is looked at: which of the methods its structure allows, found out and verified, never assumed.

In this order: cut at aggregates (sums and the like of one contribution per client), a chain of client blocks (with
independent clients as the simplest case), and going through datasets, one per orbit of the symmetries that the program
is found to have. The choice looks at the compiled program only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from tightdp.core.lowering import lower, lower_target
from tightdp.core.nodes import CoreProgram
from tightdp.core.passes import expand_shuffles
from tightdp.errors import LanguageError, LimitError, ProgramError, QueryError
from tightdp.language.program import Bound, Dataset
from tightdp.limits import Limits
from tightdp.logic.encode import prober
from tightdp.methods.aggregated import AggregateTable, find_aggregate_table
from tightdp.methods.chain import Chain, make_chain
from tightdp.methods.chain_ratios import TooManyForms, every_ratio
from tightdp.methods.chain_search import blockwise_bound, largest_ratio
from tightdp.methods.factored import FactoredTable, find_factored_table
from tightdp.methods.likely import promising_pairs
from tightdp.methods.local import LocalTable, find_local_table
from tightdp.methods.pipeline import deep_recursion, encode_core, table_for
from tightdp.methods.ratios import Named, ratios_of_pairs
from tightdp.methods.symmetry import Symmetry, both, of_chain, of_orbits, of_symmetries, sized
from tightdp.symmetry.sets import MAX_DATASETS, AccuracySet, PrivacySet, Table, every_input, every_neighbouring_pair

if TYPE_CHECKING:
    from tightdp.symmetry.symmetries import Symmetries

__all__ = ["Method", "Plan", "chain_plan", "make_plan"]

_FEW_DATASETS = 256
"""Up to so many datasets, events are listed output by output even where clients are independent."""

_MANY_TRIPLES = 1 << 18
"""Beyond so many (x, x', y), their number is not worked out where only symmetries are asked for."""

_MANY = 100_000
"""Beyond so many probabilities of several aggregates, it is seen first whether groups of clients are independent."""
_COSTLY = 2_000_000
"""Beyond so many probabilities of aggregates, the tight ratio is first looked for along the chain of clients."""
_LARGE = 200_000
"""A larger diagram is not compiled where there is another way."""

Method = Literal["aggregate", "independent clients", "independent groups", "chain", "orbits", "exhaustive"]

Watch = Callable[[], None]


@dataclass
class Plan:
    """A compiled mechanism with what its structure makes possible.

    `table` gives the output laws, `factored` those of parts of the output where these are independent; `chain` is there
    where a chain of client blocks gives the tight ratio directly, `local` where clients act independently. The
    symmetries of the program are looked for when datasets have to be gone through, once for privacy and once for
    accuracy.
    """

    bound: Bound
    table: Table
    aggregate: AggregateTable | None = None
    chain: Chain | None = None
    local: LocalTable | None = None
    factored: FactoredTable | None = None
    core: CoreProgram | None = None
    backend: str = "cudd"
    _symmetries: dict[bool, Symmetries | None] = field(default_factory=dict)
    _searched: Fraction | float = math.inf

    @property
    def method(self) -> Method:
        """The method for the tight likelihood ratio."""
        if self.aggregate is not None:
            return "aggregate"
        if self.local is not None:
            return "independent clients" if self.local.alone else "independent groups"
        if self.chain is not None:
            return "chain"
        return "orbits" if any(self._symmetries.values()) else "exhaustive"

    @property
    def laws(self) -> Table:
        """The table on which divergences between neighbours are computed."""
        return self._factored or self._compared or self.table

    @property
    def _factored(self) -> FactoredTable | None:
        """The table of the parts of the output; not where all outputs are few enough to be named in full."""
        return self.factored if self.bound.record.size**self.bound.n > _FEW_DATASETS else None

    @property
    def _compared(self) -> LocalTable | None:
        """The table of one group's part; not where all outputs are few enough to be named in full."""
        return self.local if self.bound.record.size**self.bound.n > _FEW_DATASETS else None

    def privacy_set(self, watch: Callable[[], None] = lambda: None) -> PrivacySet:
        """Return the pairs of neighbours to compare. Raises QueryError where they are too many."""
        if self._factored is not None:
            return self._factored.privacy_set(watch)
        if self.aggregate is not None and isinstance(self.bound.neighbours, str):
            return self.aggregate.privacy_set(watch)
        if self._compared is not None:
            return self._compared.privacy_set()
        found = self.symmetries(watch) if isinstance(self.bound.neighbours, str) else None
        if found is None:
            return every_neighbouring_pair(self.bound)
        _check_number(found.orbits.number_of_pairs, "pairs of neighbours")
        return found.orbits.privacy_set()

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

    def promising_pairs(self, watch: Watch) -> PrivacySet:
        """Return some pairs of neighbours among which a bad one is likely, for a chain; sharpens `ratio_bound`."""
        assert self.chain is not None
        tight = largest_ratio(self.chain, self.bound, watch)
        self._searched = tight.upper
        worst = None if tight.found is None else (tight.found.x, tight.found.x_prime)
        return promising_pairs(self.bound, worst)

    @property
    def ratio_bound(self) -> Fraction | float:
        """An upper bound on every likelihood ratio, as far as one is known; often infinite."""
        return min(self._searched, self._structural_bound)

    @cached_property
    def _structural_bound(self) -> Fraction | float:
        if not isinstance(self.bound.neighbours, str):
            return math.inf
        if self.aggregate is not None:
            return self.aggregate.ratio_bound()
        return math.inf if self.chain is None else blockwise_bound(self.chain, self.bound)

    def accuracy_set(self, watch: Watch = lambda: None) -> AccuracySet:
        """Return the datasets on which to measure accuracy. Raises QueryError where they are too many."""
        found = None if self.aggregate is None else self.aggregate.accuracy_set()
        if found is not None:
            return found
        symmetries = self.symmetries(watch, measured=True)
        if symmetries is None:
            return every_input(self.bound)
        _check_number(symmetries.orbits.number, "datasets")
        return symmetries.orbits.accuracy_set()

    def few_datasets(self, number: int, watch: Watch) -> bool:
        """Whether at most so many datasets have to be gone through, up to symmetry."""
        found = self.symmetries(watch)
        datasets = self.bound.record.size**self.bound.n if found is None else found.orbits.number
        return datasets <= number

    def symmetries(
        self, watch: Watch = lambda: None, measured: bool = False, always: bool = False
    ) -> Symmetries | None:
        """Return the symmetries for going through datasets, or None.

        With `measured`, only those that keep the output and the accuracy target. Looked for where there are more than
        a few datasets, or `always`.
        """
        few = not always and self.bound.record.size**self.bound.n <= _FEW_DATASETS
        if self.core is None or few or (self.aggregate is not None and not measured):
            return None
        if measured not in self._symmetries:
            try:
                self._symmetries[measured] = self._found_symmetries(expand_shuffles(self.core), watch, measured)
            except LimitError:
                return None  # to be looked for again when there is time
        return self._symmetries[measured]

    def _found_symmetries(self, program: CoreProgram, watch: Watch, measured: bool) -> Symmetries | None:
        from tightdp.symmetry.symmetries import find_symmetries

        with deep_recursion():
            try:
                target = lower_target(self.bound, prober(self.backend)) if measured else None
            except (LanguageError, ProgramError):
                return None
            try:
                return find_symmetries(self.bound, program, target, self.backend, _bounded(watch))
            except _TooLarge:
                return None

    @property
    def symmetry(self) -> Symmetry:
        """The symmetries known so far, in words, and the sizes of the sets that are left."""
        if self.aggregate is not None:
            return self._aggregate_symmetry
        found = self._symmetries.get(False)
        if found is None:
            return self._chain_symmetry
        return both(self._chain_symmetry, of_symmetries(found))

    def every_symmetry(self, watch: Watch = lambda: None) -> Symmetry:
        """Return the symmetries after looking for them, with the sizes of the sets where these are small."""
        found = self.symmetries(watch, always=True) if isinstance(self.bound.neighbours, str) else None
        outputs = math.prod(len(values) for values in self.table.formula.values)
        if found is None or found.orbits.number_of_pairs * outputs > _MANY_TRIPLES:
            return self.symmetry
        sets = found.orbits.privacy_set(), found.orbits.accuracy_set()
        return both(self._chain_symmetry, sized(of_symmetries(found), self.table, *sets))

    @cached_property
    def _aggregate_symmetry(self) -> Symmetry:
        assert self.aggregate is not None
        outputs = None if self._factored is not None else len(self.aggregate.codes())
        return of_orbits(self.aggregate.orbits, self.bound, outputs, self.aggregate.accuracy_classes())

    @cached_property
    def _chain_symmetry(self) -> Symmetry:
        return Symmetry(()) if self.chain is None else of_chain(self.chain, self.bound, self.table.formula)


def _check_number(number: int, what: str) -> None:
    if number > MAX_DATASETS:
        raise QueryError(
            f"there are {number:,} {what} even up to the symmetries of the program, too many to go through one by one",
            f"use fewer records or a smaller record domain (at most {MAX_DATASETS:,} are gone through)",
        )


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
        core = lower(bound, None, prober(backend, limits.watch), limits.watch)
        try:
            aggregate = find_aggregate_table(bound, core, backend, limits.watch)
        except ProgramError:
            aggregate = None  # compiling the whole program below says on which dataset it fails
        factored = None if aggregate is None else find_factored_table(bound, aggregate, backend)
        if aggregate is None or not (aggregate.affordable or (factored is not None and factored.affordable)):
            return _whole_plan(bound, core, backend, limits)
    plan = Plan(bound, aggregate, aggregate=aggregate, factored=factored, core=core, backend=backend)
    if factored is not None:
        return plan
    if len(aggregate.aggregate.operators) == 1 or aggregate.entries <= _MANY:
        return plan
    whole = _small_whole_plan(plan, limits)
    return plan if whole is None or whole.local is None else whole


def chain_plan(plan: Plan, limits: Limits) -> Plan | None:
    """Return another plan for a program with costly aggregates, as a chain of client blocks; None where it is none."""
    if plan.aggregate is None or plan.aggregate.entries <= _COSTLY or not isinstance(plan.bound.neighbours, str):
        return None
    found = _small_whole_plan(plan, limits)
    return None if found is None or found.chain is None else found


def _small_whole_plan(plan: Plan, limits: Limits) -> Plan | None:
    """Return a plan for the program as a whole; None where its diagram grows large."""
    assert plan.core is not None
    try:
        with deep_recursion():
            return _whole_plan(plan.bound, plan.core, plan.backend, _Bounded(limits=limits))
    except _TooLarge:
        return None


class _TooLarge(Exception):
    """A diagram is too large to be worth while."""


def _bounded(watch: Watch) -> Callable[[int], None]:
    def bounded(nodes: int = 0) -> None:
        watch()
        if nodes > _LARGE:
            raise _TooLarge

    return bounded


@dataclass
class _Bounded(Limits):
    """The limits of a query, and a bound on the size of a diagram that is optional."""

    limits: Limits = field(default_factory=Limits)

    def __call__(self, nodes: int = 0) -> None:
        self.limits(nodes)
        if nodes > _LARGE:
            raise _TooLarge

    watch = __call__


def _whole_plan(bound: Bound, core: CoreProgram, backend: str, limits: Limits) -> Plan:
    """Compile a program for all datasets as a whole."""
    formula = encode_core(expand_shuffles(core), bound, None, backend, limits)
    limits.watch(formula.nodes)
    table = table_for(bound, formula)
    chain = make_chain(formula, bound.record, limits.watch) if isinstance(bound.neighbours, str) else None
    local = None if chain is None else find_local_table(bound, formula, chain)
    return Plan(bound, table, chain=chain, local=local, core=core, backend=backend)
