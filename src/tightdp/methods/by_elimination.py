"""Output laws by elimination, and enumerating datasets with them, without a diagram.

Clients that the core program treats alike are recognized without a diagram, too: then one order of them is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from math import factorial

from tightdp.core.lowering import lower_target
from tightdp.core.nodes import Apply, Check, Const, CoreProgram, Expr, Input
from tightdp.core.operators import Value
from tightdp.core.outputs import Leaf, PlaceCodes, TupleOf
from tightdp.core.passes import arrangements_to_counts, expand_shuffles
from tightdp.errors import LanguageError, ProgramError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import brief
from tightdp.exact.weights import over, quotient
from tightdp.exact.whole import Whole
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import (
    ALLOWED,
    FEW_VALUES,
    LITTLE_WORK,
    MOST_WORK,
    MUCH_WORK,
    PAIR_STEPS,
    STEP,
    TABLE_ENTRIES,
)
from tightdp.logic.count import Weights
from tightdp.logic.encode import prober
from tightdp.methods.base import Comparison, Control, Refusal, on_table, too_much
from tightdp.methods.by_datasets import Exhaustive, Orbits, every_two_laws
from tightdp.methods.compiled import steps_of_diagram
from tightdp.methods.elimination import Elimination, Failed, TooManyRows, TooMuchWork, laws
from tightdp.methods.elimination_plan import Plan, TooWide, make_plan
from tightdp.methods.program import Method, Program
from tightdp.symmetry.orbits import Orbits as DatasetOrbits
from tightdp.symmetry.sets import AccuracySet, Table, every_dataset
from tightdp.symmetry.symmetries import Symmetries, exchangeable_clients, kinds_of

Watch = Callable[[], None]


@dataclass(frozen=True)
class Failure:
    """The probability that a run on dataset x fails, and the obligation that fails most often (None: none does)."""

    x: Dataset
    probability: Number
    check: Check | None


class EliminationTable(Table):
    """The output laws of a program by elimination. `work` is counted as estimated (`Plan.estimate`), for all laws.

    Where it is more than `budget`, TooMuchWork is raised. Raises TooWide where the program keeps too many values at a
    time.
    """

    def __init__(self, bound: Bound, core: CoreProgram, watch: Watch = lambda: None, budget: int | None = None) -> None:
        self.program = expand_shuffles(arrangements_to_counts(core))
        values = [component.values for component in self.program.components]
        self.codes: PlaceCodes
        super().__init__(bound, PlaceCodes(values, self.program.shape))
        self.watch = watch
        self.budget = budget
        self._work = 0.0
        self._plans: dict[Hashable, Plan] = {}

    @property
    def plan(self) -> Plan:
        """The plan for the whole law."""
        return self._plan_of(None, lambda: self.program)

    def estimate(self, datasets: int = 1) -> int:
        """Return an estimate of the work for the laws of so many datasets, before any is done."""
        return self.plan.estimate(datasets)

    @property
    def work(self) -> int:
        """The work that was done."""
        return int(self._work)

    def weights(self, x: Dataset) -> Weights:
        if x not in self._laws:
            self._fill([x], self._left())
        return self._laws[x]

    def _reached(self, x: Dataset, most: int) -> bool:
        try:
            self._fill([x], most)
        except TooMuchWork:
            return False
        return True

    def fill(self, datasets: Sequence[Dataset]) -> None:
        """Compute the laws of some datasets. Raises ProgramError where a run fails, and TooMuchWork, with an estimate
        of the work that is left if that is known.
        """
        missing = [x for x in datasets if x not in self._laws]
        before = self._work
        self._fill(missing[:FEW_VALUES], self._left())
        left = self._left()
        if left is not None and len(missing) > FEW_VALUES:
            each = (self._work - before - STEP * len(self.plan.steps)) / FEW_VALUES
            if (rest := int(each * len(missing[FEW_VALUES:]))) > left:
                raise TooMuchWork(rest)
        self._fill(missing[FEW_VALUES:], left)

    def _left(self) -> int | None:
        return None if self.budget is None else int(self.budget - self._work)

    def _fill(self, datasets: Sequence[Dataset], budget: int | None) -> None:
        for x, (by_code, denominator) in zip(datasets, self._laws_of(self.plan, datasets, budget), strict=True):
            total = sum(by_code.values())
            if not self.program.evidence and total != denominator:
                raise AssertionError("the output law does not sum to 1: a defect of elimination")
            if not total:
                raise self._contradiction(x)
            self._noted(x, Weights(dict(sorted(by_code.items())), total))

    def chance(self, x: Dataset, code: int) -> Number:
        """Return the probability of a code without computing the rest of the law."""
        if x in self._laws:
            return self._laws[x].probability(code)
        values = self.codes.component_values(code)
        share = self._mass(self._plan_of(("given", code), lambda: _given(self.program, values)), x)
        if self.program.evidence:
            whole = self._mass(self._plan_of("evidence", lambda: _without_output(self.program)), x)
            if not whole:
                raise self._contradiction(x)
            share /= whole
        return share

    def marginal(self, x: Dataset, components: Sequence[int]) -> dict[tuple[Value, ...], Number]:
        """Return the joint law of some components of the output."""
        chosen = tuple(self.program.components[at] for at in components)
        shape = TupleOf(tuple(map(Leaf, range(len(chosen)))))
        plan = self._plan_of(tuple(components), lambda: replace(self.program, components=chosen, shape=shape))
        ((by_code, _),) = self._laws_of(plan, [x], self._left())
        total = sum(by_code.values())
        if not total:
            raise self._contradiction(x)
        codes = PlaceCodes([component.values for component in chosen], shape)
        return {tuple(codes.component_values(code)): quotient(weight, total) for code, weight in by_code.items()}

    def failures(self, datasets: Sequence[Dataset]) -> list[Failure]:
        """Return the probability that a run on a dataset fails, among those that no `observe` rejected before."""
        plan = self._plan_of("failures", lambda: _without_output(self.program))
        found = Elimination(plan, self._lanes(plan, datasets), self.watch, self._left(), failures=True)
        try:
            found.run()
        except TooManyRows:
            if len(datasets) == 1:
                raise
            half = len(datasets) // 2
            return [*self.failures(datasets[:half]), *self.failures(datasets[half:])]
        finally:
            self._work += found.work
        of_lane: dict[int, dict[int, Number]] = {}
        for (check, lane), weight in found.failed.items():
            of_lane.setdefault(lane, {})[check] = over(weight, found.denominator)
        passed = found.laws(())
        failed = [of_lane.get(lane, {}) for lane in found.number.tolist()]
        result = []
        for x, by_code, by_check in zip(datasets, passed, failed, strict=True):
            mass, rest = sum(by_check.values(), Fraction(0)), over(sum(by_code.values()), found.denominator)
            if not rest and not mass:
                raise self._contradiction(x)
            most = max(by_check, key=lambda number: (by_check[number], -number), default=None)
            result.append(Failure(x, mass / (mass + rest), None if most is None else self.program.checks[most]))
        return result

    def failure(self, x: Dataset) -> Failure:
        """Return the probability that a run on x fails, among those that no `observe` rejected before."""
        return self.failures([x])[0]

    def worst_failure(self, datasets: Iterable[Dataset]) -> Failure:
        """Return the failure of the dataset on which it is most probable, the first of those."""
        every = iter(datasets)
        batches = iter(lambda: list(islice(every, TABLE_ENTRIES)), [])
        worst = (max(self.failures(some), key=_probability) for some in batches)
        return max(worst, key=_probability)

    # runs

    def _plan_of(self, key: Hashable, program: Callable[[], CoreProgram]) -> Plan:
        if key not in self._plans:
            self._plans[key] = make_plan(program())
        return self._plans[key]

    def _lanes(self, plan: Plan, datasets: Sequence[Dataset]) -> list[list[Value]]:
        leaves = [leaf for place in plan.inputs if isinstance(leaf := plan.nodes.nodes[place].expr, Input)]
        split = {record: self.bound.record.split(record) for record in {record for x in datasets for record in x}}
        return [[split[x[leaf.client]][leaf.leaf] for leaf in leaves] for x in datasets]

    def _laws_of(
        self, plan: Plan, datasets: Sequence[Dataset], budget: int | None
    ) -> Iterator[tuple[dict[int, Whole], Whole]]:
        try:
            yield from laws(plan, self._lanes(plan, datasets), self.watch, budget, self._worked)
        except Failed as failed:
            check, x = self.program.checks[failed.check], datasets[failed.lane]
            message = f"a run on the dataset {brief(x)} fails with {check.message}"
            raise ProgramError(message, check.hint, check.span, x) from None

    def _worked(self, work: float) -> None:
        self._work += work

    def _mass(self, plan: Plan, x: Dataset) -> Number:
        ((by_code, denominator),) = self._laws_of(plan, [x], self._left())
        mass: Number = over(sum(by_code.values()), denominator)
        return mass

    def _contradiction(self, x: Dataset) -> ProgramError:
        return self.bound.contradiction(x, "is false in every run")


def _probability(failure: Failure) -> Number:
    return failure.probability


def _without_output(program: CoreProgram) -> CoreProgram:
    return replace(program, components=(), shape=TupleOf(()))


def _given(program: CoreProgram, values: Sequence[Value]) -> CoreProgram:
    """Return a program that observes the values of its components."""
    serial = max(expr.serial for expr in (*program.roots, *program.inputs)) + 1
    conditions = []
    for component, value in zip(program.components, values, strict=True):
        constant: Expr = Const(serial, (value,))
        conditions.append(Apply(serial + 1, (False, True), "eq", (component, constant)))
        serial += 2
    return replace(_without_output(program), evidence=(*program.evidence, *conditions))


class Eliminated(Orbits):
    """All pairs of neighbours, with all laws computed beforehand; one up to the order of clients treated alike."""

    name = "elimination"

    def __init__(self, program: Program, table: EliminationTable, found: Symmetries | None) -> None:
        super().__init__(program)
        self.table, self._found = table, found

    def work(self) -> int:
        return self.table.work

    def laws(self, control: Control) -> Table:
        """Return the laws."""
        return self.table

    def symmetries(self, control: Control, measured: bool = False) -> Symmetries | None:
        """Return the exchanges; with `measured`, None where some of them do not keep the target."""
        return self._found if not measured or exchanges(self.program, control, True) == self._found else None

    def comparison(self, control: Control) -> Comparison | Refusal:
        return self._every_two(control) if self._found is None else super().comparison(control)

    def accuracy_set(self, control: Control) -> AccuracySet | Refusal:
        return Exhaustive.accuracy_set(self, control) if self._found is None else super().accuracy_set(control)

    def _every_two(self, control: Control) -> Comparison:
        return on_table(self.table, every_two_laws(self.program.bound, self.table, control), control)


class _InOrder(EliminationTable):
    """The laws of all datasets from those of datasets in which clients that are treated alike stand in order."""

    def __init__(self, program: Program, control: Control, found: Symmetries | None) -> None:
        super().__init__(program.bound, program.core(control), watch=control)
        self._orbits = None if found is None else found.orbits

    def weights(self, x: Dataset) -> Weights:
        known = self._orbits
        return super().weights(x if known is None else known.standing_for(x))


def work_of_diagram(core: CoreProgram) -> int:
    """Estimate how much work takes as long as a diagram, which represents the values of operations one by one."""
    return min(MUCH_WORK, max(ALLOWED * LITTLE_WORK, steps_of_diagram(core)))


def look(program: Program, control: Control, budget: int) -> Method | Refusal:
    """Return the method where the laws of all datasets, up to order, take at most so many steps."""
    if program.forced is None and budget <= ALLOWED * LITTLE_WORK:
        program.steps_to_compile(control, LITTLE_WORK // ALLOWED)
        if program.compiled is not None and ALLOWED * program.work_of_diagram <= LITTLE_WORK:
            return too_much("elimination", budget + 1)  # to count on a small diagram takes less
    least = program.datasets // factorial(program.bound.n)
    if least > min(budget, MOST_WORK):
        return _too_much(least)
    found = exchanges(program, control)
    number = program.datasets if found is None else found.orbits.number
    pairs = (
        number * program.bound.n * relation_of(program.bound).most_steps
        if found is None
        else found.orbits.number_of_pairs
    )
    needs = max(number, PAIR_STEPS * pairs)
    if needs > min(budget, MOST_WORK):
        return _too_much(needs)
    try:
        table = program.once("elimination", lambda: _InOrder(program, control, found))
        table.budget = table.work + min(budget, MOST_WORK)
        table.fill(list(every_dataset(program.bound) if found is None else (x for x, _ in found.orbits.accuracy_set())))
        table.budget = None  # what is asked of these laws now is answered
    except TooMuchWork as error:
        return _too_much(max((ALLOWED * budget, *error.args)))
    except TooWide:
        return Refusal("elimination: it keeps too many values at a time")
    except (ProgramError, QueryError):
        return Refusal("elimination: a run can fail, and the whole program says on which dataset")
    made = Eliminated(program, table, found)
    made.estimate = table.estimate(number)
    if (relation := relation_of(program.bound)).custom and number:
        first = next(iter(every_dataset(program.bound)))
        pairs, outputs = number * len(list(relation.neighbours(first))), len(table.weights(first).by_code)
        made.comparing = pairs * (PAIR_STEPS + outputs)  # all of them, where symmetries may leave few
    return made


def _too_much(needs: int) -> Refusal:
    if needs > MOST_WORK:
        return Refusal(f"elimination: the laws of all datasets take more than {MOST_WORK:,} steps")
    return too_much("elimination", needs)


def exchanges(program: Program, control: Control, measured: bool = False) -> Symmetries | None:
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
        kinds = kinds_of(classes)
        orbits = DatasetOrbits(bound, kinds, lambda: control(0))
        return Symmetries(orbits, tuple((kind.blocks, False) for kind in kinds), ())

    try:
        return program.once(f"exchanges {measured}", make)
    except (LanguageError, ProgramError):
        return None
