"""Elimination for many values of the leaves at once: one table of rows, in which every weight is an array.

A *lane* is one choice of values for all input leaves. A row stands for runs of all lanes together: its weight has an
entry per lane, and so has a value that the lanes do not agree on (`Lanes`). Such values are shared where they are the
same on all lanes, so that rows become equal as they do on a single lane. What costs time is the rows; an entry more
costs little. So thousands of laws that are cheap one by one take little more time than a few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tightdp.core.nodes import Draw
from tightdp.core.operators import NOTHING, Value
from tightdp.exact.lazily import lazily
from tightdp.exact.whole import Whole, gcd, lcm
from tightdp.methods.elimination import Elimination, Failed, Integers, Part, Waiting, Weight
from tightdp.methods.elimination_guards import Conjunction
from tightdp.methods.elimination_nodes import Node
from tightdp.methods.elimination_plan import Plan, Row, Step

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]
else:
    np = lazily("numpy")

__all__ = ["Arrays", "Lanes", "ManyLanes", "distinct"]

_SORTED = 8
"""Codes are told apart by sorting where so many times as many are possible as there are lanes."""


class Lanes:
    """A value that lanes do not agree on: `values[places[i]]` on lane i. There is one object for equal ones."""

    __slots__ = ("places", "values")

    def __init__(self, values: tuple[Value, ...], places: Places) -> None:
        self.values = values
        self.places = places


class Arrays(Integers):
    """Arrays of whole numbers, one for every lane."""

    kind = "object"

    def __init__(self, lanes: int) -> None:
        self.one: Weight = np.ones(lanes, dtype=self.kind)

    def reduced(self, part: Part) -> Part:
        shared = part.denominator
        for weight in part.rows.values():
            shared = gcd(shared, *weight.tolist())
            if shared == 1:
                return part
        return Part({row: weight // shared for row, weight in part.rows.items()}, part.denominator // shared)


class ManyLanes(Elimination):
    """Goes through the steps of a plan once, for all lanes."""

    ring: Arrays

    def __init__(
        self,
        plan: Plan,
        lanes: Sequence[Sequence[Value]],
        watch: Callable[[], None],
        budget: int | None,
        ring: type[Arrays] = Arrays,
    ) -> None:
        self._shared: dict[Value, Lanes] = {}
        self._results: dict[Value, Value] = {}
        super().__init__(plan, ring(len(lanes)), watch, budget)
        order = np.arange(len(lanes))
        stops = [step.node for step in plan.steps if step.kind == "input"]
        for node, column in zip(stops, zip(*lanes, strict=True), strict=True):
            self.learn(plan.nodes.rank[node], self.shared(column, order))

    def ending(self) -> Iterator[tuple[Value, Weight]]:
        """Go through all steps; yield the values of the components together, with the weights that are accepted."""
        plan = self.plan
        waiting: Waiting = self.start()
        self.advance(waiting, 0, len(plan.steps), {})
        part = self.merged(waiting.get(len(plan.steps)) or [Part({}, 1)])
        self.denominator = part.denominator
        place = {column: at for at, column in enumerate(plan.layout)}
        evidence = plan.nodes.evidence
        for row, weight in part.rows.items():
            if evidence is not None:
                holds = row[place[evidence]] if evidence in place else self.known[evidence]
                weight = weight * _lanes_with(holds, (True,))
            output: Value = ()
            for at in plan.nodes.components:
                output = self._each(_with_another, (output, row[place[at]] if at in place else self.known[at]))
            yield output, weight

    # values

    def shared(self, values: Sequence[Value], places: Places) -> Value:
        """Return the value that is `values[places[i]]` on lane i; a plain value where all lanes have the same."""
        used, first, inverse = distinct(places, len(values))
        number: dict[tuple[type, Value], int] = {}
        of_used = np.empty(len(used), dtype=np.int64)
        for at in np.argsort(first):
            value = values[used[at]]
            of_used[at] = number.setdefault((type(value), value), len(number))
        if len(number) == 1:
            return values[used[0]]
        renamed = of_used[inverse]
        key = tuple(number), renamed.tobytes()
        if key not in self._shared:
            self._shared[key] = Lanes(tuple(value for _, value in number), renamed)
        return self._shared[key]

    def value(self, node: Node, given: Sequence[Value]) -> Value:
        if node.kind == "case" and type(given[0]) is Lanes:
            return self._case(node, given)
        return node.value(given) if node.kind == "case" else self._each(node.value, given)

    def _each(self, function: Callable[[Sequence[Value]], Value], given: Sequence[Value]) -> Value:
        """Return the value of a function on each lane."""
        several = [at for at, value in enumerate(given) if type(value) is Lanes]
        if not several:
            return function(given)
        code, codes = given[several[0]].places, len(given[several[0]].values)
        for at in several[1:]:
            code, codes = code * len(given[at].values) + given[at].places, codes * len(given[at].values)
        used, _, inverse = distinct(code, codes)
        values, arguments = [], list(given)
        for one in map(int, used):
            for at in reversed(several):
                one, place = divmod(one, len(given[at].values))
                arguments[at] = given[at].values[place]
            values.append(function(arguments))
        return self.shared(values, inverse)

    def _case(self, node: Node, given: Sequence[Value]) -> Value:
        selector = given[0]
        values: list[Value] = []
        places = selector.places * 0
        for at, selected in enumerate(selector.values):
            taken = node.branch(selected)
            branch = NOTHING if taken is None else given[taken]
            own = selector.places == at
            if type(branch) is Lanes:
                places[own] = branch.places[own] + len(values)
                values += branch.values
            else:
                places[own] = len(values)
                values.append(branch)
        return self.shared(values, places)

    # steps

    def _function(self, at: int, step: Step) -> Callable[[Row], Value]:
        node, place, known, results = self.plan.nodes.nodes[step.node], self._place[at], self.known, self._results

        def value_of(row: Row) -> Value:
            given = [row[place[operand]] if operand in place else known[operand] for operand in node.operands]
            key = step.node, tuple(given)
            if key not in results:
                results[key] = self.value(node, given)
            return results[key]

        return value_of

    def _split(self, at: int, step: Step, part: Part) -> tuple[Part, Part]:
        """Return the rows on which the guard may hold on some lane, and the others.

        Where it does not, what is computed is not looked at.
        """
        onto = self.plan.onto(at, step.past)
        going: dict[Row, Weight] = {}
        left: dict[Row, Weight] = {}
        columns = sorted({column for conjunction in step.guard for column, _ in conjunction})
        verdicts: dict[Row, bool] = {}
        for row, weight in part.rows.items():
            entries = tuple([self._entry(at, row, column) for column in columns])
            needed = verdicts.get(entries)
            if needed is None:
                given = dict(zip(columns, entries, strict=True))
                needed = verdicts[entries] = any(
                    all(_may_be(given[column], wanted) for column, wanted in conjunction) for conjunction in step.guard
                )
            if needed:
                going[row] = weight
            else:
                new = onto((*row, NOTHING))
                left[new] = left[new] + weight if new in left else weight
        self._tick(len(part.rows))
        return Part(going, part.denominator), Part(left, part.denominator)

    def _where(self, at: int, row: Row, conjunction: Conjunction, holds: Flags) -> Flags:
        """Return on which of some lanes a conjunction holds for a row."""
        for column, wanted in conjunction:
            holds = holds & _lanes_with(self._entry(at, row, column), wanted)
        return holds

    def _entry(self, at: int, row: Row, column: int) -> Value:
        place = self._place[at].get(column)
        return self.known[column] if place is None else row[place]

    def _checked(self, at: int, step: Step, part: Part, failed: dict[int, Weight]) -> Part:
        pick = step.pick
        kept: dict[Row, Weight] = {}
        for row, weight in part.rows.items():
            fails = self._entry(at, row, step.node)
            if fails is not NOTHING and fails is not False:
                holds = _lanes_with(fails, (True,)) & (weight != 0)
                if any(self._where(at, row, conjunction, holds).any() for conjunction in step.guard):
                    raise Failed(self._check[step.node])
            new = row if pick is None else pick(row)
            kept[new] = kept[new] + weight if new in kept else weight
        return Part(kept, part.denominator)

    def _drawn(self, at: int, step: Step, part: Part) -> Part:
        node = self.plan.nodes.nodes[step.node]
        selector = node.operands[0]
        entries = {self._entry(at, row, selector) for row in part.rows}
        laws = self._laws(node, {value for entry in entries for value in _values(entry)})
        common = lcm(*(below for _, below in laws.values()))
        choices = {entry: self._choices(entry, laws, common) for entry in entries}
        made: dict[Row, Weight] = {}
        pick = step.pick
        for row, weight in part.rows.items():
            outcomes = choices[self._entry(at, row, selector)]
            if step.active is not None and self._entry(at, row, step.active) is False:
                outcomes = [(outcomes[0][0], common, True)]
            self._tick(len(outcomes))
            for outcome, share, everywhere in outcomes:
                present = weight if everywhere and share == 1 else weight * share
                if not everywhere and not present.any():
                    continue
                new = (*row, outcome)
                if pick is not None:
                    new = pick(new)
                made[new] = made[new] + present if new in made else present
        return Part(made, part.denominator * common)

    def _laws(self, node: Node, selected: set[Value]) -> dict[Value, tuple[dict[Value, Weight], Whole]]:
        """Return the weights of all outcomes for some values of the selector, each with a denominator."""
        draw = node.expr
        assert isinstance(draw, Draw)
        found: dict[Value, tuple[dict[Value, Weight], Whole]] = {}
        index = draw.selector.index
        for value in selected:
            law = draw.laws[index[value]] if value is not NOTHING and value in index else None
            if law is None:
                found[value] = {NOTHING: 1}, 1
            else:
                outcomes, weights, below = self._masses(law)
                found[value] = dict(zip(outcomes, weights, strict=True)), below
        return found

    def _choices(
        self, entry: Value, laws: dict[Value, tuple[dict[Value, Weight], Whole]], common: Whole
    ) -> list[tuple[Value, Weight, bool]]:
        """Return every outcome with its weight, an array where lanes differ, and whether they do not."""
        if type(entry) is not Lanes:
            law, below = laws[entry]
            return [(outcome, weight * (common // below), True) for outcome, weight in law.items()]
        scaled = [(law, common // below) for law, below in map(laws.__getitem__, entry.values)]
        outcomes = dict.fromkeys(outcome for law, _ in scaled for outcome in law)
        return [
            (
                outcome,
                np.array([law.get(outcome, 0) * scale for law, scale in scaled], dtype=self.ring.kind)[entry.places],
                False,
            )
            for outcome in outcomes
        ]


def distinct(codes: Places, number: int) -> tuple[Places, Places, Places]:
    """Return the codes that occur, all less than `number`, where each does first, and which of them every entry is."""
    if number > _SORTED * len(codes):
        used, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        return used, first, inverse
    first = np.full(number, -1)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    used = np.flatnonzero(first >= 0)
    place = np.empty(number, dtype=np.int64)
    place[used] = np.arange(len(used))
    return used, first[used], place[codes]


def _with_another(given: Sequence[Value]) -> Value:
    values, one = given
    return (*values, one)


def _values(entry: Value) -> tuple[Value, ...]:
    return entry.values if type(entry) is Lanes else (entry,)


def _may_be(entry: Value, wanted: frozenset[Value]) -> bool:
    return any(value in wanted for value in _values(entry))


def _lanes_with(entry: Value, wanted: Sequence[Value] | frozenset[Value]) -> Flags:
    """Return which lanes have one of the wanted values; a single flag where all are alike."""
    if type(entry) is not Lanes:
        return np.asarray(entry in wanted)
    return np.array([value in wanted for value in entry.values])[entry.places]
