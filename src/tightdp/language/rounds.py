"""Loops told to the source of randomness: one that knows how a loop ends need not go through all its rounds.

A `while` loop of a recompiled function says at the beginning of every round, once its condition holds, what its names
are, and takes back what they are to be. A source without `round` hears nothing. A mechanism recompiled for runs that
meet tells its source with what it goes on, where it has called others and at the beginning of rounds: one that has met
that before knows how it ends.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import wraps
from types import FrameType
from typing import Any, NamedTuple, Protocol, TypeAlias

from tightdp.language import ranges
from tightdp.language.accumulated import accumulated, calls_others, otherwise_bound
from tightdp.language.liveness import Liveness, bound_by, names_in, own_nodes, placed, read, with_bodies
from tightdp.language.primitives import current_source

ROUND, LEFT, RETURNED = "__tightdp_round__", "__tightdp_left__", "__tightdp_returned__"
RETURNS, MET, ITEMS = "__tightdp_returns__", "__tightdp_met__", "__tightdp_iter__"
CALLED = "__tightdp_called__"
_TOLD = "__tightdp_told__"
FunctionNode: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"


class Missing:
    """What a name is that has no value, or whose value nobody reads but to compute such values."""

    def __repr__(self) -> str:
        return "a name without a value"

    def _again(self, other: object) -> Missing:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _again


MISSING = Missing()


@dataclass(frozen=True)
class Loop:
    """A loop that is being run: its place, the frame it runs in, the names that frame has, those read again.

    Names that are `kept` do not occur in it: they are after it what they were before.
    """

    key: str
    frame: FrameType
    names: tuple[str, ...]
    live: frozenset[str]
    kept: frozenset[str] = frozenset()

    def values(self) -> dict[str, Any]:
        """Return what the names are."""
        return values_in(self.frame, self.names)

    def held(self, names: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(value if name in self.kept else names.get(name, MISSING) for name, value in self.values().items())


def values_in(frame: FrameType, names: Sequence[str]) -> dict[str, Any]:
    held = frame.f_locals
    return {name: held.get(name, MISSING) for name in names}


class Told(NamedTuple):
    """What the names are to be, in order; with `way` 1 the loop has ended, with 2 its function returns `value`.

    With 3 it returns what its return statement number `value` says.
    """

    names: tuple[Any, ...]
    way: int = 0
    value: Any = None


class Follower(Protocol):
    """A source of randomness that follows loops."""

    def round(self, loop: Loop) -> Told | None:
        """Hear that a round begins; None lets it."""
        ...

    def left(self, key: str, frame: FrameType, names: Sequence[str]) -> None:
        """Hear that a loop has ended."""
        ...

    def returned(self, keys: Sequence[str], frame: FrameType, value: Any) -> None:
        """Hear that these loops, one around the other, end as their function returns."""
        ...

    def returns(self, keys: Sequence[str], frame: FrameType, number: int, names: Sequence[str]) -> None:
        """Hear that they are to end by a return statement, which reads these names."""
        ...


def begin(key: str, names: tuple[str, ...], live: frozenset[str], kept: frozenset[str]) -> Told | None:
    """Tell the source that a round begins."""
    source = current_source()
    if not hasattr(source, "round"):
        return None
    told: Told | None = source.round(Loop(key, sys._getframe(1), names, live, kept))
    return told


def left(key: str, names: tuple[str, ...]) -> None:
    """Tell the source that a loop has ended."""
    source = current_source()
    if hasattr(source, "left"):
        source.left(key, sys._getframe(1), names)


def returned(keys: tuple[str, ...], value: Any) -> Any:
    """Tell the source that a function returns from within loops."""
    source = current_source()
    if hasattr(source, "returned"):
        source.returned(keys, sys._getframe(1), value)
    return value


def returns(keys: tuple[str, ...], number: int, names: tuple[str, ...]) -> None:
    """Tell the source that a function is about to return what a statement within loops says."""
    source = current_source()
    if hasattr(source, "returns"):
        source.returns(keys, sys._getframe(1), number, names)


def called(function: Any) -> Any:
    """Return a function that tells the source that it is called, and what it returns."""

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        source: Any = current_source()
        if not hasattr(source, "met"):
            return function(*arguments, **keywords)
        source.calls.begin(sys._getframe(1), (arguments, tuple(keywords.items())), source.at)
        try:
            value = function(*arguments, **keywords)
            source.met(None, value)
            return value
        finally:
            source.calls.end()

    return call


def waiting(frame: FrameType | None) -> dict[Any, Any]:
    """Return what the names hold of functions that wait, up to the last one that told that it was called."""
    held: dict[Any, Any] = {}
    while frame is not None and frame.f_globals is not globals():
        own = {(len(held), name): value for name, value in frame.f_locals.items() if name.isidentifier()}
        held |= {name: value for name, value in own.items() if not name[1].startswith("__tightdp")}
        frame = frame.f_back
    return held


def met(key: str, names: tuple[str, ...], live: frozenset[str], items: tuple[str, ...]) -> None:
    """Tell the source with which names a function goes on, and with which iterators of the loops around."""
    source: Any = current_source()
    if hasattr(source, "met"):
        source.met(Loop(key, sys._getframe(1), names, live), items)


MOST_ROUNDS = 20_000
"""Runs with more rounds of loops are taken for endless."""
NAMES = {
    ROUND: begin,
    LEFT: left,
    RETURNED: returned,
    RETURNS: returns,
    MET: met,
    ITEMS: iter,
    CALLED: called,
    ranges.ENDS: ranges.ends,
}


def telling(node: FunctionNode, file: str, meeting: Mapping[str, Any] | None = None) -> FunctionNode:
    """Make the loops of a function that may have no bound tell of their rounds, but for those in generators.

    These are `while` loops without `else`, and `for` loops over ranges with noisy ends.

    A function for runs that are `meeting` tells with what it goes on, too, as those inside of it do. These tell that
    they are called. Then what stands around it is given by name.
    """
    node = ranges.Counting().visit(node)
    stored = (part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    own = {*otherwise_bound(node), *stored}
    for inner in ast.walk(node):
        around = meeting if inner is node or meeting is None else {**meeting, **dict.fromkeys(own)}
        if isinstance(inner, ast.FunctionDef) and (
            around is not None or any(isinstance(p, ast.While) for p in own_nodes(inner))
        ):
            _Function(inner, file, around)
            if around is not None and inner is not node:
                inner.decorator_list.append(placed(ast.Name(CALLED, ast.Load()), inner))
    return node


def _test_within(loop: ast.While) -> None:
    """Make the test of a loop, which assigns names, a part of its rounds: what it draws goes on to none of them."""
    if not loop.orelse:
        test = ast.If(loop.test, [ast.Pass()], [ast.Break()])
        loop.body, loop.test = [placed(test, loop.test), *loop.body], placed(ast.Constant(True), loop.test)


class _Function:
    """One function: which names are read after the beginning of each of its loops, and the loops rewritten."""

    def __init__(self, node: ast.FunctionDef, file: str, around: Mapping[str, Any] | None) -> None:
        own = list(own_nodes(node))
        for part in own:
            if isinstance(part, ast.While) and any(isinstance(each, ast.NamedExpr) for each in ast.walk(part.test)):
                _test_within(part)
        if any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Try)) for part in own):
            return
        inner = [part for part in own if isinstance(part, (ast.FunctionDef, ast.Lambda))]
        if any(isinstance(part, (ast.Nonlocal, ast.Global)) for each in inner for part in ast.walk(each)):
            return
        if around is not None:
            accumulated(node, around)
            own = list(own_nodes(node))
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        comprehended = {
            name.id
            for part in own
            if isinstance(part, ast.comprehension)
            for name in ast.walk(part.target)
            if isinstance(name, ast.Name)
        }
        stored = {part.id for part in own if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        self._names = tuple(sorted({each.arg for each in arguments if each} | stored - comprehended))
        self._liveness = Liveness(node)
        self._inner = self._liveness.inner
        self._file, self._meets = file, around is not None
        managed = (part for each in own if isinstance(each, ast.With) for part in ast.walk(each))
        self._managed = {part for part in managed if isinstance(part, ast.Return)}
        self._bound_otherwise = frozenset(name for part in own for name in bound_by(part))
        self._returned: list[tuple[tuple[str, ...], ast.expr]] = []
        self._items: tuple[str, ...] = ()
        self._met = 0
        node.body = self._written(node.body, ())

    def _written(self, body: Sequence[ast.stmt], around: tuple[str, ...], again: bool = False) -> list[ast.stmt]:
        """Return the statements of a body written anew; what stands before it may have called others, if `again`."""
        found: list[ast.stmt] = []
        for statement in body:
            live = self._liveness.before.get(statement)
            if self._meets and again and live is not None:
                held = (live | self._inner) & frozenset(self._names)
                self._met += 1
                told = ast.Expr(
                    _call(MET, (f"{self._file}:{statement.lineno}:{self._met}", self._names, held, self._items))
                )
                found.append(placed(told, statement))
            again = any(calls_others(part) for part in ast.walk(statement))
            found += self._statement(statement, around)
        return found

    def _statement(self, node: ast.stmt, around: tuple[str, ...]) -> list[ast.stmt]:
        if isinstance(node, ast.While) and not node.orelse:
            key, names = f"{self._file}:{node.lineno}:{node.col_offset}", frozenset(self._names)
            within = names & {*self._inner, *names_in(node)}
            body = self._written(node.body, (*around, key), again=True)
            node.body = [*self._told(node, key, names - within, around), *body]
            read_later = within & (self._liveness.after[node] | self._inner)
            call = _call(LEFT, (key, tuple(sorted(read_later))))
            return [node, *(placed(each, node) for each in [ast.Expr(call)])]
        if isinstance(node, ast.Return) and around:
            return self._leaving(node, around)
        if isinstance(node, ast.For) and self._meets:
            return [self._each(node, around)]
        return [with_bodies(node, lambda body: self._written(body, around))]

    def _each(self, node: ast.For, around: tuple[str, ...]) -> ast.stmt:
        """Return a loop over items, whose iterator has a name."""
        before = self._items
        name = f"__tightdp_items_{len(before)}__"
        items = ast.Call(ast.Name(ITEMS, ast.Load()), [node.iter], [])
        node.iter = ast.copy_location(ast.NamedExpr(ast.Name(name, ast.Store()), items), node.iter)
        self._items = *before, name
        node.body = self._written(node.body, around, again=True)
        self._items = before
        node.orelse = self._written(node.orelse, around)
        return node

    def _leaving(self, node: ast.Return, around: tuple[str, ...]) -> list[ast.stmt]:
        """Return a return statement that tells loops that it ends them.

        What it computes is left to the end of the loop, where the law of its counters is known.
        """
        value = node.value or ast.Constant(None)
        node.value = _call(RETURNED, (around,), value)
        known = (read(value) | self._inner).isdisjoint(self._bound_otherwise)
        if node in self._managed or isinstance(value, (ast.Name, ast.Constant)) or not known:
            return [node]
        self._returned.append((around, deepcopy(value)))
        return [placed(self._returns(len(self._returned) - 1, around), node), node]

    def _returns(self, number: int, around: tuple[str, ...]) -> ast.stmt:
        wanted = (read(self._returned[number][1]) | self._inner) & set(self._names)
        return ast.Expr(_call(RETURNS, (around, number, tuple(sorted(wanted)))))

    def _told(self, node: ast.While, key: str, kept: frozenset[str], around: tuple[str, ...]) -> list[ast.stmt]:
        told = ast.Name(_TOLD, ast.Load())

        def part(name: str) -> ast.expr:
            return ast.Attribute(told, name, ast.Load())

        live = (self._liveness.heads[node] | self._inner) & frozenset(self._names) - kept
        asked = ast.Assign([ast.Name(_TOLD, ast.Store())], _call(ROUND, (key, self._names, live, kept)))
        names: list[ast.expr] = [ast.Name(name, ast.Store()) for name in self._names]
        back: ast.expr = part("value")
        back = _call(RETURNED, (around,), back) if around else back
        leave = ast.If(ast.Compare(part("way"), [ast.Eq()], [ast.Constant(2)]), [ast.Return(back)], [])
        end = ast.If(ast.Compare(part("way"), [ast.Eq()], [ast.Constant(1)]), [ast.Break()], [])
        taken: list[ast.stmt] = (
            [leave, ast.Assign([ast.Tuple(names, ast.Store())], part("names"))] if names else [leave]
        )
        for number, (keys, value) in enumerate(self._returned):
            if key in keys:
                parts = ast.Tuple([part("way"), part("value")], ast.Load())
                wanted = ast.Tuple([ast.Constant(3), ast.Constant(number)], ast.Load())
                here = ast.Compare(parts, [ast.Eq()], [wanted])
                again: list[ast.stmt] = [ast.Return(deepcopy(value))]
                if around:
                    last = ast.Return(_call(RETURNED, (around,), deepcopy(value)))
                    again = [self._returns(number, around), last]
                taken.append(ast.If(here, again, []))
        heard = ast.If(ast.Compare(told, [ast.IsNot()], [ast.Constant(None)]), [*taken, end], [])
        return [placed(asked, node.test), placed(heard, node.test)]


def _call(name: str, constants: Sequence[Any], *values: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [*map(ast.Constant, constants), *values], [])
