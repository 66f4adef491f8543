"""Sets: displays, comprehensions, operators and methods."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tightdp.core.builder import Builder
from tightdp.core.lowering.comparisons import contains
from tightdp.core.lowering.comprehensions import clauses, surroundings, within
from tightdp.core.lowering.iteration import unordered, visit
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import builtin, lowers, method, operates
from tightdp.core.lowering.scalars import total, truth
from tightdp.core.lowering.sequences import over_keys
from tightdp.core.lowering.signatures import Arguments, Keywords, expect
from tightdp.core.lowering.values import Collection, Members, Value, known, name_of
from tightdp.core.nodes import Expr

__all__ = ["size_of"]


def _new(m: Machine, members: Value, frozen: bool = False) -> Collection:
    collection = Collection(m.store.new_key(), frozen)
    m.store[collection.key] = members
    return collection


def _add(m: Machine, base: Collection, item: Value) -> None:
    """Let a value be in a set on the runs at hand."""
    present = m.store[base.key]
    m.store[base.key] = over_keys(m, item, lambda plain: _with(present, plain, m.builder.true))


def _with(members: Members, value: object, present: Expr) -> Members:
    conditions = {**dict(zip(members.values, members.present, strict=True)), value: present}
    return Members(tuple(conditions), tuple(conditions.values()))


@lowers(ast.Set)
def _set(m: Machine, node: ast.Set) -> Value:
    collection = _new(m, Members((), ()))
    for part in node.elts:
        if isinstance(part, ast.Starred):
            _take(m, collection, m.evaluate(part.value))
        else:
            _add(m, collection, m.evaluate(part))
    return collection


@lowers(ast.SetComp)
def _setcomp(m: Machine, node: ast.SetComp) -> Value:
    first = unordered(m, m.evaluate(node.generators[0].iter))
    collection = _new(m, Members((), ()))
    add = lambda: _add(m, collection, m.evaluate(node.elt))  # noqa: E731
    within(m, node, surroundings(m), lambda: clauses(m, node.generators, first, add))
    return collection


@builtin(set)
def _make(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    return _made(m, arguments, keywords, frozen=False)


@builtin(frozenset)
def _make_frozen(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    return _made(m, arguments, keywords, frozen=True)


def _made(m: Machine, arguments: Arguments, keywords: Keywords, frozen: bool) -> Value:
    expect(arguments, keywords, 0, 1)
    collection = _new(m, Members((), ()), frozen)
    if arguments:
        _take(m, collection, arguments[0])
    return collection


def _take(m: Machine, collection: Collection, more: Value) -> None:
    m.each(more, lambda value: visit(m, unordered(m, value), lambda item: _add(m, collection, item)))


@method("add", Collection)
def _add_method(m: Machine, base: Collection, item: Value) -> None:
    _changeable(base)
    _add(m, base, item)


@method("update", Collection)
def _update(m: Machine, base: Collection, *more: Value) -> None:
    _changeable(base)
    for part in more:
        _take(m, base, part)


@method("discard", Collection)
def _discard(m: Machine, base: Collection, item: Value) -> None:
    _changeable(base)
    present = m.store[base.key]
    m.store[base.key] = over_keys(m, item, lambda plain: _with(present, plain, m.builder.false))


@method("remove", Collection)
def _remove(m: Machine, base: Collection, item: Value) -> None:
    missing = m.builder.negation(truth(m, contains(m, base, item)))
    m.oblige(missing, Failure("KeyError: an element that is not in the set", "use .discard(...)"))
    _discard(m, base, item)


@method("clear", Collection)
def _clear(m: Machine, base: Collection) -> None:
    _changeable(base)
    m.store[base.key] = Members((), ())


def _changeable(base: Collection) -> None:
    if base.frozen:
        raise Failure("AttributeError: a frozenset cannot be changed", "make a set of it first: set(...)")


@method("copy", Collection)
def _copy(m: Machine, base: Collection) -> Value:
    return _new(m, m.store[base.key], base.frozen)


# operators

_OPERATIONS: dict[str, Callable[[Builder, Expr, Expr], Expr]] = {
    "bitor": lambda builder, a, b: builder.disjunction([a, b]),
    "bitand": lambda builder, a, b: builder.conjunction([a, b]),
    "bitxor": lambda builder, a, b: builder.parity([a, b]),
    "sub": lambda builder, a, b: builder.conjunction([a, builder.negation(b)]),
}


@operates(Collection)
def _operation_of(m: Machine, name: str, left: Collection, right: Value) -> Value:
    """Return `|`, `&`, `^` or `-` of two sets."""
    if not isinstance(right, Collection) or name not in _OPERATIONS:
        raise Failure(f"TypeError: a {name_of(left)} and a {name_of(right)}", "combine two sets with | & ^ -")
    return _new(m, _pointwise(m, name, left, right), left.frozen)


def _pointwise(m: Machine, name: str, left: Collection, right: Collection) -> Members:
    ours, theirs = (
        dict(zip(members.values, members.present, strict=True)) for members in (m.store[left.key], m.store[right.key])
    )
    never, operation = m.builder.false, _OPERATIONS[name]
    result = {v: operation(m.builder, ours.get(v, never), theirs.get(v, never)) for v in {**ours, **theirs}}
    return Members(tuple(result), tuple(result.values()))


def _named(method_name: str, operation: str) -> None:
    def change(m: Machine, base: Collection, more: tuple[Value, ...]) -> None:
        for part in more:
            other = _new(m, Members((), ()))
            _take(m, other, part)
            m.store[base.key] = _pointwise(m, operation, base, other)

    @method(method_name, Collection)
    def combined(m: Machine, base: Collection, *more: Value) -> Value:
        result = _new(m, m.store[base.key], base.frozen)
        change(m, result, more)
        return result

    if operation != "bitor":  # which is called .update()

        @method(f"{method_name}_update", Collection)
        def changed(m: Machine, base: Collection, *more: Value) -> None:
            _changeable(base)
            change(m, base, more)


for _method, _name in (
    ("union", "bitor"), ("intersection", "bitand"), ("difference", "sub"), ("symmetric_difference", "bitxor"),
):  # fmt: skip
    _named(_method, _name)


@method("issuperset", Collection)
def _issuperset(m: Machine, base: Collection, other: Value) -> Value:
    part = _new(m, Members((), ()))
    _take(m, part, other)
    return known(m.builder.negation(truth(m, _pointwise(m, "sub", part, base))))


@method("issubset", Collection)
def _issubset(m: Machine, base: Collection, other: Value) -> Value:
    whole = _new(m, Members((), ()))
    _take(m, whole, other)
    return known(m.builder.negation(truth(m, _pointwise(m, "sub", base, whole))))


@method("isdisjoint", Collection)
def _isdisjoint(m: Machine, base: Collection, other: Value) -> Value:
    whole = _new(m, Members((), ()))
    _take(m, whole, other)
    return known(m.builder.negation(truth(m, _pointwise(m, "bitand", base, whole))))


def size_of(m: Machine, value: Collection) -> Value:
    """Return the number of members of a set."""
    return total(m, [0, *(known(present) for present in m.store[value.key].present)])
