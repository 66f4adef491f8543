"""A program as a chain of client blocks without a diagram: a state is what is still needed at a client's record.

Records are taken as draws, so that elimination keeps of them what is needed later and nothing else. Between the first
needs of the records of two clients it is followed from every state that occurs, for every record. Output components
are noted in the block in which they are computed, and kept in the state only while something reads them; or they are
kept to the end, and outputs are told apart there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from tightdp.core.nodes import CoreProgram, Expr, Input, reachable
from tightdp.core.operators import NOTHING, Value
from tightdp.core.passes import Rebuild
from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole, lcm
from tightdp.language.domains import Domain
from tightdp.language.program import Dataset
from tightdp.logic.formula import code_length
from tightdp.methods.chain import Block, Chain, Letter
from tightdp.methods.elimination import Elimination, Failed, Integers, Part, TooMuchWork, Waiting, Weight
from tightdp.methods.elimination_plan import Plan, Row, Step, TooWide, first_plan

__all__ = ["BRIEF", "THOROUGH", "Effort", "EliminatedChain", "eliminate_to_chain"]

_MOST_RECORDS = 1 << 10
"""Every state is followed for at most this many records."""

_State = tuple[int, Row]
"""The step that a row waits for, and what is kept of the row."""
_Arrows = dict[tuple[Row, _State], Weight]
"""Weight by the components that were computed, and the state reached."""
_Decided = list[tuple[int, int]]
"""Output components, by number and node."""


class Effort(NamedTuple):
    """How many states between two clients are followed, and how many rows are made for all blocks together."""

    states: int
    rows: int


BRIEF = Effort(1 << 10, 1_000_000)
THOROUGH = Effort(4_000, 8_000_000)


@dataclass(frozen=True)
class EliminatedChain:
    """A chain, and the values of the output components that the bits of its letters stand for.

    `decided[0]` belongs to what comes before any client, `decided[i]` to block i. Where outputs are told apart at the
    end, the tails of the chain have the codes of outputs, and no bits belong to letters.
    """

    chain: Chain
    components: tuple[tuple[int, ...], ...]
    decided: tuple[tuple[Row, ...], ...]
    denominator: Whole
    """What weights along the whole chain have to be divided by."""

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
    effort: Effort = BRIEF,
    at_the_end: bool = False,
) -> EliminatedChain | None:
    """Return a program without `Shuffled` nodes as a chain of client blocks; None where that takes too much work.

    With `at_the_end`, outputs are told apart at the end of the chain.

    None, too, where it conditions on something, where it does not use the records client by client, and where a run can
    fail.
    """
    needed = [expr for expr in reachable(program.roots) if isinstance(expr, Input)]
    if program.evidence or not needed or record.size > _MOST_RECORDS or any(len(leaf.values) < 2 for leaf in needed):
        return None
    try:
        return _Maker(program, record, watch, effort, at_the_end).made()
    except (TooMuchWork, TooWide, Failed, QueryError):
        return None


class _Sources:
    """Weights by the number of their source state; an integer factor is multiplied in when weights are added."""

    __slots__ = ("_factor", "_parts")

    def __init__(self, parts: dict[int, Whole], factor: Whole = 1) -> None:
        self._parts, self._factor = parts, factor

    @property
    def by_number(self) -> dict[int, Whole]:
        if self._factor != 1:
            factor = self._factor
            self._parts, self._factor = {number: weight * factor for number, weight in self._parts.items()}, 1
        return self._parts

    def __add__(self, other: _Sources) -> _Sources:
        total, factor = dict(self.by_number), other._factor
        for number, weight in other._parts.items():
            scaled = weight if factor == 1 else weight * factor
            total[number] = total[number] + scaled if number in total else scaled
        return _Sources(total)

    def __mul__(self, factor: Whole) -> _Sources:
        return self if factor == 1 else _Sources(self._parts, self._factor * factor)


class _Plainly(Integers):
    """Integer weights whose common factors are not cancelled along the way."""

    def reduced(self, part: Part) -> Part:
        return part


class _Following(Elimination):
    """Follows a plan for all records of one client at once.

    `given` says, for draws that stand for parts of that record, what they are for every record. The sources of weights
    are numbered by state and record.
    """

    given: dict[int, list[Value]]

    def _drawn(self, at: int, step: Step, part: Part) -> Part:
        if step.node not in self.given:
            return super()._drawn(at, step, part)
        values = self.given[step.node]
        made: dict[Row, Weight] = {}
        for row, weight in part.rows.items():
            for value, own in _by_value(weight, values).items():
                new = (*row, value)
                if step.pick is not None:
                    new = step.pick(new)
                made[new] = made[new] + own if new in made else own
        return Part(made, part.denominator)


def _by_value(weight: _Sources, values: list[Value]) -> dict[Value, _Sources]:
    found: dict[Value, dict[int, Whole]] = {}
    for source, own in weight.by_number.items():
        found.setdefault(values[source % len(values)], {})[source] = own
    return {value: _Sources(by_number) for value, by_number in found.items()}


class _Maker:
    def __init__(
        self, program: CoreProgram, record: Domain, watch: Callable[[], None], effort: Effort, at_the_end: bool
    ) -> None:
        self.program, self.record, self.effort, self.at_the_end = program, record, effort, at_the_end
        drawn, leaves = _drawing(program)
        self.plan = first_plan(drawn)
        place = {node.expr.serial: at for at, node in enumerate(self.plan.nodes.nodes)}
        self.places = {(client, leaf): place[serial] for (client, leaf), serial in leaves.items() if serial in place}
        self.elimination = _Following(self.plan, _Plainly(), watch, effort.rows)
        self.elimination.given = {}
        self.made_at = {step.node: at for at, step in enumerate(self.plan.steps) if step.kind != "check"}
        self.last = _last_reads(self.plan)
        if at_the_end:
            self.last.update(dict.fromkeys(self.plan.nodes.components, len(self.plan.steps)))

    def made(self) -> EliminatedChain | None:
        bounds = self._bounds()
        if bounds is None:
            return None
        ends = [*(start for _, start in bounds), len(self.plan.steps)]
        decided = [self._decided(start, end) for start, end in zip([-1, *ends], ends, strict=False)]
        numbers: list[dict[Row, int]] = [{} for _ in decided]
        head, denominator = self._followed({0: [Part({(): _Sources({0: 1})}, 1)]}, 0, ends[0], decided[0])
        states: dict[_State, int] = {}
        heads: dict[int, dict[int, Whole]] = {}
        for (emitted, state), weight in head.items():
            bits = numbers[0].setdefault(emitted, len(numbers[0]))
            heads.setdefault(bits, {})[states.setdefault(state, len(states))] = weight.by_number[0]
        blocks = []
        for at, (client, start) in enumerate(bounds, start=1):
            block, below, states = self._block(client, (start, ends[at]), states, decided[at], numbers[at])
            blocks.append(block)
            denominator *= below
        tails: dict[int, dict[int, Whole]] = {}
        for (_, row), number in states.items():
            tails.setdefault(self._code(row) if self.at_the_end else 0, {})[number] = 1
        chain = Chain(heads, tuple(blocks), tails, max(tails, default=0).bit_length())
        components = tuple(tuple(at for at, _ in own) for own in decided)
        return EliminatedChain(chain, components, tuple(map(tuple, numbers)), denominator)

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
        if self.at_the_end:
            return []
        components = enumerate(self.plan.nodes.components)
        return [(at, node) for at, node in components if start <= self.made_at.get(node, -1) < end]

    def _code(self, row: Row) -> int:
        """Return the code of the output of a row at the end."""
        place = {column: at for at, column in enumerate(self.plan.layout)}
        code = 0
        for node, component in zip(self.plan.nodes.components, self.program.components, strict=True):
            value = row[place[node]] if node in place else self.elimination.known[node]
            code = code * len(component.index) + component.index[value]
        return code

    def _followed(self, waiting: Waiting, start: int, end: int, decided: _Decided) -> tuple[_Arrows, Whole]:
        """Return the rows that reach step `end`, with the components computed on the way, and the denominator."""
        self.elimination.advance(waiting, start, end, {})
        reached = [(at, self.elimination.merged(parts)) for at, parts in waiting.items()]
        common = lcm(*(part.denominator for _, part in reached))
        arrows: _Arrows = {}
        known = self.elimination.known
        for at, part in reached:
            layout = self.plan.steps[at].layout if at < len(self.plan.steps) else self.plan.layout
            place = {column: number for number, column in enumerate(layout)}
            emitting = [(place.get(node, -1), node) for _, node in decided]
            # What is kept of the row: nothing of components that no later step reads.
            kept = [number for number, column in enumerate(layout) if self.last.get(column, -1) >= at]
            nothing = [NOTHING] * len(layout)
            factor = common // part.denominator
            for row, weight in part.rows.items():
                emitted = tuple(known[node] if number < 0 else row[number] for number, node in emitting)
                values = nothing.copy()
                for number in kept:
                    values[number] = row[number]
                key, scaled = (emitted, (at, tuple(values))), weight * factor
                arrows[key] = arrows[key] + scaled if key in arrows else scaled
        return arrows, common

    def _block(
        self, client: int, ends: tuple[int, int], states: dict[_State, int], decided: _Decided, numbers: dict[Row, int]
    ) -> tuple[Block, Whole, dict[_State, int]]:
        """Return the block of a client, its denominator, and the states after it."""
        records = self.record.values
        for leaf, column in enumerate(zip(*map(self.record.split, records), strict=True)):
            if (client, leaf) in self.places:
                self.elimination.given[self.places[client, leaf]] = list(column)
        by_step: dict[int, dict[Row, Weight]] = {}
        for (at, row), number in states.items():
            sources = range(number * len(records), (number + 1) * len(records))
            by_step.setdefault(at, {})[row] = _Sources(dict.fromkeys(sources, 1))
        waiting = {at: [Part(rows, 1)] for at, rows in by_step.items()}
        halfway = self._emitted(client, ends, decided)
        arrows, common = self._followed(waiting, ends[0], halfway, decided)
        self.elimination.given = {}
        letters = [numbers.setdefault(emitted, len(numbers)) for emitted, _ in arrows]
        merged: dict[int, dict[Row, Weight]] = {}
        for ((_, (at, row)), weight), bits in zip(arrows.items(), letters, strict=True):
            told = _Sources({source * len(numbers) + bits: share for source, share in weight.by_number.items()})
            rows = merged.setdefault(at, {})
            rows[row] = rows[row] + told if row in rows else told
        reached_by, below = self._followed({at: [Part(rows, 1)] for at, rows in merged.items()}, halfway, ends[1], [])
        into: dict[Letter, dict[int, list[tuple[int, Whole]]]] = {}
        after: dict[_State, int] = {}
        for (_, state), weight in reached_by.items():
            reached = after.setdefault(state, len(after))
            for told_source, share in weight.by_number.items():
                source, bits = divmod(told_source, len(numbers))
                number, place = divmod(source, len(records))
                into.setdefault((records[place], bits), {}).setdefault(reached, []).append((number, share))
        if len(after) > self.effort.states:
            raise TooMuchWork
        return Block(client, code_length(len(numbers)), tuple(at for at, _ in decided), into), common * below, after

    def _emitted(self, client: int, ends: tuple[int, int], decided: _Decided) -> int:
        """Return the step of a block after which none of its output components, and no record, is read.

        From there on, rows that differ in these alone are merged.
        """
        own = [node for _, node in decided] + [node for (one, _), node in self.places.items() if one == client]
        reads = [at for node in own for at in (self.made_at[node], self.last.get(node, -1))]
        return min(max([ends[0], *(at + 1 for at in reads)]), ends[1])


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

    rebuild = Rebuild(substitute)
    components = rebuild.copy(program.components)
    checked = rebuild.copy([check.condition for check in program.checks])
    checks = [replace(check, condition=image) for check, image in zip(program.checks, checked, strict=True)]
    return CoreProgram((), components, program.shape, (), tuple(checks)), leaves


def _last_reads(plan: Plan) -> dict[int, int]:
    """Return the last step that reads each column, other than as an output component."""
    last: dict[int, int] = {}
    for at, step in enumerate(plan.steps):
        reads = (step.node,) if step.kind == "check" else plan.nodes.nodes[step.node].operands
        for column in reads if step.active is None else (*reads, step.active):
            last[column] = at
        for conjunction in step.guard:
            last.update((column, at) for column, _ in conjunction)
    return last
