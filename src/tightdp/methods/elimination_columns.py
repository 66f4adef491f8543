"""The columns of elimination, the values of a node by row as codes, and the operations that make them.

An operation is a table from the codes of its operands to codes of values. It is filled where operands occur together,
and shared by operations that are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tightdp.core.nodes import Apply, Expr
from tightdp.core.operators import NOTHING, Value
from tightdp.core.valuesets import Progression, index_of
from tightdp.exact.arrays import Flags, Integers, np
from tightdp.limits.calibrated import MOST_ENTRIES
from tightdp.methods.elimination_plan import Node

MACHINE_BITS = 62
"""Integers of up to this many bits are kept in machine words."""
_SORTED = 8
"""Integers are made unique by sorting where there are more than this many possible codes per entry."""


@dataclass(frozen=True)
class Column:
    """The values of a node by row: of row i, `values[codes[i]]`, and NOTHING where the code is their number."""

    values: Sequence[Value]
    codes: Integers

    @property
    def radix(self) -> int:
        """How many codes there are."""
        return len(self.values) + 1

    def value(self, code: int) -> Value:
        """Return what a code stands for."""
        return self.values[code] if code < len(self.values) else NOTHING

    def at(self, rows: Integers) -> Column:
        return Column(self.values, self.codes[rows])

    def among(self, wanted: Sequence[Value]) -> Flags:
        """Return which rows have one of the wanted values."""
        return np.array([*(value in wanted for value in self.values), False])[self.codes]


class Operations:
    """Computes columns from columns. `count` is told how many rows were looked at, and how many values computed."""

    def __init__(self, count: Callable[[int, int], None]) -> None:
        self._count = count
        self._tables: dict[Hashable, Integers] = {}
        self._interned: dict[Hashable, Sequence[Value]] = {}
        self._of_node: dict[int, tuple[Sequence[Value], Mapping[Value, int]]] = {}
        self._index: dict[int, Mapping[Value, int]] = {}

    def values(self, node: Node) -> tuple[Sequence[Value], Mapping[Value, int]]:
        """Return the values of a node, the same object for equal ones, and their places; none where it lists none."""
        found = self._of_node.get(id(node))
        if found is None:
            low, high = (0, MOST_ENTRIES) if node.bounds is None else node.bounds
            values = self._same(node.values if node.values or high - low >= MOST_ENTRIES else range(low, high + 1))
            if id(values) not in self._index:
                self._index[id(values)] = index_of(values)
            found = self._of_node[id(node)] = values, self._index[id(values)]
        return found

    def _same(self, values: Sequence[Value]) -> Sequence[Value]:
        """Return one interned object for all equal sequences of values; it is kept alive, so its id stays valid."""
        key = values if isinstance(values, (range, Progression)) else (tuple(map(type, values)), tuple(values))
        return self._interned.setdefault(key, values)

    def value(self, node: Node, read: Callable[[int], Column]) -> Column:
        """Return the values of a node on all rows; `read` gives the column of an operand."""
        if node.kind == "case":
            return self._chosen(node, read)
        given = [read(operand) for operand in node.operands]
        values, index = self.values(node)
        size = prod(column.radix for column in given)
        self._count(2 * len(given[0].codes), 0)
        if not values or size > MOST_ENTRIES:
            together, inverse = combinations(given, size)
            results = self._results(node, given, together)
            if not values:
                values = self._same(tuple(dict.fromkeys(value for value in results if value is not NOTHING)))
                index = index_of(values)
            return Column(values, _coded(results, values, index)[inverse])
        key = given[0].codes
        for column in given[1:]:
            key = key * column.radix + column.codes
        name = node.expr.operator if isinstance(node.expr, Apply) else (node.kind, node.function)
        table = self._table((name, id(values), *(id(column.values) for column in given)), lambda: np.full(size, -1))
        found = table.take(key)
        if found.min(initial=0) < 0:
            used, _, _ = distinct(key[found < 0], size)
            codes = np.unravel_index(used, [column.radix for column in given])
            table[used] = _coded(self._results(node, given, codes), values, index)
            found = table.take(key)
        return Column(values, found)

    def _results(self, node: Node, given: Sequence[Column], codes: Sequence[Integers]) -> list[Value]:
        """Return the values of a node for some combinations of the codes of its operands."""
        self._count(0, len(codes[0]))
        arguments = [
            map([*column.values, NOTHING].__getitem__, places.tolist())
            for column, places in zip(given, codes, strict=True)
        ]
        return [node.value(values) for values in zip(*arguments, strict=True)]

    def _chosen(self, node: Node, read: Callable[[int], Column]) -> Column:
        """Return the values of a case: of every branch those of the rows that take it."""
        values, index = self.values(node)
        selector = read(node.operands[0])
        self._count(2 * len(selector.codes), 0)
        taken = [node.taken.get(value, -1) for value in selector.values]
        fixed = {at: index.get(value, len(values)) for at, value in node.constants.items()}
        codes = np.array([*(fixed.get(at, len(values)) for at in taken), len(values)])[selector.codes]
        branches = [at for at in dict.fromkeys(taken) if at >= 0 and at not in node.constants]
        chosen = np.array([*taken, -1])[selector.codes] if branches else selector.codes
        for at in branches:
            own = np.flatnonzero(chosen == at)
            if len(own):
                branch = read(node.operands[at])
                key = "onto", id(branch.values), id(values)
                onto = self._table(key, lambda: _coded([*branch.values, NOTHING], values, index))  # noqa: B023
                codes[own] = onto[branch.codes[own]]
        return Column(values, codes)

    def _table(self, key: Hashable, make: Callable[[], Integers]) -> Integers:
        found = self._tables.get(key)
        if found is None:
            found = self._tables[key] = make()
        return found

    def constant(self, expr: Expr, rows: int) -> Column:
        return Column(self._same((expr.values[0],)), np.broadcast_to(np.int64(0), (rows,)))


def _coded(results: Sequence[Value], values: Sequence[Value], index: Mapping[Value, int]) -> Integers:
    """Return the codes of values; what no run has, as an operand that is not needed may have, is NOTHING."""
    return np.array([index.get(value, len(values)) for value in results], dtype=np.int64)


def combinations(columns: Sequence[Column], size: int) -> tuple[Sequence[Integers], Integers]:
    """Return the distinct combinations of codes over the rows, fewer than `size`, and the index of each row's own."""
    codes, radices = [column.codes for column in columns], [column.radix for column in columns]
    if size < 1 << MACHINE_BITS:
        used, _, inverse = distinct(np.ravel_multi_index(codes, radices), size)
        return np.unravel_index(used, radices), inverse
    together, inverse = np.unique(codes, axis=1, return_inverse=True)
    return list(together), inverse.reshape(-1)


def distinct(codes: Integers, number: int) -> tuple[Integers, Integers, Integers]:
    """Return the codes that occur, all less than `number`, the first place of each, and the index of every entry's."""
    if number > _SORTED * len(codes):
        used, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        return used, first, inverse
    first = np.full(number, -1)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    used = np.flatnonzero(first >= 0)
    place = np.empty(number, dtype=np.int64)
    place[used] = np.arange(len(used))
    return used, first[used], place[codes]
