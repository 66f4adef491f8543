"""Loops, which are unrolled, and how runs leave them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from itertools import count

from tightdp.core.lowering.alike import template
from tightdp.core.lowering.iteration import iterate, visit
from tightdp.core.lowering.loops_alike import loop_over_all
from tightdp.core.lowering.machine import End, Loop, Machine, is_milestone
from tightdp.core.lowering.progress import Progress
from tightdp.core.lowering.registry import lowers
from tightdp.core.lowering.scalars import truth
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
            raise m.unsupported(
                "no bound on the rounds of this while loop could be established",
                "count the rounds and stop at a fixed number, or write `for _ in range(N)`",
                node,
            )
        unrolled.round(node.body)
    unrolled.finish(node.orelse)


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
