"""The law of a program's components given the values of its input leaves: by a small diagram, or by elimination."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Protocol

from tightdp.core.codes import ComponentCodes, PlaceCodes
from tightdp.core.nodes import (
    Apply,
    Case,
    CoreProgram,
    Draw,
    Expr,
    Input,
    Leaf,
    Nary,
    reachable,
)
from tightdp.core.operators import Value
from tightdp.errors import ProgramError
from tightdp.exact.whole import Whole
from tightdp.logic.count import raw_weights
from tightdp.logic.encode import encode
from tightdp.logic.formula import WeightedFormula
from tightdp.methods.elimination import INTEGERS, Elimination, Failed, TooMuchWork
from tightdp.methods.elimination_arrays import TIME_OF_STEP
from tightdp.methods.elimination_plan import Plan, TooWide
from tightdp.methods.elimination_trial import make_plan
from tightdp.methods.elimination_walk import Walk
from tightdp.methods.lane_laws import FEWEST, laws_of_lanes, rounded_laws

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "SMALL",
    "SMALL_CELLS",
    "ByDiagram",
    "ByElimination",
    "LeafLaws",
    "TooLarge",
    "bounded",
    "cells",
    "leaf_laws",
]

SMALL = 4_000
"""A diagram of at most this many nodes is built quickly."""
SMALL_CELLS = 4_000
"""Up to this many combinations of operand values are tabulated quickly."""
_CHECKED = 20_000
"""Up to this many nodes, a diagram says whether a run can fail."""
_MOST_WORK = 20_000_000
"""How many rows elimination makes for all values of the leaves together, before a diagram is made after all."""

_TIMES_THE_ROWS = 8
_SOME_ROWS = 20_000
"""Laws for many values of the leaves are found at once within this multiple of the rows of one, plus some."""

Watch = Callable[[int], None]


class TooLarge(Exception):
    """A diagram is too large to be worthwhile."""


def bounded(watch: Watch, most: int) -> Watch:
    """Return a function that watches, and raises TooLarge where a diagram has more nodes."""

    def limits(nodes: int = 0) -> None:
        watch(nodes)
        if nodes > most:
            raise TooLarge

    return limits


def cells(program: CoreProgram) -> int:
    """Return the number of combinations of operand values, over all operations, plus that of outcomes of draws."""
    return sum(map(_cells, reachable([*program.roots, *program.inputs])))


def _cells(expr: Expr) -> int:
    match expr:
        case Apply(operator="tuple"):
            return len(expr.values)
        case Apply():
            return prod(len(operand.values) for operand in expr.operands)
        case Nary():
            return len(expr.values) * max(len(operand.values) for operand in expr.operands)
        case Draw():
            return len(expr.laws) * len(expr.values)
        case Case():
            return sum(len(branch.values) for branch in expr.branches)
        case _:
            return len(expr.values)


class LeafLaws(Protocol):
    """The law of the components of a program given the values of its input leaves."""

    inputs: tuple[Input, ...]
    codes: ComponentCodes
    conditioned: bool

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of variables and of nodes of the diagram; zeros where there is none."""

    def given(self, values: Sequence[Value]) -> tuple[Mapping[int, Whole], Whole]:
        """Return the weights of all codes, and their denominator, where the leaves have these values.

        With `observe`, the weights of the runs that it accepts.
        """

    def every(self, choices: Sequence[Sequence[Value]]) -> Iterator[tuple[Mapping[int, Whole], Whole]]:
        """Yield what `given` returns for many values of the leaves, one after the other."""

    def rounded(self, choices: Sequence[Sequence[Value]]) -> tuple[list[int], Floats] | None:
        """Return codes, and a matrix of their weights, rounded: probabilities, with a row for every choice.

        None where that takes long. Relative errors are below 2^-28; an entry is 0 only if the exact weight is.
        """


class ByDiagram:
    """Laws counted on a diagram."""

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

    def rounded(self, choices: Sequence[Sequence[Value]]) -> tuple[list[int], Floats] | None:
        return None


class ByElimination:
    """Laws by elimination; counted on a diagram once that took more than `most` rows, or where it is impossible."""

    def __init__(self, program: CoreProgram, backend: str, watch: Watch, most: int = _MOST_WORK) -> None:
        self.inputs, self.conditioned = program.inputs, bool(program.evidence)
        self.codes: ComponentCodes = PlaceCodes([each.values for each in program.components], program.shape)
        self._program, self._backend, self._watch, self._most = program, backend, watch, most
        self._instead: ByDiagram | None = None
        self._rows = 0

    @cached_property
    def _walk(self) -> Walk:
        return Walk(Elimination(make_plan(self._program), INTEGERS, lambda: self._watch(0), self._most))

    @cached_property
    def _order(self) -> list[int]:
        """The places of the leaves in the order in which elimination learns them."""
        place = {leaf.serial: at for at, leaf in enumerate(self.inputs)}
        return [place[leaf.serial] for leaf in self._walk.leaves]

    @property
    def size(self) -> tuple[int, int]:
        return (0, 0) if self._instead is None else self._instead.size

    def given(self, values: Sequence[Value]) -> tuple[Mapping[int, Whole], Whole]:
        if self._instead is None:
            try:
                return self._eliminated(values)
            except (TooMuchWork, TooWide):
                self._instead = ByDiagram(encode(self._program, self._backend, self._watch))
        weights, denominator = self._instead.given(values)
        read = self._instead.codes.component_values
        return {self._code(read(code)): weight for code, weight in weights.items()}, denominator

    def every(self, choices: Sequence[Sequence[Value]]) -> Iterator[tuple[Mapping[int, Whole], Whole]]:
        """Yield the laws for many values of the leaves, found all at once where that takes no more rows than a few."""
        if len(choices) >= FEWEST and self._instead is None:
            try:
                yield from list(laws_of_lanes(*self._lanes(choices)))
            except (TooMuchWork, TooWide, Failed):
                pass  # going one by one shows which of them fails, if any
            else:
                return
        yield from map(self.given, choices)

    def rounded(self, choices: Sequence[Sequence[Value]]) -> tuple[list[int], Floats] | None:
        if len(choices) < FEWEST or self._instead is not None:
            return None
        try:
            return rounded_laws(*self._lanes(choices))
        except (TooMuchWork, TooWide, Failed):
            return None

    def _lanes(self, choices: Sequence[Sequence[Value]]) -> tuple[Plan, list[list[Value]], Callable[[], None], int]:
        """Return what it takes to go through many values of the leaves at once."""
        before = self._walk.elimination.work
        self.given(choices[len(choices) // 2])
        self._rows = max(self._rows, self._walk.elimination.work - before)  # none where it was the last one, too
        most = _TIMES_THE_ROWS * self._rows + _SOME_ROWS
        most += TIME_OF_STEP * len(self._walk.elimination.plan.steps)
        lanes = [[values[at] for at in self._order] for values in choices]
        return self._walk.elimination.plan, lanes, lambda: self._watch(0), most

    def _eliminated(self, values: Sequence[Value]) -> tuple[Mapping[int, Whole], Whole]:
        try:
            part, _ = self._walk.end([values[at] for at in self._order])
        except Failed as failed:
            check = self._program.checks[failed.check]
            raise ProgramError(f"a run fails with {check.message}", check.hint, check.span) from None
        weights: dict[int, Whole] = {}
        for row, weight in self._walk.rows(part):
            code = self._code(row)
            weights[code] = weights.get(code, 0) + weight
        return weights, part.denominator

    def _code(self, values: Sequence[Value]) -> int:
        return self.codes.code([places[value] for places, value in zip(self.codes.index, values, strict=True)])


def leaf_laws(program: CoreProgram, backend: str, watch: Watch = lambda nodes: None) -> tuple[LeafLaws, bool]:
    """Return the laws of a program's components given its leaves: by elimination where a diagram is not small.

    Also return True if no run can fail; otherwise a failing run shows as a ProgramError of `given`. Raises ProgramError
    where a small diagram shows that a run can fail.
    """
    if cells(program) <= SMALL_CELLS:
        try:
            return ByDiagram(encode(program, backend, bounded(watch, SMALL))), True
        except TooLarge:
            pass
    safe = not program.checks
    if not safe and cells(program) <= _CHECKED:
        try:
            only = replace(program, components=program.components[:1], shape=Leaf(0), evidence=())
            encode(only, backend, bounded(watch, _CHECKED))
            safe = True
        except TooLarge:
            pass
    return ByElimination(program, backend, watch), safe
