"""A decision diagram as counts, as Graphviz text (DOT) and as a picture (SVG) that needs no other program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tightdp.logic.formula import Coin, InputBit, OutputBit, WeightedFormula
from tightdp.methods.symmetry import Symmetry
from tightdp.results.result import Result
from tightdp.results.shown import as_file

__all__ = ["DiagramSize", "Structure"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Structure(Result):
    """The diagram of a compiled mechanism.

    `nodes` counts the nodes of the library, where an edge may be complemented, `expanded` those without such edges.
    """

    query: ClassVar[str] = "show"
    json = "*counts"
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

    @property
    def size(self) -> DiagramSize:
        """The counts alone, without the diagram."""
        return DiagramSize(subject=self.subject, stats=self.stats, counts=tuple(self.counts.items()))

    def dot(self) -> str:
        """Return the diagram as Graphviz text; dashed edges are taken where a variable is false."""
        return as_file(self, "dot")

    def svg(self) -> str:
        """Return the diagram as SVG. Raises QueryError above 400 nodes."""
        return as_file(self, "svg")


@dataclass(frozen=True, kw_only=True, repr=False)
class DiagramSize(Result):
    """How many variables of each kind and how many nodes a diagram has, as in `Structure.counts`."""

    query: ClassVar[str] = "show"
    json = "*counts"
    counts: tuple[tuple[str, int], ...]
