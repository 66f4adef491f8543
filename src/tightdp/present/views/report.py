"""How explanations, diagrams (also as Graphviz text and SVG), plans and reports are shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from html import escape
from statistics import fmean

from tightdp.errors import QueryError
from tightdp.exact.numbers import Exact, as_text, brief, listed
from tightdp.logic.formula import Coin, InputBit, code_length
from tightdp.methods.base import Summary
from tightdp.present.page import page
from tightdp.present.show import file_of, view, view_of
from tightdp.present.text import Grid, View
from tightdp.present.words import heading, shown_number, unresolved_remark, witness_sentence
from tightdp.results.report import DiagramSize, Explanation, Remedy, Report, Smallest, Structure

MOST_DRAWN = 400
"""How many nodes a picture may have."""

_CONSTANTS = {0: "false", 1: "true"}
_ACROSS, _DOWN, _MARGIN = 96, 64, 40
_HIGHEST, _LEAST_DOWN = 900, 36
"""How high a picture is at most, and how near its rows come for that before it is drawn smaller."""
_MEANINGS = {
    "input": "record",
    "coin": "coin",
    "output": "output",
    "constant": "result",
    "high": "true",
    "low": "false",
}
"""What the colours of nodes and the kinds of edges mean."""
_LEGEND_WIDTH = 24 + sum(44 + 6 * len(said) for said in _MEANINGS.values())
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
    try:
        return svg(result)
    except QueryError:
        return ""


class _Drawn:
    """The nodes that the root reaches, in rows: one per variable, and the constants."""

    def __init__(self, structure: Structure) -> None:
        if structure.formula is None:
            what = "the diagram on all datasets is large, and nothing needs it"
            raise QueryError(what, "use fewer records, or give a dataset with --input")
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
        down = min(_DOWN, max(_LEAST_DOWN, (_HIGHEST - 2 * _MARGIN) // len(rows)))
        width = max(2 * _MARGIN + max(map(len, rows)) * _ACROSS, _LEGEND_WIDTH)
        height = 2 * _MARGIN + len(rows) * down
        places: dict[int, tuple[float, float]] = {}
        pull: dict[int, list[float]] = {}
        for depth, nodes in enumerate(rows):
            nodes = sorted(nodes, key=lambda node: fmean(pull.get(node, [width / 2])))
            for at, node in enumerate(nodes):
                across = width * (at + 1) / (len(nodes) + 1)
                places[node] = (across, 2 * _MARGIN + depth * down)
                for child in self.children(node):
                    pull.setdefault(child, []).append(across)
        shown = min(1.0, _HIGHEST / height)
        size = f'width="{width * shown:.0f}" height="{height * shown:.0f}" viewBox="0 0 {width} {height}"'
        style = 'font-family="sans-serif" font-size="11" text-anchor="middle"'
        start = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>'
        return "\n".join([start, *_legend(), *self._edges(places), *self._nodes(places), "</svg>", ""])

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


def _legend() -> Iterator[str]:
    """Say what the colours and the lines mean, in one row above the diagram."""
    at = 12
    for kind, said in _MEANINGS.items():
        if kind in _COLOURS:
            yield f'<rect x="{at}" y="10" width="20" height="12" rx="3" fill="{_COLOURS[kind]}" stroke="#475569"/>'
        else:
            dash = ' stroke-dasharray="4 3"' if kind == "low" else ""
            yield f'<line x1="{at}" y1="16" x2="{at + 20}" y2="16" stroke="#475569"{dash}/>'
        yield f'<text x="{at + 26}" y="20" text-anchor="start" fill="#475569">{said}</text>'
        at += 44 + 6 * len(said)


def _bit(bit: int, values: int) -> str:
    """Name a bit of the code of one of `values` values; a single bit needs no name."""
    return f" bit {bit}" if code_length(values) > 1 else ""


_SETS = ("inference_set", "privacy_set", "accuracy_set")


@view_of.register
def _structure_view(result: Structure) -> View:
    seen = _size_view(result.size)
    method = [("method", result.stats.method)] if result.stats.method else []
    facts = [*seen.facts, *method, *(("symmetry", words) for words in result.symmetry.words)]
    sizes = {name: getattr(result.symmetry, name) for name in _SETS}
    facts += [(name.replace("_", " "), f"{size:,}") for name, size in sizes.items() if size is not None]
    grid = (
        Grid(("plan", "estimated steps", "actual steps", "taken"), tuple(_rows(result.plan))) if result.plan else None
    )
    said = [*unresolved_remark(result, "the methods that were looked at are listed")]
    return View(seen.heading, facts, grid, said, picture(result))


def _rows(plan: Iterable[Summary], depth: int = 0) -> Iterator[tuple[str, ...]]:
    """Yield the methods that were looked at, with their work; of the parts of a program those that answer."""
    for step in plan:
        name = "  " * depth + step.method
        if step.refusal:
            if not depth:
                yield name, "", "", f"no: {step.refusal}"
            continue
        yield name, f"{step.estimated:,}", f"{step.actual:,}", "yes"
        yield from _rows(step.parts, depth + 1)


@view_of.register
def _size_view(result: DiagramSize) -> View:
    facts = [(name.replace("_", " "), f"{count:,}") for name, count in result.counts]
    return View(f"{result.subject}, neighbours: {result.neighbours}", facts)


@file_of.register
def _structure_file(result: Structure, form: str) -> str:
    return dot(result) if form == "dot" else svg(result)


@view_of.register
def _explanation_view(result: Explanation) -> View:
    facts = [("e^ε at most" if result.status == "bounded" else "tight e^ε", _number(result.exp_epsilon))]
    said = [witness_sentence(result.witness)] if result.witness is not None else []
    if result.claimed is not None:
        at = f" and δ = {as_text(result.delta)}" if result.delta else ""
        facts.append((f"claim e^ε = {as_text(result.claimed)}{at}", _verdict(bool(result.holds))))
    if result.line is not None:
        facts.append((f"to blame: line {result.line}", result.source[result.line - 1].strip()))
    for draw in result.draws:
        published, fixed = _number(draw.published), _number(draw.fixed)
        facts.append((f"draw, line {draw.line}: {draw.text}", f"e^ε {published} when published, {fixed} when fixed"))
    if result.smallest is not None:
        said.append(_smallest_sentence(result.smallest))
    remark = unresolved_remark(result, "what is shown belongs to the pair compared so far")
    if result.reason and result.status == "exact":
        said.append(f"{result.reason[0].upper()}{result.reason[1:]}.")
    return View(heading(result), facts, _remedies(result), (*remark, *said))


def _remedies(result: Explanation) -> Grid | None:
    def row(remedy: Remedy) -> tuple[str, ...]:
        change = f"{remedy.before} → {remedy.after}"
        moved = "not known" if remedy.moved is None else shown_number(remedy.moved)
        return str(remedy.line), change, _number(remedy.loss), _verdict(remedy.holds), moved

    if not result.remedies:
        return None
    header = ("line", "if it were", "δ then" if result.delta else "e^ε then", "claim", "outputs moved")
    return Grid(header, tuple(map(row, result.remedies)), keys=2)


def _verdict(holds: bool) -> str:
    return "holds" if holds else "refuted"


def _smallest_sentence(found: Smallest) -> str:
    where = ", ".join(f"{name}={brief(value, quoted=False)}" for name, value in found.parameters)
    records = listed([brief(record, 40) for record in found.records])
    event = listed([brief(output) for output in found.witness.event])
    pair = f"x = {brief(found.witness.x)} and x' = {brief(found.witness.x_prime)}"
    return f"It fails already at {where} with records {records}: on {pair} by the output {event}."


def _number(value: Exact) -> str:
    return "∞" if value == math.inf else shown_number(value)


@view_of.register
def _report_view(result: Report) -> View:
    seen = view(result.privacy)
    left = tuple(f"Left out: {name}, as {reason}." for name, reason in result.left_out)
    framed = f'<iframe style="width:100%;height:85vh;border:0" srcdoc="{escape(page(result), quote=True)}"></iframe>'
    return View(seen.heading, seen.facts, None, (*seen.sentences, *left), framed)


@file_of.register
def _report_file(result: Report, form: str) -> str:
    if form != "html":
        raise QueryError(f"a report is no {form}", "write it as html")
    return page(result)
