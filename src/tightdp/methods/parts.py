"""The independent parts of a program.

Clients, draws and output components that no operation connects, directly or not, are independent: what one part outputs
says nothing of the records of another. Parts with the same graph are analysed once.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from tightdp.core.nodes import Apply, Check, Const, CoreProgram, Draw, Expr, Input, Nary, Once, Shuffled, reachable
from tightdp.core.outputs import Leaf, TupleOf
from tightdp.core.passes import Rebuild
from tightdp.exact.arrays import Integers
from tightdp.exact.weights import steepest
from tightdp.exact.whole import Whole, gcd
from tightdp.language.domains import Record
from tightdp.logic.count import Weights
from tightdp.methods.chain_forms import logarithm


@dataclass(frozen=True)
class Part:
    """One part: client j of `program` is client `clients[j]` of the whole, component j is component `components[j]`.

    Parts with equal `key` have the same graph.
    """

    clients: tuple[int, ...]
    components: tuple[int, ...]
    program: CoreProgram
    key: Hashable


def split(program: CoreProgram, least: int = 0) -> tuple[list[Part], list[Check]]:
    """Return the independent parts of a program, by first client, and the checks that concern several parts.

    Parts without a client come last. If fewer than `least` parts have clients, none is returned.
    """
    roots = [*program.components, *program.evidence, *program.inputs]
    nodes = [expr for expr in reachable(roots) if not isinstance(expr, Const)]
    part_of = _components(nodes, program.inputs)
    members: dict[int, _Members] = {part: _Members() for part in part_of.values()}
    for leaf in program.inputs:
        members[part_of[leaf.serial]].inputs.append(leaf)
    if sum(bool(part.inputs) for part in members.values()) < least:
        return [], list(program.checks)
    constant = _Members()
    for at, component in enumerate(program.components):
        members.get(part_of.get(component.serial, -1), constant).components.append(at)
    for condition in program.evidence:
        members.get(part_of.get(condition.serial, -1), constant).evidence.append(condition)
    loose = []
    for check in program.checks:
        parts = {part_of.get(expr.serial, -1) for expr in reachable([check.condition]) if not isinstance(expr, Const)}
        if len(parts) == 1 and (part := parts.pop()) in members:
            members[part].checks.append(check)
        else:
            loose.append(check)
    found = [*members.values(), *([constant] if constant.components or constant.evidence else [])]
    found.sort(key=lambda part: part.inputs[0].client if part.inputs else 1 << 60)
    known: dict[Hashable, CoreProgram] = {}
    return [part.build(program, known) for part in found], loose


def split_by_draws(program: CoreProgram) -> tuple[list[Part], list[Check]]:
    """Return the parts of the output that share no draw, by first component, and the checks that belong to none.

    A client may be in several parts. Components without draws go with the first part. Nothing is split if there would
    be a single part.
    """
    found: list[tuple[set[int], list[int]]] = []
    for at, component in enumerate(program.components):
        draws, components = _draws([component]), [at]
        for other in [entry for entry in found if not entry[0].isdisjoint(draws)]:
            found.remove(other)
            draws, components = draws | other[0], [*other[1], *components]
        found.append((draws, components))
    drawing = sorted((entry for entry in found if entry[0]), key=lambda entry: min(entry[1]))
    if len(drawing) < 2:
        return [], list(program.checks)
    for _, components in (entry for entry in found if not entry[0]):
        drawing[0][1].extend(components)
    parts, loose = [], list(program.checks)
    known: dict[Hashable, CoreProgram] = {}
    for draws, components in drawing:
        members = _Members()
        members.components = sorted(components)
        for check in [check for check in loose if (own := _draws([check.condition])) and own <= draws]:
            members.checks.append(check)
            loose.remove(check)
        conditions = [check.condition for check in members.checks]
        below = reachable([*(program.components[at] for at in components), *conditions])
        clients = {expr.client for expr in below if isinstance(expr, Input)}
        members.inputs = [leaf for leaf in program.inputs if leaf.client in clients]
        parts.append(members.build(program, known))
    return parts, loose


def _draws(roots: Sequence[Expr]) -> set[int]:
    """Return numbers of the draws, and of the random orders, below some nodes."""
    below = reachable(roots)
    orders = {-1 - expr.group for expr in below if isinstance(expr, Shuffled)}
    return orders | {expr.serial for expr in below if isinstance(expr, Draw)}


class _Members:
    """What belongs to one part."""

    def __init__(self) -> None:
        self.inputs: list[Input] = []
        self.components: list[int] = []
        self.evidence: list[Expr] = []
        self.checks: list[Check] = []

    def build(self, whole: CoreProgram, known: dict[Hashable, CoreProgram]) -> Part:
        """Return the part as a program of its own, clients and components numbered from 0; one per graph."""
        clients = tuple(dict.fromkeys(leaf.client for leaf in self.inputs))
        components = tuple(whole.components[at] for at in self.components)
        conditions = [check.condition for check in self.checks]
        key = graph_of(self.inputs, components, self.evidence, conditions)
        if key in known:
            return Part(clients, tuple(self.components), known[key], key)
        number = {client: at for at, client in enumerate(clients)}
        rebuild = Rebuild(
            lambda made, expr: (
                made.builder.input(number[expr.client], expr.leaf, expr.values) if isinstance(expr, Input) else None
            )
        )
        leaves = rebuild.copy(self.inputs)
        components = rebuild.copy(components)
        evidence = rebuild.copy(self.evidence)
        checked = rebuild.copy(conditions)
        known[key] = CoreProgram(
            tuple(leaf for leaf in leaves if isinstance(leaf, Input)),
            components or (rebuild.builder.true,),
            TupleOf(tuple(Leaf(at) for at in range(len(components)))),
            evidence,
            tuple(replace(check, condition=image) for check, image in zip(self.checks, checked, strict=True)),
        )
        return Part(clients, tuple(self.components), known[key], key)


def _components(nodes: Sequence[Expr], leaves: Sequence[Input]) -> dict[int, int]:
    """Return, by serial number, the number of each node's connected component.

    The leaves of one client's record count as connected, and so do the places of one random order.
    """
    above: dict[int, int] = {expr.serial: expr.serial for expr in nodes}

    def find(serial: int) -> int:
        root = serial
        while above[root] != root:
            root = above[root]
        while above[serial] != root:
            above[serial], serial = root, above[serial]
        return root

    once = Once()
    for expr in nodes:
        for child in once.children(expr):
            if not isinstance(child, Const):
                above[find(child.serial)] = find(expr.serial)
    first: dict[int, int] = {}
    for leaf in leaves:
        above[find(leaf.serial)] = find(first.setdefault(leaf.client, leaf.serial))
    orders: dict[int, int] = {}
    for expr in nodes:
        if isinstance(expr, Shuffled):
            above[find(expr.serial)] = find(orders.setdefault(expr.group, expr.serial))
    return {serial: find(serial) for serial in above}


def graph_of(inputs: Sequence[Input], *roots: Sequence[Expr]) -> Hashable:
    """Return a value that two parts of programs share only if they are the same graph.

    Nodes are numbered as they were made, after the constants, which parts share; clients as their leaves come in
    `inputs`.
    """
    once = Once()
    nodes = reachable([*inputs, *chain.from_iterable(roots)])
    nodes.sort(key=lambda expr: not isinstance(expr, Const))
    place = {expr.serial: at for at, expr in enumerate(nodes)}
    clients = {client: at for at, client in enumerate(dict.fromkeys(leaf.client for leaf in inputs))}
    orders: dict[int, int] = {}
    described = []
    for expr in nodes:
        match expr:
            case Const():
                extra: Hashable = (type(expr.values[0]), expr.values[0])
            case Input():
                values = expr.values if isinstance(expr.values, range) else tuple(expr.values)
                extra = (clients[expr.client], expr.leaf, values)
            case Draw():
                extra = expr.laws
            case Apply() | Nary():
                extra = expr.operator
            case Shuffled():
                extra = (orders.setdefault(expr.group, len(orders)), expr.place)
            case _:
                extra = None
        described.append((type(expr), tuple([place[child.serial] for child in once.children(expr)]), extra))
    return tuple(described), *(tuple([place[root.serial] for root in some]) for some in roots)


@dataclass(frozen=True)
class Largest:
    """The largest ratio of a part between two of its laws, as up / down, and its rounded logarithm."""

    up: Whole
    down: Whole
    logarithm: float


@dataclass(frozen=True)
class Told:
    """For every record the first one that no part distinguishes from it, and the sizes of these classes."""

    like: dict[Record, Record]
    times: dict[Record, int]


def told_apart(records: Sequence[Record], seen: Sequence[Integers]) -> Told:
    """Return the classes of records with equal rows in all tables; the tables have a row for every record."""
    found = Told({}, {})
    first: dict[tuple[bytes, ...], Record] = {}
    for at, record in enumerate(records):
        like = first.setdefault(tuple(one[at].tobytes() for one in seen), record)
        found.like[record] = like
        found.times[like] = found.times.get(like, 0) + 1
    return found


def largest_of(ours: Weights, theirs: Weights) -> Largest:
    """Return the largest ratio of the probabilities of an output under two laws."""
    up, down, _ = steepest(ours.by_code, theirs.by_code)
    if not down:
        return Largest(1, 0, math.inf)
    up, down = up * theirs.total, down * ours.total
    shared = gcd(up, down)
    up, down = up // shared, down // shared
    return Largest(up, down, logarithm(up) - logarithm(down))


def attains(code: int, ours: Weights, theirs: Weights) -> bool:
    """Whether an output has the largest ratio of two laws."""
    largest = largest_of(ours, theirs)
    up, down = ours.by_code[code] * theirs.total, theirs.by_code.get(code, 0) * ours.total
    return up * largest.down == largest.up * down
