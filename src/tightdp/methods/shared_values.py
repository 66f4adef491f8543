"""Sums over clients in which all compare their records with one value, such as a threshold that earlier answers chose.

Every possible value gets a sum of its own, to which a client contributes by its record alone: a noisy search counts the
records below every threshold that it may reach, and reads one of the counts in each round.
"""

from __future__ import annotations

from itertools import product
from math import prod

from tightdp.core.facts import NO_CLIENT, clients_of
from tightdp.core.nodes import Const, CoreProgram, Draw, Expr, Input, Nary, Shuffled, reachable
from tightdp.core.operators import Value
from tightdp.core.passes import Rebuild
from tightdp.limits.calibrated import DRAW_STEPS, FEW_VALUES, LITTLE_WORK


def by_shared_values(program: CoreProgram) -> CoreProgram | None:
    """Return the same program with a sum for every such value; None where there is no such value."""
    nodes = reachable([*program.roots, *program.inputs])
    client = clients_of(nodes)
    covers = _covers(nodes)
    found: dict[int, list[Expr]] = {}
    looked_at = 0
    for expr in nodes:
        if isinstance(expr, Nary) and client[expr.serial] < NO_CLIENT:
            below = [reachable([operand]) for operand in expr.operands]
            looked_at += sum(map(len, below))
            if looked_at > LITTLE_WORK:
                return None
            shared = [covers[node.serial] for node in _shared(expr, below, client)]
            cover = list({node.serial: node for nodes in shared for node in nodes}.values())
            combinations = prod(len(node.values) for node in cover)
            if cover and combinations <= FEW_VALUES and (within := _copied(expr, cover)) is not None:
                looked_at += DRAW_STEPS * combinations * len(within)
                found[expr.serial] = cover
    if not found or looked_at > LITTLE_WORK:
        return None

    def substitute(made: Rebuild, expr: Expr) -> Expr | None:
        return _split(made, expr, found[expr.serial]) if expr.serial in found else None

    return Rebuild(substitute).program(program)


def _covers(nodes: list[Expr]) -> dict[int, list[Expr]]:
    """Return, for every node, the nodes with the fewest combinations of values that tell its value."""
    covers: dict[int, list[Expr]] = {}
    for expr in nodes:
        covers[expr.serial] = [] if isinstance(expr, Const) else [expr]
        if not isinstance(expr, (Const, Draw, Input, Shuffled)):
            below = {node.serial: node for child in expr.children for node in covers[child.serial]}
            if prod(len(node.values) for node in below.values()) <= len(expr.values):
                covers[expr.serial] = list(below.values())
    return covers


def _shared(expr: Nary, below: list[list[Expr]], client: dict[int, int]) -> list[Expr]:
    """Return the nodes that operands of several clients share; none where fewer than two read a record of their own."""
    uses: dict[int, int] = {}
    for nodes in below:
        for node in nodes:
            uses[node.serial] = uses.get(node.serial, 0) + 1
    drawn: set[int] = set()
    every = {node.serial: node for nodes in below for node in nodes}
    for node in (every[serial] for serial in sorted(every)):
        common = isinstance(node, (Draw, Shuffled)) and uses.get(node.serial, 0) > 1
        if common or any(child.serial in drawn for child in node.children):
            drawn.add(node.serial)
    found: dict[int, Expr] = {}
    owners: set[int] = set()
    for operand in expr.operands:
        stack, seen = [operand], set[int]()
        while stack:
            node = stack.pop()
            if node.serial in seen:
                continue
            seen.add(node.serial)
            if client[node.serial] >= 0 and node.serial not in drawn:
                owners.add(client[node.serial])
            elif uses[node.serial] > 1 and not isinstance(node, Const):
                found[node.serial] = node
            else:
                stack.extend(node.children)
    return list(found.values()) if len(owners) > 1 else []


def _copied(expr: Expr, cover: list[Expr]) -> set[int] | None:
    """Return the nodes that the values of a cover change, down from a node; None where draws are among them."""
    known = {node.serial for node in cover}
    changed: set[int] = set()
    for node in reachable([expr], ends=known):
        if node.serial not in known and any(
            child.serial in known or child.serial in changed for child in node.children
        ):
            if isinstance(node, (Draw, Shuffled)):
                return None
            changed.add(node.serial)
    return changed


def _split(made: Rebuild, expr: Expr, cover: list[Expr]) -> Expr:
    within = _copied(expr, cover)
    assert within is not None
    images = [made.image(node) for node in cover]
    given: dict[tuple[Value, ...], Expr] = {}
    for values in product(*(image.values for image in images)):
        constants = {node.serial: made.builder.const(value) for node, value in zip(cover, values, strict=True)}

        def substitute(inner: Rebuild, node: Expr, constants: dict[int, Expr] = constants) -> Expr | None:
            if node.serial in constants:
                return constants[node.serial]
            return None if node.serial in within else made.image(node)

        copy = Rebuild(substitute)
        copy.builder = made.builder
        (given[values],) = copy.copy([expr])
    for at in range(len(images) - 1, -1, -1):
        shorter = {values[:-1] for values in given}
        given = {
            values: made.builder.case(images[at], [given[*values, value] for value in images[at].values])
            for values in shorter
        }
    return given[()]
