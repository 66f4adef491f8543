"""The coloured graph of a program: symmetries of the program are among the automorphisms of the graph.

Every node of the core program is a vertex, and so is every value that it can take. A row of an operation's table is a
vertex joined to the values of its operands and of its result, whatever the operation does. n-ary sums and the like are
single vertices joined to their operands, whose values are anchored: a counting circuit would hide that its operands can
be exchanged. An automorphism is only a candidate; `renaming` decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from tightdp.core.nodes import Apply, Case, Const, CoreProgram, Draw, Expr, Input, Nary, reachable
from tightdp.core.operators import REFUSED, Value, operation
from tightdp.exact.field import Number
from tightdp.exact.lazily import lazily
from tightdp.limits import pay
from tightdp.limits.calibrated import LITTLE_WORK, TABLE_ENTRIES

if TYPE_CHECKING:
    import networkx
else:
    networkx = lazily("networkx")


Vertex = tuple[Hashable, ...]
"""What a vertex stands for; see `client`, `node`, `value` and `component`."""


def client(number: int) -> Vertex:
    return ("client", number)


def node(expr: Expr) -> Vertex:
    """Return the vertex of a node of the program."""
    return ("node", expr.serial)


def value(expr: Expr, position: int) -> Vertex:
    """Return the vertex of a node's value at a position."""
    return ("value", expr.serial, position)


def component(number: int) -> Vertex:
    """Return the vertex of an output component."""
    return ("component", number)


def program_graph(program: CoreProgram) -> networkx.Graph | None:
    """Return the graph of a program without `Shuffled` nodes, every vertex with a `colour`; None where it is too large.

    Records are not coloured by their values, nor clients by their numbers.
    """
    nodes = reachable([*program.inputs, *program.components, *program.evidence])
    if sum(1 + len(expr.values) for expr in nodes) > LITTLE_WORK:
        return None
    graph = networkx.Graph()
    anchored = _anchored(program, nodes)
    for expr in nodes:
        _add_node(graph, expr, expr.serial in anchored)
        if graph.number_of_nodes() > LITTLE_WORK:
            return None
    for leaf in program.inputs:
        graph.add_node(client(leaf.client), colour=("client",))
        graph.add_edge(client(leaf.client), node(leaf))
    for number, root in enumerate(program.components):
        graph.add_node(component(number), colour=("component",))
        graph.add_edge(component(number), node(root))
    return graph


def _anchored(program: CoreProgram, nodes: Sequence[Expr]) -> set[int]:
    """Return the nodes whose values cannot be renamed: what is added up or compared by size, and conditions."""
    found = {expr.serial for expr in program.evidence}
    for expr in nodes:
        if isinstance(expr, Nary) or (isinstance(expr, Apply) and _rows(expr) > TABLE_ENTRIES):
            found.update((expr.serial, *(operand.serial for operand in expr.operands)))
    return found


def _add_node(graph: networkx.Graph, expr: Expr, anchored: bool) -> None:
    kind = expr.operator if isinstance(expr, (Apply, Nary)) else expr.leaf if isinstance(expr, Input) else ""
    graph.add_node(node(expr), colour=("node", type(expr).__name__, kind, len(expr.values)))
    masses = _masses(expr)
    for position, item in enumerate(expr.values):
        meaning = (type(item).__name__, item) if anchored else ()
        graph.add_node(value(expr, position), colour=("value", meaning, masses.get(item)))
        graph.add_edge(value(expr, position), node(expr))
    match expr:
        case Nary():
            _join_operands(graph, expr)
        case Apply() if _rows(expr) > TABLE_ENTRIES:
            _join_operands(graph, expr)
        case Apply():
            _add_rows(graph, expr, _table(expr))
        case Case():
            _add_rows(graph, expr, _branches(expr))
        case Draw() if not isinstance(expr.selector, Const):
            _add_rows(graph, expr, _laws(expr))


def _join_operands(graph: networkx.Graph, expr: Apply | Nary) -> None:
    for place, operand in enumerate(expr.operands):
        port: Vertex = ("port", expr.serial, place)
        graph.add_node(port, colour=("port", place if isinstance(expr, Apply) else 0))
        graph.add_edge(port, node(expr))
        graph.add_edge(port, node(operand))


Row = tuple[tuple[Vertex, ...], Any]
"""The values that a row of a table joins, and its colour."""


def _add_rows(graph: networkx.Graph, expr: Expr, rows: Iterator[Row]) -> None:
    for number, (joined, colour) in enumerate(rows):
        row: Vertex = ("row", expr.serial, number)
        graph.add_node(row, colour=("row", colour))
        graph.add_edges_from((row, vertex) for vertex in joined)


def _unknown(expr: Apply) -> list[Expr]:
    return [operand for operand in dict.fromkeys(expr.operands) if not isinstance(operand, Const)]


def _rows(expr: Apply) -> int:
    return prod(len(operand.values) for operand in _unknown(expr))


def _table(expr: Apply) -> Iterator[Row]:
    function, unknown = operation(expr.operator), _unknown(expr)
    place = {operand.serial: at for at, operand in enumerate(unknown)}
    for positions in product(*(range(len(operand.values)) for operand in unknown)):
        plain = [
            operand.values[positions[place[operand.serial]] if operand.serial in place else 0]
            for operand in expr.operands
        ]
        joined = [value(operand, at) for operand, at in zip(unknown, positions, strict=True)]
        with suppress(*REFUSED, KeyError):
            joined.append(value(expr, expr.index[function(*plain)]))
        yield tuple(joined), None


def _branches(expr: Case) -> Iterator[Row]:
    for position, branch in enumerate(expr.branches):
        for at, item in enumerate(branch.values):
            if item in expr.index:
                yield (value(expr.selector, position), value(branch, at), value(expr, expr.index[item])), None


def _masses(expr: Expr) -> dict[Value, Number]:
    """Return the probability of every outcome of a draw whose law is fixed."""
    if not isinstance(expr, Draw) or not isinstance(expr.selector, Const) or expr.laws[0] is None:
        return {}
    return dict(expr.laws[0])


def _laws(expr: Draw) -> Iterator[Row]:
    for position, law in enumerate(expr.laws):
        for outcome, mass in law or ():
            yield (value(expr.selector, position), value(expr, expr.index[outcome])), mass


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
        pay(self._watch, 6 * sum(map(len, seen)))  # to count and to order what each of them sees
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
