"""How many draws have an unknown scale, how fast probabilities change with it, and whether errors are in proportion."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from tightdp.cells.followed import Loops
from tightdp.cells.maker import mass_of
from tightdp.cells.noise import Noisy
from tightdp.cells.paths import paths
from tightdp.exact.enclosure import BITS, ends
from tightdp.exact.field import ExpNumber, Number
from tightdp.language.interp import target_of
from tightdp.language.laws import Exponentials
from tightdp.language.program import Bound, Dataset


@dataclass(frozen=True)
class Scaled:
    """So many draws of a run, at most, have rates that are multiples of the unknown s, or scales that are.

    Densities depend on s by the sum W of as many exponentially distributed numbers: their derivatives are ±(k - W)/s
    times the density, and (W² - 2·k·W + k² - k)/s², or (W² - 2·(k + 1)·W + k² + k)/s².
    """

    draws: int
    rates: bool

    @property
    def turned(self) -> Fraction:
        """How fast a probability changes, at most, times s: the mean of what of W - k is positive."""
        k = self.draws
        return _above(lambda: arb(k) ** k * (-arb(k)).exp() / math.factorial(k - 1))

    @property
    def bent(self) -> Fraction:
        """How large its second derivative is, at most, times s²: the mean of what is positive."""
        k, middle = self.draws, self.draws + (not self.rates)

        def beyond(x: arb) -> arb:
            return (x - middle + self.rates) * x**k * (-x).exp() / math.factorial(k - 1)

        return _above(lambda: beyond(middle + arb(middle).sqrt()) - beyond(middle - arb(middle).sqrt()))


def scaled_draws(bound: Bound, datasets: Iterable[Dataset], symbol: Number, watch: Callable[[], None]) -> Scaled | None:
    """Return how many Laplace or exponential draws have the unknown in their scale, and how.

    None where it stands elsewhere, or in rates and scales, or runs are conditioned.
    """
    loops, most, ways = Loops(lambda path: mass_of(path, watch), watch), 0, set[bool | None]()
    for x in datasets:
        found, rejected = paths(bound, x, loops)
        for path in found:
            scaled = [law for law in path.laws.values() if _has_unknown(law.weight, *(base for *_, base in law.pieces))]
            ways |= {_way(law, symbol) for law in scaled}
            if rejected or _has_unknown(path.weight) or len(ways) > 1:
                return None
            most = max(most, len(scaled))
    rates = ways.pop() if ways else None
    return None if rates is None else Scaled(most, rates)


def errors_in_proportion(bound: Bound, x: Dataset, symbol: Number, watch: Callable[[], None]) -> bool | None:
    """Return whether the unknown times the error of a real number has one law (True), or the error over it (False).

    So it is where all draws have such a rate, or scale, and what they decide and publish stays what it is when all of
    them are multiplied by a number. None elsewhere.
    """
    target, ways = target_of(bound, x), set[bool | None]()
    for path in paths(bound, x, Loops(lambda path: mass_of(path, watch), watch))[0]:
        constant = path.output.constant if isinstance(path.output, Noisy) else path.output
        ends = (end for law in path.laws.values() for low, high, _ in law.pieces for end in (low, high))
        if constant != target or any(limit for _, limit in path.rows) or any(ends) or _has_unknown(path.weight):
            return None
        ways |= {_way(law, symbol) for law in path.laws.values()}
    return ways.pop() if len(ways) == 1 else None


def _has_unknown(*values: Any) -> bool:
    return any(isinstance(value, ExpNumber) and value.unknown for value in values)


def _way(law: Exponentials, symbol: Number) -> bool | None:
    """Return whether the rate of a law, or else the scale, is a multiple of the unknown; None for other laws."""
    if law.real and all(None in (low, high) for low, high, _ in law.pieces):
        for way, share in ((True, law.weight / symbol), (False, law.weight * symbol)):  # weights are shares of rates
            if isinstance(share, Fraction):
                return way
    return None


def _above(value: Callable[[], arb]) -> Fraction:
    with ctx.workprec(BITS):
        found = ends(value())
    assert found is not None
    return found.upper
