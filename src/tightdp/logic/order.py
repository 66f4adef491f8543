"""The order of the variables, read off the program.

A client's record, its coins and the output that they decide stand together, in the order in which the program
consumes them; a draw that is compared with many others (a noisy threshold) stands above them all. Output components
stand right below the last leaf that they depend on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tightdp.lang.ir import CoreProgram, Draw, Expr, Input, children, reachable

__all__ = ["Block", "order"]

_LOCAL = 8
"""An operation on at most this many leaves ties them together."""
_SHARED = 4
"""A draw that is tied to more than this many others, and to far more than usual, is shared."""


@dataclass(frozen=True)
class Block:
    """One place in the order: a leaf of the program, or (with `component`) an output component."""

    leaf: Input | Draw | None = None
    component: int | None = None


def order(program: CoreProgram) -> list[Block]:
    """Return every leaf and output component of a program, from the top of the diagram to its bottom."""
    nodes = reachable(program.roots)
    leaves = _leaf_order(program, nodes)
    rank = {leaf.serial: position for position, leaf in enumerate(leaves)}
    deepest = _deepest(nodes, rank)
    below: dict[int, list[int]] = {}
    for number, component in enumerate(program.components):
        below.setdefault(deepest[component.serial], []).append(number)
    blocks = [Block(component=number) for number in below.get(-1, ())]
    for position, leaf in enumerate(leaves):
        blocks.append(Block(leaf=leaf))
        blocks.extend(Block(component=number) for number in below.get(position, ()))
    return blocks


def _leaf_order(program: CoreProgram, nodes: Sequence[Expr]) -> list[Input | Draw]:
    placed: dict[int, Input | Draw] = {}

    def place(root: Expr) -> None:
        """Place the leaves below a node that are not placed yet, selectors before their draws."""
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            expr, done = stack.pop()
            if expr.serial in placed:
                continue
            if isinstance(expr, Input) or (isinstance(expr, Draw) and done):
                placed[expr.serial] = expr
            elif isinstance(expr, Draw):
                stack += [(expr, True), (expr.selector, False)]
            else:
                stack.extend((child, False) for child in reversed(children(expr)))

    for hub in _shared(nodes):
        place(hub)
    consumed = {component.serial for component in program.components}
    for expr in nodes:
        if expr.serial in consumed or not isinstance(expr, (Input, Draw)):
            for child in (expr, *children(expr)):
                if isinstance(child, (Input, Draw)) and (child is not expr or expr.serial in consumed):
                    place(child)
    for expr in nodes:
        if isinstance(expr, (Input, Draw)):
            place(expr)
    return list(placed.values())


def _shared(nodes: Sequence[Expr]) -> list[Draw]:
    """Return the draws that are compared with many other leaves, each in an operation of its own."""
    support: dict[int, frozenset[int] | None] = {}
    tied: dict[int, set[int]] = {}
    for expr in nodes:
        if isinstance(expr, (Input, Draw)):
            support[expr.serial] = frozenset([expr.serial])
            tied[expr.serial] = set()
            continue
        union: set[int] = set()
        for child in children(expr):
            below = support[child.serial]
            if below is None or len(union | below) > _LOCAL:
                support[expr.serial] = None
                break
            union |= below
        else:
            support[expr.serial] = frozenset(union)
            for leaf in union:
                tied[leaf] |= union - {leaf}
    degrees = sorted(len(others) for others in tied.values())
    usual = degrees[len(degrees) // 2] if degrees else 0
    return [
        expr
        for expr in nodes
        if isinstance(expr, Draw) and len(tied[expr.serial]) > max(_SHARED, 3 * usual)
    ]


def _deepest(nodes: Sequence[Expr], rank: dict[int, int]) -> dict[int, int]:
    """Return, for every node, the place of the last leaf that it depends on (-1: none)."""
    deepest: dict[int, int] = {}
    for expr in nodes:
        below = max((deepest[child.serial] for child in children(expr)), default=-1)
        deepest[expr.serial] = max(below, rank.get(expr.serial, -1))
    return deepest
