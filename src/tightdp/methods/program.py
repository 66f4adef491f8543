"""The program that methods look at, and the protocol of a method: whether it applies, and what it can answer.

A `Program` is a bound mechanism, with everything that is derived from it made on demand and kept. A method is looked
for with `Candidate.look`, which gives the method or a `Refusal` with the reason. A method may refuse a question, too:
then the next one is asked.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from tightdp.cells import comparing, laws, noise
from tightdp.core.lowering import lower, lower_target
from tightdp.core.lowering.outputs import Plans
from tightdp.core.nodes import CoreProgram, Inexact
from tightdp.core.passes import expand_shuffles
from tightdp.core.unmerged import Early, Endless, Uncut, Unmerged
from tightdp.errors import LanguageError, LimitError, ProgramError, QueryError
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import (
    ALLOWED,
    DOUBLES_AT_ONCE,
    LITTLE_WORK,
    MUCH_WORK,
    NODE_STEPS,
    TABLE_ENTRIES,
)
from tightdp.logic.encode import prober
from tightdp.logic.formula import WeightedFormula
from tightdp.methods.aggregated import AggregateTable, find_aggregate_table
from tightdp.methods.base import Comparison, Control, Exact, Pair, Refusal, Sought, Tight
from tightdp.methods.chain import Chain, make_chain
from tightdp.methods.compiled import TooLarge, at_most, cells, counted, deep_recursion, encode_core, steps_of_diagram
from tightdp.methods.symmetry import Symmetry
from tightdp.methods.uncut import explained, least_evidence
from tightdp.symmetry.orbits import Orbits
from tightdp.symmetry.sets import AccuracySet, DiagramTable, Table, count_compositions
from tightdp.symmetry.symmetries import Symmetries, find_symmetries, kinds_of

T = TypeVar("T")
_DECIDED = ALLOWED * ALLOWED * LITTLE_WORK, ALLOWED * LITTLE_WORK
"""After how many steps of lowering a few pairs of neighbours, for so many steps, are looked at: they may decide."""
_INSTEAD = MUCH_WORK, LITTLE_WORK
"""After how many steps of lowering so many runs are enumerated instead; counting them takes time, too."""


@dataclass
class Program:
    """A bound mechanism, the methods that may be tried on it, and what was derived from it so far.

    With `forced`, only methods of that name are tried. What is derived on demand may raise LanguageError, ProgramError
    or LimitError; nothing that was cut short is kept.
    """

    bound: Bound
    candidates: Sequence[Candidate]
    backend: str = "cudd"
    forced: str | None = None
    given: CoreProgram | None = None
    in_any_order: Callable[[], bool] = lambda: False
    """Says of a program with noise whether its law is known not to depend on the order of the records."""
    decided_by_few: Callable[[int], bool] = lambda steps: False
    """Whether so many steps for a few pairs of neighbours decide a question."""
    few_runs: Callable[[int], bool] = lambda runs: False
    """Whether a question may be answered by at most so many runs."""
    seconds: float = 0.0
    """How long all of this took so far."""
    inexact: Inexact | None = None
    """How far the laws of what was lowered so far are from those of the mechanism, None where they are the same."""
    _outside: noise.Outside | None = None
    """Why the algebra does not know noise of which there may be an enclosure."""
    _least_steps: int = 0
    _plans: Plans = field(default_factory=Plans)
    _kept: dict[str, Any] = field(default_factory=dict)
    _looked: dict[Candidate, Method | Refusal] = field(default_factory=dict)

    @property
    def datasets(self) -> int:
        """How many datasets there are."""
        return int(self.bound.record.size**self.bound.n)

    def look(self, candidate: Candidate, control: Control, budget: int) -> Method | Refusal:
        """Return a method that needs at most so many steps to begin, or why it does not apply."""
        found = self._looked.get(candidate)
        if found is None or (isinstance(found, Refusal) and 0 < found.needs <= budget):
            found = self._looked[candidate] = candidate.look(self, control, budget)
        return found

    @property
    def looked(self) -> list[Method]:
        """The methods that are known to apply so far."""
        return [found for found in self._looked.values() if not isinstance(found, Refusal)]

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return the value kept under a name, made now if there is none."""
        if name not in self._kept:
            start, before = time.perf_counter(), self.seconds
            try:
                with deep_recursion():
                    self._kept[name] = make()
            finally:
                self.seconds = before + time.perf_counter() - start
        found: T = self._kept[name]
        return found

    def core(self, control: Control) -> CoreProgram:
        if self.given is not None:
            return self.given
        return self.once("core", lambda: self._lowered_at_all(control))

    def finer(self, control: Control) -> Program | None:
        """Return a program that tells more than the mechanism, where that one is cut off and this one is known."""
        core = self.core(control).finer
        make = partial(Program, self.bound, self.candidates, self.backend, self.forced)
        return None if core is None else self.once("finer", lambda: make(core))

    def cells(self, control: Control) -> comparing.Comparing | None:
        """Return the laws by algebra, where noise on all integers has no exact finite form but is in its class."""
        if self.given is not None or self.forced not in (None, "cells"):
            return None
        if self.datasets > TABLE_ENTRIES and self.contents is None:
            return None
        return self.once("cells", lambda: self._cells(control))

    @property
    def contents(self) -> Orbits | None:
        """The datasets up to the order of records, where that makes no difference, and few are left of many."""
        n, records = self.bound.n, self.bound.record.size
        left = count_compositions([(n, records)])
        if self.datasets <= 2 * left or left > TABLE_ENTRIES or relation_of(self.bound).custom:
            return None
        orbits = Orbits(self.bound, kinds_of([range(n)]))
        return self.once("contents", lambda: orbits if laws.draws_noise(self.bound) and self.in_any_order() else None)

    def laws_on(self, datasets: Sequence[Dataset], control: Control) -> laws.CellLaws | None:
        """Return the laws by algebra on some datasets, where noise has no exact finite form on one of them."""
        if self.given is not None or self.forced not in (None, "cells"):
            return None
        if "cells" in self._kept and self.inexact is None:  # all datasets were looked at before
            known: comparing.Comparing | None = self._kept["cells"]
            return None if known is None else known.laws

        def lowered() -> None:
            for x in datasets:
                lower(self.bound, x, prober(self.backend, control), control, self._plans, enclosed=False)

        with deep_recursion():
            return self._by_algebra(lowered, lambda: laws.cell_laws(self.bound, control, datasets), control)

    def _cells(self, control: Control) -> comparing.Comparing | None:
        def lowered() -> None:
            self.once("core", lambda: self._lowered_at_all(control, enclosed=False))

        def compared() -> comparing.Comparing:
            orbits = self.contents
            if orbits is None:
                return comparing.Comparing(laws.cell_laws(self.bound, control), control)
            known = laws.cell_laws(self.bound, control, (x for x, _ in orbits.accuracy_set()))
            known.content = orbits.standing_for
            return comparing.Comparing(known, control)

        return self._by_algebra(lowered, compared, control)

    def _by_algebra(self, lowered: Callable[[], None], make: Callable[[], T], control: Control) -> T | None:
        """Return what the algebra makes where a program cannot be lowered, None where it does not apply."""
        outside: noise.Outside | None = None
        for early in (True, False):
            self._plans.early = early
            try:
                lowered()
            except (Unmerged, Early) as unmerged:
                try:
                    if outside is None:
                        return make()
                except noise.Outside as error:
                    outside = error
                if isinstance(unmerged, Early):
                    continue
                if isinstance(unmerged, Uncut) and not unmerged.enclosed:
                    raise explained(unmerged, outside, self.bound) from None
                self._outside = outside
            except RecursionError:  # the methods say so
                pass
            break
        return None

    def core_of(self, x: Dataset, control: Control) -> CoreProgram:
        with deep_recursion():
            return self._lowered(self.bound.check_dataset(x), control)

    def _lowered_at_all(self, control: Control, enclosed: bool = True) -> CoreProgram:
        """Return the core program. Raises LimitError where a few pairs, or all runs, answer with less work."""
        others = sorted([(*_DECIDED, self.decided_by_few), (*_INSTEAD, self.few_runs)], key=lambda way: way[0])

        def look(taken: int) -> None:
            while others and taken > others[0][0]:
                steps, number, answers = others.pop(0)
                if answers(number):
                    raise LimitError(f"lowering takes more than {steps:,} steps", "use fewer records")

        return self._lowered(None, counted(control, look), enclosed)

    def _lowered(self, x: Dataset | None, control: Control, enclosed: bool = True) -> CoreProgram:
        try:
            core = lower(self.bound, x, prober(self.backend, control), control, self._plans, enclosed)
        except Uncut as uncut:
            if self.datasets <= TABLE_ENTRIES or self.contents is not None or isinstance(uncut, Endless):
                raise uncut if self._outside is None else explained(uncut, self._outside, self.bound) from None
            most = f"{uncut.kind} is answered for at most {TABLE_ENTRIES:,}"
            raise QueryError(
                f"there are {self.datasets:,} datasets, and {most}", "use fewer records or a smaller record domain"
            ) from None
        if core.inexact is not None and core.inexact.cut and core.evidence:
            least = least_evidence(core, self.bound, x, self.backend, control)
            core = replace(core, inexact=core.inexact.where_accepted(least))
        if core.inexact is not None:
            self.inexact = core.inexact if self.inexact is None else self.inexact.joined(core.inexact)
        return core

    def expanded(self, control: Control) -> CoreProgram:
        """Return the core program without `Shuffled` nodes."""
        core = self.core(control)
        return self.once("expanded", lambda: expand_shuffles(core))

    def formula(self, control: Control) -> WeightedFormula:
        """Return the formula of all datasets. Raises QueryError where there are too many values to encode."""
        core = self.expanded(control)
        if self.compiled is None and (values := cells(core)) > DOUBLES_AT_ONCE:
            raise QueryError(
                f"the operations of the program have {values:,} combinations of values, too many to go through",
                "use a smaller record domain, or fewer records",
            )
        return self.once("formula", lambda: encode_core(core, self.bound, None, self.backend, control))

    def moderate(self, control: Control) -> WeightedFormula | None:
        """Return the formula of all datasets, None where it is not compiled yet, and would be large."""
        self.steps_to_compile(control, MUCH_WORK)
        return self.compiled

    def steps_to_compile(self, control: Control, budget: int) -> int:
        """Return how many steps the diagram of all datasets takes at least; where at most `budget`, it is compiled."""
        if self.compiled is None:
            self._least_steps = max(self._least_steps, steps_of_diagram(self.expanded(control)))
            if self._least_steps <= budget:
                try:
                    self.formula(at_most(control, budget))
                except TooLarge:
                    self._least_steps = ALLOWED * budget
        return self._least_steps

    @property
    def compiled(self) -> WeightedFormula | None:
        """The formula of all datasets, if it has been compiled."""
        return self._kept.get("formula")

    @property
    def work_of_diagram(self) -> int:
        """The steps that the diagram of all datasets took, 0 where it was not compiled."""
        return 0 if self.compiled is None else NODE_STEPS * self.compiled.nodes

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of variables and nodes of the compiled diagram, of all datasets or above the aggregates."""
        aggregate: AggregateTable | None = self._kept.get("aggregate")
        formula = self.compiled
        if formula is None:
            return (0, 0) if aggregate is None else aggregate.rest.size
        return len(formula.variables), formula.nodes

    def table(self, control: Control) -> DiagramTable:
        """Return the table of output laws on the diagram of all datasets."""
        formula = self.formula(control)
        return self.once("table", lambda: DiagramTable(self.bound, formula))

    def chain(self, control: Control, most: int) -> Chain | None:
        """Return the diagram as a chain of client blocks, or None where it is none. Raises TooManyEntries."""
        formula = self.formula(control)
        return self.once("chain", lambda: make_chain(formula, self.bound.record, control, most))

    def aggregate(self, control: Control) -> AggregateTable | None:
        """Return the table of a program that can be cut at its aggregates; None where it cannot, or where it fails.

        Where it fails, compiling it as a whole shows on which dataset.
        """
        core = self.core(control)

        def make() -> AggregateTable | None:
            try:
                return find_aggregate_table(self.bound, core, self.backend, control)
            except ProgramError:
                return None

        return self.once("aggregate", make)

    def symmetries(self, control: Control, measured: bool = False, steps: int = MUCH_WORK) -> Symmetries | None:
        """Return the symmetries with which to enumerate datasets, or None, also after a limit, or much work.

        With `measured`, only those that keep the output and the target. Raises TooLarge after fewer steps than that.
        """
        core = self.expanded(control)
        try:
            return self.once(f"symmetries {measured}", lambda: self._symmetries(core, control, measured, steps))
        except LimitError:
            return None

    def _symmetries(self, core: CoreProgram, control: Control, measured: bool, steps: int) -> Symmetries | None:
        try:
            target = lower_target(self.bound, prober(self.backend)) if measured else None
            return find_symmetries(self.bound, core, target, self.backend, at_most(control, min(steps, MUCH_WORK)))
        except TooLarge:
            if steps < MUCH_WORK:
                raise
            return None
        except (LanguageError, ProgramError):
            return None


class Method(Protocol):
    """A way to analyse one program. By default, all of these questions are refused."""

    name: str
    program: Program
    estimate: int = 0
    """The steps that it was estimated to take before it began."""
    listing: int = 0
    """The steps for the laws of all datasets, where some questions are answered from few of them."""
    comparing: int = 0
    """The steps for comparing all pairs of neighbours, where not all of the laws are needed for that."""

    def size(self) -> tuple[int, int]:
        """Return the total numbers of variables and nodes of the diagrams used so far."""
        return self.program.size

    def work(self) -> int:
        """Return the steps that were done so far, as far as they are counted."""
        return self.program.work_of_diagram

    def laws(self, control: Control) -> Table | Refusal:
        """Return the table of the laws of whole outputs on all datasets."""
        return Refusal(f"{self.name}: it does not give the laws of whole outputs")

    def tight(self, control: Control, budget: int) -> Tight | Refusal:
        """Return the largest likelihood ratio, found without enumerating `comparison`, within about so many steps."""
        return Refusal(f"{self.name}: it compares pairs of neighbours")

    def comparison(self, control: Control) -> Comparison | Refusal:
        """Return the pairs of neighbours to compare."""
        return Refusal(f"{self.name}: it gives the tight likelihood ratio only")

    def largest(self, control: Control) -> Comparison | Refusal:
        """Return pairs of neighbours that include all those attaining the largest likelihood ratio."""
        return self.comparison(control)

    def telling(self, control: Control, sought: Sought | None) -> Comparison | Refusal:
        """Return pairs of neighbours among which every divergence is largest; with `sought`, only what is asked for.

        Where that is above the least.
        """
        return self.comparison(control)

    def in_order(self, control: Control) -> Iterator[Pair] | Refusal:
        """Yield pairs of neighbours in the order of datasets, among them the first that attains any divergence."""
        return Refusal(f"{self.name}: it does not look at single pairs")

    def ratio_bound(self) -> Exact:
        """Return an upper bound on every likelihood ratio that needs no search; often infinite."""
        return math.inf

    def accuracy_set(self, control: Control) -> AccuracySet | Refusal:
        """Return the datasets on which to measure accuracy."""
        return Refusal(f"{self.name}: it does not say on which datasets to measure accuracy")

    def symmetry(self) -> Symmetry:
        """Return the symmetries that the method uses, in words, and the sizes of the reduced sets."""
        return Symmetry(())

    def every_symmetry(self, control: Control) -> Symmetry | None:
        """Return these symmetries with all sizes; None where those of the program have to be looked for."""
        return None


@dataclass(frozen=True)
class Candidate:
    """A method's name, and the function that decides whether it applies to a program.

    It is told how many steps it may take, and refuses with `needs` where it takes more.
    """

    name: str
    look: Callable[[Program, Control, int], Method | Refusal]
