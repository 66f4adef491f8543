"""The numbers in which weighted models are counted, behind one type.

A count holds, for one node of a diagram, the weight that reaches it, split by the output bits decided on the way (its
*prefix*). `ScaledIntegers` keeps integers over one denominator per node, which beats fractions by far; `Rationals`
does the same with `Fraction` and serves as the independent check.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol, TypeVar

from tightdp.exact.field import Number
from tightdp.exact.whole import ExpInteger, Whole, gcd, lcm
from tightdp.logic.formula import Coin

__all__ = ["RATIONALS", "SCALED_INTEGERS", "Arithmetic", "Rationals", "ScaledIntegers"]

C = TypeVar("C")


class Arithmetic(Protocol[C]):
    """What a count can do."""

    def one(self) -> C:
        """Return the weight 1 with the empty prefix."""

    def split(self, count: C, coin: Coin) -> tuple[C, C]:
        """Return the parts that go where the coin is false and where it is true."""

    def append(self, count: C, bit: int) -> C:
        """Return the count with an output bit appended to every prefix."""

    def merge(self, left: C, right: C) -> C:
        """Return the sum of two counts."""

    def weights(self, count: C) -> tuple[dict[int, Whole], Whole]:
        """Return integer weights by prefix and their common denominator."""


Scaled = tuple[dict[int, Whole], Whole]


class ScaledIntegers:
    """Integers over one common denominator per node, never reduced."""

    def one(self) -> Scaled:
        return {0: 1}, 1

    def split(self, count: Scaled, coin: Coin) -> tuple[Scaled, Scaled]:
        weights, denominator = count
        below = coin.denominator
        if isinstance(below, ExpInteger) and (shared := gcd(below, *weights.values())) != 1:
            # A draw is decided by coins in turn: what divides here is what the coin before it multiplied by.
            weights = {prefix: weight // shared for prefix, weight in weights.items()}
            below //= shared
        denominator *= below
        high, low = coin.numerator, coin.denominator - coin.numerator
        under = weights if low == 1 else {prefix: weight * low for prefix, weight in weights.items()}
        above = weights if high == 1 else {prefix: weight * high for prefix, weight in weights.items()}
        return (under, denominator), (above, denominator)

    def append(self, count: Scaled, bit: int) -> Scaled:
        weights, denominator = count
        return {prefix << 1 | bit: weight for prefix, weight in weights.items()}, denominator

    def merge(self, left: Scaled, right: Scaled) -> Scaled:
        (ours, ours_below), (theirs, theirs_below) = left, right
        if ours_below != theirs_below:
            common = lcm(ours_below, theirs_below)
            ours = {prefix: weight * (common // ours_below) for prefix, weight in ours.items()}
            theirs = {prefix: weight * (common // theirs_below) for prefix, weight in theirs.items()}
            ours_below = common
        if len(ours) < len(theirs):
            ours, theirs = theirs, ours
        if ours.keys().isdisjoint(theirs):
            return ours | theirs, ours_below
        merged = dict(ours)
        for prefix, weight in theirs.items():
            merged[prefix] = merged.get(prefix, 0) + weight
        return merged, ours_below

    def weights(self, count: Scaled) -> tuple[dict[int, Whole], Whole]:
        return count


Exact = dict[int, Number]


class Rationals:
    """One fraction per prefix."""

    def one(self) -> Exact:
        return {0: Fraction(1)}

    def split(self, count: Exact, coin: Coin) -> tuple[Exact, Exact]:
        p = coin.probability
        return (
            {prefix: weight * (1 - p) for prefix, weight in count.items()},
            {prefix: weight * p for prefix, weight in count.items()},
        )

    def append(self, count: Exact, bit: int) -> Exact:
        return {prefix << 1 | bit: weight for prefix, weight in count.items()}

    def merge(self, left: Exact, right: Exact) -> Exact:
        return {prefix: left.get(prefix, Fraction(0)) + right.get(prefix, Fraction(0)) for prefix in {**left, **right}}

    def weights(self, count: Exact) -> tuple[dict[int, Whole], Whole]:
        common = lcm(*(weight.denominator for weight in count.values()))
        return {prefix: weight.numerator * (common // weight.denominator) for prefix, weight in count.items()}, common


SCALED_INTEGERS = ScaledIntegers()
RATIONALS = Rationals()
