"""A program as a chain of client blocks without a diagram: a state is what is still needed at a client's record.

Records are taken as draws, so that elimination keeps of them what is needed later and nothing else. Between the first
needs of the records of two clients it is followed from every state that occurs, for every record. Output components
are noted in the block in which they are computed, and kept in the state only while something reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from tightdp.core.nodes import CoreProgram, Expr, Input, reachable
from tightdp.core.operators import Value
from tightdp.core.passes import Rebuild
from tightdp.errors import QueryError
from tightdp.exact.arrays import Integers, np
from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.language.domains import Domain
from tightdp.language.program import Dataset
from tightdp.limits.calibrated import FEW_DATASETS, MOST_WORK, NO_LIMIT, TABLE_ENTRIES
from tightdp.logic.formula import code_length
from tightdp.methods.base import Refusal, exceeded
from tightdp.methods.chain import Block, Chain, Letter
from tightdp.methods.elimination import Elimination, Failed, TooMuchWork
from tightdp.methods.elimination_columns import Column, combinations
from tightdp.methods.elimination_plan import Plan, TooWide, first_plan

_STEPS_PER_STATE = 400

_Row = tuple[Value, ...]
_States = tuple[dict[int, Column], int]
"""What is kept of some states, by node, and how many they are."""
_Decided = list[tuple[int, int]]
"""Output components, by number and node."""


@dataclass(frozen=True)
class EliminatedChain:
    """A chain, and the values of the output components that the bits of its letters stand for.

    `decided[0]` belongs to what comes before any client, `decided[i]` to block i.
    """

    chain: Chain
    components: tuple[tuple[int, ...], ...]
    decided: tuple[tuple[_Row, ...], ...]
    denominator: Whole
    """What weights along the whole chain have to be divided by."""
    work: int
    """The steps that it took."""

    def probability(self, x: Dataset, code: int) -> Number:
        """Return P(output | x) for the output of a code."""
        *letters, head = self._letters(code)[::-1]
        vector = self.chain.tails[0]
        for block, bits in zip(self.chain.blocks[::-1], letters, strict=True):
            letter = x[block.client], bits
            vector = block.pull(letter, vector) if letter in block.into else {}
        above = self.chain.heads[head]
        return quotient(sum(weight * vector.get(node, 0) for node, weight in above.items()), self.denominator)

    def values(self, code: int) -> list[Value]:
        """Return the values of the components of the program that a code of the chain stands for."""
        found: dict[int, Value] = {}
        for letter, components, rows in zip(self._letters(code), self.components, self.decided, strict=True):
            found.update(zip(components, rows[letter], strict=True))
        return [found[component] for component in sorted(found)]

    def _letters(self, code: int) -> list[int]:
        """Return the bits of a code that belong to the head, and to every block."""
        found = []
        for rows in reversed(self.decided):
            bits = code_length(len(rows))
            found.append(code & (1 << bits) - 1)
            code >>= bits
        return found[::-1]


def eliminate_to_chain(
    program: CoreProgram,
    record: Domain,
    watch: Callable[[], None],
    budget: int,
) -> EliminatedChain | Refusal:
    """Return a program without `Shuffled` nodes as a chain of client blocks, made in at most so many steps.

    Refused where it conditions on something, where it does not use the records client by client, and where a run can
    fail.
    """
    refusal = Refusal("chain: records are not needed one client after the other, or a run can fail")
    needed = [expr for expr in reachable(program.roots) if isinstance(expr, Input)]
    if program.evidence or not needed or record.size > FEW_DATASETS or any(len(leaf.values) < 2 for leaf in needed):
        return refusal
    try:
        return _Maker(program, record, watch, budget).made() or refusal
    except TooMuchWork:
        if budget < NO_LIMIT:
            return exceeded("chain", budget)
        return Refusal("chain: between clients there are many states")
    except (TooWide, Failed, QueryError):
        return refusal


class _Maker:
    def __init__(self, program: CoreProgram, record: Domain, watch: Callable[[], None], budget: int) -> None:
        self.record, self.budget = record, budget
        drawn, leaves = _drawing(program)
        self.plan = first_plan(drawn)
        place = {node.expr.serial: at for at, node in enumerate(self.plan.nodes.nodes)}
        self.places = {(client, leaf): place[serial] for (client, leaf), serial in leaves.items() if serial in place}
        self.elimination = Elimination(self.plan, [()], watch, min(budget, MOST_WORK))
        self.made_at = {step.node: at for at, step in enumerate(self.plan.steps) if step.kind != "check"}
        self.last = _last_reads(self.plan)

    def made(self) -> EliminatedChain | None:
        bounds = self._bounds()
        if bounds is None:
            return None
        ends = [*(start for _, start in bounds), len(self.plan.steps)]
        decided = [self._decided(start, end) for start, end in zip([-1, *ends], ends, strict=False)]
        numbers: list[dict[_Row, int]] = [{} for _ in decided]
        self.elimination.run(0, ends[0])
        denominator, weights = self.elimination.denominator, self.elimination.weights.tolist()
        bits, (states, reached) = self._letters(decided[0], numbers[0]), self._states(ends[0])
        heads: dict[int, dict[int, Whole]] = {}
        for letter, state, weight in zip(bits.tolist(), reached.tolist(), weights, strict=True):
            head = heads.setdefault(letter, {})
            head[state] = head.get(state, 0) + weight
        blocks = []
        for at, (client, start) in enumerate(bounds, start=1):
            block, below, states = self._block(client, (start, ends[at]), states, decided[at], numbers[at])
            blocks.append(block)
            denominator *= below
        tails: dict[int, dict[int, Whole]] = {0: dict.fromkeys(range(states[1]), 1)} if states[1] else {}
        chain = Chain(heads, tuple(blocks), tails, 0)
        components = tuple(tuple(at for at, _ in own) for own in decided)
        work = int(self.elimination.work)
        return EliminatedChain(chain, components, tuple(map(tuple, numbers)), denominator, work)

    def _bounds(self) -> list[tuple[int, int]] | None:
        """Return the clients whose records are needed, each with the first such step; None where they interleave."""
        order = sorted((self.made_at[place], client) for (client, _), place in self.places.items())
        found: list[tuple[int, int]] = []
        for start, client in order:
            if not found or found[-1][0] != client:
                found.append((client, start))
        return found if len(dict(found)) == len(found) else None

    def _decided(self, start: int, end: int) -> _Decided:
        """Return the components (number, node) that are computed in a range of steps, and noted there."""
        components = enumerate(self.plan.nodes.components)
        return [(at, node) for at, node in components if start <= self.made_at.get(node, -1) < end]

    def _letters(self, decided: _Decided, numbers: dict[_Row, int]) -> Integers:
        """Return the numbers of the values that the components computed last have, by row."""
        columns = [self.elimination.read(node) for _, node in decided]
        together, place = _distinct(columns, len(self.elimination.lane))
        values = [map(column.value, codes.tolist()) for column, codes in zip(columns, together, strict=True)]
        rows = zip(*values, strict=True) if values else [()]
        return np.array([numbers.setdefault(row, len(numbers)) for row in rows], dtype=np.int64)[place]

    def _kept(self, at: int) -> dict[int, Column]:
        """Return the columns that a step from this one on reads: no components that are only given out."""
        return {node: column for node, column in self.elimination.columns.items() if self.last.get(node, -1) >= at}

    def _states(self, at: int) -> tuple[_States, Integers]:
        """Return the states in which rows are before a step, and the number of that of every row."""
        kept = self._kept(at)
        together, place = _distinct(list(kept.values()), len(self.elimination.lane))
        columns = {
            node: Column(column.values, codes) for (node, column), codes in zip(kept.items(), together, strict=True)
        }
        return (columns, int(place.max(initial=-1)) + 1), place

    def _block(
        self, client: int, ends: tuple[int, int], states: _States, decided: _Decided, numbers: dict[_Row, int]
    ) -> tuple[Block, Whole, _States]:
        """Return the block of a client, its denominator, and the states after it."""
        elimination, records, (before, number) = self.elimination, self.record.values, states
        for leaf, column in enumerate(zip(*map(self.record.split, records), strict=True)):
            place = self.places.get((client, leaf))
            if place is not None:
                values, index = elimination.operations.values(self.plan.nodes.nodes[place])
                codes = np.array([index[value] for value in column], dtype=np.int64)
                elimination.given[place] = Column(values, np.tile(codes, number))
        sources = np.repeat(np.arange(number), len(records))
        elimination.begin({node: column.at(sources) for node, column in before.items()}, len(sources))
        halfway = self._emitted(client, ends, decided)
        elimination.run(ends[0], halfway)
        bits = self._letters(decided, numbers)
        elimination.regroup(
            self._kept(halfway), elimination.lane * len(numbers) + bits, len(sources) * max(len(numbers), 1)
        )
        elimination.run(halfway, ends[1])
        after, reached = self._states(ends[1])
        if after[1] > min(self.budget // _STEPS_PER_STATE, TABLE_ENTRIES):
            raise TooMuchWork
        into: dict[Letter, dict[int, list[tuple[int, Whole]]]] = {}
        rows = zip(elimination.lane.tolist(), reached.tolist(), elimination.weights.tolist(), strict=True)
        for lane, state, weight in rows:
            source, letter = divmod(lane, len(numbers))
            number, place = divmod(source, len(records))
            into.setdefault((records[place], letter), {}).setdefault(state, []).append((number, weight))
        block = Block(client, code_length(len(numbers)), tuple(at for at, _ in decided), into)
        return block, elimination.denominator, after

    def _emitted(self, client: int, ends: tuple[int, int], decided: _Decided) -> int:
        """Return the step of a block after which none of its output components, and no record, is read.

        From there on, rows that differ in these alone are merged.
        """
        own = [node for _, node in decided] + [node for (one, _), node in self.places.items() if one == client]
        reads = [at for node in own for at in (self.made_at[node], self.last.get(node, -1))]
        return min(max([ends[0], *(at + 1 for at in reads)]), ends[1])


def _distinct(columns: Sequence[Column], rows: int) -> tuple[Sequence[Integers], Integers]:
    """Return the distinct combinations of the codes of some columns, and the index of every row's own."""
    if not columns:
        return [], np.zeros(rows, dtype=np.int64)
    return combinations(columns, prod(column.radix for column in columns))


def _drawing(program: CoreProgram) -> tuple[CoreProgram, dict[tuple[int, int], int]]:
    """Return a program in which every leaf of a record is a draw, and the serial numbers of these draws."""
    leaves: dict[tuple[int, int], int] = {}

    def substitute(made: Rebuild, expr: Expr) -> Expr | None:
        if not isinstance(expr, Input):
            return None
        law = tuple((value, Fraction(1, len(expr.values))) for value in expr.values)
        drawn = made.builder.draw("record", made.builder.true, [law])
        leaves[expr.client, expr.leaf] = drawn.serial
        return drawn

    return Rebuild(substitute).program(replace(program, inputs=())), leaves


def _last_reads(plan: Plan) -> dict[int, int]:
    """Return the last step that reads each column, other than as an output component."""
    last: dict[int, int] = {}
    for at, step in enumerate(plan.steps):
        reads = (step.node,) if step.kind == "check" else plan.nodes.nodes[step.node].operands
        for column in reads if step.active is None else (*reads, step.active):
            last[column] = at
    return last
