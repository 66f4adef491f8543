"""On which rows a value is needed: a condition on the columns that are known before, found from the uses of the value.

A guard is a disjunction of conjunctions, and may only err by asking for too much: one that grows too large is weakened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations

from tightdp.core.nodes import Case
from tightdp.core.operators import NOTHING, Value
from tightdp.methods.elimination_nodes import Node

__all__ = ["ALWAYS", "Atom", "Conjunction", "Guard", "Guards"]

Atom = tuple[int, frozenset[Value]]
"""The values of a column that a conjunction asks for."""
Conjunction = frozenset[Atom]
Guard = tuple[Conjunction, ...]
"""Alternatives; none of them means never."""

ALWAYS: Guard = (frozenset(),)

_MOST_ALTERNATIVES = 6
_MOST_ATOMS = 8
_MOST_EXPANDED = 256
_DEEPEST = 48
_MOST_VALUES = 64


class Guards:
    """Guards of the values of nodes, found from the last to the first; `position` is the step that gives a value."""

    def __init__(self, nodes: Sequence[Node], position: Sequence[int]) -> None:
        self.nodes = nodes
        self.position = position
        self._found: dict[int, Guard] = {}
        self._expanded = 0

    def of(self, column: int) -> Guard:
        """Return the guard of a value that was found already."""
        return self._found.get(column, ALWAYS)

    def find(self, place: int, uses: Iterable[tuple[Guard, Atom | None]]) -> Guard:
        """Return the guard of a value: the own guard of some use holds, and so does a further condition of this use."""
        before = self.position[place]
        self._expanded = 0
        found: Guard = ()
        for guard, atom in dict.fromkeys(uses):
            more = ALWAYS if atom is None else self._known(atom, before, 0)
            for conjunction in guard:
                found = self._either(found, self._all(conjunction, more, before))
            if found == ALWAYS:
                break
        self._found[place] = found = found or ALWAYS
        return found

    def implies(self, strong: Guard, weak: Guard) -> bool:
        """Whether the guard `strong` implies `weak`, as far as is easily seen."""
        return all(any(ours >= theirs for theirs in weak) for ours in map(self._closure, strong))

    def _closure(self, conjunction: Conjunction) -> Conjunction:
        """Return a conjunction with some of what follows from it."""
        return conjunction.union(*(guard[0] for column, _ in conjunction if len(guard := self.of(column)) == 1))

    # what follows from a condition, in terms of what is known before a step

    def _all(self, conjunction: Conjunction, more: Guard, before: int) -> Guard:
        return reduce(self._both, [self._known(atom, before, 0) for atom in conjunction], more)

    def _known(self, atom: Atom, before: int, depth: int) -> Guard:
        column, values = atom
        node = self.nodes[column]
        if not values:
            return ()
        if node.kind == "const":
            return ALWAYS if node.expr.values[0] in values else ()
        if node.negation:
            return self._known((node.operands[0], frozenset(not value for value in values)), before, depth)
        if self.position[column] < before:
            return (frozenset([atom]),)
        self._expanded += 1
        if depth > _DEEPEST or self._expanded > _MOST_EXPANDED:
            return ALWAYS
        guard = ALWAYS
        for conjunction in self._one(self.of(column)):
            guard = self._both(guard, self._known(conjunction, before, depth + 1))
        return self._both(guard, self._inside(node, values, before, depth + 1))

    def _one(self, guard: Guard) -> Conjunction:
        return guard[0] if len(guard) == 1 else frozenset.intersection(*guard)

    def _inside(self, node: Node, values: frozenset[Value], before: int, depth: int) -> Guard:
        """Return what the operands of a node must be for it to take one of some values."""
        if node.kind in ("and", "or"):
            if values != {node.kind == "and"}:
                return ALWAYS  # either operand may do, which would soon be too many alternatives
            left, right = (self._known((operand, values), before, depth) for operand in node.operands)
            return self._both(left, right)
        if node.kind == "case" and len(node.operands) <= _MOST_VALUES:
            return self._inside_case(node, values, before, depth)
        unknown = [operand for operand in node.operands if self.nodes[operand].kind != "const"]
        if node.kind == "apply" and len(unknown) == 1 and 0 < len(self.nodes[unknown[0]].values) <= _MOST_VALUES:
            (operand,) = unknown
            given = [self.nodes[other].expr.values[0] for other in node.operands]
            place = node.operands.index(operand)
            wanted = frozenset(
                value
                for value in self.nodes[operand].values
                if (result := node.value([*given[:place], value, *given[place + 1 :]])) is NOTHING or result in values
            )
            if len(wanted) < len(self.nodes[operand].values):
                return self._known((operand, wanted), before, depth)
        return ALWAYS

    def _inside_case(self, node: Node, values: frozenset[Value], before: int, depth: int) -> Guard:
        assert isinstance(node.expr, Case)
        chosen: dict[int, list[Value]] = {}
        for value, branch in zip(node.expr.selector.values, node.operands[1:], strict=True):
            chosen.setdefault(branch, []).append(value)
        possible = [
            selected
            for branch, selected in chosen.items()
            if self.nodes[branch].kind != "const" or self.nodes[branch].expr.values[0] in values
        ]
        if len(possible) == len(chosen):
            return ALWAYS
        return self._known((node.operands[0], frozenset(value for some in possible for value in some)), before, depth)

    # conditions

    def _both(self, left: Guard, right: Guard) -> Guard:
        if left == ALWAYS or right == ALWAYS:
            return right if left == ALWAYS else left
        found: list[Conjunction] = []
        for ours in left:
            for theirs in right:
                joined = dict(ours)
                for column, values in theirs:
                    joined[column] = joined.get(column, values) & values
                if all(joined.values()):
                    self._include(found, self._shortest(joined))
        if len(found) > _MOST_ALTERNATIVES:
            return min(left, right, key=len)
        return tuple(found)

    def _either(self, left: Guard, right: Guard) -> Guard:
        found = list(left)
        for conjunction in right:
            self._include(found, conjunction)
        while len(found) > _MOST_ALTERNATIVES:
            ours, theirs = max(combinations(found, 2), key=lambda pair: len(pair[0] & pair[1]))
            found.remove(ours)
            found.remove(theirs)
            self._include(found, ours & theirs)
        return tuple(found)

    def _include(self, found: list[Conjunction], new: Conjunction) -> None:
        """Add an alternative, merged with one that differs from it only in the values of one column."""
        if any(old <= new for old in found):
            return
        found[:] = [old for old in found if not new <= old]
        for old in found:
            theirs = dict(new)
            if len(old) == len(new) and len(old - new) == 1:
                ((column, values),) = old - new
                if column in theirs:
                    found.remove(old)
                    self._include(found, (old & new) | {(column, values | theirs[column])})
                    return
        found.append(new)

    def _shortest(self, known: dict[int, frozenset[Value]]) -> Conjunction:
        """Leave out what follows from the rest: where a column is known, its own guard held."""
        atoms = frozenset(known.items())
        if len(atoms) > 1:
            atoms -= {atom for column in known if len(guard := self.of(column)) == 1 for atom in guard[0]}
        if len(atoms) > _MOST_ATOMS:
            latest = sorted(atoms, key=lambda atom: self.position[atom[0]])[-_MOST_ATOMS:]
            atoms = frozenset(latest)
        return atoms
