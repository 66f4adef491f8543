"""A decision diagram as Graphviz text (DOT) and as a picture (SVG) that needs no other program."""

from __future__ import annotations

from html import escape

from tightdp.errors import QueryError
from tightdp.logic.formula import Coin, InputBit, WeightedFormula, code_length
from tightdp.results.diagram import Structure

__all__ = ["MOST_DRAWN", "dot", "picture", "svg"]

MOST_DRAWN = 400
"""How many nodes a picture may have."""

_TRUE, _FALSE = 1, 0
_ACROSS, _DOWN, _MARGIN = 96, 64, 40
_COLOURS = {"input": "#dbeafe", "coin": "#fef3c7", "output": "#dcfce7", "constant": "#e5e7eb"}


def dot(result: Structure) -> str:
    """Return the diagram as Graphviz text; dashed edges are taken where a variable is false."""
    lines = ["digraph tightdp {", "  node [shape=box, style=filled];"]
    for level, nodes in _levels(result):
        ranked = " ".join(f"n{node};" for node in nodes)
        lines.append(f"  {{ rank=same; {ranked} }}")
        kind, label = _label(result, level)
        lines += [f'  n{node} [label="{label}", fillcolor="{_COLOURS[kind]}"];' for node in nodes]
    lines += [
        f'  n{node} [label="{name}", fillcolor="{_COLOURS["constant"]}"];'
        for node, name in ((_TRUE, "true"), (_FALSE, "false"))
        if node in _used(result)
    ]
    for node in sorted(_used(result) - {_TRUE, _FALSE}):
        lines.append(f"  n{node} -> n{_formula(result).diagram.low[node]} [style=dashed];")
        lines.append(f"  n{node} -> n{_formula(result).diagram.high[node]};")
    return "\n".join([*lines, "}", ""])


def svg(result: Structure) -> str:
    """Return the diagram as SVG. Raises QueryError above MOST_DRAWN nodes."""
    used = _used(result)
    if len(used) > MOST_DRAWN:
        raise QueryError(
            f"the diagram has {len(used):,} nodes, too many for a readable picture (at most {MOST_DRAWN})",
            "use fewer records or smaller domains, or write --dot and lay it out with Graphviz",
        )
    return _Drawing(result).svg()


def _formula(result: Structure) -> WeightedFormula:
    """Return the formula with the diagram. Raises QueryError where it is not there."""
    if result.formula is None:
        raise QueryError("the diagram on all datasets is large, and nothing needs it", "use fewer records, or --input")
    return result.formula


def picture(result: Structure) -> str:
    """Return the diagram as SVG, nothing where it is too large."""
    return svg(result) if result.formula is not None and len(_used(result)) <= MOST_DRAWN else ""


def _used(result: Structure) -> set[int]:
    """Return the nodes that the root reaches."""
    diagram = _formula(result).diagram
    found, stack = {diagram.root}, [diagram.root]
    while stack:
        node = stack.pop()
        if node > 1:
            fresh = {diagram.low[node], diagram.high[node]} - found
            found |= fresh
            stack.extend(fresh)
    return found


def _levels(result: Structure) -> list[tuple[int, list[int]]]:
    """Return the nodes of every level that has some, from the top."""
    rows: dict[int, list[int]] = {}
    for node in sorted(_used(result) - {_TRUE, _FALSE}):
        rows.setdefault(_formula(result).diagram.level[node], []).append(node)
    return sorted(rows.items())


def _label(result: Structure, level: int) -> tuple[str, str]:
    """Return the kind of the variable at a level and its name."""
    variable = _formula(result).variables[level]
    if isinstance(variable, Coin):
        return "coin", f"coin {variable.probability}"
    if isinstance(variable, InputBit):
        leaf = _formula(result).inputs[variable.leaf]
        part = f".{leaf.leaf}" if leaf.leaf else ""
        return "input", f"x[{leaf.client}]{part}{_bit(variable.bit, len(leaf.values))}"
    size = len(_formula(result).values[variable.component])
    part = f"[{variable.component}]" if len(_formula(result).values) > 1 else ""
    return "output", f"output{part}{_bit(variable.bit, size)}"


class _Drawing:
    """A layout by levels: one row per variable, nodes ordered by where their parents are."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.diagram = _formula(structure).diagram
        self.rows = _levels(structure)
        constants = sorted({_TRUE, _FALSE} & _used(structure))
        widest = max(len(nodes) for nodes in [*(nodes for _, nodes in self.rows), constants])
        self.width = 2 * _MARGIN + widest * _ACROSS
        self.height = 2 * _MARGIN + (len(self.rows) + 1) * _DOWN
        self.place: dict[int, tuple[float, float]] = {}
        pull: dict[int, list[float]] = {}
        for depth, nodes in enumerate([*(nodes for _, nodes in self.rows), constants]):
            nodes = sorted(nodes, key=lambda node: _mean(pull.get(node, [self.width / 2])))
            for at, node in enumerate(nodes):
                across = self.width * (at + 1) / (len(nodes) + 1)
                self.place[node] = (across, _MARGIN + depth * _DOWN)
                if node > 1:
                    for child in (self.diagram.low[node], self.diagram.high[node]):
                        pull.setdefault(child, []).append(across)

    def svg(self) -> str:
        """Return the picture."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        shapes = [*self._edges(), *self._nodes()]
        style = 'font-family="sans-serif" font-size="11" text-anchor="middle"'
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>', *shapes, "</svg>", ""])

    def _edges(self) -> list[str]:
        edges = []
        for node, (x, y) in self.place.items():
            if node <= 1:
                continue
            for child, dash in ((self.diagram.low[node], ' stroke-dasharray="4 3"'), (self.diagram.high[node], "")):
                right, below = self.place[child]
                ends = f'x1="{x:.0f}" y1="{y + 12:.0f}" x2="{right:.0f}" y2="{below - 12:.0f}"'
                edges.append(f'<line {ends} stroke="#475569"{dash}/>')
        return edges

    def _nodes(self) -> list[str]:
        labels = {node: _label(self.structure, level) for level, nodes in self.rows for node in nodes}
        labels |= {_TRUE: ("constant", "true"), _FALSE: ("constant", "false")}
        shapes = []
        for node, (x, y) in self.place.items():
            kind, label = labels[node]
            box = f'x="{x - 44:.0f}" y="{y - 12:.0f}" width="88" height="24" rx="6"'
            shapes.append(f'<rect {box} fill="{_COLOURS[kind]}" stroke="#475569"/>')
            shapes.append(f'<text x="{x:.0f}" y="{y + 4:.0f}">{escape(label)}</text>')
        return shapes


def _bit(bit: int, values: int) -> str:
    """Name a bit of the code of one of `values` values; a single bit needs no name."""
    return f" bit {bit}" if code_length(values) > 1 else ""


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
