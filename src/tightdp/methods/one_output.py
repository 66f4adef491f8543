"""One output or dataset: a probability by itself, a law without a diagram, and how many outputs there are at least."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate
from math import prod
from operator import or_
from typing import TypeAlias

from tightdp.core.nodes import Apply, Case, Const, CoreProgram, Draw, Expr, Nary, Shuffled, reachable
from tightdp.errors import ProgramError, QueryError
from tightdp.exact.field import Number
from tightdp.language.laws import Law
from tightdp.language.outputs import Output
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import LISTED_MASSES, LITTLE_WORK, MOST_ENTRIES, MUCH_WORK, TABLE_ENTRIES
from tightdp.methods import questions
from tightdp.methods.base import Control
from tightdp.methods.by_aggregates import estimate
from tightdp.methods.by_elimination import EliminationTable, work_of_diagram
from tightdp.methods.compiled import cells
from tightdp.methods.elimination import TooMuchWork
from tightdp.methods.elimination_plan import TooWide
from tightdp.methods.pieces import plain
from tightdp.methods.program import Program

_INJECTIVE = ("not", "neg")
"""Operations that tell all values of their operand apart (`not` that of a truth value)."""
_INJECTIVE_IN_EACH = ("sum", "xor", "bitxor", "add", "sub")
"""Operations that tell all values of any operand apart where the others are given."""


def least_outputs(program: CoreProgram) -> int:
    """Return a lower bound on the number of outputs on every dataset on which the program can run, often just 1.

    A component that is a draw takes several values whatever was drawn before it. A component is counted if none counted
    before depends on its draws: then all their combinations occur.
    """
    if program.evidence or not plain(program.shape):
        return 1
    components = sorted(set(program.components), key=lambda expr: expr.serial)
    known = _Least(components)
    found, taken = [], 0
    for component in components:
        values, own, others = known.least[component.serial]
        if values > 1 and not own & (taken | others):
            found.append(values)
            taken |= known.draws[component.serial]
    return prod(found)


Draws: TypeAlias = int
"""A set of draws: one bit for each."""
_Values: TypeAlias = tuple[int, Draws, Draws]
"""How many values a node takes at least over its own draws alone, where what it selects by is given; these draws; and
those that it selects by."""
_ONE: _Values = 1, 0, 0


class _Least:
    """For every node below the roots: the draws below it, and a lower bound on the number of its values."""

    def __init__(self, roots: Sequence[Expr]) -> None:
        self.draws: dict[int, Draws] = {}
        self.least: dict[int, _Values] = {}
        arrangements: dict[int, Draws] = {}
        number = 0
        for expr in reachable(roots):
            if isinstance(expr, Shuffled):
                if expr.group not in arrangements:
                    arrangements[expr.group] = self._below(expr.items)
                below = arrangements[expr.group]
            else:
                below = self._below(expr.children)
            if isinstance(expr, Draw):
                own, number = 1 << number, number + 1
                below |= own
                self.least[expr.serial] = min(_outcomes(law) for law in expr.laws if law is not None), own, 0
            else:
                self.least[expr.serial] = self._least(expr)
            self.draws[expr.serial] = below

    def _below(self, operands: Sequence[Expr]) -> Draws:
        return reduce(or_, (self.draws[operand.serial] for operand in operands), 0)

    def _least(self, expr: Expr) -> _Values:
        match expr:
            case Case() if _renames(expr):
                return self.least[expr.selector.serial]
            case Case():
                values, own, others = zip(*(self.least[branch.serial] for branch in expr.branches), strict=True)
                return min(values), reduce(or_, own), reduce(or_, others, self.draws[expr.selector.serial])
            case Nary() | Apply(operands=(_, _)) if expr.operator in _INJECTIVE_IN_EACH:
                return self._of_operands(expr.operands)
            case Apply(operands=(operand,)) if expr.operator in _INJECTIVE and len(expr.values) == len(operand.values):
                return self.least[operand.serial]
            case Apply(operands=(operand, Const())) if expr.operator == "eq" and len(operand.values) == 2:
                return self.least[operand.serial]
        return _ONE

    def _of_operands(self, operands: Sequence[Expr]) -> _Values:
        """Return the entry of an operation that is injective in each operand: one varies, and the others are given."""
        below = [self.draws[operand.serial] for operand in operands]
        after = [*accumulate(reversed(below), or_, initial=0)][-2::-1]
        best, before = _ONE, 0
        for operand, drawn, later in zip(operands, below, after, strict=True):
            values, own, others = self.least[operand.serial]
            given = others | before | later
            before |= drawn
            if values > best[0] and not own & given:
                best = values, own, given
        return best


def _outcomes(law: Law) -> int:
    return sum(1 for _, mass in law if mass)


def _renames(expr: Case) -> bool:
    """Whether the branches are constants, all different."""
    return len({branch.values[0] for branch in expr.branches if isinstance(branch, Const)}) == len(expr.branches)


def check_listable(program: CoreProgram) -> None:
    """Raise QueryError where a law certainly has too many outputs to list."""
    outputs = least_outputs(program)
    if outputs > MOST_ENTRIES:
        raise QueryError(
            f"the output has at least {outputs:,} values, too many to list (at most {MOST_ENTRIES:,} are)",
            "ask for the probability of one output, probability(x, y), or return a part of the output: "
            "its law is the marginal",
        )


def probability(program: Program, control: Control, x: Dataset, y: Output) -> Number:
    """Return P(y | x); where there are very many outputs, by following only the runs that give y."""
    if program.forced is None and least_outputs(core := program.core(control)) > MOST_ENTRIES:
        try:
            return EliminationTable(program.bound, core, watch=control, budget=MUCH_WORK).probability(x, y)
        except (TooMuchWork, TooWide):
            pass
    aggregate = program.aggregate(control) if program.forced is None else None
    if aggregate is not None and estimate(aggregate) > LITTLE_WORK and aggregate.states <= LISTED_MASSES:
        return aggregate.probability(x, y)  # the laws of all counts are many, that of one is not
    return questions.laws(program, control)[1].probability(x, y)


def table_without_diagram(bound: Bound, core: CoreProgram, x: Dataset, control: Control) -> EliminationTable | None:
    """Return the law of a dataset where its diagram would take long and elimination much less, else None."""
    if cells(core) <= TABLE_ENTRIES:
        return None
    try:
        table = EliminationTable(bound, core, watch=control, budget=work_of_diagram(core))
        table.fill([bound.check_dataset(x)])
    except (TooMuchWork, TooWide, ProgramError, QueryError):
        return None
    return table
