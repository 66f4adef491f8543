"""How little the probability of a window can bend as records change their letter, where there are two letters.

With n records, k of them with the second letter, f(k) is the probability that the sum lies in a window. Let p be the
least number of changes after which sums differ by multiples of the step, and D the difference of the laws of p records
with the second letter and p with the first. Its total mass is 0, often its mean and more moments are, too: D is the
j-th difference of some E. The second difference f(k + 2p) - 2f(k + p) + f(k) is the mass of D*D*R in the window, R the
law of the n - 2p others: two values, at the ends of the window, of the (2j - 1)-th difference of E*E*R. docs/large.md
has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from flint import fmpq, fmpq_poly

from tightdp.exact.field import Number

__all__ = ["Bend", "bend_of"]

_LONGEST = 4_096
"""The longest difference of letters that is looked at."""


@dataclass(frozen=True)
class Bend:
    """No second difference over `period` changes of a letter is larger than `most`."""

    period: int
    most: Fraction

    def below(self, changes: int) -> Fraction:
        """Return how far f can lie below its chord over the given number of changes of a letter."""
        return self.most * (changes // self.period) ** 2 / 8


def bend_of(letters: Sequence[dict[int, Number]], step: int, records: int) -> Bend | None:
    """Return a bound on how much f bends, or None where none is known."""
    laws = [{value: mass for value, mass in law.items() if isinstance(mass, Fraction)} for law in letters]
    if len(laws) != 2 or any(len(law) < len(letter) for law, letter in zip(laws, letters, strict=True)):
        return None
    lows = [min(law) for law in laws]
    period = step // math.gcd(step, lows[1] - lows[0])
    longest = period * max((max(law) - low) // step for law, low in zip(laws, lows, strict=True))
    together = min(sum((law[v] * law.get(v + step, 0) for v in law), Fraction(0)) for law in laws)
    if not together or longest > _LONGEST or records <= 2 * period:
        return None
    powers = [_power(law, low, step, period) for law, low in zip(laws, lows, strict=True)]
    shift = period * (lows[1] - lows[0]) // step
    length = longest + abs(shift) + 1
    difference = [_entry(powers[1], at - max(shift, 0)) - _entry(powers[0], at + min(shift, 0)) for at in range(length)]
    order = 0
    while any(difference) and not sum(difference):
        difference, order = list(accumulate(difference)), order + 1
    if not order:
        return Bend(period, Fraction(0))
    size = sum(map(abs, difference), Fraction(0))
    # |φ(θ)|² <= 1 - 2·together·(1 - cos θ) and 1 - cos θ >= 2θ²/π², so |φ|^N <= e^(-rate·θ²); 10 > π².
    rate = Fraction(2, 10) * together * (records - 2 * period)
    return Bend(period, 2 * size**2 * math.factorial(order - 1) / (6 * rate**order))


def _power(law: dict[int, Fraction], low: int, step: int, times: int) -> list[Fraction]:
    entries = [law.get(low + at * step, Fraction(0)) for at in range((max(law) - low) // step + 1)]
    found = fmpq_poly([fmpq(mass.numerator, mass.denominator) for mass in entries]) ** times
    return [Fraction(int(mass.p), int(mass.q)) for mass in found.coeffs()]


def _entry(entries: Sequence[Fraction], at: int) -> Fraction:
    return entries[at] if 0 <= at < len(entries) else Fraction(0)
