"""Noise that every record adds, whatever its value: a bound on how well sums distinguish neighbours, for all datasets.

The laws of what records add, each shifted by an integer of its own, have a part in common. Reveal which records drew
from it, and everything about the others: what is left is a sum of draws from one law, and a known number. Revealing
more never makes neighbours harder to distinguish, and the dataset no longer matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from tightdp.exact.lazily import lazily
from tightdp.exact.scaled import UNIT, Scaled, binomial, doubled, point

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazily("numpy")

__all__ = ["SharedNoise"]

_MOST_WEIGHTS = 4_000_000
"""At most this many weights of laws are kept, for all numbers of draws together."""
_COARSE = 8
"""Numbers of draws first form this many groups, then this many times more."""
_MOST_KEPT = 2_000


class SharedNoise:
    """What a record draws from the part that its law has in common with all others, and how likely that is."""

    def __init__(self, laws: Sequence[Scaled], added: Callable[[Scaled, Scaled], Scaled], least: float) -> None:
        self._added, self._least = added, least
        self._law, self._share = max(
            (_common(laws, shifts) for shifts in _alignments(laws)), key=lambda found: _spread(*found)
        )
        self._powers: dict[int, Scaled] = {}

    @property
    def nothing(self) -> bool:
        """Whether there is no shared noise."""
        return len(self._law.weights) == 1

    def beside(self, law: Scaled, records: int) -> NoiseBeside:
        """Return the sums of the draws of `records` records, added to an independent variable with the given law."""
        number = point(records if self._share else 0)
        if 0 < self._share < 1:
            number = binomial(records, 0, 1 - self._share, 1, self._share, self._least)
        return NoiseBeside(law, number, self.power, self._added)

    def power(self, times: int) -> Scaled:
        """Return the law of the sum of `times` draws."""
        if times <= 1:
            return self._law if times else point(0)
        if times not in self._powers:
            if len(self._powers) >= _MOST_KEPT:
                self._powers.clear()
            self._powers[times] = doubled(self.power, times, self._added)
        return self._powers[times]


class NoiseBeside:
    """Laws of sums, by the number of records that drew from the common part: a coarse list, then finer ones.

    A group of numbers of draws is represented by its least: the further draws are noise that is left out.
    """

    def __init__(
        self,
        law: Scaled,
        number: Scaled,
        power: Callable[[int], Scaled],
        added: Callable[[Scaled, Scaled], Scaled],
    ) -> None:
        self._law, self._number, self._power, self._added = law, number, power, added
        self._lists: list[list[tuple[float, Scaled]]] = []

    def delta_above(self, delta: Callable[[Scaled], float], bar: float) -> float:
        """Return an upper bound on δ, where `delta` gives δ for a law of sums; one above `bar` may be coarse."""
        found = before = math.inf
        for laws in self._finer():
            parts = [mass * delta(law) for mass, law in laws]
            found, before = min(found, math.fsum(parts) * (1 + 8 * UNIT) + self._number.missing), found
            if found <= bar or found - (before - found) / 2 > bar:  # the next step gains less than the last one
                break
        return found

    def _finer(self) -> Iterator[list[tuple[float, Scaled]]]:
        yield from self._lists
        while not self._lists or len(self._lists[-1]) < self._most():
            self._lists.append(self._grouped())
            yield self._lists[-1]

    def _most(self) -> int:
        """Return an upper bound on the number of groups."""
        longest = max(len(law.weights) for _, law in self._lists[-1])
        return min(len(self._number.weights), max(_MOST_WEIGHTS // longest, 1))

    def _grouped(self) -> list[tuple[float, Scaled]]:
        groups = min(_COARSE ** (len(self._lists) + 1), self._most() if self._lists else _COARSE)
        weights = self._number.weights
        # Where numbers are likely, groups are narrow.
        places = np.cumsum(np.sqrt(weights))
        starts = np.unique(np.searchsorted(places, places[-1] * np.arange(groups) / groups, side="right"))
        law, at = self._law, 0
        found: list[tuple[float, Scaled]] = []
        for start, end in pairwise([*map(int, starts), len(weights)]):
            law = self._added(law, self._power(start - at if found else self._number.first + start))
            at = start
            error = self._number.error + (end - start + 8) * UNIT
            found.append((float(weights[start:end].sum()) * (1 + error), law))
        return found


def _alignments(laws: Sequence[Scaled]) -> list[tuple[int, ...]]:
    """Return shifts of the laws under which they may have much in common."""
    likeliest = tuple(-(law.first + int(np.argmax(law.weights))) for law in laws)
    middle = tuple(
        -round(law.first + float(np.average(np.arange(len(law.weights)), weights=law.weights))) for law in laws
    )
    ends = [tuple(-law.first for law in laws), tuple(-law.last for law in laws)]
    return list(dict.fromkeys([(0,) * len(laws), likeliest, middle, *ends]))


def _common(laws: Sequence[Scaled], shifts: Sequence[int]) -> tuple[Scaled, Fraction]:
    """Return the common part of the shifted laws, as a law, and a lower bound on its mass."""
    low = max(law.first + shift for law, shift in zip(laws, shifts, strict=True))
    high = min(law.last + shift for law, shift in zip(laws, shifts, strict=True))
    if low > high:
        return point(0), Fraction(0)
    sides = [law.between(low - shift, high - shift) * (1 - law.error) for law, shift in zip(laws, shifts, strict=True)]
    least = np.minimum.reduce(sides) * (1 - 4 * UNIT)
    whole = sum(map(Fraction, least.tolist()), Fraction(0))
    if not whole:
        return point(0), whole
    return Scaled(low, least / float(whole), 4 * UNIT, 0.0), min(whole, Fraction(1))


def _spread(noise: Scaled, share: Fraction) -> float:
    """Return a lower bound on the variance that a record adds."""
    places = np.arange(len(noise.weights))
    mean = float(np.average(places, weights=noise.weights))
    return float(share) * float(np.average((places - mean) ** 2, weights=noise.weights))
