"""Enumerating datasets, with laws found by elimination along the core program, without a diagram.

Clients that the core program treats alike are recognized without a diagram, too: then one order of them is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, factorial

from tightdp.core.lowering import lower_target
from tightdp.core.nodes import CoreProgram
from tightdp.errors import LanguageError, ProgramError, QueryError
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Dataset
from tightdp.logic.count import Weights
from tightdp.logic.encode import prober
from tightdp.methods.base import Comparison, Refusal, on_table, ratios_of_pairs
from tightdp.methods.by_datasets import Exhaustive, Orbits
from tightdp.methods.control import Control
from tightdp.methods.elimination import TooMuchWork
from tightdp.methods.elimination_plan import TooWide
from tightdp.methods.elimination_table import EliminationTable
from tightdp.methods.leaf_laws import cells
from tightdp.methods.pairs_of_laws import every_two_laws
from tightdp.methods.plan import Work
from tightdp.methods.program import Method, Program
from tightdp.methods.ratios import Named
from tightdp.symmetry.orbits import Kind
from tightdp.symmetry.orbits import Orbits as DatasetOrbits
from tightdp.symmetry.sets import AccuracySet, Table, every_dataset
from tightdp.symmetry.symmetries import Symmetries, exchangeable_clients

__all__ = [
    "MOST_WORK",
    "Eliminated",
    "look",
    "look_before_aggregates",
    "look_thoroughly",
    "work_of_diagram",
]

LITTLE_WORK = 400_000
"""How much work elimination may take for all datasets together before a diagram is tried."""
MOST_WORK = 8_000_000
"""How much work it may take where the diagram is large."""
_MANY_VALUES = 5_000
"""Where aggregates together have more values, they are avoided."""
_ROWS_PER_VALUE = 8
"""This much work takes far less time than the law of the output for a value of the aggregates."""
_ROWS_PER_CELL = 16
"""Each combination of values costs a diagram as much as so much work, at least."""


class Eliminated(Orbits):
    """All pairs of neighbours, with all laws computed beforehand; one up to the order of clients treated alike."""

    name = "elimination"

    def __init__(self, program: Program, table: EliminationTable, found: Symmetries | None) -> None:
        super().__init__(program)
        self.table, self._found = table, found

    def work(self) -> tuple[Work, ...]:
        datasets = self.program.datasets if self._found is None else self._found.orbits.number
        return (Work("steps", self.table.estimate(datasets), self.table.work),)

    def laws(self, control: Control) -> Table:
        """Return the laws."""
        return self.table

    def symmetries(self, control: Control, measured: bool = False) -> Symmetries | None:
        """Return the exchanges; with `measured`, None where some of them do not keep the target."""
        return self._found if not measured or _exchanges(self.program, control, True) == self._found else None

    def comparison(self, control: Control) -> Comparison | Refusal:
        return self._every_two(control) if self._found is None else super().comparison(control)

    def accuracy_set(self, control: Control) -> AccuracySet | Refusal:
        return Exhaustive.accuracy_set(self, control) if self._found is None else super().accuracy_set(control)

    def every_ratio(self, control: Control) -> Iterator[Named] | Refusal:
        return ratios_of_pairs(self._every_two(control))

    def _every_two(self, control: Control) -> Comparison:
        return on_table(self.table, every_two_laws(self.program.bound, self.table, control), control)


class _InOrder(EliminationTable):
    """The laws of all datasets from those of datasets in which clients that are treated alike stand in order."""

    def __init__(
        self, program: Program, core: CoreProgram, control: Control, budget: int, found: Symmetries | None
    ) -> None:
        super().__init__(program.bound, core, watch=control, budget=budget)
        self._orbits = None if found is None else found.orbits

    def weights(self, x: Dataset) -> Weights:
        known = self._orbits
        return super().weights(x if known is None else known.representative(known.counts(x)))


def work_of_diagram(core: CoreProgram) -> int:
    """Estimate how much work takes as long as a diagram, which represents the values of operations one by one."""
    return min(MOST_WORK, max(LITTLE_WORK, _ROWS_PER_CELL * cells(core)))


def look(program: Program, control: Control) -> Method | Refusal:
    """Return the method where the laws of all datasets take little work, or datasets are few and a diagram is large."""
    if program.forced is not None:
        return look_thoroughly(program, control)
    return _look(program, control, work_of_diagram(program.expanded(control)) if program.few else LITTLE_WORK)


def look_before_aggregates(program: Program, control: Control) -> Method | Refusal:
    """Return the method where aggregates together have many values, and enumerating datasets takes less.

    This is the case where each round's aggregate depends on the results of earlier rounds (signSGD with a majority
    vote): elimination keeps these results, and none of their sums.
    """
    found, bound = program.aggregate(control), program.bound
    values = 0 if found is None else min(found.states, found.entries)
    if program.forced is not None or values <= _MANY_VALUES:
        return Refusal("elimination: there are no aggregates of many values to avoid")
    budget = min(LITTLE_WORK, _ROWS_PER_VALUE * values)
    if bound.n * comb(bound.n + bound.record.size - 1, bound.n) > budget:
        return Refusal("elimination: the datasets are many, and there are aggregates")
    return _look(program, control, budget)


def look_thoroughly(program: Program, control: Control) -> Method | Refusal:
    """Return the method where the laws of all datasets take at most `MOST_WORK`."""
    return _look(program, control, MOST_WORK)


def _look(program: Program, control: Control, budget: int) -> Method | Refusal:
    too_much = Refusal(f"elimination: the laws of all datasets take more than {budget:,} steps")
    if program.datasets > budget and program.datasets > budget * factorial(program.bound.n):
        return too_much
    if program.forced is None and (program.given is None or program.bound.n > 1) and program.small(control):
        return Refusal("elimination: the diagram is small")
    core = program.core(control)
    found = _exchanges(program, control)
    if (program.datasets if found is None else found.orbits.number) > budget:
        return too_much
    return program.once(f"elimination {budget}", lambda: _made(program, core, budget, control, found) or too_much)


def _made(
    program: Program, core: CoreProgram, budget: int, control: Control, found: Symmetries | None
) -> Method | Refusal | None:
    try:
        table = _InOrder(program, core, control, budget, found)
        table.fill(list(every_dataset(program.bound) if found is None else (x for x, _ in found.orbits.accuracy_set())))
    except (TooMuchWork, TooWide):
        return None
    except (ProgramError, QueryError):
        return Refusal("elimination: a run can fail, and the whole program says on which dataset")
    return Eliminated(program, table, found)


def _exchanges(program: Program, control: Control, measured: bool = False) -> Symmetries | None:
    """Return which clients of a whole program are treated alike; with `measured`, by its target, too."""
    bound = program.bound
    if program.given is not None or relation_of(bound).custom:
        return None

    def make() -> Symmetries | None:
        programs = [program.core(control)]
        if measured:
            programs.append(lower_target(bound, prober(program.backend)))
        classes = exchangeable_clients(programs, bound.n)
        if len(classes) == bound.n:
            return None
        kinds = tuple(Kind(tuple((client,) for client in same)) for same in classes)
        orbits = DatasetOrbits(bound, kinds, lambda: control(0))
        return Symmetries(orbits, tuple((kind.blocks, False) for kind in kinds), (), None)

    try:
        return program.once(f"exchanges {measured}", make)
    except (LanguageError, ProgramError):
        return None
