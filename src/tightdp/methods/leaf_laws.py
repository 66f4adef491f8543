"""The law of a program's components given the values of its input leaves: by a small diagram, or by elimination."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from tightdp.core.nodes import CoreProgram, Input
from tightdp.core.operators import Value
from tightdp.core.outputs import ComponentCodes, Leaf, PlaceCodes
from tightdp.errors import ProgramError
from tightdp.exact.whole import Whole
from tightdp.limits.calibrated import DOUBLES_AT_ONCE, ENTRIES_IN_ONE, LISTED_ROWS, TABLE_ENTRIES
from tightdp.logic.count import raw_weights
from tightdp.logic.encode import encode
from tightdp.logic.formula import WeightedFormula
from tightdp.methods.compiled import TooLarge, bounded, cells
from tightdp.methods.elimination import Failed, TooMuchWork, laws
from tightdp.methods.elimination_plan import Plan, TooWide, make_plan

Watch = Callable[[int], None]


class LeafLaws(Protocol):
    """The law of the components of a program given the values of its input leaves."""

    inputs: tuple[Input, ...]
    codes: ComponentCodes
    conditioned: bool

    @property
    def length(self) -> int:
        """How many steps the law given some values takes, of many at once, besides those of a small diagram."""

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of variables and of nodes of the diagram; zeros where there is none."""

    def given(self, values: Sequence[Value]) -> tuple[Mapping[int, Whole], Whole]:
        """Return the weights of all codes, and their denominator, where the leaves have these values.

        With `observe`, the weights of the runs that it accepts.
        """

    def every(self, choices: Sequence[Sequence[Value]]) -> Iterator[tuple[Mapping[int, Whole], Whole]]:
        """Yield what `given` returns for many values of the leaves, one after the other."""


class ByDiagram:
    """Laws counted on a diagram."""

    length = 0

    def __init__(self, formula: WeightedFormula) -> None:
        self.formula = formula
        self.inputs, self.conditioned = formula.inputs, formula.conditioned
        self.codes: ComponentCodes = formula.codes

    @property
    def size(self) -> tuple[int, int]:
        return len(self.formula.variables), self.formula.nodes

    def given(self, values: Sequence[Value]) -> tuple[Mapping[int, Whole], Whole]:
        return raw_weights(self.formula, self.formula.evidence_of(values))

    def every(self, choices: Sequence[Sequence[Value]]) -> Iterator[tuple[Mapping[int, Whole], Whole]]:
        return map(self.given, choices)


class ByElimination:
    """Laws by elimination; counted on a diagram once that took more than `most` work, or where it is impossible."""

    def __init__(self, program: CoreProgram, backend: str, watch: Watch, most: int = DOUBLES_AT_ONCE) -> None:
        self.inputs, self.conditioned = program.inputs, bool(program.evidence)
        self.codes: ComponentCodes = PlaceCodes([each.values for each in program.components], program.shape)
        self._program, self._backend, self._watch = program, backend, watch
        self._left = float(most)
        self._instead: ByDiagram | None = None

    @cached_property
    def _plan(self) -> Plan:
        return make_plan(self._program)

    @cached_property
    def _order(self) -> list[int]:
        """The places of the leaves in the order in which elimination learns them."""
        place = {leaf.serial: at for at, leaf in enumerate(self.inputs)}
        return [place[self._plan.nodes.nodes[at].expr.serial] for at in self._plan.inputs]

    @property
    def length(self) -> int:
        try:
            return len(self._plan.steps) // ENTRIES_IN_ONE
        except TooWide:
            return 0

    @property
    def size(self) -> tuple[int, int]:
        return (0, 0) if self._instead is None else self._instead.size

    def given(self, values: Sequence[Value]) -> tuple[Mapping[int, Whole], Whole]:
        return next(self.every([values]))

    def every(self, choices: Sequence[Sequence[Value]]) -> Iterator[tuple[Mapping[int, Whole], Whole]]:
        if self._instead is None:
            try:
                lanes = [[values[at] for at in self._order] for values in choices]
                yield from list(laws(self._plan, lanes, lambda: self._watch(0), int(self._left), self._worked))
                return
            except Failed as failed:
                check = self._program.checks[failed.check]
                raise ProgramError(f"a run fails with {check.message}", check.hint, check.span) from None
            except (TooMuchWork, TooWide):
                self._instead = ByDiagram(encode(self._program, self._backend, self._watch))
        read = self._instead.codes.component_values
        for weights, denominator in map(self._instead.given, choices):
            yield {self._code(read(code)): weight for code, weight in weights.items()}, denominator

    def _worked(self, work: float) -> None:
        self._left -= work

    def _code(self, values: Sequence[Value]) -> int:
        return self.codes.code([places[value] for places, value in zip(self.codes.index, values, strict=True)])


def leaf_laws(program: CoreProgram, backend: str, watch: Watch = lambda nodes: None) -> tuple[LeafLaws, bool]:
    """Return the laws of a program's components given its leaves: by elimination where a diagram is not small.

    Also return True if no run can fail; otherwise a failing run shows as a ProgramError of `given`. Raises ProgramError
    where a small diagram shows that a run can fail.
    """
    if cells(program) <= TABLE_ENTRIES:
        try:
            return ByDiagram(encode(program, backend, bounded(watch, TABLE_ENTRIES))), True
        except TooLarge:
            pass
    safe = not program.checks
    if not safe and cells(program) <= LISTED_ROWS:
        try:
            only = replace(program, components=program.components[:1], shape=Leaf(0), evidence=())
            encode(only, backend, bounded(watch, LISTED_ROWS))
            safe = True
        except TooLarge:
            pass
    return ByElimination(program, backend, watch), safe
