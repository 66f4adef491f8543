"""Enumerating all runs of every dataset with the interpreter: no compiling, and the plainest way to every answer.

It is used by name, and where other methods take much, or have no exact answer (`session/limited.py`), and runs are few.
Its tables number outputs as they are met, as no formula gives them codes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import islice

from tightdp.core.outputs import Codes
from tightdp.errors import TightdpError
from tightdp.exact.field import Number
from tightdp.exact.whole import Whole, lcm
from tightdp.language import interp
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import Output
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import FEW_VALUES, MAX_DATASETS, MUCH_WORK
from tightdp.logic.count import Weights
from tightdp.methods.base import Control, Refusal, too_much
from tightdp.methods.by_datasets import Exhaustive
from tightdp.methods.failing import datasets_to_try
from tightdp.methods.program import Program
from tightdp.symmetry.sets import Table


class ListedCodes(Codes):
    """A code is the number of an output in the order of its first use."""

    several = False

    def __init__(self) -> None:
        self._codes: dict[Output, int] = {}
        self.outputs: list[Output] = []

    @property
    def bits(self) -> int:
        return len(self.outputs).bit_length()

    def number(self, code: int) -> int:
        return 1

    def first(self, code: int) -> Output:
        return self.outputs[code]

    def every(self, code: int) -> Iterator[Output]:
        yield self.outputs[code]

    def find(self, output: Output) -> tuple[int, Number] | None:
        return (self._codes[output], Fraction(1)) if output in self._codes else None

    def code(self, output: Output) -> int:
        """Return the code of an output, a new one where it was not met."""
        code = self._codes.setdefault(output, len(self.outputs))
        if code == len(self.outputs):
            self.outputs.append(output)
        return code


class ListedTable(Table):
    """Laws by dataset, with outputs as they are met."""

    codes: ListedCodes

    def __init__(self, bound: Bound, watch: Callable[[], None] = lambda: None) -> None:
        super().__init__(bound, ListedCodes())
        self.watch = watch

    def probability(self, x: Dataset, output: Output) -> Number:
        self.weights(x)  # what is not met on the way has no code
        return super().probability(x, output)


def whole_weights(law: Mapping[int, Number]) -> tuple[dict[int, Whole], Whole]:
    """Return probabilities as integers over one denominator, those that are 0 left out."""
    scale = lcm(*(mass.denominator for mass in law.values()))
    return {code: mass.numerator * (scale // mass.denominator) for code, mass in law.items() if mass}, scale


class RunsTable(ListedTable):
    """The output laws that the interpreter finds."""

    def _counted(self, x: Dataset) -> Weights:
        masses: dict[Output, Number] = {}
        for output, probability in interp.runs(self.bound, x):
            self.watch()
            masses[output] = masses.get(output, Fraction(0)) + probability
        by_code, _ = whole_weights({self.codes.code(output): mass for output, mass in masses.items()})
        total = sum(by_code.values())
        if not total:
            raise self.bound.contradiction(x, "is false in every run")
        return Weights(dict(sorted(by_code.items())), total)


class Runs(Exhaustive):
    """All datasets, and all pairs of neighbours, with laws by the interpreter."""

    name = "runs"

    def laws(self, control: Control) -> Table:
        table: Table = self.program.once("runs", lambda: RunsTable(self.program.bound, control))
        return table


def few_runs(bound: Bound, runs: int = MAX_DATASETS) -> bool:
    """Whether enumerating all runs and comparing all neighbours is as little work as so many runs, by a few datasets.

    One of them may have very many runs, where the others have few.
    """
    if bound.n * math.log2(bound.record.size) > math.log2(runs):
        return False
    # Those of the first records of the domain, of the last ones, and one that has many of them.
    sample = list(dict.fromkeys(islice(datasets_to_try(bound.record.values, bound.n), 3)))
    neighbours = sum(1 for _ in islice(relation_of(bound).neighbours(sample[0]), MAX_DATASETS))
    most = runs // int(bound.record.size**bound.n * (1 + neighbours // FEW_VALUES))
    try:
        heavy: list[Dataset] = []
        for x in sample:
            number = _number_of_runs(bound, x, most)
            heavy += [x] if number > most else []
            if not number or 2 * len(heavy) >= len(sample):
                return False
        return all(_number_of_runs(bound, x, runs // 2) <= runs // 2 for x in heavy)
    except TightdpError:
        return False


def _number_of_runs(bound: Bound, x: Dataset, most: int) -> int:
    """Return how many runs a dataset has, or one more than `most`."""
    return sum(1 for _ in islice(interp.runs(bound, x), most + 1))


def look(program: Program, control: Control, budget: int) -> Runs | Refusal:
    """Return the method where runs are few and other methods take much, or where it is asked for by name."""
    if program.forced is None:
        if budget < MUCH_WORK:
            return too_much("runs", MUCH_WORK)
        if program.given is not None or not few_runs(program.bound):
            return Refusal("runs: they are many, or the program is part of another one")
    return Runs(program)
