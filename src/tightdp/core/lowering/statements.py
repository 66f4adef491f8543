"""Statements without loops: assignment, branching, assertions, and `match`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tightdp.core.lowering.dictionaries import new_table
from tightdp.core.lowering.expressions import BINARY, binary, bounds_of, look_up, named
from tightdp.core.lowering.functions import call_python
from tightdp.core.lowering.iteration import collected, items_of
from tightdp.core.lowering.machine import Dead, Failure, Machine
from tightdp.core.lowering.objects import assign
from tightdp.core.lowering.registry import FUNCTIONS, METHODS, OPERANDS, assigns, lowers
from tightdp.core.lowering.scalars import COUNTS, truth
from tightdp.core.lowering.sequences import content, content_of, element, equal, replace_slice, store
from tightdp.core.lowering.values import (
    UNBOUND,
    Array,
    Collection,
    Cut,
    Entries,
    Host,
    Object,
    Range,
    Reference,
    Table,
    Union,
    Value,
    alternatives,
    is_scalar,
    name_of,
)
from tightdp.core.nodes import Expr
from tightdp.exact.lazily import lazily

of_library: Any = lazily("tightdp.language.library_functions")

# assignment


@lowers(ast.Assign)
def _assign(m: Machine, node: ast.Assign) -> None:
    value = m.evaluate(node.value)
    for target in node.targets:
        m.assign(target, value)


@lowers(ast.AnnAssign)
def _annassign(m: Machine, node: ast.AnnAssign) -> None:
    if node.value is not None:
        m.assign(node.target, m.evaluate(node.value))


@lowers(ast.NamedExpr)
def _namedexpr(m: Machine, node: ast.NamedExpr) -> Value:
    value = m.evaluate(node.value)
    m.assign(node.target, value)
    return value


@lowers(ast.AugAssign)
def _augassign(m: Machine, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        m.assign(target, _augmented(m, node, look_up(m, target.id, target)))
        return
    if isinstance(target, ast.Attribute):
        owner = m.evaluate(target.value)
        changed = m.each(owner, lambda one: _augmented(m, node, named(m, one, target.attr)))
        m.each(owner, lambda one: assign(m, one, target.attr, changed, target))
        return
    if not isinstance(target, ast.Subscript):
        raise m.unsupported("this target of an assignment is not in the language", "assign to a name", node)
    base, index = m.evaluate(target.value), m.evaluate(target.slice)
    sliced = isinstance(index, Cut) and any(not isinstance(one, Array) for _, one in alternatives(base, m.builder.true))
    if sliced:
        what = "a target of an assignment that is a slice of a list is not in the language"
        raise m.unsupported(what, "assign to the slice, as in a[1:3] = ...", node)
    present: dict[int, Value] = {}

    def read(one: Value) -> None:
        present[id(one)] = m.each(index, lambda at: element(m, one, at))

    m.each(base, read)
    increment = m.evaluate(node.value)

    def write(one: Value) -> None:
        if id(one) not in present:  # no run is left that has read it
            raise Dead
        store(m, one, index, _changed(m, node, present[id(one)], increment))

    m.each(base, write)


def _augmented(m: Machine, node: ast.AugAssign, present: Value) -> Value:
    return _changed(m, node, present, m.evaluate(node.value))


def _changed(m: Machine, node: ast.AugAssign, present: Value, increment: Value) -> Value:
    """Return what an augmented assignment makes of a value, which may be changed itself."""

    def changed(value: Value) -> Value:
        if isinstance(value, Reference) and isinstance(node.op, ast.Add):
            METHODS[type(value), "extend"](m, value, increment)
            return value
        if isinstance(value, Table) and (value.missing is COUNTS or isinstance(node.op, ast.BitOr)):
            into = counted if value.missing is COUNTS else partial(METHODS[Table, "update"], m)
            m.each(increment, partial(into, value))
            return value
        name = BINARY.get(type(node.op))
        if isinstance(value, Object):
            return m.each(increment, lambda one: OPERANDS[Object](m, f"in place {name}", value, one))
        result = binary(m, name, value, increment, node)
        if isinstance(value, Array):
            METHODS[Array, "in place"](m, value, result)
            return value
        return m.each(result, lambda one: kept(value, one))

    def counted(value: Table, one: Value) -> None:
        if isinstance(one, Table) and not isinstance(node.op, ast.BitAnd):  # any dictionary is one of counts here
            one = Table(one.key, COUNTS)
        m.store[value.key] = m.store[binary(m, BINARY.get(type(node.op)), value, one, node).key]

    def kept(value: Value, result: Value) -> Value:
        if isinstance(value, Reference) and isinstance(result, Reference):
            content(m, value)
            m.store[value.key] = items_of(m, result)
            return value
        if isinstance(value, Collection) and not value.frozen and isinstance(result, Collection):
            m.store[value.key] = m.store[result.key]
            return value
        return result

    return m.each(present, changed)


@lowers(ast.Delete)
def _delete(m: Machine, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            look_up(m, target.id, target)
            m.bind(target.id, UNBOUND)
            continue
        if not isinstance(target, ast.Subscript):
            raise m.unsupported("del of this is not in the language", "delete elements, as in del d[key]", target)
        base = m.evaluate(target.value)
        if isinstance(target.slice, ast.Slice):
            bounds = bounds_of(m, target.slice)
            m.each(base, partial(replace_slice, m, bounds=bounds, more=None))
        else:
            m.each(base, partial(_without, m, m.evaluate(target.slice)))


def _without(m: Machine, index: Value, value: Value) -> None:
    if isinstance(value, Object):
        METHODS[Object, "__delitem__"](m, value, index)
        return
    if not isinstance(value, (Reference, Table)):
        raise Failure(f"TypeError: a {name_of(value)} has no elements to delete", "use a list or a dictionary")
    absent = (None,) if isinstance(value, Table) and value.missing is COUNTS else ()  # a Counter misses no key
    METHODS[Reference if isinstance(value, Reference) else type(value), "pop"](m, value, index, *absent)


@assigns(ast.Name)
def _to_name(m: Machine, target: ast.Name, value: Value) -> None:
    m.bind(target.id, value)


@assigns(ast.Subscript)
def _to_element(m: Machine, target: ast.Subscript, value: Value) -> None:
    if isinstance(target.slice, ast.Slice):
        base, bounds = m.evaluate(target.value), bounds_of(m, target.slice)
        m.each(base, partial(_to_slice, m, bounds, value))
        return
    store(m, m.evaluate(target.value), m.evaluate(target.slice), value)


def _to_slice(m: Machine, bounds: tuple[Value, ...], value: Value, base: Value) -> None:
    if isinstance(base, Array):
        store(m, base, Cut(bounds), value)
    else:
        replace_slice(m, base, bounds, collected(m, value))


@assigns(ast.Tuple, ast.List)
def _to_pattern(m: Machine, target: ast.Tuple | ast.List, value: Value) -> None:
    targets = target.elts
    starred = [at for at, inner in enumerate(targets) if isinstance(inner, ast.Starred)]

    def spread(items: tuple[Value, ...]) -> Value:
        missing = len(items) - len(targets)
        if (missing != 0 and not starred) or missing < -1:
            raise Failure(
                f"ValueError: {len(items)} values to unpack into {len(targets)} targets",
                "give as many targets as values",
            )
        if not starred:
            return items
        at = starred[0]
        middle = m.new_list(items[at : at + missing + 1])
        return (*items[:at], middle, *items[at + missing + 1 :])

    def begun(one: Value) -> Value:  # of an iterator, no more is taken than says that it is too many
        taken = isinstance(one, Object) and hasattr(one.kind, "__next__") and not starred
        return call_python(m, of_library.islice, (one, len(targets) + 1), {}) if taken else one

    parts = m.each(collected(m, m.each(value, begun)), spread)
    if isinstance(parts, Union):
        raise m.unsupported("unpacking values of different shapes", "branch on the shape first")
    for inner, part in zip(targets, parts, strict=True):
        m.assign(inner.value if isinstance(inner, ast.Starred) else inner, part)


# branching


@lowers(ast.Expr)
def _expr(m: Machine, node: ast.Expr) -> None:
    if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
        m.evaluate(node.value)


@lowers(ast.Pass)
def _pass(m: Machine, node: ast.Pass) -> None:
    """Nothing to do."""


@lowers(ast.If)
def _if(m: Machine, node: ast.If) -> None:
    m.branch(truth(m, m.evaluate(node.test)), lambda: m.block(node.body), lambda: m.block(node.orelse))


@lowers(ast.Assert)
def _assert(m: Machine, node: ast.Assert) -> None:
    condition = truth(m, m.evaluate(node.test))
    text = ast.unparse(node.test)
    if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
        text = node.msg.value
    elif isinstance(node.msg, ast.JoinedStr):
        text = ast.unparse(node.msg).removeprefix("f")[1:-1]

    def fails() -> Value:
        raise Failure(f"AssertionError: {text}", "make the assertion hold on every run, or drop it")

    m.branch(condition, lambda: None, fails)


Captures = dict[str, Value]


@lowers(ast.Match)
def _match(m: Machine, node: ast.Match) -> None:
    m.each(m.evaluate(node.subject), lambda value: _first(m, value, node.cases))


def _first(m: Machine, value: Value, cases: Sequence[ast.match_case]) -> None:
    if not cases:
        return
    case, rest = cases[0], cases[1:]
    captures: Captures = {}
    condition = _matches(m, case.pattern, value, captures)

    def chosen() -> None:
        for name, captured in captures.items():
            m.bind(name, captured)
        if case.guard is None:
            m.block(case.body)
        else:
            holds = truth(m, m.evaluate(case.guard))
            m.branch(holds, lambda: m.block(case.body), lambda: _first(m, value, rest))

    m.branch(condition, chosen, lambda: _first(m, value, rest))


def _matches(m: Machine, pattern: ast.pattern, value: Value, captures: Captures) -> Expr:
    """Return the condition under which a value matches, and note what names it would capture."""
    match pattern:
        case ast.MatchValue():
            return truth(m, equal(m, value, m.evaluate(pattern.value)))
        case ast.MatchSingleton(value=wanted):
            if wanted is None:
                return m.expr(equal(m, value, None))
            return _is_truth(m, pattern, value, wanted)
        case ast.MatchAs():
            condition = m.builder.true if pattern.pattern is None else _matches(m, pattern.pattern, value, captures)
            if pattern.name is not None:
                captures[pattern.name] = value
            return condition
        case ast.MatchOr():
            return _any_of(m, pattern, value, captures)
        case ast.MatchSequence():
            return _sequence(m, pattern, value, captures)
        case ast.MatchMapping():
            return _mapping(m, pattern, value, captures)
        case ast.MatchClass():
            return _of_class(m, pattern, value, captures)
    raise m.unsupported(
        "this pattern is not in the language",
        "match constants, sequences, dictionaries, classes, names and alternatives of them",
        pattern,
    )


def _of_class(m: Machine, pattern: ast.MatchClass, value: Value, captures: Captures) -> Expr:
    """Return whether a value is of a class, and its attributes match; of Python's own classes, the value itself."""
    kind = m.evaluate(pattern.cls)
    if kind.object is float:
        raise m.unsupported("a pattern for a float is not in the language", "use isinstance", pattern)
    condition = m.expr(FUNCTIONS[isinstance](m, value, kind))
    if condition is m.builder.false:
        return condition
    by_place = getattr(kind.object, "__match_args__", None)
    if len(pattern.patterns) > (1 if by_place is None else len(by_place)):
        what = f"{kind.object.__name__} has no attributes for so many places"
        raise m.unsupported(what, "name them, as in C(value=v)", pattern)
    names = (*(by_place or ())[: len(pattern.patterns)], *pattern.kwd_attrs)
    values = (value,) if by_place is None and pattern.patterns else ()
    values += tuple(named(m, value, name) for name in names)
    parts = zip((*pattern.patterns, *pattern.kwd_patterns), values, strict=True)
    return m.conj(condition, *(_matches(m, part, each, captures) for part, each in parts))


def _mapping(m: Machine, pattern: ast.MatchMapping, value: Value, captures: Captures) -> Expr:
    """Return whether a dictionary has some keys, and what belongs to them matches."""
    if isinstance(value, Object) and issubclass(value.kind, Mapping):
        raise m.unsupported(
            f"a pattern for a {name_of(value)} is not in the language", "match dict(...) of it", pattern
        )
    if not isinstance(value, (Table, Union)) and not (isinstance(value, Host) and isinstance(value.object, Mapping)):
        return m.builder.false
    entries = None if isinstance(value, Union) else content_of(m, value)
    if not isinstance(entries, Entries):
        what = "a pattern for a dictionary whose keys depend on the run is not in the language"
        raise m.unsupported(what, "ask for its keys with in", pattern)
    left, conditions = entries.table, []
    for key, part in zip(map(m.evaluate, pattern.keys), pattern.patterns, strict=True):
        if key not in left:
            return m.builder.false
        conditions.append(_matches(m, part, left.pop(key), captures))
    if pattern.rest is not None:
        captures[pattern.rest] = new_table(m, Entries.of(left))
    return m.conj(*conditions)


def _is_truth(m: Machine, pattern: ast.pattern, value: Value, wanted: bool) -> Expr:
    values = value.values if isinstance(value, Expr) else (value,)
    found = [item for item in values if is_scalar(item) and item == wanted]
    if found and m.builder.mixed and not (isinstance(value, Expr) and value.boolean):
        raise m.unsupported(
            "`case True` for what may be a truth value or a number is not in the language", "match 1 or 0", pattern
        )
    return m.expr(equal(m, value, wanted)) if found and type(found[0]) is bool else m.builder.false


def _any_of(m: Machine, pattern: ast.MatchOr, value: Value, captures: Captures) -> Expr:
    found: list[tuple[Expr, Captures]] = []
    for option in pattern.patterns:
        names: Captures = {}
        found.append((_matches(m, option, value, names), names))
    for name, captured in found[-1][1].items():
        for condition, names in reversed(found[:-1]):
            captured = m.merge(condition, names[name], captured)
        captures[name] = captured
    return m.builder.disjunction([condition for condition, _ in found])


def _sequence(m: Machine, pattern: ast.MatchSequence, value: Value, captures: Captures) -> Expr:
    if isinstance(value, Union):
        raise m.unsupported(
            "a sequence pattern inside one, for parts of different shapes, is not in the language",
            "match the part in a match of its own",
            pattern,
        )
    if is_scalar(value) or not isinstance(value, (tuple, Reference, Range)):
        return m.builder.false
    items = items_of(m, value)
    if isinstance(items, Union):
        raise m.unsupported(
            "a sequence pattern for a list whose length depends on the run is not in the language",
            "match tuple(...) of it",
            pattern,
        )
    stars = [at for at, part in enumerate(pattern.patterns) if isinstance(part, ast.MatchStar)]
    extra = len(items) - len(pattern.patterns) + len(stars)
    if extra < 0 or (extra and not stars):
        return m.builder.false
    conditions = []
    at = 0
    for part in pattern.patterns:
        if isinstance(part, ast.MatchStar):
            if part.name is not None:
                captures[part.name] = m.new_list(items[at : at + extra])
            at += extra
        else:
            conditions.append(_matches(m, part, items[at], captures))
            at += 1
    return m.conj(*conditions)
