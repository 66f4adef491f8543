"""Accuracy of a published sum over many records: both ends of the least P(|error| <= bound) over all datasets.

Where there are two letters, the probability of a window can hardly bend as records change their letter. With n records,
k of them with the second letter, f(k) is the probability that the sum lies in a window. Let p be the least number of
changes after which sums differ by multiples of the step, and D the difference of the laws of p records with the second
letter and p with the first. Its total mass is 0, often its mean and more moments are, too: D is the j-th difference of
some E. The second difference f(k + 2p) - 2f(k + p) + f(k) is the mass of D*D*R in the window, R the law of the n - 2p
others: two values, at the ends of the window, of the (2j - 1)-th difference of E*E*R. docs/large.md has the proof.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import accumulate, pairwise

from flint import fmpq_poly

from tightdp.errors import LimitError
from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.exact.field import Number
from tightdp.exact.scaled import UNIT, Scaled, convolved, point
from tightdp.limits.calibrated import WIDEST_LETTER
from tightdp.queries.enclosed.counts import Box, Letters, boxes_through


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
    if not together or longest > WIDEST_LETTER or records <= 2 * period:
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
    found = fmpq_poly([as_fmpq(mass) for mass in entries]) ** times
    return [as_fraction(mass) for mass in found.coeffs()]


def _entry(entries: Sequence[Fraction], at: int) -> Fraction:
    return entries[at] if 0 <= at < len(entries) else Fraction(0)


_NARROW = Fraction(4, 10)
"""The share of the requested width that is left to the search; the rest is for rounding."""
_CLOSE = Fraction(1, 10**12)
"""How close the ends of a probability are brought that is compared with a bar."""
Watch = Callable[[], None]
Window = Callable[[Sequence[int], int], tuple[int, int]]
"""The least and the largest error that counts as near on all datasets with certain decided records, and others."""


@dataclass(frozen=True)
class Measured:
    """Both ends of the least probability, and the counts of a dataset that has at most the upper one."""

    lower: Fraction
    upper: Fraction
    counts: tuple[int, ...]
    stopped: LimitError | None = None


class _Search:
    """What every record adds to the error, and how large or small that can be.

    Letters in the order of the usual stochastic order have a largest and a smallest one; otherwise the largest and the
    smallest value take their place.
    """

    def __init__(self, letters: Letters, records: int) -> None:
        self.letters, self.records = letters, records
        self.order = _ordered(letters.laws)
        self.low = min(value for law in letters.laws for value in law)
        self.high = max(value for law in letters.laws for value in law)
        self.bend = bend_of(letters.laws, letters.step, records) if self.order is None else None
        self.on = cache(self._on)

    def _on(self, counts: tuple[int, ...], least: int, most: int) -> tuple[Fraction, Fraction]:
        """Return what `within` does for datasets with these counts of letters."""
        return self.within(self.letters.law(counts), least, most)

    def within(self, law: Scaled, least: int, most: int) -> tuple[Fraction, Fraction]:
        """Return the ends of the probability of an error from `least` to `most`."""
        inside, outside = law.mass(least, most), self._outside(law, law, least, most)
        return max(Fraction(inside[0]), 1 - outside[1]), min(Fraction(inside[1]), 1 - outside[0])

    def at_least(self, box: Box, least: int, most: int) -> Fraction:
        """Return a lower bound on the probability of an error from `least` to `most` over a box."""
        if self.bend is not None:
            return self._along_chords(box, self.bend, least, most)
        small, large = self._shifted(box, 0), self._shifted(box, -1)
        return 1 - self._outside(small, large, least, most)[1]

    def _along_chords(self, box: Box, bend: Bend, least: int, most: int) -> Fraction:
        """Return a lower bound from the ends of the box: between them the probability is not far below the chord.

        Every dataset of the box lies between two ends that are a multiple of the period apart.
        """
        first, last, found = box.low[1], box.low[1] + box.left, Fraction(1)
        for start in range(first, min(first + bend.period, last + 1)):
            end = last - (last - start) % bend.period
            ends = (self.on((self.records - second, second), least, most)[0] for second in {start, end})
            found = min(found, min(ends) - bend.below(end - start))
        return found

    def _outside(self, small: Scaled, large: Scaled, least: int, most: int) -> tuple[Fraction, Fraction]:
        below, above = small.mass(small.first, least - 1), large.mass(most + 1, large.last)
        missing = small.missing + large.missing
        lower = Fraction(below[0]) + Fraction(above[0])
        return lower, Fraction(below[1]) + Fraction(above[1]) + Fraction(missing * (1 + 4 * UNIT))

    def _shifted(self, box: Box, end: int) -> Scaled:
        """Return the law of the error where undecided records add as little (0) or as much (-1) as possible."""
        law, left, room = box.law, box.left, box.open
        if self.order is None:
            return convolved(law, point(left * (self.low, self.high)[end]), self.letters.least)
        for letter in self.order if end == 0 else reversed(self.order):
            number = min(room[letter], left)
            law, left = self.letters.added(law, self.letters.power(letter, number)), left - number
        return law


def surely_within(
    letters: Letters,
    records: int,
    window: Window,
    width: Fraction,
    watch: Watch,
    bar: Fraction | None = None,
    note: Callable[[Measured], None] = lambda found: None,
) -> Measured:
    """Return the ends of the least probability, over all datasets, of an error in its window.

    With `bar`, only as close as needed to see on which side of it they lie. `note` receives what is known after a few
    datasets.
    """
    search = _Search(letters, records)
    best: tuple[Fraction, tuple[int, ...]] = (Fraction(2), ())
    lower = Fraction(1)

    def look(counts: tuple[int, ...]) -> None:
        nonlocal best, lower
        found = search.on(counts, *window(counts, 0))
        lower = min(lower, found[0])
        if found[1] < best[0]:
            best = found[1], counts

    def goal() -> Fraction:
        near = best[0] * (1 - _NARROW * width)
        return near if bar is None else min(near, bar)

    def enough(box: Box) -> bool:
        return (bar is not None and best[0] < bar) or search.at_least(box, *window(box.low, box.left)) >= goal()

    for counts in letters.first(records):
        look(counts)
    note(Measured(Fraction(0), best[0], best[1]))
    left, stopped = boxes_through(letters.boxes(records), enough, look, watch)
    lower = min([lower, goal(), *(search.at_least(box, *window(box.low, box.left)) for box in left)])
    return Measured(max(lower, Fraction(0)), best[0], best[1], stopped)


def least_bound(
    letters: Letters, records: int, centre: Fraction, beta: Fraction, watch: Watch
) -> tuple[Fraction, Fraction | float, tuple[int, ...], LimitError | None]:
    """Return the ends of the least a >= 0 with P(|sum - centre| <= a) >= 1 - beta on all datasets.

    Also the counts of a dataset that needs a bound at least as large as the lower end, and the limit met if the upper
    one is infinite.
    """
    search = _Search(letters, records)
    values = [abs(value) for law in letters.laws for value in law]
    rest = centre - math.floor(centre)
    sides = sorted((rest, 1 - rest)) if rest else [Fraction(0)]

    def reach(at: int) -> Fraction:
        """Return the distances of integers from the centre, in ascending order."""
        return at // len(sides) + sides[at % len(sides)]

    def window(at: int) -> tuple[int, int]:
        return math.ceil(centre - reach(at)), math.floor(centre + reach(at))

    noise = max(-letters.beside.first, letters.beside.last)
    most = len(sides) * (max(values) * records + noise + math.ceil(abs(centre)) + 2)
    least, worst = -1, letters.first(records)[0]  # bounds too small for some dataset
    for counts in letters.first(records):
        law = letters.law(counts)
        enough = partial(lambda law, at: search.within(law, *window(at))[1] >= 1 - beta, law)
        first = bisect_left(range(most), True, lo=least + 1, key=enough)
        least, worst = max((least, worst), (first - 1, counts))
    low, high, at = least, most, least + 1
    while high - low > 1:
        ends = window(at)
        found = surely_within(letters, records, lambda low, left, ends=ends: ends, _CLOSE, watch, 1 - beta)  # type: ignore[misc]
        if found.stopped is not None:
            return reach(least + 1), math.inf, worst, found.stopped
        if found.lower >= 1 - beta:
            high = at
        else:
            low = at
            if found.upper < 1 - beta:
                least, worst = at, found.counts
        at = (low + high) // 2
    return reach(least + 1), reach(high), worst, None


def _ordered(laws: Sequence[dict[int, Number]]) -> tuple[int, ...] | None:
    """Return the letters from the stochastically smallest to the largest; None where some are not comparable."""
    places = range(min(map(min, laws)), max(map(max, laws)) + 1)
    tables = [list(accumulate(law.get(value, Fraction(0)) for value in places)) for law in laws]
    order = sorted(range(len(laws)), key=lambda letter: -float(sum(tables[letter], Fraction(0))))
    for one, other in pairwise(order):
        if any(a < b for a, b in zip(tables[one], tables[other], strict=True)):
            return None
    return tuple(order)
