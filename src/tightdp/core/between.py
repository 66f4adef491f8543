"""Draws with infinitely many outcomes that a program asks only about numbers: the cells between these numbers.

Noise on the reals, or on the integers from an end on, has infinitely many outcomes. Where a program asks no more of it
than on which side of finitely many numbers it lies, it is drawn in which of the cells between them, with the exact
probability of each. A `Between` is a number of which a cell is known. What is asked of one has the same answer for all
numbers of the cell, or else names the number at which to cut; then the program is lowered again, with that cut. What no
cut answers, as which of two such numbers is the larger, raises Uncut.

Where all of it is published it may be told by cells, too (`told_apart`): cut where the pieces of all laws end, every
density on a cell is p(z) = A e^(rz) + B e^(-rz), and p(z) sinh(r(h - l)) = p(l) sinh(r(h - z)) + p(h) sinh(r(z - l)).
So z is drawn from one of two laws that no record changes, one for each end, with probabilities in proportion to p
there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from tightdp.core.unmerged import Uncut
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.rationals import as_value
from tightdp.language.laws import Exponentials, Law
from tightdp.limits.calibrated import FEW_VALUES, TABLE_ENTRIES

Operand: TypeAlias = Any
"""What an operation of Python is given, or gives."""
End: TypeAlias = "tuple[int, int | Fraction]"
"""An end of a cell: (0, number), (-1, 0) below all numbers, (1, 0) above them."""
Kind: TypeAlias = object
"""Draws that are cut at the same numbers: those that one place in the source makes."""
Cut: TypeAlias = tuple[Kind, Fraction]
_LEAST: End = (-1, 0)
_MOST: End = (1, 0)
_HALF = Fraction(1, 2)


class Between:
    """times·z + plus, where z is a draw in an open cell; of `whole` draws the ends are halves of odd numbers.

    `wanted` is where numbers are noted at which to cut draws of this `kind`. Order and equality are those of cells, for
    sets of values; what Python answers is in `asked`. Where it is told apart, `side` is the end that its law belongs to
    (0: there is one law), and `rate` the r of these laws.
    """

    __slots__ = ("high", "kind", "low", "plus", "rate", "side", "times", "wanted", "whole")

    def __init__(
        self, low: End, high: End, kind: Kind, wanted: set[Cut], whole: bool, times: Operand = 1, plus: Operand = 0,
        side: int = 0, rate: Operand = None,
    ) -> None:  # fmt: skip
        self.low, self.high, self.whole, self.times, self.plus = low, high, whole, times, plus
        self.kind, self.wanted, self.side, self.rate = kind, wanted, side, rate

    @property
    def ends(self) -> tuple[End, End]:
        """The ends of the cell that the number itself is in."""
        way = 1 if self.times > 0 else -1
        low, high = ((way * side, 0 if side else self.times * z + self.plus) for side, z in (self.low, self.high))
        return (low, high) if way > 0 else (high, low)

    def __repr__(self) -> str:
        (below, low), (above, high), side, rate = self.told
        told = "" if self.rate is None else f", {'high' if side > 0 else 'low' if side else 'one'} end, rate {rate}"
        return f"{'-inf' if below else low}..{'inf' if above else high}{told}"

    # as a value among others

    def __hash__(self) -> int:
        return hash(self.ends)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Between) and (self.told, self.whole) == (other.told, other.whole)

    def __lt__(self, other: Operand) -> bool:
        return self._place < _place_of(other)

    def __le__(self, other: Operand) -> bool:
        return self._place <= _place_of(other)

    def __gt__(self, other: Operand) -> bool:
        return self._place > _place_of(other)

    def __ge__(self, other: Operand) -> bool:
        return self._place >= _place_of(other)

    @property
    def _place(self) -> tuple[Operand, ...]:
        return (*self.ends, 1, self.told[2:])

    @property
    def told(self) -> tuple[Operand, ...]:
        """All that the law of the number depends on: its cell; and where it is told apart which end, and the rate."""
        rate = Fraction(0) if self.rate is None else self.rate / abs(self.times)
        return (*self.ends, self.side if self.times > 0 else -self.side, rate)

    @property
    def shown(self) -> tuple[Operand, ...]:
        """What is published of it: both ends, or None, which of them, and the rate."""
        low, high, side, rate = self.told
        return (*(None if way else as_value(Fraction(end)) for way, end in (low, high)), side, as_value(rate))

    # what is linear

    def __add__(self, other: Operand) -> Operand:
        return self._moved(self.times, self.plus + self._number(other))

    __radd__ = __add__

    def __neg__(self) -> Between:
        return self._moved(-self.times, -self.plus)

    def __pos__(self) -> Between:
        return self

    def __sub__(self, other: Operand) -> Operand:
        return self + -self._number(other)

    def __rsub__(self, other: Operand) -> Operand:
        return -self + other

    def __mul__(self, other: Operand) -> Operand:
        factor = self._number(other)
        return self._moved(self.times * factor, self.plus * factor) if factor else 0

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Operand:
        divisor = Fraction(self._number(other))
        if not divisor:
            raise ZeroDivisionError("division by zero")
        return self * (1 / divisor)

    def _moved(self, times: Operand, plus: Operand) -> Between:
        return Between(self.low, self.high, self.kind, self.wanted, self.whole, times, plus, self.side, self.rate)

    def _number(self, other: Operand) -> Operand:
        if isinstance(other, (int, Fraction)):
            return other
        if isinstance(other, (str, tuple, type(None))):
            raise TypeError(f"a number does not go with {other!r}")
        raise self.uncut()

    # what is asked

    def uncut(self) -> Uncut:
        """Return the error for a use that no cut answers."""
        return uncut(not self.whole)

    def single_out(self) -> None:
        """Note where to cut so that every cell is one integer. Raises Uncut where that is at too many numbers."""
        (below, low), (above, high) = self.low, self.high
        if not self.whole or below or above or high - low > TABLE_ENTRIES:
            raise self.uncut()
        self.wanted |= {(self.kind, Fraction(low) + k) for k in range(1, int(high - low))}

    def below(self, number: Operand, strict: bool = True) -> bool:
        """Whether it is smaller than a number, or at most that. Where that is not known the cut is wanted."""
        at = Fraction(self._number(number) - self.plus) / self.times
        if self.whole:
            up = strict == (self.times > 0)
            at = math.ceil(at) - _HALF if up else math.floor(at) + _HALF
        under = self._under(at)
        return under if self.times > 0 else not under

    def _under(self, at: Fraction) -> bool:
        if self.low < (0, at) < self.high:
            self.wanted.add((self.kind, at))
        return self.high <= (0, at)

    def equals(self, number: Operand) -> bool:
        """Whether it is a number: on the reals that has the probability 0."""
        return self.whole and self.below(number, strict=False) and not self.below(number)

    def __bool__(self) -> bool:
        return not self.equals(0)

    def __abs__(self) -> Between:
        return -self if self.below(0) else self

    def _rounded(self, function: Callable[[Operand], int], edge: Fraction) -> Operand:
        """Return what rounds the number down or up at each k + edge."""
        if self.whole and abs(self.times) == 1 and Fraction(self.plus).denominator == 1:
            return self
        (below, low), (above, high) = self.ends
        if below or above or high - low > FEW_VALUES:
            raise self.uncut()
        first, last = math.floor(low - edge) + 1, math.ceil(high - edge) - 1
        for k in range(first, last + 1):
            self.below(k + edge)
        return function((Fraction(low) + high) / 2)

    def __floor__(self) -> Operand:
        return self._rounded(math.floor, Fraction(0))

    def __ceil__(self) -> Operand:
        return self._rounded(math.ceil, Fraction(0))

    def __trunc__(self) -> Operand:
        return self._rounded(math.trunc, Fraction(0))

    def __round__(self, digits: int | None = None) -> Operand:
        if digits is not None:
            raise self.uncut()
        return self._rounded(round, _HALF)

    def _refused(self, *_: Operand) -> Operand:
        raise self.uncut()

    __pow__ = __rpow__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refused
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = _refused
    __rshift__ = __rrshift__ = __invert__ = __float__ = __format__ = __index__ = __int__ = _refused


def _place_of(value: Operand) -> tuple[Operand, ...]:
    return value._place if isinstance(value, Between) else ((0, value), (0, value), 0)


def uncut(real: bool) -> Uncut:
    """Return the error for noise whose cells do not say what is asked."""
    return Uncut("real noise" if real else "one-sided noise on all integers", enclosed=not real)


def asked(operator: str, left: Operand, right: Operand) -> bool:
    """Return what Python answers to a comparison of two values, of which one is a Between."""
    if not isinstance(left, Between):
        turned = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
        return asked(turned.get(operator, operator), right, left)
    if isinstance(right, Between):
        (ours_low, ours_high), (low, high) = left.ends, right.ends
        if not (ours_high <= low or high <= ours_low):
            raise (right if left.whole else left).uncut()
        below = ours_high <= low
        return {"eq": False, "ne": True, "lt": below, "le": below, "gt": not below, "ge": not below}[operator]
    if operator in ("eq", "ne"):
        return (isinstance(right, (int, Fraction, ExpNumber)) and left.equals(right)) == (operator == "eq")
    if operator in ("lt", "le"):
        return left.below(right, operator == "lt")
    return not left.below(right, operator == "ge")


def align(sets: Sequence[Sequence[Operand]]) -> None:
    """Note where to cut so that the largest of numbers, one of each set, is in the cell that is the last of theirs."""
    edges = [dict.fromkeys(edge for value in values for edge in _edges(value)) for values in sets]
    for at, cell in dict.fromkeys(
        (at, value) for at, values in enumerate(sets) for value in values if isinstance(value, Between)
    ):
        for edge in dict.fromkeys(edge for other, found in enumerate(edges) if other != at for edge in found):
            cell.below(edge)
            if cell.whole:
                cell.below(edge, strict=False)


def _edges(value: Operand) -> list[Operand]:
    return [end for side, end in value.ends if not side] if isinstance(value, Between) else [value]


def cells_of(law: Exponentials, cuts: Sequence[Fraction], kind: Kind, wanted: set[Cut]) -> Law:
    """Return a law as one of the cells between its ends and some numbers; a cell with one integer is that integer."""
    spans = [_span(law, low, high) for low, high, _ in law.pieces]
    low, high = min(start for start, _ in spans), max(end for _, end in spans)
    here = [(0, cut) for cut in cuts if law.real or cut.denominator == 2]
    edges: list[End] = [low, *(end for end in here if low < end < high), high]
    found: list[tuple[Operand, Number]] = []
    for below, above in pairwise(edges):
        mass = sum((_mass(law, piece, below, above) for piece in law.pieces), Fraction(0))
        single = not law.real and not below[0] and not above[0] and above[1] - below[1] == 1
        found.append((int(below[1] + _HALF) if single else Between(below, above, kind, wanted, not law.real), mass))
    return tuple(found)


def told_apart(law: Exponentials, cuts: Sequence[Fraction], kind: Kind, wanted: set[Cut]) -> Law:
    """Return a law on the reals as one of the ends of cells, which are cut where its pieces end, too."""
    found: list[tuple[Operand, Number]] = []
    cells: Sequence[tuple[Operand, Number]] = cells_of(law, cuts, kind, wanted)
    for cell, mass in cells:
        (below, low), (above, high) = cell.low, cell.high
        spans = ((_span(law, first, last), base) for first, last, base in law.pieces)
        base = next(base for (first, last), base in spans if first <= cell.low < last)
        rate = Fraction(0) if base == 1 else base.logarithm if isinstance(base, ExpNumber) else None
        if not isinstance(rate, Fraction):
            raise cell.uncut()
        sides: dict[int, Number] = {0: mass}
        if rate and not below and not above:  # p is in proportion to 1 at low, and to this power at high
            power = base ** (high - low)
            sides = {-1: mass / (1 + power), 1: mass * power / (1 + power)}
        for side, part in sides.items():
            found.append((Between(cell.low, cell.high, kind, wanted, False, side=side, rate=abs(rate)), part))
    return tuple(found)


def _span(law: Exponentials, low: Fraction | None, high: Fraction | None) -> tuple[End, End]:
    """Return the ends of a piece; around integers halves stay free."""
    half = Fraction(0) if law.real else _HALF
    return (
        _LEAST if low is None else (0, law.centre + low - half),
        _MOST if high is None else (0, law.centre + high + half),
    )


def _mass(law: Exponentials, piece: tuple[Operand, Operand, Number], below: End, above: End) -> Number:
    """Return the probability of what lies in a cell and on a piece."""
    low, high, base = piece
    first, last = _span(law, low, high)
    start, end = max(below, first), min(above, last)
    if start >= end:
        return Fraction(0)
    half = Fraction(0) if law.real else _HALF
    places = [None if side else Fraction(number - law.centre + half) for side, number in (start, end)]
    if base == 1:
        assert places[0] is not None
        assert places[1] is not None
        return law.weight * (places[1] - places[0])
    powers: list[Operand] = [Fraction(0) if place is None else base**place for place in places]
    rate = base.logarithm if law.real and isinstance(base, ExpNumber) else base - 1
    assert rate is not None
    mass: Number = law.weight * (powers[1] - powers[0]) / rate
    return mass
