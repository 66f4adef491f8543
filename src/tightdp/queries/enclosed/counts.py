"""Enumerating all ways to give n records their letters, whole boxes of them at once.

A letter is what a record adds to a sum, as a law; a dataset counts, up to order, how often each letter occurs. A box
holds the datasets with at least certain counts. Records that are not decided yet are independent of the others: what
they add is noise, and noise never helps to tell two neighbours apart. So the law of the decided ones alone bounds the
whole box from above, and a box is split only where that bound is not good enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.exact.scaled import Scaled, endless, scaled
from tightdp.language.laws import OnIntegers
from tightdp.methods.summands import Summands
from tightdp.queries.enclosed.noise import SharedNoise

__all__ = ["Box", "Letters", "Noise", "boxes_through", "climb"]

MOST_BOXES = 60_000
"""At most this many boxes are looked at; then the ends known so far are returned."""
MOST_WORK = 100_000_000_000
"""Nor are more products of weights computed for them: these take some forty seconds."""

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
            if looked >= MOST_BOXES or whole.letters.work - start >= MOST_WORK:
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


def climb(
    counts: tuple[int, ...], worth: Callable[[tuple[int, ...]], Fraction | float], watch: Watch
) -> tuple[int, ...]:
    """Return better counts: records change letters while a dataset gains in worth, many at once, then fewer."""
    best, step = worth(counts), max(sum(counts) // 4, 1)
    while step:
        better = False
        for taken, given in permutations(range(len(counts)), 2):
            watch()
            if counts[taken] < step:
                continue
            moved = list(counts)
            moved[taken] -= step
            moved[given] += step
            found = worth(tuple(moved))
            if found > best:
                best, counts, better = found, tuple(moved), True
        step = step if better else step // 4
    return counts
