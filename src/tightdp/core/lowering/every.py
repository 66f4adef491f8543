"""All records, however many there are: slices of them, the other order, and several gone through side by side.

An item comes where its record does, or, as those of `x[:-1]`, some records later: then the records before are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.scalars import operate
from tightdp.core.lowering.values import Every, Generator, Stream, Value
from tightdp.core.nodes import Expr
from tightdp.errors import LanguageError

_ALL = (0, None, 1)


def has_all(every: Every) -> bool:
    """Whether there is an item of every record, in their order."""
    return every.within == _ALL and not every.backwards


def as_every(value: Value) -> Value:
    """Return what a generator makes of every record, one item each, like what other iterators over them give."""
    if not isinstance(value, Generator) or value.made is None:
        return value
    first, made = as_every(value.first), value.made
    if not isinstance(first, Every):
        return value
    parts = value, *first.parts
    return replace(first, step=lambda record, index: made(first.step(record, index)), parts=parts, width=0)


def positions(m: Machine, *bounds: Value) -> Every | None:
    """Return a range of the indices of records; None where its ends are others."""
    first, last, step = bounds if len(bounds) == 3 else (*((0,) if len(bounds) == 1 else ()), *bounds, 1)
    behind = [operate(m, "sub", m.how_many(), end) if isinstance(end, Expr) else None for end in (first, last)]
    indices = Every(lambda record, index: index)
    if behind[0] == 1 and (last, step) == (-1, -1):
        return _turned(m, indices)
    if type(behind[1]) is not int or min(behind[1], -1 if isinstance(first, Expr) else first, step - 1) < 0:
        return None
    return cut_every(m, indices, slice(first, -behind[1] or None, step))


def go_through(m: Machine, every: Every, action: Callable[[Value], None]) -> None:
    """Run an action for every item."""
    start, stop, stride = every.within

    def look(record: Value, index: Value) -> None:
        asked: list[Callable[[], Value]] = []
        if start:
            asked.append(lambda: operate(m, "ge", index, start))
        if stop is not None:
            asked.append(lambda: operate(m, "lt", index, stop))
        if stride > 1:
            asked.append(lambda: operate(m, "eq", operate(m, "mod", index, stride), start % stride))
        if all(m.expr(each()) is m.builder.true for each in asked):
            action(every.step(record, index))

    m.for_every(look, every.backwards)


def cut_every(m: Machine, every: Every, wanted: slice) -> Every:
    """Return a slice of the records."""
    if every.parts:
        raise Failure("TypeError: an iterator has no slices", "cut tuple(...) of it")
    first, last, step = wanted.start or 0, wanted.stop, wanted.step or 1
    start, stop, stride = every.within
    if wanted == slice(None, None, -1) and every.within == _ALL:
        return _turned(m, every)
    back = -last if last is not None and last < 0 else 0
    if first < 0 or step < 0 or (back and (stop is not None or stride > 1)):
        raise _refused(m)
    ends = [stop] if stop is not None else []
    ends += [start + last * stride] if last is not None and not back else []
    within = start + first * stride, min(ends, default=None), stride * step
    return _later(m, replace(every, within=within), back)


def _turned(m: Machine, every: Every) -> Every:
    """Return the items in the other order."""
    return Every(lambda record, index: every.step(record, _last_minus(m, index)), backwards=not every.backwards)


def _last_minus(m: Machine, index: Value) -> Value:
    """Return the index of a record counted from the other end."""
    return operate(m, "sub", operate(m, "sub", m.how_many(), 1), index)


def _later(m: Machine, every: Every, by: int) -> Every:
    """Return items that come some records later; those of the last records do not come."""
    if not by:
        return every
    start, stop, stride = every.within
    if every.parts:
        raise _refused(m)

    def step(record: Value, index: Value) -> Value:
        before = operate(m, "sub", index, by)
        return every.step(m.record_at(_last_minus(m, before) if every.backwards else before), before)

    within = start + by, None if stop is None else stop + by, stride
    return Every(step, (), within, every.backwards)


def together(m: Machine, parts: Sequence[Every], make: Callable[..., Value]) -> Every:
    """Return an iterator of what is made of a place and the items there of several, as long as all have one.

    The place is a function, as it is not always needed.
    """
    start = max(part.within[0] for part in parts)
    parts = [_later(m, part, start - part.within[0]) for part in parts]
    stops = {part.within[1] for part in parts}
    stride, backwards = parts[0].within[2], parts[0].backwards
    alike = all((part.within[2], part.backwards) == (stride, backwards) for part in parts)
    if not alike or (len(stops) > 1 and any(part.parts for part in parts)):
        raise _refused(m)
    stop = min((stop for stop in stops if stop is not None), default=None)

    def step(record: Value, index: Value) -> Value:
        def place() -> Value:
            passed = operate(m, "sub", index, start) if start else index
            return operate(m, "floordiv", passed, stride) if stride > 1 else passed

        return make(place, *(part.step(record, index) for part in parts))

    return Every(step, tuple(parts), (start, stop, stride), backwards)


def columns(m: Machine, rows: Every) -> Stream:
    """Return what `zip(*rows)` gives."""

    def column(at: int) -> Every:
        return replace(rows, step=lambda record, index: rows.step(record, index)[at], width=0)

    return Stream("zip", lambda at: (m.builder.true, column(at)) if at < rows.width else None)


def nth(m: Machine, every: Every, index: Value) -> Value:
    """Return the item at an index."""
    if not has_all(every):
        start, stop, stride = every.within
        if type(index) is not int or index < 0 or every.backwards or stop is not None:
            raise _refused(m)
        index = start + index * stride
    return every.step(m.record_at(index), index)


def _refused(m: Machine) -> LanguageError:
    hint = "go through the records with the same code for each, as in `for v in x`, or ask for one n"
    return m.unsupported("no answer for every n: the records are not gone through one by one here", hint)
