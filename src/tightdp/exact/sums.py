"""Certified sums: binomial tails around one index, and integrals of monotone functions.

Everything an audit of a single (ε, δ) needs of Bin(r, q), q = t / (t + k - 1), t = e^ε, is the law divided by
its probability b_v at the observed count: R = P(Bin >= v) / b_v and L = P(Bin < v) / b_v. Both are sums of
products of ratios of consecutive terms, so neither factorials nor logarithms are needed, and P(Bin >= v) = R / (R +
L). Integrals are sums over cells, split where most is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise

from flint import arb

from tightdp.exact.enclosure import BITS, Enclosure, ends

_LARGEST_EXACT = 60_000
"""Bits of the common denominator up to which a law is written out exactly."""


@dataclass(frozen=True)
class Sides:
    """What lies on either side of the observed count v, in units of P(Bin = v).

    `right` is R, `left` is L, and `best_average` is max over 1 <= i <= v of P(v-i <= Bin <= v-1) / (i b_v).
    """

    right: Enclosure
    left: Enclosure
    best_average: Enclosure

    @property
    def tail(self) -> Enclosure:
        """P(Bin >= v)."""
        low, high = self.right.lower, self.right.upper
        return Enclosure(low / (low + self.left.upper), high / (high + self.left.lower))


def sides(guesses: int, correct: int, t: Enclosure, options: int = 2) -> Sides:
    """Enclose R, L and the best average for Bin(guesses, t / (t + options - 1)) and 1 <= correct <= guesses.

    R grows with t and L shrinks, so an enclosure of t gives enclosures of both.
    """
    odds_low, odds_high = t.lower / (options - 1), t.upper / (options - 1)
    left_low, average_low = _left(guesses, correct, odds_high, 0)
    left_high, average_high = _left(guesses, correct, odds_low, 1)
    right = Enclosure(_right(guesses, correct, odds_low, 0), _right(guesses, correct, odds_high, 1))
    return Sides(right, Enclosure(left_low, left_high), Enclosure(average_low, average_high))


def exact_law(guesses: int, t: Fraction, options: int = 2) -> tuple[tuple[int, ...], int] | None:
    """Return integer weights of Bin(guesses, t / (t + options - 1)) and their sum; None when they are too
    long.
    """
    right, wrong = t.numerator, t.denominator * (options - 1)
    if guesses * (right + wrong).bit_length() > _LARGEST_EXACT:
        return None
    return binomial_weights(guesses, right, wrong), (right + wrong) ** guesses


def binomial_weights(trials: int, right: int, wrong: int) -> tuple[int, ...]:
    """Return integers in proportion to the law of how many trials succeed, each with the odds right : wrong.

    They add up to (right + wrong)^trials.
    """
    weights = []
    weight = wrong**trials
    for i in range(trials + 1):
        weights.append(weight)
        weight = weight * (trials - i) * right // ((i + 1) * wrong)
    return tuple(weights)


def _right(guesses: int, correct: int, odds: Fraction, upward: int) -> Fraction:
    """Sum b_i / b_v over i >= v, rounded down (`upward` 0) or up (1)."""
    up, down = odds.numerator, odds.denominator
    return 1 + _added((((guesses - i) * up, (i + 1) * down) for i in range(correct, guesses)), upward)[0]


def _left(guesses: int, correct: int, odds: Fraction, upward: int) -> tuple[Fraction, Fraction]:
    """Sum b_i / b_v over i < v, and the largest average of its first terms, rounded down (0) or up (1)."""
    up, down = odds.numerator, odds.denominator
    return _added(((i * down, (guesses - i + 1) * up) for i in range(correct, 0, -1)), upward)


def _added(ratios: Iterable[tuple[int, int]], upward: int) -> tuple[Fraction, Fraction]:
    """Add up terms, each of which has a ratio (factor, divisor) to the one before it, the first to 1.

    Ratios fall. Return the sum, and the largest average of its first terms.
    """
    term, total = 1 << BITS, 0
    best, best_count = 0, 1
    for count, (factor, divisor) in enumerate(ratios, start=1):
        term = -(-term * factor // divisor) if upward else term * factor // divisor
        total += term
        if total * best_count > best * count:
            best, best_count = total, count
        # The terms rise to the mode and fall after it; small ones after it no longer raise the average. From a ratio
        # <= 1/2 on, the rest is at most the last term.
        if term <= 1 and 2 * factor <= divisor:
            total += term * upward
            break
    # Terms left out are at most one unit each: an average that includes them is at most one unit more.
    average = Fraction(best, best_count << BITS) + Fraction(upward, 1 << BITS)
    return Fraction(total, 1 << BITS), average


_MOST_CELLS = 8000

Point = tuple[arb, arb, arb]
"""The weight of a point of an integral, and the value just after and at it."""

Cell = tuple[float, Fraction, Fraction]
"""A part of an integral: by how much it is open (as a float, which only steers; negative), and its two ends."""


def enclosed_integral(at: Callable[[Fraction], Point], points: list[Fraction], width: Fraction) -> Enclosure:
    """Enclose the sum of |change of weight| times a monotone value over cells, split where most is open.

    `at` gives the points.
    """
    known = {point: at(point) for point in points}
    cells = [_cell(known, *ends_) for ends_ in pairwise(points)]
    heapify(cells)
    open_ = -sum(cell[0] for cell in cells)
    while open_ > float(width) and len(cells) < _MOST_CELLS:
        loss, low, high = heappop(cells)
        middle = (low + high) / 2
        known[middle] = at(middle)
        open_ += loss
        for half in (_cell(known, low, middle), _cell(known, middle, high)):
            open_ -= half[0]
            heappush(cells, half)
    total = arb(0)
    for _, low, high in cells:
        (first, after, _), (second, _, reached) = known[low], known[high]
        total += abs(second - first) * after.union(reached)
    found = ends(total)
    assert found is not None
    return found


def _cell(known: dict[Fraction, Point], low: Fraction, high: Fraction) -> Cell:
    (first, after, _), (second, _, reached) = known[low], known[high]
    return -float(abs(second - first).mid() * abs(after - reached).mid()), low, high
