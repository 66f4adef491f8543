"""Deques: lists whose two ends are alike, and that may have a greatest length."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial

from tightdp.core.lowering import lists  # noqa: F401 (methods that are shared)
from tightdp.core.lowering.iteration import collected, items_of, joined
from tightdp.core.lowering.machine import Machine
from tightdp.core.lowering.registry import METHODS, builtin, method, methods
from tightdp.core.lowering.scalars import indexed, over_values, whole
from tightdp.core.lowering.sequences import content
from tightdp.core.lowering.values import TYPE_NAMES, Reference, Value


@dataclass(frozen=True)
class Deque(Reference):
    """A deque: its key in the heap, and how many items it keeps at most."""

    most: int | None = None


TYPE_NAMES[Deque] = "deque"
_SHARED = ("clear", "count", "index", "remove", "reverse", "__getitem__")
methods({name: METHODS[Reference, name] for name in _SHARED}, Deque)


@builtin(deque)
def _deque(m: Machine, iterable: Value = (), maxlen: Value = None) -> Value:
    if maxlen is not None and (not isinstance(maxlen, int) or maxlen < 0):
        raise m.unsupported("the greatest length of a deque depends on the run", "give a number")
    made = Deque(m.store.new_key(), maxlen)
    m.store[made.key] = ()
    _extend(m, made, iterable)
    return made


@method("extend", Deque)
def _extend(m: Machine, base: Deque, more: Value) -> None:
    items = joined(m, content(m, base), collected(m, more))
    most = base.most
    m.store[base.key] = items if most is None else m.each(items, lambda all_of: all_of[max(len(all_of) - most, 0) :])


@method("extendleft", Deque)
def _extend_left(m: Machine, base: Deque, more: Value) -> None:
    turned = m.each(collected(m, more), lambda items: items[::-1])
    items = joined(m, turned, content(m, base))
    m.store[base.key] = items if base.most is None else m.each(items, lambda all_of: all_of[: base.most])


methods({
    "append": lambda m, base, value: _extend(m, base, (value,)),
    "appendleft": lambda m, base, value: _extend_left(m, base, (value,)),
    "pop": lambda m, base: METHODS[Reference, "pop"](m, base),
    "popleft": lambda m, base: METHODS[Reference, "pop"](m, base, 0),
    "copy": lambda m, base: _deque(m, items_of(m, base), base.most),
    "get maxlen": lambda m, base: base.most,
}, Deque)  # fmt: skip


@method("rotate", Deque)
def _rotate(m: Machine, base: Deque, n: Value = 1) -> None:
    def turned(items: tuple[Value, ...], by: Value) -> tuple[Value, ...]:
        at = -whole(by) % len(items) if items else 0
        return items[at:] + items[:at]

    by = indexed(m, n)
    m.store[base.key] = m.each(content(m, base), lambda items: over_values(m, by, partial(turned, items)))
