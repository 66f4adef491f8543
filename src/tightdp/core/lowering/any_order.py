"""Loops whose rounds may come in any order, over sets and dictionaries, and over records that are treated alike.

What one round does, the others do not see. A round may add to numbers, take the larger of two, note that something is
so, add to sets, append to lists that nobody looks at, and look at and write what belongs to its own key of
dictionaries; all else that it writes is its own. Then the loop is lowered key by key, or for one record that stands for
all. In order it would be lowered for every order in which the keys may have come.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from tightdp.core.doubles import Double
from tightdp.core.lowering.alike import NotAlike, added, for_all
from tightdp.core.lowering.expressions import binary, look_up
from tightdp.core.lowering.iteration import listed_of, unordered
from tightdp.core.lowering.ledger import Ledger, Rows, content_with, rows_of
from tightdp.core.lowering.machine import Failure, Frame, Machine
from tightdp.core.lowering.store import MISSING, Listed
from tightdp.core.lowering.undoing import tentatively
from tightdp.core.lowering.values import (
    Alike,
    Array,
    Collection,
    Element,
    Entries,
    Host,
    Members,
    Object,
    Range,
    Reference,
    Sieve,
    Table,
    Union,
    Value,
    View,
    is_scalar,
    numeric,
)
from tightdp.language.liveness import Liveness, own_nodes, read, written

_ADD, _NOTE = "add", "note"


class _InOrder(Exception):
    """A round may see what others did."""


@dataclass
class _Effects:
    """What rounds write: names of their own, numbers (with how), sets, lists, and dictionaries at their own key."""

    key: str | None
    looked_at: frozenset[str]
    own: set[str] = field(default_factory=set)
    numbers: dict[str, str] = field(default_factory=dict)
    sets: set[str] = field(default_factory=set)
    lists: set[str] = field(default_factory=set)
    tables: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    at_key: set[str] = field(default_factory=set)
    targets: frozenset[str] = frozenset()
    leaves: bool = False

    @property
    def shared(self) -> set[str]:
        """The names of what all rounds write to."""
        return {*self.numbers, *self.sets, *self.lists, *self.tables}

    def body(self, statements: list[ast.stmt], known: set[str], inside: bool = False) -> set[str]:
        """Note what statements do; return the names of a round that are assigned behind them. Raises _InOrder."""
        for statement in statements:
            match statement:
                case ast.Pass():
                    pass
                case ast.Continue():
                    self.leaves = self.leaves or not inside
                    return known
                case ast.Break() if inside:
                    return known
                case ast.If(test=test, body=body, orelse=orelse):
                    self.looks_at(test, known)
                    known = self.body(body, set(known), inside) & self.body(orelse, set(known), inside)
                case ast.For(target=target, iter=items, body=body, orelse=[]):
                    self.looks_at(items, known)
                    self.body(body, known | self.assigned(target), True)
                case ast.While(test=test, body=body, orelse=[]):
                    self.looks_at(test, known)
                    self.body(body, set(known), True)
                case ast.Assign(targets=[target], value=value):
                    self.assigns(target, value, known)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self.assigns(target, value, known)
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub(), value=value):
                    self.looks_at(value, known)
                    if name not in known:
                        self.changes(name, _ADD)
                case ast.AugAssign(target=ast.Name(id=name), value=value) if name in known:
                    self.looks_at(value, known)
                case ast.AugAssign(target=ast.Subscript() as target, value=value):
                    self.looks_at(value, known)
                    self.writes(target)
                case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "add"), [value], [])) if name not in known:
                    self.looks_at(value, known)
                    self.sets.add(name)
                case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"), [value], [])) if name not in known:
                    self.looks_at(value, known)
                    self.lists.add(name)
                case ast.Delete(targets=[ast.Subscript() as target]) if not inside:
                    self.removed.add(self.table(target))
                case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "pop"), [key, *rest], [])) if (
                    ast.unparse(key) == self.key and not inside
                ):
                    for part in rest:
                        self.looks_at(part, known)
                    self.removed.add(name)
                case ast.Expr(value=value) | ast.Assert(test=value):
                    self.looks_at(value, known)
                case ast.Match(subject=value, cases=cases):
                    self.looks_at(value, known)
                    for case in cases:
                        self.case(case, known, inside)
                case _:
                    raise _InOrder
        self.tables |= self.removed
        return known

    def case(self, case: ast.match_case, known: set[str], inside: bool) -> None:
        """Note what a case of a `match` does."""
        parts = list(ast.walk(case.pattern))
        names = {part.name for part in parts if isinstance(part, (ast.MatchAs, ast.MatchStar)) and part.name}
        self.own |= names
        for part in (*(part.value for part in parts if isinstance(part, ast.MatchValue)), case.guard):
            if part is not None:
                self.looks_at(part, known | names)
        self.body(case.body, known | names, inside)

    def assigns(self, target: ast.expr, value: ast.expr, known: set[str]) -> None:
        """Note an assignment."""
        match target, value:
            case ast.Name(id=name), ast.BinOp(ast.Name(left), ast.Add(), other) if left == name and name not in known:
                self.looks_at(other, known)
                self.changes(name, _ADD)
            case ast.Name(id=name), ast.Call(ast.Name("min" | "max" as way), [ast.Name(first), other], []) if (
                first == name and name not in known
            ):
                self.looks_at(other, known)
                self.changes(name, way)
            case ast.Name(id=name), ast.Constant(value=constant) if name not in self.looked_at:
                self.changes(name, f"{_NOTE} {constant!r}")
            case ast.Subscript(), _:
                self.looks_at(value, known)
                self.writes(target)
            case _:
                self.looks_at(value, known)
                known |= self.assigned(target)

    def changes(self, name: str, way: str) -> None:
        """Note how rounds change a number; in one way only do they not see what others did."""
        if self.numbers.setdefault(name, way) != way:
            raise _InOrder

    def assigned(self, target: ast.expr) -> set[str]:
        """Note that rounds write names of their own, but for what the loop itself assigns."""
        names = {part.id for part in written(target)}
        if names & self.targets or any(isinstance(part, (ast.Subscript, ast.Attribute)) for part in ast.walk(target)):
            raise _InOrder
        self.own |= names
        return names

    def writes(self, target: ast.expr) -> None:
        """Note that a value belongs to the key of the round, where one that was removed before would come last."""
        self.tables.add(name := self.table(target))
        if name in self.removed:
            raise _InOrder

    def table(self, target: ast.expr) -> str:
        """Return the name of a dictionary of which the key of the round is written."""
        match target:
            case ast.Subscript(value=ast.Name(id=name), slice=key) if ast.unparse(key) == self.key:
                return name
        raise _InOrder

    def looks_at(self, node: ast.expr, known: set[str]) -> None:
        """Note what an expression looks at."""
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=key) if ast.unparse(key) == self.key:
                self.at_key.add(name)
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]) if (
                ast.unparse(key) == self.key
            ):
                self.at_key.add(name)
            case ast.Call(func=ast.Attribute(ast.Name(name), "get"), args=[key, *rest], keywords=[]) if (
                ast.unparse(key) == self.key
            ):
                self.at_key.add(name)
                for part in rest:
                    self.looks_at(part, known)
            case ast.NamedExpr() | ast.Lambda() | ast.Await() | ast.Yield() | ast.YieldFrom():
                raise _InOrder
            case ast.Name() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                if any(isinstance(part, (ast.NamedExpr, ast.Lambda)) for part in ast.walk(node)):
                    raise _InOrder
                self.read |= read(node) - known
            case _:
                for child in ast.iter_child_nodes(node):
                    self.looks_at(child, known)  # type: ignore[arg-type]


@lru_cache(4096)
def _effects(function: ast.FunctionDef, loop: ast.For, key: ast.expr | None) -> _Effects | None:
    """Return what the rounds of a loop write, None where they may see what others did, or what follows may see it."""
    found = _Effects(None if key is None else ast.unparse(key), read(*loop.body))
    try:
        known = found.assigned(loop.target)
        found.targets = frozenset(known)
        found.body(loop.body, known)
    except _InOrder:
        return None
    inner = (part for part in ast.walk(function) if isinstance(part, ast.FunctionDef))
    around, shared = Liveness(next(part for part in inner if loop in own_nodes(part))), found.shared
    shown = found.own & (found.read | around.after[loop] | around.inner)
    several = len(found.numbers) + len(found.sets) + len(found.lists) + len(found.tables)
    clash = shared & (found.own | found.read | around.inner) or len(shared) < several
    return None if shown or clash or found.at_key & (set(found.numbers) | found.sets) else found


def in_any_order(m: Machine, loop: ast.For, iterable: Value, go_through: Callable[[Value], None]) -> bool:
    """Lower a loop over a set or dictionary key by key if the order does not show; else leave everything as it was."""
    listed = listed_of(m, iterable)
    if m.single or loop.orelse or (listed is None and not isinstance(iterable, Collection)):
        return False
    found = _effects(m.frame.source.node, loop, _key_of(loop, listed))
    if found is None or found.lists or (places := _places(m, found)) is None:
        return False
    gone = [look_up(m, name, loop).key for name in found.removed]
    if any(places.count(key) > 1 for key in gone) or (isinstance(iterable, (Table, View)) and iterable.key in gone):
        return False  # two names of one dictionary, or one that Python refuses to go through
    before: dict[int, Rows] = {key: rows_of(m.builder, m.store[key]) for key in places}
    names = {(m.frame.key, name) for name in found.own | set(found.numbers)}
    written_to = {*names, *before, *(look_up(m, name, loop).key for name in found.sets)}
    done, _ = tentatively(m, lambda: go_through(unordered(m, iterable)), written_to.__contains__)
    if done and listed is not None:
        for key, rows in before.items():
            m.store[key] = _as_they_came(m, rows, m.store[key], listed.ledger)
    return done


def _key_of(loop: ast.For, listed: Listed | None) -> ast.expr | None:
    """Return what a round has as its key of a dictionary, if it has one."""
    part = "" if listed is None else listed.view.part
    if part == "items" and isinstance(loop.target, ast.Tuple) and len(loop.target.elts) == 2:
        return loop.target.elts[0]
    return loop.target if part == "keys" else None


def _places(m: Machine, found: _Effects) -> list[int] | None:
    """Return the dictionaries that are written; None where what the rounds look at may show what others wrote."""
    values: dict[str, Value] = {}
    for name in found.shared | found.read:
        try:
            values[name] = look_up(m, name, m.frame.source.node)
        except Failure:
            return None
        if name in found.shared and name not in m.frame.locals:
            return None
    for name, way in found.numbers.items():
        number = is_scalar(values[name]) and numeric(values[name])
        if not way.startswith(_NOTE) and (not number or m.floats or (way != _ADD and m.builder.mixed)):
            return None
    if not all(isinstance(values[name], Table) for name in found.tables):
        return None
    if not all(isinstance(values[name], Collection) for name in found.sets):
        return None
    places = [values[name].key for name in found.tables]
    shared = {*places, *(values[name].key for name in found.sets)}
    return None if any(_shows(m, values[name], shared) for name in found.read) else places


def _shows(m: Machine, value: Value, places: set[int]) -> bool:
    """Whether looking at a value may show what is in some dictionaries and sets."""
    if isinstance(value, Sieve):
        return any(_shows(m, item, places) for _, item in value.entries)
    if isinstance(value, (Reference, Table, View, Collection)):
        return value.key in places or _shows(m, m.store[value.key], places)
    if isinstance(value, (tuple, Union, Entries)):
        return any(_shows(m, item, places) for item in _inside(value))
    if isinstance(value, Object):
        return not hasattr(value.kind, "stands_for")  # a generator holds nothing
    return not (is_scalar(value) or isinstance(value, (Host, Range, Array, Element, Double, Members)))


def _inside(value: Value) -> Iterator[Value]:
    if isinstance(value, (Ledger, Listed)):
        yield from (row.value for row in (value.ledger if isinstance(value, Listed) else value).rows.values())
    elif isinstance(value, Union):
        yield from (item for _, item in value.alternatives)
    else:
        yield from value.values if isinstance(value, Entries) else value


def _as_they_came(m: Machine, before: Rows, after: Entries | Ledger, ledger: Ledger) -> Entries | Ledger:
    """Return a dictionary whose new keys come in the order of those of the dictionary that was gone through."""
    builder = m.builder
    first = builder.const(1 + max((row.rank.values[-1] for row in before.values()), default=-1))
    rows = {}
    for key, row in rows_of(builder, after).items():
        if key in ledger.rows and (key not in before or before[key].present is not builder.true):
            rank = builder.add(first, ledger.rows[key].rank)
            if key in before:
                rank = builder.either(before[key].present, before[key].rank, rank)
            row = replace(row, rank=rank)
        rows[key] = row
    return content_with(builder, rows)


def loop_over_all(m: Machine, loop: ast.For, alike: Alike) -> None:
    """Lower a loop whose rounds meet only in sums and lists that are not looked at inside. Raises NotAlike."""
    found = None if loop.orelse else _effects(m.frame.source.node, loop, None)
    if (
        found is None
        or found.leaves
        or found.sets
        or found.tables
        or any(way != _ADD for way in found.numbers.values())
    ):
        raise NotAlike("a round looks at what others left, or can end the loop")
    here = m.frame.key
    before = {name: m.store.get((here, name)) for name in (*found.numbers, *found.lists)}
    places = [before[name] for name in found.lists]
    if any(not isinstance(place, Reference) or m.store[place.key] != () for place in places) or MISSING in [
        before[name] for name in found.numbers
    ]:
        raise NotAlike("what a round adds to does not begin in this function")
    lengths: list[int] = []

    def once(items: tuple[Value, ...]) -> Value:
        enclosing = (here, *m.frame.enclosing)
        own = frozenset(found.own | found.shared)
        frame = Frame(m.store.new_key(), enclosing, own, m.frame.source, comprehension=True)
        m.enter(frame, {**dict.fromkeys(found.numbers, 0), **{name: m.new_list(()) for name in found.lists}})
        try:
            for item in items:
                m.assign(loop.target, item)
                m.block(loop.body)
            parts = [(m.store[frame.key, name],) for name in found.numbers]
            parts += [m.store[m.store[frame.key, name].key] for name in found.lists]
        finally:
            m.stack.remove(frame)
            m.store.drop(frame.key)
        if not all(isinstance(part, tuple) for part in parts):
            raise NotAlike("how many items a round appends depends on the run")
        lengths.extend(map(len, parts))
        return tuple(item for part in parts for item in part)

    made = for_all(m, alike, once).items
    at = 0
    for name, length in zip((*found.numbers, *found.lists), lengths, strict=True):
        part, at = made[at : at + length], at + length
        if name in found.numbers:
            m.bind(name, binary(m, "add", before[name], added(m, part[0], alike.times), loop))
        else:
            m.store[before[name].key] = Alike(part, alike.times)
