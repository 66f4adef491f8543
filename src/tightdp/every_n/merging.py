"""What the rest of a run depends on: its place in the program, and what names and cells hold that are read from there.

It is known where a statement begins, or an item of what is gone through, as all that is between the two is among the
parts of statements and expressions that are evaluated already.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from functools import lru_cache
from types import FunctionType
from typing import Any, TypeAlias

from tightdp.core.lowering.frames import Frame
from tightdp.core.lowering.registry import FUNCTIONS
from tightdp.core.lowering.store import MISSING, Store
from tightdp.core.lowering.values import (
    Closure,
    Collection,
    Entries,
    Every,
    Generator,
    Growing,
    Host,
    Members,
    Method,
    Object,
    Range,
    Reference,
    Table,
    Value,
    View,
    known,
)
from tightdp.every_n.paths import Symbol
from tightdp.every_n.runs import PASSED
from tightdp.every_n.seeing import Follower
from tightdp.exact.field import ExpNumber
from tightdp.language.liveness import liveness_of, read

Key: TypeAlias = Any
"""All that the rest of a run depends on."""


_STATEMENTS = (
    ast.For, ast.While, ast.If, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Assert,
)  # fmt: skip
Base: TypeAlias = tuple[int, int, int]
"""How many nodes, frames and loops are around a part of the program."""


class _Unknown(Exception):
    """It is not known what the rest of a run depends on."""


def key_of(m: Follower, base: Base, more: Iterable[Any]) -> Key | None:
    """Return what the rest of a run depends on, `more` of it known already; None where that is not known."""
    if m.guards or m.handled or m.alive is not m.builder.true:
        return None
    try:
        return _Snapshot(m, base).key(), *more
    except _Unknown:
        return None


class _Snapshot:
    def __init__(self, m: Follower, base: Base) -> None:
        self.m, self.base = m, base
        self.met: dict[int, int] = {}

    def key(self) -> Key:
        m, (depth, frames, loops) = self.m, self.base
        run = m.builder.run
        return (
            tuple(m.position[depth:]),
            tuple(self._names(frames, depth)),
            tuple(tuple(self._part(*part) for part in parts) for parts in m.evaluated[depth:]),
            tuple((self._held(kept), at) for kept, at in m.rounds[loops:]),
            tuple((at, self._held(v)) for at, v in m.adopted.items() if isinstance(v, (Reference, Table, Object))),
            (
                run.kind,
                frozenset(run.bounds.items()),
                tuple(run.asked),
                tuple(run.noises),
                (tuple(run.odds), tuple(run.rests.items())),
            ),
        )

    def _names(self, frames: int, depth: int) -> Iterator[Any]:
        """Yield what the names hold that are read from here on, frame by frame."""
        m = self.m
        inner = [frame for frame in m.stack[frames:] if not frame.comprehension]
        own = next(frame for frame in reversed(m.stack[:frames]) if not frame.comprehension)
        places = dict(self._statements(inner, own, depth))
        self.met.update((frame.key, at) for at, frame in enumerate(m.stack))
        for frame in m.stack[1:]:
            if frame.function is not None and _shares_names(frame.function):
                raise _Unknown
            at = places.get(frame.key)
            if at is None:
                names = {name for name, _ in m.store.names(frame.key)}
            else:
                assert isinstance(frame.function, ast.FunctionDef)
                found = liveness_of(frame.function)
                if at not in found.before:
                    raise _Unknown
                names = set(found.before[at] | found.inner)
            yield frame.source.node, tuple(sorted((name, self._name(frame.key, name)) for name in names))

    def _statements(self, inner: list[Frame], frame: Frame, depth: int) -> Iterator[tuple[int, ast.stmt]]:
        """Yield for every frame whose statements are executed which one is. Raises _Unknown where more is held."""
        m, inner = self.m, inner[::-1]
        nodes = m.position[depth:]
        for at, node in enumerate(nodes):
            if not isinstance(node, ast.stmt):
                continue
            ahead = at + 1 < len(nodes)
            if ahead and not isinstance(node, _STATEMENTS):
                raise _Unknown
            if ahead and isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Name):
                raise _Unknown  # the element that is changed was read
            if at and isinstance(nodes[at - 1], ast.expr):
                called = isinstance(nodes[at - 1], ast.Call) and inner
                if not called or not _calls(m.evaluated[depth + at - 1], inner[-1]):
                    raise _Unknown
                frame = inner.pop()
            yield frame.key, node
        if inner:
            raise _Unknown

    def _part(self, node: ast.AST, value: Value) -> Any:
        if value is PASSED and not isinstance(node, ast.For):
            raise _Unknown  # what the records gave is in the hands of what is being evaluated
        return node, self._held(value)

    def _name(self, frame: int, name: str) -> Any:
        return self._held(Store.get(self.m.store, (frame, name)))

    def _held(self, value: Value) -> Any:
        """Return a value as plain data, in which lists that are the same can be told."""
        value = known(value)
        if value is None or isinstance(value, (bool, int, str, Fraction, ExpNumber)):
            return type(value), value
        if isinstance(value, Symbol):
            return "symbol", value.tree
        if isinstance(value, tuple):
            return (type(value), *map(self._held, value))
        if isinstance(value, (Reference, Table, Collection, View)):
            return replace(value, key=0), self._cell(value.key)
        if isinstance(value, Object):
            return value.kind, self._frame(value.key)
        if isinstance(value, (Range, Entries, Members)):
            return type(value), *(self._held(getattr(value, each.name)) for each in fields(value))
        if isinstance(value, Growing):
            return "growing", value.tree, self._held(value.tail)
        if value is self.m.x:
            return "records"
        if value is MISSING or isinstance(value, (Host, Every)):
            return "object", _Same(value.object if isinstance(value, Host) else value)
        if isinstance(value, Method):
            return "method", value.name, self._held(value.base)
        if isinstance(value, Closure):
            frames = tuple(map(self._frame, value.frames))
            return "function", value.node, frames, self._held(tuple(value.defaults.items()))
        if isinstance(value, Generator):
            used = sorted(read(value.node))
            names = tuple(self._name(frame, name) for frame in value.enclosing for name in used)
            return "generator", value.node, value in self.m.spent, self._held(value.first), names
        raise _Unknown

    def _cell(self, key: int) -> Any:
        if key in self.met:
            return self.met[key]
        self.met[key] = at = len(self.met)
        return at, self._held(Store.get(self.m.store, key))

    def _frame(self, key: int) -> Any:
        """Return what the names of a function hold that has been called, or the attributes of an object."""
        if key in self.met:
            return self.met[key]
        self.met[key] = at = len(self.met)
        return at, tuple((name, self._held(value)) for name, value in sorted(self.m.store.names(key)))


class _Same:
    """Stands for an object that is the same or another one."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._value is self._value

    def __hash__(self) -> int:
        return id(self._value)


def _calls(parts: Sequence[tuple[ast.AST, Value]], frame: Frame) -> bool:
    """Whether the function whose arguments are these parts of a call is the one that is executed in a frame."""
    function = parts[0][1] if parts else None
    if isinstance(function, Closure):
        return function.node is frame.function
    if isinstance(function, Host) and isinstance(function.object, FunctionType) and function.object not in FUNCTIONS:
        return function.object.__name__ == getattr(frame.function, "name", None)
    return isinstance(function, Object)


@lru_cache(1024)
def _shares_names(function: ast.AST) -> bool:
    """Whether a function inside may change names of another one."""
    return any(isinstance(part, (ast.Nonlocal, ast.Global)) for part in ast.walk(function))
