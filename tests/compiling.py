"""From a bound mechanism to its formula, of all datasets or of one, as tests of the compiler ask for it."""

from __future__ import annotations

from collections.abc import Callable

from tightdp.core.lowering import lower
from tightdp.core.passes import expand_shuffles
from tightdp.language.program import Bound, Dataset
from tightdp.logic.encode import deep_recursion, encode_core, encode_dataset, prober
from tightdp.logic.formula import WeightedFormula

Watch = Callable[[int], None]


def _unlimited(nodes: int = 0) -> None:
    pass


def compile_symbolic(bound: Bound, backend: str = "cudd", watch: Watch = _unlimited) -> WeightedFormula:
    """Compile a mechanism for all datasets at once."""
    with deep_recursion():
        core = lower(bound, None, prober(backend, watch), lambda: watch(0))
        return encode_core(expand_shuffles(core), bound, None, backend, watch)


def compile_dataset(bound: Bound, x: Dataset, backend: str = "cudd", watch: Watch = _unlimited) -> WeightedFormula:
    """Compile a mechanism for one dataset."""
    with deep_recursion():
        core = lower(bound, bound.check_dataset(x), prober(backend, watch), lambda: watch(0))
    return encode_dataset(core, bound, x, backend, watch)
