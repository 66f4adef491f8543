"""The law of a program's components given the values of its input leaves: by a small diagram, or by elimination."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from tightdp.core.nodes import CoreProgram
from tightdp.core.operators import Value
from tightdp.core.outputs import ComponentCodes, Leaf, PlaceCodes
from tightdp.errors import ProgramError
from tightdp.exact.whole import Whole
from tightdp.limits.calibrated import (
    DOUBLES_AT_ONCE,
    ENTRIES_IN_ONE,
    LISTED_ROWS,
    LITTLE_WORK,
    NODE_STEPS,
    TABLE_ENTRIES,
)
from tightdp.logic.count import raw_weights
from tightdp.logic.encode import encode
from tightdp.logic.formula import WeightedFormula
from tightdp.logic.lanes import weights_of_all
from tightdp.methods.compiled import TooLarge, bounded, cells
from tightdp.methods.elimination import Failed, TooMuchWork, laws
from tightdp.methods.elimination_plan import Plan, TooWide, make_plan

Watch = Callable[[int], None]


class LeafLaws:
    """The law of the components of a program given the values of its input leaves.

    They are counted on the diagram, where there is one; else found by elimination, until that has taken more than
    `most` work, or is impossible.
    """

    def __init__(
        self,
        program: CoreProgram,
        backend: str,
        watch: Watch = lambda nodes: None,
        formula: WeightedFormula | None = None,
        most: int = DOUBLES_AT_ONCE,
    ) -> None:
        self.inputs, self.conditioned = program.inputs, bool(program.evidence)
        self._places = PlaceCodes([each.values for each in program.components], program.shape)
        self.codes: ComponentCodes = self._places if formula is None else formula.codes
        self._program, self._backend, self._watch, self._formula = program, backend, watch, formula
        self._left = float(most)

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
        """How many steps the law given some values takes, of many at once, besides those of a small diagram."""
        try:
            return 0 if self._formula is not None else len(self._plan.steps) // ENTRIES_IN_ONE
        except TooWide:
            return 0

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of variables and of nodes of the diagram; zeros where there is none."""
        return (0, 0) if self._formula is None else (len(self._formula.variables), self._formula.nodes)

    def given(self, values: Sequence[Value]) -> tuple[Mapping[int, Whole], Whole]:
        """Return the weights of all codes, and their denominator, where the leaves have these values.

        With `observe`, the weights of the runs that it accepts.
        """
        return next(self.every([values]))

    def every(self, choices: Sequence[Sequence[Value]]) -> Iterator[tuple[Mapping[int, Whole], Whole]]:
        """Yield what `given` returns for many values of the leaves, one after the other."""
        if self._formula is None:
            try:
                lanes = [[values[at] for at in self._order] for values in choices]
                found = list(laws(self._plan, lanes, lambda: self._watch(0), int(self._left), self._worked))
                yield from self._translated(found, self._places)
                return
            except Failed as failed:
                check = self._program.checks[failed.check]
                raise ProgramError(f"a run fails with {check.message}", check.hint, check.span) from None
            except (TooMuchWork, TooWide):
                self._formula = encode(self._program, self._backend, self._watch)
        formula = self._formula
        if NODE_STEPS * formula.nodes * len(choices) > LITTLE_WORK:
            weights = weights_of_all(formula, choices, lambda: self._watch(0))
        else:
            weights = (raw_weights(formula, formula.evidence_of(values)) for values in choices)
        yield from self._translated(weights, formula.codes)

    def _translated(
        self, found: Iterable[tuple[Mapping[int, Whole], Whole]], codes: ComponentCodes
    ) -> Iterator[tuple[Mapping[int, Whole], Whole]]:
        """Yield laws by other codes of the same components by `self.codes`."""
        if codes is self.codes:
            yield from found
            return
        known: dict[int, int] = {}
        for weights, denominator in found:
            for code in weights.keys() - known.keys():
                values = codes.component_values(code)
                places = [index[value] for index, value in zip(self.codes.index, values, strict=True)]
                known[code] = self.codes.code(places)
            yield {known[code]: weight for code, weight in weights.items()}, denominator

    def _worked(self, work: float) -> None:
        self._left -= work


def leaf_laws(program: CoreProgram, backend: str, watch: Watch = lambda nodes: None) -> tuple[LeafLaws, bool]:
    """Return the laws of a program's components given its leaves: with a diagram where one is small.

    Also return True if no run can fail; otherwise a failing run shows as a ProgramError of `given`. Raises ProgramError
    where a small diagram shows that a run can fail.
    """
    if cells(program) <= TABLE_ENTRIES:
        try:
            return LeafLaws(program, backend, watch, encode(program, backend, bounded(watch, TABLE_ENTRIES))), True
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
    return LeafLaws(program, backend, watch), safe
