"""The paths of a program on one dataset, found by running it with all decisions in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice
from math import lcm, prod
from types import FrameType
from typing import Any, TypeVar

from tightdp.cells.draws import COUNTED, Path, Rate, by_pieces, may_occur
from tightdp.cells.ends import outcomes
from tightdp.cells.followed import Begun, End, Endless, Loops, Round, Stoppable
from tightdp.cells.left import Before, Left, begun, from_0_on
from tightdp.cells.linear import COUNTER, REAL, Row, Rows, needed, row, tightest
from tightdp.cells.loops import Asked, Chain, Ended, Entry, Rest, ended
from tightdp.cells.meetings import Calls, Known, going_on
from tightdp.cells.noise import Noisy, Outside, noisy
from tightdp.cells.pictures import Form, Met, living, picture, restored, seen
from tightdp.errors import ProgramError
from tightdp.exact.field import Number
from tightdp.language.laws import Exponentials, Law, OnIntegers, TwoSided, bernoulli
from tightdp.language.primitives import Rejected
from tightdp.language.program import Bound, Dataset
from tightdp.language.rounds import MOST_ROUNDS, Loop, Told, values_in
from tightdp.limits.clock import pay

_MOST_PATHS = 4_000
_AT_ONCE = 8
"""In so many of the cube of the rows of a path a step goes by in which it is seen which rows follow from others."""
_MOST_STEPS = 400
"""How many decisions a path may have."""
_MANY_ROUNDS = 24
"""A loop that draws in more rounds than that is asked how it ends."""
_FEW_ROUNDS = 3
"""The same where another loop is followed: its law is found anew wherever it begins."""
_MOST_ROUNDS = 120
"""One whose end has no closed form is not gone through for longer, where no other loop is followed."""
_MOST_COUNTERS = 64
"""Counters of a loop inside of another one begin at multiples of this."""
_HIDDEN = "is used after a loop that tells no more of it"
_WAYS = {"end": 1, "return": 2, "returns": 3}
T = TypeVar("T")


class _Run(Stoppable):
    """One run: takes the decisions of the past, then the first alternative of each."""

    tells_equal_apart = False

    def __init__(self, past: list[Any], loops: Loops, execute: Callable[[_Run], Any]) -> None:
        self.past, self.at, self.loops, self.execute = past, 0, loops, execute
        self.followed: Round | None = None
        self.rounds: dict[Any, tuple[int, int]] = {}
        self._drawn = {False: 0, True: 0}
        self._heads = 0
        self.calls = Calls(loops.meetings)
        self._begin()

    def _begin(self) -> None:
        self.weights: list[Number] = [Fraction(1)]
        self.laws: dict[int, Exponentials] = {}
        self.rows: Rows = frozenset()
        self.residues: dict[int, tuple[int, int]] = {}
        self.rates: list[Rate] = []
        self.hidden: set[int] = set()

    def _taken(self, number: int) -> int:
        if self.at == len(self.past):
            if self.at >= _MOST_STEPS:
                raise next(iter(self.loops.refused.values()), Outside("is drawn in too long a run"))
            self.past.append([0, number])
        if isinstance(self.past[self.at], Begun):  # it is on another way than the run that came to that round
            raise Outside("is drawn in loops inside one another")
        taken: int = self.past[self.at][0]
        self.at += 1
        return taken

    def decide(self, alternatives: list[list[Row]]) -> int:
        if self.hidden and any(v in self.hidden for added in alternatives for normal, _ in added for v, _ in normal):
            raise Outside(_HIDDEN)
        open_ = [(at, tightest([*self.rows, *added])) for at, added in enumerate(alternatives)]
        open_ = [(at, rows) for at, rows in open_ if may_occur(self.laws, rows)]
        if not open_:
            raise Rejected
        if len(open_) == 1:
            return open_[0][0]
        for normal, _ in (each for added in alternatives for each in added):
            if len(normal) == 2 and all(COUNTER <= v < REAL for v, _ in normal):
                (v, ours), (w, theirs) = normal
                raise Asked(w - COUNTER, beside=(v - COUNTER, -Fraction(ours) / theirs))
            counted = [(v, c) for v, c in normal if COUNTER <= v < REAL]
            if len(counted) == 1 and len(normal) > 1 and all(v in self.laws for v, _ in {*normal} - {*counted}):
                ((v, ours),) = counted
                raise Asked(v - COUNTER, beside=(-1, -Fraction(ours) / next(c for w, c in normal if w != v)))
            self._check(v for v, _ in normal)
        taken, self.rows = open_[self._taken(len(open_))]
        return taken

    def _check(self, asked: Iterator[int]) -> None:
        """Raise an error where the round that is followed asks about counters, or about draws that are not its own."""
        for v in asked:
            if COUNTER <= v < REAL:
                raise Asked(v - COUNTER)
            if v in self.hidden:
                raise Outside(_HIDDEN)
            if self.followed is not None and v not in self.laws:
                raise Before(v)

    def residue(self, variable: int, modulus: int) -> int:
        if variable < 0:
            raise Outside("is rounded beside records")
        known, period = self.residues.get(variable, (0, 1))
        common = lcm(period, modulus)
        if common != period:
            if COUNTER <= variable < REAL:
                raise Asked(variable - COUNTER, modulus)
            self._check(iter((variable,)))
            known += period * self._taken(common // period)
            self.residues[variable] = known, common
        return known % modulus

    def draw(self, law: Law) -> int:
        taken = self._taken(len(law)) if len(law) > 1 else 0
        self.weights[-1] = self.weights[-1] * law[taken][1]
        return law[taken][0]

    def draw_integer(self, law: OnIntegers) -> int:
        if not isinstance(law, TwoSided):
            raise Outside("has no geometric tails")
        return self.draw_number(by_pieces(law))  # type: ignore[no-any-return]

    def draw_bits(self, bits: int) -> int:
        raise Outside("draws doubles")

    def draw_number(self, law: Exponentials) -> Any:
        return law.centre + Noisy(self, {self._new(law): 1}, 0)

    def _new(self, law: Exponentials) -> int:
        v = self._drawn[law.real] + REAL * law.real
        self._drawn[law.real] += 1
        self.laws[v] = law
        return v

    def floor(self, number: Noisy) -> Any:
        """Return an integer that is at most a real number, and the next one above it, as a draw of weight 1."""
        self._check(iter(number.coefficients))
        whole = self.draw_number(COUNTED)
        self.rows = tightest([*self.rows, (whole - number).at_most(), (number - whole - 1).at_most()])
        return whole

    def flip(self, above: Fraction, below: Noisy) -> bool:
        """Return what a coin shows whose probability is a number divided by a counter of the loop that is followed."""
        ((v, times),) = below.coefficients.items() if len(below.coefficients) == 1 else ((0, 1),)
        start = Fraction(below.constant) / times
        if not COUNTER <= v < REAL or start.denominator > 1 or start < 1:
            raise Outside("divides the probability of a coin")
        bernoulli(above / below.constant)
        shown = self._taken(2) == 0
        self.rates.append(Rate(v, above / times, int(start), shown))
        return shown

    def observe(self, condition: bool) -> None:
        if not condition:
            raise Rejected

    def show(self, numbers: Sequence[Any]) -> None:
        """Raise Outside where numbers depend on draws of which only the residue is known."""
        if any(v in self.hidden for each in numbers if isinstance(each, Form) for v, _ in each.coefficients):
            raise Outside(_HIDDEN)

    def met(self, place: Loop | None, held: Any) -> None:
        """Hear with what a function goes on, or returns, and that at a place where no decision of the past is left."""
        call = self.calls.last
        if call is not None:
            if self.at == len(self.past) and (state := going_on(place, held, self.calls.reached)) is not None:
                laws = tuple((v, law.weight, law.pieces, law.real) for v, law in self.laws.items())
                drawn = laws, self.rows, frozenset(self.residues.items()), frozenset(self.hidden)
                self.loops.meetings.met(call, (state, drawn), self.weights, self.at)
            self.weights.append(Fraction(1))

    # loops

    def round(self, loop: Loop) -> Told | None:
        """Hear that a round of a loop begins, and say how the loop ends where that is known."""
        self._heads += 1
        if self._heads > MOST_ROUNDS:
            raise Outside("goes on for long in loops")
        begun = self.past[self.at] if self.at < len(self.past) else None
        if isinstance(begun, Begun) and begun.heads == self._heads:
            return self._entered(loop, begun.entry)
        if self.followed and (loop.key, loop.frame) == (self.followed.key, self.followed.frame):
            raise End("round", self.loops.outer.end(living(loop), self.followed.known))
        key = loop.key, loop.frame.f_code
        if key in self.loops.followed:
            return self._ended(loop, key)
        rounds, at = self.rounds.get((key, loop.frame), (0, -1))
        self.rounds[key, loop.frame] = rounds + (self.at != at), self.at
        if key in self.loops.refused and rounds > (_MANY_ROUNDS if self.loops.followed else _MOST_ROUNDS):
            raise self.loops.refused[key]
        if key not in self.loops.refused and rounds > (_FEW_ROUNDS if self.loops.followed else _MANY_ROUNDS):
            raise Endless(key)
        return None

    def left(self, key: str, frame: FrameType, names: Sequence[str]) -> None:
        self._leave((key,), frame, "end", values_in(frame, names))

    def returned(self, keys: Sequence[str], frame: FrameType, value: Any) -> None:
        """Hear that a function returns from within loops."""
        self._leave(keys, frame, "return", {"": value})

    def returns(self, keys: Sequence[str], frame: FrameType, number: int, names: Sequence[str]) -> None:
        """Hear that a function is to return from within loops what a statement says."""
        self._leave(keys, frame, "returns", {"": number} | values_in(frame, names))

    def _leave(self, keys: Sequence[str], frame: FrameType, way: str, held: Mapping[str, Any]) -> None:
        if self.followed and self.followed.key in keys and frame is self.followed.frame:
            raise End(way, self.loops.outer.end(held, self.followed.known))

    def _entered(self, loop: Loop, entry: Entry) -> Told:
        self.at += 1
        known = self.loops.outer.containers(seen(loop))
        self._begin()
        self.calls.heard = False
        self.followed = Round(loop.key, loop.frame, known)
        self.rows = frozenset(row({COUNTER + entry.first + at: -1}, 0) for at in range(len(entry.counters)))
        shape, numbers = entry.state
        counted = {counter.place: (COUNTER + entry.first + at, counter) for at, counter in enumerate(entry.counters)}
        values = iter(entry.places)

        def number(value: Any) -> Any:
            place = next(values)
            if isinstance(value, Rest):
                v, counter = counted[place]
                away = Noisy(self, {v: counter.period}, counter.least + value.remainder)
                unit = counter.sign if counter.parts == 1 else Fraction(counter.sign, counter.parts)
                return self._number(counter.begun) + unit * away
            if isinstance(value, Left):
                draws = (times * Noisy(self, {self._new(from_0_on(base)): 1}, 0) for times, base in value.draws)
                return sum(draws, self._number(value.constant))
            return self._number(value)

        names = restored(shape, numbers, number, known)
        return Told(loop.held(names))

    def _number(self, value: Any, named: Callable[[Any], dict[int, Any]] = dict) -> Any:
        return noisy(self, named(value.coefficients), value.constant) if isinstance(value, Form) else value

    def _ended(self, loop: Loop, key: Any) -> Told:
        known, at = self.loops.outer.containers(seen(loop)), self.at
        left = self.loops.left.setdefault(key, set())
        whole = picture(living(loop), known)
        start, spent = begun(self, whole, left)
        name = key, start
        if name not in self.loops.known:
            past = [list(each) if isinstance(each, list) else each for each in self.past[:at]]
            heads = self._heads

            def explore(entry: Entry) -> Iterator[Ended]:
                return self._rounds([*past, Begun(entry, heads)])

            around, told = sum(isinstance(each, Begun) for each in past), len(left)
            chain = Chain(explore, start, self.loops.mass, left, _MOST_COUNTERS * around)
            try:
                chain = self._followed(chain, key)
            except Outside as outside:  # it may have a bound all the same
                if isinstance(outside, Before) and (where := outside.met(whole) or ()) not in {(), *left}:
                    if outside.variable not in self.laws:
                        raise
                    left.add(where)
                    raise Met from None
                self.loops.followed.discard(key)
                self.loops.refused[key] = outside
                raise Endless(key) from None
            if len(left) > told:  # runs that were recorded before took other decisions on their way here
                raise Met
            self.loops.known[name] = outcomes(chain)
        ways = self.loops.known[name]
        self.hidden |= spent
        if not ways:
            raise Rejected
        taken = ways[self._taken(len(ways)) if len(ways) > 1 else 0]
        self.weights[-1] = self.weights[-1] * taken.weight
        new = [self._new(law) for law in taken.laws]
        self.hidden |= set(new[-1:]) if taken.hidden else set()

        def mine(coefficients: Any) -> dict[int, Any]:
            return {new[-1 - v] if v < 0 else v: c for v, c in coefficients}

        self.rows = tightest([*self.rows, *(row(mine(normal), bound) for normal, bound in taken.rows)])
        self.residues |= {new[-1 - v]: residue for v, residue in taken.residues}

        names = restored(taken.shape, taken.numbers, lambda value: self._number(value, mine), known)
        return Told(loop.held(names), _WAYS[taken.way], names.get(""))

    def _followed(self, chain: Chain, key: Any) -> Chain:
        """Follow a loop, with the counters that it had where it began otherwise, if that will do."""
        if known := self.loops.counters.get(key):
            with suppress(Outside):
                again = chain.counting(known)
                again.follow()
                return again
        chain.follow()
        self.loops.counters[key] = chain.counters
        return chain

    def _rounds(self, past: list[Any]) -> Iterator[Ended]:
        """Yield how a round ends that runs with this past come to."""
        for run, end in _runs(self.execute, past, self.loops):
            if not isinstance(end, End):
                raise AssertionError("a round that was entered has an end")
            run.show(end.held.numbers)
            weight = prod(run.weights, start=Fraction(1))
            yield ended(end.way, Path(weight, run.laws, run.rows, run.residues, None, tuple(run.rates)), end.held)


def paths(bound: Bound, x: Dataset, loops: Loops) -> tuple[list[Path], bool]:
    """Return the paths on a dataset, and whether some runs are rejected. Raises Outside, or ProgramError."""
    return paths_of(lambda run: bound.execute(x, run), loops), loops.rejected


def paths_of(execute: Callable[[Any], Any], loops: Loops) -> list[Path]:
    """Return the paths of what is executed under a source of randomness. Raises Outside, or ProgramError."""
    return _restarted(lambda: found_by(execute, loops), loops)


def found_by(execute: Callable[[_Run], Any], loops: Loops) -> list[Path]:
    """Return the paths of runs. Raises Endless, Met or Outside."""
    loops.meetings.begin()
    for run, output in _runs(execute, [], loops):
        pay(loops.watch, len(run.rows) ** 3 / _AT_ONCE)
        path = Path(Fraction(1), run.laws, needed(run.rows), run.residues, output)
        loops.meetings.ended(path, run.weights)
    return loops.meetings.every()


def few_runs(bound: Bound, x: Dataset, loops: Loops, most: int) -> list[bool]:
    """Return of so many runs whether they draw noise that takes infinitely many values; none that end with Outside."""

    def drawn() -> list[bool]:
        every = _runs(lambda run: bound.execute(x, run), [], loops)
        return [bool(run.laws) for run, _ in islice(every, most)]

    with suppress(Outside):
        return _restarted(drawn, loops)
    return []


def _restarted(ask: Callable[[], T], loops: Loops) -> T:
    """Return what is asked, each time with one loop more that is not gone through, until no other goes on for long."""
    while True:
        try:
            return ask()
        except Met:
            continue
        except Endless as endless:
            if endless.key not in loops.refused:
                loops.followed.add(endless.key)


def _runs(execute: Callable[[_Run], Any], past: list[Any], loops: Loops) -> Iterator[tuple[_Run, Any]]:
    """Yield the runs that begin with a past, with what they return or how the round that they follow ends."""
    begun, number = len(past), 0
    while True:
        loops.watch()
        run = _Run(past, loops, execute)
        try:
            output = run.whole(execute)
            if run.hidden:
                run.show(picture({"": output}).numbers)
            yield run, output
        except End as end:
            yield run, end
        except Known:
            pass
        except Rejected:
            loops.rejected = True
        except ProgramError as error:
            if may_occur(run.laws, run.rows):
                raise Outside("is on a run that fails") from error
        number += 1
        if number > _MOST_PATHS:
            rounds = {key: count for (key, _), (count, _) in run.rounds.items() if key not in loops.refused}
            if max(rounds.values(), default=0) > 1:
                raise Endless(max(rounds, key=lambda key: rounds[key]))
            raise next(iter(loops.refused.values()), Outside("decides between too many ways"))
        del past[run.at :]
        while len(past) > begun and past[-1][0] + 1 == past[-1][1]:
            past.pop()
        loops.meetings.close(len(past))
        if len(past) == begun:
            return
        past[-1][0] += 1
