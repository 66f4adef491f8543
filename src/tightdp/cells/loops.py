"""Loops that have no bound, by the law of how they end.

A loop is a chain: what its names are when a round begins is its state, and one round leads to the next state or to an
end. A number that rounds move in one direction, and that they do not ask about, is a counter: states are the same
wherever it stands, so the chain stays finite, and the law of the counter at the end is that of a linear recurrence. A
round may begin it anew, may ask for its remainder, and may ask about it as long as it is small: what remains of it, and
small values, belong to the state.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple, TypeAlias

from tightdp.cells.draws import Path
from tightdp.cells.left import Left, by_values, told
from tightdp.cells.linear import COUNTER, REAL, needed, row, tightest
from tightdp.cells.noise import Outside
from tightdp.cells.pictures import Form, Picture, Place, Shape, as_form
from tightdp.exact.field import Number

_FEW_STATES = 64
"""So many are looked at before counters are looked for."""
_MOST_STATES = 600

_SLOWEST = 4
"""A number that moves has at least this share of as many values as another one, if both have no bound."""
_SMALL = (0, 4, 16, 64)
"""From where on a counter counts: below, its values are states."""
_LONGEST = 12
"""The largest period by whose remainders states are told apart."""

State: TypeAlias = "tuple[Shape, tuple[Any, ...]]"
"""What is no rational number, and the rational ones: numbers, or `Rest` for a counter."""


class Rest(NamedTuple):
    """What is left of a counter: its remainder by its period."""

    remainder: int


@dataclass(frozen=True)
class Counter:
    """A number that moves away from where it begins: it is begun + sign·(least + remainder + period·counter)/parts."""

    place: Place
    begun: Any
    sign: int = 1
    period: int = 1
    least: int = 0
    parts: int = 1
    """It moves by whole multiples of one divided by that."""

    def away(self, number: Any, counter: int | None) -> Form | None:
        """Return how far a number has come, but for `counter` and draws of the round; None where it began elsewhere."""
        ours, theirs = as_form(number), as_form(self.begun)
        left = dict(ours.coefficients)
        if counter is not None and left.pop(counter, 0) * self.parts != self.sign * self.period:
            return None
        for v, c in theirs.coefficients:
            left[v] = left.get(v, 0) - c
        times = self.sign * self.parts
        own = tuple(sorted((v, times * c) for v, c in left.items() if c))
        if any(v >= 0 or c < 0 for v, c in own) or (own and counter is None):
            return None
        return Form(own, times * (ours.constant - theirs.constant))


@dataclass(frozen=True)
class Step:
    """By how much counters grow until the next round, draws of the round included; or where they are begun `anew`."""

    counts: tuple[int, ...]
    draws: tuple[tuple[int, int], ...] = ()
    anew: bool = False


@dataclass(frozen=True)
class Entry:
    """A round that a run is to begin with: what its names are, by place, and which are counters."""

    state: State
    places: tuple[Place, ...]
    counters: tuple[Counter, ...]
    first: int = 0


@dataclass(frozen=True)
class Ended:
    """How a round ended: in another one, at the end of the loop, or with a value; what was drawn, and what is held."""

    way: str
    path: Path
    shape: Shape
    places: tuple[Place, ...]
    numbers: tuple[Any, ...]


class Asked(BaseException):
    """A counter is asked about by a round, or moves in both directions; or it is asked for a remainder.

    Or it is compared with so many times another one, by the number of that; -1 for what is left of a draw.
    """

    def __init__(self, counter: int, modulus: int = 0, beside: tuple[int, Fraction] | None = None) -> None:
        super().__init__()
        self.counter, self.modulus, self.beside = counter, modulus, beside


class _Drawn(Exception):
    """A number goes on to the next round that was drawn in this one."""

    def __init__(self, place: Place, sign: int) -> None:
        super().__init__()
        self.place, self.sign = place, sign


@dataclass
class Chain:
    """The rounds of one loop from one entry. `explore` yields how a round from a state may end."""

    explore: Callable[[Entry], Iterator[Ended]]
    start: Picture
    mass: Callable[[Path], Number]
    left: set[Place] = field(default_factory=set)
    """Numbers that are told by what is left of their draws."""
    first: int = 0
    """The number of its first counter: those of loops around it come before."""
    counters: tuple[Counter, ...] = ()
    beside: dict[Place, tuple[Place, Fraction]] = field(default_factory=dict)
    """Numbers that are known by how far they are from so many times a counter."""
    ends: dict[State, list[Ended]] = field(default_factory=dict)

    def follow(self) -> None:
        """Follow all states. Raises Outside where they are too many."""
        most, tried = _FEW_STATES, {each.place for each in self.counters}
        while True:
            try:
                if self._finite(most):
                    return
                found = [each for each in self._moving() if each.place not in tried]
                if most == _MOST_STATES and not found:
                    raise Outside("is drawn in a loop with too many states")
                most = _MOST_STATES
                tried |= {each.place for each in found}
                self.counters += tuple(found)
            except Asked as asked:
                if not 0 <= asked.counter - self.first < len(self.counters):
                    raise
                self._answer(asked)
            except _Drawn as drawn:
                if drawn.place in self.left:
                    raise Outside("is drawn in a loop, and goes on to the next round") from None
                if drawn.place in tried or drawn.place not in self._begun:
                    self.left.add(drawn.place)
                    self.counters = tuple(each for each in self.counters if each.place != drawn.place)
                    continue
                tried.add(drawn.place)
                self.counters += (Counter(drawn.place, self._begun[drawn.place], drawn.sign),)

    def counting(self, counters: Iterable[Counter]) -> Chain:
        """Return the chain with numbers as counters that were some where the loop began otherwise."""
        begun = self._begun
        again = (replace(each, begun=begun[each.place]) for each in counters if each.place in begun)
        return replace(self, counters=tuple(again), ends={})

    @property
    def _begun(self) -> dict[Place, Any]:
        return dict(zip(self.start.places, self.start.numbers, strict=True))

    def _answer(self, asked: Asked) -> None:
        """Keep more of a counter in the states, or none of it as a counter. Raises Outside where none is left."""
        counters = list(self.counters)
        place = asked.counter - self.first
        one = counters[place]
        leader, times = asked.beside or (-1, Fraction(0))
        if times > 0 and 0 <= leader - self.first < len(counters) and one.period == one.parts == 1:
            self.beside[one.place] = counters[leader - self.first].place, one.sign * times
            del counters[place]
            self.counters = tuple(counters)
            return
        waiting = {at: number.draws for at, number in self._begun.items() if isinstance(number, Left)}
        where = next((at for at, draws in waiting.items() if draws and at not in self.beside), None)
        if times and leader < 0 and where and one.period == one.parts == 1:
            self.beside[where] = one.place, times * waiting[where][0][0]
            return
        period = one.period * asked.modulus
        if asked.modulus and period <= _LONGEST:
            counters[place] = replace(one, period=period)
        elif len(counters) == 1 and one.least < _SMALL[-1]:
            counters = [replace(one, least=next(least for least in _SMALL if least > one.least))]
        else:
            del counters[place]
        self.counters = tuple(counters)
        if not counters:
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
            found = self.explore(Entry(state, places, self.counters, self.first))
            self.ends[state] = [each for end in found for each in self._told(end)]
            for end in self.ends[state]:
                if end.way == "round":
                    self.step(end, ())
                    left.append((self.state(end), end.places))
        read = self.read
        for _, end in self.rounds():
            self.step(end, read)
        return True

    def rounds(self) -> list[tuple[State, Ended]]:
        """Return the rounds that lead to another one, with the states in which they begin."""
        return [(state, end) for state, ends in self.ends.items() for end in ends if end.way == "round"]

    @property
    def read(self) -> Collection[int]:
        """Return the counters that are read after the loop, by their number; all where coins are decided by one."""
        every, own = [end for ends in self.ends.values() for end in ends], range(len(self.counters))
        if any(end.path.rates for end in every):
            return own
        forms = (number for end in every if end.way != "round" for number in end.numbers)
        found = {counter - self.first for each in forms if isinstance(each, Form) for counter in each.counters()}
        return found & {*own}

    def _told(self, end: Ended) -> Iterator[Ended]:
        for each in by_values(end, _SMALL[-1]):
            yield from told(each, self.left) if end.way == "round" else (each,)

    def state(self, held: Picture | Ended) -> State:
        """Return a state without where its counters stand."""
        return held.shape, tuple(self._abstract(held.places, held.numbers))

    def _abstract(self, places: Sequence[Place], numbers: Sequence[Any]) -> Iterator[Any]:
        """Yield the numbers of a state; what is left of a counter."""
        known = {each.place: at for at, each in enumerate(self.counters)}
        for place, number in zip(places, numbers, strict=True):
            at = known.get(place)
            found = None if at is None else self._counted(at, number)
            rest = number.constant if isinstance(number, Left) else number
            if place in self.beside and (form := self._beside(place, rest, dict(zip(places, numbers, strict=True)))):
                yield number._replace(constant=form) if isinstance(number, Left) else form
                continue
            if at is not None and found is not None:
                yield Rest(int(found[1].constant) % self.counters[at].period)
                continue
            for counter in as_form(rest).counters():
                if counter >= self.first:
                    raise Asked(counter)
            for v, c in as_form(number).coefficients:
                if v < 0:
                    raise _Drawn(place, 1 if c > 0 else -1)
            yield number

    def _beside(self, place: Place, number: Any, held: Mapping[Place, Any]) -> Form | None:
        """Return a number by how far it is from a counter; None while that is small. Raises Outside if it is apart."""
        leader, times = self.beside[place]
        at = next((at for at, each in enumerate(self.counters) if each.place == leader), -1)
        found = self._counted(at, held[leader]) if at >= 0 and leader in held else None
        if found is None:
            return None
        going, moved = found
        v, form = COUNTER + self.first + at, as_form(number)
        if form.coefficients != (((v, times),) if going else ()) or moved.coefficients or self.counters[at].period > 1:
            raise Outside("is drawn in a loop with several counters")
        return Form(((v, times),), form.constant - times * moved.constant)

    def _counted(self, at: int, number: Any) -> tuple[bool, Form] | None:
        """Return whether a counter goes on, and how far it has come since it counts; None for a small number."""
        counter = self.counters[at]
        name = COUNTER + self.first + at
        going = name in dict(as_form(number).coefficients)
        found = counter.away(number, name if going else None)
        if found is None:
            if going:
                raise Asked(self.first + at)
            return None
        found = Form(found.coefficients, found.constant - counter.least)
        if found.constant < 0 or found.constant != int(found.constant):
            if going:
                raise Asked(self.first + at)
            return None
        if found.coefficients and counter.period > 1:
            raise Outside("is drawn in a loop that asks for its remainder")
        return going, found

    def _moving(self) -> tuple[Counter, ...]:
        """Return the numbers that rounds move in one direction, or begin anew, with where they begin."""
        moves: dict[Place, set[Any]] = {}
        met: dict[Place, set[Any]] = {}
        for (_, before), ends in self.ends.items():
            for end in ends:
                if end.way == "round" and len(end.numbers) == len(before):
                    for place, old, new in zip(end.places, before, end.numbers, strict=True):
                        met.setdefault(place, set()).add(new)
                        if (
                            not isinstance(new, Left)
                            and not isinstance(old, Rest)
                            and (step := _difference(old, new)) != 0
                        ):
                            moves.setdefault(place, set()).add(step)
        known = {each.place for each in self.counters}
        ways: dict[str, list[Counter]] = {"up": [], "down": [], "anew": []}
        for place in self.start.places:
            ups, downs = ({step for step in moves.get(place, ()) if step and step * sign > 0} for sign in (1, -1))
            if (ups or downs) and place not in known:  # beginning anew is a move of any length
                way = "anew" if ups and downs else "up" if ups else "down"
                few_down = downs and (not ups or len(downs) < len(ups))
                parts = lcm(*(step.denominator for step in moves[place] if step is not None))
                ways[way].append(Counter(place, self._begun[place], -1 if few_down else 1, parts=parts))
        found = next((each for each in ways.values() if each), [])
        most = max((len(met[each.place]) for each in found), default=0)
        found = [each for each in found if _SLOWEST * len(met[each.place]) >= most]  # others have few values
        if not found and not known:
            raise Outside("is drawn in a loop with too many states")
        return tuple(found)

    def step(self, end: Ended, read: Collection[int]) -> Step:
        """Return by how much counters have grown at the beginning of the next round, by their periods.

        Only those that are `read` are told.
        """
        held = dict(zip(end.places, end.numbers, strict=True))
        counts, draws, ways = [], set(), []
        for at, counter in enumerate(self.counters):
            found = self._counted(at, held[counter.place]) if counter.place in held else None
            ways.append(None if found is None else found[0])
            if found is not None:
                counts.append(int(found[1].constant) // counter.period * (at in read))
                draws |= {found[1].coefficients} if at in read else set()
        if len(set(ways)) > 1:  # those that begin anew alone are states
            raise Asked(self.first + next(at for at, way in enumerate(ways) if not way))
        if len(draws) > 1 or (len(read) > 1 and any(draws - {()})):
            raise Outside("is drawn in a loop with several counters")
        own = next(iter(draws), ())
        if any(c != int(c) for _, c in own):
            raise Outside("is drawn in a loop, and goes on to the next round")
        return Step(tuple(counts) if read else (), tuple((v, int(c)) for v, c in own), bool(read) and True not in ways)


def ended(way: str, path: Path, held: Picture) -> Ended:
    """Return how a round ended, with its own draws by their place: the first is -1 in forms."""
    ordered = sorted(path.laws)
    place = {v: -1 - at for at, v in enumerate(ordered)}
    names = {v: at if v < REAL else REAL + at - path.integers for at, v in enumerate(ordered)}
    rows = [(normal, bound) for normal, bound in path.rows if not any(COUNTER <= v < REAL for v, _ in normal)]
    moved = tightest(row({names[v]: c for v, c in normal}, bound) for normal, bound in rows)
    laws = {names[v]: law for v, law in path.laws.items()}
    residues = {names[v]: residue for v, residue in path.residues.items()}
    numbers = (
        Form(tuple(sorted((place.get(v, v), c) for v, c in each.coefficients)), each.constant)
        if isinstance(each, Form)
        else each
        for each in held.numbers
    )
    own = replace(path, laws=laws, rows=needed(moved), residues=residues)
    return Ended(way, own, held.shape, held.places, tuple(numbers))


def _difference(old: Any, new: Any) -> int | Fraction | None:
    """Return by how much a number is larger than another, None where that is no constant."""
    if isinstance(old, Left):
        return None
    ours, theirs = as_form(old), as_form(new)
    return theirs.constant - ours.constant if ours.coefficients == theirs.coefficients else None
