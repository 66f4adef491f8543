"""The laws of many datasets at once: exact, or as doubles with a proved relative error, which take far less time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tightdp.core.nodes import Draw
from tightdp.core.operators import Value
from tightdp.exact.lazily import lazily
from tightdp.exact.whole import Whole
from tightdp.methods.elimination_arrays import RowArrays, TooManyRows
from tightdp.methods.elimination_plan import Plan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
else:
    np = lazily("numpy")

__all__ = ["FEWEST", "laws_of_lanes", "rounded_laws"]

FEWEST = 8
"""Fewer lanes are processed one by one."""
_AT_ONCE = 1 << 13
"""At most this many lanes are processed together, to save memory."""
_MOST_ROUNDED = 1 << 22
"""Doubles have a relative error below 2^-28 after this many products and sums of rounded probabilities."""
_MOST_ENTRIES = 30_000_000
_LEAST = -400.0
"""A run that is less probable than this power of 2 might be lost among doubles."""


def laws_of_lanes(
    plan: Plan, lanes: Sequence[Sequence[Value]], watch: Callable[[], None] = lambda: None, budget: int | None = None
) -> Iterator[tuple[dict[int, Whole], Whole]]:
    """Yield, for every lane, the weights of the codes of outputs (as `observe` accepts them), and their total.

    A lane gives the values of the leaves in the order in which the plan learns them. Raises TooMuchWork where some
    thousands of lanes together take more work than the budget, Failed where a run fails.
    """
    for _, arrays in _gone_through(plan, lanes, watch, budget, rounded=False):
        for law in arrays.laws(plan.program.components):
            yield law, arrays.denominator


def rounded_laws(
    plan: Plan, lanes: Sequence[Sequence[Value]], watch: Callable[[], None] = lambda: None, budget: int | None = None
) -> tuple[list[int], Floats] | None:
    """Return codes of outputs, and a matrix of their rounded weights, with a row for every lane.

    Nothing cancels, as no weight is negative: a weight has a relative error below 2^-28, and is 0 exactly where the
    true one is. None where this cannot be guaranteed, or the matrix is too large. Raises as `laws_of_lanes` does.
    """
    if not _never_tiny(plan):
        return None
    column: dict[int, int] = {}
    matrix = np.zeros((len(lanes), 0))
    for start, arrays in _gone_through(plan, lanes, watch, budget, rounded=True):
        for places, codes, weights in arrays.ending(plan.program.components):
            used, inverse = np.unique(codes, return_inverse=True)
            columns = np.array([column.setdefault(code, len(column)) for code in used.tolist()], dtype=np.int64)
            if len(column) * len(lanes) > _MOST_ENTRIES:
                return None
            if len(column) > matrix.shape[1]:
                matrix = np.pad(matrix, ((0, 0), (0, 2 * len(column) - matrix.shape[1])))
            np.add.at(matrix, (start + places, columns[inverse]), weights)
        if arrays.work > _MOST_ROUNDED:
            return None
    return list(column), matrix[:, : len(column)]


def _gone_through(
    plan: Plan, lanes: Sequence[Sequence[Value]], watch: Callable[[], None], budget: int | None, rounded: bool
) -> Iterator[tuple[int, RowArrays]]:
    """Yield the number of the first lane of each batch, and the batch's rows after all steps."""
    waiting = [(start, lanes[start : start + _AT_ONCE]) for start in range(0, len(lanes), _AT_ONCE)][::-1]
    while waiting:
        start, some = waiting.pop()
        arrays = RowArrays(plan, some, watch, budget, together=True, rounded=rounded)
        try:
            arrays.run()
        except TooManyRows:
            half = len(some) // 2
            if not half:
                raise
            waiting += [(start + half, some[half:]), (start, some[:half])]
        else:
            yield start, arrays


def _never_tiny(plan: Plan) -> bool:
    """Whether the probability of every run, and of any part of it, is safely in the range of doubles."""
    least = 0.0
    for node in plan.nodes.nodes:
        if isinstance(node.expr, Draw):
            masses = [mass for law in node.expr.laws if law is not None for _, mass in law if mass]
            rational = [mass for mass in masses if isinstance(mass, Fraction)]
            if len(rational) < len(masses):
                return False
            smallest = min(rational, default=Fraction(1))
            least += math.log2(smallest.numerator) - math.log2(smallest.denominator)
    return least > _LEAST
