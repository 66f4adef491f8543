"""What is easily seen of nodes: their values where a condition holds, and what they are computed from alone."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product, repeat
from math import prod
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

from tightdp.core.nodes import (
    Apply,
    Case,
    Const,
    Draw,
    Expr,
    Input,
    Nary,
    Once,
    Shuffled,
    canonical,
    computed,
    reachable,
    sum_in,
    summands,
)
from tightdp.core.operators import NOTHING, REFUSED, Value, operation
from tightdp.core.valuesets import combined, ordered
from tightdp.limits.calibrated import FEW_VALUES, TABLE_ENTRIES

Comparison = tuple[int, int]
"""A node, by its serial number, and the position of one of its values."""
_ORDERS = frozenset(("lt", "le", "gt", "ge"))


def tested_value(condition: Expr) -> tuple[Expr | None, int]:
    """Return the node and the position of the value that a condition of the form `node == value` asks for."""
    if isinstance(condition, Apply) and condition.operator == "eq" and isinstance(condition.operands[1], Const):
        node, value = condition.operands[0], condition.operands[1].values[0]
        if value in node.index:
            return node, node.index[value]
    return None, 0


def branch_taken(expr: Expr, selector: Expr, position: int) -> Expr | None:
    """Return the branch of a case where a selector takes the value at a position, if that tells."""
    if not isinstance(expr, Case):
        return None
    if expr.selector is selector:
        return expr.branches[position]
    tested, asked = tested_value(expr.selector)
    return expr.branches[asked == position] if tested is selector else None


def tests(condition: Expr, holds: bool) -> dict[int, list[Apply]]:
    """Return, by serial number, the nodes that a condition compares with constants where it has this truth value.

    Every comparison in the lists then has the truth value `holds` too.
    """
    joined = isinstance(condition, Nary) and condition.operator == ("and" if holds else "or")
    found: dict[int, list[Apply]] = {}
    for part in condition.children if joined else (condition,):
        if isinstance(part, Apply) and (tested := _only_unknown(part)) is not None and not tested.boolean:
            found.setdefault(tested.serial, []).append(part)
    return found


def values_where(expr: Expr, tests: dict[int, list[Apply]], holds: bool, depth: int = 3) -> Sequence[Value]:
    """Return the values that a node can take where comparisons have a truth value, as far as is easily seen."""
    values = expr.values
    if not tests or isinstance(expr, Const):
        return values
    if depth and isinstance(expr, Case) and expr.selector.boolean:
        inner = {v for branch in expr.branches for v in values_where(branch, tests, holds, depth - 1)}
        values = [value for value in values if value in inner]
    elif depth and isinstance(expr, Apply):
        parts = [values_where(operand, tests, holds, depth - 1) for operand in expr.operands]
        narrower = any(len(part) < len(operand.values) for part, operand in zip(parts, expr.operands, strict=True))
        if not all(parts):
            values = ()
        elif narrower and prod(map(len, parts)) <= max(TABLE_ENTRIES, *map(len, parts)):
            values = _within(values, combined(expr.operator, [ordered(part) for part in parts])[0])
    for test in tests.get(expr.serial, ()):
        if test.operator == "eq" and isinstance(test.operands[1], Const) and test.operands[0] is expr:
            wanted = test.operands[1].values[0]
            if holds:
                values = (expr.values[expr.index[wanted]],) if wanted in expr.index else ()
            elif wanted in expr.index:
                values = [value for value in values if value != wanted]
        else:
            values = _passing(test, values, holds)
    return values


def _within(values: Sequence[Value], others: Sequence[Value]) -> Sequence[Value]:
    if isinstance(values, range) and isinstance(others, range):
        return range(max(values.start, others.start), min(values.stop, others.stop))
    known = set(others)
    return [value for value in values if value in known]


def _passing(test: Apply, values: Sequence[Value], holds: bool) -> Sequence[Value]:
    """Return the values for which a test has a truth value, or is refused; an order cuts a range in two."""
    if isinstance(values, range) and values and test.operator in _ORDERS:
        first, last = _result(test, values[0]), _result(test, values[-1])
        if isinstance(first, bool) and isinstance(last, bool):
            end = len(values) if first == last else bisect_left(values, True, key=lambda v: _result(test, v) != first)
            return values[:end] if first == holds else values[end:]
    return [value for value in values if _result(test, value) in (holds, REFUSED)]


def _only_unknown(expr: Apply) -> Expr | None:
    unknown = [operand for operand in expr.operands if not isinstance(operand, Const)]
    return unknown[0] if len(unknown) == 1 else None


def _result(expr: Apply, value: Value) -> Value:
    """Return the result of an operation on its one unknown operand, `REFUSED` where Python refuses it."""
    try:
        return operation(expr.operator)(
            *(operand.values[0] if isinstance(operand, Const) else value for operand in expr.operands)
        )
    except REFUSED:
        return REFUSED


def at_most(conditions: Sequence[Expr]) -> int:
    """Return a number of conditions of which no more hold at once, as far as is easily seen.

    A node takes one value at a time. Where a condition holds, so does one of the comparisons in its `_cover`.
    """
    nodes: Counter[int] = Counter()
    comparisons: Counter[Comparison] = Counter()
    left = len(conditions) ** 2
    for condition in conditions:
        parts = _compared(condition, left)
        found = set(map(_comparison, parts))
        comparisons.update(found)
        nodes.update({node for node, _ in found})
        left -= len(parts)
        if left < 0:
            return len(conditions)
    cost = {each: Fraction(number, nodes[each[0]]) for each, number in comparisons.items()}
    known: dict[int, frozenset[Comparison] | None] = {}
    covers = [_cover(condition, cost, known) for condition in conditions]
    most: dict[int, int] = {}
    for (node, _), number in Counter(each for cover in covers for each in cover or ()).items():
        most[node] = max(number, most.get(node, 0))
    return min(len(conditions), sum(most.values()) + covers.count(None))


def _compared(condition: Expr, most: int) -> list[Expr]:
    """Return what a condition is put together from by `and`, `or` and choice, until there are more than `most`."""
    found: dict[int, Expr] = {}
    stack = [condition]
    while stack and len(found) <= most:
        expr = stack.pop()
        if expr.serial not in found:
            found[expr.serial] = expr
            stack += _joined(expr)
    return list(found.values())


def _joined(expr: Expr) -> Sequence[Expr]:
    if isinstance(expr, Nary) and expr.operator in ("and", "or"):
        return expr.operands
    return expr.branches if isinstance(expr, Case) else ()


def _comparison(condition: Expr) -> Comparison:
    """Return the node, by its serial number, of which a condition says that it takes a value, and the position."""
    node, position = tested_value(condition)
    if node is not None:
        return node.serial, position
    if not condition.boolean:
        return ~condition.serial, 0
    negated = isinstance(condition, Apply) and condition.operator == "not" and condition.operands[0].boolean
    return (condition.children[0].serial, 0) if negated else (condition.serial, 1)


def _cover(
    condition: Expr, cost: Mapping[Comparison, Fraction], known: dict[int, frozenset[Comparison] | None]
) -> frozenset[Comparison] | None:
    """Return comparisons of which one holds wherever a condition does, None where it is constant and holds.

    Of several choices that of the least cost: many conditions ask for other values of the same node.
    """
    if condition.serial not in known:
        if isinstance(condition, Const):
            known[condition.serial] = None if condition.values[0] else frozenset()
            return known[condition.serial]
        inner = [_cover(part, cost, known) for part in _joined(condition)]
        there = [cover for cover in inner if cover is not None]
        found = frozenset([_comparison(condition)])
        if there and isinstance(condition, Nary) and condition.operator == "and":
            found = min(there, key=lambda cover: sum(cost[each] for each in cover))
        elif there and len(there) == len(inner):
            found = frozenset().union(*there)
        known[condition.serial] = found
    return known[condition.serial]


NO_CLIENT, MANY = -1, -2
"""In place of a client: of what belongs to none, and of what depends on several."""


def clients_of(nodes: Sequence[Expr], owner: Mapping[int, int] = MappingProxyType({})) -> dict[int, int]:
    """Return, by serial number, the only client that a node depends on, `NO_CLIENT`, or `MANY`, which is less.

    Nodes that have an `owner` depend on that client, too.
    """
    client: dict[int, int] = {}
    once = Once()
    arrangements: dict[int, set[int]] = {}
    for expr in nodes:
        below = {client[child.serial] for child in once.children(expr)}
        if isinstance(expr, Shuffled):
            below = arrangements.setdefault(expr.group, below)
        found = expr.client if isinstance(expr, Input) else owner.get(expr.serial, NO_CLIENT)
        for one in below - {NO_CLIENT}:
            found = one if found in (NO_CLIENT, one) else MANY
        client[expr.serial] = found
    return client


@dataclass(eq=False)
class Seen:
    """A draw, or a place of an arrangement, the nodes computed from it alone, and those that others look at."""

    source: Expr
    nodes: list[Expr] = field(default_factory=list)
    looked_at: dict[int, Expr] = field(default_factory=dict)

    @cached_property
    def columns(self) -> dict[int, Sequence[Value]]:
        """By serial number, what these nodes are for every value of the source."""
        columns: dict[int, Sequence[Value]] = {self.source.serial: self.source.values}

        def value(node: Expr, at: int) -> Value:
            return node.values[0] if isinstance(node, Const) else columns[node.serial][at]

        for expr in self.nodes:
            values = []
            for at in range(len(self.source.values)):
                if isinstance(expr, Case):  # of as many branches as there are values one is looked at
                    place = expr.selector.index.get(value(expr.selector, at))
                    values.append(NOTHING if place is None else value(expr.branches[place], at))
                else:
                    values.append(computed(expr, [value(child, at) for child in expr.children]))
            columns[expr.serial] = [canonical(expr, each) for each in values]
        return columns


def all_seen(roots: Mapping[int, Expr], born: int = -1, sources: tuple[type[Expr], ...] = (Draw,)) -> dict[int, Seen]:
    """Return, for nodes below the roots that are computed from one source alone, or are one, what is seen of it."""
    from_one: dict[int, Seen] = {}
    once = Once()
    for expr in reachable(list(roots.values()), born):
        below = [child for child in once.children(expr) if not isinstance(child, Const)]
        inner = {id(source): source for source in [from_one.get(child.serial) for child in below]}
        alone = next(iter(inner.values())) if len(inner) == 1 else None
        if alone is not None and isinstance(expr, (Apply, Case, Nary)):
            from_one[expr.serial] = alone
            alone.nodes.append(expr)
        else:
            for child in below:
                if (source := from_one.get(child.serial)) is not None:
                    source.looked_at[child.serial] = child
        if isinstance(expr, sources):
            from_one[expr.serial] = Seen(expr)
        if expr.serial in roots and (source := from_one.get(expr.serial)) is not None:
            source.looked_at[expr.serial] = expr
    return from_one


class FunctionsOfRecords:
    """The nodes of a program that are functions of one record, by what they are where the record has each value."""

    def __init__(self) -> None:
        self._tables: dict[int, tuple[int, Sequence[Value]]] = {}
        self._nodes: WeakValueDictionary[Any, Expr] = WeakValueDictionary()

    def record(self, leaves: Sequence[Input]) -> None:
        """Note the leaves of a record: its functions are tabulated, if it has few values."""
        if leaves and prod(len(leaf.values) for leaf in leaves) <= FEW_VALUES:
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
