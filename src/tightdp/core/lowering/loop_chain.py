"""A loop as a Markov chain: its states, found by lowering one round from each, and the law of how it ends.

The state of a loop is what it carries from round to round: the values of the names that it writes, with what the lists
hold that a round made, and of a `for` loop the place of the next item. A round is lowered from each reachable state, on
its own, and enumerated run by run. From states that differ by counters alone, which rounds only add to, it is lowered
once: with the counters at 0.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import islice
from typing import Any

from tightdp.core.coarse import alike_outcomes
from tightdp.core.lowering.given import Given, bits_of
from tightdp.core.lowering.loop_names import names_in
from tightdp.core.lowering.loop_runs import (
    Action,
    Alike,
    Context,
    Ends,
    Lists,
    NotAChain,
    Outcome,
    Place,
    Rounds,
    Run,
    Split,
    State,
    Values,
    is_endless,
    nested,
    runs,
)
from tightdp.core.lowering.machine import End, Failure, Machine
from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.values import Reference
from tightdp.core.nodes import Expr
from tightdp.core.published import GOES_ON
from tightdp.exact.absorbing import absorbed, reaching
from tightdp.exact.field import Number
from tightdp.limits import pay
from tightdp.limits.calibrated import FEW_VALUES, LONG_LOOP, LOOP_GROWTH, LOOP_STATES, NOISE_BITS

FASTER = 10 * LOOP_GROWTH
GROWTHS = {LONG_LOOP: LOOP_GROWTH, 2 * LONG_LOOP: 3 * LOOP_GROWTH, 8 * LONG_LOOP: FASTER}
"""After how many rounds a loop that could be unrolled is tried as a chain, and how fast its states may become more:
so many times the rounds, times the rounds and `LONG_LOOP` where a round does not look at its item."""
MOST_PLACES = 50 * LOOP_STATES
"""How many states a loop may have, those that differ in the place of the next item alone included."""
_LONG_MASS = 700
"""Bits of a probability of which another takes a microsecond to be added; of twice as many, four times as long."""
_MOST_RUNS = 10 * LOOP_STATES
"""How many runs one round may have from one state."""


class TooManyStates(NotAChain):
    """A loop has more states than are followed; in `any_case`, not only for so few rounds. Lists may have `grown`."""

    def __init__(self, what: str, any_case: bool, grown: bool) -> None:
        super().__init__(what)
        self.any_case, self.grown = any_case, grown


class OfNoise(NotAChain):
    """A loop begins with noise on all integers, or goes on with it to the next round."""


class Written(Exception):
    """A round writes cells that were not known to be written."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        super().__init__()
        self.cells = cells


class Whole(Exception):
    """Rounds are to be lowered whole: what was taken for a counter is no integer later, or noise comes to the test."""


class Rounded(Exception):
    """A round has a loop in it that is cut off."""


class _Impossible(Exception):
    """No way is open with these values from before the loop: they contradict each other."""


@dataclass
class _Part:
    """What a part of a round does from a state: cases that were lowered, and laws, by what they read of a context."""

    cases: list[tuple[Number, Ends, Alike]] = field(default_factory=list)
    laws: list[tuple[Context, dict[Outcome, Number]]] = field(default_factory=list)


def _known(
    laws: Sequence[tuple[Context, dict[Outcome, Number]]], context: Context
) -> tuple[Context, dict[Outcome, Number]] | None:
    """Return the law that was found where all that it depends on was as it is now, with what that is."""
    for read, law in laws:
        if all(context[serial] == value for serial, value in read.items()):
            return read, law
    return None


@dataclass
class LoopChain:
    """A loop as a chain: the cells that it writes, those of them that a round reads, and its rounds.

    `pieces` are the parts of rounds that are lowered together; `unread` are the cells that each of them only adds to,
    or does not name, by their places; `forgotten` are those that nobody reads any more, by how the loop ends.
    """

    m: Machine
    cells: Sequence[Cell]
    live: Sequence[bool]
    pieces: Sequence[Sequence[Action]]
    unread: Sequence[Sequence[int]]
    forgotten: Mapping[str, Collection[Cell]]
    rounds: Rounds
    born: int
    keys: int
    known: dict[State, list[tuple[Context, dict[Outcome, Number]]]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    places: int = 0
    wasted: list[int] = field(default_factory=lambda: [0])
    """How many outcomes of draws lead to the same as others, by the rounds in which these are more than ever before."""
    bits: int = NOISE_BITS
    """It is followed up to 2 to the power of minus this."""

    def __post_init__(self) -> None:
        self.lowered: list[dict[State, _Part]] = [{} for _ in self.pieces]

    @cached_property
    def counters(self) -> Sequence[int]:
        """Return the cells that rounds only add to, by their places."""
        return [place for place in self.unread[0] if all(place in each for each in self.unread)]

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
                    raise OfNoise("it goes on with noise on all integers to the next round")
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
            shown = self.shown(state[1], context)
            many = "infinitely many" if endless else f"more than {most:,}"
            what = f"it has {many} states" + (f", such as {shown}" if shown else "")
            any_case = endless or most == LOOP_STATES
            early = {nested(values) for _, values in islice(self.known, len(self.known) // 2 + 1)}
            raise TooManyStates(what, any_case, nested(state[1]) not in early)

    def forget(self) -> None:
        """Drop all states: they were reached with values that cannot come together, and do not count."""
        self.known, self.places = {}, 0
        for part in self.lowered:
            part.clear()

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
        return self.without((0 if self.rounds.alike else state[0], state[1]), self.counters)

    @staticmethod
    def without(state: State, places: Collection[int]) -> tuple[State, dict[int, int]]:
        """Return a state with integers at some places as 0, and what they are."""
        at, values = state
        counted = {place: values[place] for place in places if type(values[place]) is int}
        if counted:
            values = tuple(0 if place in counted else value for place, value in enumerate(values))
        return (at, values), counted

    def place(self, state: State, outcome: Outcome, counted: dict[int, int]) -> Place:
        """Return what follows a state where a round that is lowered as `apart` says has this outcome."""
        kind, after, value = outcome
        if counted and after:
            after = counted_up(after, counted)
        if kind != "on":
            return kind, after, value
        if self.rounds.items is not None and state[0] + 1 == len(self.rounds.items):
            gone = self.forgotten["end"]
            after = tuple(MISSING if cell in gone else each for cell, each in zip(self.cells, after, strict=True))
            return "end", after, value
        if not all(self.live):  # without what no round reads
            after = tuple(value if live else MISSING for value, live in zip(after, self.live, strict=True))
        return 0 if self.rounds.items is None else state[0] + 1, after

    def outcomes(self, state: State, context: Context) -> dict[Outcome, Number]:
        """Return the law of how a round ends that begins in a state."""
        if at_hand := _known(self.known.get(state, ()), context):
            return at_hand[1]
        found: dict[Outcome, Number] = {("on", state[1], None): Fraction(1)}
        read: Context = {}
        for which in range(len(self.pieces)):
            before, found = found, {}
            for outcome, mass in before.items():
                ends: Sequence[tuple[Outcome, Number]] = [(outcome, Fraction(1))]
                if outcome[0] == "on":
                    if which and any(map(is_endless, outcome[1])):
                        raise Whole
                    ends = self._part(which, (state[0], outcome[1]), context, read)
                for end, share in ends:
                    found[end] = found.get(end, Fraction(0)) + mass * share
        self.known.setdefault(state, []).append((read, found))
        return found

    def _part(self, which: int, state: State, context: Context, read: Context) -> list[tuple[Outcome, Number]]:
        """Return the law of how a round ends before its test, or by it; and add to what was read of the context."""
        begun, counted = self.without(state, self.unread[which])
        part = self.lowered[which].setdefault(begun, _Part())
        looked_at, law = _known(part.laws, context) or self._found(which, begun, context)
        read |= looked_at
        return [
            ((kind, counted_up(after, counted) if counted and after else after, value), mass)
            for (kind, after, value), mass in law.items()
        ]

    def _found(self, which: int, begun: State, context: Context) -> tuple[Context, dict[Outcome, Number]]:
        self.m.watch()
        found: dict[Outcome, Number] = {}
        read: Context = {}
        part, wasted = self.lowered[which][begun], 0
        for weight, ends, alike in part.cases or self._lowered(which, begun):
            every = runs(self.born, context, alike, partial(self._end, ends=ends, values=begun[1]))
            for number, (outcome, run) in enumerate(every):
                if number > _MOST_RUNS:
                    raise NotAChain(f"a round has more than {_MOST_RUNS:,} runs")
                found[outcome] = found.get(outcome, Fraction(0)) + weight * run.probability
                read |= run.read
                wasted += 1
            wasted += sum(map(len, alike.values()))
        self._count(wasted - len(found))
        long = max((mass.denominator.bit_length() for mass in found.values() if isinstance(mass, Fraction)), default=0)
        pay(self.m.watch, wasted * (long / _LONG_MASS) ** 2)
        part.laws.append((read, found))
        return part.laws[-1]

    def _count(self, wasted: int) -> None:
        """Raise TooManyStates where more and more outcomes are drawn, of which only few differ: so many take long."""
        self.wasted += [wasted] if wasted > self.wasted[-1] else []
        if self.rounds.items is None and sum(self.wasted) > MOST_PLACES // 4:
            raise TooManyStates("it draws with more and more outcomes", True, False)

    def _lowered(self, which: int, state: State) -> Iterator[tuple[Number, Ends, Alike]]:
        """Lower a part of a round; where a loop in it depends on too much, for each outcome of a draw."""
        m, rounds, held = self.m, self.rounds, dict(zip(self.cells, state[1], strict=True))
        outside, bits, cases = m.given, bits_of(m.given), []
        left: list[dict[int, tuple[Any, Number]]] = [{}]
        while left:
            m.given = given = Given(bits, left.pop())
            try:
                ends = rounds.play(self.pieces[which], rounds.items[state[0]] if rounds.items else None, held)
            except Split as split:
                if split.given is not given:
                    raise
                left += [{**given.outcomes, split.at: (value, mass)} for value, mass in reversed(split.law)]
                continue
            finally:
                m.given = outside
            cases.append((given.weight(), ends, alike_outcomes(ends.looked_at(), self.born)))
            yield cases[-1]
        self.lowered[which][state].cases = cases

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
                late = names_in(end.value) if isinstance(end.value, ast.Return) else None
                gone = [cell for cell in self.forgotten.get(kind, ()) if cell[1] not in (late or ())]
                changes = {**end.changes, **dict.fromkeys(gone, MISSING)}
                after = tuple(lists.content(changes.get(cell, value)) for cell, value in held)
                return (kind, after, lists.content(end.value)) if late is None else ("late", after, end.value)
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
    """Return values with counters that began elsewhere. Raises Whole where they are no integers."""
    moved = list(values)
    for place, begun in by.items():
        if moved[place] is MISSING:  # it is not read again
            continue
        if type(moved[place]) is not int:
            raise Whole
        moved[place] += begun
    return tuple(moved)


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= FEW_VALUES else f"{text[:FEW_VALUES]}..."
