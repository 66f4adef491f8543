"""Records that are picked by their position, drawn or known: all are gone through for that."""

from __future__ import annotations

from typing import Any

from tightdp.core.lowering.machine import Failure
from tightdp.core.lowering.values import Value
from tightdp.every_n.learned import Unending
from tightdp.every_n.paths import refusal


def picked(m: Any, number: int) -> Value:
    """Return the record at a position that is drawn uniformly, which is published.

    In place of the draw each record is taken or left with probability 1/2: given the position, that is a factor
    which is the same for all datasets. What takes none does not come to an end.
    """
    if m.picked[number - 1] is None:
        if m.inside is not None:
            raise refusal("a record is drawn inside a loop over them")
        found = m.new_list((False, None))

        def look(record: Value, index: Value) -> None:
            if not m.store[found.key][0] and m.run.either(("taken", number)):
                m.store[found.key] = (True, record)

        m.for_every(look)
        if not m.store[found.key][0]:
            raise Unending
        m.picked[number - 1] = m.store.pop(found.key)[1]
    return m.picked[number - 1]


def record_at_place(m: Any, index: int) -> Value:
    """Return the record at a position that is known, counted from the beginning or, below 0, from the end."""
    found = m.new_list(())

    def look(record: Value, at: Value) -> None:
        if index < 0:
            m.store[found.key] = (record, *m.store[found.key])[:-index]
        elif m.builder.compared("eq", m.expr(at), m.expr(index)):
            m.store[found.key] = (record,)

    m.for_every(look)
    kept = m.store[found.key]
    if len(kept) < max(-index, 1):
        raise Failure("IndexError: tuple index out of range", "compare the index with len(x) first")
    return kept[-1]
