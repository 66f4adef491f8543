"""Records that are all treated alike.

A dataset may be lowered as `Alike`: the code of the first record stands for that of all. A comprehension over it is
again alike; a sum over it is a fresh input leaf, a shuffle of it the counts of its values; its length is known.
Whatever else is done with it raises an error (`NotAlike`, or Python's own where no items are found), after which the
program is lowered record by record.
"""

from __future__ import annotations

from collections.abc import Callable

from tightdp.core.lowering.machine import Machine
from tightdp.core.lowering.store import key_of
from tightdp.core.lowering.undoing import tentatively
from tightdp.core.lowering.values import Alike, Permuted, Reference, Value, is_scalar, known
from tightdp.core.nodes import Draw, Expr, reachable


class NotAlike(Exception):
    """The program does not treat all records alike, as far as that is seen."""


def template(m: Machine, iterable: Value) -> Alike | None:
    """Return an iterable whose items are alike for all records, or None for any other."""
    if isinstance(iterable, Reference):
        iterable = m.store.get(iterable.key)
    return iterable if isinstance(iterable, Alike) else None


def for_all(m: Machine, alike: Alike, action: Callable[[tuple[Value, ...]], Value]) -> Alike:
    """Return what an action makes of the items of every record. Raises NotAlike where it does anything besides.

    It must write nothing outside, end no run, and draw for itself: a draw that was made before is shared by records.
    """
    mark, targets = m.builder.newest, m.frame.key if m.frame.comprehension else None
    own = lambda cell: key_of(cell) == targets  # noqa: E731
    unseen, items = tentatively(m, lambda: action(alike.items), own)
    if not unseen:
        raise NotAlike("what it does with one record changes what others meet, or ends a run")
    if not isinstance(items, tuple) or not all(map(is_scalar, items)):
        raise NotAlike("what it makes of one record is no list of plain values")
    sums = {leaf.serial for leaf, _ in m.added}
    for expr in reachable([item for item in items if isinstance(item, Expr)]):
        if isinstance(expr, Draw) and expr.serial <= mark and expr.serial not in m.own:
            raise NotAlike("records share a draw")
        if expr.serial in sums:
            raise NotAlike("what it makes of one record depends on all")
        if isinstance(expr, Draw):
            m.own.add(expr.serial)
    return Alike(items, alike.times)


def added(m: Machine, one: Value, times: int) -> Value:
    """Return the sum over all records of what one adds, which is an integer."""
    expr = m.expr(one)
    if not all(isinstance(value, int) for value in expr.values):
        raise NotAlike("it adds up something other than integers")
    if len(expr.values) == 1:
        return times * int(expr.values[0])
    for leaf, known_one in m.added:
        if known_one is expr:
            return leaf
    low, high = int(min(expr.values)), int(max(expr.values))
    leaf = m.builder.input(1 + len(m.added), 0, range(times * low, times * high + 1))
    m.added.append((leaf, expr))
    return leaf


def permuted(m: Machine, alike: Alike) -> Permuted:
    """Return the items in uniformly random order."""
    exprs = [m.expr(item) for item in alike.items]
    values = list(dict.fromkeys(value for expr in exprs for value in expr.values))
    counts = []
    for value in values[:-1]:
        here = known(m.builder.sum([m.builder.equals(expr, value) for expr in exprs]))
        counts.append(m.expr(added(m, here, alike.times)))
    return Permuted(tuple(values), tuple(counts), len(alike))
