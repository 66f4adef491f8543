"""The steps in which elimination goes through a program, and what they are estimated to cost.

A step adds one column, the value of a node, and drops the columns that no later step reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import log2

from tightdp.core.nodes import CoreProgram, Expr
from tightdp.methods.elimination_nodes import Nodes, leaf_orders, make_nodes

__all__ = ["ROWS_IN_ONE", "STEP", "Plan", "Step", "TooWide", "first_plan", "make_plan", "plans"]

ROWS_IN_ONE = 128
"""Work is counted in values computed one by one, some microsecond each; so many rows of a column take as long."""
STEP = 64
"""A step takes as long as computing this many values one by one, even without any rows."""
_MOST_WIDTH = 20_000_000
"""How many columns a plan may have, summed over its steps."""
_CHEAP = 18
"""Where at most 2 to this power rows are made, no other order is tried."""
_WIDE = 40
"""Where at most 2 to this power rows may be made, the order by need is taken without another look."""
_LARGEST = 1 << 62
"""Estimates are cut off here."""


class TooWide(Exception):
    """A program keeps too many values at a time for a plan."""


@dataclass(frozen=True)
class Step:
    """One step: what is done (input, draw, apply, case, and, or, check), and the place of the node it is about.

    Where the value of `active` is false a run makes no draw, and any outcome will do. No later step reads `dropped`.
    """

    kind: str
    node: int
    active: int | None
    dropped: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """The steps for one program, in order.

    `logarithm` bounds the number of rows of all steps for one dataset, base 2; `width` are the columns of all steps.
    """

    program: CoreProgram
    nodes: Nodes
    steps: Sequence[Step]
    logarithm: float
    width: int

    @property
    def inputs(self) -> list[int]:
        """The places of the input leaves, in the order in which they are learned."""
        return [step.node for step in self.steps if step.kind == "input"]

    def estimate(self, lanes: int = 1) -> int:
        """Return an estimate of the work for so many datasets (see `ROWS_IN_ONE`): every step, and a bound on its rows.

        The actual work (`Elimination.work`) is far less where rows become equal, or few runs make a draw.
        """
        if self.logarithm + log2(lanes) > log2(_LARGEST):
            return _LARGEST
        return STEP * len(self.steps) + int(2**self.logarithm * lanes) // ROWS_IN_ONE


def make_plan(program: CoreProgram) -> Plan:
    """Return the plan with the least estimate, of those that some orders of the leaves give. Raises TooWide."""
    return min(plans(program), key=lambda plan: plan.logarithm)


def first_plan(program: CoreProgram) -> Plan:
    """Return the plan by need, or as written where that needs far fewer rows. Raises TooWide."""
    found = plans(program, _WIDE)[:2]
    return found[0] if found[0].logarithm < _WIDE else min(found, key=lambda plan: plan.logarithm)


def plans(program: CoreProgram, cheap: float = _CHEAP) -> list[Plan]:
    """Return the plans that some orders of the leaves give: one where it is certainly cheap. Raises TooWide."""
    found: list[Plan] = []
    for leaves in leaf_orders(program):
        with suppress(TooWide):
            found.append(_plan(program, leaves))
            if found[0].logarithm < cheap:
                break
    if not found:
        raise TooWide
    return found


def _plan(program: CoreProgram, leaves: Sequence[Expr]) -> Plan:
    nodes = make_nodes(program, leaves)
    order = sorted(range(len(nodes.nodes)), key=lambda place: (nodes.rank[place], place))
    position = {place: at for at, place in enumerate(order)}
    checks = set(nodes.checks)
    done: list[tuple[str, int, int | None]] = []
    for place in order:
        if nodes.nodes[place].kind == "input" or not nodes.plain[place]:
            active = nodes.active.get(place)
            known = active is not None and position[active] < position[place]
            done.append((nodes.nodes[place].kind, place, active if known else None))
        if place in checks:
            done.append(("check", place, None))
    return _laid_out(program, nodes, done)


def _laid_out(program: CoreProgram, nodes: Nodes, done: Sequence[tuple[str, int, int | None]]) -> Plan:
    """Return the plan of some steps, each with what it drops."""
    last: dict[int, int] = {}
    for at, (kind, place, active) in enumerate(done):
        reads = (place,) if kind == "check" else (place, *nodes.nodes[place].operands)
        last.update(dict.fromkeys(reads if active is None else (*reads, active), at))
    last.update(dict.fromkeys((*nodes.components, *nodes.evidence[-1:]), len(done)))
    ending: dict[int, list[int]] = {}
    for place, at in last.items():
        if not nodes.plain[place]:
            ending.setdefault(at, []).append(place)
    steps: list[Step] = []
    bits = branching = most = 0.0
    columns = width = 0
    for at, (kind, place, active) in enumerate(done):
        dropped = tuple(ending.get(at, ()))
        size = log2(nodes.nodes[place].size)
        added = kind not in ("input", "check")
        width += columns
        if width > _MOST_WIDTH:
            raise TooWide
        columns += added - len(dropped)
        bits += added * size - sum(log2(nodes.nodes[column].size) for column in dropped)
        branching += size if kind == "draw" else 0
        rows = max(min(bits, branching), 0.0)
        most = max(most, rows) + log2(1 + 2 ** (min(most, rows) - max(most, rows)))
        steps.append(Step(kind, place, active, dropped))
    return Plan(program, nodes, steps, most, width)
