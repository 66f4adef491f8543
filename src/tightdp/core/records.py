"""What depends on one record alone: one node for every function of it, however it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product, repeat
from math import prod
from typing import Any
from weakref import WeakValueDictionary

from tightdp.core.evaluation import canonical, computed
from tightdp.core.nodes import Apply, Case, Const, Expr, Input, sum_in, summands
from tightdp.core.operators import NOTHING, Value
from tightdp.core.valuesets import ordered

__all__ = ["FunctionsOfRecords"]

_TABULATED = 64
"""Functions of a record that has at most so many values are tabulated."""


class FunctionsOfRecords:
    """The nodes of a program that are functions of one record, by what they are where the record has each value."""

    def __init__(self) -> None:
        self._tables: dict[int, tuple[int, Sequence[Value]]] = {}
        self._nodes: WeakValueDictionary[Any, Expr] = WeakValueDictionary()

    def record(self, leaves: Sequence[Input]) -> None:
        """Note the leaves of a record: its functions are tabulated, if it has few values."""
        if leaves and prod(len(leaf.values) for leaf in leaves) <= _TABULATED:
            columns = zip(*product(*(leaf.values for leaf in leaves)), strict=True)
            for leaf, column in zip(leaves, columns, strict=True):
                self._note(leaf, leaf.client, column)

    def client_of(self, node: Expr) -> int | None:
        """Return the client whose record alone a node depends on, if it is tabulated."""
        table = self._tables.get(node.serial)
        return None if table is None else table[0]

    def known(self, node: Expr, const: Callable[[object], Expr]) -> Expr:
        """Return the node to use in place of a new one: the first that is the same function, or its constant value."""
        below = [child for child in node.children if not isinstance(child, Const)]
        tables = [self._tables.get(child.serial) for child in below]
        if not tables or tables[0] is None or isinstance(node, Input):
            return node
        client, first = tables[0]
        if any(table is None or table[0] != client for table in tables):
            return node
        given = [
            repeat(child.values[0], len(first)) if isinstance(child, Const) else self._tables[child.serial][1]
            for child in node.children
        ]
        column = [canonical(node, computed(node, values)) for values in zip(*given, strict=True)]
        if any(value is NOTHING for value in column):
            self._tables[node.serial] = client, column
            return node
        values = set(column)
        if len(values) == 1:
            return const(column[0])
        if isinstance(node, Case) and len(values) < len(node.values):
            node = replace(node, values=ordered(column))
        return self._note(node, client, column)

    def one_term_each(
        self,
        operands: Sequence[Expr],
        operation: Callable[..., Expr],
        add: Callable[[Expr, Expr], Expr],
    ) -> Sequence[Expr]:
        """Return what to add up, with one term per record where products of sums over records are among it.

        A sum of values times how often each occurs is the sum of the records.
        """
        inner_sums = [sum_in(operand) for operand in operands]
        if sum(inner is not None for inner in inner_sums) < 2:
            return operands
        of_one: dict[int | None, Expr] = {}
        for operand, inner in zip(operands, inner_sums, strict=True):
            for term in (operand,) if inner is None else summands(inner):
                client = self.client_of(term)
                if client is None and not isinstance(term, Const):
                    return operands
                part = term
                if isinstance(operand, Apply) and inner is not None:
                    part = operation(operand.operator, *(term if one is inner else one for one in operand.operands))
                of_one[client] = add(of_one[client], part) if client in of_one else part
        return list(of_one.values())

    def _note(self, node: Expr, client: int, column: Sequence[Value]) -> Expr:
        """Return the node for a function: of two the one whose listed values are fewer."""
        self._tables[node.serial] = client, column
        key = client, *((type(value), value) for value in column)
        known = self._nodes.get(key)
        if known is None or len(known.values) > len(node.values):
            known = self._nodes[key] = node
        return known
