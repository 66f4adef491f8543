"""The supremum of a ratio of two sums of exponentials in counts, with a proof that no ratio is larger.

A candidate is a ratio at a place, or a limit in the direction of some counts. That P <= M·Q for all counts is proved
term by term: every positive term of P - M·Q is at most a negative one, or a share of it. Where that fails, a count is
either 0, or one more than a count; both cases are looked at in turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tightdp.cells.bases import Base
from tightdp.cells.patterns import Counted, shifted, without
from tightdp.cells.sums import Exact

__all__ = ["Supremum", "TooLong", "larger", "supremum", "upper_end"]

_MOST_WORK = 5_000
_ABOVE = (1 << 30, 1 << 10, 16, 1)
"""An upper end is larger than what is known by such a part of it."""


@dataclass(frozen=True)
class Supremum:
    """A ratio at `counts`; where some of these are infinite, the limit of ratios when they grow."""

    value: Any
    counts: tuple[float | int, ...]

    @property
    def attained(self) -> bool:
        """Whether it is the ratio of a place."""
        return not any(isinstance(n, float) for n in self.counts)


class TooLong(Exception):
    """The work that is done for one supremum was not enough; `best` is what is known."""

    def __init__(self, best: Supremum | None = None) -> None:
        super().__init__()
        self.best = best


class _Work:
    """Counts the cases that are looked at. Raises TooLong where they are too many."""

    def __init__(self, watch: Callable[[], None]) -> None:
        self.left, self.watch = _MOST_WORK, watch

    def step(self) -> None:
        self.left -= 1
        if self.left % 256 == 0:
            self.watch()
        if self.left < 0:
            raise TooLong


def supremum(p: Counted, q: Counted, counts: int, least: Any, watch: Callable[[], None]) -> Supremum | None:
    """Return the supremum of p/q over all counts, None where it is at most `least`. Raises TooLong."""
    search = _Search(least, _Work(watch))
    try:
        search.look(p, q, tuple(range(counts)), (0,) * counts)
    except TooLong:
        raise TooLong(search.best) from None
    return search.best


def upper_end(p: Counted, q: Counted, counts: int, least: Any, watch: Callable[[], None]) -> Any:
    """Return a number above `least` that p/q is proved not to exceed; infinity where that takes too long."""
    for part in _ABOVE:
        value = least * (part + 1) / part
        try:
            if supremum(p, q, counts, value, watch) is None:
                return value
        except TooLong:
            continue
    return math.inf


class _Search:
    def __init__(self, least: Any, work: _Work) -> None:
        self.value, self.work = least, work
        self.best: Supremum | None = None

    def _found(self, value: Any, counts: tuple[float | int, ...]) -> None:
        if self.value != math.inf and (value == math.inf or value > self.value):
            self.value, self.best = value, Supremum(value, counts)

    def look(self, p: Counted, q: Counted, free: tuple[int, ...], at: tuple[float | int, ...]) -> None:
        """Look at all ratios and limits; `free` are the counts that p and q still depend on, from `at` on."""
        todo = [(p, q, free, at, 0)]
        while todo:
            p, q, free, at, turn = todo.pop()
            if not p or self.value == math.inf:
                continue
            self.work.step()
            if not q:
                self._found(math.inf, at)
                continue
            ours, theirs = sum(_values(p)), sum(_values(q))
            if theirs:
                self._found(ours / theirs, at)
            elif ours:
                self._found(math.inf, at)
            if not free or self._never_larger(p, q):
                continue
            if not turn:
                before = self.value
                for j in range(len(free)):
                    self._limit(p, q, free, at, j)
                if self.value != before and self._never_larger(p, q):
                    continue
            j = turn % len(free)
            further = tuple(n + (at_ == free[j]) for at_, n in enumerate(at))
            todo.append((shifted(p, j), shifted(q, j), free, further, turn + 1))
            rest = (*free[:j], *free[j + 1 :])
            todo.append((without(p, j), without(q, j), rest, at, 0))

    def _never_larger(self, p: Counted, q: Counted) -> bool:
        return self.value == math.inf or _never_positive(_difference(p, q, self.value))

    def _limit(self, p: Counted, q: Counted, free: tuple[int, ...], at: tuple[float | int, ...], j: int) -> None:
        """Look at what ratios approach when count j grows, whatever the others are."""
        ours, theirs = _leading(p, j), _leading(q, j)
        there = tuple(math.inf if place == free[j] else n for place, n in enumerate(at))
        if ours[0] == theirs[0]:
            self.look(ours[1], theirs[1], (*free[:j], *free[j + 1 :]), there)
        elif _growth(ours[0]) > _growth(theirs[0]):
            self._found(math.inf, there)


def _values(function: Counted) -> list[Exact]:
    return [c for key, c in function.items() if not any(degree for _, degree in key)]


def _growth(share: tuple[Base, int]) -> tuple[Exact, int]:
    return share[0].value, share[1]


def _leading(function: Counted, j: int) -> tuple[tuple[Base, int], Counted]:
    """Return the fastest growth in a count, and what it is multiplied by."""
    most = max({key[j] for key in function}, key=_growth)
    return most, {(*key[:j], *key[j + 1 :]): c for key, c in function.items() if key[j] == most}


def _difference(p: Counted, q: Counted, value: Exact) -> Counted:
    found = dict(p)
    for key, c in q.items():
        new = found.get(key, 0) - value * c
        if new:
            found[key] = new
        else:
            found.pop(key, None)
    return found


def _never_positive(function: Counted) -> bool:
    """Whether a function is at most 0 for all counts, as far as that is seen term by term."""
    gains = [(key, c) for key, c in function.items() if c > 0]
    if not gains:
        return True
    left = {key: -c for key, c in function.items() if c < 0}
    for key, c in sorted(gains, key=lambda each: sum(degree for _, degree in each[0]), reverse=True):
        for other in list(left):
            share = _most(key, other)
            if share is None:
                continue
            covered = min(c, left[other] / share)
            c = c - covered
            left[other] = left[other] - covered * share
            if not left[other]:
                del left[other]
            if not c:
                break
        if c:
            return False
    return True


def _most(key: Sequence[tuple[Base, int]], other: Sequence[tuple[Base, int]]) -> Exact | None:
    """Return an upper end of term/other over all counts, None where none is known."""
    total: Any = 1
    for (base, degree), (over, power) in zip(key, other, strict=True):
        if base is over:
            if degree != power:
                return None
        elif base.value > over.value or (power and degree < power):
            return None
        elif degree > power:
            total = total * _peak(base.value / over.value, degree - power)
    return total


def _peak(base: Exact, degree: int) -> Exact:
    """Return the largest base^n · n^degree, for a base below 1."""
    n = 1
    while base * (n + 1) ** degree > n**degree:
        n += 1
    return base**n * n**degree


def larger(p: Counted, q: Counted, t: Any, counts: int, watch: Callable[[], None]) -> tuple[Exact, Exact]:
    """Return the sums of p and of q over all counts with p > t·q."""
    work = _Work(watch)
    ours: Any = 0
    theirs: Any = 0
    todo = [(p, q, counts, 0)]
    while todo:
        p, q, counts, turn = todo.pop()
        work.step()
        function = _difference(p, q, t)
        if _never_positive(function):
            continue
        if _never_positive({key: -c for key, c in function.items()}):
            ours, theirs = ours + _total(p), theirs + _total(q)
            continue
        j = turn % counts
        todo.append((shifted(p, j), shifted(q, j), counts, turn + 1))
        todo.append((without(p, j), without(q, j), counts - 1, 0))
    return ours, theirs


def _total(function: Counted) -> Exact:
    return sum((c * _sum_of(key) for key, c in function.items()), 0)


def _sum_of(key: Sequence[tuple[Base, int]]) -> Exact:
    """Return the sum of base^n · n^degree over all counts."""
    total: Any = 1
    for base, degree in key:
        moments = [1 / (1 - base.value)]
        for d in range(1, degree + 1):
            moments.append(base.value / (1 - base.value) * sum((math.comb(d, k) * moments[k] for k in range(d)), 0))
        total = total * moments[degree]
    return total
