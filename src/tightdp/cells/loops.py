"""Loops that have no bound, by the law of how they end.

A loop is a chain: what its names are when a round begins is its state, and one round leads to the next state or to an
end. An integer that only ever grows, and that no round asks about, is a counter: states are the same wherever it
stands, so the chain stays finite, and the law of the counter at the end is that of a linear recurrence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.cells.linear import COUNTER
from tightdp.cells.noise import Outside, Path
from tightdp.cells.pictures import Form, Picture, Place, Shape
from tightdp.exact.field import Number

_FEW_STATES = 64
"""So many are looked at before counters are looked for."""
_MOST_STATES = 600

State: TypeAlias = "tuple[Shape, tuple[Any, ...]]"
"""What is not an integer, and the integers: numbers, or None for a counter."""


@dataclass(frozen=True)
class Entry:
    """A round that a run is to begin with: what its names are, and where counters begin, by place."""

    state: State
    places: tuple[Place, ...]
    counters: tuple[tuple[Place, Any], ...]


@dataclass(frozen=True)
class Ended:
    """How a round ended: in another one, at the end of the loop, or with a value; what was drawn, and what is held."""

    way: str
    path: Path
    shape: Shape
    places: tuple[Place, ...]
    numbers: tuple[Any, ...]


class Asked(BaseException):
    """A counter is asked about by a round, or is not only counted up."""

    def __init__(self, counter: int) -> None:
        super().__init__()
        self.counter = counter


@dataclass
class Chain:
    """The rounds of one loop from one entry. `explore` yields how a round from a state may end."""

    explore: Callable[[Entry], Iterator[Ended]]
    start: Picture
    mass: Callable[[Path], Number]
    counters: tuple[tuple[Place, Any], ...] = ()
    ends: dict[State, list[Ended]] = field(default_factory=dict)

    def follow(self) -> None:
        """Follow all states. Raises Outside where they are too many."""
        if not self._finite(_FEW_STATES):
            candidates = self._growing()
            while True:
                self.counters = candidates
                try:
                    if self._finite(_MOST_STATES):
                        break
                    raise Outside("is drawn in a loop with too many states")
                except Asked as asked:
                    candidates = tuple(each for at, each in enumerate(candidates) if at != asked.counter)
                    if not candidates:
                        raise Outside("is drawn in a loop with a counter that it asks about") from None

    def _finite(self, most: int) -> bool:
        """Follow all states, and say whether they are not too many."""
        self.ends = {}
        left = [(self.state(self.start), self.start.places)]
        while left:
            state, places = left.pop(0)
            if state in self.ends:
                continue
            if len(self.ends) == most:
                return False
            self.ends[state] = list(self.explore(Entry(state, places, self.counters)))
            for end in self.ends[state]:
                if end.way == "round":
                    self.step(end)
                    left.append((self.state(end), end.places))
        return True

    def state(self, held: Picture | Ended) -> State:
        """Return a state without where its counters stand."""
        return held.shape, tuple(self._abstract(held.places, held.numbers))

    def _abstract(self, places: Sequence[Place], numbers: Sequence[Any]) -> Iterator[Any]:
        """Yield the integers of a state; None for a counter."""
        known = {place for place, _ in self.counters}
        for place, number in zip(places, numbers, strict=True):
            if place in known:
                yield None
                continue
            for counter in number.counters() if isinstance(number, Form) else ():
                raise Asked(counter)
            if isinstance(number, Form) and any(v < 0 for v, _ in number.coefficients):
                raise Outside("is drawn in a loop, and goes on to the next round")
            yield number

    def _growing(self) -> tuple[tuple[Place, Any], ...]:
        """Return the integers that some round makes larger, and none smaller, with where they begin."""
        grown: set[Place] = set()
        shrunk: set[Place] = set()
        for (_, before), ends in self.ends.items():
            for end in ends:
                if end.way == "round" and len(end.numbers) == len(before):
                    for place, old, new in zip(end.places, before, end.numbers, strict=True):
                        if (step := _difference(old, new)) != 0:
                            (shrunk if step is None or step < 0 else grown).add(place)
        begun = dict(zip(self.start.places, self.start.numbers, strict=True))
        found = tuple((place, begun[place]) for place in self.start.places if place in grown - shrunk)
        if not found:
            raise Outside("is drawn in a loop with too many states")
        return found

    def step(self, end: Ended) -> tuple[int, ...]:
        """Return by how much the counters have grown at the beginning of the next round."""
        held = dict(zip(end.places, end.numbers, strict=True))
        steps = []
        for at, (place, begun) in enumerate(self.counters):
            form, origin = held.get(place), begun if isinstance(begun, Form) else Form((), begun)
            grown = tuple(sorted((*origin.coefficients, (COUNTER + at, 1))))
            if not isinstance(form, Form) or form.coefficients != grown:
                raise Asked(at)
            step = form.constant - origin.constant
            if step < 0 or not isinstance(step, int):
                raise Asked(at)
            steps.append(step)
        return tuple(steps)


def _difference(old: Any, new: Any) -> int | Fraction | None:
    """Return by how much a number is larger than another, None where that is no constant."""
    ours, theirs = (each if isinstance(each, Form) else Form((), each) for each in (old, new))
    return theirs.constant - ours.constant if ours.coefficients == theirs.coefficients else None
