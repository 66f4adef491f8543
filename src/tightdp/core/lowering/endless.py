"""How loops end, by a law, where their states are finitely many.

Where the states of a loop (`loop_chain`) are finitely many, and an end can be reached from each, the law of how it ends
follows from a linear system. In its place stands one draw with this law, which depends on values from before the loop.
A `while` loop without a bound on its rounds can be lowered in no other way. Any other loop that goes on for long can be
unrolled as well, so that for it this is tried within little work (`growth`).

Where its states are too many, an enclosure will do that cuts it off after many rounds (`cut_off`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tightdp.core.lowering.cut_off import MOST_ROUNDS, cut_off, settle
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
from tightdp.core.lowering.machine import End, Failure, Machine
from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.values import (
    Value,
    is_scalar,
    known,
)
from tightdp.core.nodes import Expr, Input, operands_of, reachable
from tightdp.core.valuesets import TooManyValues
from tightdp.core.windows import is_far
from tightdp.exact.field import Number
from tightdp.language.laws import Gaussian, Law
from tightdp.limits.calibrated import TABLE_ENTRIES


def in_place_of(m: Machine, rounds: Rounds) -> tuple[list[tuple[str, End]], list[tuple[Expr, Failure]]]:
    """Draw how a loop ends whose first round is played.

    Return the ways in which it does, under conditions, with what it writes, and the failures. Raises NotAChain where
    it has infinitely many states, or is otherwise not followed.
    """
    noises = len(m.builder.noises)
    chain, selector, contexts, laws = _followed(m, rounds)
    _check_noise(m, noises)
    if not m.within:
        settle(m, chain, laws)
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
    if m.left_early and m.builder.rounds > MOST_ROUNDS:
        raise NotAChain(f"together with the loops around it there are more than {MOST_ROUNDS:,} rounds to be looked at")
    m.within += 1
    try:
        entry = tuple(run.whole(value) if live else MISSING for value, live in zip(held, chain.live, strict=True))
        return cut_off(chain, context, entry) if chain.rounds.cut else chain.law(context, entry)
    except TooManyStates as reason:
        if reason.any_case and context and m.probe and not m.probe(m.alive, [selector])[0][at]:
            chain.forget()
            return None
        raise
    finally:
        m.within -= 1


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
