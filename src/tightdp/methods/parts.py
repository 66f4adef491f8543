"""The independent parts of a program.

Clients, draws and output components that no operation connects, directly or not, are independent: what one part outputs
says nothing of the records of another. Parts with the same graph are analysed once.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from tightdp.core.nodes import Check, Const, CoreProgram, Draw, Expr, Input, Once, Shuffled, reachable
from tightdp.core.outputs import Leaf, TupleOf
from tightdp.core.passes import Rebuild, graph_of
from tightdp.exact.arrays import Integers
from tightdp.exact.lazily import lazily
from tightdp.exact.weights import steepest
from tightdp.exact.whole import Whole, gcd
from tightdp.language.domains import Record
from tightdp.logic.count import Weights
from tightdp.methods.chain_forms import logarithm

networkx: Any = lazily("networkx")


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
        shape = TupleOf(tuple(map(Leaf, range(len(components)))))
        own = CoreProgram(tuple(self.inputs), components, shape, tuple(self.evidence), tuple(self.checks))
        known[key] = rebuild.program(own)
        return Part(clients, tuple(self.components), known[key], key)


def _components(nodes: Sequence[Expr], leaves: Sequence[Input]) -> dict[int, int]:
    """Return, by serial number, the number of each node's connected component.

    The leaves of one client's record count as connected, and so do the places of one random order.
    """
    parts = networkx.utils.UnionFind()
    once = Once()
    first: dict[tuple[str, int], int] = {}
    for expr in nodes:
        parts.union(expr.serial, *(child.serial for child in once.children(expr) if not isinstance(child, Const)))
        if isinstance(expr, Shuffled):
            parts.union(expr.serial, first.setdefault(("order", expr.group), expr.serial))
    for leaf in leaves:
        parts.union(leaf.serial, first.setdefault(("client", leaf.client), leaf.serial))
    return {expr.serial: parts[expr.serial] for expr in nodes}


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
