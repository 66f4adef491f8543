"""Output laws that are the law of one integer sum: computed when they are looked at, screened by leading digits.

Where the program publishes the sum, one output for each, its law is a polynomial. Many questions need little of it: how
many outputs there are, the mass of a window, a bound on Σ max(0, P - t P'). Only what is asked is computed, and the
laws of datasets that differ in a few records come from each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from typing import Any

from flint import ctx

from tightdp.exact.field import Number
from tightdp.exact.whole import Whole, ball_of
from tightdp.methods.mixture import SumLaw

__all__ = ["CodesOfSums", "LawByCode", "mass"]

_UNIT_BITS = 61
_HALF = 31
_LOW = (1 << _HALF) - 1


class CodesOfSums:
    """Which output code stands for which sum; every sum has one, and no two the same."""

    def __init__(self, code_of: Mapping[int, int]) -> None:
        self.code_of = code_of
        self.sum_of = {code: value for value, code in code_of.items()}
        self.lowest = min(code_of)
        self.highest = max(code_of)

    def weights(self, law: SumLaw) -> dict[int, Whole]:
        """Return the weights of a law by code, in the order of the codes."""
        return dict(sorted((self.code_of[value], weight) for (value,), weight in law.items()))


class LawByCode(Mapping[int, Whole]):
    """The weights of a law by output code. `again` gives the law of the sum again, `whole` all weights by code."""

    def __init__(
        self, codes: CodesOfSums, law: SumLaw, again: Callable[[], SumLaw], whole: Callable[[], dict[int, Whole]]
    ) -> None:
        import numpy as np

        self._codes, self._again, self._whole = codes, again, whole
        present = law.present()
        every = range(law.offset, law.offset + len(present))
        self._sums: Sequence[int] = every if all(present) else [v for v, w in zip(every, present, strict=True) if w]
        leading: Sequence[Any]
        if isinstance(law.denominator, int):
            leading = (law.polynomial * (1 << _UNIT_BITS) // law.denominator).coeffs()
        else:
            leading = [_leading(weight, law.denominator) for weight in law.weights()]
        start = law.offset - codes.lowest
        self._leading = np.zeros(codes.highest - codes.lowest + 1, dtype=np.int64)
        self._leading[start : start + len(leading)] = list(map(int, leading))
        self._slack = 1 if law.stride == 1 else 2

    # as a mapping

    def __len__(self) -> int:
        return len(self._sums)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(map(self._codes.code_of.__getitem__, self._sums)))

    def __getitem__(self, code: int) -> Whole:
        return self._whole()[code]

    def get(self, code: int, default: Any = None) -> Any:
        """Return the weight of a code."""
        return self._whole().get(code, default)

    def items(self) -> ItemsView[int, Whole]:
        """Return codes with their weights, in the order of the codes."""
        return self._whole().items()

    def values(self) -> ValuesView[Whole]:
        """Return the weights, in the order of the codes."""
        return self._whole().values()

    # what is asked without the whole law

    def mass(self, codes: Iterable[int]) -> Whole:
        """Return the weight of some codes together."""
        return self._again().mass(self._codes.sum_of[code] for code in codes)

    def surely_below(self, other: LawByCode, t: Number, delta: Number) -> bool:
        """Whether Σ max(0, P - t P') <= delta, decided on leading digits; False where these do not decide.

        Probabilities are rounded down to multiples of 2^-61, P counts one unit more (two with e^q); t P' is rounded
        down.
        """
        scale = _UNIT_BITS - int(t).bit_length()
        if t < 0 or scale <= _HALF:
            return False
        factor = math.floor(t * (1 << scale))
        high, low = factor >> _HALF, factor & _LOW
        theirs_high, theirs_low = other._leading >> _HALF, other._leading & _LOW
        # t P' = high theirs_high 2^62 + (high theirs_low + low theirs_high) 2^31 + ..., cut off where it passes 1.
        top = (high * theirs_high).clip(max=1 << (scale - 1)) << (2 * _HALF - scale)
        product = top + ((high * theirs_low + low * theirs_high) >> (scale - _HALF))
        excess = (self._leading + self._slack - product).clip(min=0)
        return int(excess.sum()) <= delta * (1 << _UNIT_BITS)


def _leading(weight: Whole, total: Whole) -> int:
    """Return a probability in units of 2^-61: rounded down, or to one unit less."""
    with ctx.workprec(2 * _UNIT_BITS):
        found = ball_of(weight) / ball_of(total) * (1 << _UNIT_BITS)
        return max(int(found.lower().floor().fmpq().p), 0)


def mass(by_code: Mapping[int, Whole], codes: Iterable[int]) -> Whole:
    """Return the weight of some codes of a law together."""
    if isinstance(by_code, LawByCode):
        return by_code.mass(codes)
    return sum(by_code.get(code, 0) for code in codes)
