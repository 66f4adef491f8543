"""The operations of elimination in arrays: tables from the codes of operands to codes of values.

A table is filled where its operands occur, and shared by operations that are the same. Where a row stands for many
lanes, values may differ by lane (`elimination_lanes.py`), and those of a node are listed as they occur.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from math import prod
from typing import TYPE_CHECKING

from tightdp.core.nodes import Apply, Case
from tightdp.core.operators import NOTHING, Value
from tightdp.core.valuesets import Places, Progression
from tightdp.exact.lazily import lazily
from tightdp.methods.elimination_columns import Column, combinations, distinct
from tightdp.methods.elimination_lanes import Lanes, SharedValues, lanes_with
from tightdp.methods.elimination_nodes import Node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Flags = NDArray[np.bool_]
else:
    np = lazily("numpy")

__all__ = ["Operations"]

_TABULATED = 1 << 22
_LONG = 1 << 16


class Operations:
    """Computes columns from columns.

    `count` is told how many rows were looked at, and how many values were computed. With `shared`, values may differ
    by lane.
    """

    def __init__(self, count: Callable[[int, int], None], shared: SharedValues | None) -> None:
        self._count, self._shared = count, shared
        self._tables: dict[Hashable, Codes] = {}
        self._flags: dict[Hashable, Flags] = {}
        self._interned: dict[Hashable, Sequence[Value]] = {}
        self._index: dict[int, Mapping[Value, int]] = {}

    def among(
        self, column: Column, wanted: Sequence[Value] | frozenset[Value], rows: int, surely: bool = False
    ) -> Flags:
        """Return which rows have one of the wanted values, on some lane; `surely`: on all lanes."""
        quantifier = np.all if surely else np.any
        if column.constant:
            return np.full(rows, quantifier(lanes_with(column.values[0], wanted)))
        key = id(column.values), wanted, surely
        if key not in self._flags:
            self._flags[key] = np.array([*(quantifier(lanes_with(value, wanted)) for value in column.values), False])
        return self._flags[key].take(column.codes)

    def values(self, node: Node) -> tuple[Sequence[Value], Mapping[Value, int]]:
        """Return the values of a node, the same object for equal ones, and their places."""
        low, high = (0, _TABULATED) if node.bounds is None else node.bounds
        listed = node.values if node.values or high - low >= _TABULATED else range(low, high + 1)
        values = self.same(listed)
        if id(values) not in self._index:
            if isinstance(values, range) and len(values) > _LONG:
                self._index[id(values)] = Places(values)
            else:
                self._index[id(values)] = {value: at for at, value in enumerate(values)}
        return values, self._index[id(values)]

    def same(self, values: Sequence[Value]) -> Sequence[Value]:
        """Return one interned object for all equal sequences of values; it is kept alive, so its id stays valid."""
        key = values if isinstance(values, (range, Progression)) else (tuple(map(type, values)), tuple(values))
        return self._interned.setdefault(key, values)

    def value(self, node: Node, given: Sequence[Column], rows: int) -> Column:
        """Return the values of a node on all rows from those of its operands."""
        if node.kind == "case" and not any(type(value) is Lanes for value in given[0].values):
            if given[0].constant:
                taken = node.branch(given[0].values[0])
                return Column((NOTHING,)) if taken is None else given[taken]
            if any(not column.constant for column in given[1:]):
                return self._selected(node, given, rows)
        several = [at for at, column in enumerate(given) if not column.constant]
        if not several:
            return Column((self._one(node, [column.values[0] for column in given]),))
        one = given[several[0]]
        if all(given[at].base is one.base for at in several) and one.places < rows:
            inner = [
                column if column.base is None else Column(column.values, np.arange(one.places), column.table)
                for column in given
            ]
            with suppress(KeyError):  # some places, which no row has, may give what the node cannot take
                found = self._tabulated(node, inner, several)
                return Column(found.values, one.base, found.codes)
        return self._tabulated(node, given, several)

    def _tabulated(self, node: Node, given: Sequence[Column], several: Sequence[int]) -> Column:
        """Return the values of a node from those of its operands, of which several differ by row."""
        values, index = self.values(node) if self._shared is None else ((), {})
        size = prod(given[at].radix for at in several)
        self._count(2 * len(given[several[0]].codes), 0)
        if not values or size > _TABULATED:
            together, inverse = combinations([given[at] for at in several], size)
            results = self._results(node, given, several, together)
            if not values:
                values = self.same(tuple(dict.fromkeys(value for value in results if value is not NOTHING)))
                index = {value: at for at, value in enumerate(values)}
            return Column(values, self._coded(results, values, index)[inverse])
        key = given[several[0]].codes
        for at in several[1:]:
            key = key * given[at].radix + given[at].codes
        name: Hashable = node.kind, node.function
        if isinstance(node.expr, Apply):
            name = node.expr.operator
        elif isinstance(node.expr, Case):
            name = id(self.same(node.expr.selector.values))
        constants = tuple(
            (type(column.values[0]), column.values[0]) if column.constant else id(column.values) for column in given
        )
        table = self._tables.get((name, constants, id(values)))
        if table is None:
            table = self._tables[name, constants, id(values)] = np.full(size, -1)
        found = table.take(key)
        if found.min(initial=0) < 0:
            used, _, _ = distinct(key[found < 0], size)
            codes = np.unravel_index(used, [given[at].radix for at in several])
            table[used] = self._coded(self._results(node, given, several, codes), values, index)
            found = table.take(key)
        return Column(values, found)

    def _coded(self, results: Sequence[Value], values: Sequence[Value], index: Mapping[Value, int]) -> Codes:
        return np.array([len(values) if value is NOTHING else index[value] for value in results], dtype=np.int64)

    def _results(
        self, node: Node, given: Sequence[Column], several: Sequence[int], codes: Sequence[Codes]
    ) -> list[Value]:
        """Return the values of a node for some combinations of the codes of those of its operands that differ."""
        self._count(0, len(codes[0]))
        arguments: list[Iterable[Value]] = [repeat(column.values[0]) if column.constant else () for column in given]
        for at, places in zip(several, codes, strict=True):
            arguments[at] = map([*given[at].values, NOTHING].__getitem__, places.tolist())
        return [self._one(node, values) for values in zip(*arguments, strict=False)]

    def _one(self, node: Node, given: Sequence[Value]) -> Value:
        return node.value(given) if self._shared is None else self._shared.value(node, given)

    def _selected(self, node: Node, given: Sequence[Column], rows: int) -> Column:
        """Return the values of a case some of whose branches differ by row."""
        assert isinstance(node.expr, Case)
        values, index = self.values(node)
        if self._shared is not None:
            values = self.same(
                tuple(dict.fromkeys(v for column in given[1:] for v in column.values if v is not NOTHING))
            )
            index = {value: at for at, value in enumerate(values)}
        selector, branches = given[0], node.operands
        first = {branches[at]: at for at in range(len(branches) - 1, 0, -1)}
        of_code = np.zeros(selector.radix, dtype=np.int64)
        for code, value in enumerate(selector.values):
            taken = node.branch(value)
            of_code[code] = 0 if taken is None else first[branches[taken]]
        chosen = of_code[selector.codes]
        codes = np.full(rows, len(values))
        for at in np.unique(chosen).tolist():
            if at:
                own = np.flatnonzero(chosen == at)
                codes[own] = self._onto(given[at], values, index)[0 if given[at].constant else given[at].codes[own]]
        return Column(values, codes)

    def _onto(self, column: Column, values: Sequence[Value], index: Mapping[Value, int]) -> Codes:
        """Return, for every code of a column, the code of its value in `values`."""
        key = "onto", id(column.values), id(values)
        if column.constant or key not in self._tables:
            table = np.array([*(index.get(value, len(values)) for value in column.values), len(values)])
            if column.constant:
                return table
            self._tables[key] = table
        return self._tables[key]
