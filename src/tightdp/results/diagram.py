"""A decision diagram as counts, as Graphviz text (DOT) and as a picture (SVG) that needs no other program."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar

from tightdp.errors import QueryError
from tightdp.logic.formula import Coin, InputBit, OutputBit, WeightedFormula, code_length
from tightdp.methods.symmetry import Symmetry
from tightdp.present.view import View
from tightdp.results.result import Result

__all__ = ["MOST_DRAWN", "Structure"]

MOST_DRAWN = 400
"""How many nodes a picture may have."""

_TRUE, _FALSE = 1, 0
_ACROSS, _DOWN, _MARGIN = 96, 64, 40
_COLOURS = {"input": "#dbeafe", "coin": "#fef3c7", "output": "#dcfce7", "constant": "#e5e7eb"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Structure(Result):
    """The diagram of a compiled mechanism.

    `nodes` counts the nodes of the library, where an edge may be complemented, `expanded` those without such edges.
    """

    query: ClassVar[str] = "show"
    formula: WeightedFormula = field(compare=False)
    symmetry: Symmetry

    @property
    def counts(self) -> dict[str, int]:
        """How many variables of each kind and how many nodes there are."""
        variables, diagram = self.formula.variables, self.formula.diagram
        return {
            "variables": len(variables),
            "input_bits": sum(isinstance(variable, InputBit) for variable in variables),
            "coins": sum(isinstance(variable, Coin) for variable in variables),
            "output_bits": sum(isinstance(variable, OutputBit) for variable in variables),
            "nodes": self.formula.nodes,
            "expanded": len(diagram),
        }

    def _answer(self) -> dict[str, Any]:
        return dict(self.counts)

    def view(self) -> View:
        """Return what a person sees."""
        facts = [(name.replace("_", " "), f"{count:,}") for name, count in self.counts.items()]
        facts.append(("method", self.stats.method))
        facts += [("symmetry", words) for words in self.symmetry.words]
        for name in ("inference_set", "privacy_set", "accuracy_set"):
            size = getattr(self.symmetry, name)
            if size is not None:
                facts.append((name.replace("_", " "), f"{size:,}"))
        picture = self._repr_svg_() or ""
        return View(f"{self.subject}, neighbours: {self.neighbours}", tuple(facts), picture=picture)

    def dot(self) -> str:
        """Return the diagram as Graphviz text; dashed edges are taken where a variable is false."""
        lines = ["digraph tightdp {", "  node [shape=box, style=filled];"]
        for level, nodes in self._levels():
            ranked = " ".join(f"n{node};" for node in nodes)
            lines.append(f"  {{ rank=same; {ranked} }}")
            kind, label = self._label(level)
            lines += [f'  n{node} [label="{label}", fillcolor="{_COLOURS[kind]}"];' for node in nodes]
        lines += [
            f'  n{node} [label="{name}", fillcolor="{_COLOURS["constant"]}"];'
            for node, name in ((_TRUE, "true"), (_FALSE, "false"))
            if node in self._used()
        ]
        for node in sorted(self._used() - {_TRUE, _FALSE}):
            lines.append(f"  n{node} -> n{self.formula.diagram.low[node]} [style=dashed];")
            lines.append(f"  n{node} -> n{self.formula.diagram.high[node]};")
        return "\n".join([*lines, "}", ""])

    def svg(self) -> str:
        """Return the diagram as SVG. Raises QueryError above MOST_DRAWN nodes."""
        used = self._used()
        if len(used) > MOST_DRAWN:
            raise QueryError(
                f"the diagram has {len(used):,} nodes, too many for a readable picture (at most {MOST_DRAWN})",
                "use fewer records or smaller domains, or write --dot and lay it out with Graphviz",
            )
        return _Drawing(self).svg()

    def _repr_svg_(self) -> str | None:
        return self.svg() if len(self._used()) <= MOST_DRAWN else None

    def _used(self) -> set[int]:
        """Return the nodes that the root reaches."""
        diagram = self.formula.diagram
        found, stack = {diagram.root}, [diagram.root]
        while stack:
            node = stack.pop()
            if node > 1:
                fresh = {diagram.low[node], diagram.high[node]} - found
                found |= fresh
                stack.extend(fresh)
        return found

    def _levels(self) -> list[tuple[int, list[int]]]:
        """Return the nodes of every level that has some, from the top."""
        rows: dict[int, list[int]] = {}
        for node in sorted(self._used() - {_TRUE, _FALSE}):
            rows.setdefault(self.formula.diagram.level[node], []).append(node)
        return sorted(rows.items())

    def _label(self, level: int) -> tuple[str, str]:
        """Return the kind of the variable at a level and its name."""
        variable = self.formula.variables[level]
        if isinstance(variable, Coin):
            return "coin", f"coin {variable.probability}"
        if isinstance(variable, InputBit):
            leaf = self.formula.inputs[variable.leaf]
            part = f".{leaf.leaf}" if leaf.leaf else ""
            return "input", f"x[{leaf.client}]{part}{_bit(variable.bit, len(leaf.values))}"
        size = len(self.formula.values[variable.component])
        part = f"[{variable.component}]" if len(self.formula.values) > 1 else ""
        return "output", f"output{part}{_bit(variable.bit, size)}"


class _Drawing:
    """A layout by levels: one row per variable, nodes ordered by where their parents are."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.diagram = structure.formula.diagram
        self.rows = structure._levels()
        constants = sorted({_TRUE, _FALSE} & structure._used())
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
        labels = {node: self.structure._label(level) for level, nodes in self.rows for node in nodes}
        labels |= {_TRUE: ("constant", "true"), _FALSE: ("constant", "false")}
        shapes = []
        for node, (x, y) in self.place.items():
            kind, label = labels[node]
            box = f'x="{x - 44:.0f}" y="{y - 12:.0f}" width="88" height="24" rx="6"'
            shapes.append(f'<rect {box} fill="{_COLOURS[kind]}" stroke="#475569"/>')
            shapes.append(f'<text x="{x:.0f}" y="{y + 4:.0f}">{escape(label)}</text>')
        return shapes


def _bit(bit: int, values: int) -> str:
    """Name a bit of the code of one of so many values; a single bit needs no name."""
    return f" bit {bit}" if code_length(values) > 1 else ""


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
