"""A few pairs of neighbours: lower bounds on divergences, and upper bounds on accuracy, within a small work budget.

`look` is the method that knows an infinite ratio by them. What else they show is asked when a limit has cut a question
short (`session/limited.py`), so that something is known. The laws of fixed datasets are found by elimination along
their core programs, which are smaller than that of all datasets; where even that takes too much work, a few outputs are
compared by their probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle, islice, product

from tightdp.core.nodes import CoreProgram
from tightdp.core.outputs import Arrangement, Leaf
from tightdp.errors import LimitError, ProgramError, QueryError
from tightdp.exact.field import Number
from tightdp.language import interp
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import Output
from tightdp.language.primitives import PseudoRandom, Rejected
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import ALLOWED, FEW_VALUES, LITTLE_WORK, NO_LIMIT
from tightdp.logic.count import Weights
from tightdp.methods.base import Comparison, Control, Pair, Ratio, Refusal, Tight, exceeded, too_much
from tightdp.methods.by_clients import hold
from tightdp.methods.by_elimination import EliminationTable
from tightdp.methods.by_runs import ListedTable, whole_weights
from tightdp.methods.compiled import TooLarge, at_most, deep_recursion
from tightdp.methods.elimination import TooMuchWork
from tightdp.methods.elimination_plan import TooWide
from tightdp.methods.pieces import plain
from tightdp.methods.program import Candidate, Method, Program
from tightdp.methods.ranking import alike_pairs, tight_ratio
from tightdp.symmetry.sets import AccuracySet, Table

_NAME = "a few pairs"
_BUDGET = ALLOWED * LITTLE_WORK
_FROM_EACH = 4
"""How many neighbours of a dataset are taken where the relation is a function."""
_RUNS = 4
"""How many runs of each dataset of a pair choose the outputs to compare."""
_GIVEN_UP = (TooMuchWork, TooWide, LimitError)


class _Arranged(Exception):
    """The outputs of two datasets may differ in which arrangements of values, or which integers, they stand for."""


_UNKNOWN = (*_GIVEN_UP, TooLarge, _Arranged, ProgramError, QueryError)


class _OneByOne(ListedTable):
    """The laws of fixed datasets, each lowered for itself. Raises _Arranged where an output stands for several."""

    def __init__(self, program: Program, control: Control, budget: int, kept: Kept) -> None:
        super().__init__(program.bound)
        self._program, self._few = program, kept
        self._control, self._budget = control, budget

    def _counted(self, x: Dataset) -> Weights:
        core = _core_of(self._program, x, self._control, self._few)
        table = EliminationTable(self.bound, core, watch=self._control, budget=self._budget)
        if table.codes.several:
            raise _Arranged
        found = table.weights(x)
        by_code = {self.codes.code(table.codes.first(code)): weight for code, weight in found.by_code.items()}
        return Weights(dict(sorted(by_code.items())), found.total)


class _SomeOutputs(ListedTable):
    """The probabilities of some outputs on the two datasets of a pair: parts of their laws."""

    def __init__(self, program: Program, control: Control, pair: tuple[Dataset, Dataset], kept: Kept) -> None:
        super().__init__(program.bound)
        tables = _tables(program, control, pair, kept)
        found: dict[Dataset, dict[int, Number]] = {x: {} for x in pair}
        for output in _outputs(self.bound, pair):
            try:
                odds = [tables[x].probability(x, output) for x in pair]
            except _GIVEN_UP:
                if not self.codes.outputs:
                    raise
                break
            for x, probability in zip(pair, odds, strict=True):
                found[x][self.codes.code(output)] = probability
        self._laws = {x: Weights(*whole_weights(law)) for x, law in found.items()}


class _Component(ListedTable):
    """The laws of one component of the output on the two datasets of a pair: a function of the output."""

    def __init__(self, bound: Bound, tables: Mapping[Dataset, EliminationTable], component: int) -> None:
        super().__init__(bound)
        for x, table in tables.items():
            law = table.marginal(x, [component])
            self._laws[x] = Weights(*whole_weights({self.codes.code(values): mass for values, mass in law.items()}))


def _component_laws(program: Program, control: Control, pair: tuple[Dataset, Dataset], kept: Kept) -> list[Table]:
    """Return the laws of some components; none where the outputs of the two datasets differ in shape."""
    tables = _tables(program, control, pair, kept)
    ours, theirs = (table.program for table in tables.values())
    last = len(ours.components) - 1
    if ours.shape != theirs.shape or not plain(ours.shape, (Leaf, Arrangement)):
        return []
    found: list[Table] = []
    for component in dict.fromkeys((0, last, last // 2)):
        with suppress(*_GIVEN_UP):
            found.append(_Component(program.bound, tables, component))
    return found


def _tables(
    program: Program, control: Control, pair: tuple[Dataset, Dataset], kept: Kept
) -> dict[Dataset, EliminationTable]:
    cores = {x: _core_of(program, x, control, kept) for x in pair}
    return {x: EliminationTable(program.bound, cores[x], watch=control, budget=_BUDGET) for x in pair}


def _core_of(program: Program, x: Dataset, control: Control, kept: Kept) -> CoreProgram:
    """Return the core program of a dataset. Raises TooMuchWork before it is lowered where enough were.

    Raises _Arranged where noise on all integers is published: where its tails begin depends on the dataset.
    """
    if kept.records + len(x) > LITTLE_WORK:
        raise TooMuchWork
    kept.records += len(x)
    core = program.core_of(x, control)
    if core.has_tails:
        raise _Arranged
    return core


def _outputs(bound: Bound, pair: tuple[Dataset, Dataset]) -> Iterator[Output]:
    """Yield distinct outputs of a pair: of the run in which every draw takes its first value, and of random runs.

    Raises LimitError where a run draws noise on all integers, even if the core program does not need it.
    """
    met = set()
    for seed in range(_RUNS):
        for x in pair:
            try:
                output = bound.execute(x, PseudoRandom(seed)) if seed else next(interp.runs(bound, x))[0]
            except (Rejected, StopIteration):
                continue
            if output not in met:
                met.add(output)
                yield output


@dataclass
class Kept:
    """What several passes over one mechanism share: the table of whole laws, if any, and parts of laws by pair."""

    looked: bool = False
    whole: Table | None = None
    coarse: bool = False
    """Whether components of outputs are compared, not outputs."""
    parts: dict[tuple[Dataset, ...], list[Table]] = field(default_factory=dict)
    records: int = 0
    """How many records were read to lower datasets."""


class FewPairs(Method):
    """At most `most` pairs of neighbours, compared by whole laws, or by the probabilities of some outputs."""

    name = _NAME

    def __init__(self, program: Program, most: int, kept: Kept) -> None:
        self.program = program
        self._most, self._kept = most, kept

    def laws(self, control: Control) -> Table | Refusal:
        return self._kept.whole or Refusal("laws of whole outputs take too much work")

    def comparison(self, control: Control) -> Comparison:
        def pairs() -> Iterator[Pair]:
            for x, x_prime in islice(_pairs(self.program.bound), self._most):
                control()
                for table in (self._kept.whole,) if self._kept.whole else self._parts(control, (x, x_prime)):
                    if all(_has(table, each, control) for each in (x, x_prime)):
                        yield Pair(x, x_prime, 0, table)

        return Comparison(pairs, incomplete=LimitError("only a few pairs of neighbours were compared", ""))

    def _parts(self, control: Control, pair: tuple[Dataset, Dataset]) -> list[Table]:
        """Return the probabilities of some outputs on a pair, or the laws of components, that take little work."""
        kept, both = self._kept, tuple(sorted(pair, key=str))
        if both in kept.parts:
            return kept.parts[both]
        found: list[Table] = []
        with deep_recursion():
            if not kept.coarse:
                try:
                    found.append(_SomeOutputs(self.program, control, pair, kept))
                except _UNKNOWN:
                    control()
                    kept.coarse = not kept.parts
            if kept.coarse:
                try:
                    found = _component_laws(self.program, control, pair, kept)
                except _UNKNOWN:
                    control()
        kept.parts[both] = found
        return found

    def accuracy_set(self, control: Control) -> AccuracySet | Refusal:
        table = self._kept.whole
        if table is None:
            return Refusal("laws of whole outputs take too much work")
        some = tuple(islice(_datasets(self.program.bound), self._most))

        def datasets() -> Iterator[tuple[Dataset, int]]:
            yield from ((x, 1) for x in some if _has(table, x, control))
            raise LimitError("only a few datasets were looked at", "")

        return AccuracySet(datasets, len(some))


def _has(table: Table, x: Dataset, control: Control) -> bool:
    """Compute the law of a dataset if that takes little work; return whether it did."""
    try:
        with deep_recursion():
            table.weights(x)
    except _UNKNOWN:
        control()
        return False
    return True


def of_one_record(program: Program, control: Control) -> Iterator[Pair]:
    """Yield neighbours that differ in the first record, the only one there is, as long as that takes little work.

    `program` is bound to one direction of "add-remove".
    """
    absent = (None,) * program.bound.n
    table = _OneByOne(program, at_most(control, _BUDGET), _BUDGET, Kept())
    for record in program.bound.record.values if program.inexact is None else ():
        x, x_prime = ((record, *absent[1:]), absent)[:: -1 if program.bound.neighbours == "add" else 1]
        if x != x_prime:
            if not all(_has(table, each, control) for each in (x, x_prime)):
                return
            yield Pair(x, x_prime, 0, table)


class FirstPairs(Method):
    """A program that is not private: one of a few pairs of neighbours has an infinite ratio."""

    name = "first pairs"

    def __init__(self, program: Program, table: Table, found: Ratio) -> None:
        self.program = program
        self._table, self._found = table, found

    def tight(self, control: Control, budget: int) -> Tight:
        return Tight(math.inf, math.inf, self._found)

    def in_order(self, control: Control) -> Iterator[Pair]:
        return alike_pairs(self.program.bound, self._table)


def look(program: Program, control: Control, budget: int) -> FirstPairs | Refusal:
    """Return the method where one of a few pairs of neighbours, each lowered for itself, has an infinite ratio.

    It waits until no method answers with little work, and spends a small share of what such methods take.
    """
    if program.given is not None:
        return Refusal("first pairs: the program is part of another one")
    if relation_of(program.bound).custom:
        return Refusal("first pairs: neighbours are given by a function")
    if budget <= ALLOWED * LITTLE_WORK:
        return too_much("first pairs", ALLOWED * LITTLE_WORK)
    core, bound = program.core(control), program.bound
    if program.inexact is not None or core.evidence:
        return Refusal("first pairs: laws are not exact, or runs are conditioned")
    watched = at_most(control, budget // FEW_VALUES)
    table = _OneByOne(program, watched, ALLOWED * LITTLE_WORK, Kept())
    first = [(x, other) for x in islice(_datasets(bound), _FROM_EACH) for other in islice(_neighbours(bound, x), 1)]
    some = dict.fromkeys(pair for x, other in first for pair in ((x, other), (other, x)))
    some |= dict.fromkeys(islice(_pairs(bound), FEW_VALUES))
    try:
        with deep_recursion():
            found = tight_ratio(Pair(x, x_prime, 0, table) for x, x_prime in some)
        if found and found[0].exp_epsilon == math.inf:
            with suppress(TooLarge):  # then it is infinite whether or not a run on another dataset fails
                hold(program, core, core.checks, at_most(control, budget))
            return FirstPairs(program, table, found[0])
    except (TooLarge, TooMuchWork, TooWide):
        return exceeded("first pairs", budget) if budget < NO_LIMIT else Refusal("first pairs: they take much work")
    except _Arranged:
        return Refusal("first pairs: an output stands for several")
    except (ProgramError, QueryError):
        return Refusal("first pairs: a run can fail, and the whole program says on which dataset")
    return Refusal("first pairs: none of a few pairs of neighbours has an infinite ratio")


def program_of_few(bound: Bound, backend: str, most: int, kept: Kept) -> Program:
    """Return a program of which only `most` pairs of neighbours are compared, by this method alone."""

    def look(program: Program, control: Control, budget: int) -> Method | Refusal:
        if 2 * bound.n > LITTLE_WORK:
            return Refusal("the records of a single pair are too many")
        with deep_recursion():
            if not kept.looked:
                kept.looked, kept.whole = True, _whole(program, control, kept)
        if program.inexact is not None:
            return Refusal("the laws of fixed datasets are not exact")
        return FewPairs(program, most, kept)

    return Program(bound, (Candidate(_NAME, look),), backend, _NAME)


def _whole(program: Program, control: Control, kept: Kept) -> Table | None:
    """Return a table of whole laws, or None if those of the first pair take too much work."""
    first = next(_pairs(program.bound), ())
    table: Table = _OneByOne(program, control, _BUDGET, kept)
    try:
        try:
            _fill(table, first)
        except _Arranged:
            table = EliminationTable(program.bound, program.core(control), watch=control, budget=_BUDGET)
            _fill(table, first)
    except _GIVEN_UP:
        control()
        return None
    return table


def _fill(table: Table, datasets: Iterable[Dataset]) -> None:
    for x in datasets:
        table.weights(x)


def _pairs(bound: Bound) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield pairs of neighbours, both ways round, those first that are likely to differ much."""
    met = set()
    for x in _datasets(bound):
        for x_prime in _neighbours(bound, x):
            for pair in ((x, x_prime), (x_prime, x)):
                if pair not in met:
                    met.add(pair)
                    yield pair


def _datasets(bound: Bound) -> Iterator[Dataset]:
    """Yield datasets: all first records, all last records, both in halves and alternating, then all others in order."""
    n, values = bound.n, bound.record.values
    low, high = values[0], values[-1]
    some = [(low,) * n, (high,) * n, (low,) * (n // 2) + (high,) * (n - n // 2), tuple(islice(cycle((low, high)), n))]
    yield from dict.fromkeys(some)
    yield from (x for x in product(values, repeat=n) if x not in some)


def _neighbours(bound: Bound, x: Dataset) -> Iterator[Dataset]:
    """Yield some neighbours of a dataset: for a built-in relation, those in which a record moves far."""
    relation = relation_of(bound)
    if relation.custom:
        yield from islice(relation.neighbours(x), _FROM_EACH)
    elif relation.every_record:
        for end in (0, -1):
            yield tuple(relation.steps[record][end] for record in x)
    else:
        for at in dict.fromkeys((0, bound.n - 1, bound.n // 2)):
            steps = [new for new in relation.steps[x[at]] if new != x[at]]
            for new in dict.fromkeys((steps[-1], steps[0])) if steps else ():
                yield (*x[:at], new, *x[at + 1 :])
