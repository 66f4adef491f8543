"""Two laws beside each other: their largest ratio over infinitely many outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from types import ModuleType
from typing import Any, TypeAlias

from tightdp.cells import dominated, joint
from tightdp.cells.kinds import Both, Kind, Numbers, Part, Place, Real, Reals
from tightdp.cells.laws import CellLaws
from tightdp.cells.linear import Label
from tightdp.cells.noise import Outside
from tightdp.cells.suprema import Supremum, TooLong
from tightdp.language.program import Dataset

_MOST_STEPS = 6_000
"""How many steps the proofs of ε of several real numbers may take."""
_FEW_NUMBERS = 3
"""Of so many real numbers that depend on each other it is looked whether an output has the largest ratio."""


@dataclass(frozen=True)
class Largest:
    """The largest ratio: that of an output, or the limit of outputs that move in a direction."""

    value: Any
    x: Dataset
    x_prime: Dataset
    label: Label
    start: tuple[Any, ...]
    moved: tuple[Any, ...]
    side: tuple[Any, ...] = ()
    """Where densities of real numbers have it as a limit at an output, the direction from which."""
    attained: bool | None = True
    """Whether it is the ratio of an output, of real numbers that of a set of outputs that is not null."""


_Function: TypeAlias = tuple[int, int, Any]
"""The numbers of two functions, and where they are."""


def _largest(seen: Iterable[Supremum], times: Any, least: Any, bound: Any) -> Supremum | None:
    """Return the largest of some ratios, times a number, if it is above `least`; none is above `bound`."""
    best: Supremum | None = None
    for each in seen:
        value = math.inf if math.inf in (each.value, times) else each.value * times
        if _above(value, least):
            best, least = replace(each, value=value), value
            if not _above(bound, least):
                break
    return best


def _moves(found: Supremum) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    return found.place, found.moved, found.side or (0,) * len(found.place)


def _above(value: Any, other: Any) -> bool:
    """Whether a number, which may be infinite, is larger than another."""
    return bool(other != math.inf and (value == math.inf or value > other))


def _first(done: set[Any], times: Any, functions: Sequence[_Function]) -> list[_Function]:
    """Return the pairs of functions whose ratio, times a number, is looked at for the first time."""
    fresh = [each for each in functions if (times, *each[:2]) not in done]
    done.update((times, *each[:2]) for each in fresh)
    return fresh


class Comparing:
    """Compares pairs of datasets by their laws.

    Where a supremum was not found, ratios are proved not to exceed `upper`; else that is 0. Proofs take a limited
    number of steps in all where several real numbers are published.
    """

    def __init__(self, laws: CellLaws, watch: Callable[[], None]) -> None:
        self.laws, self.watch, self._left = laws, watch, _MOST_STEPS
        self.numbers = Numbers(watch)
        self._functions = self.numbers.functions
        self._limited: dict[tuple[int, int, Any], bool] = {}
        self.upper: Any = 0 * laws.one
        if laws.published:  # what stands in the way is to be said at once
            self.apart = self._kinds(True)

    def _step(self) -> None:
        self.watch()
        self._left -= 1
        if self._left < 0:
            raise TooLong

    def _kinds(self, apart: bool) -> list[Kind]:
        labels = dict.fromkeys(label for law in self.laws.laws.values() for label in law)
        return [Kind(self.laws, label, apart, self.numbers) for label in labels]

    @cached_property
    def apart(self) -> list[Kind]:
        """The kinds of outputs, by their independent coordinates."""
        return self._kinds(True)

    @cached_property
    def together(self) -> list[Kind]:
        """The kinds of outputs, of whose coordinates none is looked at alone."""
        return self._kinds(False)

    def largest(self, pairs: Iterable[tuple[Dataset, Dataset]]) -> Largest | None:
        """Return the largest likelihood ratio P(output|x)/P(output|x') above 1, None where there is none."""
        every = dominated.left(list(self._unlike(pairs)), self.laws, self._below)
        best = self._largest(every)
        if best is None or _above(self.upper, best.value) or not (best.label.real or any(best.moved)):
            return best
        return self._told(best, every)

    def _told(self, best: Largest, every: Sequence[tuple[Kind, Dataset, Dataset]]) -> Largest:
        """Return the largest ratio with outputs that have it, if there are any."""
        missed, upper = set[Any](), self.upper
        try:
            for kind, x, x_prime in sorted(every, key=lambda each: each[1:] != (best.x, best.x_prime)):
                ours, theirs = map(self.laws.content, (x, x_prime))
                if not _above(best.value, kind.bound(ours, theirs)):
                    found = self._attained(kind, ours, theirs, best.value, missed)
                    if found is not None:
                        return Largest(best.value, x, x_prime, kind.label, found, (0,) * len(found))
            attained = None if self.upper != upper else False
        except (TooLong, Outside):
            attained = None
        self.upper = upper
        return replace(best, attained=attained)

    def _attained(
        self, kind: Kind, x: Dataset, x_prime: Dataset, value: Any, missed: set[Any]
    ) -> tuple[Any, ...] | None:
        """Return an output that has the largest ratio, one inside of a set of those for real numbers, or None."""
        if any(isinstance(part, Reals) and len(part.coordinates) > _FEW_NUMBERS for part in kind.parts):
            raise TooLong
        times = kind.weights[x] / kind.weights[x_prime] if x_prime in kind.weights else math.inf
        every = [(part, part.compared(kind.like(x), kind.like(x_prime))) for part in kind.parts]
        wanted = [math.inf] * len(every)
        if value != math.inf:
            if times == math.inf:
                return None
            wanted = [value / times]
            if len(every) != 1:
                found = [self._of_part(*each, self.laws.one, 0 * self.laws.one, None) for each in every]
                wanted = [0 if each is None else each.value for each in found]
                if math.prod(wanted, start=times) != value:
                    return None
        places = [self._place(*each, most, missed) for each, most in zip(every, wanted, strict=True)]
        if value == math.inf:
            if times != math.inf and all(place is None for place in places):
                return None
            anywhere = ([(p, None, on) for p, _, on in functions] for _, functions in every)
            others = [self._place(part, each, value, missed) for (part, _), each in zip(every, anywhere, strict=True)]
            places = [place or other for place, other in zip(places, others, strict=True)]
        at: dict[int, Any] = {}
        for (part, _), place in zip(every, places, strict=True):
            if place is None:
                return None
            at.update(zip(part.coordinates, place, strict=True))
        return tuple(at[v] for v in kind.label.variables)

    def _place(
        self, part: Part, functions: Iterable[tuple[int, int | None, Any]], value: Any, missed: set[Any]
    ) -> tuple[Any, ...] | None:
        """Return a place where a ratio is a value that it never exceeds, None where there is none.

        A function without a number is 0. What is found to be `missed` is not looked at again.
        """
        for p, q, on in functions:
            if (p, q, value) not in missed:
                both = self._functions[p], {} if q is None else self._functions[q]
                place: tuple[Any, ...] | None = part.by.attained(*both, value, on, self.watch)
                if place is not None:
                    return place
                missed.add((p, q, value))
        return None

    def _largest(self, every: Sequence[tuple[Kind, Dataset, Dataset]]) -> Largest | None:
        best: Largest | None = None
        self._left = _MOST_STEPS
        for look in (partial(self._seen, set()), partial(self._of_pair, set())):  # what is quickly seen spares proofs
            for kind, x, x_prime in every:
                self.watch()
                ours, theirs = map(self.laws.content, (x, x_prime))
                least = self.laws.one if best is None else best.value
                if _above(kind.bound(ours, theirs), least):
                    found = look(kind, ours, theirs, least)
                    best = best if found is None else replace(found, x=x, x_prime=x_prime)
        return best

    def _unlike(self, pairs: Iterable[tuple[Dataset, Dataset]]) -> Iterator[tuple[Kind, Dataset, Dataset]]:
        """Yield pairs of datasets with the kinds of output on which no pair before them has the same two laws."""
        done: set[tuple[Kind, Dataset, Dataset]] = set()
        for x, x_prime in pairs:
            self.watch()
            ours, theirs = map(self.laws.content, (x, x_prime))
            for kind in self.apart:
                name = kind, kind.like(ours), kind.like(theirs)
                if ours in kind.weights and name not in done:
                    done.add(name)
                    yield kind, x, x_prime

    def _below(self, kind: Kind, x: Dataset, y: Dataset) -> bool:
        """Whether the law on a dataset is seen to be nowhere larger than on another one."""
        if x not in kind.weights or y not in kind.weights:
            return x not in kind.weights
        self.watch()
        most = kind.weights[y] / kind.weights[x]
        if len(kind.parts) != 1:
            if most < 1:
                return False
            most = self.laws.one
        every = [(part.by, each) for part in kind.parts for each in part.compared(x, y)]
        return all(self._never_above(by, p, q, on, most) for by, (p, q, on) in every)

    def _never_above(self, by: ModuleType, p: int, q: int, on: Place, most: Any) -> bool:
        if p == q and most >= 1:
            return True
        if (p, q, most) not in self._limited:
            functions = self._functions[p], self._functions[q]
            with suppress(Outside):
                self._limited[p, q, most] = by.never_above(*functions, most, on, self.watch)
        return self._limited.get((p, q, most), False)

    def _seen(self, done: set[Any], kind: Kind, x: Dataset, x_prime: Dataset, least: Any) -> Largest | None:
        """Return the largest ratio of a pair that is seen at once, None where that is at most `least`."""
        (part,) = kind.parts if len(kind.parts) == 1 else (None,)
        times = kind.weights[x] / kind.weights.get(x_prime, kind.weights[x])
        both = kind.like(x), kind.like(x_prime)
        seen: Iterable[Supremum] = part.outwards(*both) if isinstance(part, Reals | Both) else ()
        if isinstance(part, Real):
            seen = self._corners(part, _first(done, times, part.compared(*both)))
        found = _largest(seen, times, least, kind.bound(x, x_prime))
        return None if found is None else Largest(found.value, x, x_prime, kind.label, *_moves(found))

    def _corners(self, part: Real | Reals, functions: Iterable[_Function]) -> Iterable[Supremum]:
        known = {(p, q): on for p, q, on in functions}
        each = (part.by.corners(self._functions[p], self._functions[q], on) for (p, q), on in known.items())
        return chain.from_iterable(each)

    def _of_pair(self, done: set[Any], kind: Kind, x: Dataset, x_prime: Dataset, least: Any) -> Largest | None:
        """Return the largest ratio of a pair on one kind of output, None where it is at most `least`."""
        several, bound = len(kind.parts) > 1, kind.bound(x, x_prime)
        both = kind.like(x), kind.like(x_prime)
        beside = any(isinstance(part, Both) and not part.decided(*both) for part in kind.parts)
        unproved = beside or (self._left < 0 and any(isinstance(part, Reals) for part in kind.parts))
        if unproved and (not several or bound != math.inf):
            self.upper = bound if _above(bound, self.upper) else self.upper
            return None
        if beside:
            raise Outside(
                "is published beside noise on the integers that depends on it, and other noise: there is δ at an ε"
            )
        start: list[Any] = [0] * kind.label.dimension
        moved, side = list(start), list(start)
        value: Any = math.inf
        if x_prime in kind.weights:
            value = kind.weights[x] / kind.weights[x_prime]
        for part in kind.parts:
            functions = part.compared(*both)
            if not several:
                functions = _first(done, value, functions)
            limits = (0 * self.laws.one, None) if several else (least, partial(kind.proved, x, x_prime))
            found = self._of_part(part, functions, value, *limits)
            if found is None:
                return None
            value = found.value
            for v, *each in zip(part.coordinates, *_moves(found), strict=True):
                index = kind.label.variables.index(v)
                start[index], moved[index], side[index] = each
        if least != math.inf and (value == math.inf or value > least):
            return Largest(value, x, x_prime, kind.label, tuple(start), tuple(moved), tuple(side))
        return None

    def _of_part(
        self, part: Part, functions: Sequence[_Function], times: Any, least: Any, proved: Callable[[], Any] | None
    ) -> Supremum | None:
        """Return the largest ratio of two functions, times a number, where it is above `least`, and its place.

        What is `proved` of both laws as wholes, if they are these functions, it does not exceed.
        """
        known = {(p, q): pattern for p, q, pattern in functions}
        best: Supremum | None = None
        if proved is not None and isinstance(part, Reals) and (bound := proved()) != math.inf:
            best = _largest(self._corners(part, functions), times, least, bound)
            least = least if best is None else best.value
            if not _above(bound, least):
                return best
        infinite = times == math.inf
        times = self.laws.one if infinite else times
        least = least / times
        for (p, q), pattern in known.items():
            if p == q and least >= 1:
                continue
            found = self._supremum(part.by, p, q, pattern, least, times, proved)
            if found is not None:
                value = math.inf if infinite or found.value == math.inf else found.value * times
                best, least = replace(found, value=value), found.value
                if value == math.inf:
                    break
        return best

    def _supremum(
        self, by: ModuleType, p: int, q: int, pattern: Place, least: Any, times: Any, proved: Callable[[], Any] | None
    ) -> Supremum | None:
        """Return the supremum of p/q where it is above `least`, what is found of it where the search is too long.

        What is then proved of both laws as wholes is asked first: p/q, times a number, is not larger.
        """
        functions, watch = (self._functions[p], self._functions[q]), self._step if by is joint else self.watch
        try:
            found: Supremum | None = by.supremum(*functions, pattern, least, watch)
            return found
        except Outside:
            if proved is None or _above(proved(), least * times):
                raise
            return None
        except TooLong as error:
            known = least if error.best is None else error.best.value
            end = math.inf if proved is None else proved()
            if _above(end, known * times):
                here = by.upper_end(*functions, pattern, known, watch)
                here = math.inf if here == math.inf or not least else here * times  # a product has further factors
                end = here if _above(end, here) else end
            if _above(end, self.upper):
                self.upper = end
            return error.best

    def bound(self, x: Dataset, x_prime: Dataset) -> Any:
        """Return a number that no ratio of two datasets exceeds: infinity where none is known at once."""
        both = self.laws.content(x), self.laws.content(x_prime)
        return max((kind.proved(*both) for kind in self.together if both[0] in kind.weights), default=math.inf)
