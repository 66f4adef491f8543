"""Laws of sums of independent records, as doubles with a proved error: quick to compute, and enough for comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tightdp.exact.field import Number
from tightdp.exact.scaled import Scaled, binomial, convolved, doubled, point, power, scaled

__all__ = ["Summands"]

_MOST_KEPT = 400
_MOST_TIMES, _MOST_WEIGHTS = 256, 4_096
"""Powers up to this many records and weights are computed exactly, then rounded."""


class Summands:
    """The laws of what records add, and their convolution powers. Tails of mass below `least` are cut off.

    The values of each law differ by multiples of `step`.
    """

    def __init__(self, laws: Sequence[dict[int, Number]], least: float, step: int = 1) -> None:
        self.laws = tuple(laws)
        self.least, self.step = least, step
        self.scaled = tuple(scaled(law, step) for law in laws)
        self.beside = point(0)
        """What is added beside the records."""
        self._powers: dict[tuple[int, int], Scaled] = {}

    def added(self, one: Scaled, other: Scaled) -> Scaled:
        """Return the law of a sum of two."""
        return convolved(one, other, self.least)

    def power(self, letter: int, times: int) -> Scaled:
        """Return the law of the sum of `times` records with a letter."""
        if times <= 1:
            return self.scaled[letter] if times else point(0)
        found = self._powers.get((letter, times))
        if found is None:
            if len(self._powers) >= _MOST_KEPT:
                self._powers.clear()
            found = self._powers[letter, times] = self._power(letter, times)
        return found

    def _power(self, letter: int, times: int) -> Scaled:
        values = sorted(self.laws[letter].items())
        if len(values) == 1:
            return point(values[0][0] * times)
        if len(values) == 2:
            (low, p_low), (high, p_high) = values
            return binomial(times, low, p_low, high, p_high, self.least, self.step)
        exact = {value: mass for value, mass in values if isinstance(mass, Fraction)}
        if (
            times <= _MOST_TIMES
            and times * (values[-1][0] - values[0][0]) <= _MOST_WEIGHTS
            and len(exact) == len(values)
        ):
            return power(exact, times, self.least, self.step)
        return doubled(lambda half: self.power(letter, half), times, self.added)

    def law(self, counts: Sequence[int]) -> Scaled:
        """Return the law of the sum of records with these counts of letters."""
        total = self.beside
        for letter, times in enumerate(counts):
            total = self.added(total, self.power(letter, times)) if times else total
        return total
