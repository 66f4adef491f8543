"""Elimination for all datasets at once, with the rows in arrays: what is done to a row takes nanoseconds.

A *lane* is one choice of values for all input leaves. Every row belongs to a lane, and a column of the table is an
array with a code for the value of every row. An operation is a table from the codes of its operands, filled where they
occur, and shared by operations that are the same. Weights are machine integers while their denominator is one. A step
takes some time however few its rows are, so this is for tables of many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from math import prod
from typing import TYPE_CHECKING, Any

from tightdp.core.nodes import Apply, Case, Draw, Expr
from tightdp.core.operators import NOTHING, Value
from tightdp.core.valuesets import Places, Progression
from tightdp.exact.lazily import lazily
from tightdp.exact.weights import over_common
from tightdp.exact.whole import Whole, gcd, lcm
from tightdp.methods.elimination import Failed, TooMuchWork
from tightdp.methods.elimination_columns import MACHINE_BITS, Column, combinations
from tightdp.methods.elimination_guards import ALWAYS, Guard
from tightdp.methods.elimination_lanes import distinct
from tightdp.methods.elimination_nodes import Node
from tightdp.methods.elimination_plan import Plan, Step

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Flags = NDArray[np.bool_]
    Weights = NDArray[Any]
else:
    np = lazily("numpy")

__all__ = ["ROWS_IN_ONE", "TIME_OF_STEP", "RowArrays", "TooManyRows"]

ROWS_IN_ONE = 128
"""So many rows of arrays take as long as one row by itself."""
TIME_OF_STEP = 64
"""A step takes as long as so many rows by themselves, even where there are none."""
_MOST_ROWS = 1 << 21
_TABULATED = 1 << 22
_LONG = 1 << 16
_PATIENCE = 32
"""After so many steps that may have made rows equal, equal rows are added up."""


class TooManyRows(TooMuchWork):
    """There are too many rows at a time for all of these lanes."""


class RowArrays:
    """Goes through the steps of a plan once, for all lanes.

    `lanes` are the values of the leaves, in the order in which the plan learns them. `work` counts on, as `Elimination`
    does: rows by themselves that would take as long; `times` says for how many lanes each of these stands. Raises
    TooMuchWork where they are more than `budget`, and Failed where a run of positive probability fails.
    """

    def __init__(
        self,
        plan: Plan,
        lanes: Sequence[Sequence[Value]],
        watch: Callable[[], None],
        budget: int | None = None,
        work: float = 0.0,
        times: int = 1,
    ) -> None:
        self.plan, self.watch, self.budget, self.work, self._times = plan, watch, budget, work, times
        self._tables: dict[Hashable, Codes] = {}
        self._flags: dict[Hashable, Flags] = {}
        self._interned: dict[Hashable, Sequence[Value]] = {}
        self._index: dict[int, Mapping[Value, int]] = {}
        self._lanes = len(lanes)
        self.lane = np.arange(len(lanes))
        self.columns: dict[int, Column] = {}
        self.weights: Weights = np.ones(len(lanes), dtype=np.int64)
        self.denominator: Whole = 1
        self._reduced_at = MACHINE_BITS
        self._known: dict[int, Column] = {}
        inputs = [step.node for step in plan.steps if step.kind == "input"]
        given = dict(zip(inputs, zip(*lanes, strict=True), strict=True)) if inputs else {}
        for rank in sorted(plan.plain):
            for place in plan.plain[rank]:
                self._known[place] = self._plain(place, given.get(place))

    def _plain(self, place: int, given: Sequence[Value] | None) -> Column:
        node = self.plan.nodes.nodes[place]
        if given is not None:
            values, index = self._values(node)
            return Column(values, np.array([index[value] for value in given], dtype=np.int64))
        if node.kind == "const":
            return Column((node.expr.values[0],))
        return self._value(node, [self._known[operand] for operand in node.operands], len(self.lane))

    def run(self) -> None:
        """Go through all steps."""
        dropped = 0
        for at, step in enumerate(self.plan.steps):
            self.work += TIME_OF_STEP
            self._count(0)
            if step.kind == "draw":
                if dropped:
                    self._merge()
                    dropped = 0
                self._draw(step)
            elif step.kind == "check":
                self._check(step)
            elif step.kind != "input":
                self.columns[step.node] = self._computed(step)
            if step.pick is not None:
                after = self.plan.steps[at + 1].layout if at + 1 < len(self.plan.steps) else self.plan.layout
                self.columns = {column: self.columns[column] for column in after}
            dropped += step.pick is not None
            if dropped > _PATIENCE:
                before = len(self.lane)
                self._merge()
                dropped = 0 if len(self.lane) < before else -7 * _PATIENCE
        self._merge()

    def laws(self, components: Sequence[Expr]) -> list[dict[int, Whole]]:
        """Return the weights of outputs by lane, outputs by code, of the runs that `observe` accepts."""
        code: Any = np.zeros(len(self.lane), dtype=np.int64 if _codes(components) < 1 << MACHINE_BITS else object)
        for place, component in zip(self.plan.nodes.components, components, strict=True):
            column = self.read(place)
            onto = np.array([*(component.index.get(value, 0) for value in column.values), 0]).astype(code.dtype)
            code = code * len(component.values) + onto[column.codes]
        laws: list[dict[int, Whole]] = [{} for _ in range(self._lanes)]
        kept = np.arange(len(self.lane))
        if self.plan.nodes.evidence is not None:
            kept = np.flatnonzero(self._among(self.read(self.plan.nodes.evidence), (True,)))
        rows = zip(self.lane[kept].tolist(), code[kept].tolist(), self.weights[kept].tolist(), strict=True)
        for lane, output, weight in rows:
            laws[lane][output] = laws[lane].get(output, 0) + weight
        return laws

    def read(self, place: int) -> Column:
        """Return the values of a node by row."""
        column = self.columns.get(place)
        return self._known[place].at(self.lane) if column is None else column

    # one step

    def _computed(self, step: Step) -> Column:
        node = self.plan.nodes.nodes[step.node]
        given = [self.read(operand) for operand in node.operands]
        needed = self._holds(step.guard)
        if needed is None:
            return self._value(node, given, len(self.lane))
        some = np.flatnonzero(needed)
        found = self._value(node, [column.at(some) for column in given], len(some))
        values = self._same(found.values)
        codes = np.full(len(self.lane), len(values))
        codes[some] = found.codes
        return Column(values, codes)

    def _holds(self, guard: Guard) -> Flags | None:
        """Return on which rows a guard holds; None where on all."""
        if guard == ALWAYS:
            return None
        total: Flags | None = None
        for conjunction in guard:
            holds: Flags | None = None
            for place, wanted in conjunction:
                found = self._among(self.read(place), wanted)
                holds = found if holds is None else holds & found
            assert holds is not None
            total = holds if total is None else total | holds
        return np.zeros(len(self.lane), dtype=bool) if total is None else total

    def _take(self, rows: Codes) -> None:
        """Go on with some rows; columns that are functions of one column stay so."""
        bases = {id(column.base): column.base for column in self.columns.values() if column.base is not None}
        taken = {name: base[rows] for name, base in bases.items()}
        self.lane = self.lane[rows]
        self.columns = {
            place: column if column.base is None else Column(column.values, taken[id(column.base)], column.table)
            for place, column in self.columns.items()
        }

    def _among(self, column: Column, wanted: Sequence[Value] | frozenset[Value]) -> Flags:
        if column.constant:
            return np.full(len(self.lane), column.values[0] in wanted)
        key = id(column.values), wanted
        if key not in self._flags:
            self._flags[key] = np.array([*(value in wanted for value in column.values), False])
        return self._flags[key].take(column.codes)

    def _check(self, step: Step) -> None:
        fails = self._among(self.read(step.node), (True,))
        if fails.any():
            raise Failed(self.plan.nodes.checks.index(step.node))

    def _draw(self, step: Step) -> None:
        node = self.plan.nodes.nodes[step.node]
        draw = node.expr
        assert isinstance(draw, Draw)
        values, index = self._values(node)
        selector, needed = self.read(node.operands[0]), self._holds(step.guard)
        chosen = np.zeros_like(self.lane) if selector.constant else selector.codes
        used, _, choice = distinct(chosen, selector.radix)
        laws: list[tuple[list[int], list[Whole], Whole]] = []
        for code in used.tolist():
            selected = selector.values[code] if code < len(selector.values) else NOTHING
            place = draw.selector.index.get(selected)
            law = None if place is None else draw.laws[place]
            if law is None:
                laws.append(([len(values)], [1], 1))
            else:
                weights, below = over_common([mass for _, mass in law])
                laws.append(([index[outcome] for outcome, _ in law], list(weights), below))
        if step.active is not None:
            choice = choice + len(laws) * self._among(self.read(step.active), (False,))
            laws += [(outcomes[:1], [1], 1) for outcomes, _, _ in laws]
        if needed is not None:
            choice = np.where(needed, choice, len(laws))
            laws.append(([len(values)], [1], 1))
        common = lcm(*(below for _, _, below in laws))
        masses = [weight * (common // below) for _, weights, below in laws for weight in weights]
        self._make_room(common, all(isinstance(mass, int) for mass in masses))
        lengths = np.array([len(outcomes) for outcomes, _, _ in laws])
        many = lengths[choice]
        ends = np.cumsum(many)
        if ends[-1] > _MOST_ROWS:
            raise TooManyRows
        rows = np.repeat(np.arange(len(self.lane)), many)
        start = (np.cumsum(lengths) - lengths)[choice] - (ends - many)
        places = np.arange(len(rows)) + start[rows]
        self._count(4 * len(rows) * (1 if self.weights.dtype != object else ROWS_IN_ONE // 4))
        self._take(rows)
        self.columns[step.node] = Column(
            values, np.array([code for outcomes, _, _ in laws for code in outcomes])[places]
        )
        self.weights, self.denominator = self.weights[rows], self.denominator * common
        factors = np.array(masses, dtype=self.weights.dtype)[places]
        np.multiply(self.weights, factors, out=self.weights, where=factors != 1)

    def _make_room(self, factor: Whole, integers: bool) -> None:
        """Make weights ready to be multiplied: over a smaller denominator, or as integers of any length, or others."""
        if (self.denominator * factor).bit_length() > self._reduced_at:
            shared = gcd(self.denominator, *self.weights.tolist())
            if shared != 1:
                self.weights, self.denominator = self.weights // shared, self.denominator // shared
            bits = (self.denominator * factor).bit_length()
            if bits > MACHINE_BITS:
                self.weights, self._reduced_at = self.weights.astype(object), 2 * bits
        if not (integers and isinstance(factor, int)):
            self.weights = self.weights.astype(object)

    def _merge(self) -> None:
        """Add up rows that are equal."""
        key, size = self.lane, int(self.lane.max(initial=0)) + 1
        for column in self.columns.values():
            if not column.constant:
                if size * column.radix >= 1 << MACHINE_BITS:
                    used, _, key = distinct(key, size)
                    size = len(used)
                key, size = key * column.radix + column.codes, size * column.radix
        used, first, inverse = distinct(key, size)
        self._count(8 * len(key))
        if len(used) < len(key):
            total = np.zeros(len(used), dtype=self.weights.dtype)
            np.add.at(total, inverse, self.weights)
            self.weights = total
            self._take(first)

    # values

    def _values(self, node: Node) -> tuple[Sequence[Value], Mapping[Value, int]]:
        """Return the values of a node, the same object for equal ones, and their places."""
        low, high = (0, _TABULATED) if node.bounds is None else node.bounds
        listed = node.values if node.values or high - low >= _TABULATED else range(low, high + 1)
        values = self._same(listed)
        if id(values) not in self._index:
            if isinstance(values, range) and len(values) > _LONG:
                self._index[id(values)] = Places(values)
            else:
                self._index[id(values)] = {value: at for at, value in enumerate(values)}
        return values, self._index[id(values)]

    def _same(self, values: Sequence[Value]) -> Sequence[Value]:
        """Return the object that stands for all equal sequences of values; it is kept, and so is its id."""
        key = values if isinstance(values, (range, Progression)) else (tuple(map(type, values)), tuple(values))
        return self._interned.setdefault(key, values)

    def _value(self, node: Node, given: Sequence[Column], rows: int) -> Column:
        """Return the values of a node on so many rows from those of its operands."""
        if node.kind == "case" and any(not column.constant for column in given[1:]):
            return self._selected(node, given, rows)
        several = [at for at, column in enumerate(given) if not column.constant]
        if not several:
            return Column((node.value([column.values[0] for column in given]),))
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
        values, index = self._values(node)
        size = prod(given[at].radix for at in several)
        self._count(2 * len(given[several[0]].codes))
        if not values or size > _TABULATED:
            together, inverse = combinations([given[at] for at in several], size)
            results = self._results(node, given, several, together)
            if not values:
                values = self._same(tuple(dict.fromkeys(value for value in results if value is not NOTHING)))
                index = {value: at for at, value in enumerate(values)}
            return Column(values, self._coded(results, values, index)[inverse])
        key = given[several[0]].codes
        for at in several[1:]:
            key = key * given[at].radix + given[at].codes
        name: Hashable = node.kind, node.function
        if isinstance(node.expr, Apply):
            name = node.expr.operator
        elif isinstance(node.expr, Case):
            name = id(self._same(node.expr.selector.values))
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
        self.work += len(codes[0])
        arguments: list[Iterable[Value]] = [repeat(column.values[0]) if column.constant else () for column in given]
        for at, places in zip(several, codes, strict=True):
            arguments[at] = map([*given[at].values, NOTHING].__getitem__, places.tolist())
        return [node.value(values) for values in zip(*arguments, strict=False)]

    def _selected(self, node: Node, given: Sequence[Column], rows: int) -> Column:
        """Return the values of a case some of whose branches differ by row."""
        assert isinstance(node.expr, Case)
        values, index = self._values(node)
        selector, branches = given[0], node.operands
        if selector.constant:
            taken = node.branch(selector.values[0])
            return Column((NOTHING,)) if taken is None else given[taken]
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
        """Return the code among some values of every code of a column."""
        key = "onto", id(column.values), id(values)
        if column.constant or key not in self._tables:
            table = np.array([*(index.get(value, len(values)) for value in column.values), len(values)])
            if column.constant:
                return table
            self._tables[key] = table
        return self._tables[key]

    def _count(self, rows: int) -> None:
        self.work += self._times * rows / ROWS_IN_ONE
        if self.budget is not None and self.work > self.budget:
            raise TooMuchWork
        self.watch()


def _codes(components: Sequence[Expr]) -> int:
    return prod(len(component.values) for component in components)
