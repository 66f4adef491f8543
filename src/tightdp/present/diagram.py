"""A decision diagram as Graphviz text (DOT) and as a picture (SVG) that needs no other program."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from statistics import fmean

from tightdp.errors import QueryError
from tightdp.logic.formula import Coin, InputBit, code_length
from tightdp.results.diagram import Structure

__all__ = ["MOST_DRAWN", "dot", "picture", "svg"]

MOST_DRAWN = 400
"""How many nodes a picture may have."""

_CONSTANTS = {0: "false", 1: "true"}
_ACROSS, _DOWN, _MARGIN = 96, 64, 40
_COLOURS = {"input": "#dbeafe", "coin": "#fef3c7", "output": "#dcfce7", "constant": "#e5e7eb"}


def dot(result: Structure) -> str:
    """Return the diagram as Graphviz text; dashed edges are taken where a variable is false."""
    drawn = _Drawn(result)
    lines = ["digraph tightdp {", "  node [shape=box, style=filled];"]
    for nodes in drawn.rows:
        ranked = " ".join(f"n{node};" for node in nodes)
        lines.append(f"  {{ rank=same; {ranked} }}")
        lines += map(drawn.box, nodes)
    lines += map(drawn.box, reversed(drawn.constants))
    for node in sorted(drawn.used - {*_CONSTANTS}):
        low, high = drawn.children(node)
        lines += [f"  n{node} -> n{low} [style=dashed];", f"  n{node} -> n{high};"]
    return "\n".join([*lines, "}", ""])


def svg(result: Structure) -> str:
    """Return the diagram as SVG. Raises QueryError above MOST_DRAWN nodes."""
    drawn = _Drawn(result)
    if len(drawn.used) > MOST_DRAWN:
        raise QueryError(
            f"the diagram has {len(drawn.used):,} nodes, too many for a readable picture (at most {MOST_DRAWN})",
            "use fewer records or smaller domains, or write --dot and lay it out with Graphviz",
        )
    return drawn.svg()


def picture(result: Structure) -> str:
    """Return the diagram as SVG, nothing where it is too large."""
    drawn = _Drawn(result)
    return drawn.svg() if len(drawn.used) <= MOST_DRAWN else ""


class _Drawn:
    """The nodes that the root reaches, in rows: one per variable, and the constants."""

    def __init__(self, structure: Structure) -> None:
        self.formula, self.diagram = structure.formula, structure.formula.diagram
        self.used, stack = {self.diagram.root}, [self.diagram.root]
        while stack:
            node = stack.pop()
            fresh = {*self.children(node)} - self.used
            self.used |= fresh
            stack.extend(fresh)
        self.constants = sorted(self.used & {*_CONSTANTS})
        by_level: dict[int, list[int]] = {}
        for node in sorted(self.used - {*_CONSTANTS}):
            by_level.setdefault(self.diagram.level[node], []).append(node)
        self.rows = [nodes for _, nodes in sorted(by_level.items())]

    def children(self, node: int) -> tuple[int, ...]:
        """Return where the edges of a node lead: where its variable is false, and where it is true."""
        return () if node in _CONSTANTS else (self.diagram.low[node], self.diagram.high[node])

    def box(self, node: int) -> str:
        """Return a node as Graphviz text."""
        kind, label = self.label(node)
        return f'  n{node} [label="{label}", fillcolor="{_COLOURS[kind]}"];'

    def label(self, node: int) -> tuple[str, str]:
        """Return the kind of a node and its name."""
        if node in _CONSTANTS:
            return "constant", _CONSTANTS[node]
        variable = self.formula.variables[self.diagram.level[node]]
        if isinstance(variable, Coin):
            return "coin", f"coin {variable.probability}"
        if isinstance(variable, InputBit):
            leaf = self.formula.inputs[variable.leaf]
            part = f".{leaf.leaf}" if leaf.leaf else ""
            return "input", f"x[{leaf.client}]{part}{_bit(variable.bit, len(leaf.values))}"
        size = len(self.formula.values[variable.component])
        part = f"[{variable.component}]" if len(self.formula.values) > 1 else ""
        return "output", f"output{part}{_bit(variable.bit, size)}"

    def svg(self) -> str:
        """Return the picture; the nodes of a row stand in the order of where their parents are."""
        rows = [*self.rows, self.constants]
        width = 2 * _MARGIN + max(map(len, rows)) * _ACROSS
        height = 2 * _MARGIN + len(rows) * _DOWN
        places: dict[int, tuple[float, float]] = {}
        pull: dict[int, list[float]] = {}
        for depth, nodes in enumerate(rows):
            nodes = sorted(nodes, key=lambda node: fmean(pull.get(node, [width / 2])))
            for at, node in enumerate(nodes):
                across = width * (at + 1) / (len(nodes) + 1)
                places[node] = (across, _MARGIN + depth * _DOWN)
                for child in self.children(node):
                    pull.setdefault(child, []).append(across)
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        style = 'font-family="sans-serif" font-size="11" text-anchor="middle"'
        start = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>'
        return "\n".join([start, *self._edges(places), *self._nodes(places), "</svg>", ""])

    def _edges(self, places: dict[int, tuple[float, float]]) -> Iterator[str]:
        for node, (x, y) in places.items():
            for child, dash in zip(self.children(node), (' stroke-dasharray="4 3"', ""), strict=False):
                right, below = places[child]
                ends = f'x1="{x:.0f}" y1="{y + 12:.0f}" x2="{right:.0f}" y2="{below - 12:.0f}"'
                yield f'<line {ends} stroke="#475569"{dash}/>'

    def _nodes(self, places: dict[int, tuple[float, float]]) -> Iterator[str]:
        for node, (x, y) in places.items():
            kind, label = self.label(node)
            box = f'x="{x - 44:.0f}" y="{y - 12:.0f}" width="88" height="24" rx="6"'
            yield f'<rect {box} fill="{_COLOURS[kind]}" stroke="#475569"/>'
            yield f'<text x="{x:.0f}" y="{y + 4:.0f}">{escape(label)}</text>'


def _bit(bit: int, values: int) -> str:
    """Name a bit of the code of one of `values` values; a single bit needs no name."""
    return f" bit {bit}" if code_length(values) > 1 else ""
