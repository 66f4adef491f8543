"""The supremum of a ratio of two sums of exponentials in counts, with a proof that no ratio is larger.

A candidate is a ratio at a place, or a limit in the direction of some counts. That P <= M·Q for all counts is proved
term by term: every positive term of P - M·Q is at most a negative one, or a share of it. Where that fails, a pattern is
cut in two: a count is 0 or one more than a count, or of two counts one is the other and a further count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tightdp.cells.patterns import Counted, Pattern, Step, compared, counted, shifted, together, without
from tightdp.cells.sums import Base, Exact, K, add, taken

_MOST_WORK, _FEWER = 5_000, 400
"""How many cases are looked at for a supremum, and for the places of a δ, which may have no end."""
_ABOVE = (1 << 30, 1 << 10, 16, 1)
"""An upper end is larger than what is known by such a part of it."""


@dataclass(frozen=True)
class Supremum:
    """The ratio at a place, or, where something is `moved`, the limit of ratios from there in that direction.

    Of real numbers it is the limit at the place from a `side`, on which densities do not jump.
    """

    value: Any
    place: tuple[Any, ...]
    moved: tuple[Any, ...]
    side: tuple[Any, ...] = ()


class TooLong(Exception):
    """The work that is done for one supremum was not enough; `best` is what is known."""

    def __init__(self, best: Supremum | None = None) -> None:
        super().__init__()
        self.best = best


class _Work:
    """Counts the cases that are looked at. Raises TooLong where they are too many."""

    def __init__(self, most: int, watch: Callable[[], None]) -> None:
        self.left, self.watch = most, watch

    def step(self) -> None:
        self.left -= 1
        if self.left % 256 == 0:
            self.watch()
        if self.left < 0:
            raise TooLong


@dataclass(frozen=True)
class _Case:
    """Two functions on a pattern that is left to look at, moved far out in a direction."""

    p: Counted
    q: Counted
    pattern: Pattern
    moved: Step
    turn: int = 0
    fresh: bool = True
    """Whether the limits in the directions of its counts were not looked at."""

    def cut(self, function: Counted) -> Iterator[_Case]:
        """Yield two cases in place of this one, in which the sign of a function is closer to be seen."""
        pair = _rivals(function) if self.turn % 2 == 0 else None
        if pair is not None:
            i, j = pair
            first, second = compared(self.pattern, i, j)
            yield _Case(together(self.p, i, j), together(self.q, i, j), first, self.moved, self.turn + 1)
            p, q = (shifted(together(function, j, i), j) for function in (self.p, self.q))
            yield _Case(p, q, second, self.moved, self.turn + 1)
            return
        j = self.turn // 2 % self.pattern.counts
        none, more = counted(self.pattern, j)
        yield _Case(shifted(self.p, j), shifted(self.q, j), more, self.moved, self.turn + 1, False)
        yield _Case(without(self.p, j), without(self.q, j), none, self.moved)


def supremum(p: Counted, q: Counted, pattern: Pattern, least: Any, watch: Callable[[], None]) -> Supremum | None:
    """Return the supremum of p/q on a pattern, None where it is at most `least`. Raises TooLong."""
    search = _Search(least, _Work(_MOST_WORK, watch))
    try:
        search.look(_Case(p, q, pattern, tuple(0 for _ in pattern.start)))
    except TooLong:
        raise TooLong(search.best) from None
    return search.best


def never_above(p: Counted, q: Counted, value: Any, pattern: Pattern, watch: Callable[[], None]) -> bool:
    """Whether p is seen to be at most value·q on all of a pattern."""
    try:
        return supremum(p, q, pattern, value, watch) is None
    except TooLong:
        return False


def upper_end(p: Counted, q: Counted, pattern: Pattern, least: Any, watch: Callable[[], None]) -> Any:
    """Return a number above `least` that p/q is proved not to exceed; infinity where that takes too long."""
    for part in _ABOVE:
        value = least * (part + 1) / part
        try:
            if supremum(p, q, pattern, value, watch) is None:
                return value
        except TooLong:
            continue
    return math.inf


def attained(p: Counted, q: Counted, value: Any, pattern: Pattern, watch: Callable[[], None]) -> Step | None:
    """Return a place where p/q is a value that it never exceeds, None where there is none. Raises TooLong."""
    work = _Work(_FEWER, watch)
    todo = [_Case(p, q if value == math.inf else {key: -c for key, c in difference(p, q, value).items()}, pattern, ())]
    while todo:
        case = todo.pop()
        work.step()
        if sum(_values(case.p)) and not sum(_values(case.q)):
            return case.pattern.start
        if case.p and case.pattern.counts and not _never_positive({key: -c for key, c in case.q.items()}, True):
            todo.extend(case.cut(case.q))
    return None


class _Search:
    def __init__(self, least: Any, work: _Work) -> None:
        self.value, self.work = least, work
        self.best: Supremum | None = None

    def _found(self, value: Any, case: _Case) -> None:
        if self.value != math.inf and (value == math.inf or value > self.value):
            self.value, self.best = value, Supremum(value, case.pattern.start, case.moved)

    def look(self, case: _Case) -> None:
        """Look at all ratios and limits of a case."""
        todo = [case]
        while todo:
            case = todo.pop()
            if not case.p or self.value == math.inf:
                continue
            self.work.step()
            ours, theirs = sum(_values(case.p)), sum(_values(case.q))
            if theirs:
                self._found(ours / theirs, case)
            elif ours:
                self._found(math.inf, case)
            if not case.pattern.counts or self._never_larger(case):
                continue
            if case.fresh:
                before = self.value
                for j in range(case.pattern.counts if case.q else 0):
                    self._limit(case, j)
                if self.value != before and self._never_larger(case):
                    continue
            todo.extend(case.cut(difference(case.p, case.q, self.value)))

    def _never_larger(self, case: _Case) -> bool:
        return self.value == math.inf or _never_positive(difference(case.p, case.q, self.value))

    def _limit(self, case: _Case, j: int) -> None:
        """Look at what ratios approach when count j grows, whatever the others are."""
        ours, theirs = leading(case.p, j), leading(case.q, j)
        pattern = counted(case.pattern, j)[0]
        moved = tuple(a + b for a, b in zip(case.moved, case.pattern.steps[j], strict=True))
        there = _Case(ours[1], theirs[1], pattern, moved)
        if ours[0] == theirs[0]:
            self.look(there)
        elif _growth(ours[0]) > _growth(theirs[0]):
            self._found(math.inf, there)


def _values(function: Counted) -> list[Exact]:
    return [c for key, c in function.items() if not any(degree for _, degree in key)]


def _growth(share: tuple[Base, int]) -> tuple[Exact, int]:
    return share[0].value, share[1]


def leading(function: Counted, j: int) -> tuple[tuple[Base, int], Counted]:
    """Return the fastest growth in a count, and what it is multiplied by."""
    most = max({key[j] for key in function}, key=_growth)
    return most, {(*key[:j], *key[j + 1 :]): c for key, c in function.items() if key[j] == most}


def difference(p: Mapping[K, Exact], q: Mapping[K, Exact], value: Exact) -> dict[K, Exact]:
    """Return p - value·q."""
    found = dict(p)
    for key, c in q.items():
        add(found, key, -value * c)
    return found


def is_multiple(p: Mapping[K, Exact], q: Mapping[K, Exact], value: Any) -> bool:
    """Whether p is value·q, for an infinite value whether q is 0 and p is not."""
    if value == math.inf:
        return bool(p) and not q
    return bool(p) and p.keys() == q.keys() and all(c == value * q[key] for key, c in p.items())


def _never_positive(function: Counted, strictly: bool = False) -> bool:
    """Whether a function is at most 0 for all counts, or less, as far as that is seen term by term."""
    gains = [(key, c) for key, c in function.items() if c > 0]
    left = {key: -c for key, c in function.items() if c < 0}
    gains.sort(key=lambda each: sum(degree for _, degree in each[0]), reverse=True)
    return all(taken(left, key, c, _most) for key, c in gains) and not (strictly and not any(_values(left)))


def _rivals(function: Counted) -> tuple[int, int] | None:
    """Return two counts such that some positive term falls slower in the first, some negative term in the second."""
    gains = [key for key, c in function.items() if c > 0]
    losses = [key for key, c in function.items() if c < 0]
    for key in gains:
        for other in losses:
            signs = [_order(base, over) for (base, _), (over, _) in zip(key, other, strict=True)]
            if 1 in signs and -1 in signs:
                return signs.index(1), signs.index(-1)
    return None


def _order(base: Base, over: Base) -> int:
    return 0 if base is over else 1 if base.value > over.value else -1


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


def larger(p: Counted, q: Counted, t: Any, pattern: Pattern, watch: Callable[[], None]) -> tuple[Exact, Exact]:
    """Return the sums of p - t·q and of q over all places of a pattern with p > t·q. Raises TooLong."""
    work = _Work(_FEWER, watch)
    excess: Any = 0
    theirs: Any = 0
    todo = [_Case(p, q, pattern, pattern.start)]
    while todo:
        case = todo.pop()
        work.step()
        function = difference(case.p, case.q, t)
        if _never_positive(function):
            continue
        if _never_positive({key: -c for key, c in function.items()}):
            excess, theirs = excess + _total(function), theirs + _total(case.q)
        else:
            todo.extend(case.cut(function))
    return excess, theirs


def _total(function: Counted) -> Exact:
    return sum((c * sum_of(key) for key, c in function.items()), 0)


def sum_of(key: Sequence[tuple[Base, int]]) -> Exact:
    """Return the sum of base^n · n^degree over all counts."""
    total: Any = 1
    for base, degree in key:
        moments = [1 / (1 - base.value)]
        for d in range(1, degree + 1):
            moments.append(base.value / (1 - base.value) * sum((math.comb(d, k) * moments[k] for k in range(d)), 0))
        total = total * moments[degree]
    return total
