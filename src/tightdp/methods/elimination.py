"""Exact output laws by elimination along the core program, without a decision diagram, for many datasets at once.

A table holds a weight for every combination of the values that are still needed. A step computes one more value (a
draw splits the rows), drops what is not needed any more, and rows that have become equal are added up. So there are
never more rows than runs of the program, and far fewer where it forgets.

A *lane* is one choice of values for all input leaves, as a dataset gives it. Every row belongs to a lane, or to all
lanes that agree on the inputs learned so far: it splits where they differ. Columns are arrays, so that an operation on
a row takes nanoseconds, and a step some time however few its rows are. Weights are machine integers while their
denominator is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from math import lcm, prod
from typing import Any

from tightdp.core.nodes import Draw, Expr
from tightdp.core.operators import NOTHING, Value
from tightdp.exact.arrays import Flags, Integers, Objects, np
from tightdp.exact.field import Number
from tightdp.exact.weights import all_over_common
from tightdp.exact.whole import Whole, gcd
from tightdp.limits import pay
from tightdp.limits.calibrated import DOUBLES_AT_ONCE, FEW_VALUES, LISTED_MASSES, LISTED_ROWS, ROWS_IN_ONE, STEP
from tightdp.methods.elimination_columns import MACHINE_BITS, Column, Operations, distinct
from tightdp.methods.elimination_plan import Plan, Step

_OBJECT = 16
"""An operation on a weight that is no machine integer takes as long as that on so many rows of a column."""
_NONE = ((NOTHING, Fraction(1)),)
"""The law of a draw whose selector has a value for which there is none."""


class TooMuchWork(Exception):
    """More rows were made than the budget allows."""


class TooManyRows(TooMuchWork):
    """There are too many rows at a time for all of these lanes; not raised for one lane without a budget."""


class Failed(Exception):
    """An obligation of the program does not hold on a run of positive probability: number `check`, on lane `lane`."""

    def __init__(self, check: int, lane: int) -> None:
        super().__init__(check, lane)
        self.check, self.lane = check, lane


class Elimination:
    """Goes through the steps of a plan once, for all lanes.

    `lanes` are the values of the leaves, in the order in which the plan learns them (`Plan.inputs`). `work` is counted
    as in the estimates of plans; TooMuchWork is raised where it is more than `budget`, besides one passage through the
    steps, which takes no longer than to make the plan. Where a run of positive probability fails, Failed is raised;
    with `failures`, its weight is recorded in `failed`, by check and lane, and it is followed no further.
    """

    def __init__(
        self,
        plan: Plan,
        lanes: Sequence[Sequence[Value]],
        watch: Callable[[], None] = lambda: None,
        budget: int | None = None,
        failures: bool = False,
    ) -> None:
        self.plan, self.watch, self.failures = plan, watch, failures
        self.budget = None if budget is None else budget + STEP * len(plan.steps)
        self.work = 0.0
        self.failed: dict[tuple[int, int], Whole] = {}
        """Weights over the denominator at the end."""
        self.operations = Operations(self._count)
        self.given: dict[int, Column] = {}
        """For some draws, what they are by lane instead."""
        self.columns: dict[int, Column] = {}
        self.denominator: Whole = 1
        self._reduced_at = MACHINE_BITS
        self._unmerged = 0
        self._evidence = set(plan.nodes.evidence)
        checks = [at for at, step in enumerate(plan.steps) if step.kind == "check"]
        self._rejecting = max(checks, default=-1)
        """From this step on, runs that `observe` rejects are not followed: a check is asked of all runs before."""
        self._learn(lanes)
        self.lane = self._first[-1 if failures else 0]
        self._depth = len(self._first) - 1 if failures else 0
        self.weights: Objects = np.ones(len(self.lane), dtype=np.int64)
        self._own: Objects = np.ones(0 if failures else self._first[-1].size, dtype=object)
        """By lane, what its weights are over, besides the denominator of all; empty where that is kept for all."""
        self._most_own = 1

    def _learn(self, lanes: Sequence[Sequence[Value]]) -> None:
        """Sort the lanes, and compute what does not depend on draws, for all of them."""
        nodes, plain = self.plan.nodes.nodes, self.plan.nodes.plain
        codes = [
            list(map(self.operations.values(nodes[place])[1].__getitem__, values))
            for place, values in zip(self.plan.inputs, zip(*lanes, strict=True), strict=False)
        ]
        if codes:
            learned, number = np.unique(np.array(codes, dtype=np.int64), axis=1, return_inverse=True)
            self.number = number.reshape(-1)
        else:
            learned, self.number = np.zeros((0, 1), dtype=np.int64), np.zeros(len(lanes), dtype=np.int64)
        width = learned.shape[1]
        new = np.arange(width) == 0
        self._first = [np.flatnonzero(new)]
        """By number of inputs learned, the first lane of those that agree on them."""
        for values in learned:
            new[1:] |= values[1:] != values[:-1]
            self._first.append(np.flatnonzero(new))
        self._known: dict[int, Column] = {}
        learning = iter(learned)
        known = {place: next(learning) for place in self.plan.inputs}
        for place, node in enumerate(nodes):
            if plain[place]:
                if node.kind == "const":
                    column = self.operations.constant(node.expr, width)
                elif node.kind == "input":
                    column = Column(self.operations.values(node)[0], known[place])
                else:
                    column = self.operations.value(node, self._known.__getitem__)
                self._known[place] = column

    def begin(self, columns: dict[int, Column], lanes: int) -> None:
        """Begin again with one row for each of so many lanes, where no input is learned."""
        self.columns, self.denominator, self._reduced_at = columns, 1, MACHINE_BITS
        self.weights = np.ones(lanes, dtype=np.int64)
        self.regroup(columns, np.arange(lanes), lanes)

    def regroup(self, columns: dict[int, Column], lane: Integers, lanes: int) -> None:
        """Give every row another lane of so many, and other columns, where no input is learned."""
        self.columns, self.lane, self.number, self._first = columns, lane, np.arange(lanes), [np.arange(lanes)]
        self._own = self._own[:0]
        for place, column in self._known.items():
            self._known[place] = Column(column.values, np.broadcast_to(column.codes[0], (lanes,)))

    def run(self, start: int = 0, end: int | None = None) -> Elimination:
        """Go through some steps, or all."""
        nodes = self.plan.nodes.nodes
        for at, step in enumerate(self.plan.steps[start:end], start=start):
            self._count(0, STEP)
            if step.kind in ("draw", "input") and self._unmerged:
                self._merge()
            if step.kind == "input":
                self._split()
            elif step.kind == "draw":
                self._draw(step)
            elif step.kind == "check":
                self._check(step)
            else:
                self.columns[step.node] = self.operations.value(nodes[step.node], self.read)
            if at > self._rejecting and step.node in self._evidence and step.kind != "check":
                self._keep(self.read(step.node).among((True,)))
            for column in step.dropped:
                del self.columns[column]
            self._unmerged += bool(step.dropped)
            if self._unmerged > FEW_VALUES:
                before = len(self.lane)
                self._merge()
                self._unmerged = 0 if len(self.lane) < before else -7 * FEW_VALUES
        self._merge()
        return self

    def laws(self, components: Sequence[Expr]) -> list[dict[int, Whole]]:
        """Return the weights of outputs by lane, outputs by code, of the runs that `observe` accepts.

        The digits of a code are the places of the components' values.
        """
        evidence = self.plan.nodes.evidence
        if evidence:
            self._keep(self.read(evidence[-1]).among((True,)))
        kind: Any = np.int64 if prod(len(component.values) for component in components) < 1 << MACHINE_BITS else object
        code: Any = np.zeros(len(self.lane), dtype=kind)
        for place, component in zip(self.plan.nodes.components, components, strict=True):
            column = self.read(place)
            onto = np.array([*(component.index.get(value, -1) for value in column.values), -1])[column.codes]
            if onto.min(initial=0) < 0:
                raise AssertionError("an output has no value: a defect of elimination")
            code = code * len(component.values) + onto.astype(kind)
        found: list[dict[int, Whole]] = [{} for _ in self._first[-1]]
        for lane, output, weight in zip(self.lane.tolist(), code.tolist(), self.weights.tolist(), strict=True):
            if weight:
                law = found[lane]
                law[output] = law[output] + weight if output in law else weight
        return [found[lane] for lane in self.number.tolist()]

    def denominators(self) -> list[Whole]:
        """Return what the weights of every lane are over."""
        return [self.denominator * own for own in self._own[self.number].tolist()]

    def read(self, place: int) -> Column:
        """Return the values of a node by row."""
        column = self.columns.get(place)
        return self._known[place].at(self.lane) if column is None else column

    # one step

    def _split(self) -> None:
        """Learn one more input: rows of lanes that differ in it are split."""
        if self._depth + 1 == len(self._first):
            return
        before, after = self._first[self._depth], self._first[self._depth + 1]
        self._depth += 1
        if len(after) > len(before):
            ends = np.append(np.searchsorted(after, before[1:]), len(after))[np.searchsorted(before, self.lane)]
            starts = np.searchsorted(after, self.lane)
            self.lane = after[self._repeat(ends - starts, starts)]

    def _repeat(self, many: Integers, starts: Integers) -> Integers:
        """Repeat every row; return the numbers from the row's start on, one for each time."""
        ends = np.cumsum(many)
        if len(ends) and ends[-1] > LISTED_MASSES and (self.budget is not None or len(self._first[-1]) > 1):
            raise TooManyRows
        rows = np.repeat(np.arange(len(many)), many)
        self._count(len(rows) * (4 + len(self.columns) + (_OBJECT if self.weights.dtype == object else 0)), 0)
        self._take(rows)
        return np.arange(len(rows)) + (starts - (ends - many))[rows]

    def _take(self, rows: Integers) -> None:
        self.lane, self.weights = self.lane[rows], self.weights[rows]
        self.columns = {place: column.at(rows) for place, column in self.columns.items()}

    def _keep(self, flags: Flags) -> None:
        if not flags.all():
            self._take(np.flatnonzero(flags))

    def _check(self, step: Step) -> None:
        fails = self.read(step.node).among((True,))
        if not fails.any():
            return
        number = self.plan.nodes.checks.index(step.node)
        if not self.failures:
            raise Failed(number, int(np.flatnonzero(self.number == self.lane[fails][0])[0]))
        for lane, weight in zip(self.lane[fails].tolist(), self.weights[fails].tolist(), strict=True):
            self.failed[number, lane] = self.failed.get((number, lane), 0) + weight
        self._keep(~fails)

    def _draw(self, step: Step) -> None:
        node = self.plan.nodes.nodes[step.node]
        draw = node.expr
        assert isinstance(draw, Draw)
        if step.node in self.given:
            self.columns[step.node] = self.given[step.node].at(self.lane)
            return
        values, index = self.operations.values(node)
        selector = self.read(node.operands[0])
        used, _, choice = distinct(selector.codes, selector.radix)
        found = map(draw.selector.index.get, map(selector.value, used.tolist()))
        laws = [(None if at is None else draw.laws[at]) or _NONE for at in found]
        masses = [[mass for _, mass in law] for law in laws]
        apart = self._apart(masses) if self.plan.nodes.plain[node.operands[0]] else None
        denominators: Sequence[Whole]
        if apart is None:
            scaled, common = all_over_common(masses)
            denominators = [common] * len(laws)
            self._make_room(common, all(isinstance(weight, int) for weights in scaled for weight in weights))
            self.denominator = self.denominator * common
        else:
            scaled = [all_over_common([law])[0][0] for law in masses]
            denominators = apart
            self._make_room(max(apart), integers=True)
            self._own_by_lane(self._known[node.operands[0]].codes, used, apart)
        codes = [[index.get(outcome, len(values)) for outcome, _ in law] for law in laws]
        if step.active is not None:
            choice = choice + len(laws) * self.read(step.active).among((False,))
            codes, scaled = codes + [some[:1] for some in codes], scaled + [[common] for common in denominators]
        lengths = np.array(list(map(len, codes)), dtype=np.int64)
        places = self._repeat(lengths[choice], (np.cumsum(lengths) - lengths)[choice])
        self.columns[step.node] = Column(values, np.array(list(chain.from_iterable(codes)), dtype=np.int64)[places])
        scale = np.array(list(chain.from_iterable(scaled)), dtype=self.weights.dtype)[places]
        np.multiply(self.weights, scale, out=self.weights, where=scale != 1)

    def _apart(self, masses: Sequence[Sequence[Number]]) -> list[int] | None:
        """Return the denominators of laws that lanes choose, where one for all is far longer than any; else None."""
        numbers = {id(mass): mass for law in masses for mass in law}.values() if len(self._own) else ()
        below = {mass.denominator for mass in numbers if isinstance(mass, Fraction)}
        if not below or not all(isinstance(mass, Fraction) for mass in numbers):
            return None
        if lcm(*below).bit_length() <= max(MACHINE_BITS, 2 * max(below).bit_length()):
            return None
        return [lcm(*(mass.denominator for mass in law if isinstance(mass, Fraction))) for law in masses]

    def _own_by_lane(self, selector: Integers, used: Integers, denominators: Sequence[int]) -> None:
        """Note that weights are over the denominators of the laws that are chosen by the codes `used` of a selector."""
        first = self._first[self._depth]
        lanes = first[np.searchsorted(first, np.arange(len(self._own)), side="right") - 1]
        place = {code: at for at, code in enumerate(used.tolist())}
        chosen = [place.get(code) for code in selector[lanes].tolist()]  # None: no row is left
        self._own = self._own * np.array([1 if at is None else denominators[at] for at in chosen], dtype=object)
        self._most_own *= max(denominators)

    def _make_room(self, factor: Whole, integers: bool) -> None:
        """Make weights ready to be multiplied: over a smaller denominator, or as integers of any length, or others."""
        factor_in_all = self._most_own * factor
        if (self.denominator * factor_in_all).bit_length() > self._reduced_at:
            shared = gcd(self.denominator, *self.weights.tolist(), *self.failed.values())
            if shared != 1:
                self.weights, self.denominator = self.weights // shared, self.denominator // shared
                self.failed = {key: weight // shared for key, weight in self.failed.items()}
            bits = (self.denominator * factor_in_all).bit_length()
            if bits > MACHINE_BITS:
                self.weights, self._reduced_at = self.weights.astype(object), 2 * bits
        if not (integers and isinstance(factor, int)):
            self.weights = self.weights.astype(object)
        self.failed = {key: weight * factor for key, weight in self.failed.items()}

    def _merge(self) -> None:
        """Add up rows that are equal."""
        self._unmerged = 0
        key, size = self.lane, len(self._first[-1])
        for column in self.columns.values():
            if size * column.radix >= 1 << MACHINE_BITS:
                used, _, key = distinct(key, size)
                size = len(used)
            key, size = key * column.radix + column.codes, size * column.radix
        used, first, inverse = distinct(key, size)
        self._count(len(key) * (4 + len(self.columns) + (_OBJECT if self.weights.dtype == object else 0)), 0)
        if len(used) < len(key):
            total = np.zeros(len(used), dtype=self.weights.dtype)
            np.add.at(total, inverse, self.weights)
            self._take(first)
            self.weights = total

    def _count(self, rows: int, computed: int) -> None:
        steps = rows / ROWS_IN_ONE + computed
        self.work += steps
        if self.budget is not None and self.work > self.budget:
            raise TooMuchWork
        pay(self.watch, steps)


def laws(
    plan: Plan,
    lanes: Sequence[Sequence[Value]],
    watch: Callable[[], None] = lambda: None,
    budget: int | None = None,
    done: Callable[[float], None] = lambda work: None,
) -> Iterator[tuple[dict[int, Whole], Whole]]:
    """Yield, for every lane, the weights of the codes of outputs (as `observe` accepts them), and their denominator.

    `done` is told the work, of all lanes of a batch together. Raises TooMuchWork where all lanes take more work than
    the budget, and Failed where a run fails.
    """
    size = max(min(LISTED_ROWS, DOUBLES_AT_ONCE // max(sum(plan.nodes.plain), 1)), 1)
    waiting = [(at, lanes[at : at + size]) for at in range(0, len(lanes), size)][::-1]
    spent = 0.0
    while waiting:
        start, some = waiting.pop()
        found = Elimination(plan, some, watch, None if budget is None else int(budget - spent))
        try:
            found.run()
        except TooManyRows:
            half = len(some) // 2
            if not half:
                raise
            waiting += [(start + half, some[half:]), (start, some[:half])]
            continue
        except Failed as failed:
            raise Failed(failed.check, start + failed.lane) from None
        finally:
            spent += found.work
            done(found.work)
        yield from zip(found.laws(plan.program.components), found.denominators(), strict=True)
