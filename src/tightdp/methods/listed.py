"""Tables of laws whose outputs are numbered as they are met, where no formula gives them codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from tightdp.core.outputs import Codes
from tightdp.exact.field import Number
from tightdp.exact.whole import Whole, lcm
from tightdp.language.program import Bound, Dataset, Output
from tightdp.symmetry.sets import Table

__all__ = ["ListedTable", "whole_weights"]


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
