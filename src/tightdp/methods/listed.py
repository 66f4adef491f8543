"""Tables of laws whose outputs are numbered as they are met, where no formula gives them codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tightdp.exact.field import Number
from tightdp.exact.whole import Whole, lcm
from tightdp.language.program import Bound, Dataset, Output
from tightdp.logic.count import Weights
from tightdp.symmetry.sets import Table

__all__ = ["ListedTable", "whole_weights"]


class ListedTable(Table):
    """Laws by dataset. A code is the number of an output in the order of its first use."""

    def __init__(self, bound: Bound, watch: Callable[[], None] = lambda: None) -> None:
        self.bound = bound
        self.watch = watch
        self._laws: dict[Dataset, Weights] = {}
        self._kept = 0
        self._codes: dict[Output, int] = {}
        self._outputs: list[Output] = []

    @property
    def code_bits(self) -> int:
        """How many bits the codes of the outputs that were met have."""
        return len(self._outputs).bit_length()

    def _reached(self, x: Dataset, most: int) -> bool:
        self.weights(x)
        return True

    def output(self, code: int) -> Output:
        return self._outputs[code]

    def code(self, output: Output) -> int:
        """Return the code of an output, a new one where it was not met."""
        code = self._codes.setdefault(output, len(self._outputs))
        if code == len(self._outputs):
            self._outputs.append(output)
        return code


def whole_weights(law: Mapping[int, Number]) -> tuple[dict[int, Whole], Whole]:
    """Return probabilities as integers over one denominator, those that are 0 left out."""
    scale = lcm(*(mass.denominator for mass in law.values()))
    return {code: mass.numerator * (scale // mass.denominator) for code, mass in law.items() if mass}, scale
