"""The nodes that elimination goes through, and the steps in which it does, with what these are estimated to cost.

An n-ary operation becomes a chain of binary ones, its operands in the order in which they become known, so that a
partial result takes the place of the operands met so far; operations that share their first operands share the chain.
A step adds one column, the value of a node, and drops the columns that no later step reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import log2
from operator import add, ne

from tightdp.core.nodes import Apply, Case, Const, CoreProgram, Draw, Expr, Input, Nary, reachable
from tightdp.core.operators import Value, applied, connected, operation
from tightdp.limits.calibrated import CHEAP_PLAN, PLAN_WIDTH, ROWS_IN_ONE, STEP, WIDE_PLAN

_BINARY: dict[str, Callable[[Value, Value], Value]] = {"sum": add, "min": min, "max": max, "xor": ne}


@dataclass(frozen=True)
class Node:
    """One node; `operands` are the places of others.

    `kind` is const, input, draw, apply, case (selector first), and, or. `function` computes an apply from the values
    of its operands. `size` bounds how many values it takes; `bounds` the least and greatest where all are integers.
    A case takes operand `taken[value]` for a value of its selector; `constants` are those of its operands that are.
    """

    kind: str
    operands: tuple[int, ...]
    size: int
    expr: Expr
    function: Callable[..., Value] | None = None
    bounds: tuple[int, int] | None = None
    taken: dict[Value, int] = field(default_factory=dict)
    constants: dict[int, Value] = field(default_factory=dict)

    def value(self, given: Sequence[Value]) -> Value:
        """Return the value from those of the operands; `NOTHING` where it is not determined, or is refused."""
        if self.function is not None:
            return applied(self.function, given)
        return connected(self.kind == "or", given)

    @property
    def values(self) -> Sequence[Value]:
        """Every value; none where they are not listed, as for a part of a sum."""
        if self.kind in ("and", "or"):
            return (False, True)
        return () if isinstance(self.expr, Nary) else self.expr.values


@dataclass(frozen=True)
class Nodes:
    """All nodes, operands first, and the place of every leaf and root.

    `rank` is the place, among the leaves, of the last one that a node depends on (-1: none); `plain` says whether it
    depends on no draw. `evidence` are the conjunctions of the first conditions of `observe`, the last one that of all;
    `active` gives, for some draws, the condition under which a run makes them.
    """

    nodes: list[Node]
    rank: list[int]
    plain: list[bool]
    leaves: list[int]
    components: list[int]
    checks: list[int]
    evidence: list[int]
    active: dict[int, int]


def _every(program: CoreProgram) -> tuple[list[Expr], set[int]]:
    """Return all nodes below the roots and the conditions of draws that depend on no other leaf; and their numbers."""
    below = reachable(program.roots)
    told = {expr.serial for expr in below}
    conditions = [expr.active for expr in below if isinstance(expr, Draw) and expr.active is not None]
    further: list[Expr] = []
    for expr in reachable(conditions):
        inner = not isinstance(expr, (Draw, Input)) and all(child.serial in told for child in expr.children)
        if inner and expr.serial not in told:
            told.add(expr.serial)
            further.append(expr)
    return sorted([*below, *further], key=lambda expr: expr.serial), told


def leaf_orders(program: CoreProgram) -> Iterator[list[Expr]]:
    """Yield some orders of the draws and inputs of a program in which few values are kept at a time.

    The first is by need; the second is that in which it was written, in which long programs that replace a small state
    again and again keep few values.
    """
    yield _by_need(program)
    yield _as_written(program)
    yield _widest_first(program)


def _as_written(program: CoreProgram) -> list[Expr]:
    """Return the leaves in the order in which a run meets them; an input where it is first looked at."""
    every, _ = _every(program)
    first = {expr.serial: expr.serial for expr in every}
    for expr in reversed(every):
        for child in expr.children:
            if isinstance(child, Input):
                first[child.serial] = expr.serial
    leaves = [expr for expr in every if isinstance(expr, (Draw, Input))]
    return sorted(leaves, key=lambda leaf: (first[leaf.serial], leaf.serial))


def _widest_first(program: CoreProgram) -> list[Expr]:
    """Return the leaves in an order that keeps few values: of operands, what takes most room on the way goes first.

    That is the order in which an expression is computed with the fewest registers, by Sethi and Ullman.
    """
    room: dict[int, float] = {}
    own: dict[int, float] = {}

    def spare(expr: Expr) -> tuple[float, int]:
        return own[expr.serial] - room[expr.serial], expr.serial

    for expr in _every(program)[0]:
        own[expr.serial] = log2(max(len(expr.values), 1))
        most, held = own[expr.serial], 0.0
        for child in sorted(expr.children, key=spare):
            most = max(most, held + room[child.serial])
            held += own[child.serial]
        room[expr.serial] = max(most, own[expr.serial])
    return _by_need(program, spare)


def _age(expr: Expr) -> tuple[float, int]:
    return 0.0, expr.serial


def _by_need(program: CoreProgram, key: Callable[[Expr], tuple[float, int]] = _age) -> list[Expr]:
    """Return the leaves in the order in which going up to the roots meets them, operands by a key: oldest first."""
    _, told = _every(program)
    seen: set[int] = set()
    leaves: list[Expr] = []
    stack: list[tuple[Expr, bool]] = [(root, False) for root in sorted(program.roots, key=key, reverse=True)]
    while stack:
        expr, done = stack.pop()
        if done:
            leaves.append(expr)
        elif expr.serial not in seen:
            seen.add(expr.serial)
            if isinstance(expr, (Draw, Input)):
                stack.append((expr, True))
            below = sorted(expr.children, key=key, reverse=True)
            if isinstance(expr, Draw) and expr.active is not None and expr.active.serial in told:
                below.append(expr.active)
            if isinstance(expr, Case):
                below.append(expr.selector)
            stack.extend((child, False) for child in below)
    return leaves


class _Maker:
    """Makes the nodes of a program without `Shuffled` nodes, for an order of its leaves."""

    def __init__(self, leaves: Sequence[Expr]) -> None:
        self.position = {leaf.serial: at for at, leaf in enumerate(leaves)}
        self.leaves = [-1] * len(leaves)
        self.nodes: list[Node] = []
        self.rank: list[int] = []
        self.plain: list[bool] = []
        self.place: dict[int, int] = {}
        self.active: dict[int, int] = {}
        self.chains: dict[tuple[str, int, int], int] = {}

    def run(self, program: CoreProgram) -> Nodes:
        every, told = _every(program)
        for expr in every:
            self.place[expr.serial] = self._made(expr)
            if isinstance(expr, Draw) and expr.active is not None and expr.active.serial in told:
                self.active[self.place[expr.serial]] = self.place[expr.active.serial]
        conditions = [self.place[condition.serial] for condition in program.evidence]
        return Nodes(
            self.nodes,
            self.rank,
            self.plain,
            self.leaves,
            [self.place[component.serial] for component in program.components],
            [self.place[check.condition.serial] for check in program.checks],
            self._chain("and", conditions, program.evidence[0]) if conditions else [],
            self.active,
        )

    def _add(self, node: Node, leaf: int = -1) -> int:
        self.nodes.append(node)
        self.rank.append(max([leaf, *(self.rank[operand] for operand in node.operands)]))
        self.plain.append(node.kind != "draw" and all(self.plain[operand] for operand in node.operands))
        return len(self.nodes) - 1

    def _made(self, expr: Expr) -> int:
        size = len(expr.values)
        match expr:
            case Const():
                return self._add(Node("const", (), 1, expr, bounds=_bounds(expr)))
            case Input() | Draw():
                at = self.position[expr.serial]
                below = tuple(self.place[child.serial] for child in expr.children)
                kind = "draw" if isinstance(expr, Draw) else "input"
                self.leaves[at] = self._add(Node(kind, below, size, expr, bounds=_bounds(expr)), at)
                return self.leaves[at]
            case Apply():
                places = tuple(self.place[operand.serial] for operand in expr.operands)
                return self._add(Node("apply", places, size, expr, operation(expr.operator), _bounds(expr)))
            case Case():
                return self._cases(expr)
            case Nary():
                return self._chain(expr.operator, [self.place[operand.serial] for operand in expr.operands], expr)[-1]
        raise TypeError(type(expr))

    def _cases(self, expr: Case) -> int:
        """Return the place of a case; of branches that are drawn after its selector, what is not taken is forgotten."""
        selector = self.place[expr.selector.serial]
        chosen = {
            value: self.place[branch.serial] for value, branch in zip(expr.selector.values, expr.branches, strict=True)
        }
        groups: dict[int, list[int]] = {}
        for place in dict.fromkeys(chosen.values()):
            rank = -1 if self.plain[place] else self.rank[place]
            groups.setdefault(max(rank, self.rank[selector]), []).append(place)
        ordered = [group for _, group in sorted(groups.items())]
        if len(ordered) > 1 and all(self.plain[place] for place in ordered[0]):
            ordered[:2] = [[*ordered[0], *ordered[1]]]
        total = -1
        for group in ordered:
            operands = [selector, *([total] if total >= 0 else ()), *group]
            own = {place: at for at, place in enumerate(operands) if at >= len(operands) - len(group)}
            taken = {value: own.get(place, 1) for value, place in chosen.items() if place in own or total >= 0}
            constants = {
                at: self.nodes[place].expr.values[0] for place, at in own.items() if self.nodes[place].kind == "const"
            }
            node = Node("case", tuple(operands), len(expr.values), expr, None, _bounds(expr), taken, constants)
            total = self._add(node)
        return total

    def _chain(self, operator: str, operands: list[int], expr: Expr) -> list[int]:
        """Return the places of an operation on the first operands that become known, on more and more of them."""
        ordered = sorted(operands, key=lambda place: (self.rank[place], place))
        totals = [ordered[0]]
        for operand in ordered[1:]:
            key = operator, totals[-1], operand
            if key not in self.chains:
                self.chains[key] = self._join(operator, totals[-1], operand, expr)
            totals.append(self.chains[key])
        return totals

    def _join(self, operator: str, left: int, right: int, expr: Expr) -> int:
        if operator in ("and", "or"):
            return self._add(Node(operator, (left, right), 2, expr))
        ours, theirs = self.nodes[left], self.nodes[right]
        size, bounds = ours.size * theirs.size, None
        if operator == "xor":
            size = 2
        elif operator == "sum" and ours.bounds and theirs.bounds:
            bounds = ours.bounds[0] + theirs.bounds[0], ours.bounds[1] + theirs.bounds[1]
            size = min(size, bounds[1] - bounds[0] + 1)
        elif operator != "sum":
            size = ours.size + theirs.size
        return self._add(Node("apply", (left, right), size, expr, _BINARY[operator], bounds))


def _bounds(expr: Expr) -> tuple[int, int] | None:
    """Return the least and greatest value where all are integers and this is cheap to find, else None."""
    values = expr.values
    if not isinstance(values, range) and (len(values) > 64 or not all(isinstance(value, int) for value in values)):
        return None
    return int(values[0]), int(values[-1])


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
        return STEP * len(self.steps) + int(2 ** min(self.logarithm + log2(lanes), 62)) // ROWS_IN_ONE


def make_plan(program: CoreProgram) -> Plan:
    """Return the plan with the least estimate, of those that some orders of the leaves give. Raises TooWide."""
    return min(plans(program), key=lambda plan: plan.logarithm)


def first_plan(program: CoreProgram) -> Plan:
    """Return the plan by need, or as written where that needs far fewer rows. Raises TooWide."""
    found = plans(program, WIDE_PLAN)[:2]
    return found[0] if found[0].logarithm < WIDE_PLAN else min(found, key=lambda plan: plan.logarithm)


def plans(program: CoreProgram, cheap: float = CHEAP_PLAN) -> list[Plan]:
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
    nodes = _Maker(leaves).run(program)
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
        if width > PLAN_WIDTH:
            raise TooWide
        columns += added - len(dropped)
        bits += added * size - sum(log2(nodes.nodes[column].size) for column in dropped)
        branching += size if kind == "draw" else 0
        rows = max(min(bits, branching), 0.0)
        most = max(most, rows) + log2(1 + 2 ** (min(most, rows) - max(most, rows)))
        steps.append(Step(kind, place, active, dropped))
    return Plan(program, nodes, steps, most, width)
