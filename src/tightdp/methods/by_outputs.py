"""Outputs that fall into parts which are independent given the dataset: only the parts that neighbours change."""

from __future__ import annotations

from math import prod

from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.base import Comparison, Refusal
from tightdp.methods.by_aggregates import Aggregates
from tightdp.methods.control import Control
from tightdp.methods.output_parts import OutputParts, find_output_parts
from tightdp.methods.program import Program
from tightdp.methods.states import States
from tightdp.methods.symmetry import Symmetry, of_groups

__all__ = ["IndependentOutputs", "look"]

_MANY_CHANGES = 5_000
"""Up to this many changes of the counts that parts see are enumerated in any case."""
_FEW_ENTRIES = 2_000_000
"""This many probabilities of joint laws are quickly computed."""


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
    if program.forced is None and _few_states(table) and parts.number_of_changes > _MANY_CHANGES:
        return Refusal("independent outputs: the states of all aggregates are fewer than the counts that parts see")
    return IndependentOutputs(program, table, parts)


def _few_states(table: AggregateTable) -> bool:
    """Whether records alone decide the aggregates, and the joint laws of their states are quickly computed."""
    outputs = prod(len(component.values) for component in table.aggregate.rest.components)
    return isinstance(table.orbits, States) and table.orbits.number * outputs <= _FEW_ENTRIES
