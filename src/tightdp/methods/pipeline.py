"""The whole flow on one screen: a bound mechanism to its core program, to a formula, to a table of output laws."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tightdp.core.lowering import lower
from tightdp.core.nodes import CoreProgram
from tightdp.core.passes import expand_shuffles
from tightdp.errors import ProgramError
from tightdp.language.program import Bound, Dataset
from tightdp.limits import Limits
from tightdp.logic.encode import encode, prober
from tightdp.logic.formula import WeightedFormula
from tightdp.symmetry.sets import Table

__all__ = ["compile_dataset", "compile_symbolic", "deep_recursion", "encode_core", "table_for"]

_RECURSION = 1_000_000
"""The compiler recurses in Python along chains of branches; such calls take no C stack."""


def compile_symbolic(bound: Bound, backend: str = "cudd", limits: Limits | None = None) -> WeightedFormula:
    """Compile a mechanism for all datasets at once. Raises LanguageError, ProgramError or LimitError."""
    return _compile(bound, None, backend, limits or Limits())


def compile_dataset(bound: Bound, x: Dataset, backend: str = "cudd", limits: Limits | None = None) -> WeightedFormula:
    """Compile a mechanism for one dataset: a smaller diagram, and the law of all outputs in one pass."""
    return _compile(bound, bound.check_dataset(x), backend, limits or Limits())


def table_for(bound: Bound, formula: WeightedFormula) -> Table:
    """Return the table of output laws of a compiled mechanism."""
    return Table(bound, formula)


def _compile(bound: Bound, x: Dataset | None, backend: str, limits: Limits) -> WeightedFormula:
    with deep_recursion():
        core = lower(bound, x, prober(backend, limits.watch), limits.watch)
        return encode_core(expand_shuffles(core), bound, x, backend, limits)


def encode_core(program: CoreProgram, bound: Bound, x: Dataset | None, backend: str, limits: Limits) -> WeightedFormula:
    """Encode a core program without `Shuffled` nodes. Raises ProgramError, with a dataset, where a check can fail."""
    limits.watch()
    try:
        return encode(program, backend, limits.watch)
    except ProgramError as error:
        failure = error.with_traceback(None)  # its frames hold nodes of a diagram that is no longer needed
    raise _placed(failure, bound, x)


def _placed(error: ProgramError, bound: Bound, x: Dataset | None) -> ProgramError:
    """Return the error of a failing program with the dataset that reaches it."""
    dataset = x
    if x is None and error.x is not None:
        dataset = tuple(bound.record.join(leaves) for leaves in error.x)
    where = "" if dataset is None else f" on the dataset {dataset}"
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
