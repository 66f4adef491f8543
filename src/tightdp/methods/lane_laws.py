"""The laws of many datasets at once: exact, or as doubles with a proved relative error, which take far less time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import repeat
from typing import TYPE_CHECKING

from tightdp.core.nodes import Draw
from tightdp.core.operators import Value
from tightdp.exact.field import Number
from tightdp.exact.lazily import lazily
from tightdp.exact.whole import Whole
from tightdp.methods.elimination import Part, Weight
from tightdp.methods.elimination_lanes import Arrays, Lanes, ManyLanes
from tightdp.methods.elimination_plan import Plan, Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
else:
    np = lazily("numpy")

__all__ = ["FEWEST", "laws_of_lanes", "rounded_laws"]

FEWEST = 8
"""Fewer lanes are gone through one by one."""
_AT_ONCE = 1 << 14
"""So many lanes are gone through together, for the sake of memory."""
_MOST_ROUNDED = 1 << 22
"""Doubles have a relative error below 2^-28 after so many products and sums, and as many rounded probabilities."""
_MOST_ENTRIES = 30_000_000
_LEAST = -400.0
"""A run that is less probable than this power of 2 might be lost among doubles."""


class _Doubles(Arrays):
    """Arrays of rounded probabilities."""

    kind = "float64"

    def masses(self, law: Sequence[Number]) -> tuple[Sequence[Weight], Whole]:
        return [float(mass) if isinstance(mass, Fraction) else math.nan for mass in law], 1

    def reduced(self, part: Part) -> Part:
        return part


def laws_of_lanes(
    plan: Plan, lanes: Sequence[Sequence[Value]], watch: Callable[[], None] = lambda: None, budget: int | None = None
) -> Iterator[tuple[dict[Row, Whole], Whole]]:
    """Yield, for every lane, the weights of the values of the components (as `observe` accepts them), and their total.

    A lane gives the values of the leaves in the order in which the plan learns them. Raises TooMuchWork where more
    rows than the budget are made for some thousands of lanes together, Failed where a run fails.
    """
    for start in range(0, len(lanes), _AT_ONCE):
        yield from _some(plan, lanes[start : start + _AT_ONCE], watch, budget)


def _some(
    plan: Plan, lanes: Sequence[Sequence[Value]], watch: Callable[[], None], budget: int | None
) -> Iterator[tuple[dict[Row, Whole], Whole]]:
    elimination = ManyLanes(plan, lanes, watch, budget)
    laws: list[dict[Row, Whole]] = [{} for _ in lanes]
    for output, weight in elimination.ending():
        several = type(output) is Lanes
        outputs = map(output.values.__getitem__, output.places.tolist()) if several else repeat(output, len(lanes))
        for law, values, share in zip(laws, outputs, weight.tolist(), strict=True):
            if share:
                law[values] = law[values] + share if values in law else share
    return iter([(law, elimination.denominator) for law in laws])


def rounded_laws(
    plan: Plan, lanes: Sequence[Sequence[Value]], watch: Callable[[], None] = lambda: None, budget: int | None = None
) -> tuple[list[Row], Floats] | None:
    """Return values of the components, and a matrix of their rounded weights, with a row for every lane.

    Nothing cancels, as no weight is negative: a weight has a relative error below 2^-28, and is 0 exactly where the
    true one is. None where that is not certain, or the matrix is too large. Raises as `laws_of_lanes` does.
    """
    if not _never_tiny(plan):
        return None
    column: dict[Row, int] = {}
    matrix = np.zeros((len(lanes), 0))
    for start in range(0, len(lanes), _AT_ONCE):
        some = lanes[start : start + _AT_ONCE]
        places = np.arange(start, start + len(some))
        elimination = ManyLanes(plan, some, watch, budget, _Doubles)
        for output, weight in elimination.ending():
            values = output.values if type(output) is Lanes else (output,)
            columns = np.array([column.setdefault(value, len(column)) for value in values])
            if len(column) * len(lanes) > _MOST_ENTRIES:
                return None
            if len(column) > matrix.shape[1]:
                matrix = np.pad(matrix, ((0, 0), (0, 2 * len(column) - matrix.shape[1])))
            matrix[places, columns[output.places] if type(output) is Lanes else columns[0]] += weight
        if elimination.work > _MOST_ROUNDED:
            return None
    return list(column), matrix[:, : len(column)]


def _never_tiny(plan: Plan) -> bool:
    """Whether every run has a probability that is a double, as have the products of some of its draws."""
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
