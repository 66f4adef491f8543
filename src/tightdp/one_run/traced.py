"""Stages read off a diagram: cut wherever the output so far determines the node that is reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, product
from operator import mul

from tightdp.errors import LimitError
from tightdp.exact.weights import add_into, times
from tightdp.exact.whole import Whole
from tightdp.limits.calibrated import AUDIT_STATES, AUDIT_TABLE
from tightdp.logic.count import flow
from tightdp.logic.formula import Coin, InputBit, OutputBit, WeightedFormula
from tightdp.one_run.stages import Counts, Functions, Outcome, Stage, Table

Reached = set[tuple[int, int]]
"""(output bits decided, node reached)."""


class Levels:
    """A compiled program of bits, level by level.

    A weight at a node is an integer over the product of the denominators of the levels above it; a secret bit has the
    denominator 2. The weights of a level sum to its denominator, so skipping it multiplies by the denominator.
    """

    def __init__(self, formula: WeightedFormula) -> None:
        if formula.conditioned:
            raise ValueError("conditioned programs have no common denominator")
        self.formula = formula
        self.diagram = formula.diagram
        self.end = len(formula.variables)
        self.client = [
            formula.inputs[variable.leaf].client if isinstance(variable, InputBit) else None
            for variable in formula.variables
        ]
        self.below = [self._denominator(level) for level in range(self.end)]

    def _denominator(self, level: int) -> Whole:
        variable = self.formula.variables[level]
        if isinstance(variable, Coin):
            return variable.denominator
        return 2 if isinstance(variable, InputBit) else 1

    def level(self, node: int) -> int:
        """Return the level of a node; the constants stand below all levels."""
        return self.diagram.level[node] if node > 1 else self.end

    def arrows(self, node: int, wanted: int | None) -> Iterator[tuple[int, int, Whole]]:
        """Yield (bit, child, weight) for the children of a node that lead to True; `wanted` fixes an output bit."""
        variable = self.formula.variables[self.diagram.level[node]]
        weights: tuple[Whole, Whole] = (1, 1)
        if isinstance(variable, Coin):
            above, below = variable.numerator, variable.denominator
            weights = (below - above, above)
        for bit, child in enumerate((self.diagram.low[node], self.diagram.high[node])):
            if child and (wanted is None or wanted == bit):
                yield bit, child, weights[bit]

    def is_output(self, level: int) -> bool:
        """Whether a level decides a bit of the output."""
        return isinstance(self.formula.variables[level], OutputBit)


def trace(formula: WeightedFormula, watch: Callable[[], None] = lambda: None) -> tuple[TracedStage, ...]:
    """Return the stages of a program of bits that `observe` does not condition, as many as possible."""
    levels = Levels(formula)
    stages = []
    start, reached = 0, {formula.diagram.root: {(0, formula.diagram.root)}}
    for end in _ends(levels):
        watch()
        reached = {state: _extend(levels, exits, end) for state, exits in reached.items()}
        if sum(map(len, reached.values())) > AUDIT_STATES:
            raise LimitError(
                f"an output that cannot be taken apart has more than {AUDIT_STATES:,} values",
                "use fewer records, or a mechanism with fewer outputs",
            )
        if all(len(dict(exits)) == len(exits) for exits in reached.values()):
            stages.append(TracedStage(levels, start, end, {state: dict(exits) for state, exits in reached.items()}))
            start = end
            reached = {node: {(0, node)} for exits in reached.values() for _, node in exits}
    return tuple(stages)


def _ends(levels: Levels) -> list[int]:
    """Return the levels where a stage may end: below every output bit, and below everything."""
    return sorted({level + 1 for level in range(levels.end) if levels.is_output(level)} | {levels.end})


def _extend(levels: Levels, reached: Reached, end: int) -> Reached:
    """Return the (bits, node) reached at level `end` from those reached above it."""
    done: Reached = set()
    seen = set(reached)
    stack = list(reached)
    while stack:
        bits, node = stack.pop()
        level = levels.level(node)
        if level >= end:
            done.add((bits, node))
            continue
        for bit, child, _ in levels.arrows(node, None):
            found = (bits << 1 | bit, child) if levels.is_output(level) else (bits, child)
            if found not in seen:
                seen.add(found)
                stack.append(found)
    return done


class TracedStage(Stage):
    """The levels start..end of a diagram; a state is a node at or below their start. Every client is its own class."""

    def __init__(self, levels: Levels, start: int, end: int, exits: dict[int, dict[int, int]]) -> None:
        self.levels, self.start, self.end = levels, start, end
        self.exits = exits
        span = range(start, end)
        self.level_of = {client: at for at in span if (client := levels.client[at]) is not None}
        self.classes = tuple((client,) for client in self.level_of)
        self._outputs = [level for level in span if levels.is_output(level)]
        self.bits = len(self._outputs)
        self._scale = list(accumulate((levels.below[level] for level in span), mul, initial=1))
        self.total = self._scale[-1]

    @cached_property
    def outcomes(self) -> Mapping[int, tuple[Outcome, ...]]:  # type: ignore[override]
        return {
            state: tuple(self._outcome(state, code, after) for code, after in sorted(exits.items()))
            for state, exits in self.exits.items()
        }

    def _gap(self, above: int, below: int) -> Whole:
        """Return the product of the denominators of the levels above..below-1."""
        return 1 if above >= below else self._scale[below - self.start] // self._scale[above - self.start]

    def _level(self, node: int) -> int:
        return min(self.levels.level(node), self.end)

    def _wanted(self, code: int) -> dict[int, int]:
        """Return the value of every output bit, by level."""
        last = self.bits - 1
        return {level: code >> (last - at) & 1 for at, level in enumerate(self._outputs)}

    def _paths(self, state: int, code: int, after: int) -> tuple[list[int], dict[int, list[tuple[int, int, Whole]]]]:
        """Return the nodes between two states, parents first, and their arrows (bit, child, weight) to such nodes."""
        wanted = self._wanted(code)
        arrows: dict[int, list[tuple[int, int, Whole]]] = {}
        stack = [state]
        while stack:
            node = stack.pop()
            if node in arrows or self._level(node) >= self.end:
                continue
            arrows[node] = list(self.levels.arrows(node, wanted.get(self.levels.level(node))))
            stack.extend(child for _, child, _ in arrows[node])
        alive = {after}
        for node in sorted(arrows):  # children come before their parents in a diagram
            arrows[node] = [arrow for arrow in arrows[node] if arrow[1] in alive]
            if arrows[node]:
                alive.add(node)
        order = sorted((node for node in arrows if node in alive), reverse=True)
        return order, arrows

    def _outcome(self, state: int, code: int, after: int) -> Outcome:
        """Add up the weight of all paths, and for every secret bit that of the paths on which it is 1."""
        order, arrows = self._paths(state, code, after)
        level, gap = self._level, self._gap
        below: dict[int, Whole] = {after: 1}
        for node in reversed(order):
            under = level(node) + 1
            below[node] = sum(weight * gap(under, level(child)) * below[child] for _, child, weight in arrows[node])
        above = {state: gap(self.start, level(state))}
        through: dict[int, Whole] = {}
        ones: dict[int, Whole] = {}
        for node in order:
            present, here = above[node], level(node)
            for bit, child, weight in arrows[node]:
                sent = present * weight * gap(here + 1, level(child))
                above[child] = above.get(child, 0) + sent
                if bit:
                    ones[here] = ones.get(here, 0) + sent * below[child]
            through[here] = through.get(here, 0) + present * below[node]
        weight = above[after]
        return Outcome(
            code,
            after,
            weight,
            tuple((weight - through.get(at, 0)) // 2 + ones.get(at, 0) for at in self.level_of.values()),
        )

    def right(self, state: int, outcome: Outcome, guesses: Mapping[int, int]) -> list[Whole]:
        order, arrows = self._paths(state, outcome.code, outcome.state)
        guess = {self.level_of[client]: bit for client, bit in guesses.items()}
        counts = {state: self._skip([1], self.start, self._level(state), guess)}
        for node in order:
            present, here = counts.pop(node), self._level(node)
            for bit, child, weight in arrows[node]:
                sent: list[Whole] = [weight * count for count in present]
                if guess.get(here) == bit:
                    sent.insert(0, 0)
                add_into(counts.setdefault(child, []), self._skip(sent, here + 1, self._level(child), guess))
        return counts[outcome.state]

    def _skip(self, counts: list[Whole], above: int, below: int, guess: Mapping[int, int]) -> list[Whole]:
        """Return the weights after skipped levels: a guess of a bit that is skipped is right on half of them."""
        factor, guessed = self._gap(above, below), [level for level in guess if above <= level < below]
        for _ in guessed:
            counts = times(counts, [1, 1])
        factor >>= len(guessed)
        return counts if factor == 1 else [factor * count for count in counts]

    def table(self, state: int) -> Table:
        clients = len(self.classes)
        if 1 << clients > AUDIT_TABLE:
            raise LimitError(
                f"{clients} secret bits that bear on one output have {1 << clients:,} values, too many to list",
                "use fewer records",
            )
        return {bits: self._given(state, bits) for bits in product((0, 1), repeat=clients)}

    def _given(self, state: int, bits: Counts) -> dict[int, Whole]:
        """Return the weight of every outcome for given secret bits."""
        inputs = dict(zip(self.level_of.values(), map(bool, bits), strict=True))
        arrived = flow(self.levels.formula, state, self.end, inputs, None, lambda _: None)
        total = self.total >> len(self.classes)
        return {
            code: weight * (total // below) for weights, below in arrived.values() for code, weight in weights.items()
        }

    def function(self, state: int, outcome: Outcome, functions: Functions, order: Sequence[int]) -> int:
        paths, arrows = self._paths(state, outcome.code, outcome.state)
        place = {self.level_of[client]: at for at, client in enumerate(order)}
        made = {outcome.state: functions.constant(1)}
        zero = functions.constant(0)
        for node in reversed(paths):
            here = self._level(node)
            parts: list[tuple[int, Whole]] = [(zero, 0), (zero, 0)]
            for bit, child, weight in arrows[node]:
                parts[bit] = made[child], weight * self._free_gap(here + 1, self._level(child))
            (low, down), (high, up) = parts
            if here in place:
                made[node] = functions.where(
                    place[here], functions.sum(low, down, zero, 0), functions.sum(high, up, zero, 0)
                )
            else:
                made[node] = functions.sum(low, down, high, up)
        return functions.sum(made[state], self._free_gap(self.start, self._level(state)), zero, 0)

    def _free_gap(self, above: int, below: int) -> Whole:
        """Return the product of the denominators of the levels above..below-1 that are not secret bits."""
        return self._gap(above, below) >> self._inputs(above, below)

    def _inputs(self, above: int, below: int) -> int:
        """Return how many secret bits stand on the levels above..below-1."""
        return sum(above <= level < below for level in self.level_of.values())
