"""From a bound mechanism to a formula: lowered to its core program, then encoded; and what that takes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod

from tightdp.core.lowering import lower
from tightdp.core.nodes import Apply, Case, CoreProgram, Draw, Expr, Nary, reachable
from tightdp.core.passes import expand_shuffles
from tightdp.errors import ProgramError
from tightdp.exact.numbers import brief
from tightdp.language.program import Bound, Dataset
from tightdp.limits import IN_A_CALL
from tightdp.limits.calibrated import CELL_STEPS, DRAW_STEPS, MUCH_WORK, NODE_STEPS
from tightdp.logic.encode import encode, prober
from tightdp.logic.formula import WeightedFormula
from tightdp.methods.base import Control

_RECURSION = 1_000_000
"""The compiler recurses in Python along chains of branches; such calls take no C stack."""

Watch = Callable[[int], None]


def _unlimited(nodes: int = 0) -> None:
    pass


def compile_symbolic(bound: Bound, backend: str = "cudd", watch: Watch = _unlimited) -> WeightedFormula:
    """Compile a mechanism for all datasets at once. Raises LanguageError, ProgramError or LimitError."""
    with deep_recursion():
        core = lower(bound, None, prober(backend, watch), lambda: watch(0))
        return encode_core(expand_shuffles(core), bound, None, backend, watch)


def compile_dataset(bound: Bound, x: Dataset, backend: str = "cudd", watch: Watch = _unlimited) -> WeightedFormula:
    """Compile a mechanism for one dataset: a smaller diagram, and the law of all outputs in one pass."""
    with deep_recursion():
        core = lower(bound, bound.check_dataset(x), prober(backend, watch), lambda: watch(0))
    return encode_dataset(core, bound, x, backend, watch)


def encode_dataset(core: CoreProgram, bound: Bound, x: Dataset, backend: str, watch: Watch) -> WeightedFormula:
    with deep_recursion():
        return encode_core(expand_shuffles(core), bound, x, backend, watch)


def encode_core(program: CoreProgram, bound: Bound, x: Dataset | None, backend: str, watch: Watch) -> WeightedFormula:
    """Encode a core program without `Shuffled` nodes. Raises ProgramError, with a dataset, where a check can fail."""
    watch(0)
    try:
        formula = encode(program, backend, watch)
    except ProgramError as error:
        failure = error.with_traceback(None)  # its frames hold nodes of a diagram that is no longer needed
    else:
        watch(formula.nodes)
        return formula
    raise _placed(failure, bound, x)


def _placed(error: ProgramError, bound: Bound, x: Dataset | None) -> ProgramError:
    """Return the error of a failing program with a dataset on which it fails."""
    dataset = x
    if x is None and error.x is not None:
        dataset = tuple(bound.record.join(leaves) for leaves in error.x)
    where = "" if dataset is None else f" on the dataset {brief(dataset)}"
    return ProgramError(f"a run{where} fails with {error.what}", error.hint, error.span, dataset)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Let the compiler recurse in Python as deep as it needs to."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(max(before, 1000))


class TooLarge(Exception):
    """A diagram is too large to be worthwhile."""


def bounded(watch: Watch, most: int) -> Watch:
    """Return a function that watches, and raises TooLarge where a diagram has more nodes."""

    def limits(nodes: int = 0) -> None:
        watch(nodes)
        if nodes > most:
            raise TooLarge

    return limits


def counted(control: Control, look: Callable[[int], None]) -> Control:
    """Return a control with the same limits that tells how many steps were taken so far, of calls and of a diagram."""
    spent = largest = 0

    def limits(nodes: int = 0) -> None:
        nonlocal spent, largest
        control(nodes)
        spent, largest = spent + IN_A_CALL, max(largest, nodes)
        look(spent + NODE_STEPS * largest)

    return Control(limits, plan=control.plan)


def at_most(control: Control, steps: int = MUCH_WORK) -> Control:
    """Return a control with the same limits that raises TooLarge after so many steps."""

    def look(taken: int) -> None:
        if taken > steps:
            raise TooLarge

    return counted(control, look)


def cells(program: CoreProgram) -> int:
    """Return the number of combinations of operand values, over all operations, plus that of outcomes of draws."""
    return sum(map(_cells, reachable([*program.roots, *program.inputs])))


def steps_of_diagram(program: CoreProgram) -> int:
    """Return an estimate of the steps that a diagram takes at least: of every combination of values, and every draw."""
    draws = sum(isinstance(expr, Draw) for expr in reachable([*program.roots, *program.inputs]))
    return CELL_STEPS * cells(program) + DRAW_STEPS * draws


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
