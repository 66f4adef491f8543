"""Equality, order, membership and identity, between values of any shape."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tightdp.core.lowering.adopt import adopt
from tightdp.core.lowering.alike import NotAlike
from tightdp.core.lowering.iteration import collected, items_of
from tightdp.core.lowering.machine import Machine
from tightdp.core.lowering.registry import lowers
from tightdp.core.lowering.scalars import negated, operate, truth
from tightdp.core.lowering.values import (
    Alike,
    Collection,
    Every,
    Growing,
    Host,
    Members,
    Permuted,
    Range,
    Reference,
    Table,
    Value,
    View,
    is_scalar,
    known,
)
from tightdp.core.nodes import Expr

__all__ = ["contains", "equal", "precedes"]

_ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


@lowers(ast.Compare)
def _compare(m: Machine, node: ast.Compare) -> Value:
    def over(left: Value, rest: Sequence[tuple[ast.cmpop, ast.expr]]) -> Value:
        (operator, expression), others = rest[0], rest[1:]
        right = m.evaluate(expression)
        result = _compared(m, operator, left, right)
        if not others:
            return result
        return m.branch(truth(m, result), lambda: over(right, others), lambda: False)

    return over(m.evaluate(node.left), list(zip(node.ops, node.comparators, strict=True)))


def _compared(m: Machine, operator: ast.cmpop, left: Value, right: Value) -> Value:
    match operator:
        case ast.Eq():
            return equal(m, left, right)
        case ast.NotEq():
            return negated(m, equal(m, left, right))
        case ast.In():
            return contains(m, right, left)
        case ast.NotIn():
            return negated(m, contains(m, right, left))
        case ast.Is() | ast.IsNot():
            same = m.each(left, lambda a: m.each(right, lambda b: _identical(m, a, b)))
            return same if isinstance(operator, ast.Is) else negated(m, same)
    name = _ORDER[type(operator)]
    return m.each(left, lambda a: m.each(right, lambda b: precedes(m, name, a, b)))


def _identical(m: Machine, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return equal(m, left, right)
    places = (Reference, Table, Collection)
    if isinstance(left, places) or isinstance(right, places) or is_scalar(left) != is_scalar(right):
        return left == right
    if any(isinstance(item, bool) for item in (left, right)) and all(
        isinstance(item, bool) or (isinstance(item, Expr) and item.boolean) for item in (left, right)
    ):
        return equal(m, left, right)
    raise m.unsupported("`is` between values is not in the language", "compare with ==")


def equal(m: Machine, left: Value, right: Value) -> Value:
    """Return whether two values are equal in Python's sense."""

    def same(a: Value, b: Value) -> Value:
        if is_scalar(a) and is_scalar(b):
            return operate(m, "eq", a, b)
        if type(a) is type(b) and isinstance(a, (Range, Reference)):
            return equal(m, items_of(m, a), items_of(m, b))
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            return known(m.conj(*(m.expr(equal(m, x, y)) for x, y in zip(a, b, strict=True))))
        if type(a) is type(b) and isinstance(a, (Table, Collection)):
            return m.each(m.store[a.key], lambda u: m.each(m.store[b.key], lambda v: _same_content(m, u, v)))
        if isinstance(a, (Alike, Permuted)) or isinstance(b, (Alike, Permuted)):
            raise NotAlike("it compares them")
        for each in (a, b):
            if isinstance(each, (Every, Growing)):
                items_of(m, each).__len__()  # which says that they are not known one by one
        if isinstance(a, View) or isinstance(b, View):
            raise m.unsupported("a comparison of views is not in the language", "compare set(...) or list(...) of them")
        return a is b

    return m.each(left, lambda a: m.each(right, lambda b: same(a, b)))


def _same_content(m: Machine, left: Value, right: Value) -> Value:
    """Return whether two dictionaries or two sets have the same content, in whatever order."""
    if isinstance(left, Members):
        ours, theirs = (dict(zip(side.values, side.present, strict=True)) for side in (left, right))
        never = m.builder.false
        apart = [m.builder.parity([ours.get(v, never), theirs.get(v, never)]) for v in {**ours, **theirs}]
        return known(m.builder.negation(m.builder.disjunction(apart)))
    ours, theirs = (dict(zip(side.keys, side.values, strict=True)) for side in (left, right))
    if ours.keys() != theirs.keys():
        return False
    return known(m.conj(*(m.expr(equal(m, ours[key], theirs[key])) for key in ours)))


def _is_key(m: Machine, content: Value, item: Value) -> Value:
    if isinstance(content, Members):
        hits = [
            m.conj(m.expr(equal(m, item, value)), present)
            for value, present in zip(content.values, content.present, strict=True)
        ]
    else:
        hits = [m.expr(equal(m, item, key)) for key in content.keys]
    return known(m.builder.disjunction(hits))


def contains(m: Machine, container: Value, item: Value) -> Value:
    """Return whether an item is in a sequence."""

    def inside(sequence: Value) -> Value:
        if isinstance(sequence, Host) and isinstance(sequence.object, (dict, set, frozenset)):
            sequence = tuple(adopt(m, key) for key in sequence.object)
        if isinstance(sequence, (Table, Collection)):
            return m.each(m.store[sequence.key], lambda content: _is_key(m, content, item))
        if is_scalar(sequence):
            return m.each(item, lambda part: operate(m, "in", part, sequence))
        return m.each(
            collected(m, sequence),
            lambda items: known(m.builder.disjunction([m.expr(equal(m, item, other)) for other in items])),
        )

    return m.each(container, inside)


def _subset(m: Machine, name: str, left: Members, right: Members) -> Value:
    if name in ("gt", "ge"):
        return _subset(m, {"gt": "lt", "ge": "le"}[name], right, left)
    there = dict(zip(right.values, right.present, strict=True))
    missing = [
        m.conj(present, m.builder.negation(there.get(value, m.builder.false)))
        for value, present in zip(left.values, left.present, strict=True)
    ]
    within = known(m.builder.negation(m.builder.disjunction(missing)))
    if name == "le":
        return within
    return known(m.conj(m.expr(within), m.builder.negation(m.expr(_same_content(m, left, right)))))


def precedes(m: Machine, name: str, left: Value, right: Value) -> Value:
    """Return an order comparison (lt, le, gt, ge); tuples and lists compare lexicographically."""
    if isinstance(left, Reference) and isinstance(right, Reference):
        return m.each(items_of(m, left), lambda a: m.each(items_of(m, right), lambda b: precedes(m, name, a, b)))
    if isinstance(left, Collection) and isinstance(right, Collection):
        return m.each(m.store[left.key], lambda u: m.each(m.store[right.key], lambda v: _subset(m, name, u, v)))
    if not (isinstance(left, tuple) and isinstance(right, tuple)):
        return operate(m, name, left, right)
    if not left or not right:
        return operate(m, name, len(left), len(right))
    return m.branch(
        truth(m, equal(m, left[0], right[0])),
        lambda: precedes(m, name, left[1:], right[1:]),
        lambda: m.each(left[0], lambda a: m.each(right[0], lambda b: precedes(m, name, a, b))),
    )
