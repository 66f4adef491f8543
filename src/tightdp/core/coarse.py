"""Draws of which a program sees less than their outcomes: what it sees is drawn instead.

Of noise that is only compared with a threshold one bit is seen: `geometric(count, ratio) >= 3` is a flip whose
probability depends on the count. Programs and their diagrams get smaller; the law on every dataset stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tightdp.core.evaluation import canonical, computed
from tightdp.core.nodes import Apply, Case, Const, CoreProgram, Draw, Expr, Nary, Once, children, reachable
from tightdp.core.operators import NOTHING
from tightdp.core.passes import Rebuild
from tightdp.exact.field import Number
from tightdp.language.laws import Law

__all__ = ["draw_what_is_seen"]

_MOST_WORK = 1 << 20
"""A draw whose outcomes, times the nodes computed from it, are more than this stays as it is."""


@dataclass
class _Seen:
    """A draw, the nodes computed from it alone, and those of all these that the rest of the program looks at."""

    draw: Draw
    nodes: list[Expr] = field(default_factory=list)
    looked_at: dict[int, Expr] = field(default_factory=dict)


@dataclass(frozen=True)
class _Coarse:
    """What is drawn in place of a draw: the value of `node`, which is `value_of[outcome]`."""

    node: Expr
    value_of: dict[object, object]

    def law(self, law: Law | None) -> Law | None:
        """Return the law of these values."""
        if law is None:
            return None
        masses: dict[Any, list[Number]] = {}
        for outcome, mass in law:
            masses.setdefault(self.value_of[outcome], []).append(mass)
        return tuple((value, some[0] if len(some) == 1 else sum(some, Fraction(0))) for value, some in masses.items())


def draw_what_is_seen(program: CoreProgram, watch: Callable[[], None] = lambda: None) -> CoreProgram:
    """Return a program with the same laws, in which outcomes of a draw that nothing tells apart are one outcome.

    Where a single value computed from a draw is looked at, that value is drawn. `watch` is called for every draw, and
    may raise to stop.
    """
    coarse: dict[int, _Coarse] = {}
    inner: set[int] = set()
    for seen in _all_seen(program):
        watch()
        found = _coarse(seen)
        if found is not None:
            coarse[seen.draw.serial] = found
            if found.node is not seen.draw:
                inner.update(node.serial for node in seen.nodes)
    if not coarse:
        return program
    drawn: dict[int, Expr] = {}

    def substitute(rebuild: Rebuild, expr: Expr) -> Expr | None:
        if isinstance(expr, Draw) and (instead := coarse.get(expr.serial)) is not None:
            watch()
            drawn[instead.node.serial] = rebuild.redrawn(expr, [instead.law(law) for law in expr.laws])
            if instead.node is not expr:
                rebuild.lost.add(expr.serial)
            return drawn[instead.node.serial]
        if expr.serial not in inner:
            return None
        if expr.serial not in drawn:
            rebuild.lost.add(expr.serial)
        return drawn.get(expr.serial, rebuild.builder.false)

    return Rebuild(substitute).program(program)


def _all_seen(program: CoreProgram) -> Iterable[_Seen]:
    """Return what is seen of every draw."""
    roots: dict[int, Expr] = {root.serial: root for root in program.roots}
    conditions = list(roots.values())
    while conditions:  # on which draws are made: they have draws below them, too
        conditions = [
            expr.active
            for expr in reachable(conditions)
            if isinstance(expr, Draw) and expr.active is not None and expr.active.serial not in roots
        ]
        roots.update({condition.serial: condition for condition in conditions})
    found: list[_Seen] = []
    from_one: dict[int, _Seen] = {}
    once = Once()
    for expr in reachable(list(roots.values())):
        below = [child for child in once.children(expr) if not isinstance(child, Const)]
        sources = {id(source): source for source in [from_one.get(child.serial) for child in below]}
        alone = next(iter(sources.values())) if len(sources) == 1 else None
        if alone is not None and isinstance(expr, (Apply, Case, Nary)):
            from_one[expr.serial] = alone
            alone.nodes.append(expr)
        else:
            for child in below:
                if (source := from_one.get(child.serial)) is not None:
                    source.looked_at[child.serial] = child
        if isinstance(expr, Draw):
            from_one[expr.serial] = _Seen(expr)
            found.append(from_one[expr.serial])
        if expr.serial in roots and (source := from_one.get(expr.serial)) is not None:
            source.looked_at[expr.serial] = expr
    return found


def _coarse(seen: _Seen) -> _Coarse | None:
    """Return what is drawn in place of a draw, None where all its outcomes are told apart."""
    draw, looked_at = seen.draw, list(seen.looked_at.values())
    if draw.serial in seen.looked_at or len(draw.values) * len(seen.nodes) > _MOST_WORK:
        return None
    columns = _columns(seen)
    first: dict[tuple[object, ...], object] = {}
    told_apart = [*zip(*(columns[node.serial] for node in looked_at), strict=True)] or [()] * len(draw.values)
    value_of = {value: first.setdefault(what, value) for value, what in zip(draw.values, told_apart, strict=True)}
    if len(first) == len(draw.values):
        return None
    if len(looked_at) == 1 and not any(value is NOTHING for (value,) in first):
        return _Coarse(looked_at[0], {value: what for value, (what,) in zip(draw.values, told_apart, strict=True)})
    return _Coarse(draw, value_of)


def _columns(seen: _Seen) -> dict[int, Sequence[object]]:
    """Return the values of every node that is computed from a draw, by its outcomes."""
    columns: dict[int, Sequence[object]] = {seen.draw.serial: seen.draw.values}
    for expr in seen.nodes:
        given = [
            [child.values[0]] * len(seen.draw.values) if isinstance(child, Const) else columns[child.serial]
            for child in children(expr)
        ]
        columns[expr.serial] = [canonical(expr, computed(expr, values)) for values in zip(*given, strict=True)]
    return columns
