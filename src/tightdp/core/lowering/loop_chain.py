"""A loop as a Markov chain: its states, found by lowering one round from each, and the law of how it ends.

The state of a loop is what it carries from round to round: the values of the names that it writes, with what the lists
hold that a round made, and of a `for` loop the place of the next item. A round is lowered from each reachable state, on
its own, and enumerated run by run. From states that differ by counters alone, which rounds only add to, it is lowered
once: with the counters at 0.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from tightdp.core.coarse import alike_outcomes
from tightdp.core.lowering.given import Given, bits_of
from tightdp.core.lowering.loop_lists import Lists, is_endless, nested
from tightdp.core.lowering.loop_runs import Alike, Context, NotAChain, Run, Split, runs
from tightdp.core.lowering.machine import End, Failure, Machine
from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.values import Reference, Union, Value, all_plain
from tightdp.core.nodes import Expr
from tightdp.core.published import GOES_ON
from tightdp.exact.absorbing import absorbed, moves_on, reaching
from tightdp.exact.field import Number
from tightdp.limits.calibrated import FEW_VALUES, LONG_LOOP, LOOP_GROWTH, LOOP_STATES

FASTER = 10 * LOOP_GROWTH
GROWTHS = {LONG_LOOP: LOOP_GROWTH, 2 * LONG_LOOP: 3 * LOOP_GROWTH, 8 * LONG_LOOP: FASTER}
"""After how many rounds a loop that could be unrolled is tried as a chain, and how fast its states may become more:
so many times the rounds, times the rounds and `LONG_LOOP` where a round does not look at its item."""
MOST_PLACES = 50 * LOOP_STATES
"""How many states a loop may have, those that differ in the place of the next item alone included."""
_MOST_RUNS = 10 * LOOP_STATES
"""How many runs one round may have from one state."""

Values = tuple[Any, ...]
State = tuple[int, Values]  # the place of the next item, and the values of the cells
Outcome = tuple[str, Values, Any]
"""How a round or a loop ends ("on", "end", "break", "return", "fail", "reject"), the cells, and what it brings."""
Place: TypeAlias = State | Outcome


@dataclass
class Ends:
    """How the runs of one round part: where they go on or leave, each under a condition, with what they wrote.

    `observed` are the conditions of `observe` that they must meet.
    """

    ways: list[tuple[str, End]] = field(default_factory=list)
    failures: list[tuple[Expr, Failure]] = field(default_factory=list)
    observed: list[Expr] = field(default_factory=list)

    def looked_at(self) -> Iterator[Expr]:
        """Yield the nodes that are asked for their values."""
        yield from (condition for condition, _ in self.failures)
        yield from self.observed
        for _, end in self.ways:
            yield end.alive
            for value in (*end.changes.values(), end.value):
                yield from _nodes(value)


@dataclass(frozen=True)
class Rounds:
    """The rounds of a loop: `play` lowers one of them, with its item, from given values of cells.

    A `while` loop has no items; where rounds are `alike` they do not look at them. A loop that could be unrolled says
    how fast its states may become more, see `LOOP_GROWTH`. One that is `cut` has too many states.
    """

    node: ast.For | ast.While
    play: Callable[[Value, dict[Cell, Value]], Ends]
    items: Sequence[Value] | None = None
    alike: bool = True
    growth: int = 0
    cut: bool = False


class TooManyStates(NotAChain):
    """A loop has more states than are followed; in `any_case`, not only for so few rounds. Lists may have `grown`."""

    def __init__(self, what: str, any_case: bool, grown: bool) -> None:
        super().__init__(what)
        self.any_case, self.grown = any_case, grown


class Written(Exception):
    """A round writes cells that were not known to be written."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        super().__init__()
        self.cells = cells


class NoCounter(Exception):
    """What was taken for a counter does not stay an integer."""


class Rounded(Exception):
    """A round has a loop in it that is cut off."""


class _Impossible(Exception):
    """No way is open with these values from before the loop: they contradict each other."""


def _nodes(value: Value) -> Iterator[Expr]:
    """Yield the nodes inside a value."""
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, tuple) and not all_plain(value):
        for item in value:
            yield from _nodes(item)
    elif isinstance(value, Union):
        for guard, item in value.alternatives:
            yield guard
            yield from _nodes(item)


@dataclass
class LoopChain:
    """A loop as a chain: the cells that it writes, those of them that a round reads, and its rounds.

    `counters` are cells that rounds only add to, by their places; `forgotten` those that nobody reads once the function
    has returned.
    """

    m: Machine
    cells: Sequence[Cell]
    live: Sequence[bool]
    counters: Sequence[int]
    forgotten: Collection[Cell]
    rounds: Rounds
    born: int
    keys: int
    known: dict[State, list[tuple[Number, Ends, Alike]]] = field(default_factory=dict)
    laws: dict[State, list[tuple[Context, dict[Outcome, Number]]]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    places: int = 0

    def law(self, context: Context, entry: Values, rounded: bool = False) -> dict[Outcome, Number] | Values | None:
        """Return how the loop ends from a state, or a state from which it can go on for ever; None for contradictions.

        These are values from before the loop that cannot come together. Raises Rounded where the numbers are `rounded`
        all the same.
        """
        try:
            return self._law(context, (0, entry), rounded)
        except _Impossible:
            return None

    def _law(self, context: Context, entry: State, rounded: bool) -> dict[Outcome, Number] | Values:
        steps: dict[Place, dict[Place, Number]] = {}
        ends: dict[Outcome, None] = {}
        level, depth, before = [entry], 0, len(self.known)
        while level:
            following: dict[State, None] = {}
            for state in level:
                if any(map(is_endless, state[1])):
                    raise NotAChain("it goes on with noise on all integers to the next round")
                steps[state] = self.step(state, context)
                for place in steps[state]:
                    if len(place) == 2:
                        following[place] = None
                    else:
                        ends[place] = None
                        if rounded and place[0] == "fail" and self.failures[place[2]].message == GOES_ON:
                            raise Rounded
                self._check_size(state, depth, before, context)
            level, depth = [state for state in following if state not in steps], depth + 1
            if depth & (depth - 1) == 0 and self._repeats(steps):
                raise self._too_many(level[-1] if level else (0, entry[1]), context, True, LOOP_STATES)
            if (
                self.rounds.growth
                and depth == LONG_LOOP
                and not context
                and all(len(row) == 1 for row in steps.values())
            ):
                raise NotAChain("it draws nothing")
        reached = reaching(ends, steps)
        stuck = next((state for state in steps if state not in reached), None)
        if stuck is not None:
            return stuck[1]
        start: Place = entry
        return {end: mass for end, mass in absorbed(start, steps).items() if len(end) == 3}

    def _check_size(self, state: State, depth: int, before: int, context: Context) -> None:
        """Raise NotAChain where states are too many, or too many for so few rounds besides those known `before`."""
        self.places += 1
        growth, most = self.rounds.growth, LOOP_STATES
        if growth:
            most = min(most, before + FEW_VALUES + growth * depth * (depth + LONG_LOOP if self.rounds.alike else 1))
        # a shortest way with more rounds than there are states has one twice, with other counters: it can be repeated
        endless = self.rounds.items is None and depth > len(self.known)
        if endless or len(self.known) > most or self.places > MOST_PLACES:
            raise self._too_many(state, context, endless, most)

    def _too_many(self, state: State, context: Context, endless: bool, most: int) -> TooManyStates:
        shown = self.shown(state[1], context)
        many = "infinitely many" if endless else f"more than {most:,}"
        what = f"it has {many} states" + (f", such as {shown}" if shown else "")
        any_case = endless or most == LOOP_STATES
        return TooManyStates(what, any_case, nested(state[1]) != nested(next(iter(self.known))[1]))

    def _repeats(self, steps: dict[Place, dict[Place, Number]]) -> bool:
        """Whether some rounds lead back to a state with other counters: then they can be repeated without end."""
        moves: dict[State, list[tuple[State, tuple[int, ...]]]] = {}
        for state, row in steps.items() if self.counters and self.rounds.items is None else ():
            begun, counted = self.apart((0, state[1]))
            if begun not in moves:
                after = [self.apart((0, place[1])) for place in row if len(place) == 2]
                moves[begun] = [
                    (to, tuple(at.get(c, 0) - counted.get(c, 0) for c in self.counters)) for to, at in after
                ]
        return bool(moves) and moves_on(next(iter(moves)), moves, len(self.counters))

    def forget(self) -> None:
        """Drop all states: they were reached with values that cannot come together, and do not count."""
        self.known, self.laws, self.places = {}, {}, 0

    def step(self, state: State, context: Context) -> dict[Place, Number]:
        """Return the law of the states and ends that follow a state."""
        begun, counted = self.apart(state)
        found: dict[Place, Number] = {}
        for outcome, mass in self.outcomes(begun, context).items():
            place = self.place(state, outcome, counted)
            found[place] = found[place] + mass if place in found else mass
        return found

    def apart(self, state: State) -> tuple[State, dict[int, int]]:
        """Return from where a round is lowered that begins in a state, and how far the counters are then."""
        at, values = state
        counted = {place: values[place] for place in self.counters if type(values[place]) is int}
        if counted:
            values = tuple(0 if place in counted else value for place, value in enumerate(values))
        return (0 if self.rounds.alike else at, values), counted

    def place(self, state: State, outcome: Outcome, counted: dict[int, int]) -> Place:
        """Return what follows a state where a round that is lowered as `apart` says has this outcome."""
        kind, after, value = outcome
        if counted and after:
            after = counted_up(after, counted)
        if kind != "on":
            return kind, after, value
        if self.rounds.items is not None and state[0] + 1 == len(self.rounds.items):
            return "end", after, value
        if not all(self.live):  # without what no round reads
            after = tuple(value if live else MISSING for value, live in zip(after, self.live, strict=True))
        return 0 if self.rounds.items is None else state[0] + 1, after

    def outcomes(self, state: State, context: Context) -> dict[Outcome, Number]:
        """Return the law of how a round ends that begins in a state."""
        for looked_at, law in self.laws.get(state, ()):
            if all(context[serial] == value for serial, value in looked_at.items()):
                return law
        self.m.watch()
        found: dict[Outcome, Number] = {}
        read: Context = {}
        for weight, ends, alike in self.known[state] if state in self.known else self._lowered(state):
            every = runs(self.born, context, alike, partial(self._end, ends=ends, values=state[1]))
            for number, (outcome, run) in enumerate(every):
                if number > _MOST_RUNS:
                    raise NotAChain(f"a round has more than {_MOST_RUNS:,} runs")
                found[outcome] = found.get(outcome, Fraction(0)) + weight * run.probability
                read |= run.read
        self.laws.setdefault(state, []).append((read, found))
        return found

    def _lowered(self, state: State) -> Iterator[tuple[Number, Ends, Alike]]:
        """Lower a round; where a loop in it depends on too much, for each outcome of a draw, with its probability."""
        m, item = self.m, self.rounds.items[state[0]] if self.rounds.items else None
        outside, bits, cases = m.given, bits_of(m.given), []
        left: list[dict[int, tuple[Any, Number]]] = [{}]
        while left:
            m.given = given = Given(bits, left.pop())
            try:
                ends = self.rounds.play(item, dict(zip(self.cells, state[1], strict=True)))
            except Split as split:
                if split.given is not given:
                    raise
                left += [{**given.outcomes, split.at: (value, mass)} for value, mass in reversed(split.law)]
                continue
            finally:
                m.given = outside
            cases.append((given.weight(), ends, alike_outcomes(ends.looked_at(), self.born)))
            yield cases[-1]
        self.known[state] = cases

    def _end(self, run: Run, ends: Ends, values: Values) -> Outcome:
        for condition, failure in ends.failures:
            if run.value(condition):
                if failure not in self.failures:
                    self.failures.append(failure)
                return "fail", (), self.failures.index(failure)
        if not all(run.value(condition) for condition in ends.observed):
            return "reject", (), None
        for kind, end in ends.ways:
            if run.value(end.alive):
                self._check_written(end)
                held = zip(self.cells, values, strict=True)
                lists = Lists(run, end.changes, self.keys)
                changes = {**end.changes, **dict.fromkeys(self.forgotten if kind == "return" else (), MISSING)}
                after = tuple(lists.content(changes.get(cell, value)) for cell, value in held)
                return kind, after, lists.content(end.value)
        raise _Impossible

    def _check_written(self, end: End) -> None:
        """Raise Written where a round wrote a cell that was there before the loop, or may be read after it."""
        new = [
            cell
            for cell, value in end.changes.items()
            if (cell[0] if isinstance(cell, tuple) else cell) <= self.keys
            and cell not in self.cells
            and value is not self.m.store.get(cell)
        ]
        if new:
            raise Written(new)

    def shown(self, state: Values, context: Context) -> str:
        """Write a state, with the names of this function that hold something else that is known."""
        held = [(cell[1], value) for cell, value in zip(self.cells, state, strict=True) if isinstance(cell, tuple)]
        lists = {cell: value for cell, value in zip(self.cells, state, strict=True) if not isinstance(cell, tuple)}
        for name, value in self.m.store.names(self.m.frame.key):
            if isinstance(value, Reference) and value.key in lists:
                held.append((name, list(lists[value.key])))
            if isinstance(value, Expr) and value.serial in context and (self.m.frame.key, name) not in self.cells:
                held.append((name, context[value.serial]))
        return ", ".join(f"{name} = {_shortened(value)}" for name, value in held if value is not MISSING)


def counted_up(values: Values, by: dict[int, int]) -> Values:
    """Return values with counters that began elsewhere. Raises NoCounter where they are no integers."""
    moved = list(values)
    for place, begun in by.items():
        if moved[place] is MISSING:  # it is not read again
            continue
        if type(moved[place]) is not int:
            raise NoCounter
        moved[place] += begun
    return tuple(moved)


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= FEW_VALUES else f"{text[:FEW_VALUES]}..."
