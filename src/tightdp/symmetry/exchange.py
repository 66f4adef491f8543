"""Clients whose records can be exchanged without effect on the output law, recognized on the core program as written.

An exchange of two clients maps nodes to nodes: what is computed from one client's record in the same way as from the
other's, sums in any order. Where it maps every output to itself, and draws to draws with the same laws, outputs have
the same law on both datasets. This needs no diagram, and misses symmetries that only the values of operations show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from tightdp.core.nodes import Apply, Case, Const, CoreProgram, Draw, Expr, Input, Nary, Shuffled, children, reachable

__all__ = ["exchangeable_clients"]

_SYMMETRIC = frozenset(["eq", "ne"])
_SYMMETRIC_ON_NUMBERS = frozenset(["add", "mul", "min", "max"])


def exchangeable_clients(programs: Sequence[CoreProgram], clients: int) -> tuple[tuple[int, ...], ...]:
    """Return classes of consecutive clients, any two of a class exchangeable in all programs."""
    written = [_Written(program) for program in programs]
    classes = [[0]]
    for client in range(1, clients):
        if all(program.keeps(client - 1, client) for program in written):
            classes[-1].append(client)
        else:
            classes.append([client])
    return tuple(map(tuple, classes))


class _Written:
    """The nodes of a program by their structure: nodes with equal structure share a number."""

    def __init__(self, program: CoreProgram) -> None:
        self._program = program
        self._nodes = reachable(program.roots)
        self._number_of: dict[Hashable, int] = {}
        self._own: dict[int, int] = {}
        self._draws: dict[int, list[Draw]] = {}
        clients: dict[int, frozenset[int]] = {}
        nearest: dict[int, frozenset[int]] = {}
        for expr in self._nodes:
            self._own[expr.serial] = self._number(self._key(expr, self._own, {}))
            below = frozenset([expr.client] if isinstance(expr, Input) else ())
            operands = [child.serial for child in children(expr)]
            clients[expr.serial] = below.union(*map(clients.__getitem__, operands))
            # A node that combines one client's data with a running result of all is assigned to that client.
            single = [nearest[operand] for operand in operands if len(nearest[operand]) == 1]
            nearest[expr.serial] = below.union(*(single or map(nearest.__getitem__, operands)))
            if isinstance(expr, Draw):
                self._draws.setdefault(self._own[expr.selector.serial], []).append(expr)
        self._client_of = self._first_used_with(nearest) | self._first_used_with(clients)

    def _first_used_with(self, clients: Mapping[int, frozenset[int]]) -> dict[int, int]:
        """Return, for nodes without records, the client whose record alone they are first used with, if any."""
        found: dict[int, int] = {}
        for expr in reversed(self._nodes):
            own = clients[expr.serial]
            client = found.get(expr.serial) if not own else min(own) if len(own) == 1 else None
            if client is not None:
                found.update((child.serial, client) for child in children(expr) if not clients[child.serial])
        return found

    def keeps(self, one: int, other: int) -> bool:
        """Whether an exchange of two clients preserves the outputs, the conditions of `observe`, and the checks."""
        exchanged = {one: other, other: one}
        image: dict[int, int] = {}
        taken: set[int] = set()
        for expr in self._nodes:
            match expr:
                case Draw():
                    found = self._counterpart(expr, image, taken, exchanged)
                    if found is None:
                        return False
                    taken.add(found.serial)
                    image[expr.serial] = self._own[found.serial]
                case Shuffled():
                    if Counter(self._own[item.serial] for item in expr.items) != Counter(
                        image[item.serial] for item in expr.items
                    ):
                        return False
                    image[expr.serial] = self._own[expr.serial]
                case _:
                    image[expr.serial] = self._number(self._key(expr, image, exchanged))
        program, own = self._program, self._own
        conditions = [check.condition for check in program.checks]
        return all(image[root.serial] == own[root.serial] for root in program.components) and all(
            {image[root.serial] for root in roots} == {own[root.serial] for root in roots}
            for roots in (program.evidence, conditions)
        )

    def _number(self, key: Hashable) -> int:
        return self._number_of.setdefault(key, len(self._number_of))

    def _counterpart(
        self, draw: Draw, image: dict[int, int], taken: set[int], exchanged: dict[int, int]
    ) -> Draw | None:
        """Return a draw, not yet taken, that may take the place of another one; None where there is none.

        Among draws with the same laws it is one that is first used with the record of the other client.
        """
        selector, client = image[draw.selector.serial], self._client_of.get(draw.serial, -1)
        same = selector == self._own[draw.selector.serial]
        if not same or client in exchanged:
            wanted = exchanged.get(client, client)
            for other in self._draws.get(selector, ()):
                alike = other.selector.values == draw.selector.values and other.laws == draw.laws
                if alike and self._client_of.get(other.serial, -1) == wanted and other.serial not in taken:
                    return other
        return draw if same and draw.serial not in taken else None

    def _key(self, expr: Expr, number: dict[int, int], exchanged: dict[int, int]) -> Hashable:
        """Return the structure of a node, in terms of the numbers of its operands."""
        match expr:
            case Const():
                value = expr.values[0]
                return "const", type(value), value
            case Input():
                return "input", exchanged.get(expr.client, expr.client), expr.leaf
            case Case():
                branches = tuple(number[branch.serial] for branch in expr.branches)
                return "case", number[expr.selector.serial], tuple(expr.selector.values), branches
            case Nary():
                return expr.operator, *sorted(number[operand.serial] for operand in expr.operands)
            case Apply():
                operands = [number[operand.serial] for operand in expr.operands]
                numbers = all(operand.numeric for operand in expr.operands)
                if expr.operator in _SYMMETRIC or (numbers and expr.operator in _SYMMETRIC_ON_NUMBERS):
                    operands.sort()
                return expr.operator, *operands
        return "leaf", expr.serial
