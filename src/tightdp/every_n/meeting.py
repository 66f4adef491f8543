"""Runs of a part of a program, which meet again where everything that is still read is the same.

A run is followed from its beginning, with the outcomes of its draws given. Where a statement or a round begins after a
draw, what the rest of the run depends on is written down. A run that comes to what an earlier one came to goes on as
that did, so that it ends there. What is kept is a graph without circles, along whose edges probabilities are
multiplied, and added where edges meet: the elimination of draws that nothing reads any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from graphlib import TopologicalSorter
from typing import Any, Generic, TypeAlias, TypeVar

from tightdp.every_n.deciding import Choices, Met
from tightdp.exact.field import Number
from tightdp.language.laws import Law

T = TypeVar("T")
_Edge: TypeAlias = "tuple[int, Number]"
_FEW_CHOICES = 8
"""A run with so many choices counts as one step, longer ones as more."""


def steps_of_run(choices: int) -> int:
    """Return how many steps a run with so many choices counts as."""
    return 1 + choices // _FEW_CHOICES


class Meeting(Generic[T]):
    """The runs of a part of a program: `follow` follows one to its end, and is asked until all that differ are known.

    It returns None for a run that is left out.
    """

    def __init__(self, follow: Callable[[Choices], T | None]) -> None:
        self._follow = follow
        self._nodes: dict[Any, int] = {}
        self._edges: list[list[_Edge]] = [[]]
        self._ends: dict[int, T] = {}
        self._path: list[tuple[int, int]] = []
        self._gates: dict[int, tuple[int, ...]] = {}
        self._given = self._passed = 0

    def runs(self) -> Iterator[int]:
        """Follow all runs; yield how many choices each made."""
        past: Sequence[tuple[Law, int]] | None = ()
        while past is not None:
            choices = Choices(past, self)
            self._given = len(past)
            self._path = [(at, node) for at, node in self._path if at < self._given]
            self._passed = 0
            try:
                found = self._follow(choices)
            except Met:
                pass
            else:
                if found is not None:
                    self._ends[len(self._edges)] = found
                    self._lead(choices, len(self._edges))
                    self._edges.append([])
            yield len(choices.made)
            past = choices.next()

    def reached(self, choices: Choices, key_of: Callable[[], Any], gate: bool = False) -> None:
        at = len(choices.made)
        if at < self._given:  # up to here the run is the one before
            if self._passed < len(self._path) and self._path[self._passed][0] == at:
                choices.node, choices.weight = self._path[self._passed][1], Fraction(1)
                self._passed += 1
            return
        key = key_of()
        if key is None:
            if not gate:
                return
            key = tuple(choices.made)
        node = self._nodes.get((gate, key))
        self._lead(choices, len(self._edges) if node is None else node)
        if node is not None:
            raise Met
        choices.node = self._nodes[gate, key] = len(self._edges)
        self._path.append((at, choices.node))
        self._passed += 1
        self._edges.append([])
        if gate:
            self._gates[choices.node] = tuple(at for _, at in choices.made)

    def _lead(self, choices: Choices, node: int) -> None:
        self._edges[choices.node].append((node, choices.weight))
        choices.weight = Fraction(1)

    def found(self) -> tuple[list[tuple[T, Number]], dict[tuple[int, ...], Number]]:
        """Return the ends of runs with their probabilities, given the gate that they passed; and those of the gates."""
        ends: list[tuple[T, Number]] = []
        gates: dict[tuple[int, ...], Number] = {}
        into: dict[int, Number] = {0: Fraction(1)}
        for node in self._in_order():
            weight = into.pop(node)
            if node in self._ends:
                ends.append((self._ends[node], weight))
            if node in self._gates:
                gates[self._gates[node]], weight = weight, Fraction(1)
            for target, share in self._edges[node]:
                into[target] = into.get(target, Fraction(0)) + weight * share
        return ends, gates

    def _in_order(self) -> list[int]:
        """Return the nodes, each before those that it leads to."""
        leads = {node: [target for target, _ in edges] for node, edges in enumerate(self._edges)}
        return list(TopologicalSorter(leads).static_order())[::-1]
