"""Programs whose diagram is a chain of client blocks: the tight ratio by linear forms along the chain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from itertools import islice, zip_longest

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import Output
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import (
    ALLOWED,
    FEW_DATASETS,
    MOST_ENTRIES,
    MOST_WORK,
    NO_LIMIT,
    TABLE_ENTRIES,
)
from tightdp.logic.bdd import TooDeep
from tightdp.methods.base import (
    Comparison,
    Control,
    Exact,
    Pair,
    Ratio,
    Refusal,
    Tight,
    exceeded,
    on_table,
    too_much,
)
from tightdp.methods.by_elimination import EliminationTable
from tightdp.methods.chain import Chain, TooManyEntries
from tightdp.methods.chain_eliminated import EliminatedChain, eliminate_to_chain
from tightdp.methods.chain_forms import Found
from tightdp.methods.chain_search import blockwise_bound, largest_ratio
from tightdp.methods.compiled import TooLarge, at_most
from tightdp.methods.program import Method, Program
from tightdp.methods.ranking import alike_pairs
from tightdp.methods.symmetry import Symmetry, of_chain
from tightdp.symmetry.sets import PrivacySet, Table, every_neighbouring_pair


class Chained(Method):
    """A chain of client blocks."""

    name = "chain"

    def __init__(self, program: Program, chain: Chain, table: Table) -> None:
        self.program = program
        self.chain = chain
        self.table = table

    def laws(self, control: Control) -> Table | Refusal:
        return self.table

    def tight(self, control: Control, budget: int) -> Tight | Refusal:
        try:
            searched = largest_ratio(self.chain, self.program.bound, at_most(control, budget))
        except TooLarge:
            return exceeded("chain", budget)
        witness = None if searched.found is None else self._named(searched.found)
        return Tight(searched.lower, searched.upper, witness, searched.reason, searched.cut_short)

    def in_order(self, control: Control) -> Iterator[Pair] | Refusal:
        return alike_pairs(self.program.bound, self.table)

    def ratio_bound(self) -> Exact:
        return self._blockwise

    def symmetry(self) -> Symmetry:
        return self._symmetry

    @cached_property
    def _blockwise(self) -> Exact:
        return blockwise_bound(self.chain, self.program.bound)

    @cached_property
    def _symmetry(self) -> Symmetry:
        return of_chain(self.chain, self.program.bound, self.program.formula(Control()))

    def _named(self, witness: Found) -> Ratio:
        """Return a witness with its output and probabilities, recomputed on the table."""
        output = self.table.codes.first(witness.code)
        return self._checked(
            witness, output, *(self.table.chance(x, witness.code) for x in (witness.x, witness.x_prime))
        )

    def _checked(self, witness: Found, output: Output, p: Number, q: Number) -> Ratio:
        if (p / q if q else math.inf) != witness.ratio:
            raise AssertionError("a witness does not have its ratio: a defect of the search")
        return Ratio(witness.ratio, witness.x, witness.x_prime, output, p, q)


class WithoutDiagram(Chained):
    """A chain obtained by elimination; it gives the tight ratio only."""

    def __init__(self, program: Program, made: EliminatedChain, table: EliminationTable) -> None:
        super().__init__(program, made.chain, table)
        self._made = made

    def work(self) -> int:
        return self._made.work

    def laws(self, control: Control) -> Table | Refusal:
        return Refusal("chain: without a diagram it gives no laws")

    def symmetry(self) -> Symmetry:
        return Symmetry(())

    def _named(self, witness: Found) -> Ratio:
        output = self.program.core(Control()).shape.decode(self._made.values(witness.code))
        p, q = (self._made.probability(x, witness.code) for x in (witness.x, witness.x_prime))
        return self._checked(witness, output, p, q)


class SomePairs(Chained):
    """A chain of which only promising pairs of neighbours are compared; the tight ratio is the upper bound."""

    def tight(self, control: Control, budget: int) -> Tight | Refusal:
        return Refusal("chain: some pairs do not give the tight ratio")

    def comparison(self, control: Control) -> Comparison:
        bound = self.program.bound
        if self.program.datasets <= FEW_DATASETS:
            return on_table(self.table, every_neighbouring_pair(bound), control)
        searched = largest_ratio(self.chain, bound, control)
        worst = None if searched.found is None else (searched.found.x, searched.found.x_prime)
        pairs = on_table(self.table, PrivacySet(lambda: islice(_promising(bound, worst), TABLE_ENTRIES)), control)
        hint = "use fewer records" if self.program.forced is None else "leave the method out, which compares no others"
        return Comparison(pairs.entries, None, LimitError("only promising pairs are compared", hint), searched.upper)


def _promising(bound: Bound, worst: tuple[Dataset, Dataset] | None) -> Iterator[tuple[Dataset, Dataset, int]]:
    """Yield a worst pair for δ = 0, and pairs around it and around datasets of equal records, in turn; some twice."""
    if worst is not None:
        yield *worst, 0
    related = relation_of(bound).neighbours
    centres = [*(worst or ()), *((record,) * bound.n for record in bound.record.values)]
    for others in zip_longest(*map(related, centres)):
        for x, other in zip(centres, others, strict=True):
            if other is not None:
                yield x, other, 0
                yield other, x, 0


def look(program: Program, control: Control, budget: int) -> Chained | Refusal:
    """Return the method where the diagram is a chain."""
    chain = _chain_of_diagram(program, control, budget)
    if isinstance(chain, Refusal):
        return chain
    found = Chained(program, chain, program.table(control))
    found.estimate = program.steps_to_compile(control, budget)
    return found


def look_for_some_pairs(program: Program, control: Control, budget: int) -> SomePairs | Refusal:
    """Return the method where the diagram is a chain, and nothing else is left."""
    if budget < NO_LIMIT:
        return too_much("chain", NO_LIMIT)
    found = _chain_of_diagram(program, control, budget)
    return found if isinstance(found, Refusal) else SomePairs(program, found, program.table(control))


def _chain_of_diagram(program: Program, control: Control, budget: int) -> Chain | Refusal:
    if relation_of(program.bound).custom:
        return Refusal("chain: neighbours are given by a function")
    begun = budget // ALLOWED  # what is known to need more than the others is not begun before them
    try:
        needs = program.steps_to_compile(control, begun)
    except TooDeep:
        if budget == NO_LIMIT:
            raise
        needs = MOST_WORK + 1
    if needs > begun:
        return too_much("chain", needs)
    try:
        chain = program.chain(control, min(budget, MOST_ENTRIES))
    except TooManyEntries:
        large = Refusal("chain: the diagram is a chain of client blocks with maps that are too large")
        return exceeded("chain", budget) if budget < MOST_ENTRIES else large
    return chain or Refusal("chain: the diagram is no chain of client blocks")


def look_without_diagram(program: Program, control: Control, budget: int) -> WithoutDiagram | Refusal:
    """Return the method where elimination finds few states between clients, one after the other."""
    if program.forced is not None or relation_of(program.bound).custom:
        return Refusal("chain: it is asked for by name, or neighbours are given by a function")
    core = program.expanded(control)
    made = eliminate_to_chain(core, program.bound.record, control, budget)
    if isinstance(made, Refusal):
        return made
    found = WithoutDiagram(program, made, EliminationTable(program.bound, core, watch=control))
    found.estimate = budget
    return found
