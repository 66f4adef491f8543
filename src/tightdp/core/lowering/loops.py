"""Loops, which are unrolled, and how runs leave them; a `for` over records that are treated alike."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

from tightdp.core.lowering import endless
from tightdp.core.lowering.alike import template
from tightdp.core.lowering.any_order import in_any_order, loop_over_all
from tightdp.core.lowering.iteration import entered, iterate, visit
from tightdp.core.lowering.loop_chain import FASTER, GROWTHS, OfNoise, TooManyStates
from tightdp.core.lowering.loop_names import draws_below_counts
from tightdp.core.lowering.loop_runs import Action, Ends, NotAChain, Rounds, Split, remade
from tightdp.core.lowering.loops_before import is_plain
from tightdp.core.lowering.machine import End, Failure, Loop, Machine, is_milestone
from tightdp.core.lowering.progress import Progress, check_lengths, check_rounds
from tightdp.core.lowering.registry import lowers
from tightdp.core.lowering.scalars import truth
from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.undoing import Before
from tightdp.core.lowering.values import Entries, Every, Generator, Range, Table, Value, View
from tightdp.core.nodes import Const, Expr
from tightdp.core.unmerged import Early, Endless
from tightdp.errors import LanguageError
from tightdp.language.source import hands_over
from tightdp.limits.calibrated import LONG_LOOP, LOOP_GROWTH, LOOP_ROUNDS


@lowers(ast.For)
def _for(m: Machine, node: ast.For) -> None:
    iterable = entered(m, m.evaluate(node.iter))
    handing = hands_over(node)
    if (alike := template(m, iterable)) is not None and not handing:
        loop_over_all(m, node, alike)
        return

    def go_through(items: Value) -> None:
        unrolled = Unrolled(m)
        m.attempt(lambda: visit(m, items, partial(_round_with, m, node, unrolled)))
        unrolled.finish(node.orelse)

    if isinstance(iterable, (Every, Generator)):
        go_through(iterable)
        return
    if not handing and in_any_order(m, node, iterable, go_through):
        return
    check_lengths(m, iterable)
    unrolled = Unrolled(m)
    items = _plain_items(iterable)
    if (
        not m.single
        and not handing
        and len(items) >= LONG_LOOP
        and _tried(m, node, partial(_for_as_chain, m, node, items))
    ):
        return
    unrolled.kept = _keys_of(m, iterable)
    iterator = iterate(m, iterable)
    for at in count():
        found = m.attempt(lambda: next(iterator, None))
        if found is None or m.alive is m.builder.false:
            break
        present, item = found
        unrolled.end_where(m.builder.negation(present))
        if present is not m.builder.true and is_milestone(at) and not m.some_run_is_left():
            m.alive = m.builder.false
        if m.alive is m.builder.false:
            break
        unrolled.rounds = at
        if m.builder.cut and present is not m.builder.true is not unrolled.base:
            check_rounds(m, at)
        _round_with(m, node, unrolled, item)
        if m.alive is m.builder.false:
            break
    unrolled.finish(node.orelse)


def _round_with(m: Machine, node: ast.For, unrolled: Unrolled, item: Value) -> None:
    m.attempt(partial(m.assign, node.target, item))
    unrolled.round(node.body)


@lowers(ast.While)
def _while(m: Machine, node: ast.While) -> None:
    if hands_over(node):
        _while_handing_over(m, node)
        return
    if node in m.endless or not m.left_early.isdisjoint(ast.walk(node)):  # one inside it has too many states
        _ending_some_time(m, node)
        return
    if m.followed.get(node) and _tried(m, node, partial(_while_as_chain, m, node, FASTER)):
        return
    before, tried, noises = Before(m), 0, len(m.builder.noises)
    progress = m.progress(node) if m.single else Progress(m).another_round
    if progress is None:
        return
    unrolled, rounds = Unrolled(m), 0
    while m.alive is not m.builder.false:
        condition = m.attempt(lambda: truth(m, m.evaluate(node.test)))
        if m.alive is m.builder.false:
            break
        unrolled.end_where(m.builder.negation(condition))
        if m.alive is m.builder.false:
            break
        certain = m.alive is unrolled.base and isinstance(condition, Const)
        if m.early and not certain and rounds > 2 * LONG_LOOP and draws_below_counts(node):
            raise Early
        growth = 0 if m.single or tried else GROWTHS.get(rounds, 0)
        rounds += 1
        if growth and node not in m.followed and m.some_run_is_left():
            before.restore(unrolled.level)
            if _tried(m, node, partial(_while_as_chain, m, node, growth), certain):
                return
            tried = 2 if node in m.of_noise else 0
            unrolled, progress = Unrolled(m), Progress(m, max(GROWTHS) if tried else 0).another_round
            continue
        if not progress(certain):
            tried += 3 if m.single or len(m.builder.noises) > noises else 1
            before.restore(unrolled.level)
            m.endless.add(node)
            if _ending_some_time(m, node, FASTER if tried == 1 else 0, bounded=tried < 3):
                return
            unrolled, progress = Unrolled(m), Progress(m, (max(GROWTHS), LOOP_ROUNDS)[tried - 1]).another_round
            m.endless.discard(node)
            tried = 2 if node in m.of_noise else tried
            continue
        m.unrolled += 1
        unrolled.rounds = rounds
        try:
            unrolled.round(node.body)
        except Split as split:
            if split.given is not None:
                raise
            before.restore(unrolled.level)
            m.endless.add(node)
        finally:
            m.unrolled -= 1
        if node in m.endless:
            _ending_some_time(m, node)
            return
    unrolled.finish(node.orelse)


def _while_handing_over(m: Machine, node: ast.While) -> None:
    """Unroll a loop that yields: its rounds are those of the loop that goes through what it gives."""
    unrolled = Unrolled(m)
    while m.alive is not m.builder.false:
        condition = m.attempt(lambda: truth(m, m.evaluate(node.test)))
        if m.alive is not m.builder.false:
            unrolled.end_where(m.builder.negation(condition))
        if is_milestone(unrolled.rounds) and not m.some_run_is_left():
            m.alive = m.builder.false
        if m.alive is m.builder.false:
            break
        if unrolled.rounds > LOOP_ROUNDS // 10:
            raise _endless(m, node, NotAChain("what it yields is gone through for long"))
        unrolled.rounds += 1
        unrolled.round(node.body)
    unrolled.finish(node.orelse)


def _keys_of(m: Machine, iterable: Value) -> Value:
    """Return the keys that a dictionary has when it begins to be gone through; None for anything else."""
    content = m.store[iterable.key] if m.single and isinstance(iterable, (Table, View)) else None
    return content.keys if isinstance(content, Entries) else None


def _plain_items(iterable: Value) -> Sequence[Value]:
    """Return what a loop goes through where that is known and stays the same, else nothing."""
    items = iterable.items if isinstance(iterable, Range) else iterable
    return items if isinstance(items, tuple) and all(map(is_plain, items)) else ()


def _tried(m: Machine, node: ast.For | ast.While, action: Callable[[], None], certain: bool = False) -> bool:
    """Lower a loop as a chain if that is little work; else leave everything as it was.

    A `while` loop that has too many states in any case is refused, unless all runs are `certain` to have got so far,
    as in one that counts its rounds: unrolled it would have as many.
    """
    if not m.followed.get(node, True):
        return False
    before, level = Before(m), m.store.open()
    try:
        action()
    except (NotAChain, LanguageError) as reason:
        before.restore(level)
        if not isinstance(reason, TooManyStates):
            m.followed[node] = False
        elif reason.any_case and not certain and isinstance(node, ast.While) and m.some_run_is_left():
            raise _endless(m, node, reason) from None
        return False
    m.store.keep(level)
    m.followed[node] = True
    return True


def _ending_some_time(m: Machine, node: ast.While, growth: int = 0, bounded: bool = False) -> bool:
    """Lower a loop by the law of how it ends; False where it is not followed, and may be `bounded` all the same."""
    before, level = Before(m), m.store.open()
    try:
        _while_as_chain(m, node, growth)
    except NotAChain as reason:
        if isinstance(reason, Split) and (m.unrolled or reason.given is not None):
            raise
        if not bounded or (isinstance(reason, TooManyStates) and reason.any_case):
            raise _endless(m, node, reason) from None
        before.restore(level)
        return False
    m.store.keep(level)
    return True


def _endless(m: Machine, node: ast.For | ast.While, reason: NotAChain) -> Endless:
    found = Endless(
        f"no bound on the rounds of this while loop could be established, and {reason}",
        "let it go on with finitely many values, count the rounds, or write `for _ in range(N)`",
        node=node if node in m.of_noise or (isinstance(reason, TooManyStates) and not reason.grown) else None,
    )
    found.span = m.span(node)
    return found


def _while_as_chain(m: Machine, node: ast.While, growth: int = 0) -> None:
    unrolled = Unrolled(m)
    condition = m.attempt(lambda: truth(m, m.evaluate(node.test)))
    unrolled.end_where(m.builder.negation(condition))

    def test(_: Value, unrolled: Unrolled) -> None:
        condition = m.attempt(lambda: truth(m, m.evaluate(node.test)))
        if m.alive is not m.builder.false:
            unrolled.end_where(m.builder.negation(condition))

    parts: list[Action] = [lambda _, unrolled: unrolled.round(node.body)]
    parts += [] if isinstance(node.test, ast.Constant) else [test]
    cut = node in m.left_early
    rounds = Rounds(node, partial(_round_from, m), parts, growth=growth, cut=cut)
    noises = len(m.builder.noises)
    try:
        _as_chain(m, node, rounds, unrolled)
    except OfNoise:
        if len(m.builder.noises) == noises and not _compares_a_count(m, node):
            m.of_noise.add(node)
        raise


def _compares_a_count(m: Machine, node: ast.While) -> bool:
    """Whether a loop compares a number that all runs begin it with, and writes it: that may bound its rounds."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    written = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    compared = {id(name) for part in ast.walk(node) if isinstance(part, ast.Compare) for name in ast.walk(part)}
    counts = {name.id for name in names if id(name) in compared} & written
    return any(type(m.store.get((m.frame.key, name))) is int for name in counts)


def _for_as_chain(m: Machine, node: ast.For, items: Sequence[Value]) -> None:
    """Lower a loop through plain items by the law of how it ends, within little work."""
    stored = {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
    used = [part for part in ast.walk(m.frame.source.node) if _uses(part, stored)]
    plain = isinstance(node.target, ast.Name) and not used

    def round_with(item: Value, unrolled: Unrolled) -> None:
        if not plain:
            m.attempt(lambda: m.assign(node.target, item))
        unrolled.round(node.body)

    rounds = Rounds(node, partial(_round_from, m), [round_with], items, alike=plain, growth=LOOP_GROWTH)
    _as_chain(m, node, rounds, Unrolled(m))


def _uses(part: ast.AST, names: set[str]) -> bool:
    if isinstance(part, ast.Name):
        return part.id in names and isinstance(part.ctx, ast.Load)
    return isinstance(part, (ast.Global, ast.Nonlocal)) and not names.isdisjoint(part.names)


def _as_chain(m: Machine, node: ast.For | ast.While, rounds: Rounds, unrolled: Unrolled) -> None:
    """Lower a loop, whose test held, by the law of how it ends. Raises NotAChain."""
    ways, failing = endless.in_place_of(m, rounds)
    for impossible, failure in failing:
        m.oblige(impossible, failure)
    for kind, end in ways:
        m.alive = end.alive
        m.store.write(end.changes)
        if kind == "return":
            m.leave(m.frame.returns, m.frame.level, end.value)
            if len(m.stack) == 2:
                m.results.append((node, end.value))
        elif kind == "late":
            m.execute(end.value)
        elif kind == "break":
            m.leave(unrolled.breaks, unrolled.level)
        else:
            unrolled.end_where(m.builder.true)
    m.alive = m.builder.false
    unrolled.finish(node.orelse)


def _round_from(m: Machine, parts: Sequence[Action], item: Value, state: dict[Cell, Value]) -> Ends:
    """Lower parts of one round from a state, and leave everything as it was."""
    before, alive = Before(m, whole=False), m.alive
    m.alive = m.builder.true
    m.builder.rounds += 1
    unrolled = Unrolled(m)
    checks, returns, evidence = len(m.checks), len(m.frame.returns), len(m.evidence)
    raised = sum(len(guard.raised) for guard in m.guards)
    for cell, value in zip(state, remade(m, tuple(state.values())), strict=True):
        if value is not MISSING:
            m.store[cell] = value
        elif m.store.get(cell) is not MISSING:
            m.store.pop(cell)
    try:
        for part in parts:
            if m.alive is not m.builder.false:
                part(item, unrolled)
    except Split:
        before.restore(unrolled.level)
        m.alive = alive
        raise
    if sum(len(guard.raised) for guard in m.guards) > raised:
        raise NotAChain("a round raises what is caught outside the loop")
    found = Ends(observed=m.evidence[evidence:])
    if m.alive is not m.builder.false:
        found.ways.append(("on", End(m.alive, m.store.changes(unrolled.level))))
    for kind, ends in (("end", unrolled.normal), ("break", unrolled.breaks), ("return", m.frame.returns[returns:])):
        found.ways += [(kind, end) for end in ends]
    for check in m.checks[checks:]:
        failure = Failure(check.message, check.hint)
        failure.span = check.span
        found.failures.append((check.condition, failure))
    before.restore(unrolled.level)
    m.alive = alive
    return found


class Unrolled:
    """A loop: where it began, and the runs that have left it, by its end or by `break`."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.base, self.mark, self.level = m.alive, m.departures(), m.store.open()
        self.rounds, self.kept = 0, None  # what tells its rounds apart, where items are not visited
        self.normal: list[End] = []
        self.breaks: list[End] = []

    def end_where(self, condition: Expr) -> None:
        """Let the loop end for the runs on which a condition holds."""
        m = self.m
        if condition is not m.builder.false:
            leaving = m.conj(m.alive, condition)
            if leaving is not m.builder.false:
                self.normal.append(End(leaving, m.store.changes(self.level)))
            m.alive = m.conj(m.alive, m.builder.negation(condition))

    def round(self, body: Sequence[ast.stmt]) -> None:
        """Execute the body once; runs that continue rejoin the others at its end."""
        m = self.m
        base, mark = m.alive, m.departures()
        loop = Loop(self.breaks, self.level, [], m.store.open())
        m.frame.loops.append(loop)
        m.rounds.append((self.kept, self.rounds))
        try:
            m.block(body)
        finally:
            m.rounds.pop()
        m.frame.loops.pop()
        if loop.continues:
            m.meet(loop.inside, base, mark, loop.continues)
        m.store.keep(loop.inside)

    def finish(self, orelse: Sequence[ast.stmt]) -> None:
        """Execute the `else` for the runs that came to the end; those that broke off rejoin them after it."""
        m = self.m
        for place, after in ((self.normal, orelse), (self.breaks, ())):
            if place:
                m.meet(self.level, self.base, self.mark, place)
            m.block(after)
        m.store.keep(self.level)


@lowers(ast.Break)
def _break(m: Machine, node: ast.Break) -> None:
    loop = m.frame.loops[-1]
    m.leave(loop.breaks, loop.outside)


@lowers(ast.Continue)
def _continue(m: Machine, node: ast.Continue) -> None:
    loop = m.frame.loops[-1]
    m.leave(loop.continues, loop.inside)
