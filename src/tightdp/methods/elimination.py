"""Exact output laws by elimination along the core program, without a decision diagram.

A table holds a weight for every combination of the values that are still needed. A step computes one more value (a
draw splits the rows), drops what is not needed any more, and rows that have become equal are added up. So there are
never more rows than runs of the program, and far fewer where it forgets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from operator import itemgetter
from typing import Any, Protocol, TypeAlias

from tightdp.core.nodes import Case, Draw
from tightdp.core.operators import NOTHING, Value
from tightdp.exact.field import Number
from tightdp.exact.weights import as_exact, over, over_common
from tightdp.exact.whole import Whole, gcd, lcm
from tightdp.language.laws import Law
from tightdp.methods.elimination_guards import ALWAYS
from tightdp.methods.elimination_plan import Plan, Row, Step

__all__ = ["INTEGERS", "Elimination", "Failed", "Integers", "Numbers", "Part", "Ring", "TooMuchWork"]

_AT_ONCE = 10_000
"""This many rows are made between two checks of the limits."""
_LONG = 256
"""Denominators of more bits than this are reduced now and then."""
_CACHED = 100_000

Weight: TypeAlias = Any
"""A number of a ring."""


class TooMuchWork(Exception):
    """More rows were made than the budget allows."""


class Failed(Exception):
    """An obligation of the program does not hold on a run of positive probability; `check` is its number."""

    def __init__(self, check: int) -> None:
        super().__init__(check)
        self.check = check


class Ring(Protocol):
    """A type of weights: they add, and multiply with one another and with ints."""

    one: Weight

    def masses(self, law: Sequence[Number]) -> tuple[Sequence[Weight], Whole]:
        """Return the probabilities of a law as weights over a common denominator."""

    def reduced(self, part: Part) -> Part:
        """Return the same weights over a smaller denominator, where there is one."""


@dataclass(frozen=True)
class Part:
    """Weighted rows over one denominator; never changed."""

    rows: dict[Row, Weight]
    denominator: Whole


class Integers:
    """Whole numbers over a denominator."""

    one: Weight = 1

    def masses(self, law: Sequence[Number]) -> tuple[Sequence[Whole], Whole]:
        return over_common(law)

    def reduced(self, part: Part) -> Part:
        shared = part.denominator
        for weight in part.rows.values():
            shared = gcd(shared, weight)
            if shared == 1:
                return part
        return Part({row: weight // shared for row, weight in part.rows.items()}, part.denominator // shared)


class Numbers:
    """Exact numbers of any type; `number` converts a fraction."""

    def __init__(self, number: Callable[[Number], Weight] = as_exact) -> None:
        self._number = number
        self.one = number(Fraction(1))

    def masses(self, law: Sequence[Number]) -> tuple[Sequence[Weight], Whole]:
        return [self._number(mass) for mass in law], 1

    def reduced(self, part: Part) -> Part:
        return part


INTEGERS = Integers()

Waiting = dict[int, list[Part]]
"""By step, the rows that wait for it."""


class Elimination:
    """Carries out the steps of a plan, on one dataset after another.

    `watch` is called from time to time, and may raise. `work` counts the rows that were made; TooMuchWork is raised
    where they are more than `budget`. Where a run of positive probability fails, Failed is raised; with `failures`, its
    weight is recorded by number of the check instead, and it is followed no further.
    """

    def __init__(
        self,
        plan: Plan,
        ring: Ring = INTEGERS,
        watch: Callable[[], None] = lambda: None,
        budget: int | None = None,
        failures: bool = False,
    ) -> None:
        self.plan = plan
        self.ring = ring
        self.watch = watch
        self.budget = budget
        self.failures = failures
        self.work = 0
        self.known: list[Value] = [NOTHING] * len(plan.nodes.nodes)
        self._looked = 0
        self._long = _LONG
        self._place = [{column: at for at, column in enumerate(step.layout)} for step in plan.steps]
        self._onto: dict[tuple[int, int], Callable[[Row], Row]] = {}
        self._listed: dict[int, tuple[list[Value], Sequence[Weight], Whole]] = {}
        self._check = {place: number for number, place in reversed(list(enumerate(plan.nodes.checks)))}
        self.learn(-1)

    def start(self) -> Waiting:
        """Return the one row that every run starts from."""
        self._long = _LONG
        return {0: [Part({(): self.ring.one}, 1)]}

    def learn(self, rank: int, value: Value = None) -> None:
        """Compute the nodes without draws that are known once a leaf is; `value` is that of the leaf, an input."""
        nodes, known = self.plan.nodes.nodes, self.known
        for place in self.plan.plain.get(rank, ()):
            node = nodes[place]
            if node.kind == "const":
                known[place] = node.expr.values[0]
            elif node.kind == "input":
                known[place] = value
            else:
                known[place] = node.value([known[operand] for operand in node.operands])

    def advance(self, waiting: Waiting, start: int, end: int, failed: dict[int, Weight]) -> None:
        """Take the waiting rows through steps start..end-1, so that all wait for step `end` or a later one."""
        for at in range(start, end):
            parts = waiting.pop(at, None)
            if parts:
                part = self.merged(parts)
                if part.denominator.bit_length() > self._long:
                    part = self.ring.reduced(part)
                    self._long = max(_LONG, 2 * part.denominator.bit_length())
                self._take(at, part, waiting, failed)

    def merged(self, parts: Sequence[Part]) -> Part:
        """Return the sum of weighted rows."""
        if len(parts) == 1:
            return parts[0]
        denominator = lcm(*(part.denominator for part in parts))
        total: dict[Row, Weight] = {}
        for part in parts:
            factor = denominator // part.denominator
            for chunk in self._chunks(part.rows):
                for row, weight in chunk:
                    scaled = weight if factor == 1 else weight * factor
                    total[row] = total[row] + scaled if row in total else scaled
        return Part(total, denominator)

    # one step

    def _take(self, at: int, part: Part, waiting: Waiting, failed: dict[int, Weight]) -> None:
        step = self.plan.steps[at]
        if step.guard != ALWAYS:
            part, skipped = self._split(at, step, part)
            if skipped.rows:
                waiting.setdefault(step.past, []).append(skipped)
            if not part.rows:
                return
        self._tick(len(part.rows))
        match step.kind:
            case "input":
                done = part
            case "check":
                done = self._checked(at, step, part, failed)
            case "draw":
                done = self._drawn(at, step, part)
            case _:
                done = self._computed(at, step, part)
        if done.rows:
            waiting.setdefault(at + 1, []).append(done)

    def _split(self, at: int, step: Step, part: Part) -> tuple[Part, Part]:
        """Return the rows on which the guard of a step holds, and the others on their way past it."""
        place = self._place[at]
        alternatives = []
        for conjunction in step.guard:
            given = [(column, values) for column, values in conjunction if column not in place]
            if all(self.known[column] in values for column, values in given):
                alternatives.append([(place[column], values) for column, values in conjunction if column in place])
        if not all(alternatives):
            return part, Part({}, 1)
        columns = sorted({column for alternative in alternatives for column, _ in alternative})
        key = _getter(columns)
        examples = dict(zip(map(key, part.rows), part.rows, strict=True))
        verdicts = {
            values: any(all(row[column] in wanted for column, wanted in alternative) for alternative in alternatives)
            for values, row in examples.items()
        }
        if all(verdicts.values()):
            return part, Part({}, 1)
        going: dict[Row, Weight] = {}
        left: dict[Row, Weight] = {}
        onto = self._onto.get((at, step.past))
        if onto is None:
            onto = self._onto[at, step.past] = self.plan.onto(at, step.past)
        for chunk in self._chunks(part.rows):
            for row, weight in chunk:
                if verdicts[key(row)]:
                    going[row] = weight
                else:
                    new = onto((*row, NOTHING))
                    left[new] = left[new] + weight if new in left else weight
        self._tick(len(left))
        return Part(going, part.denominator), Part(left, part.denominator)

    def _checked(self, at: int, step: Step, part: Part, failed: dict[int, Weight]) -> Part:
        column = self._place[at].get(step.node)
        number, pick = self._check[step.node], step.pick
        kept: dict[Row, Weight] = {}
        for row, weight in part.rows.items():
            fails = self.known[step.node] if column is None else row[column]
            if fails is not NOTHING and fails:
                if not self.failures:
                    raise Failed(number)
                share = over(weight, part.denominator)
                failed[number] = failed[number] + share if number in failed else share
            else:
                new = row if pick is None else pick(row)
                kept[new] = kept[new] + weight if new in kept else weight
        return Part(kept, part.denominator)

    def _drawn(self, at: int, step: Step, part: Part) -> Part:
        node = self.plan.nodes.nodes[step.node]
        draw = node.expr
        assert isinstance(draw, Draw)
        column = self._place[at].get(node.operands[0])
        index = draw.selector.index
        selected = [self.known[node.operands[0]]] if column is None else list({row[column] for row in part.rows})
        laws = [draw.laws[index[value]] if value is not NOTHING and value in index else None for value in selected]
        listed = [([NOTHING], [self.ring.one], 1) if law is None else self._masses(law) for law in laws]
        common = lcm(*(below for _, _, below in listed))
        choices: dict[Value, list[tuple[Row, Weight]]] = {}
        for value, (outcomes, weights, below) in zip(selected, listed, strict=True):
            scale = common // below
            scaled = weights if scale == 1 else [weight * scale for weight in weights]
            choices[value] = [((outcome,), weight) for outcome, weight in zip(outcomes, scaled, strict=True)]
        idle = {value: [(outcomes[0][0], common)] for value, outcomes in choices.items()}
        active = None if step.active is None else self._place[at].get(step.active)
        if step.active is not None and active is None and self.known[step.active] is False:
            choices = idle
        pick = step.pick
        made: dict[Row, Weight] = {}
        fixed = choices[selected[0]]
        size = max(map(len, choices.values()))
        if pick is None and active is None and len(set(map(len, choices.values()))) == 1:
            self._foresee(len(part.rows) * size * (1 + self.plan.distinct(at + 1)))
        for chunk in self._chunks(part.rows, size):
            for row, weight in chunk:
                outcomes = fixed if column is None else choices[row[column]]
                if active is not None and row[active] is False:
                    outcomes = idle[selected[0] if column is None else row[column]]
                for outcome, share in outcomes:
                    new = row + outcome
                    if pick is not None:
                        new = pick(new)
                        if new in made:
                            made[new] += weight * share
                            continue
                    made[new] = weight * share
        return Part(made, part.denominator * common)

    def _masses(self, law: Law) -> tuple[list[Value], Sequence[Weight], Whole]:
        known = self._listed.get(id(law))  # the plan keeps the law
        if known is None:
            weights, below = self.ring.masses([mass for _, mass in law])
            known = self._listed[id(law)] = ([outcome for outcome, _ in law], weights, below)
        return known

    def _computed(self, at: int, step: Step, part: Part) -> Part:
        value_of = self._function(at, step)
        pick, made = step.pick, {}
        for chunk in self._chunks(part.rows):
            if pick is None:
                for row, weight in chunk:
                    made[(*row, value_of(row))] = weight
            else:
                for row, weight in chunk:
                    new = pick((*row, value_of(row)))
                    made[new] = made[new] + weight if new in made else weight
        return Part(made, part.denominator)

    def _function(self, at: int, step: Step) -> Callable[[Row], Value]:
        """Return what computes the value of a node from a row."""
        node, place, known = self.plan.nodes.nodes[step.node], self._place[at], self.known
        if node.kind == "case":
            return self._chosen(step, place)
        given = tuple(known[operand] for operand in node.operands if operand not in place)
        columns = [place[operand] for operand in node.operands if operand in place]
        cache = step.cache.setdefault(given, {})
        if len(cache) > _CACHED:
            cache.clear()
        key, operands = _getter(columns), node.operands

        def value_of(row: Row) -> Value:
            values = key(row)
            try:
                return cache[values]
            except KeyError:
                arguments = [row[place[operand]] if operand in place else known[operand] for operand in operands]
                result = cache[values] = node.value(arguments)
                return result

        return value_of

    def _chosen(self, step: Step, place: dict[int, int]) -> Callable[[Row], Value]:
        """Return what computes a case from a row: it looks at the branch that is taken only."""
        node, known = self.plan.nodes.nodes[step.node], self.known
        column = place.get(node.operands[0])
        if column is None:
            taken = node.branch(known[node.operands[0]])
            branch = None if taken is None else node.operands[taken]
            if branch is None or branch not in place:
                value = NOTHING if branch is None else known[branch]
                return lambda row: value
            return itemgetter(place[branch])
        assert isinstance(node.expr, Case)
        branches = {value: node.operands[1 + at] for value, at in node.expr.selector.index.items()}
        columns = {value: place[branch] for value, branch in branches.items() if branch in place}
        fixed = {value: known[branch] for value, branch in branches.items() if branch not in place}
        if not columns:
            return lambda row: fixed.get(row[column], NOTHING)

        def value_of(row: Row) -> Value:
            selected = row[column]
            at = columns.get(selected)
            return fixed.get(selected, NOTHING) if at is None else row[at]

        return value_of

    # limits

    def _chunks(self, rows: dict[Row, Weight], size: int = 1) -> Iterator[Iterable[tuple[Row, Weight]]]:
        """Yield the entries of a table, in pieces, looking at the limits in between."""
        most = max(_AT_ONCE // size, 1)
        if len(rows) <= most:
            self._tick(len(rows) * (size - 1))
            yield rows.items()
            return
        self._foresee(len(rows) * size)
        entries = iter(rows.items())
        while chunk := list(islice(entries, most)):
            self._tick(len(chunk) * size)
            yield chunk

    def _foresee(self, rows: int) -> None:
        """Raise TooMuchWork before a step begins that makes more rows than the budget leaves."""
        if self.budget is not None and self.work + rows > self.budget:
            raise TooMuchWork

    def _tick(self, rows: int) -> None:
        self.work += rows
        if self.budget is not None and self.work > self.budget:
            raise TooMuchWork
        if self.work - self._looked > _AT_ONCE:
            self._looked = self.work
            self.watch()


def _getter(columns: Sequence[int]) -> Callable[[Row], Value]:
    """Return a function that gives the entries at some places, as a key."""
    return itemgetter(*columns) if columns else lambda row: ()
