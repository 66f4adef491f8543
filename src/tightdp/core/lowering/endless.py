"""How loops end, by a law, where their states are finitely many.

Where the states of a loop (`loop_chain`) are finitely many, and an end can be reached from each, the law of how it ends
follows from a linear system. In its place stands one draw with this law, which depends on values from before the loop.
A `while` loop without a bound on its rounds can be lowered in no other way. Any other loop that goes on for long can be
unrolled as well, so that for it this is tried within little work (`growth`).

Where its states are too many, an enclosure will do that cuts it off after many rounds (`cut_off`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from tightdp.core.lowering.cut_off import MOST_ROUNDS, cut_off, goes_on, is_near, likeliest, settle
from tightdp.core.lowering.given import bits_of, drawn
from tightdp.core.lowering.loop_chain import (
    FASTER,
    LoopChain,
    OfNoise,
    Rounded,
    TooManyStates,
    Whole,
    Written,
)
from tightdp.core.lowering.loop_names import ends_with_return, late_returns, parts_of, read_in
from tightdp.core.lowering.loop_runs import (
    Context,
    NotAChain,
    Outcome,
    Outer,
    Rounds,
    Run,
    Split,
    Values,
    is_endless,
    remade,
)
from tightdp.core.lowering.loops_before import (
    Borrowed,
    Ended,
    as_before,
    ended_before,
    is_alone,
    is_told,
    name_of,
    note,
)
from tightdp.core.lowering.machine import End, Failure, Machine
from tightdp.core.lowering.positions import picked
from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.values import Value
from tightdp.core.nodes import Expr, Input, operands_of, reachable
from tightdp.core.published import above
from tightdp.core.valuesets import TooManyValues
from tightdp.core.windows import LeftOff, is_far
from tightdp.exact.field import Number
from tightdp.language.laws import Gaussian, Law
from tightdp.language.liveness import liveness_of
from tightdp.limits.calibrated import FEW_VALUES, TABLE_ENTRIES

_FAR: dict[Outcome, Number] = {}
"""How a loop ends that begins with noise far out, which nobody follows: told by what it is, not by what is in it."""


def in_place_of(m: Machine, rounds: Rounds) -> tuple[list[tuple[str, End]], list[tuple[Expr, Failure]]]:
    """Draw how a loop ends whose first round is played.

    Return the ways in which it does, under conditions, with what it writes, and the failures. Raises NotAChain where
    it has infinitely many states, or is otherwise not followed.
    """
    noises = len(m.builder.noises)
    chain, selector, contexts, laws, shares = _followed(m, rounds)
    _check_noise(m, noises)
    near: dict[Outcome, Number] = next((law for law in laws if isinstance(law, dict) and law), {})
    far = [value for value, law in zip(selector.values, laws, strict=True) if law is _FAR]
    if far and not near:
        raise NotAChain("it looks at noise on all integers")
    laws = [dict(near) if law is _FAR else law for law in laws]  # what is far out is lost in any case
    left = [None] * len(laws) if m.within else settle(chain, laws, shares)
    outcomes = list(dict.fromkeys(outcome for law in laws if isinstance(law, dict) for outcome in law))
    places = {outcome: at for at, outcome in enumerate(outcomes)}
    instead = {end: len(outcomes) + at for at, end in enumerate(dict.fromkeys(each[0] for each in left if each))}
    failing: list[tuple[Expr, Failure]] = []
    table: list[Law | None] = []
    for value, law, context, going in zip(selector.values, laws, contexts, left, strict=True):
        if isinstance(law, dict):
            row = sorted((places[outcome], mass) for outcome, mass in law.items())
            table.append((*row, (instead[going[0]], going[1])) if going else tuple(row))
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
    drawn = _drawn(m, selector, table)
    if far:
        beyond = m.conj(m.alive, m.builder.disjunction([m.builder.equals(selector, value) for value in far]))
        m.builder.lost.append(LeftOff(Fraction(0), beyond, drawn, selector))
    if instead:
        here = m.conj(m.alive, m.builder.disjunction([m.builder.equals(drawn, at) for at in instead.values()]))
        lost = [(above(each[1]), share) for each, share in zip(left, shares, strict=True) if each]
        most = min(max(mass for mass, _ in lost), sum((mass * share for mass, share in lost), Fraction(0)))
        m.builder.lost.append(LeftOff(most, here, drawn, selector))
    return _taken_apart(m, chain, drawn, [*outcomes, *instead], failing)


def _followed(
    m: Machine, rounds: Rounds
) -> tuple[LoopChain, Expr, list[Context], list[dict[Outcome, Number] | Values | None], Sequence[Fraction]]:
    """Return a loop as a chain, the values from before it that it depends on, and how it ends with each of them.

    These are as likely as the last numbers say at most.
    """
    born, keys, noises = m.builder.newest, m.store.newest, len(m.builder.noises)
    cells: list[Cell] = [(m.frame.key, name) for name in m.written.get(rounds.node, ())]
    outer: list[Expr] = []
    function, outside, texts, apart = m.frame.source.node, m.frame.late, parts_of(rounds.node), True
    liveness = liveness_of(function)
    reads = liveness.heads[rounds.node] | liveness.inner
    kept = {"break": liveness.after[rounds.node] | liveness.inner, "end": liveness.ends[rounds.node] | liveness.inner}
    kept |= {"return": frozenset()} if ends_with_return(function) else {}
    while True:
        live = [not isinstance(cell, tuple) or cell[0] != m.frame.key or cell[1] in reads for cell in cells]
        own = {cell: cell[1] for cell in cells if isinstance(cell, tuple) and cell[0] == m.frame.key}
        pieces = [[part] for part in rounds.parts] if apart else [rounds.parts]
        read = [read_in(part, function) if apart else own.values() for part in texts[: len(pieces)]]
        unread = [[at for at, cell in enumerate(cells) if cell in own and own[cell] not in names] for names in read]
        forgotten = {kind: [cell for cell in own if cell[1] not in names] for kind, names in kept.items()}
        m.frame.late = outside | late_returns(texts[0], function) if apart else outside
        chain = LoopChain(m, cells, live, pieces, unread, forgotten, rounds, born, keys)
        held = tuple(m.store.get(cell) for cell in cells)
        try:
            selector = _joint(m, outer, rounds.cut)
            contexts = list(_contexts(selector, outer))
            possible = _possible(m, rounds, selector, contexts)
            shares = likeliest(selector)
            laws = []
            for at, (here, context, share) in enumerate(zip(possible, contexts, shares, strict=True)):
                chain.bits = bits_of(m.given, share if rounds.cut and not m.within else Fraction(1))
                laws.append(_law(m, chain, held, (selector, outer), context, at, noises) if here else None)
            if all(isinstance(cell, tuple) and cell[0] == m.frame.key for cell in cells):
                m.written[rounds.node] = [cell[1] for cell in cells]
            return chain, selector, contexts, laws, shares
        except Outer as needed:
            outer.append(needed.expr)
            if rounds.growth:
                _check_simple(outer)
        except Written as found:
            cells += found.cells
        except Whole:
            apart = False
        finally:
            m.frame.late = outside


def _law(
    m: Machine,
    chain: LoopChain,
    held: Values,
    selected: tuple[Expr, Sequence[Expr]],
    context: Context,
    at: int,
    noises: int,
) -> dict[Outcome, Number] | Values | None:
    """Return how the loop ends with the values from before it at a place; None where they cannot come together."""
    name, rounds = None, m.builder.rounds
    run, named = Run(chain.born, context, []), Run(chain.born, context, [])
    if m.left_early and m.within and m.builder.rounds > MOST_ROUNDS:
        if m.borrowed:
            raise Borrowed
        return goes_on(chain, Fraction(1))
    if chain.rounds.cut and any(map(is_endless, context.values())):
        return _FAR
    m.within += 1
    try:
        entry = tuple(run.whole(value) if live else MISSING for value, live in zip(held, chain.live, strict=True))
        name = name_of(m, chain, entry, named)
        if name is not None and (before := ended_before(m, name)) is not None:
            return as_before(chain, entry, before)
        found = cut_off(chain, context, entry) if chain.rounds.cut else _exactly(chain, context, entry, selected)
        noisy = len(m.builder.noises) != noises
        if name is not None and isinstance(found, dict) and not noisy and is_told(chain, found, named):
            note(m, name, Ended(entry, list(chain.failures), dict(found), m.builder.rounds - rounds))
        return found
    except TooManyStates as reason:
        if name is not None and reason.any_case and is_alone(chain, named):
            note(m, name, Ended((), (), reason, m.builder.rounds - rounds))
        if reason.any_case and context and m.probe and not m.probe(m.alive, [selected[0]])[0][at]:
            chain.forget()
            return None
        raise
    finally:
        m.within -= 1


def _exactly(
    chain: LoopChain, context: Context, entry: Values, selected: tuple[Expr, Sequence[Expr]]
) -> dict[Outcome, Number] | Values | None:
    """Return how a loop ends; rounded where there are loops in it that are cut off, and that is near enough."""
    try:
        return chain.law(context, entry, rounded=True)
    except Rounded:
        _check_few(chain.m, *selected)
        places = chain.places
        found = cut_off(chain, context, entry)
        if is_near(chain, found):
            return found
        chain.places = places
        return chain.law(context, entry)


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
        return drawn(m.given, m.builder, "while", selector, table, m.alive)
    certain = next(law for law in table if law)
    return m.builder.case(selector, [m.builder.const((law or certain)[0][0]) for law in table])


def _taken_apart(
    m: Machine, chain: LoopChain, drawn: Expr, outcomes: Sequence[Outcome], failing: list[tuple[Expr, Failure]]
) -> tuple[list[tuple[str, End]], list[tuple[Expr, Failure]]]:
    """Return what the place of an outcome says: the ways to go on, and the failures; `observe` holds in the others."""

    rows = [remade(m, (*state, value)) for _, state, value in outcomes]

    def case(values: Sequence[Value]) -> Value:
        """Merge plain values, one for each outcome."""
        return picked(m, drawn, [values[at] for at in drawn.values])

    ways: list[tuple[str, End]] = []
    late = dict.fromkeys(value for kind, _, value in outcomes if kind == "late")
    for kind, returned in (("end", None), ("break", None), ("return", None), *(("late", each) for each in late)):
        here = dict.fromkeys(at for at, each in enumerate(outcomes) if each[0] == kind and returned in (None, each[2]))
        if not here:
            continue
        taken = [at if at in here else next(iter(here)) for at in range(len(outcomes))]
        alive = m.conj(m.alive, m.expr(case([at in here for at in range(len(outcomes))])))
        values = [rows[at] for at in taken]
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
        raise OfNoise("it looks at noise on all integers")


def _joint(m: Machine, outer: Sequence[Expr], cut: bool) -> Expr:
    if not outer:
        return m.builder.true
    try:
        found = outer[0] if len(outer) == 1 else m.builder.total("tuple", *outer)
    except TooManyValues as error:
        raise Split(str(error), m.given, outer) from None
    many = len(found.values) > TABLE_ENTRIES
    if many or cut:
        _check_few(m, found, outer, many)
    return found


def _check_few(m: Machine, selector: Expr, outer: Sequence[Expr], many: bool = False) -> None:
    """Raise Split where a loop that is cut off depends on more than a few values: then it counts how likely each is."""
    if len(selector.values) > FEW_VALUES:
        split = Split(f"it depends on more than {TABLE_ENTRIES:,} combinations of values", m.given, outer)
        if many or split.given is not None or m.unrolled:
            raise split


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
