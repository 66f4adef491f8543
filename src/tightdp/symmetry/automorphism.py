"""Automorphisms of a coloured graph, found by colour refinement and by fixing one vertex after another.

Two colourings of the same graph are refined side by side: vertices stay alike only while they see the same colours
around them. Where some stay alike, one of them is matched, to itself if possible, and the refinement goes on. There is
no backtracking: the result is a candidate, and where the procedure fails there is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tightdp.symmetry.graph import Vertex

if TYPE_CHECKING:
    import networkx

__all__ = ["Automorphisms"]

Colours = Mapping[Vertex, Hashable]
"""Colours that are added to those of the graph."""


class Automorphisms:
    """The automorphisms of one coloured graph."""

    def __init__(self, graph: networkx.Graph, watch: Callable[[], None] = lambda: None) -> None:
        self.vertices: list[Vertex] = sorted(graph, key=_priority)
        self._index = {vertex: at for at, vertex in enumerate(self.vertices)}
        self._neighbours = [[self._index[other] for other in graph[vertex]] for vertex in self.vertices]
        self._colours = [graph.nodes[vertex]["colour"] for vertex in self.vertices]
        self._watch = watch

    def cells(self, fixed: Colours) -> dict[Vertex, int]:
        """Return a number for every vertex; no automorphism exchanges vertices with different numbers."""
        refinement = self._start(fixed, fixed)
        assert refinement is not None
        return {vertex: refinement.left[at] for at, vertex in enumerate(self.vertices)}

    def candidate(self, before: Colours, after: Colours) -> dict[Vertex, Vertex] | None:
        """Return a map of vertices that takes the colours `before` to the colours `after`, or None."""
        refinement = self._start(before, after)
        if refinement is None:
            return None
        for at in range(len(self.vertices)):
            if not refinement.match(at):
                return None
        image = refinement.image()
        return {vertex: self.vertices[image[at]] for at, vertex in enumerate(self.vertices)}

    def _start(self, before: Colours, after: Colours) -> _Refinement | None:
        numbers: dict[Any, int] = {}
        sides = [
            [
                numbers.setdefault((colour, added.get(vertex)), len(numbers))
                for vertex, colour in zip(self.vertices, self._colours, strict=True)
            ]
            for added in (before, after)
        ]
        refinement = _Refinement(self._neighbours, sides[0], sides[1], self._watch)
        everything = set(range(len(self.vertices)))
        return refinement if refinement.consistent and refinement.refine(everything, everything) else None


def _priority(vertex: Vertex) -> tuple[int, Any]:
    """Return the order in which vertices are matched: clients first, then outputs, nodes and their values."""
    kinds = ("client", "component", "node", "value", "port", "row")
    return kinds.index(str(vertex[0])), vertex[1:]


class _Refinement:
    """Two colourings, `left` and `right`, with as many vertices of every colour in each."""

    def __init__(
        self, neighbours: Sequence[Sequence[int]], left: list[int], right: list[int], watch: Callable[[], None]
    ) -> None:
        self._neighbours = neighbours
        self._watch = watch
        self.left, self.right = left, right
        self._members: tuple[dict[int, set[int]], dict[int, set[int]]] = ({}, {})
        for members, colours in zip(self._members, (left, right), strict=True):
            for vertex, colour in enumerate(colours):
                members.setdefault(colour, set()).add(vertex)
        self._fresh = max([*left, *right], default=0) + 1

    @property
    def consistent(self) -> bool:
        """Whether both sides have as many vertices of every colour."""
        lefts, rights = self._members
        return lefts.keys() == rights.keys() and all(len(lefts[c]) == len(rights[c]) for c in lefts)

    def image(self) -> list[int]:
        """Return the right vertex of every left vertex, once every vertex has its own colour."""
        return [next(iter(self._members[1][colour])) for colour in self.left]

    def match(self, vertex: int) -> bool:
        """Match a left vertex with a right one, itself if possible, and refine; False where that fails."""
        colour = self.left[vertex]
        if len(self._members[0][colour]) == 1:
            return True
        others = self._members[1][colour]
        image = vertex if vertex in others else min(others)
        self._recolour(((vertex,), (image,)))
        return self.refine({vertex}, {image})

    def refine(self, left: set[int], right: set[int]) -> bool:
        """Refine until nothing changes, from vertices whose colour is new; False if the sides become different."""
        dirty = (left, right)
        while dirty[0]:
            self._watch()
            found = self._split(dirty)
            if found is None:
                return False
            dirty = found
        return True

    def _split(self, dirty: tuple[set[int], set[int]]) -> tuple[set[int], set[int]] | None:
        """Tell vertices apart that see different numbers of newly coloured neighbours; return the new ones."""
        seen = [self._seen(colours, changed) for colours, changed in zip((self.left, self.right), dirty, strict=True)]
        groups: dict[int, dict[Any, tuple[list[int], list[int]]]] = {}
        for side, (signatures, colours) in enumerate(zip(seen, (self.left, self.right), strict=True)):
            for vertex, counter in signatures.items():
                signature = tuple(sorted(counter.items()))
                groups.setdefault(colours[vertex], {}).setdefault(signature, ([], []))[side].append(vertex)
        fresh: tuple[set[int], set[int]] = (set(), set())
        for colour, parts in sorted(groups.items()):
            if any(len(ours) != len(theirs) for ours, theirs in parts.values()):
                return None
            left = len(self._members[0][colour]) - sum(len(ours) for ours, _ in parts.values())
            for part in [part for _, part in sorted(parts.items())][: len(parts) - (left == 0)]:
                self._recolour(part)
                for side in (0, 1):
                    fresh[side].update(part[side])
        return fresh

    def _seen(self, colours: Sequence[int], changed: set[int]) -> dict[int, Counter[int]]:
        """Return, for every neighbour of a changed vertex, how many changed neighbours of each colour it has."""
        result: dict[int, Counter[int]] = {}
        for vertex in changed:
            colour = colours[vertex]
            for other in self._neighbours[vertex]:
                found = result.get(other)
                if found is None:
                    found = result[other] = Counter()
                found[colour] += 1
        return result

    def _recolour(self, part: tuple[Sequence[int], Sequence[int]]) -> None:
        """Give vertices of the two sides a colour of their own."""
        colour, self._fresh = self._fresh, self._fresh + 1
        for members, colours, vertices in zip(self._members, (self.left, self.right), part, strict=True):
            for vertex in vertices:
                members[colours[vertex]].discard(vertex)
                colours[vertex] = colour
            members[colour] = set(vertices)
