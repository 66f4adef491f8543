"""Enumerating all ways to give n records their letters, whole boxes of them at once.

A letter is what a record adds to a sum, as a law; a dataset counts, up to order, how often each letter occurs. A box
holds the datasets with at least certain counts. Records that are not decided yet are independent of the others: what
they add is noise, and noise never helps to tell two neighbours apart. So the law of the decided ones alone bounds the
whole box from above, and a box is split only where that bound is not good enough.

More of that noise can be kept. The laws of what records add, each shifted by an integer of its own, have a part in
common. Reveal which records drew from it, and everything about the others: what is left is a sum of draws from one law,
and a known number. Revealing more never makes neighbours harder to distinguish, and the dataset no longer matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.exact.scaled import UNIT, Scaled, binomial, doubled, endless, point, scaled
from tightdp.language.laws import OnIntegers
from tightdp.limits.calibrated import ENCLOSURE_WORK, NOISE_WEIGHTS
from tightdp.methods.sums import Summands

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
        self.power = lru_cache(_MOST_KEPT)(self._power)

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

    def _power(self, times: int) -> Scaled:
        """Return the law of the sum of `times` draws."""
        if times <= 1:
            return self._law if times else point(0)
        return doubled(self.power, times, self._added)


class NoiseBeside:
    """Laws of sums, by the number of records that drew from the common part: a coarse list, then finer ones.

    A group of numbers of draws is represented by its least: the further draws are noise that is left out.
    """

    def __init__(
        self, law: Scaled, number: Scaled, power: Callable[[int], Scaled], added: Callable[[Scaled, Scaled], Scaled]
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
        return min(len(self._number.weights), max(NOISE_WEIGHTS // longest, 1))

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


Noise = tuple[int, dict[int, Number] | OnIntegers]
"""An integer multiple of a draw: the factor, and the law of the draw."""
Watch = Callable[[], None]


class Letters(Summands):
    """Summands whose work is counted, and the datasets that choose among them; `noises` are added independently."""

    def __init__(
        self, laws: Sequence[dict[int, Number]], least: float, step: int = 1, noises: Sequence[Noise] = ()
    ) -> None:
        super().__init__(laws, least, step)
        self.work = 0
        """How many products of weights it took so far."""
        for times, law in noises:
            if isinstance(law, OnIntegers):
                noise = endless(law.mass, law.at_least, times, least, step)
            else:
                noise = scaled({times * value: mass for value, mass in law.items()}, step)
            self.beside = self.added(self.beside, noise)

    @property
    def many(self) -> bool:
        """Whether counts have more than one degree of freedom, so that splitting a line into parts is not enough."""
        return len(self.laws) > 2

    @cached_property
    def noise(self) -> SharedNoise:
        """The noise that all letters share."""
        return SharedNoise(self.scaled, self.added, self.least)

    def added(self, one: Scaled, other: Scaled) -> Scaled:
        self.work += len(one.weights) * len(other.weights)
        return super().added(one, other)

    def first(self, records: int) -> list[tuple[int, ...]]:
        """Return counts that are looked at first: all records alike, and about as many of each letter."""
        size = len(self.laws)
        alike = [tuple(records if at == letter else 0 for at in range(size)) for letter in range(size)]
        return [*alike, tuple(records // size + (at < records % size) for at in range(size))]

    def boxes(self, records: int) -> Box:
        """Return the box of all datasets with this number of records."""
        size = len(self.laws)
        return Box(self, (0,) * size, (records,) * size, records, self.beside)


@dataclass(frozen=True)
class Box:
    """Datasets with at least `low` and at most `high` records of every letter.

    `law` is that of the sum of the decided ones, `low` records of every letter, and of the noises.
    """

    letters: Letters
    low: tuple[int, ...]
    high: tuple[int, ...]
    left: int
    """How many records are not decided."""
    law: Scaled

    @property
    def single(self) -> bool:
        """Whether all records are decided; then `low` is the only dataset, up to order."""
        return not self.left

    @property
    def open(self) -> tuple[int, ...]:
        """How many more records there may be of every letter."""
        return tuple(min(high - low, self.left) for low, high in zip(self.low, self.high, strict=True))

    def halves(self) -> Iterator[Box]:
        """Yield two boxes whose union is this one."""
        room = self.open
        at = max(range(len(room)), key=lambda letter: room[letter])
        middle = self.low[at] + room[at] // 2
        yield self._part(at, middle + 1, self.low[at] + room[at])
        yield self._part(at, self.low[at], middle)

    def _part(self, at: int, least: int, most: int) -> Box:
        """Return the datasets with `least` to `most` records of a letter; `low` of the others is raised accordingly."""
        low, high, law = list(self.low), list(self.high), self.law
        records = sum(low) + self.left
        low[at], high[at] = least, most
        beyond = sum(high) - records
        low = [max(a, b - beyond) for a, b in zip(low, high, strict=True)]
        for letter, (before, now) in enumerate(zip(self.low, low, strict=True)):
            if now > before:
                law = self.letters.added(law, self.letters.power(letter, now - before))
        return Box(self.letters, tuple(low), tuple(high), records - sum(low), law)


def boxes_through(
    whole: Box,
    enough: Callable[[Box], bool],
    look: Callable[[tuple[int, ...]], None],
    watch: Callable[[], None],
) -> tuple[list[Box], LimitError | None]:
    """Split boxes until each is `enough`, or holds one dataset, up to order, whose counts are looked at.

    Return the boxes that are left over, and the limit that was met, if any.
    """
    pending, looked, start = [whole], 0, whole.letters.work
    while pending:
        try:
            watch()
            if whole.letters.work - start >= ENCLOSURE_WORK:
                raise LimitError(
                    f"the ends are not closer after {looked:,} boxes of datasets",
                    "use fewer records, or fewer values of a record",
                )
            box = pending[-1]
            done = enough(box)
        except LimitError as error:
            return pending, error
        pending.pop()
        looked += 1
        if done:
            continue
        if box.single:
            look(box.low)  # their law anew: it takes fewer roundings than via all boxes
        else:
            pending += box.halves()
    return [], None
