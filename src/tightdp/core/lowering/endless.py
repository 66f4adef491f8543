"""How loops end: by progress where they are unrolled, and by a law where their states are finitely many.

Where the states of a loop (`loop_chain`) are finitely many, and an end can be reached from each, the law of how it ends
follows from a linear system. In its place stands one draw with this law, which depends on values from before the loop.
A `while` loop without a bound on its rounds can be lowered in no other way. Any other loop that goes on for long can be
unrolled as well, so that for it this is tried within little work (`growth`).

Where a loop makes no progress that is plain to see, a probe says which values really occur, and the variables are
narrowed to them. A loop is abandoned where some run must have reached the same state twice, or after many rounds.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tightdp.core.lowering.loop_chain import (
    FASTER,
    Context,
    LoopChain,
    NotAChain,
    Outcome,
    Outer,
    Rounds,
    Run,
    TooManyStates,
    Values,
    Written,
    remade,
)
from tightdp.core.lowering.machine import End, Failure, Machine, is_milestone
from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.values import (
    Closure,
    Collection,
    Entries,
    Members,
    Range,
    Reference,
    Table,
    Union,
    Value,
    View,
    is_scalar,
    known,
)
from tightdp.core.nodes import Expr, Input, operands_of, reachable
from tightdp.core.valuesets import TooManyValues
from tightdp.core.windows import is_far
from tightdp.errors import LanguageError
from tightdp.exact.field import Number
from tightdp.language.laws import Gaussian, Law
from tightdp.limits.calibrated import LOOP_ROUNDS, TABLE_ENTRIES


def in_place_of(m: Machine, rounds: Rounds) -> tuple[list[tuple[str, End]], list[tuple[Expr, Failure]]]:
    """Draw how a loop ends whose first round is played.

    Return the ways in which it does, under conditions, with what it writes, and the failures. Raises NotAChain where
    it has infinitely many states, or is otherwise not followed.
    """
    noises = len(m.builder.noises)
    chain, selector, contexts, laws = _followed(m, rounds)
    _check_noise(m, noises)
    outcomes = list(dict.fromkeys(outcome for law in laws if isinstance(law, dict) for outcome in law))
    places = {outcome: at for at, outcome in enumerate(outcomes)}
    failing: list[tuple[Expr, Failure]] = []
    table: list[Law | None] = []
    for value, law, context in zip(selector.values, laws, contexts, strict=True):
        if isinstance(law, dict):
            table.append(tuple(sorted((places[outcome], mass) for outcome, mass in law.items())))
            continue
        table.append(None)
        failure = Failure("a loop goes on in a way that is not followed")
        if law is not None:
            shown = chain.shown(law, context)
            what = "the loop can run for ever" + (f": from {shown} it does not end" if shown else "")
            if m.probe is not None or rounds.growth:
                raise NotAChain(what)
            failure = Failure(what, "let every round end with some probability")
        failing.append((m.builder.equals(selector, value), failure))
    if not outcomes:
        return [], failing
    return _taken_apart(m, chain, _drawn(m, selector, table), outcomes, failing)


def _followed(
    m: Machine, rounds: Rounds
) -> tuple[LoopChain, Expr, list[Context], list[dict[Outcome, Number] | Values | None]]:
    """Return a loop as a chain, the values from before it that it depends on, and how it ends with each of them."""
    born, keys = m.builder.newest, m.store.newest
    cells: list[Cell] = []
    outer: list[Expr] = []
    while True:
        live = [not (isinstance(cell, tuple) and _overwritten(rounds.body, cell[1])) for cell in cells]
        chain = LoopChain(m, cells, live, rounds, born, keys)
        held = tuple(m.store.get(cell) for cell in cells)
        try:
            selector = _joint(m, outer)
            contexts = list(_contexts(selector, outer))
            possible = _possible(m, rounds, selector, contexts)
            laws = [
                _law(m, chain, held, selector, context, at) if here else None
                for at, (here, context) in enumerate(zip(possible, contexts, strict=True))
            ]
            return chain, selector, contexts, laws
        except Outer as needed:
            outer.append(needed.expr)
            if rounds.growth:
                _check_simple(outer)
        except Written as found:
            cells += found.cells


def _law(
    m: Machine, chain: LoopChain, held: Values, selector: Expr, context: Context, at: int
) -> dict[Outcome, Number] | Values | None:
    """Return how the loop ends with the values from before it at a place; None where they cannot come together."""
    run = Run(chain.born, context, [])
    try:
        entry = tuple(run.whole(value) if live else MISSING for value, live in zip(held, chain.live, strict=True))
        return chain.law(context, entry)
    except TooManyStates as reason:
        if reason.any_case and context and m.probe and not m.probe(m.alive, [selector])[0][at]:
            chain.forget()
            return None
        raise


def _possible(m: Machine, rounds: Rounds, selector: Expr, contexts: Sequence[Context]) -> Sequence[bool]:
    """Say with which values from before it the loop is reached; of one that can be unrolled what is plain to see."""
    if len(contexts) == 1:
        return [True]
    if rounds.growth in (0, FASTER):
        return m.probe(m.alive, [selector])[0] if m.probe else [True] * len(contexts)
    conditions = operands_of(m.alive, "and")
    return [all(_may_hold(condition, context) for condition in conditions) for context in contexts]


def _may_hold(condition: Expr, context: Context) -> bool:
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
    m: Machine, chain: LoopChain, drawn: Expr, outcomes: Sequence[Outcome], failing: list[tuple[Expr, Failure]]
) -> tuple[list[tuple[str, End]], list[tuple[Expr, Failure]]]:
    """Return what the place of an outcome says: the ways to go on, and the failures; `observe` holds in the others."""

    rows = [remade(m, (*state, value)) for _, state, value in outcomes]

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
    if len(found.values) > TABLE_ENTRIES:
        raise NotAChain(f"it depends on more than {TABLE_ENTRIES:,} combinations of values")
    return found


def _contexts(selector: Expr, outer: Sequence[Expr]) -> Iterator[Context]:
    for value in selector.values:
        parts = (value,) if len(outer) == 1 else value if outer else ()
        yield {expr.serial: part for expr, part in zip(outer, parts, strict=True)}


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
        named = [part for part in inside if isinstance(part, ast.Name) and part.id == name]
        if any(isinstance(part, (ast.Lambda, ast.FunctionDef)) for part in inside):
            return False
        if any(isinstance(part.ctx, ast.Load) for part in named):
            return False
        if isinstance(statement, ast.Assign):
            if any(target in named for target in statement.targets):
                return True
        elif named or not isinstance(statement, (ast.Expr, ast.AugAssign)):
            return False
    return False


@dataclass
class Progress:
    """The rounds of one loop."""

    machine: Machine
    rounds: int = 0
    certain_rounds: int = 0
    plain: object = None
    seen: Counter[object] = field(default_factory=Counter)

    def another_round(self, certain: bool) -> bool:
        """Get ready for a round, which all runs begin where it is `certain`. False where the loop has no bound.

        Where no run can be left, the state is made dead.
        """
        machine = self.machine
        self.certain_rounds += certain
        self.rounds = 0 if certain else self.rounds + 1
        if max(self.rounds, self.certain_rounds // 100) > LOOP_ROUNDS:
            return False
        picture = _Picture(machine)
        if picture.plain == self.plain:
            machine.alive = picture.narrowed()
            picture = _Picture(machine)
        elif is_milestone(self.rounds) and not machine.some_run_is_left():
            machine.alive = machine.builder.false
        self.plain = picture.plain
        self.seen[tuple(picture.full)] += 1
        return self.seen[tuple(picture.full)] <= picture.states


@dataclass
class _Picture:
    """What is known of everything that the function at hand can see: `plain` leaves out what depends on the run."""

    machine: Machine
    plain: list[Any] = field(default_factory=list)
    full: list[Any] = field(default_factory=list)
    states: int = 1

    def __post_init__(self) -> None:
        frame = self.machine.frame
        self._frames = dict.fromkeys((frame.key, *frame.enclosing))
        self._lists: dict[int, int] = {}
        self.scalars: dict[int, Expr] = {}
        self.guards: dict[int, Expr] = {}
        for key in list(self._frames):
            self._frame(key)

    def _frame(self, key: int) -> None:
        for name, value in self.machine.store.names(key):
            self._note(name)
            self._value(value)

    def _note(self, fact: object) -> None:
        self.plain.append(fact)
        self.full.append(fact)

    def _value(self, value: Value) -> None:
        match value:
            case Expr():
                self.plain.append(Expr)
                self.full.append(tuple(value.values))
                if value.serial not in self.scalars:
                    self.scalars[value.serial] = value
                    self.states *= len(value.values)
            case tuple():
                self._note(len(value))
                for item in value:
                    self._value(item)
            case Range(items):
                self._value(items)
            case Reference(key) | Table(key) | View(key) | Collection(key):
                self._list(key)
            case Entries(names, items) | Members(names, items):
                self._note(names)
                self._value(items)
            case Union(alternatives):
                self.states *= len(alternatives)
                self.guards.update((guard.serial, guard) for guard, _ in alternatives)
                self._value(tuple(item for _, item in alternatives))
            case Closure(frames=frames):
                self._note(value)
                for key in frames:
                    if key not in self._frames:
                        self._frames[key] = None
                        self._frame(key)
            case _:
                self._note((type(value), value))

    def _list(self, key: int) -> None:
        """Describe a list; lists go by the order in which they are met, since their keys are always new."""
        known = key in self._lists
        self._note(("list", self._lists.setdefault(key, len(self._lists))))
        if not known:
            self._value(self.machine.store[key])

    def narrowed(self) -> Expr:
        """Restrict everything to the values that occur on a run that is alive, and return its path condition."""
        machine = self.machine
        if machine.probe is None:
            return machine.alive
        if machine.builder.cut is not None:  # of draws of any number it is not known how rarely one is far out
            raise LanguageError("a loop without a plain bound stands beside noise that is cut off", "bound the loop")
        exprs = [*self.scalars.values(), *self.guards.values()]
        possible = machine.probe(machine.alive, [machine.builder.true, *exprs])
        if not any(possible[0]):
            return machine.builder.false
        self._image = {
            expr.serial: self._restricted(expr, kept) for expr, kept in zip(exprs, possible[1:], strict=True)
        }
        for key in self._frames:
            for name, value in list(machine.store.names(key)):
                machine.store[key, name] = self._rewritten(value)
        for key in self._lists:
            machine.store[key] = self._rewritten(machine.store[key])
        return machine.alive

    def _restricted(self, expr: Expr, kept: Any) -> Value:
        if all(kept):
            return expr
        builder = self.machine.builder
        some = next(value for value, here in zip(expr.values, kept, strict=True) if here)
        branches = [builder.const(value if here else some) for value, here in zip(expr.values, kept, strict=True)]
        return known(builder.case(expr, branches))

    def _rewritten(self, value: Value) -> Value:
        match value:
            case Expr():
                return self._image[value.serial]
            case tuple():
                return tuple(map(self._rewritten, value))
            case Range(items):
                return Range(self._rewritten(items))
            case Entries(keys, values):
                return Entries(keys, self._rewritten(values))
            case Members(values, present):
                return Members(values, tuple(map(self.machine.expr, self._rewritten(present))))
            case Union(alternatives):
                left = [(self._image[guard.serial], self._rewritten(item)) for guard, item in alternatives]
                left = [(self.machine.expr(guard), item) for guard, item in left if guard is not False]
                return left[0][1] if len(left) == 1 else Union(tuple(left))
        return value
