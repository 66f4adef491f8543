"""Draws of which a program sees less than their outcomes: what it sees is drawn instead.

Of noise that is only compared with a threshold one bit is seen: `geometric(count, ratio) >= 3` is a flip whose
probability depends on the count. And however a client's message is written (coins and cases, a shuffled list that is
cut, a retry), all that matters of it is its law given the record: where records and messages are few, a single draw
takes the place of the client's own draws, so that what is written in different ways becomes one program. Programs and
their diagrams get smaller; the law on every dataset stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from tightdp.core.facts import MANY, NO_CLIENT, Seen, all_seen, clients_of
from tightdp.core.nodes import CoreProgram, Draw, Expr, Input, Once, Shuffled, reachable
from tightdp.core.operators import NOTHING, Value
from tightdp.core.passes import Rebuild, graph_of, of_one_form
from tightdp.core.together import law_together
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.lazily import lazily
from tightdp.language.laws import Law
from tightdp.limits.calibrated import LONG_LOOP, OPERATION_COMBINATIONS, TABLE_ENTRIES

networkx: Any = lazily("networkx")


@dataclass(frozen=True)
class _Coarse:
    """What is drawn in place of a draw: the value of `node`, which is `value_of[outcome]`."""

    node: Expr
    value_of: dict[object, object]

    def law(self, law: Law | None) -> Law | None:
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
    for seen in dict.fromkeys(all_seen(_with_conditions(program)).values()):
        watch()
        found = _coarse(seen)
        if found is not None:
            coarse[seen.source.serial] = found
            if found.node is not seen.source:
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


def alike_outcomes(roots: Iterable[Expr], born: int) -> dict[int, dict[object, object]]:
    """Return for draws that are newer than a node, by their serials, which outcome stands for each of those like it.

    What is computed from it for the roots is the same.
    """
    every = all_seen({each.serial: each for each in roots}, born).values()
    found = ((seen.source.serial, _first_alike(seen)) for seen in dict.fromkeys(every))
    return {serial: alike for serial, alike in found if alike}


def _with_conditions(program: CoreProgram) -> dict[int, Expr]:
    """Return the roots of a program, and the conditions on which draws are made: they have draws below them, too."""
    roots: dict[int, Expr] = {root.serial: root for root in program.roots}
    conditions = list(roots.values())
    while conditions:
        conditions = [
            expr.active
            for expr in reachable(conditions)
            if isinstance(expr, Draw) and expr.active is not None and expr.active.serial not in roots
        ]
        roots.update({condition.serial: condition for condition in conditions})
    return roots


def _coarse(seen: Seen) -> _Coarse | None:
    """Return what is drawn in place of a draw, None where all its outcomes are told apart."""
    alike = _first_alike(seen)
    if alike is None:
        return None
    if len(seen.looked_at) == 1:
        ((serial, node),) = seen.looked_at.items()
        column = seen.columns[serial]
        if not any(value is NOTHING for value in column):
            return _Coarse(node, dict(zip(seen.source.values, column, strict=True)))
    return _Coarse(seen.source, alike)


def _first_alike(seen: Seen) -> dict[object, object] | None:
    """Return which outcome of a draw stands for each of those like it, None where all are told apart."""
    draw = seen.source
    if draw.serial in seen.looked_at or len(draw.values) * len(seen.nodes) > OPERATION_COMBINATIONS:
        return None
    told_apart = [*zip(*(seen.columns[serial] for serial in seen.looked_at), strict=True)] or [()] * len(draw.values)
    first: dict[tuple[object, ...], object] = {}
    alike = {value: first.setdefault(what, value) for value, what in zip(draw.values, told_apart, strict=True)}
    return None if len(first) == len(draw.values) else alike


@dataclass
class _Own:
    """Draws of one client that belong together, the nodes computed from them, and those that others look at."""

    draws: set[int] = field(default_factory=set)
    nodes: list[Expr] = field(default_factory=list)
    seen: list[Expr] = field(default_factory=list)
    inputs: tuple[Input, ...] = ()
    laws: dict[tuple[Value, ...], Law] = field(default_factory=dict)
    drawn: Expr | None = None


def draw_once_per_client(program: CoreProgram, watch: Callable[[], None] = lambda: None) -> CoreProgram:
    """Return a program with the same laws in which clients draw once what others see of their own draws.

    `watch` is called for every client, and may raise to stop.
    """
    known: dict[Hashable, list[dict[tuple[Value, ...], Law]]] = {}
    instead: dict[int, _Own] = {}
    for own in _all_own(program):
        watch()
        key = graph_of(own.inputs, own.seen)
        if key not in known:
            laws = _laws(own, watch)
            known[key] = [] if laws is None else [laws]
        for laws in known[key]:
            own.laws = laws
            instead.update((node.serial, own) for node in own.nodes)
    if not instead:
        return program

    def substitute(rebuild: Rebuild, expr: Expr) -> Expr | None:
        own = instead.get(expr.serial)
        if own is None:
            return None
        if not any(expr is node for node in own.seen):
            rebuild.lost.add(expr.serial)
            return rebuild.builder.false
        return _drawn(rebuild, own, expr)

    return of_one_form(Rebuild(substitute).program(program))


def _drawn(rebuild: Rebuild, own: _Own, expr: Expr) -> Expr:
    """Return the image of a node that is seen: the new draw, or the part of it that the node is."""
    builder = rebuild.builder
    alone = len(own.seen) == 1
    if own.drawn is None:
        inputs = [rebuild.image(leaf) for leaf in own.inputs]
        selector = inputs[0] if len(inputs) == 1 else builder.total("tuple", *inputs) if inputs else builder.true
        keys = [(value,) if len(inputs) == 1 else value if inputs else () for value in selector.values]
        own.drawn = builder.draw("client", selector, [own.laws[key] for key in keys])
    if alone:
        return own.drawn
    at = own.seen.index(expr)
    return builder.case(own.drawn, [builder.const(value[at]) for value in own.drawn.values])


def _laws(own: _Own, watch: Callable[[], None]) -> dict[tuple[Value, ...], Law] | None:
    """Return the law of what is seen by what the inputs are; None where that is much, or the draws are few already."""
    several = prod(len(leaf.values) for leaf in own.inputs)
    if len(own.nodes) > TABLE_ENTRIES or several > TABLE_ENTRIES or _drawn_already(own):
        return None
    laws: dict[tuple[Value, ...], Law] = {}
    alone = len(own.seen) == 1
    most, entries, own_nodes = OPERATION_COMBINATIONS // several, 0, {node.serial for node in own.nodes}
    for done, values in enumerate(product(*(leaf.values for leaf in own.inputs)), start=1):
        given = {leaf.serial: value for leaf, value in zip(own.inputs, values, strict=True)}
        law = law_together(own.seen, given, own_nodes, most, watch)
        if law is None or (entries := entries + len(law)) > TABLE_ENTRIES:
            return None
        if done == LONG_LOOP and entries * several > TABLE_ENTRIES * done:  # as far as the first ones tell
            return None
        outcomes: Sequence[Any] = [outcome[0] for outcome in law] if alone else list(law)
        laws[values] = tuple(zip(outcomes, law.values(), strict=True))
    return laws


def _drawn_already(own: _Own) -> bool:
    """Whether all that is seen comes from one draw, by what the client knows; or a law has an unknown."""
    draws = [node for node in own.nodes if isinstance(node, (Draw, Shuffled))]
    if any(_with_unknown(node) for node in draws if isinstance(node, Draw)):
        return True
    random = {node.serial for node in own.nodes}
    return len(draws) == 1 and isinstance(draws[0], Draw) and draws[0].selector.serial not in random


def _with_unknown(draw: Draw) -> bool:
    masses = (mass for law in draw.laws if law is not None for _, mass in law)
    return any(isinstance(mass, ExpNumber) and mass.unknown for mass in masses)


# what belongs to one client alone


def _all_own(program: CoreProgram) -> Iterable[_Own]:
    """Return the draws of clients that nothing else is computed from, with what is seen of them."""
    nodes = reachable(program.roots)
    owner = _owners(nodes)
    groups = networkx.utils.UnionFind()
    one_draw: dict[int, Hashable] = {}
    for expr in nodes:
        if owner[expr.serial] < 0:
            continue
        below = [one_draw[child.serial] for child in expr.children if child.serial in one_draw]
        if isinstance(expr, (Draw, Shuffled)):
            below.append(expr.serial if isinstance(expr, Draw) else ("shuffle", expr.group))
        if below:
            groups.union(*below)
            one_draw[expr.serial] = below[0]
    return _seen(program, nodes, {serial: groups[draw] for serial, draw in one_draw.items()})


def _seen(program: CoreProgram, nodes: Sequence[Expr], group: dict[int, Hashable]) -> Iterable[_Own]:
    found: dict[Hashable, _Own] = {}
    seen = {root.serial for root in program.roots}
    once = Once()
    for expr in nodes:
        mine = group.get(expr.serial)
        seen.update(child.serial for child in once.children(expr) if mine is None or group.get(child.serial) != mine)
    for expr in nodes:
        if expr.serial in group:
            own = found.setdefault(group[expr.serial], _Own())
            own.nodes.append(expr)
            if expr.serial in seen:
                own.seen.append(expr)
    for own in found.values():
        own.inputs = tuple(expr for expr in reachable(own.seen) if isinstance(expr, Input))
    return found.values()


def _owners(nodes: Sequence[Expr]) -> dict[int, int]:
    """Return whose the nodes are that depend on draws or inputs (`clients_of`): a draw is its only user's."""
    client = clients_of(nodes)
    users: dict[int, int] = {}
    for expr in reversed(nodes):
        mine = client[expr.serial]
        user = users.get(expr.serial, NO_CLIENT) if mine == NO_CLIENT else mine
        if user == NO_CLIENT or mine == MANY:
            continue
        for child in expr.children:
            if client[child.serial] == NO_CLIENT:
                users[child.serial] = user if users.get(child.serial, user) == user else MANY
    random = (expr.serial for expr in nodes if isinstance(expr, (Draw, Shuffled)) and client[expr.serial] == NO_CLIENT)
    return clients_of(nodes, {serial: users.get(serial, MANY) for serial in random})


def handed_on(program: CoreProgram) -> Iterable[tuple[tuple[Input, ...], list[Expr], set[int]]]:
    """Yield for every client the leaves of its record, what others see of its nodes, and the numbers of these nodes.

    The output law on a dataset is linear in the joint law of what is seen of one client.
    """
    nodes, once = reachable(program.roots), Once()
    owner = _owners(nodes)
    seen = {root.serial for root in program.roots}
    for expr in nodes:
        seen.update(child.serial for child in once.children(expr) if owner[child.serial] != owner[expr.serial])
    own: dict[int, list[Expr]] = {leaf.client: [] for leaf in program.inputs}
    for expr in nodes:
        if owner[expr.serial] >= 0:
            own[owner[expr.serial]].append(expr)
    for client, mine in own.items():
        leaves = tuple(leaf for leaf in program.inputs if leaf.client == client)
        yield leaves, [expr for expr in mine if expr.serial in seen], {expr.serial for expr in mine}
