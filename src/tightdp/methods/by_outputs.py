"""Outputs that fall into parts which are independent given the dataset: only the parts that neighbours change."""

from __future__ import annotations

from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.base import Comparison, Refusal
from tightdp.methods.by_aggregates import Aggregates
from tightdp.methods.control import Control
from tightdp.methods.output_parts import OutputParts, find_output_parts
from tightdp.methods.program import Program
from tightdp.methods.symmetry import Symmetry, of_groups

__all__ = ["IndependentOutputs", "look"]


class IndependentOutputs(Aggregates):
    """A program cut at its aggregates, of which every part of the output sees its own."""

    name = "independent outputs"

    def __init__(self, program: Program, table: AggregateTable, parts: OutputParts) -> None:
        super().__init__(program, table)
        self.parts = parts

    def comparison(self, control: Control) -> Comparison:
        return Comparison(lambda: self.parts.pairs(control))

    def largest(self, control: Control) -> Comparison:
        return self.comparison(control)

    def symmetry(self) -> Symmetry:
        return of_groups(self.table.groups, self.table.orbits, None, self.table.accuracy_classes())


def look(program: Program, control: Control) -> IndependentOutputs | Refusal:
    """Return the method where there are parts, and more than a few datasets."""
    if program.few:
        return Refusal("independent outputs: there are only a few datasets")
    table = program.aggregate(control)
    parts = None if table is None else find_output_parts(program.bound, table, program.backend)
    if table is None or parts is None or not parts.affordable:
        return Refusal("independent outputs: the output has no parts that see aggregates and share no draw")
    return IndependentOutputs(program, table, parts)
