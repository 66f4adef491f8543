"""δ at an ε and ε at a δ of pairs of datasets, exact or enclosed by so much work in all, and lines below the curve."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import ModuleType
from typing import Any, TypeAlias

from flint import arb, ctx, fmpq

from tightdp.cells.comparing import Comparing
from tightdp.cells.excess import MOST_WORK, Excess
from tightdp.cells.kinds import Kind, On, Reals
from tightdp.cells.laws import CellLaws
from tightdp.cells.sums import Exact, added, near, plus
from tightdp.cells.suprema import TooLong
from tightdp.exact.enclosure import BITS, as_fmpq, as_fraction, ends, round_down, round_up
from tightdp.exact.field import Number
from tightdp.language.program import Dataset

_MOST_STEPS = 40
_CLOSEST = Fraction(1, 1 << 40)
"""An e^ε at a δ is enclosed up to such a part of it, where it is not exact."""
_CLOSER = tuple(2.0**-each for each in (8, 11, 14, 18, 24, 34))
"""How closely a δ is looked at, one after the other."""
_HIGHER = (1, 4, 16, 64)
"""How many steps further up an upper end is looked for, one after the other."""
_OF_A_CURVE = 2.0**-20
"""How closely it is asked for at the places of a curve."""

Beside: TypeAlias = frozenset[tuple[int, int]]
"""Pairs of laws on one kind of output, by their numbers, and how often each is there."""
_OfKind: TypeAlias = tuple[frozenset[tuple[tuple[int, int], int]], frozenset[tuple[tuple[int, int, On], fmpq]]]
"""Pairs of functions, by their numbers: how often each is there, and the volumes of regions."""
Pair = tuple[Dataset, Dataset]
Found = tuple[Number | float, Number | float, Pair | None]
"""Both ends of a value, equal ones where it is exact, and a pair that has the lower one."""


@dataclass(frozen=True)
class Tangent:
    """A line below δ as a function of t = e^ε: δ at t is from `delta` to `upper`, and how fast it falls there."""

    t: Fraction
    delta: Fraction
    upper: Fraction
    least_fall: Fraction
    most_fall: Fraction
    pair: Pair

    def after(self, t: Fraction) -> Fraction:
        """Return a number that δ is at least at a larger t."""
        return self.delta - self.most_fall * (t - self.t)


class Besides:
    """Pairs of datasets by the functions that they have beside each other, and what one exceeds another by."""

    def __init__(self, comparing: Comparing) -> None:
        self._comparing = comparing
        self._sums: dict[Any, tuple[Exact, Exact]] = {}
        self._totals: dict[tuple[int, Exact, bool], tuple[Exact, Exact]] = {}
        self._named: dict[tuple[Kind, Dataset, Dataset], int] = {}
        self._numbered: dict[_OfKind, int] = {}
        self._by_number: list[_OfKind] = []
        self._places: dict[tuple[int, int], tuple[ModuleType, Any]] = {}

    def beside(self, x: Dataset, x_prime: Dataset) -> Beside:
        """Return two laws beside each other, equal for pairs of datasets that have the same integrals."""
        x, x_prime = map(self._comparing.laws.content, (x, x_prime))
        found: dict[int, int] = {}
        for kind in self._comparing.together:
            key = kind, kind.like(x), kind.like(x_prime)
            if key not in self._named:
                self._named[key] = self._number(self._of_kind(*key))
            number = self._named[key]
            found[number] = found.get(number, 0) + 1
        return frozenset(found.items())

    def _number(self, compared: _OfKind) -> int:
        number = self._numbered.setdefault(compared, len(self._by_number))
        if number == len(self._by_number):
            self._by_number.append(compared)
        return number

    def _of_kind(self, kind: Kind, x: Dataset, x_prime: Dataset) -> _OfKind:
        (part,) = kind.parts
        if isinstance(part, Reals):  # the work is shared between regions
            return frozenset(), frozenset(part.counted(x, x_prime).items())
        found: dict[tuple[int, int], int] = {}
        for p, q, on in part.compared(x, x_prime):
            found[p, q] = found.get((p, q), 0) + 1
            self._places[p, q] = part.by, on
        return frozenset(found.items()), frozenset()

    def excess(self, beside: Beside, t: Exact, *, unmatched: bool = False) -> Excess:
        """Return P(E|x) - t·P(E|x') and P(E|x') of the event E that P(output|x) > t·P(output|x').

        They are exact, or both are enclosed where densities cross at irrational points; `unmatched` ones are of outputs
        that x' never has, and the same for all t. Raises TooLong.
        """
        every: list[Any] = self._comparing.numbers.functions
        regions: dict[tuple[int, int, On], fmpq] = {}
        others = []
        for number, times in beside:
            functions, cut = self._by_number[number]
            added(regions, {at: volume * times for at, volume in cut if not (unmatched and every[at[1]])})
            if (number, t, unmatched) not in self._totals:
                wanted = [(at, count) for at, count in functions if not (unmatched and every[at[1]])]
                self._totals[number, t, unmatched] = self._total(wanted, t)
            with ctx.workprec(BITS):
                others.append(tuple(times * each for each in self._totals[number, t, unmatched]))
        cases = ((every[p], every[q], (on, volume)) for (p, q, on), volume in sorted(regions.items(), key=_in_order))
        return Excess(cases, t, self._comparing.watch, others)

    def _total(self, functions: Iterable[tuple[tuple[int, int], int]], t: Exact) -> tuple[Exact, Exact]:
        """Return the sums of both integrals over some pairs of functions, so often."""
        every: list[Any] = self._comparing.numbers.functions
        ours, theirs = 0 * t, 0 * t
        for (p, q), times in functions:
            if (p, q, t) not in self._sums:
                by, on = self._places[p, q]
                self._sums[p, q, t] = by.larger(every[p], every[q], t, on, self._comparing.watch)
            with ctx.workprec(BITS):
                more, beyond = (times * each for each in self._sums[p, q, t])
            ours, theirs = plus(ours, more), plus(theirs, beyond)
        return ours, theirs


def _in_order(region: tuple[tuple[int, int, On], fmpq]) -> Any:
    (p, q, on), volume = region
    return isinstance(on, int), p, q, on, volume


class _Delta:
    """δ of two laws at a t: exact, or enclosed more closely with each step."""

    def __init__(self, laws: CellLaws, excess: Excess, t: Exact) -> None:
        self.t, self._laws, self._excess = t, laws, excess
        self.low: Number
        self.high: Number
        self._look()

    def _look(self) -> None:
        excess = self._excess.ours()
        if isinstance(excess, arb):
            self._exact = None
            low, self.high = _ends_of(excess)
            self.low = max(Fraction(0), low)
        else:
            self._exact = excess
            self.low = self.high = self._laws.number(excess)

    def open(self, close: float = 0.0) -> bool:
        """Whether it is worthwhile to look more closely."""
        return self.unsure > max(close, self._excess.close)

    @property
    def unsure(self) -> float:
        """Up to how much it is known, but for what work does not change."""
        return self._excess.unsure

    @property
    def begun(self) -> int:
        """How many numbers were computed to begin with, about."""
        return self._excess.begun

    def closer(self) -> int:
        """Look more closely, and return with how much work."""
        before = self._excess.work
        self._excess.step()
        self._look()
        return self._excess.work - before

    def fall(self) -> tuple[Fraction, Fraction]:
        """Return both ends of how fast it falls, where the event stays the same."""
        with ctx.workprec(BITS):
            return _ends_of(near(self._excess.theirs()))

    def step(self, delta: Number) -> Exact | None:
        """Return a larger t up to which δ is at least `delta`; None where that is hardly larger."""
        exact = self._laws.exact(delta)
        if self._exact is not None:
            theirs = self._excess.theirs()
            return self.t + (self._exact - exact) / theirs if theirs else math.inf
        with ctx.workprec(BITS):
            more = (near(self.low) - near(exact)) / near(self._excess.theirs()).upper()
            if not more.is_finite() or not more.lower() > near(self.t) * as_fmpq(_CLOSEST):
                return None
            return self._laws.exact(round_down(as_fraction((near(self.t) + more).lower().fmpq())))


class Deltas:
    """The largest δ of some pairs of datasets, with so much work in all. All questions raise TooLong."""

    def __init__(self, comparing: Comparing, pairs: Iterable[Pair]) -> None:
        self._comparing, self._given, self._left = comparing, pairs, MOST_WORK
        self._besides = Besides(comparing)

    @cached_property
    def _pairs(self) -> dict[Beside, Pair]:
        found: dict[Beside, Pair] = {}
        for pair in self._given:
            found.setdefault(self._besides.beside(*pair), pair)
        return found

    def delta(self, t: Number) -> Found:
        """Return both ends of δ at t, and a pair."""
        best, upper, pair = self._largest(self._comparing.laws.exact(t))
        return best.low, upper, pair if best.low else None

    def _delta(self, beside: Beside, t: Exact) -> _Delta:
        return _Delta(self._comparing.laws, self._besides.excess(beside, t), t)

    def tangent(self, t: Fraction, share: int) -> Tangent:
        """Return what bounds δ around t, with such a share of the work."""
        self._left = MOST_WORK // share
        best, upper, pair = self._largest(self._comparing.laws.exact(t), _OF_A_CURVE)
        with ctx.workprec(BITS):
            return Tangent(t, _ends_of(near(best.low))[0], _ends_of(near(upper))[1], *best.fall(), pair)

    def _largest(self, t: Exact, close: float = 0.0) -> tuple[_Delta, Number, Pair]:
        """Return the δ with the largest lower end, the largest upper end, and the pair of the former."""
        every = [(self._delta(beside, t), pair) for beside, pair in self._pairs.items()]
        while True:
            best, pair = max(every, key=lambda each: each[0].low)
            upper, _ = max(every, key=lambda each: each[0].high)
            if self._left <= 0 or not upper.open(close) or upper.high <= best.low:
                return best, upper.high, pair
            self._left -= upper.closer()

    def least_ratio(self, delta: Number) -> Found:
        """Return both ends of the least t >= 1 at which δ is at most `delta` > 0, and a pair.

        δ is convex in t: Newton's steps from below end at the very number where it is piecewise linear, unless its
        pieces become shorter and shorter there, and else come close to it.
        """
        for beside, pair in self._pairs.items():
            if self._unmatched(beside, delta):
                return math.inf, math.inf, pair
        upper: Number | float = math.inf
        t, best = self._comparing.laws.one, None
        number, left = self._comparing.laws.number, {key: self._delta(key, t) for key in self._pairs}
        for close in _CLOSER:
            for beside in list(left):
                before = t
                t, at = self._advanced(beside, left.pop(beside), t, delta, close)
                if t != before:
                    best = self._pairs[beside]
                if t == math.inf:
                    return t, t, best
                if at is not None:
                    left[beside] = at
            if not left:
                return number(t), number(t), best
            if self._left <= 0:
                break
            upper = min(upper, self._above(t, left, delta, close))
            if not any(at.open() for at in left.values()):
                break
        if upper == math.inf:
            bounds = [self._comparing.bound(*self._pairs[beside]) for beside in left]
            upper = math.inf if math.inf in bounds else number(max(bounds))
        return number(t), max(upper, number(t)), best

    def _unmatched(self, beside: Beside, delta: Number) -> bool:
        """Whether outputs that one of two laws never has are more than `delta` of the other: no t is enough then."""
        mass = self._besides.excess(beside, self._comparing.laws.one, unmatched=True).ours()
        return (_ends_of(mass)[0] if isinstance(mass, arb) else self._comparing.laws.number(mass)) > delta

    def _advanced(
        self, beside: Beside, at: _Delta, t: Exact, delta: Number, close: float
    ) -> tuple[Exact, _Delta | None]:
        """Go from t on as far as δ of two laws is seen to be more, and return what is known there if it may be more."""
        for _ in range(_MOST_STEPS):
            if at.t != t and self._left <= 0:
                return t, at
            if at.t != t:
                at = self._begun(beside, t)
            while at.high > delta and 4 * (at.low - delta) < at.high - at.low and at.open(close):
                if self._left <= 0:
                    break
                self._left -= at.closer()
            if at.high <= delta:
                return t, None
            step = at.step(delta) if at.low > delta else None
            if step is None:
                return t, at
            if step == math.inf or (at.unsure and not (self._left > 0 and at.open(close))):
                return step, at
            t = step
        return t, self._begun(beside, t)

    def _above(self, t: Exact, left: dict[Beside, _Delta], delta: Number, close: float) -> Number | float:
        """Return a number at which δ of laws is at most `delta`, of which little more is known at t."""
        with ctx.workprec(BITS):
            _, high = _ends_of(near(t))
            steps = [high * _CLOSEST]
            for at in left.values():
                _, most = _ends_of(near(at.high) - near(self._comparing.laws.exact(delta)))
                fall = sum(at.fall())
                steps.append(4 * most / fall if fall > 0 else high / 256)
        for times in _HIGHER:
            place = round_up(high + times * max(steps))
            if all(self._surely_below(beside, place, delta, close) for beside in left):
                return place
        return math.inf

    def _begun(self, beside: Beside, t: Exact) -> _Delta:
        """Return δ of two laws at another t; to begin counts as work."""
        found = self._delta(beside, t)
        self._left -= found.begun
        return found

    def _surely_below(self, beside: Beside, t: Fraction, delta: Number, close: float) -> bool:
        at = self._begun(beside, self._comparing.laws.exact(t))
        while at.low <= delta < at.high and at.open(close) and self._left > 0:
            self._left -= at.closer()
        return bool(at.high <= delta)


def _ends_of(value: arb) -> tuple[Fraction, Fraction]:
    with ctx.workprec(BITS):
        found = ends(value)
    if found is None:
        raise TooLong
    return round_down(found.lower), round_up(found.upper)
