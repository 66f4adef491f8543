"""`while` loops without a bound on their rounds, which end with probability 1: exact, as absorbing Markov chains.

The state of a loop is what it carries from round to round: the values of the names that it writes. One round is lowered
from each reachable state, on its own, and enumerated run by run; where the states are finitely many, and an end can be
reached from each, the law of how the loop ends follows by solving a linear system (Kemeny and Snell 1960, Chapter III).
In its place stands one draw with this law, which depends on what the state was before the loop, and on other values
from before it that a round looks at.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tightdp.core.far import Far
from tightdp.core.lowering.machine import End, Failure, Machine
from tightdp.core.lowering.rounds import Context, NotAChain, Outer, Run, runs
from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.values import Reference, Value
from tightdp.core.nodes import Expr
from tightdp.core.valuesets import TooManyValues
from tightdp.exact.field import Number
from tightdp.language.laws import Gaussian, Law

__all__ = ["Ends", "Round", "in_place_of", "remade"]

_MOST_STATES = 1_000
_MOST_RUNS = 20_000
"""How many runs one round may have from one state."""
_MOST_CONTEXTS = 4_096

State = tuple[Any, ...]
Outcome = tuple[str, State, Any]
"""How a round or a loop ends ("on", "end", "break", "return", "fail"), the values of the cells, and what it brings."""


@dataclass
class Ends:
    """How the runs of one round part: where they go on or leave, each under a condition, with what they wrote."""

    ways: list[tuple[str, End]] = field(default_factory=list)
    failures: list[tuple[Expr, Failure]] = field(default_factory=list)


Round = Callable[[dict[Cell, Value]], Ends]
"""Lowers one round from given values of cells."""


@dataclass(frozen=True)
class _Listed:
    """A list that a round made: its number among them, by which names share it, and its items where it is met first."""

    number: int
    items: tuple[Value, ...] = ()

    def __repr__(self) -> str:
        return repr(list(self.items))


class _Lists:
    """The lists that a round made, in what it goes on with."""

    def __init__(self, run: Run, changes: dict[Cell, Value], keys: int) -> None:
        self._run, self._changes, self._keys = run, changes, keys
        self._numbers: dict[int, int] = {}

    def content(self, value: Value) -> Value:
        """Return a value with nothing open in it, and with lists that were made meanwhile as what they hold."""
        whole = self._run.whole(value)
        return self._listed(whole) if isinstance(whole, (tuple, Reference)) else whole

    def _listed(self, whole: Value) -> Value:
        if isinstance(whole, tuple):
            return tuple(map(self._listed, whole))
        if not isinstance(whole, Reference) or whole.key <= self._keys:
            return whole
        if whole.key in self._numbers:
            return _Listed(self._numbers[whole.key])
        self._numbers[whole.key] = number = len(self._numbers)
        return _Listed(number, self.content(self._changes[whole.key]))


def remade(m: Machine, values: Sequence[Value]) -> tuple[Value, ...]:
    """Return values with new lists in place of those that a round made."""
    made: dict[int, Reference] = {}

    def thawed(value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(map(thawed, value))
        if not isinstance(value, _Listed):
            return value
        if value.number not in made:
            made[value.number] = m.new_list(())
            m.store[made[value.number].key] = thawed(value.items)
        return made[value.number]

    return tuple(map(thawed, values))


class _Written(Exception):
    """A round writes a cell that was not known to be written."""

    def __init__(self, cell: Cell) -> None:
        super().__init__()
        self.cell = cell


class _Impossible(Exception):
    """No way is open with these values from before the loop: they contradict each other."""


@dataclass
class _Chain:
    """A loop as a chain: the cells that it writes, those of them that a round reads, and one round of it."""

    m: Machine
    cells: Sequence[Cell]
    live: Sequence[bool]
    play: Round
    born: int
    keys: int
    known: dict[State, Ends] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def law(self, context: Context, entry: State) -> dict[Outcome, Number] | State | None:
        """Return how the loop ends from a state, or a state from which it can go on for ever; None for contradictions.

        These are values from before the loop that cannot come together.
        """
        try:
            return self._law(context, entry)
        except _Impossible:
            return None

    def _law(self, context: Context, entry: State) -> dict[Outcome, Number] | State:
        steps: dict[State, dict[Outcome, Number]] = {}
        pending = [entry]
        while pending:
            state = pending.pop()
            if state in steps:
                continue
            if any(map(_endless, state)):
                raise NotAChain("it goes on with noise on all integers to the next round")
            if len(steps) >= _MOST_STATES:
                raise NotAChain(f"it has more than {_MOST_STATES:,} states, such as {self.shown(state, context)}")
            steps[state] = self._step(state, context)
            pending += [self._read(after) for kind, after, _ in steps[state] if kind == "on"]
        stuck = self._stuck(steps)
        return stuck[0] if stuck else self._solved(steps, entry)

    def _read(self, state: State) -> State:
        """Return a state without what no round reads."""
        return tuple(value if live else MISSING for value, live in zip(state, self.live, strict=True))

    def _step(self, state: State, context: Context) -> dict[Outcome, Number]:
        """Return what one round makes of a state."""
        self.m.watch()
        if state not in self.known:
            self.known[state] = self.play(dict(zip(self.cells, state, strict=True)))
        ends = self.known[state]
        found: dict[Outcome, Number] = {}
        for number, run in enumerate(runs(self.born, context, lambda run: self._end(run, ends, state))):
            if number > _MOST_RUNS:
                raise NotAChain(f"a round has more than {_MOST_RUNS:,} runs")
            outcome, probability = run
            found[outcome] = found.get(outcome, Fraction(0)) + probability
        return found

    def _end(self, run: Run, ends: Ends, state: State) -> Outcome:
        for condition, failure in ends.failures:
            if run.value(condition):
                if failure not in self.failures:
                    self.failures.append(failure)
                return "fail", (), self.failures.index(failure)
        for kind, end in ends.ways:
            if run.value(end.alive):
                self._check_written(end)
                lists = _Lists(run, end.changes, self.keys)
                held = zip(self.cells, state, strict=True)
                after = tuple(lists.content(end.changes.get(cell, value)) for cell, value in held)
                return kind, after, lists.content(end.value)
        raise _Impossible

    def _check_written(self, end: End) -> None:
        """Raise _Written where a round wrote a cell that was there before the loop, or may be read after it."""
        for cell, value in end.changes.items():
            key = cell[0] if isinstance(cell, tuple) else cell
            if cell not in self.cells and key <= self.keys and value is not self.m.store.get(cell):
                raise _Written(cell)

    def _stuck(self, steps: dict[State, dict[Outcome, Number]]) -> list[State]:
        """Return the states from which no end is reachable."""
        before: dict[State, list[State]] = {}
        ending = []
        for state, outcomes in steps.items():
            for kind, after, _ in outcomes:
                if kind == "on":
                    before.setdefault(self._read(after), []).append(state)
                else:
                    ending.append(state)
        reached = set(ending)
        while ending:
            new = [state for state in before.get(ending.pop(), ()) if state not in reached]
            reached.update(new)
            ending += new
        return [state for state in steps if state not in reached]

    def _solved(self, steps: dict[State, dict[Outcome, Number]], entry: State) -> dict[Outcome, Number]:
        """Take out one state after the other: what leads to it leads to where it leads, by a geometric series."""
        rows: dict[State, dict[State, Number]] = {}
        ends: dict[State, dict[Outcome, Number]] = {}
        for state, outcomes in steps.items():
            rows[state], ends[state] = {}, {}
            for outcome, mass in outcomes.items():
                row: dict[Any, Number] = rows[state] if outcome[0] == "on" else ends[state]
                place = self._read(outcome[1]) if outcome[0] == "on" else outcome
                row[place] = row.get(place, Fraction(0)) + mass
        for state in [*(state for state in reversed(steps) if state != entry), entry]:
            self.m.watch()
            leaving = 1 - rows[state].pop(state, Fraction(0))
            for row in (rows[state], ends[state]):
                for place in row:
                    row[place] = row[place] / leaving
            for other in rows:
                share = rows[other].pop(state, None) if other != state else None
                if share is not None:
                    for row, added in ((rows[other], rows[state]), (ends[other], ends[state])):
                        for place, mass in added.items():
                            row[place] = row.get(place, Fraction(0)) + share * mass
            if state != entry:
                del rows[state], ends[state]
        return ends[entry]

    def shown(self, state: State, context: Context) -> str:
        """Write a state, with the names of this function that hold something else that is known."""
        held = [(cell[1], value) for cell, value in zip(self.cells, state, strict=True) if isinstance(cell, tuple)]
        for name, value in self.m.store.names(self.m.frame.key):
            if isinstance(value, Expr) and value.serial in context and (self.m.frame.key, name) not in self.cells:
                held.append((name, context[value.serial]))
        return ", ".join(f"{name} = {value!r}" for name, value in held if value is not MISSING)


def in_place_of(
    m: Machine, body: Sequence[ast.stmt], play: Round
) -> tuple[list[tuple[str, End]], list[tuple[Expr, Failure]]]:
    """Draw how a loop ends whose rounds are played by `play`, after its test held once.

    Return the ways in which it does, under conditions, with what it writes, and the failures. Raises NotAChain where
    it has infinitely many states, or is otherwise not followed.
    """
    noises, born, keys = len(m.builder.noises), m.builder.newest, m.store.newest
    cells: list[Cell] = []
    outer: list[Expr] = []
    while True:
        live = [not (isinstance(cell, tuple) and _overwritten(body, cell[1])) for cell in cells]
        chain = _Chain(m, cells, live, play, born, keys)
        held = tuple(m.store.get(cell) for cell in cells)
        try:
            selector = _joint(m, outer)
            possible = m.probe(m.alive, [selector])[0] if m.probe and outer else [True] * len(selector.values)
            laws = [
                chain.law(context, _entry(chain, held, context)) if here else None
                for here, context in zip(possible, _contexts(selector, outer), strict=True)
            ]
            break
        except Outer as needed:
            outer.append(needed.expr)
        except _Written as found:
            cells.append(found.cell)
    _check_noise(m, noises)
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
        if m.probe is not None:
            raise NotAChain(what)
        failing.append((m.builder.equals(selector, value), Failure(what, "let every round end with some probability")))
    if not outcomes:
        return [], failing
    return _taken_apart(m, chain, m.builder.draw("while", selector, table, m.alive), outcomes, failing)


def _taken_apart(
    m: Machine, chain: _Chain, drawn: Expr, outcomes: Sequence[Outcome], failing: list[tuple[Expr, Failure]]
) -> tuple[list[tuple[str, End]], list[tuple[Expr, Failure]]]:
    """Return what a draw among outcomes says: the ways to go on, and the failures."""

    rows = [remade(m, (*state, value)) for _, state, value in outcomes]

    def case(values: Sequence[Value]) -> Value:
        """Merge plain values, one for each outcome of the draw."""
        result = values[-1]
        for at in range(len(values) - 2, -1, -1):
            if values[at] != result or type(values[at]) is not type(result):
                result = m.merge(m.builder.equals(drawn, at), values[at], result)
        return result

    ways: list[tuple[str, End]] = []
    for kind in ("end", "break", "return"):
        here = [at for at, outcome in enumerate(outcomes) if outcome[0] == kind]
        if not here:
            continue
        alive = m.conj(m.alive, m.builder.disjunction([m.builder.equals(drawn, at) for at in here]))
        values = [rows[at if outcomes[at][0] == kind else here[0]] for at in range(len(outcomes))]
        changes = {
            cell: case([row[place] for row in values])
            for place, cell in enumerate(chain.cells)
            if all(row[place] is not MISSING for row in values)
        }
        ways.append((kind, End(alive, changes, case([row[-1] for row in values]))))
    for at, (kind, _, value) in enumerate(outcomes):
        if kind == "fail":
            failing.append((m.builder.equals(drawn, at), chain.failures[value]))
    return ways, failing


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


def _entry(chain: _Chain, held: State, context: Context) -> State:
    run = Run(chain.born, context, [])
    return tuple(run.whole(value) if live else MISSING for value, live in zip(held, chain.live, strict=True))


def _endless(value: Value) -> bool:
    """Whether what a round goes on with may be any integer: it would have to be compared with what comes later."""
    inner = value.items if isinstance(value, _Listed) else value
    return isinstance(value, Far) or (isinstance(inner, tuple) and any(map(_endless, inner)))


def _check_noise(m: Machine, before: int) -> None:
    """Check that noise on all integers is drawn in a round as it may be in any number of them."""
    new = m.builder.noises[before:]
    if new and m.builder.cut is not None:
        raise NotAChain("noise on all integers that is cut off is drawn any number of times")
    if any(isinstance(law, Gaussian) for _, laws in new for law in laws):
        raise NotAChain("it draws Gaussian noise any number of times")
    if any(window.bases for window in m.builder.windows[before : before + len(new)]):
        raise NotAChain("it compares several draws on all integers")


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
