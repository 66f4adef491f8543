"""Which values some nodes can take together, where they are far fewer than the combinations of what each can take.

Scores of one dataset are an example: each is a count, but all of them follow from which records there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tightdp.core.nodes import Apply, Case, Const, Draw, Expr, Input, Nary, Shuffled, children
from tightdp.core.operators import NOTHING, Value, applied, connected, operation

__all__ = ["values_together"]

_MOST_WORK = 1 << 19
"""How many values of nodes are computed before this is given up."""

State = tuple[Value, ...]


def values_together(
    nodes: Sequence[Expr], most: int, watch: Callable[[], None] = lambda: None
) -> tuple[State, ...] | None:
    """Return the tuples of values that nodes may take together, or more; None where they are more than `most`.

    Leaves are visited in the order in which the nodes reach them, draws as if every outcome were possible. Of
    every state only what is still needed is kept: an n-ary operation is one value, that of the operands so far.
    """
    walk = _Walk(nodes)
    states: dict[State, None] = {(): None}
    work = 0
    for place in range(-1, len(walk.leaves)):
        step = _Step(walk, place)
        found: dict[State, None] = {}
        for state in states:
            watch()
            found.update(dict.fromkeys(step.after(state)))
            work += step.size
            if len(found) > most or work > _MOST_WORK:
                return None
        states = found
    known = (dict(zip(walk.kept, state, strict=True)) for state in states)
    whole = dict.fromkeys(tuple(walk.get(node, values) for node in nodes) for values in known)
    return tuple(values for values in whole if all(value is not NOTHING for value in values))


class _Walk:
    """The nodes below some nodes, down to leaves, and at which leaf each is known."""

    def __init__(self, nodes: Sequence[Expr]) -> None:
        self.leaves: list[Expr] = []
        self.known: dict[int, int] = {}
        """The place of the last leaf below every node, -1 where there is none."""
        self.inner: list[Expr] = []
        self.needed: dict[int, int] = {}
        """The place of the last leaf at which the value of a node is still used, or asked for at the end."""
        self.kept: tuple[int, ...] = ()
        for node in nodes:
            self._add(node)
        self.inner.sort(key=lambda expr: expr.serial)
        for expr in self.inner:
            for operand in children(expr):
                used = self.known[operand.serial] if isinstance(expr, Nary) else self.known[expr.serial]
                self.needed[operand.serial] = max(self.needed.get(operand.serial, -1), used)
        for node in nodes:
            self.needed[node.serial] = len(self.leaves)

    def _add(self, node: Expr) -> None:
        stack = [(node, False)]
        while stack:
            expr, done = stack.pop()
            if expr.serial in self.known:
                continue
            if isinstance(expr, (Const, Input, Draw, Shuffled)):
                self.known[expr.serial] = -1 if isinstance(expr, Const) else len(self.leaves)
                if not isinstance(expr, Const):
                    self.leaves.append(expr)
            elif done:
                self.known[expr.serial] = max(self.known[below.serial] for below in children(expr))
                self.inner.append(expr)
            else:
                stack.append((expr, True))
                stack += [(below, False) for below in reversed(children(expr))]

    def get(self, expr: Expr, values: dict[int, Value]) -> Value:
        """Return the value of a node that is known."""
        return expr.values[0] if isinstance(expr, Const) else values[expr.serial]


class _Step:
    """What one more leaf makes known."""

    def __init__(self, walk: _Walk, place: int) -> None:
        self._walk, self._before = walk, walk.kept
        self._leaf = walk.leaves[place] if place >= 0 else None
        known, needed = walk.known, walk.needed
        self._computed: list[tuple[Expr, list[Expr]]] = []
        for expr in walk.inner:
            now = [operand for operand in children(expr) if known[operand.serial] == place]
            if known[expr.serial] == place or (isinstance(expr, Nary) and now):
                self._computed.append((expr, now))
        fresh = [*self._before, *(expr.serial for expr, _ in self._computed)]
        if self._leaf is not None:
            fresh.append(self._leaf.serial)
        walk.kept = self._kept = tuple(
            serial for serial in dict.fromkeys(fresh) if known[serial] > place or needed[serial] > place
        )
        self.size = (1 + len(self._computed)) * (1 if self._leaf is None else len(self._leaf.values))

    def after(self, state: State) -> Iterator[State]:
        """Yield the states that follow one state."""
        for outcome in (None,) if self._leaf is None else self._leaf.values:
            values = dict(zip(self._before, state, strict=True))
            if self._leaf is not None:
                values[self._leaf.serial] = outcome
            for expr, now in self._computed:
                values[expr.serial] = self._value(expr, now, values)
            yield tuple(values[serial] for serial in self._kept)

    def _value(self, expr: Expr, now: Sequence[Expr], values: dict[int, Value]) -> Value:
        get = self._walk.get
        match expr:
            case Nary():
                so_far = [values[expr.serial]] if expr.serial in values else []
                return _joined(expr.operator, [*so_far, *(get(operand, values) for operand in now)])
            case Case():
                at = expr.selector.index.get(get(expr.selector, values))
                return NOTHING if at is None else get(expr.branches[at], values)
            case Apply():
                return applied(operation(expr.operator), [get(operand, values) for operand in expr.operands])
        raise TypeError(type(expr))


def _joined(operator: str, values: Sequence[Value]) -> Value:
    if len(values) == 1:
        return values[0]
    if operator in ("and", "or"):
        return connected(operator == "or", values)
    if any(value is NOTHING for value in values):
        return NOTHING
    if operator in ("sum", "xor"):
        return sum(values) if operator == "sum" else sum(values) % 2 == 1
    return operation(operator)(*values)
