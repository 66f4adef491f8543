"""What runs come to from a place where they go on alike: it is found once, for all runs, and datasets, that meet there.

Between two statements of the function itself, what follows depends on the names that are read from there on, on what
the loops around have left, and on what draws were made under which conditions. So the finite part of a mechanism is
gone through state by state, however many runs lead to each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

from tightdp.cells.noise import Outside, Path
from tightdp.cells.pictures import picture
from tightdp.exact.field import Number
from tightdp.language.classes import COPIES
from tightdp.language.rounds import Loop

_MOST_PATHS = 4_000
_ITERATORS = frozenset(
    type(each)
    for each in (*map(iter, ((), [], range(0), "", {}, {}.values(), {}.items(), set[int]())), zip(), enumerate(()))
) | {map, filter, reversed, type(reversed([]))}  # fmt: skip


class Known(BaseException):
    """It is known what a run comes to."""


def going_on(place: Loop, items: Iterable[str]) -> Any:
    """Return what a run goes on with at a place, None where that has no picture."""
    names = place.frame.f_locals
    held = {name: value for name, value in names.items() if not name.startswith("__tightdp")}
    held = {name: value for name, value in held.items() if name in place.live or name not in place.names}
    try:
        held["<items>"] = tuple(_left(names[name]) for name in items)
        held["<copies>"] = {at: copy for at, (_, copy) in (COPIES.get() or {}).items()}
        return place.key, picture(held)
    except Outside:
        return None


def _left(iterator: Any) -> Any:
    """Return what an iterator has left. Raises Outside where it does not tell."""
    if type(iterator) not in _ITERATORS:
        raise Outside("is drawn in a loop over something else than a collection")
    kind, arguments, *state = iterator.__reduce__()
    if state and isinstance(arguments[0], (tuple, range, str)) and kind is iter:
        return "items", arguments[0][state[0] :]
    parts = (_left(each) if type(each) in _ITERATORS else each for each in arguments)
    return kind.__name__, *parts, *state


class Place(NamedTuple):
    """A place where runs meet: after so many decisions, and places."""

    depth: int
    number: int


@dataclass
class _Open:
    """A place from which not all is known yet; its factor is the probability to come there from the one before."""

    state: Any
    place: Place
    factor: Number = Fraction(1)
    found: dict[Any, Path] = field(default_factory=dict)

    def add(self, path: Path, factor: Number) -> None:
        """Add what a run comes to, as one with those that differ in finite draws alone."""
        name = path.name()
        alike = self.found.get(name)
        weight = path.weight * factor
        self.found[name] = replace(path, weight=weight if alike is None else alike.weight + weight)
        if len(self.found) > _MOST_PATHS:
            raise Outside("decides between too many ways")


@dataclass
class Meetings:
    """What is known of the places that were met, and those from which runs are gone through now."""

    known: dict[Any, tuple[Path, ...]] = field(default_factory=dict)
    _open: list[_Open] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """Whether runs are to meet."""
        return bool(self._open)

    def begin(self) -> None:
        """Begin with the runs on a dataset."""
        self._open = [_Open(None, Place(0, 0))]

    def met(self, state: Any, weights: list[Number], depth: int) -> None:
        """Hear with what a run goes on, and how likely it was to come there. Raises Known."""
        factor = self._since(weights)
        if state in self.known:
            for path in self.known[state]:
                self._open[-1].add(path, factor)
            raise Known
        again = next((each for each in self._open if each.state == state), None)
        if len(self._open) > _MOST_PATHS or (again is not None and again.place.depth == depth):  # nothing was decided
            raise Outside("goes on for long in loops")
        if again is None:
            self._open.append(_Open(state, Place(depth, len(weights)), factor))

    def ended(self, path: Path, weights: list[Number]) -> None:
        """Hear what a run has come to; its weight is that of its draws."""
        self._open[-1].add(path, self._since(weights))

    def close(self, left: int) -> None:
        """Hear that runs go on to differ in so many first decisions."""
        while len(self._open) > 1 and self._open[-1].place.depth >= left:
            done = self._open.pop()
            self.known[done.state] = tuple(done.found.values())
            for path in self.known[done.state]:
                self._open[-1].add(path, done.factor)

    def every(self) -> list[Path]:
        return list(self._open[0].found.values())

    def _since(self, weights: list[Number]) -> Number:
        """Return how likely it was to come from the last place that is open."""
        return prod(weights[self._open[-1].place.number :], start=Fraction(1))
