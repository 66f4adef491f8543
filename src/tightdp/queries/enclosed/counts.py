"""Going through all ways to give n records their letters, whole boxes of them at once.

A letter is what a record adds to a sum, as a law; a dataset counts, up to order, how often each letter occurs. A box
holds the datasets with at least certain counts. Records that are not decided yet are independent of the others: what
they add is noise, and noise never helps to tell two neighbours apart. So the law of the decided ones alone bounds the
whole box from above, and a box is split only where that bound is not good enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.exact.scaled import Scaled, binomial, convolved, point, scaled

__all__ = ["Box", "Letters", "boxes_through"]

MOST_BOXES = 60_000
"""So many boxes are looked at; then the ends are those that are known."""
MOST_WORK = 25_000_000_000
"""Nor are more products of weights made for them: these take some twenty seconds."""
_START, _PASSES = 100_000, 20
"""Looking at a law costs as much as so many products, and so many for every weight."""
_MOST_KEPT = 400


class Letters:
    """The laws of what records add, and their powers. `least` is the mass below which ends of laws are cut off."""

    def __init__(self, laws: Sequence[dict[int, Number]], least: float) -> None:
        self.laws = tuple(laws)
        self.least = least
        self.scaled = tuple(map(scaled, laws))
        self._powers: dict[tuple[int, int], Scaled] = {}

    def power(self, letter: int, times: int) -> Scaled:
        """Return the law of what so many records with a letter add."""
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
            return binomial(times, low, p_low, high, p_high, self.least)
        half = self.power(letter, times // 2)
        square = convolved(half, half, self.least)
        return convolved(square, self.scaled[letter], self.least) if times % 2 else square

    def law(self, counts: Sequence[int]) -> Scaled:
        """Return the law of what all records add that have these counts of letters."""
        total = point(0)
        for letter, times in enumerate(counts):
            total = convolved(total, self.power(letter, times), self.least) if times else total
        return total

    def first(self, records: int) -> list[tuple[int, ...]]:
        """Return counts that are looked at before all others: all records alike, and about as many of each."""
        size = len(self.laws)
        alike = [tuple(records if at == letter else 0 for at in range(size)) for letter in range(size)]
        return [*alike, tuple(records // size + (at < records % size) for at in range(size))]

    def boxes(self, records: int) -> Box:
        """Return the box of all datasets of so many records."""
        return Box(self, (), 0, records, records, point(0)).inner()


@dataclass(frozen=True)
class Box:
    """Datasets with the counts `fixed` of the first letters and `low` to `high` of the next, out of `left` records.

    `law` is that of what the decided records add.
    """

    letters: Letters
    fixed: tuple[int, ...]
    low: int
    high: int
    left: int
    law: Scaled
    work: int = 0
    """How many products of weights it took."""

    @property
    def single(self) -> bool:
        """Whether all records are decided."""
        return self.low == self.high and len(self.fixed) >= len(self.letters.laws) - 2

    @property
    def counts(self) -> tuple[int, ...]:
        """The counts of the only dataset, up to order."""
        counts = (*self.fixed, self.low, self.left - self.low)
        return counts[: len(self.letters.laws)]

    @property
    def undecided(self) -> tuple[tuple[int, int], ...]:
        """How many records are not decided, each time with the first letter of those that they may have."""
        at, last = len(self.fixed), len(self.letters.laws) - 1
        later = ((self.left - self.high, at + 1),) if at < last - 1 else ()
        return tuple((number, first) for number, first in ((self.high - self.low, at), *later) if number)

    def inner(self) -> Box:
        """Return the same datasets with the count of the next letter open where that of this one is decided."""
        box = self
        while box.low == box.high and not box.single:
            rest = box.left - box.low
            box = Box(box.letters, (*box.fixed, box.low), 0, rest, rest, box.law, box.work)
        return box

    def halves(self) -> Iterator[Box]:
        """Yield two boxes with the same datasets together."""
        at, middle = len(self.fixed), (self.low + self.high) // 2
        further = self.high - middle if at == len(self.letters.laws) - 2 else 0
        yield self._part(middle + 1, self.high, at, middle + 1 - self.low)
        yield self._part(self.low, middle, at + 1, further)

    def _part(self, low: int, high: int, letter: int, times: int) -> Box:
        if not times:
            return replace(self, low=low, high=high, work=0).inner()
        power = self.letters.power(letter, times)
        law = convolved(self.law, power, self.letters.least)
        return replace(self, low=low, high=high, law=law, work=len(self.law.weights) * len(power.weights)).inner()


def boxes_through(
    whole: Box,
    enough: Callable[[Box], bool],
    look: Callable[[tuple[int, ...]], None],
    watch: Callable[[], None],
    each: int = 1,
) -> tuple[list[Box], LimitError | None]:
    """Split boxes until each is `enough`, or holds one dataset, up to order, whose counts are looked at.

    `each` is how many laws are made from that of a box to see whether it is enough. Return the boxes that are left
    over, and the limit that was met.
    """
    pending, looked, work = [whole], 0, 0
    while pending:
        try:
            watch()
            if looked >= MOST_BOXES or work >= MOST_WORK:
                raise LimitError(
                    f"the ends are not closer after {looked:,} boxes of datasets",
                    "use fewer records, or fewer values of a record",
                )
        except LimitError as error:
            return pending, error
        box = pending.pop()
        looked, work = looked + 1, work + box.work + each * (_START + _PASSES * len(box.law.weights))
        if enough(box):
            continue
        if box.single:
            look(box.counts)  # their law anew: it takes fewer roundings than by way of all boxes
        else:
            pending += box.halves()
    return [], None
