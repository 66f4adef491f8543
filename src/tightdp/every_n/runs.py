"""Runs of a program that is read for every n, and what is left of one after the records.

The rest of a run is a random function of what it still reads, which is published in its place. By post-processing, a
bound on the ratios of all that is one on the ratios of what the program returns. So nothing needs to be followed there
that is not followed: no text made of a noisy sum, no loop over the messages.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn, TypeAlias

from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import (
    Closure,
    Collection,
    Entries,
    Generator,
    Growing,
    Host,
    Members,
    Range,
    Reference,
    Table,
    Value,
    is_scalar,
    known,
)
from tightdp.core.nodes import Expr
from tightdp.every_n.deciding import Manner, Run
from tightdp.every_n.drawn_loops import Loops
from tightdp.every_n.learned import Explored, Knowledge, Sent
from tightdp.every_n.paths import Affine
from tightdp.every_n.seeing import Follower
from tightdp.language.classes import reaches
from tightdp.language.primitives import observe


@dataclass(frozen=True)
class Ending:
    """One run of the whole program: its parts, the final state of each pass, and what it returns."""

    key: tuple[int, ...]
    before: Run
    passes: tuple[tuple[Explored, int], ...]
    after: Run
    returned: Sent
    asked: tuple[Sent, ...]
    initial: tuple[Any, ...]
    used: frozenset[int]


Known: TypeAlias = tuple[tuple[int, ...], int, tuple[int, int]]
"""A pass: what was drawn before the first one, how many there were before it, and where it stands."""


@dataclass
class Session:
    """What is known of the passes of a program."""

    manner: Manner
    by_position: bool
    loops: Loops
    backwards: bool | None = None
    """Whether the records are gone through from the last to the first; None before any pass."""
    learned: dict[Known, Knowledge] = field(default_factory=dict)
    explored: dict[tuple[int, ...], tuple[Explored, Any]] = field(default_factory=dict)
    versions: dict[Known, str] = field(default_factory=dict)
    """What was known of each pass when it was explored first."""
    kinds: list[tuple[Explored, dict[int, Any]]] = field(default_factory=list)
    """All different passes, and what was there before each: runs that meet went through the same ones."""

    def kind(self, explored: Explored, initial: dict[int, Any]) -> int:
        """Return the number of a pass among those that are different."""
        if (explored, initial) not in self.kinds:
            self.kinds.append((explored, initial))
        return self.kinds.index((explored, initial))


class NoEvidence(list[Expr]):
    """The evidence of a run, of which there is none: observe is refused."""

    def __init__(self, m: Follower) -> None:
        super().__init__()
        self._m = m

    def append(self, item: Expr) -> NoReturn:
        """Refuse it."""
        what = "no answer for every n: observe conditions the run, and the proofs hold without conditions only"
        raise self._m.unsupported(what, "leave out observe, or ask for one n")


def tokens_of(what: Any, inside: bool = False) -> Iterator[int]:
    """Yield the tokens that a visible value depends on."""
    if isinstance(what, Affine):
        yield from (at for (kind, at), _ in what.terms if kind == "told")
    elif isinstance(what, tuple):
        inside = inside or what[:1] == ("\0tree",)
        if inside and len(what) == 2 and type(what[1]) is int:
            yield what[1]
        for part in what:
            yield from tokens_of(part, inside)


REST = "\0rest"
"""Begins what is published in place of the rest of a run."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_REPEATING = (ast.For, ast.While, *_COMPREHENSIONS)

NEXT: Any = Host("an item of what is gone through")
"""Stands there for what was evaluated for the items before."""
PASSED: Any = Host("a pass over the records")
"""Stands among the parts of an expression where its evaluation went through the records."""


class Stopped(Exception):
    """A run is not followed any further: what its rest reads is published."""

    def __init__(self, sent: Sent) -> None:
        super().__init__()
        self.sent = sent


class _Unreadable(Exception):
    """What the rest of the run reads cannot be written down."""


def rest_of(m: Follower, function: Any) -> Sent | None:
    """Return all that the rest of a run reads; None where that is not known, or it may look at the records."""
    if not _between_rounds(m) or reaches(function, observe):
        return None
    try:
        return _Rest(m).sent()
    except _Unreadable:
        return None


def _between_rounds(m: Follower) -> bool:
    """Whether no loop has begun: then all that goes on is in names, and in parts of expressions."""
    if any(isinstance(node, _REPEATING) for node in m.position[:-1]) or len(m.stack) > 3:
        return False
    at, parts = m.position[-1], m.evaluated[-1]
    if any(value is PASSED or value is NEXT for each in m.evaluated for _, value in each):
        return False  # what the records gave, or items before, is in the hands of what is being evaluated
    if isinstance(at, ast.Call) and _has_run_code(m, [known(value) for _, value in parts[1:]]):
        return False
    if isinstance(at, _REPEATING):
        return not isinstance(at, ast.While) and len(parts) == 1
    if len(m.stack) == 3:
        return m.stack[2].comprehension and bool(parts) and _goes_through_messages(m, parts[-1][1])
    return len(m.stack) == 2


def _has_run_code(m: Follower, arguments: Sequence[Value]) -> bool:
    """Whether a call may have in its hands what code gave that is among its arguments."""
    begun = not any(_grows(m, each) for each in arguments)  # what grows is not gone through
    for value in arguments:
        if isinstance(value, Generator) and value in m.spent and not _goes_through_messages(m, value):
            return True
        own = isinstance(value, Host) and getattr(value.object, "__module__", None) != "builtins"
        if begun and (isinstance(value, Closure) or (own and callable(value.object))):
            return True
    return False


def _goes_through_messages(m: Follower, value: Value) -> bool:
    """Whether a generator goes through what grows, so that it cannot have begun."""
    return isinstance(value, Generator) and _grows(m, value.first)


def _grows(m: Follower, value: Value) -> bool:
    return isinstance(m.store[value.key] if isinstance(value, Reference) else value, Growing)


class _Rest:
    def __init__(self, m: Follower) -> None:
        self.m = m
        self.frame = m.stack[1].key
        self.published: list[Affine] = []
        self.met: dict[Any, int] = {}
        self.names: dict[str, Any] = {}

    def sent(self) -> Sent:
        m = self.m
        place = next(node for node in reversed(m.position) if isinstance(node, ast.stmt))
        done = {id(node) for parts in m.evaluated for node, _ in parts}
        partial = tuple(self._held(value) for parts in m.evaluated for _, value in parts)
        self._read(m.stack[1].source.node, done, place.lineno)
        at: Any = m.position[-1]
        where = type(at).__name__, at.lineno, at.col_offset
        return Sent((REST, where, partial, tuple(sorted(self.names.items()))), tuple(self.published))

    def _read(self, node: ast.AST, done: set[int], start: int) -> None:
        """Note what the names hold that a part of the program reads, as far as it comes in a line or later."""
        for name in _names(node, done, start):
            value = self.m.store.get((self.frame, name))
            if name not in self.names and value is not MISSING:
                self.names[name] = None
                self.names[name] = self._held(value)

    def _held(self, value: Value) -> Any:
        """Return a value as plain data, in which lists that are the same can be told."""
        value = known(value)
        if isinstance(value, (Reference, Table, Collection)):
            if value.key in self.met:
                return ("\0again", self.met[value.key])
            self.met[value.key] = len(self.met)
            return (f"\0{type(value).__name__}", self.met[value.key], self._held(self.m.store[value.key]))
        if isinstance(value, tuple):
            return ("\0tuple", *map(self._held, value))
        if isinstance(value, (Range, Entries, Members)):
            parts = (self._held(getattr(value, each.name)) for each in fields(value))
            return (f"\0{type(value).__name__}", *parts)
        if isinstance(value, bool):
            return ("\0bool", value)
        if isinstance(value, (Closure, Generator)):
            return self._code(value)
        if isinstance(value, Host):
            return ("\0host", id(value.object))
        if not is_scalar(value) and not isinstance(value, Growing):
            raise _Unreadable
        return self.m.visible(value, self.published, self.m.run)

    def _code(self, value: Closure | Generator) -> Any:
        """Return what code that is run later reads."""
        node: Any
        frames: tuple[int, ...]
        first: Any
        if isinstance(value, Closure):
            node, frames, first = value.node, value.frames, tuple(sorted(value.defaults.items()))
        elif _goes_through_messages(self.m, value):
            node, frames, first = value.node, value.enclosing, (value.first,)
        elif value in self.m.spent:
            return "\0spent"
        else:
            raise _Unreadable
        if not set(frames) <= {self.frame}:
            raise _Unreadable
        self._read(node, set(), 0)
        return ("\0code", node.lineno, node.col_offset, self._held(first))


def _names(node: ast.AST, done: set[int], start: int) -> Iterator[str]:
    """Yield the names that are read in a line or later, in parts that are not evaluated yet."""
    if id(node) in done or (getattr(node, "end_lineno", None) or start) < start:
        return
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
        yield node.id
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    own: set[str] = set()
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        yield from _names(node.generators[0].iter, done, start)
        targets = (part for each in node.generators for part in ast.walk(each.target))
        own = {part.id for part in targets if isinstance(part, ast.Name)}
    for child in ast.iter_child_nodes(node):
        yield from (name for name in _names(child, done, start) if name not in own)
