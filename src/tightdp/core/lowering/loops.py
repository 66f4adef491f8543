"""Loops, which are unrolled, and how runs leave them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from itertools import count

from tightdp.core.lowering import endless
from tightdp.core.lowering.alike import template
from tightdp.core.lowering.iteration import iterate, visit
from tightdp.core.lowering.loops_alike import loop_over_all
from tightdp.core.lowering.machine import End, Failure, Loop, Machine, is_milestone
from tightdp.core.lowering.progress import Progress
from tightdp.core.lowering.registry import lowers
from tightdp.core.lowering.rounds import NotAChain
from tightdp.core.lowering.scalars import truth
from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.values import Filtered, Generator, Value
from tightdp.core.nodes import Const, Expr

__all__ = ["Unrolled", "meet"]


@lowers(ast.For)
def _for(m: Machine, node: ast.For) -> None:
    iterable = m.evaluate(node.iter)
    alike = template(m, iterable)
    if alike is not None:
        loop_over_all(m, node, alike)
        return
    unrolled = Unrolled(m)
    if isinstance(iterable, (Generator, Filtered)):
        m.attempt(lambda: visit(m, iterable, partial(_round_with, m, node, unrolled)))
        unrolled.finish(node.orelse)
        return
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
        _round_with(m, node, unrolled, item)
        if m.alive is m.builder.false:
            break
    unrolled.finish(node.orelse)


def _round_with(m: Machine, node: ast.For, unrolled: Unrolled, item: Value) -> None:
    m.attempt(partial(m.assign, node.target, item))
    unrolled.round(node.body)


@lowers(ast.While)
def _while(m: Machine, node: ast.While) -> None:
    if node in m.endless:
        _ending_some_time(m, node)
        return
    before, noted = _Before(m), len(m.builder.operations)
    unrolled, progress = Unrolled(m), Progress(m)
    while m.alive is not m.builder.false:
        condition = m.attempt(lambda: truth(m, m.evaluate(node.test)))
        if m.alive is m.builder.false:
            break
        unrolled.end_where(m.builder.negation(condition))
        if m.alive is m.builder.false:
            break
        certain = m.alive is unrolled.base and isinstance(condition, Const)
        if not progress.another_round(certain):
            before.restore(unrolled.level)
            del m.builder.operations[noted:]
            m.endless.add(node)
            _ending_some_time(m, node)
            return
        unrolled.round(node.body)
    unrolled.finish(node.orelse)


class _Before:
    """What a loop finds, so that it can begin again."""

    def __init__(self, m: Machine) -> None:
        self._m, self._alive, self._mark = m, m.alive, m.departures()
        self._lists = [(each, len(each)) for each in (m.checks, m.evidence, m.results, m.frame.returns)]

    def restore(self, level: int) -> None:
        """Forget all that was done since, with what was written since a level was opened."""
        self._m.store.undo(level)
        self._m.alive = self._alive
        self._m.forget_departures(self._mark)
        for each, length in self._lists:
            del each[length:]


def _ending_some_time(m: Machine, node: ast.While) -> None:
    """Lower a loop without a bound on its rounds, by the law of how it ends."""
    unrolled = Unrolled(m)
    condition = m.attempt(lambda: truth(m, m.evaluate(node.test)))
    unrolled.end_where(m.builder.negation(condition))
    try:
        ways, failing = endless.in_place_of(m, node.body, lambda state: _round_from(m, node, state))
    except NotAChain as reason:
        raise m.unsupported(
            f"no bound on the rounds of this while loop could be established, and {reason}",
            "let it go on with finitely many values, count the rounds, or write `for _ in range(N)`",
            node,
        ) from None
    for impossible, failure in failing:
        m.oblige(impossible, failure)
    for kind, end in ways:
        m.alive = end.alive
        m.store.write(end.changes)
        if kind == "return":
            m.leave(m.frame.returns, m.frame.level, end.value)
            if len(m.stack) == 2:
                m.results.append((node, end.value))
        elif kind == "break":
            m.leave(unrolled.breaks, unrolled.level)
        else:
            unrolled.end_where(m.builder.true)
    m.alive = m.builder.false
    unrolled.finish(node.orelse)


def _round_from(m: Machine, node: ast.While, state: dict[Cell, Value]) -> endless.Ends:
    """Lower one round, and the test after it, from a state, and leave everything as it was."""
    before, alive = _Before(m), m.alive
    m.alive = m.builder.true
    unrolled = Unrolled(m)
    checks, returns, evidence = len(m.checks), len(m.frame.returns), len(m.evidence)
    for cell, value in zip(state, endless.remade(m, tuple(state.values())), strict=True):
        if value is not MISSING:
            m.store[cell] = value
        elif m.store.get(cell) is not MISSING:
            m.store.pop(cell)
    unrolled.round(node.body)
    if m.alive is not m.builder.false:
        condition = m.attempt(lambda: truth(m, m.evaluate(node.test)))
        if m.alive is not m.builder.false:
            unrolled.end_where(m.builder.negation(condition))
    found = endless.Ends()
    if m.alive is not m.builder.false:
        found.ways.append(("on", End(m.alive, m.store.changes(unrolled.level))))
    for kind, ends in (("end", unrolled.normal), ("break", unrolled.breaks), ("return", m.frame.returns[returns:])):
        found.ways += [(kind, end) for end in ends]
    for check in m.checks[checks:]:
        failure = Failure(check.message, check.hint)
        failure.span = check.span
        found.failures.append((check.condition, failure))
    conditioned = len(m.evidence) > evidence
    before.restore(unrolled.level)
    m.alive = alive
    if conditioned:
        raise NotAChain("it conditions the run")
    return found


class Unrolled:
    """A loop: where it began, and the runs that have left it, by its end or by `break`."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.base, self.mark, self.level = m.alive, m.departures(), m.store.open()
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
        m.block(body)
        m.frame.loops.pop()
        meet(m, loop.inside, base, mark, loop.continues)
        m.store.keep(loop.inside)

    def finish(self, orelse: Sequence[ast.stmt]) -> None:
        """Execute the `else` for the runs that came to the end; those that broke off rejoin them after it."""
        m = self.m
        meet(m, self.level, self.base, self.mark, self.normal)
        m.block(orelse)
        meet(m, self.level, self.base, self.mark, self.breaks)
        m.store.keep(self.level)


def meet(m: Machine, level: int, base: Expr, mark: int, others: list[End]) -> None:
    """Let runs that left earlier, after the mark and for the place `others`, rejoin the present ones."""
    if not others:
        return
    ends = list(others)
    if m.alive is not m.builder.false:
        ends.append(End(m.alive, m.store.changes(level)))
    m.join(level, base, ends, base if m.stayed(mark, others) else None)
    m.arrived(mark, others)


@lowers(ast.Break)
def _break(m: Machine, node: ast.Break) -> None:
    loop = m.frame.loops[-1]
    m.leave(loop.breaks, loop.outside)


@lowers(ast.Continue)
def _continue(m: Machine, node: ast.Continue) -> None:
    loop = m.frame.loops[-1]
    m.leave(loop.continues, loop.inside)
