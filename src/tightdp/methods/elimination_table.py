"""The output laws found by elimination, dataset by dataset; work that datasets share is done once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from tightdp.core.codes import PlaceCodes
from tightdp.core.nodes import Apply, Check, Const, CoreProgram, Expr, Leaf, TupleOf
from tightdp.core.operators import Value
from tightdp.core.passes import arrangements_to_counts, expand_shuffles
from tightdp.errors import ProgramError
from tightdp.exact.field import Number
from tightdp.exact.weights import over, quotient
from tightdp.exact.whole import Whole
from tightdp.exact.writing import brief
from tightdp.language.program import Bound, Dataset
from tightdp.logic.count import Weights
from tightdp.methods.elimination import INTEGERS, Elimination, Failed, Part, Ring, TooMuchWork, Weight
from tightdp.methods.elimination_arrays import ROWS_IN_ONE, TIME_OF_STEP, RowArrays, TooManyRows
from tightdp.methods.elimination_plan import Row
from tightdp.methods.elimination_trial import make_plan
from tightdp.methods.elimination_walk import Walk
from tightdp.symmetry.sets import Table

__all__ = ["EliminationTable", "Failure"]

_LANES = 1 << 14
"""This many datasets are eliminated at once."""
_SURELY = 4
"""If all datasets would take this many times the allowed rows, judged by the first, none is tried."""
_MANY = 100
"""Of more datasets than this, one is tried in arrays first: that is faster than failing on all of them."""

Watch = Callable[[], None]


@dataclass(frozen=True)
class Failure:
    """The probability that a run on dataset x fails, and the obligation that fails most often (None: none does)."""

    x: Dataset
    probability: Number
    check: Check | None


class EliminationTable(Table):
    """The output laws of a program, for all datasets or for one, by elimination.

    `ring` are the numbers of `raw`; `weights` and everything after it need integers. `work` counts the rows that were
    made, on all datasets together; where they are more than `budget`, TooMuchWork is raised. Raises TooWide where the
    program keeps too many values at a time.
    """

    def __init__(
        self,
        bound: Bound,
        core: CoreProgram,
        ring: Ring = INTEGERS,
        watch: Watch = lambda: None,
        budget: int | None = None,
    ) -> None:
        self.program = expand_shuffles(arrangements_to_counts(core))
        values = [component.values for component in self.program.components]
        self.codes: PlaceCodes
        super().__init__(bound, PlaceCodes(values, self.program.shape))
        self.watch = watch
        self.budget = budget
        self._ring = ring
        self._walks: dict[Hashable, Walk] = {}

    @property
    def elimination(self) -> Elimination:
        """What goes through the program for the whole law."""
        return self._walk(None, lambda: self.program).elimination

    @property
    def logarithm(self) -> float:
        """A bound on the work for one dataset, as a base-2 logarithm."""
        return self.elimination.plan.logarithm

    @property
    def work(self) -> int:
        """How many rows were made."""
        return sum(walk.elimination.work for walk in self._walks.values())

    def raw(self, x: Dataset) -> tuple[dict[int, Weight], Whole]:
        """Return the weights of all outputs by code, and their denominator. Raises ProgramError where a run fails."""
        walk = self._walk(None, lambda: self.program)
        part = self._end(walk, x)
        weights: dict[int, Weight] = {}
        for values, weight in walk.rows(part):
            code = self.codes.code([index[value] for value, index in zip(values, self.codes.index, strict=True)])
            weights[code] = weights[code] + weight if code in weights else weight
        return weights, part.denominator

    def weights(self, x: Dataset) -> Weights:
        found = self._laws.get(x)
        return self._found(x, *self.raw(x)) if found is None else found

    def _reached(self, x: Dataset, most: int) -> bool:
        try:
            with self._up_to(self.elimination.work + most):
                self.weights(x)
        except TooMuchWork:
            return False
        return True

    @contextmanager
    def _up_to(self, budget: int) -> Iterator[None]:
        """Within this context, raise TooMuchWork once `budget` rows have been made."""
        elimination = self.elimination
        elimination.budget = budget
        try:
            yield
        finally:
            elimination.budget = self.budget

    def fill(self, datasets: Sequence[Dataset]) -> None:
        """Compute the laws of some datasets: one by one where this takes few rows, else many at once, in arrays.

        Raises TooMuchWork, and ProgramError where a run fails.
        """
        few = TIME_OF_STEP * len(self.elimination.plan.steps)
        try:
            with self._up_to(few if self.budget is None else min(few, self.budget)):
                rows = max(self.foreseen(datasets[0]), default=0)
                if rows <= few:
                    for x in datasets:
                        self.weights(x)
                    return
        except TooMuchWork:
            rows = 0
        if self.budget is not None:
            if rows / ROWS_IN_ONE > _SURELY * self.budget:
                raise TooMuchWork
            if not rows and len(datasets) > _MANY:
                self._try(datasets[0], _SURELY * self.budget, len(datasets))
        self.fill_at_once(datasets)

    def _try(self, x: Dataset, budget: int, times: int) -> None:
        """Eliminate one dataset in arrays. Raises TooMuchWork if `times` datasets like it would exceed the budget."""
        walk = self._walk(None, lambda: self.program)
        lanes = [self._leaf_values(walk, x)]
        with suppress(Failed):  # reported when the laws are computed
            RowArrays(walk.elimination.plan, lanes, self.watch, budget, times=times).run()

    def fill_at_once(self, datasets: Sequence[Dataset]) -> None:
        """Compute the laws of some datasets in arrays. Raises as `fill` does."""
        work = 0.0
        for start in range(0, len(datasets), _LANES):
            work = self._fill(datasets[start : start + _LANES], work)

    def _fill(self, datasets: Sequence[Dataset], work: float) -> float:
        """Compute some laws in arrays, given the work done before; return the total work after it."""
        walk = self._walk(None, lambda: self.program)
        lanes = [self._leaf_values(walk, x) for x in datasets]
        arrays = RowArrays(walk.elimination.plan, lanes, self.watch, self.budget, work)
        try:
            arrays.run()
        except TooManyRows:
            half = len(datasets) // 2
            if not half:
                raise
            return self._fill(datasets[half:], self._fill(datasets[:half], arrays.work))
        except Failed as failed:
            raise _failure_on(self.program.checks[failed.check], datasets[0]) from None
        for x, by_code in zip(datasets, arrays.laws(self.program.components), strict=True):
            self._found(x, by_code, arrays.denominator)
        return arrays.work

    def _found(self, x: Dataset, by_code: dict[int, Whole], denominator: Whole) -> Weights:
        total = sum(by_code.values())
        if not self.program.evidence and total != denominator:
            raise AssertionError("the output law does not sum to 1: a defect of elimination")
        if not total:
            raise self.bound.contradiction(x, "is false in every run")
        return self._noted(x, Weights(dict(sorted(by_code.items())), total))

    def foreseen(self, x: Dataset) -> Iterator[int]:
        """Eliminate one dataset; keep yielding estimates of the rows for all datasets, if each takes as many.

        The last estimate is for whole datasets, earlier ones for the steps before some record.
        """
        walk = self._walk(None, lambda: self.program)
        values = self._leaf_values(walk, x)
        rows, beginnings = 0, 1
        try:
            for depth, leaf in enumerate(walk.leaves):
                before = walk.elimination.work
                walk.end(values[: depth + 1])
                beginnings *= len(leaf.values)
                rows += (walk.elimination.work - before) * beginnings
                yield rows
        except Failed:
            return  # reported when the law is asked for

    def chance(self, x: Dataset, code: int) -> Number:
        """Return the probability of a code without computing the rest of the law."""
        if x in self._laws:
            return self._laws[x].probability(code)
        values = self.codes.component_values(code)
        share = self._mass(self._walk(("given", code), lambda: _given(self.program, values)), x)
        if self.program.evidence:
            whole = self._mass(
                self._walk("evidence", lambda: replace(self.program, components=(), shape=TupleOf(()))), x
            )
            if not whole:
                raise self.bound.contradiction(x, "is false in every run")
            share /= whole
        return share

    def marginal(self, x: Dataset, components: Sequence[int]) -> dict[Row, Number]:
        """Return the joint law of some components of the output."""
        chosen = tuple(self.program.components[at] for at in components)
        shape = TupleOf(tuple(map(Leaf, range(len(chosen)))))
        walk = self._walk(tuple(components), lambda: replace(self.program, components=chosen, shape=shape))
        law: dict[Row, Weight] = {}
        for values, weight in walk.rows(self._end(walk, x)):
            law[values] = law[values] + weight if values in law else weight
        total = sum(law.values())
        if not total:
            raise self.bound.contradiction(x, "is false in every run")
        return {values: quotient(weight, total) for values, weight in law.items()}

    def failure(self, x: Dataset) -> Failure:
        """Return the probability that a run on x fails, among those that no `observe` rejected before."""
        walk = self._walk("failures", lambda: _without_output(self.program), failures=True)
        part, failed = walk.end(self._leaf_values(walk, x))
        passed = over(sum(weight for _, weight in walk.rows(part)), part.denominator)
        mass = sum(failed.values(), Fraction(0))
        if not passed and not mass:
            raise self.bound.contradiction(x, "is false in every run")
        most = max(failed, key=lambda number: (failed[number], -number), default=None)
        return Failure(x, mass / (mass + passed), None if most is None else self.program.checks[most])

    def worst_failure(self, datasets: Iterable[Dataset]) -> Failure:
        """Return the failure of the dataset on which it is most probable, the first of those."""
        return max(map(self.failure, datasets), key=lambda failure: failure.probability)

    # runs

    def _walk(self, key: Hashable, program: Callable[[], CoreProgram], failures: bool = False) -> Walk:
        found = self._walks.get(key)
        if found is None:
            elimination = Elimination(make_plan(program()), self._ring, lambda: self.watch(), self.budget, failures)
            found = self._walks[key] = Walk(elimination)
        return found

    def _leaf_values(self, walk: Walk, x: Dataset) -> list[Value]:
        records = [self.bound.record.split(record) for record in x] if walk.leaves else []
        return [records[leaf.client][leaf.leaf] for leaf in walk.leaves]

    def _end(self, walk: Walk, x: Dataset) -> Part:
        try:
            return walk.end(self._leaf_values(walk, x))[0]
        except Failed as failed:
            check = self.program.checks[failed.check]
        raise _failure_on(check, x)

    def _mass(self, walk: Walk, x: Dataset) -> Number:
        part = self._end(walk, x)
        mass: Number = over(sum(weight for _, weight in walk.rows(part)), part.denominator)
        return mass


def _failure_on(check: Check, x: Dataset) -> ProgramError:
    return ProgramError(f"a run on the dataset {brief(x)} fails with {check.message}", check.hint, check.span, x)


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
