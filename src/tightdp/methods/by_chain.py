"""Programs whose diagram is a chain of client blocks: the tight ratio by linear forms along the chain."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice, zip_longest
from typing import TypeVar

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import Output
from tightdp.language.program import Bound, Dataset
from tightdp.logic.bdd import TooDeep
from tightdp.methods import chain_eliminated as eliminated
from tightdp.methods.base import (
    Comparison,
    Control,
    Exact,
    Named,
    Pair,
    Ratio,
    Refusal,
    Tight,
    Work,
    on_table,
    ratios_of_pairs,
)
from tightdp.methods.by_aggregates import costly
from tightdp.methods.by_elimination import EliminationTable
from tightdp.methods.chain import Chain
from tightdp.methods.chain_eliminated import EliminatedChain, eliminate_to_chain
from tightdp.methods.chain_forms import Found, TooManyForms, every_ratio, found
from tightdp.methods.chain_screen import MOST_DATASETS, screened
from tightdp.methods.chain_search import BRIEF, THOROUGH, blockwise_bound, largest_ratio
from tightdp.methods.elimination_plan import TooWide
from tightdp.methods.leaf_laws import cells
from tightdp.methods.program import FEW_DATASETS, MOST_CELLS, Method, Program, TooLarge, at_most
from tightdp.methods.ranking import alike_pairs
from tightdp.methods.symmetry import Symmetry, of_chain
from tightdp.symmetry.sets import PrivacySet, Table, every_neighbouring_pair

__all__ = [
    "Chained",
    "OfRows",
    "WithoutDiagram",
    "look",
    "look_at_large",
    "look_at_rows",
    "look_at_small",
    "look_before_aggregates",
    "look_for_some_pairs",
    "look_without_diagram",
]

_MOST_PAIRS = 4096
"""Of so many promising pairs the laws are compared where all pairs are too many."""


class Chained(Method):
    """A chain of client blocks."""

    name = "chain"

    def __init__(self, program: Program, chain: Chain, table: Table) -> None:
        self.program = program
        self.chain = chain
        self.table = table

    def laws(self, control: Control) -> Table | Refusal:
        return self.table

    def tight(self, control: Control) -> Tight | Refusal:
        return self._searched(control, THOROUGH)

    def in_order(self, control: Control) -> Iterator[Pair] | Refusal:
        return alike_pairs(self.program.bound, self.table)

    def ratio_bound(self) -> Exact:
        return self._blockwise

    def every_ratio(self, control: Control) -> Iterator[Named] | Refusal:
        return self._every_ratio(control)

    def symmetry(self) -> Symmetry:
        return self._symmetry

    @cached_property
    def _blockwise(self) -> Exact:
        return blockwise_bound(self.chain, self.program.bound)

    @cached_property
    def _symmetry(self) -> Symmetry:
        return of_chain(self.chain, self.program.bound, self.program.formula(Control()))

    def _searched(self, control: Control, limits: Sequence[tuple[int, int]]) -> Tight:
        searched = largest_ratio(self.chain, self.program.bound, control, limits)
        witness = None if searched.found is None else self._named(searched.found)
        control.queries += 0 if witness is None else 2
        return Tight(searched.lower, searched.upper, witness, searched.reason, searched.cut_short)

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

    def _every_ratio(self, control: Control) -> Iterator[Named]:
        try:
            for ratio, x, x_prime, code in every_ratio(self.chain, self.program.bound, control):
                yield ratio, x, x_prime, self.table.codes.first(code)
        except TooManyForms:
            yield from ratios_of_pairs(on_table(self.table, every_neighbouring_pair(self.program.bound), control))


class WithoutDiagram(Chained):
    """A chain obtained by elimination; it gives the tight ratio only."""

    def __init__(self, program: Program, made: EliminatedChain, table: EliminationTable) -> None:
        super().__init__(program, made.chain, table)
        self._made = made

    def work(self) -> tuple[Work, ...]:
        return (Work("blocks", self.program.bound.n, len(self.chain.blocks)),)

    def laws(self, control: Control) -> Table | Refusal:
        return Refusal("chain: without a diagram it gives no laws")

    def every_ratio(self, control: Control) -> Iterator[Named] | Refusal:
        return Refusal("chain: without a diagram it does not list every ratio")

    def symmetry(self) -> Symmetry:
        return Symmetry(())

    def _named(self, witness: Found) -> Ratio:
        output = self.program.core(Control()).shape.decode(self._made.values(witness.code))
        p, q = (self._made.probability(x, witness.code) for x in (witness.x, witness.x_prime))
        return self._checked(witness, output, p, q)


class Brief(Chained):
    """A chain that is tried before costly aggregates: it answers only where a few linear forms are enough."""

    def laws(self, control: Control) -> Table | Refusal:
        return Refusal("chain: aggregates give the laws")

    def tight(self, control: Control) -> Tight | Refusal:
        tight = self._searched(control, BRIEF)
        return Refusal("chain: the search would have to follow many forms") if tight.gave_up else tight

    def every_ratio(self, control: Control) -> Iterator[Named] | Refusal:
        return Refusal("chain: aggregates list every ratio")


class SomePairs(Chained):
    """A chain of which only promising pairs of neighbours are compared; the tight ratio is the upper bound."""

    def tight(self, control: Control) -> Tight | Refusal:
        return Refusal("chain: some pairs do not give the tight ratio")

    def comparison(self, control: Control) -> Comparison:
        bound = self.program.bound
        if self.program.datasets <= FEW_DATASETS:
            return on_table(self.table, every_neighbouring_pair(bound), control)
        searched = largest_ratio(self.chain, bound, control)
        worst = None if searched.found is None else (searched.found.x, searched.found.x_prime)
        pairs = on_table(self.table, PrivacySet(lambda: islice(_promising(bound, worst), _MOST_PAIRS)), control)
        hint = "use fewer records" if self.program.forced is None else "leave the method out, which compares no others"
        return Comparison(pairs.pairs, None, LimitError("only promising pairs are compared", hint), searched.upper)

    def every_ratio(self, control: Control) -> Iterator[Named] | Refusal:
        return Refusal("chain: some pairs do not have every ratio")


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


class OfRows(WithoutDiagram):
    """A chain whose nodes are rows of elimination, of which the tight ratio is found on all datasets at once."""

    def tight(self, control: Control) -> Tight | Refusal:
        alone = [[at] for at in range(len(self.chain.blocks))]
        screen = screened(self.chain, self.program.bound, lambda below: alone, control)
        if screen is None:
            return Refusal("chain: the probabilities of all datasets are too many to look at")
        witness = self._named(found(self.chain, self.program.bound, screen.head, screen.tail, screen.taken))
        reason = (
            None if screen.lower == screen.upper else LimitError("many pairs come close to it", "use fewer records")
        )
        return Tight(screen.lower, screen.upper, witness, reason)

    def ratio_bound(self) -> Exact:
        return math.inf

    def _named(self, witness: Found) -> Ratio:
        output = self.table.codes.first(witness.code)
        p, q = (self.table.weights(x).probability(witness.code) for x in (witness.x, witness.x_prime))
        return self._checked(witness, output, p, q)


def look_at_rows(program: Program, control: Control) -> OfRows | Refusal:
    """Return the method where datasets are not too many, and the rows that elimination keeps few."""
    bound = program.bound
    if program.forced is not None or program.datasets > MOST_DATASETS or relation_of(bound).custom:
        return Refusal("chain: the datasets are many, or neighbours are given by a function")
    try:
        table = EliminationTable(bound, program.core(control), watch=control)
    except TooWide:
        return Refusal("chain: elimination keeps many values at a time")
    made = None
    if not table.codes.several:
        made = eliminate_to_chain(table.program, bound.record, control, eliminated.THOROUGH, at_the_end=True)
    if made is None:
        return Refusal("chain: elimination keeps many rows between clients")
    return OfRows(program, made, table)


def look_at_small(program: Program, control: Control) -> Chained | Refusal:
    """Return the method where the diagram is small, and a chain."""
    if program.forced is not None or not program.small(control):
        return Refusal("chain: the diagram is not small")
    return _made(Chained, program, control)


def look_without_diagram(program: Program, control: Control) -> WithoutDiagram | Refusal:
    """Return the method where elimination finds few states between clients, one after the other."""
    if program.forced is not None or relation_of(program.bound).custom:
        return Refusal("chain: it is asked for by name, or neighbours are given by a function")
    core = program.expanded(control)
    made = program.once("chain without diagram", lambda: eliminate_to_chain(core, program.bound.record, control))
    if made is None:
        return Refusal("chain: between clients there are many states")
    return WithoutDiagram(program, made, EliminationTable(program.bound, core, watch=control))


def look_at_large(program: Program, control: Control) -> Chained | Refusal:
    """Return the method where the diagram is not very large, and a chain; never before elimination was tried."""
    if program.forced is not None or cells(program.expanded(control)) > MOST_CELLS:
        return Refusal("chain: the values of the program are many")
    try:
        return _made(Chained, program, at_most(control))
    except (TooDeep, TooLarge):
        return Refusal("chain: the diagram grows large")


def look(program: Program, control: Control) -> Chained | Refusal:
    """Return the method where the diagram is a chain."""
    return _made(Chained, program, control)


def look_before_aggregates(program: Program, control: Control) -> Brief | Refusal:
    """Return the method for a program whose aggregates are costly and whose diagram is small."""
    aggregate = program.aggregate(control)
    if program.forced is not None or aggregate is None or not aggregate.affordable or not costly(aggregate):
        return Refusal("chain: there are no costly aggregates to avoid")
    try:
        return _made(Brief, program, at_most(control))
    except TooLarge:
        return Refusal("chain: the diagram grows large, and there are aggregates")


def look_for_some_pairs(program: Program, control: Control) -> SomePairs | Refusal:
    """Return the method where the diagram is a chain."""
    return _made(SomePairs, program, control)


M = TypeVar("M", bound=Chained)


def _made(kind: type[M], program: Program, control: Control) -> M | Refusal:
    if relation_of(program.bound).custom:
        return Refusal("chain: neighbours are given by a function")
    chain = program.chain(control)
    if chain is None:
        return Refusal("chain: the diagram is no chain of client blocks, or one with maps that are too large")
    return kind(program, chain, program.table(control))
