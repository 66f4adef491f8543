"""What runs come to from a place where they go on alike: it is found once, for all runs, and datasets, that meet there.

Between two statements, what follows depends on the names that are read from there on, on what the loops around have
left, and on what draws were made under which conditions. So the finite part of a mechanism is gone through state by
state, however many runs lead to each. Within a call, and when it comes back, it depends on what the functions do that
wait for it, too: that is the same for runs that began with the same decisions, but for containers, which calls change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from types import FrameType
from typing import Any, NamedTuple, TypeAlias

from tightdp.cells.draws import Path, united
from tightdp.cells.noise import Outside
from tightdp.cells.pictures import containers, picture
from tightdp.exact.field import Number
from tightdp.language.classes import COPIES
from tightdp.language.rounds import Loop, waiting

_MOST_PATHS = 4_000
_ITERATORS = frozenset(
    type(each)
    for each in (*map(iter, ((), [], range(0), "", {}, {}.values(), {}.items(), set[int]())), zip(), enumerate(()))
) | {map, filter, reversed, type(reversed([]))}  # fmt: skip


Weights: TypeAlias = dict[int, Number]
"""How likely paths are, by their numbers."""


class Known(BaseException):
    """It is known what a run comes to."""


class Call:
    """A call of a function, for all runs that begin with the same decisions: those that make it."""

    def __init__(self, depth: int, known: dict[Any, Weights]) -> None:
        self.depth, self.known = depth, known


def going_on(place: Loop | None, held: Any, reached: Sequence[Any]) -> Any:
    """Return what a run goes on with at a place, in loops over these items, or where a call comes to what is held.

    It is None where that has no picture. Containers that were `reached` before belong to it.
    """
    try:
        found = {"": held} if place is None else _at(place, held)
        found["<copies>"] = {at: copy for at, (_, copy) in (COPIES.get() or {}).items()}
        return place and place.key, picture(found, reached, deep=True)
    except Outside:
        return None


def _at(place: Loop, items: Iterable[str]) -> dict[str, Any]:
    names = place.frame.f_locals
    held = {name: value for name, value in names.items() if not name.startswith("__tightdp")}
    held = {name: value for name, value in held.items() if name in place.live or name not in place.names}
    return held | {"<items>": tuple(_left(names[name]) for name in items)}


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
    known: dict[Any, Weights]
    place: Place
    factor: Number = Fraction(1)
    found: Weights = field(default_factory=dict)

    def add(self, weights: Weights, factor: Number) -> None:
        """Add what runs come to, as one with those that differ in finite draws alone."""
        for path, weight in weights.items():
            more = weight * factor
            self.found[path] = self.found[path] + more if path in self.found else more
        if len(self.found) > _MOST_PATHS:
            raise Outside("decides between too many ways")


@dataclass
class Meetings:
    """What is known of the places that were met, and those from which runs are gone through now."""

    _first: Call = field(default_factory=lambda: Call(-1, {}))
    _open: list[_Open] = field(default_factory=list)
    _numbers: dict[Any, int] = field(default_factory=dict)
    _paths: list[Path] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def begin(self) -> None:
        """Begin with the runs on a dataset."""
        self._open, self.calls = [_Open(None, {}, Place(0, 0))], [self._first]

    def called(self, number: int, depth: int) -> Call:
        """Return the call with this number of a run, after so many decisions."""
        if number == len(self.calls):
            self.calls.append(Call(depth, {}))
        return self.calls[number]

    def met(self, call: Call, state: Any, weights: list[Number], depth: int) -> None:
        """Hear with what a run goes on in a call, and how likely it was to come there. Raises Known."""
        factor = self._since(weights)
        if state in call.known:
            self._open[-1].add(call.known[state], factor)
            raise Known
        again = next((each for each in self._open if each.known is call.known and each.state == state), None)
        if len(self._open) > _MOST_PATHS or (again is not None and again.place.depth == depth):  # nothing was decided
            raise Outside("goes on for long in loops")
        if again is None:
            self._open.append(_Open(state, call.known, Place(depth, len(weights)), factor))

    def ended(self, path: Path, weights: list[Number]) -> None:
        """Hear what a run has come to; its weight is that of its draws."""
        number = self._numbers.setdefault(path.name(), len(self._paths))
        if number == len(self._paths):
            self._paths.append(path)
        self._open[-1].add({number: path.weight}, self._since(weights))

    def close(self, left: int) -> None:
        """Hear that runs go on to differ in so many first decisions."""
        while len(self._open) > 1 and self._open[-1].place.depth >= left:
            done = self._open.pop()
            done.known[done.state] = done.found
            self._open[-1].add(done.found, done.factor)
        while len(self.calls) > 1 and self.calls[-1].depth >= left:
            self.calls.pop()

    def every(self) -> list[Path]:
        every = self._open[0].found.items()
        return united([replace(self._paths[number], weight=weight) for number, weight in every])

    def _since(self, weights: list[Number]) -> Number:
        """Return how likely it was to come from the last place that is open."""
        return prod(weights[self._open[-1].place.number :], start=Fraction(1))


class Calls:
    """The calls of a run that are not over, with the containers that could be reached when they began."""

    def __init__(self, meetings: Meetings) -> None:
        self._meetings, self.heard, self._number = meetings, bool(meetings.calls), 0
        self._waiting: list[tuple[Call | None, Sequence[Any]]] = []

    @property
    def last(self) -> Call | None:
        """The last one, None where runs do not meet in it."""
        return self._waiting[-1][0] if self.heard else None

    @property
    def reached(self) -> Sequence[Any]:
        """The containers that it may have changed."""
        return self._waiting[-1][1]

    def begin(self, frame: FrameType, given: Any, depth: int) -> None:
        """Hear that a function is called from a frame, with what it is given, after so many decisions."""
        call: Call | None = None
        known: Sequence[Any] = ()
        if self.heard:
            call = self._meetings.called(self._number, depth)
            self._number += 1
            if self._waiting:
                around, known = self._waiting[-1]
                try:
                    known = containers(waiting(frame) | {"": given}, known, deep=True)
                except Outside:
                    around = None
                call = around and call
        self._waiting.append((call, known))

    def end(self) -> None:
        """Hear that the last one is over."""
        self._waiting.pop()
