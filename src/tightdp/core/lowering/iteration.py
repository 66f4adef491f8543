"""Iterating over anything that Python iterates over, one item at a time or all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import EnumType
from functools import partial

from tightdp.core.facts import at_most
from tightdp.core.lowering.alike import for_all, template
from tightdp.core.lowering.every import go_through
from tightdp.core.lowering.ledger import Ledger
from tightdp.core.lowering.machine import Dead, Failure, Machine
from tightdp.core.lowering.registry import METHODS, OPERANDS
from tightdp.core.lowering.scalars import adopt, over_values
from tightdp.core.lowering.store import Listed, by_length
from tightdp.core.lowering.undoing import tentatively
from tightdp.core.lowering.values import (
    Alike,
    Array,
    Collection,
    Every,
    Generator,
    Growing,
    Host,
    Object,
    Range,
    Reference,
    Sieve,
    Stream,
    Table,
    Union,
    Value,
    View,
    alternatives,
    name_of,
    parts_of,
)
from tightdp.core.nodes import Expr
from tightdp.language.outputs import order_of
from tightdp.limits.calibrated import LOOP_ROUNDS

Step = tuple[Expr, Value]
"""An item of a loop: the condition that it is there, and the item."""


def everyone(value: Value) -> bool:
    """Whether iterating over a value goes through all records, however many there are."""
    return everyone(value.first) if isinstance(value, Generator) else isinstance(value, Every)


def items_of(m: Machine, sequence: Value) -> Value:
    """Return the items of a sequence: a tuple, or a union of tuples of different lengths."""
    if type(sequence) is tuple or isinstance(sequence, Sieve):
        return sequence

    def of(value: Value) -> Value:
        opened = _opened(m, value)
        if isinstance(opened, Union) and not isinstance(opened, Listed):
            return m.each(opened, of)
        match opened:
            case Reference(key):
                return m.store[key]
            case Range(items):
                return items
            case Stream(name):
                raise Failure(f"TypeError: {name} is not a sequence", f"write list({name}(...))")
            case items:
                return items

    return m.each(sequence, of)


def entered(m: Machine, iterable: Value) -> Value:
    """Return what an object gives to loop over; anything else as it is."""
    iterable = m.adopted.get(iterable, iterable) if isinstance(iterable, Stream) else iterable
    return OPERANDS[Object](m, "iter", iterable) if isinstance(iterable, Object) else iterable


def collected(m: Machine, iterable: Value) -> Value:
    """Return the items of anything to loop over, all at once."""

    def of(value: Value) -> Value:
        return _gathered(m, value) if isinstance(value, (Every, Stream)) else items_of(m, value)

    return iterable if isinstance(iterable, Sieve) else m.each(iterable, lambda one: m.each(entered(m, one), of))


def _gathered(m: Machine, stream: Stream | Every) -> Value:
    if isinstance(stream, Generator) and (alike := template(m, stream.first)) is not None:
        spend(m, stream)
        return for_all(m, alike, lambda items: _gathered(m, replace(stream, first=items)))
    result = m.new_list(sifted(m))
    visit(m, stream, lambda item: sift(m, result, item), result)
    return plainly(m, m.store.pop(result.key))


def sifted(m: Machine) -> Value:
    """Return an empty sequence to which items are added, on some runs or on all."""
    if m.single:
        return ()

    def settle(sieve: Sieve) -> Value:
        content: Value = ()
        longest = at_most([present for present, _ in sieve.entries])
        for present, item in sieve.entries:
            m.watch()
            options = alternatives(content, m.builder.true)
            longer = tuple((guard, (*items, item)) for guard, items in options if len(items) < longest)
            if longer:
                content = m.merge(present, Union(longer) if len(longer) > 1 else longer[0][1], content)
        return content if isinstance(content, Union) else Union(((m.builder.true, content),))

    return Sieve((), settle)


def sift(m: Machine, result: Reference, item: Value) -> None:
    """Add an item, on the runs at hand."""
    before = m.store[result.key]
    longer = None if m.single else Sieve((*before.entries, (m.builder.true, item)), before.settle)
    m.store[result.key] = longer or before + (item,)  # noqa: RUF005 (it may be growing)


def sieved(m: Machine, entries: Iterable[Step]) -> Value:
    """Return a sequence of items, each on its condition; a tuple where all are there, or one run alone is followed."""
    empty, entries = sifted(m), tuple(entries)
    if isinstance(empty, Sieve):
        return plainly(m, Sieve(entries, empty.settle))
    return tuple(item for present, item in entries if present is m.builder.true)


def plainly(m: Machine, sieve: Value) -> Value:
    """Return a sequence whose items are all there as a tuple, any other as it is."""
    if not isinstance(sieve, Sieve):
        return sieve
    certain = all(present is m.builder.true for present, _ in sieve.entries)
    return tuple(item for _, item in sieve.entries) if certain else sieve


def visit(m: Machine, iterable: Value, action: Callable[[Value], None], kept: Value = None) -> None:
    """Run an action for every item of anything to loop over, on the runs on which it is there.

    Between two items nothing is known but what names and cells hold, and `kept`.
    """
    m.rounds.append((kept, 0))
    try:
        _visit(m, iterable, action)
    finally:
        m.rounds.pop()


def _visit(m: Machine, iterable: Value, action: Callable[[Value], None]) -> None:
    iterable = entered(m, iterable)
    if isinstance(iterable, Every):
        _spend_parts(m, iterable)
        go_through(m, iterable, action)
        return
    if isinstance(iterable, Generator):
        spend(m, iterable)
        iterable.visit(iterable.first, action)
        return
    content = m.store[iterable.key] if isinstance(iterable, Reference) else iterable
    if type(content) is Union and any(isinstance(one, Generator) for _, one in content.alternatives):
        m.each(iterable, lambda one: visit(m, one, action))
        return
    kept = m.rounds[-1][0]
    for at, (present, item) in enumerate(content.entries if isinstance(content, Sieve) else iterate(m, iterable)):
        if m.alive is m.builder.false:
            raise Dead
        m.rounds[-1] = (kept, at)
        m.next_item()
        m.branch(present, partial(action, item), lambda: None)


def _spend_parts(m: Machine, iterable: Every) -> None:
    """Begin to go through what an iterator over the records is made of, which can be done once."""
    if iterable.parts:
        _spend_here(m, iterable, "an iterator over the records is gone through twice", "keep list(...) of it")
        for part in iterable.parts:
            spend(m, part) if isinstance(part, Generator) else _spend_parts(m, part)


def unordered(m: Machine, value: Value) -> Value:
    """Return a set or a dictionary as an iterable of what is in it, for what does not depend on their order.

    So is what a generator makes of them, where it changes nothing outside. Any other value is returned as it is.
    """
    value = entered(m, value) if isinstance(value, Generator) else value
    if isinstance(value, Generator):
        listed = lambda first: value if first is value.first else _gathered(m, replace(value, first=first))  # noqa: E731
        found = in_any_order(m, value.first, listed)
        if found is not value:
            spend(m, value)
        return found
    if (items := listed_of(m, value)) is not None:
        part = ("keys", "values", "items").index(items.view.part)
        return by_key(m, items.ledger, lambda *both: (*both, both)[part])
    if isinstance(value, Union) and any(isinstance(one, (Collection, Table, View)) for _, one in value.alternatives):
        return Union(tuple((guard, unordered(m, one)) for guard, one in value.alternatives))
    if not isinstance(value, Collection):
        return value
    members = m.store[value.key]
    return sieved(m, zip(members.present, members.values, strict=True))


def listed_of(m: Machine, value: Value) -> Listed | None:
    """Return the items of a dictionary whose keys depend on the run, of a view of one, or of a list of these."""
    if isinstance(value, (Table, View)) and isinstance(content := m.store[value.key], Ledger):
        return Listed(content, _as_view(value))
    found = m.store[value.key] if isinstance(value, Reference) else value
    return found if isinstance(found, Listed) else None


def in_any_order(m: Machine, value: Value, action: Callable[[Value], Value]) -> Value:
    """Return what an action makes of something to loop over; its order counts only where the action shows it.

    A set or dictionary is gone through as `unordered` does, unless that changes what others see, or ends a run.
    """
    items = unordered(m, value)
    if items is value:
        return action(value)
    targets = m.frame.key if m.frame.comprehension else None
    unseen, made = tentatively(m, lambda: action(items), lambda cell: isinstance(cell, tuple) and cell[0] == targets)
    return made if unseen else action(value)


def by_key(m: Machine, content: Ledger, action: Callable[[Value, Value], Value]) -> Value:
    """Return what an action makes of every key of a dictionary, and what belongs to it, in the order of the keys."""
    of_objects = any(isinstance(part, Object) for key in content.rows for part in parts_of(key))
    keys = list(content.rows) if of_objects else sorted(content.rows, key=order_of)
    return sieved(m, ((content.rows[key].present, action(key, content.rows[key].value)) for key in keys))


def spend(m: Machine, stream: Stream) -> None:
    """Begin to iterate over a stream, which can be done once."""
    listed = "[...]" if isinstance(stream, Generator) else f"list({stream.name}(...))"
    _spend_here(m, stream, f"what a {stream.name} gives is iterated over twice", f"keep {listed}")


def _spend_here(m: Machine, iterable: Stream | Every, what: str, hint: str) -> None:
    """Note that the runs at hand go through an iterator, which no run does twice."""
    before = m.builder.true if iterable in m.adopted else m.spent.get(iterable, m.builder.false)
    if m.conj(m.alive, before) is not m.builder.false and (m.probe is None or any(m.probe(m.alive, [before])[0])):
        raise m.unsupported(what, hint)
    m.spent[iterable] = m.builder.disjunction([before, m.alive])


def _opened(m: Machine, value: Value) -> Value:
    """Return something to loop over as a tuple, range, list or stream."""
    if isinstance(value, (tuple, Range, Reference, Stream, Alike, Growing)):
        return value
    if isinstance(value, Every):
        hint = "go through the records with the same code for each, as in `for v in x`, or ask for one n"
        raise m.unsupported("no answer for every n: the records are not gone through one by one here", hint)
    if isinstance(value, (Table, View)):
        return listed_of(m, value) or m.each(m.store[value.key], _as_view(value).of)
    if isinstance(value, Collection):
        raise m.unsupported("the order of a set is not defined", "go through sorted(...) of it")
    if isinstance(value, Host) and isinstance(value.object, (dict, EnumType)):
        return tuple(adopt(m, key) for key in value.object)
    if isinstance(value, str):
        return tuple(value)
    if isinstance(value, Array):
        return METHODS[Array, "rows"](m, value)
    if isinstance(value, Expr) and any(isinstance(item, str) for item in value.values):
        return over_values(m, value, lambda item: _opened(m, item))
    if isinstance(value, Host) and hasattr(type(value.object), "__iter__"):
        raise m.unsupported(f"going through a {name_of(value)} is not in the language", "make a tuple of it outside")
    raise Failure(f"TypeError: {name_of(value)} is not a sequence", "use a tuple, a list or a range")


def iterate(m: Machine, iterable: Value) -> Iterator[Step]:
    """Yield (condition that it is there, item) for every item that a loop over a value may meet.

    A list is read anew at every step, as in Python.
    """
    step, at = steps(m, iterable), 0
    while (found := step(at)) is not None:
        m.watch()
        yield found
        at += 1


def steps(m: Machine, iterable: Value) -> Callable[[int], Step | None]:
    """Return what gives (condition that it is there, item) for a place in anything to loop over."""

    def opened(value: Value) -> Value:
        if isinstance(value, Object) and hasattr(value.kind, "__next__"):
            return METHODS[Object, "stream"](m, value)
        return value if isinstance(value, (Table, View)) else m.each(entered(m, value), partial(_opened, m))

    parts = [(guard, _steps(m, item)) for guard, item in alternatives(m.each(iterable, opened), m.builder.true)]

    def step(at: int) -> Step | None:
        there = [(guard, found) for guard, part in parts if (found := part(at)) is not None]
        return one_of(m, there, len(there) == len(parts))

    return step


def _steps(m: Machine, iterable: Value) -> Callable[[int], Step | None]:
    if isinstance(iterable, Generator) and iterable.made is not None:
        spend(m, iterable)
        return _one_each(m, steps(m, iterable.first), iterable.made)
    if isinstance(iterable, Generator):
        raise m.unsupported(
            f"a {iterable.name} here is not in the language", "go through it with for, or keep list(...) of it"
        )
    if isinstance(iterable, Stream):
        spend(m, iterable)
        return iterable.step
    if isinstance(iterable, (Table, View)):
        return _through_entries(m, _as_view(iterable))
    longest = max(len(items) for _, items in alternatives(items_of(m, iterable), m.builder.true))
    begun = m.store[iterable.key] if name_of(iterable) == "deque" else None

    def step(at: int) -> Step | None:
        if begun is not None and m.store[iterable.key] is not begun:  # a RuntimeError, unless only items are replaced
            raise m.unsupported("a deque that changes as it is gone through is not in the language", "copy it first")
        options = alternatives(items_of(m, iterable), m.builder.true)
        longer = [(guard, (m.builder.true, items[at])) for guard, items in options if len(items) > at]
        if longer and at > longest + LOOP_ROUNDS // 10:
            raise m.unsupported("this loop goes over a list that grows without end", "loop over a copy of it")
        return one_of(m, longer, len(longer) == len(options))

    return step


def _one_each(
    m: Machine, first: Callable[[int], Step | None], made: Callable[[Value], Value]
) -> Callable[[int], Step | None]:
    """Return the steps of what has one item for each of another iterable."""

    def step(at: int) -> Step | None:
        found = first(at)
        if found is None:
            return None
        present, item = found
        return present, m.branch(present, lambda: made(item), lambda: None)

    return step


def _as_view(value: Table | View) -> View:
    return value if isinstance(value, View) else View(value.key, "keys")


def _through_entries(m: Machine, view: View) -> Callable[[int], Step | None]:
    """Iterate over a dictionary, whose keys must stay what they are at the start."""
    begun = m.store[view.key]

    def step(at: int) -> Step | None:
        there, kept = [], 0
        for guard, was in alternatives(begun, m.builder.true):
            now = m.store[view.key]
            for other, entries in [(guard, was)] if now is begun else alternatives(now, m.builder.true):
                both = m.conj(guard, other)
                if both is m.builder.false:
                    continue
                if entries.keys != was.keys:
                    what = "size" if len(entries.keys) != len(was.keys) else "keys"
                    changed = f"RuntimeError: dictionary changed {what} during iteration"
                    m.oblige(both, Failure(changed, "go through list(...) of it"))
                    continue
                kept += 1
                if at < len(was.keys):
                    there.append((both, (m.builder.true, view.of(entries)[at])))
        return one_of(m, there, len(there) == kept)

    return step


def one_of(m: Machine, options: Sequence[tuple[Expr, Step]], always: bool) -> Step | None:
    """Return the item of whichever option holds; `always` says that one of them does."""
    if not options:
        return None
    value = options[-1][1][1]
    for guard, (_, item) in reversed(options[:-1]):
        value = m.merge(guard, item, value)
    if always and all(present is m.builder.true for _, (present, _) in options):
        return m.builder.true, value
    return m.builder.disjunction([m.conj(guard, present) for guard, (present, _) in options]), value


def joined(m: Machine, left: Value, right: Value) -> Value:
    """Return two tuples, or unions of tuples of different lengths, one after the other."""
    if isinstance(left, (tuple, Growing)) and isinstance(right, (tuple, Growing)):
        return left + right
    options = []
    for first, head in alternatives(left, m.builder.true):
        for second, tail in alternatives(right, m.builder.true):
            guard = m.conj(first, second)
            if m.conj(m.alive, guard) is not m.builder.false:
                options.append((guard, head + tail))
    if not options:
        raise Dead
    found = by_length(m.builder, options)
    return found[0][1] if len(found) == 1 else Union(found)
