"""Loops whose state is finite as absorbing Markov chains: the law of how they end, exactly.

The state of a loop is what it carries from round to round: the values of the names that it writes, and of a `for` loop
the place of the next item. One round is lowered from each reachable state, on its own, and enumerated run by run;
where the states are finitely many, and an end can be reached from each, the law of how the loop ends follows by solving
a linear system. In its place stands one draw with this law, which depends on what the state was before the loop, and on
other values from before it that a round looks at.

A `while` loop without a bound on its rounds can be lowered in no other way. Any other loop that goes on for long can be
unrolled as well, so that for it this is tried within little work (`growth`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tightdp.core.lowering.machine import End, Failure, Machine
from tightdp.core.lowering.rounds import Context, NotAChain, Outer, Run, runs
from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.values import Reference, Value, is_scalar, known
from tightdp.core.nodes import Expr, Input, Nary, reachable
from tightdp.core.unbounded.windows import is_far
from tightdp.core.valuesets import TooManyValues
from tightdp.exact.absorbing import absorbed, reaching
from tightdp.exact.field import Number
from tightdp.language.laws import Gaussian, Law

__all__ = ["FASTER", "GROWTH", "GROWTHS", "LONG", "Ends", "Rounds", "TooManyStates", "in_place_of"]

LONG, GROWTH, FASTER = 8, 3, 30
GROWTHS = {LONG: GROWTH, 2 * LONG: 10, 8 * LONG: FASTER}
"""After how many rounds a loop that could be unrolled is tried as a chain, and how fast its states may become more:
so many times the rounds, times the rounds and `LONG` where a round does not look at its item."""
_MOST_STATES = 2_000
"""From how many states a round is lowered."""
_MOST_PLACES = 100_000
"""How many states a loop may have, those that differ in the place of the next item alone included."""
_MOST_RUNS = 20_000
"""How many runs one round may have from one state."""
_MOST_CONTEXTS = 4_096
_FEW_STATES = 64
"""How many states a loop that could be unrolled may have besides."""

Values = tuple[Any, ...]
State = tuple[int, Values]
"""The place of the next item, and the values of the cells."""
Outcome = tuple[str, Values, Any]
"""How a round or a loop ends ("on", "end", "break", "return", "fail", "reject"), the cells, and what it brings."""


@dataclass
class Ends:
    """How the runs of one round part: where they go on or leave, each under a condition, with what they wrote.

    `observed` are the conditions of `observe` that they must meet.
    """

    ways: list[tuple[str, End]] = field(default_factory=list)
    failures: list[tuple[Expr, Failure]] = field(default_factory=list)
    observed: list[Expr] = field(default_factory=list)


@dataclass(frozen=True)
class Rounds:
    """The rounds of a loop: `play` lowers one of them, with its item, from given values of cells.

    A `while` loop has no items; where rounds are `alike` they do not look at them. A loop that could be unrolled says
    how fast its states may become more, see `GROWTH`.
    """

    body: Sequence[ast.stmt]
    play: Callable[[Value, dict[Cell, Value]], Ends]
    items: Sequence[Value] | None = None
    alike: bool = True
    growth: int = 0


class TooManyStates(NotAChain):
    """A loop has more states than are followed; in `any_case`, not only for so few rounds, or if values can occur."""

    def __init__(self, what: str, any_case: bool) -> None:
        super().__init__(what)
        self.any_case = any_case


class _Written(Exception):
    """A round writes cells that were not known to be written."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        super().__init__()
        self.cells = cells


class _Impossible(Exception):
    """No way is open with these values from before the loop: they contradict each other."""


@dataclass
class _Chain:
    """A loop as a chain: the cells that it writes, those of them that a round reads, and its rounds."""

    m: Machine
    cells: Sequence[Cell]
    live: Sequence[bool]
    rounds: Rounds
    born: int
    keys: int
    known: dict[State, Ends] = field(default_factory=dict)
    laws: dict[State, list[tuple[Context, dict[Outcome, Number]]]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    places: int = 0

    def law(self, context: Context, entry: Values) -> dict[Outcome, Number] | Values | None:
        """Return how the loop ends from a state, or a state from which it can go on for ever; None for contradictions.

        These are values from before the loop that cannot come together.
        """
        try:
            return self._law(context, (0, entry))
        except _Impossible:
            return None

    def _law(self, context: Context, entry: State) -> dict[Outcome, Number] | Values:
        steps: dict[Any, dict[Any, Number]] = {}
        ends: dict[Outcome, None] = {}
        level, depth = [entry], 0
        while level:
            following: dict[State, None] = {}
            for state in level:
                steps[state] = self._step(state, context)
                for place in steps[state]:
                    if len(place) == len(entry):
                        following[place] = None
                    else:
                        ends[place] = None
                self._check_size(state, depth, context)
            level, depth = [state for state in following if state not in steps], depth + 1
            if self.rounds.growth and depth == LONG and not context and all(len(row) == 1 for row in steps.values()):
                raise NotAChain("it draws nothing")
        reached = reaching(ends, steps)
        stuck = next((state for state in steps if state not in reached), None)
        return absorbed(entry, steps) if stuck is None else stuck[1]

    def _check_size(self, state: State, depth: int, context: Context) -> None:
        """Raise NotAChain where there are too many states, or too many for so few rounds."""
        self.places += 1
        growth, most = self.rounds.growth, _MOST_STATES
        if growth:
            most = min(most, _FEW_STATES + growth * depth * (depth + LONG if self.rounds.alike else 1))
        if len(self.known) > most or self.places > _MOST_PLACES:
            what = f"it has more than {most:,} states, such as {self.shown(state[1], context)}"
            raise TooManyStates(what, most == _MOST_STATES and (not context or growth == FASTER))

    def _read(self, values: Values) -> Values:
        """Return a state without what no round reads."""
        return tuple(value if live else MISSING for value, live in zip(values, self.live, strict=True))

    def _step(self, state: State, context: Context) -> dict[Any, Number]:
        """Return the law of the states and ends that follow a state."""
        at, values = state
        items = self.rounds.items
        following = 0 if items is None else at + 1
        found: dict[Any, Number] = {}
        for (kind, after, value), mass in self._outcomes((0 if self.rounds.alike else at, values), context).items():
            place: Any = (kind, after, value)
            if kind == "on":
                last = items is not None and following == len(items)
                place = ("end", after, value) if last else (following, self._read(after))
            found[place] = found.get(place, Fraction(0)) + mass
        return found

    def _outcomes(self, state: State, context: Context) -> dict[Outcome, Number]:
        """Return what one round makes of a state."""
        for read, law in self.laws.get(state, ()):
            if all(context[serial] == value for serial, value in read.items()):
                return law
        self.m.watch()
        if state not in self.known:
            item = self.rounds.items[state[0]] if self.rounds.items else None
            self.known[state] = self.rounds.play(item, dict(zip(self.cells, state[1], strict=True)))
        ends = self.known[state]
        found: dict[Outcome, Number] = {}
        read = {}
        for number, (outcome, run) in enumerate(runs(self.born, context, lambda run: self._end(run, ends, state[1]))):
            if number > _MOST_RUNS:
                raise NotAChain(f"a round has more than {_MOST_RUNS:,} runs")
            found[outcome] = found.get(outcome, Fraction(0)) + run.probability
            read |= run.read
        self.laws.setdefault(state, []).append((read, found))
        return found

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
                after = tuple(run.whole(end.changes.get(cell, value)) for cell, value in held)
                outcome = kind, after, run.whole(end.value)
                self._check_lists(outcome)
                return outcome
        raise _Impossible

    def _check_written(self, end: End) -> None:
        """Raise _Written where a round wrote a cell that was there before the loop, or may be read after it."""
        new = [
            cell
            for cell, value in end.changes.items()
            if (cell[0] if isinstance(cell, tuple) else cell) <= self.keys
            and cell not in self.cells
            and value is not self.m.store.get(cell)
        ]
        if new:
            raise _Written(new)

    def _check_lists(self, value: Value) -> None:
        """Raise NotAChain for a list that a round made, and that is there when it is over."""
        if isinstance(value, Reference) and value.key > self.keys:
            raise NotAChain("it makes new lists")
        if isinstance(value, tuple):
            for item in value:
                self._check_lists(item)

    def shown(self, state: Values, context: Context) -> str:
        """Write a state, with the names of this function that hold something else that is known."""
        held = [(cell[1], value) for cell, value in zip(self.cells, state, strict=True) if isinstance(cell, tuple)]
        for name, value in self.m.store.names(self.m.frame.key):
            if isinstance(value, Expr) and value.serial in context and (self.m.frame.key, name) not in self.cells:
                held.append((name, context[value.serial]))
        return ", ".join(f"{name} = {value!r}" for name, value in held if value is not MISSING)


def in_place_of(m: Machine, rounds: Rounds) -> tuple[list[tuple[str, End]], list[tuple[Expr, Failure]]]:
    """Draw how a loop ends whose first round is played.

    Return the ways in which it does, under conditions, with what it writes, and the failures. Raises NotAChain where
    it has infinitely many states, or is otherwise not followed.
    """
    noises, born, keys = len(m.builder.noises), m.builder.newest, m.store.newest
    cells: list[Cell] = []
    outer: list[Expr] = []
    while True:
        live = [not (isinstance(cell, tuple) and _overwritten(rounds.body, cell[1])) for cell in cells]
        chain = _Chain(m, cells, live, rounds, born, keys)
        held = tuple(m.store.get(cell) for cell in cells)
        try:
            selector = _joint(m, outer)
            possible = _possible(m, rounds, selector, outer)
            laws = [
                chain.law(context, _entry(chain, held, context)) if here else None
                for here, context in zip(possible, _contexts(selector, outer), strict=True)
            ]
            break
        except Outer as needed:
            outer.append(needed.expr)
            if rounds.growth:
                _check_simple(outer)
        except _Written as found:
            cells += found.cells
    _check_noise(m, chain, noises)
    outcomes = list(dict.fromkeys(outcome for law in laws if isinstance(law, dict) for outcome in law))
    places = {outcome: at for at, outcome in enumerate(outcomes)}
    failing: list[tuple[Expr, Failure]] = []
    table: list[Law | None] = []
    for value, law, context in zip(selector.values, laws, _contexts(selector, outer), strict=True):
        if isinstance(law, dict):
            table.append(tuple(sorted((places[outcome], mass) for outcome, mass in law.items())))
            continue
        table.append(None)
        if law is None:
            failing.append((m.builder.equals(selector, value), Failure("a loop goes on in a way that is not followed")))
            continue
        shown = chain.shown(law, context)
        what = "the loop can run for ever" + (f": from {shown} it does not end" if shown else "")
        if m.probe is not None or rounds.growth:
            raise NotAChain(what)
        failing.append((m.builder.equals(selector, value), Failure(what, "let every round end with some probability")))
    if not outcomes:
        return [], failing
    return _taken_apart(m, chain, _drawn(m, selector, table), outcomes, failing)


def _possible(m: Machine, rounds: Rounds, selector: Expr, outer: Sequence[Expr]) -> Sequence[bool]:
    """Say with which values from before it the loop is reached; of one that can be unrolled what is plain to see."""
    if not outer:
        return [True]
    if rounds.growth in (0, FASTER):
        return m.probe(m.alive, [selector])[0] if m.probe else [True] * len(selector.values)
    conditions = m.alive.operands if isinstance(m.alive, Nary) and m.alive.operator == "and" else (m.alive,)
    return [
        all(_may_hold(condition, context) for condition in conditions) for context in _contexts(selector, outer)
    ]


def _may_hold(condition: Expr, context: Context) -> bool:
    """Whether a condition holds where some nodes have these values, or depends on others."""
    run = Run(0, context, [])
    try:
        return bool(run.value(condition)) or bool(run.draws)
    except NotAChain:
        return True


def _drawn(m: Machine, selector: Expr, table: Sequence[Law | None]) -> Expr:
    """Return the place of the outcome of a loop, which is a draw unless every entry leads to one outcome."""
    if any(law is not None and len(law) > 1 for law in table):
        return m.builder.draw("while", selector, table, m.alive)
    certain = next(law for law in table if law)
    return m.builder.case(selector, [m.builder.const((law or certain)[0][0]) for law in table])


def _taken_apart(
    m: Machine, chain: _Chain, drawn: Expr, outcomes: Sequence[Outcome], failing: list[tuple[Expr, Failure]]
) -> tuple[list[tuple[str, End]], list[tuple[Expr, Failure]]]:
    """Return what the place of an outcome says: the ways to go on, and the failures; `observe` holds in the others."""

    def case(values: Sequence[Value]) -> Value:
        """Merge plain values, one for each outcome."""
        first = values[0]
        if all(value == first and type(value) is type(first) for value in values):
            return first
        if all(map(is_scalar, values)):
            return known(m.builder.case(drawn, [m.builder.const(values[at]) for at in drawn.values]))
        if isinstance(first, tuple) and all(isinstance(value, tuple) and len(value) == len(first) for value in values):
            return tuple(map(case, zip(*values, strict=True)))
        result = values[-1]
        for at in range(len(values) - 2, -1, -1):
            result = m.merge(m.builder.equals(drawn, at), values[at], result)
        return result

    ways: list[tuple[str, End]] = []
    for kind in ("end", "break", "return"):
        here = [at for at, outcome in enumerate(outcomes) if outcome[0] == kind]
        if not here:
            continue
        alive = m.conj(m.alive, m.expr(case([outcome[0] == kind for outcome in outcomes])))
        values = [outcomes[at] if outcomes[at][0] == kind else outcomes[here[0]] for at in range(len(outcomes))]
        changes = {
            cell: case([state[place] for _, state, _ in values])
            for place, cell in enumerate(chain.cells)
            if all(state[place] is not MISSING for _, state, _ in values)
        }
        ways.append((kind, End(alive, changes, case([value for _, _, value in values]))))
    for at, (kind, _, value) in enumerate(outcomes):
        if kind == "fail":
            failing.append((m.builder.equals(drawn, at), chain.failures[value]))
        elif kind == "reject":
            accepted = m.builder.negation(m.builder.equals(drawn, at))
            m.evidence.append(m.builder.disjunction([m.builder.negation(m.alive), accepted]))
            m.depart(None)
    return ways, failing


def _check_simple(outer: Sequence[Expr]) -> None:
    """Raise NotAChain where one draw in place of a loop would hide how it treats the clients one after the other."""
    clients = {node.client for node in reachable(outer) if isinstance(node, Input)}
    if len(outer) > 1 and len(clients) > 1:
        raise NotAChain("it looks at several records")
    if any(map(is_far, outer)):
        raise NotAChain("it looks at noise on all integers")


def _joint(m: Machine, outer: Sequence[Expr]) -> Expr:
    if not outer:
        return m.builder.true
    try:
        found = outer[0] if len(outer) == 1 else m.builder.total("tuple", *outer)
    except TooManyValues as error:
        raise NotAChain(str(error)) from None
    if len(found.values) > _MOST_CONTEXTS:
        raise NotAChain(f"it depends on more than {_MOST_CONTEXTS:,} combinations of values")
    return found


def _contexts(selector: Expr, outer: Sequence[Expr]) -> Iterator[Context]:
    for value in selector.values:
        parts = (value,) if len(outer) == 1 else value if outer else ()
        yield {expr.serial: part for expr, part in zip(outer, parts, strict=True)}


def _entry(chain: _Chain, held: Values, context: Context) -> Values:
    run = Run(chain.born, context, [])
    return tuple(run.whole(value) if live else MISSING for value, live in zip(held, chain.live, strict=True))


def _check_noise(m: Machine, chain: _Chain, before: int) -> None:
    """Noise on all integers may be drawn and compared within a round; it must not go on to the next one.

    There it would be compared unseen by `Meetings`, which finds how far it must be looked at.
    """
    new = m.builder.noises[before:]
    if not new:
        return
    if any(isinstance(law, Gaussian) for _, laws in new for law in laws):
        raise NotAChain("it draws Gaussian noise any number of times")
    if any(window.bases for window in m.builder.windows[before : before + len(new)]):
        raise NotAChain("it compares several draws on all integers")
    serials = {draw.serial for draw, _ in new}
    for ends in chain.known.values():
        for kind, end in ends.ways:
            values = [end.changes.get(cell) for cell, live in zip(chain.cells, chain.live, strict=True) if live]
            nodes = [value for value in values if isinstance(value, Expr)]
            if kind == "on" and any(node.serial in serials for node in reachable(nodes)):
                raise NotAChain("it goes on with noise on all integers to the next round")


def _overwritten(body: Sequence[ast.stmt], name: str) -> bool:
    """Whether a body surely assigns to a name before anything reads it."""
    for statement in body:
        inside = list(ast.walk(statement))
        if any(isinstance(part, (ast.Lambda, ast.FunctionDef)) for part in inside):
            return False
        if any(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load) for part in inside):
            return False
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            if statement.target.id == name:
                return False
        elif isinstance(statement, ast.Assign):
            if any(isinstance(target, ast.Name) and target.id == name for target in statement.targets):
                return True
        elif not isinstance(statement, ast.Expr):
            return False
    return False
