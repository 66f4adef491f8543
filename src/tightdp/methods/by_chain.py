"""Programs that are a chain of client blocks: the tight ratio by linear forms along the chain."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import islice, zip_longest
from typing import TypeAlias, TypeVar

from tightdp.core.nodes import CoreProgram
from tightdp.core.operators import Value
from tightdp.core.outputs import PlaceCodes
from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.exact.whole import Whole
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import Output
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import ALLOWED, LITTLE_WORK, NO_LIMIT
from tightdp.logic.count import TooManyOutputs, Weights
from tightdp.methods.base import (
    Comparison,
    Control,
    Exact,
    Named,
    Pair,
    Ratio,
    Refusal,
    Tight,
    exceeded,
    on_table,
    ratios_of_pairs,
    too_much,
)
from tightdp.methods.chain_eliminated import EliminatedChain, eliminate_to_chain
from tightdp.methods.chain_forms import Found, TooManyForms, every_ratio
from tightdp.methods.chain_search import BRIEF, THOROUGH, blockwise_bound, largest_ratio
from tightdp.methods.program import FEW_DATASETS, Method, Program
from tightdp.methods.ranking import alike_pairs
from tightdp.methods.symmetry import Symmetry, of_chain
from tightdp.symmetry.sets import PrivacySet, Table, every_neighbouring_pair

__all__ = ["Chained", "look", "look_for_some_pairs"]

_MOST_PAIRS = 4096
"""Of so many promising pairs the laws are compared where all pairs are too many."""

M = TypeVar("M", bound="Chained")
_Arrows = dict[int, list[tuple[int, int, Whole]]]
"""By node above a block: output bits, node below, weight."""
Kind: TypeAlias = Callable[[Program, EliminatedChain], M]


class ChainTable(Table):
    """The laws of a chain: what flows down its blocks for the records of a dataset, by the output so far."""

    codes: PlaceCodes

    def __init__(self, bound: Bound, core: CoreProgram, made: EliminatedChain) -> None:
        super().__init__(bound, PlaceCodes([component.values for component in core.components], core.shape))
        self._made = made
        self._down: list[dict[Record, _Arrows]] = []
        for block in made.chain.blocks:
            down: dict[Record, _Arrows] = {}
            for (record, bits), below, above, weight in block.arrows():
                down.setdefault(record, {}).setdefault(above, []).append((bits, below, weight))
            self._down.append(down)
        self.nodes = sum(len(arrows) for down in self._down for arrows in down.values())

    def _reached(self, x: Dataset, most: int) -> bool:
        try:
            self._noted(x, self._counted(x, most))
        except TooManyOutputs:
            return False
        return True

    def _counted(self, x: Dataset, most: int | None = None) -> Weights:
        """Return a law. Raises TooManyOutputs where it takes more than `most` probabilities."""
        chain = self._made.chain
        flow = {(head, node): weight for head, vector in chain.heads.items() for node, weight in vector.items()}
        for block, down in zip(chain.blocks, self._down, strict=True):
            self.watch()
            arrows, after = down.get(x[block.client], {}), dict[tuple[int, int], Whole]()
            for (code, node), weight in flow.items():
                for bits, below, share in arrows.get(node, ()):
                    key = code << block.bits | bits, below
                    after[key] = after.get(key, 0) + weight * share
            if most is not None and len(after) > most:
                raise TooManyOutputs
            flow = after
        found: dict[int, Whole] = {}
        for (code, node), weight in flow.items():
            found[code] = found.get(code, 0) + weight * chain.tails[0][node]
        if sum(found.values()) != self._made.denominator:
            raise AssertionError("the output law does not sum to 1: a defect of the chain")
        by_code = {self._shown(code): weight for code, weight in found.items()}
        return Weights(dict(sorted(by_code.items())), self._made.denominator)

    def _shown(self, code: int) -> int:
        values = zip(self.codes.index, self._made.values(code), strict=True)
        return self.codes.code([index[value] for index, value in values])

    def chance(self, x: Dataset, code: int) -> Number:
        if x in self._laws:
            return self._laws[x].probability(code)
        own = self._made.code(self.codes.component_values(code))
        return Fraction(0) if own is None else self._made.probability(x, own)


class Chained(Method):
    """A chain of client blocks."""

    name = "chain"

    def __init__(self, program: Program, made: EliminatedChain) -> None:
        self.program = program
        self.made, self.chain = made, made.chain

    def work(self) -> int:
        return self.made.work

    def laws(self, control: Control) -> Table | Refusal:
        return self.table

    def tight(self, control: Control, budget: int) -> Tight | Refusal:
        little = ALLOWED * LITTLE_WORK
        brief = budget <= little and self.program.aggregate(control) is not None
        found = self._searched(control, BRIEF if brief else THOROUGH)
        return exceeded("chain", budget) if found.gave_up and brief else found

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
        def named(bits: int) -> str:
            values = self.made.values_at_the_end(bits)
            return f"whose last part is number {bits}" if values is None else str(self._decoded(values))

        return of_chain(self.chain.by_output, self.program.bound, named)

    @cached_property
    def table(self) -> ChainTable:
        """The laws of outputs."""
        return ChainTable(self.program.bound, self.program.core(Control()), self.made)

    def _decoded(self, values: list[Value]) -> Output:
        return self.program.core(Control()).shape.decode(values)

    def _searched(self, control: Control, limits: Sequence[tuple[int, int]]) -> Tight:
        searched = largest_ratio(self.chain, self.program.bound, control, limits)
        witness = None if searched.found is None else self._named(searched.found)
        control.queries += 0 if witness is None else 2
        return Tight(searched.lower, searched.upper, witness, searched.reason, searched.cut_short)

    def _named(self, witness: Found) -> Ratio:
        """Return a witness with its output and probabilities, recomputed."""
        p, q = (self.made.probability(x, witness.code) for x in (witness.x, witness.x_prime))
        if (p / q if q else math.inf) != witness.ratio:
            raise AssertionError("a witness does not have its ratio: a defect of the search")
        output = self._decoded(self.made.values(witness.code))
        return Ratio(witness.ratio, witness.x, witness.x_prime, output, p, q)

    def _every_ratio(self, control: Control) -> Iterator[Named]:
        bound = self.program.bound
        try:
            for ratio, x, x_prime, code in every_ratio(self.chain, bound, control):
                yield ratio, x, x_prime, self._decoded(self.made.values(code))
        except TooManyForms:
            yield from ratios_of_pairs(on_table(self.table, every_neighbouring_pair(bound), control))


class SomePairs(Chained):
    """A chain of which only promising pairs of neighbours are compared; the tight ratio is the upper bound."""

    def tight(self, control: Control, budget: int) -> Tight | Refusal:
        return Refusal("chain: some pairs do not give the tight ratio")

    def comparison(self, control: Control) -> Comparison:
        bound, table = self.program.bound, self.table
        if self.program.datasets <= FEW_DATASETS:
            return on_table(table, every_neighbouring_pair(bound), control)
        searched = largest_ratio(self.chain, bound, control)
        worst = None if searched.found is None else (searched.found.x, searched.found.x_prime)
        pairs = on_table(table, PrivacySet(lambda: islice(_promising(bound, worst), _MOST_PAIRS)), control)
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


def look(program: Program, control: Control, budget: int) -> Chained | Refusal:
    """Return the method where elimination finds few states between clients, one after the other."""
    return _made(Chained, program, control, budget)


def look_for_some_pairs(program: Program, control: Control, budget: int) -> SomePairs | Refusal:
    """Return the method where the program is a chain, and nothing else is left."""
    return too_much("chain", NO_LIMIT) if budget < NO_LIMIT else _made(SomePairs, program, control, budget)


def _made(
    kind: Callable[[Program, EliminatedChain], M], program: Program, control: Control, budget: int
) -> M | Refusal:
    if relation_of(program.bound).custom:
        return Refusal("chain: neighbours are given by a function")
    if program.bound.n == 1 and program.forced is None:
        return Refusal("chain: it is a single client")
    made = eliminate_to_chain(program.expanded(control), program.bound.record, control, budget)
    if isinstance(made, Refusal):
        return made
    found = kind(program, made)
    found.estimate = made.work
    return found
