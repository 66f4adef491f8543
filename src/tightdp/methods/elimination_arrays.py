"""Elimination for all datasets at once, with the rows in arrays: an operation on a row takes nanoseconds.

A *lane* is one choice of values for all input leaves. A column of the table is an array with a code for the value of
every row. Either every row belongs to a lane, or the lanes go *together*: a row stands for runs of all of them, its
weight has an entry per lane, and so has a value that they do not agree on. Then an entry takes a nanosecond, but there
are as many rows as ways in which such values differ, which may be very many. Weights are machine integers while their
denominator is one, or rounded probabilities. A step takes some time however few its rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from tightdp.core.nodes import Draw, Expr
from tightdp.core.operators import NOTHING, Value
from tightdp.exact.lazily import lazily
from tightdp.exact.weights import all_over_common
from tightdp.exact.whole import Whole, gcd
from tightdp.methods.elimination import Failed, TooMuchWork
from tightdp.methods.elimination_columns import MACHINE_BITS, Column, distinct
from tightdp.methods.elimination_guards import ALWAYS, Guard
from tightdp.methods.elimination_lanes import Lanes, SharedValues, every, lanes_with
from tightdp.methods.elimination_operations import Operations
from tightdp.methods.elimination_plan import Plan, Step

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Flags = NDArray[np.bool_]
    Weights = NDArray[Any]
    Weight = Any
else:
    np = lazily("numpy")

__all__ = ["ROWS_IN_ONE", "TIME_OF_STEP", "RowArrays", "TooManyRows"]

ROWS_IN_ONE = 128
"""This many rows of arrays take as long as one row by itself."""
TIME_OF_STEP = 64
"""A step takes as long as this many rows by themselves, even without any rows."""
_MOST_ROWS = 1 << 21
_ROWS_TOGETHER = 4
"""This many rows that stand for all lanes take as long as one row by itself."""
_MOST_ENTRIES = 1 << 24
_PATIENCE = 32
"""After this many steps that may have made rows equal, equal rows are added up."""


class TooManyRows(TooMuchWork):
    """There are too many rows at a time for all of these lanes."""


class RowArrays:
    """Goes through the steps of a plan once, for all lanes.

    `lanes` are the values of the leaves, in the order in which the plan learns them. `work` counts on, as `Elimination`
    does: rows by themselves that would take as long; `times` says for how many lanes each of these stands. Raises
    TooMuchWork where they are more than `budget`, and Failed where a run of positive probability fails. With
    `together`, a row stands for all lanes (`elimination_lanes`); with `rounded`, weights are doubles.
    """

    def __init__(
        self,
        plan: Plan,
        lanes: Sequence[Sequence[Value]],
        watch: Callable[[], None],
        budget: int | None = None,
        work: float = 0.0,
        together: bool = False,
        rounded: bool = False,
        times: int = 1,
    ) -> None:
        self.plan, self.watch, self.budget, self.work = plan, watch, budget, work
        self._lanes, self._rounded = len(lanes), rounded
        self._shared = SharedValues() if together else None
        self._per_row = times / (_ROWS_TOGETHER if together else ROWS_IN_ONE)
        self._most = max(_MOST_ENTRIES // len(lanes), 1) if together else _MOST_ROWS
        self.operations = Operations(self._count, self._shared)
        self.lane = np.zeros(1, dtype=np.int64) if together else np.arange(len(lanes))
        self.columns: dict[int, Column] = {}
        shape = (1, len(lanes)) if together else (len(lanes),)
        self.weights: Weights = np.ones(shape, dtype=np.float64 if rounded else np.int64)
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
        if given is not None and self._shared is not None:
            return Column((self._shared.shared(given, np.arange(self._lanes)),))
        if given is not None:
            values, index = self.operations.values(node)
            return Column(values, np.array([index[value] for value in given], dtype=np.int64))
        if node.kind == "const":
            return Column((node.expr.values[0],))
        return self.operations.value(node, [self._known[operand] for operand in node.operands], len(self.lane))

    def run(self) -> None:
        """Go through all steps."""
        dropped = 0
        for at, step in enumerate(self.plan.steps):
            self._count(0, TIME_OF_STEP)
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
        laws: list[dict[int, Whole]] = [{} for _ in range(self._lanes)]
        for lanes, codes, weights in self.ending(components):
            for lane, output, weight in zip(lanes.tolist(), codes.tolist(), weights.tolist(), strict=True):
                if weight:
                    law = laws[lane]
                    law[output] = law[output] + weight if output in law else weight
        return laws

    def ending(self, components: Sequence[Expr]) -> Iterator[tuple[Codes, Weights, Weights]]:
        """Yield lanes, codes of outputs, and their weights in the runs that `observe` accepts.

        The digits of a code are the places of the components' values.
        """
        kind: Any = np.int64 if prod(len(component.values) for component in components) < 1 << MACHINE_BITS else object
        digits = [
            (component, self.read(place))
            for place, component in zip(self.plan.nodes.components, components, strict=True)
        ]
        evidence = None if self.plan.nodes.evidence is None else self.read(self.plan.nodes.evidence)
        if self._shared is None:
            code: Any = np.zeros(len(self.lane), dtype=kind)
            for component, column in digits:
                onto = np.array([*(component.index.get(value, 0) for value in column.values), 0]).astype(kind)
                code = code * len(component.values) + onto[column.codes]
            kept: Any = slice(None)
            if evidence is not None:
                kept = np.flatnonzero(self._among(evidence, (True,)))
            yield self.lane[kept], code[kept], self.weights[kept]
            return
        lanes = np.arange(self._lanes)
        for row, weights in enumerate(self.weights):
            code = np.zeros(self._lanes, dtype=kind)
            for component, column in digits:
                value = column.value(row)
                places = np.array([component.index.get(one, 0) for one in every(value)]).astype(kind)
                code = code * len(component.values) + places[value.places if type(value) is Lanes else 0]
            if evidence is not None:
                weights = weights * lanes_with(evidence.value(row), (True,))
            yield lanes, code, weights

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
            return self.operations.value(node, given, len(self.lane))
        some = np.flatnonzero(needed)
        found = self.operations.value(node, [column.at(some) for column in given], len(some))
        values = self.operations.same(found.values)
        codes = np.full(len(self.lane), len(values))
        codes[some] = found.codes
        return Column(values, codes)

    def _holds(self, guard: Guard) -> Flags | None:
        """Return the rows on which a guard holds; None for all."""
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
        """Keep some rows only; columns that are functions of one column stay so."""
        bases = {id(column.base): column.base for column in self.columns.values() if column.base is not None}
        taken = {name: base[rows] for name, base in bases.items()}
        self.lane, self.weights = self.lane[rows], self.weights[rows]
        self.columns = {
            place: column if column.base is None else Column(column.values, taken[id(column.base)], column.table)
            for place, column in self.columns.items()
        }

    def _among(self, column: Column, wanted: Sequence[Value] | frozenset[Value], surely: bool = False) -> Flags:
        return self.operations.among(column, wanted, len(self.lane), surely)

    def _check(self, step: Step) -> None:
        column = self.read(step.node)
        fails = self._among(column, (True,))
        if self._shared is not None:
            for row in np.flatnonzero(fails).tolist():
                fails[row] = (lanes_with(column.value(row), (True,)) & (self.weights[row] != 0)).any()
        if fails.any():
            raise Failed(self.plan.nodes.checks.index(step.node))

    def _draw(self, step: Step) -> None:
        node = self.plan.nodes.nodes[step.node]
        draw = node.expr
        assert isinstance(draw, Draw)
        values, index = self.operations.values(node)
        selector, needed = self.read(node.operands[0]), self._holds(step.guard)
        chosen = np.zeros_like(self.lane) if selector.constant else selector.codes
        used, _, choice = distinct(chosen, selector.radix)
        selected = [selector.values[code] if code < len(selector.values) else NOTHING for code in used.tolist()]
        masses, common = self._masses(draw, index, {value: None for one in selected for value in every(one)})
        self._make_room(common, all(isinstance(mass, int) for law in masses.values() for mass in law.values()))
        laws = [self._by_lane(value, masses) for value in selected]
        if step.active is not None:
            choice = choice + len(laws) * self._among(self.read(step.active), (False,), surely=True)
            laws += [{next(iter(law)): common} for law in laws]
        if needed is not None:
            choice = np.where(needed, choice, len(laws))
            laws.append({len(values): common})
        lengths = np.array([len(law) for law in laws])
        many = lengths[choice]
        ends = np.cumsum(many)
        if ends[-1] > self._most:
            raise TooManyRows
        rows = np.repeat(np.arange(len(self.lane)), many)
        start = (np.cumsum(lengths) - lengths)[choice] - (ends - many)
        places = np.arange(len(rows)) + start[rows]
        self._count(4 * len(rows) * (ROWS_IN_ONE // 4 if self.weights.dtype == object and self._shared is None else 1))
        self._take(rows)
        outcomes, factors = [code for law in laws for code in law], [factor for law in laws for factor in law.values()]
        self.columns[step.node] = Column(values, np.array(outcomes)[places])
        self.denominator = self.denominator * common
        if self._shared is None:
            scale = np.array(factors, dtype=self.weights.dtype)[places]
            np.multiply(self.weights, scale, out=self.weights, where=scale != 1)
            return
        for weights, place in zip(self.weights, places.tolist(), strict=True):
            if isinstance(factors[place], np.ndarray) or factors[place] != 1:
                weights *= factors[place]
        present = (self.weights != 0).any(axis=1)
        if not present.all():
            self._take(np.flatnonzero(present))

    def _masses(
        self, draw: Draw, index: Mapping[Value, int], selected: Iterable[Value]
    ) -> tuple[dict[Value, dict[int, Weight]], Whole]:
        """Return the weights of outcomes, by code, for values of the selector, and their common denominator."""
        places = {value: draw.selector.index.get(value) for value in selected}
        laws = {value: None if place is None else draw.laws[place] for value, place in places.items()}
        known = {value: law for value, law in laws.items() if law is not None}
        masses = [[mass for _, mass in law] for law in known.values()]
        weights: Sequence[Sequence[Weight]] = [[*map(float, law)] for law in masses] if self._rounded else []
        common: Whole = 1
        if not self._rounded:
            weights, common = all_over_common(masses)
        found: dict[Value, dict[int, Weight]] = {value: {len(draw.values): common} for value in laws}
        for (value, law), some in zip(known.items(), weights, strict=True):
            found[value] = dict(zip((index[outcome] for outcome, _ in law), some, strict=True))
        return found, common

    def _by_lane(self, selected: Value, masses: Mapping[Value, dict[int, Weight]]) -> dict[int, Weight]:
        """Return the weights of outcomes, arrays where the lanes do not agree on the value of the selector."""
        if type(selected) is not Lanes:
            return masses[selected]
        laws = [masses[value] for value in selected.values]
        return {
            outcome: np.array([law.get(outcome, 0) for law in laws], dtype=self.weights.dtype)[selected.places]
            for outcome in dict.fromkeys(outcome for law in laws for outcome in law)
        }

    def _make_room(self, factor: Whole, integers: bool) -> None:
        """Make weights ready to be multiplied: over a smaller denominator, or as integers of any length, or others."""
        if self._rounded:
            return
        if (self.denominator * factor).bit_length() > self._reduced_at:
            shared = gcd(self.denominator, *self.weights.ravel().tolist())
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
            total = np.zeros((len(used), *self.weights.shape[1:]), dtype=self.weights.dtype)
            if self._shared is None:
                np.add.at(total, inverse, self.weights)
            else:
                for place, weights in zip(inverse.tolist(), self.weights, strict=True):
                    total[place] += weights
            self._take(first)
            self.weights = total

    def _count(self, rows: int, computed: int = 0) -> None:
        self.work += rows * self._per_row + computed
        if self.budget is not None and self.work > self.budget:
            raise TooMuchWork
        self.watch()
