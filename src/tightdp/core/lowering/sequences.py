"""Comparisons of values of any shape; items at positions that may depend on the run, and changes of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import EnumType
from functools import partial
from typing import Any

from tightdp.core.doubles import Double
from tightdp.core.lowering.alike import NotAlike
from tightdp.core.lowering.every import cut_every, nth
from tightdp.core.lowering.iteration import collected, items_of, joined
from tightdp.core.lowering.ledger import Ledger, content_with, inserted, no_row, possible_keys, rows_of
from tightdp.core.lowering.machine import Dead, Failure, Machine
from tightdp.core.lowering.positions import as_slice, item_at, position_in, refuse_slice, valid_positions
from tightdp.core.lowering.refusals import refuse_unhashable
from tightdp.core.lowering.registry import FUNCTIONS, METHODS, OPERANDS
from tightdp.core.lowering.scalars import (
    COUNTS,
    adopt,
    indexed,
    operate,
    over_all,
    over_keys,
    over_values,
    truth,
)
from tightdp.core.lowering.store import MISSING, merge_row
from tightdp.core.lowering.values import (
    Alike,
    Array,
    Collection,
    Cut,
    Element,
    Entries,
    Every,
    Growing,
    Host,
    Members,
    Object,
    Permuted,
    Range,
    Reference,
    Stream,
    Table,
    Value,
    View,
    is_scalar,
    known,
    name_of,
)
from tightdp.core.nodes import Expr
from tightdp.language.source import is_foreign


def plain(m: Machine, value: Value) -> Value:
    """Return a scalar of numpy as one of Python; anything else as it is."""
    return OPERANDS[Element](m, "plain", value) if isinstance(value, Element) else value


def settled(m: Machine, value: Value) -> Value:
    """Return a number that is computed from a draw in doubles as a node; anything else as it is."""
    return known(m.expr(value)) if isinstance(value, Double) else value


def equal(m: Machine, left: Value, right: Value) -> Value:
    """Return whether two values are equal in Python's sense."""

    def same(a: Value, b: Value) -> Value:
        a, b = plain(m, a), plain(m, b)
        if is_scalar(a) and is_scalar(b):
            return operate(m, "eq", a, b)
        if isinstance(a, Double) or isinstance(b, Double):
            return operate(m, "eq", a, b)
        if isinstance(a, Array) or isinstance(b, Array):
            raise m.unsupported("a comparison of arrays here is not in the language", "use np.array_equal")
        if type(a) is type(b) and isinstance(a, (Range, Reference)):
            return equal(m, items_of(m, a), items_of(m, b))
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            return _until(m, list(zip(a, b, strict=True)), False)
        if isinstance(a, Table) and isinstance(b, Table) and a.missing is b.missing is COUNTS:
            raise m.unsupported("a comparison of Counters is not in the language", "compare dict(...) of them")
        if type(a) is type(b) and isinstance(a, (Table, Collection)):
            return m.each(m.store[a.key], lambda u: m.each(m.store[b.key], lambda v: _same_content(m, u, v)))
        if isinstance(a, (Alike, Permuted)) or isinstance(b, (Alike, Permuted)):
            raise NotAlike("it compares them")
        for each in (a, b):
            if isinstance(each, (Every, Growing)):
                items_of(m, each).__len__()  # which says that they are not known one by one
        if isinstance(a, Object) or isinstance(b, Object):
            return OPERANDS[Object](m, "eq", a, b)
        if isinstance(a, Host) and isinstance(b, Host):
            return bool(a.object == b.object)
        if isinstance(a, View) or isinstance(b, View):
            raise m.unsupported("a comparison of views is not in the language", "compare set(...) or list(...) of them")
        return a is b

    return m.each(left, lambda a: m.each(right, lambda b: same(a, b)))


def is_item(m: Machine, left: Value, right: Value) -> Expr:
    """Return whether something is an item: it is the same object, or equal by what is true of `==`."""

    def same(a: Value, b: Value) -> Value:
        return True if isinstance(a, Object) and a == b else equal(m, a, b)

    return truth(m, m.each(left, lambda a: m.each(right, lambda b: same(a, b))))


def _until(m: Machine, pairs: Sequence[tuple[Value, Value]], wanted: bool) -> Value:
    """Return whether some pair is of equal items (wanted), or all are; objects are not compared after it is known."""
    if not any(isinstance(each, Object) for pair in pairs for each in pair):
        found = [is_item(m, *pair) for pair in pairs]
        return known(m.builder.disjunction(found) if wanted else m.conj(*found))

    def found_from(at: int) -> Value:
        if at == len(pairs):
            return not wanted
        ends, goes_on = lambda: wanted, lambda: found_from(at + 1)
        hit = is_item(m, *pairs[at])
        return m.branch(hit, ends, goes_on) if wanted else m.branch(hit, goes_on, ends)

    return found_from(0)


def _same_content(m: Machine, left: Value, right: Value) -> Value:
    """Return whether two dictionaries or two sets have the same content, in whatever order."""
    if isinstance(left, Members):
        return none_of(m, set_operation(m, "bitxor", left, right))
    ours, theirs = left.table, right.table
    if ours.keys() != theirs.keys():
        return False
    return known(m.conj(*(is_item(m, ours[key], theirs[key]) for key in ours)))


def set_operation(m: Machine, name: str, left: Members, right: Members) -> Members:
    """Return `|`, `&`, `^` or `-` of two sets."""
    builder = m.builder
    operation: dict[str, Callable[[Expr, Expr], Expr]] = {
        "bitor": lambda a, b: builder.disjunction([a, b]),
        "bitand": lambda a, b: builder.conjunction([a, b]),
        "bitxor": lambda a, b: builder.parity([a, b]),
        "sub": lambda a, b: builder.conjunction([a, builder.negation(b)]),
    }
    return left.combined(right, operation[name], builder.false)


def none_of(m: Machine, members: Members) -> Value:
    """Return whether a set is empty."""
    return known(m.builder.negation(m.builder.disjunction(members.present)))


def contains(m: Machine, container: Value, item: Value) -> Value:
    """Return whether an item is in a sequence."""

    def is_one_of(there: dict[Value, Expr]) -> Value:
        hits = zip(_key_is(m, item, there), there.values(), strict=True)
        return known(m.builder.disjunction([m.conj(hit, present) for hit, present in hits]))

    def is_key(entries: Entries | Ledger) -> Value:
        return is_one_of({key: row.present for key, row in rows_of(m.builder, entries).items()})

    def inside(sequence: Value) -> Value:
        if isinstance(sequence, Host) and isinstance(sequence.object, set):
            sequence = tuple(adopt(m, key) for key in sequence.object)
        if isinstance(sequence, Collection):
            return m.each(m.store[sequence.key], lambda members: is_one_of(members.conditions))
        if isinstance(sequence, Table):
            return over_content(m, m.store[sequence.key], is_key)
        if is_scalar(sequence):
            return m.each(item, lambda part: operate(m, "in", part, sequence))
        if isinstance(sequence, Object):
            return OPERANDS[Object](m, "contains", sequence, item)
        if isinstance(sequence, Stream):
            return METHODS[Stream, "item in"](m, sequence, item)
        items = collected(m, sequence)
        return m.each(items, lambda each: _until(m, [(one, item) for one in each], True))

    return m.each(container, inside)


def _subset(m: Machine, name: str, left: Members, right: Members) -> Value:
    if name in ("gt", "ge"):
        left, right = right, left
    within = none_of(m, set_operation(m, "sub", left, right))
    if name in ("le", "ge"):
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
        is_item(m, left[0], right[0]),
        lambda: precedes(m, name, left[1:], right[1:]),
        lambda: m.each(left[0], lambda a: m.each(right[0], lambda b: precedes(m, name, a, b))),
    )


# reading


def sliced(m: Machine, value: Value, bounds: tuple[Value, ...]) -> Value:
    """Return a slice of a sequence or of a string."""
    refuse_slice(m, value)

    def cut(items: tuple[Value, ...], made: Callable[[tuple[Value, ...]], Value] = tuple) -> Value:
        return over_all(m, bounds, lambda *plain: made(items[as_slice(*plain)]))

    if isinstance(value, Every):
        return over_all(m, bounds, lambda *plain: cut_every(m, value, as_slice(*plain)))
    if is_scalar(value):
        return over_values(m, value, lambda text: cut(items_of(m, text), "".join))
    part = m.each(items_of(m, value), cut)
    if isinstance(value, Range):
        return m.each(part, Range)
    return m.new_list(part) if isinstance(value, Reference) else part


def element(m: Machine, value: Value, index: Value) -> Value:
    """Return the element of a sequence or of a dictionary at an index that may depend on the run."""
    if isinstance(value, Table) and value.missing is not None:
        return METHODS[Table, "value at"](m, value, index)
    if isinstance(value, Table) or (isinstance(value, Host) and isinstance(value.object, (dict, EnumType))):
        return over_content(m, content_of(m, value), lambda entries: looked_up(m, entries, index))
    if isinstance(value, View):
        raise Failure(f"TypeError: {name_of(value)} has no elements to index", "index list(...) of it")
    if isinstance(value, Every):
        return nth(m, value, index)
    if isinstance(value, (Array, Object)):
        return METHODS[type(value), "__getitem__"](m, value, index)
    if isinstance(index, Cut):
        return sliced(m, value, index.bounds)
    if isinstance(value, Host) and _is_generic(value.object):
        return value
    index = settled(m, plain(m, indexed(m, index)))
    if isinstance(value, Host) and hasattr(type(value.object), "__getitem__"):
        raise m.unsupported(f"an item of a {name_of(value)} is not in the language", "make a tuple of it outside")
    if isinstance(value, Host) or not is_scalar(index):
        raise Failure(f"TypeError: an index must be an integer, not {name_of(index)}", "use an int")
    items = items_of(m, value)
    if isinstance(items, Growing):
        return m.of_growing("item", items, index)
    return m.each(items, lambda items: item_at(m, items, index))


def _is_generic(kind: object) -> bool:
    """Whether the parameters of a class are types, which change nothing, as typing.Generic has them."""
    ours = isinstance(kind, type) and not is_foreign(kind)
    return ours and (getattr(kind, "__class_getitem__", None) or kind).__module__ in (None, "typing")


def over_content(m: Machine, content: Value, action: Callable[[Entries | Ledger], Value]) -> Value:
    """Apply an action to the content of a dictionary, whatever the order of its keys."""
    return action(content) if isinstance(content, Ledger) else m.each(content, action)


def looked_up(m: Machine, entries: Entries | Ledger, key: Value, default: Value = MISSING) -> Value:
    """Return what belongs to a key, and the default (`MISSING`: none, runs without it fail) where it is not there."""
    rows = rows_of(m.builder, entries)
    absent = type(default) is int and default == 0
    there = [m.builder.true if absent and row.filled else row.present for row in rows.values()]
    hits = [m.conj(hit, present) for hit, present in zip(_key_is(m, key, rows), there, strict=True)]
    if default is MISSING:
        missing = m.conj(*(m.builder.negation(hit) for hit in hits))
        m.oblige(missing, Failure("KeyError: a key that is not in the dictionary", "give it every key that occurs"))
    found = [(hit, row.value) for hit, row in zip(hits, rows.values(), strict=True) if hit is not m.builder.false]
    if not found and default is MISSING:
        raise Dead
    result = found.pop()[1] if default is MISSING else default
    for hit, value in reversed(found):
        result = m.merge(hit, value, result)
    return result


def _key_is(m: Machine, key: Value, keys: Iterable[Value]) -> list[Expr]:
    """Return the conditions that a key is one of some plain ones."""
    possible = possible_keys(m.builder, key)
    if possible is None:
        refuse_unhashable(m, key)
        return [is_item(m, have, key) for have in keys]
    return [possible.get(have, m.builder.false) for have in keys]


def content_of(m: Machine, value: Value) -> Value:
    """Return the entries of a dictionary (or a union of them). Raises Failure for anything else."""
    if isinstance(value, Table):
        return m.store[value.key]
    if isinstance(value, Host) and isinstance(value.object, (dict, EnumType)):
        table = value.object.__members__ if isinstance(value.object, EnumType) else value.object
        return Entries.of({adopt(m, key): adopt(m, item) for key, item in table.items()})
    raise Failure(f"AttributeError: {name_of(value)} is not a dictionary", "use a dictionary")


def mapping(m: Machine, value: Value) -> Value:
    """Return a dictionary where only dictionaries are taken."""
    if isinstance(value, Object) and FUNCTIONS[hasattr](m, value, "keys"):
        return FUNCTIONS[dict](m, value)
    if not isinstance(value, Table) and not (isinstance(value, Host) and isinstance(value.object, dict)):
        raise Failure(f"TypeError: a {name_of(value)} is not a mapping", "use a dictionary")
    return value


# changing


def content(m: Machine, value: Value) -> Value:
    """Return the content of a list that is about to be changed."""
    if isinstance(value, Host) and type(value.object) in (dict, set):
        what = f"a {type(value.object).__name__} of the enclosing module cannot be changed"
        raise m.unsupported(what, "a run begins with the module as it is: pass on what changes, or copy it first")
    if not isinstance(value, Reference):
        raise Failure(f"TypeError: {name_of(value)} cannot be changed", "make a list of it first: list(...)")
    if value.key in m.frozen:
        raise m.unsupported("a list of the enclosing module cannot be changed", "copy it first: list(...)")
    return m.store[value.key]


def store(m: Machine, base: Value, index: Value, value: Value) -> None:
    """Assign to an element."""

    def into(item: Value) -> None:
        if isinstance(item, Table):
            insert(m, item, index, value)
            return
        if isinstance(item, (Array, Object)):
            METHODS[type(item), "__setitem__"](m, item, index, value)
            return
        whole = m.each(index, lambda each: settled(m, plain(m, indexed(m, each))))
        changed = lambda items: m.each(whole, lambda at: replaced(m, items, at, value))  # noqa: E731
        m.store[item.key] = m.each(content(m, item), changed)

    m.each(base, into)


def insert(m: Machine, table: Table, key: Value, value: Value) -> None:
    """Let a value belong to a key of a dictionary; a new key comes last."""

    def into(entries: Entries | Ledger) -> Value:
        rows, possible = rows_of(m.builder, entries), possible_keys(m.builder, key)
        new = partial(inserted, m.builder, rows, value)
        if possible is None:  # it has several forms, or cannot be a key
            return over_keys(m, key, lambda plain: content_with(m.builder, {**rows, plain: new(plain)}))
        never, cases = no_row(m.builder), possible.items()
        changed = {plain: merge_row(m.builder, here, new(plain), rows.get(plain, never)) for plain, here in cases}
        return content_with(m.builder, {**rows, **changed})

    m.store[table.key] = over_content(m, m.store[table.key], into)


def replaced(m: Machine, items: tuple[Value, ...], index: Value, value: Value) -> tuple[Value, ...]:
    """Return items with another one at an index."""
    if not isinstance(index, Expr):
        at = position_in(items, index)
        return (*items[:at], value, *items[at + 1 :])
    changed = list(items)
    for number, at in valid_positions(m, items, index):
        changed[at] = m.merge(m.builder.equals(index, number), value, changed[at])
    return tuple(changed)


def replace_slice(m: Machine, base: Value, bounds: tuple[Value, ...], more: Value) -> None:
    """Assign the items `more` (a tuple, or a union of tuples) to a slice of a list; None deletes it."""

    def changed(items: tuple[Value, ...], new: tuple[Value, ...] | None, *plain: Any) -> tuple[Value, ...]:
        result, where = list(items), as_slice(*plain)
        try:
            if new is None:
                del result[where]
            else:
                result[where] = new
        except ValueError as error:
            raise Failure(f"ValueError: {error}", "assign as many items as the slice has") from None
        return tuple(result)

    def over(items: tuple[Value, ...], new: tuple[Value, ...] | None) -> Value:
        return over_all(m, bounds, lambda *plain: changed(items, new, *plain))

    refuse_slice(m, base)
    m.store[base.key] = m.each(content(m, base), lambda items: m.each(more, lambda new: over(items, new)))


def extend(m: Machine, reference: Value, more: Value) -> None:
    """Append the items of a sequence to a list."""
    items, present = collected(m, more), content(m, reference)
    m.store[reference.key] = joined(m, present, items)
