"""Intervals of an unknown on which every comparison that was made comes out the same.

A computation with an unknown runs as it does with numbers. Its comparisons are decided at one sample, and the cell
around the sample shrinks to where all of them are decided like that. What was computed holds on the whole cell; then
the next cell is taken, until a range is covered. The ends of cells are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from flint import fmpz_mpoly

from tightdp.errors import LimitError
from tightdp.exact.field import ExpNumber, exp, ratio
from tightdp.exact.lines import Line, line_of
from tightdp.exact.polynomials import LOG, UNKNOWN, InsideAndOutside, Key, Unknown, at_place, key
from tightdp.exact.roots import Point, between, covering, roots
from tightdp.exact.whole import polynomials

_MOST_CELLS = 2_000

R = TypeVar("R")


class InExponents(BaseException):
    """The unknown stands in an exponent: it has to be computed with e^(unknown/denominator) instead."""

    def __init__(self, denominator: int) -> None:
        super().__init__(f"an exponent with the denominator {denominator}")
        self.denominator = denominator


@dataclass(frozen=True, eq=False)
class Signs:
    """Polynomials with their signs on a cell. A computation that asked for these alone holds wherever they are kept."""

    known: tuple[tuple[Line, int], ...]

    def kept_at(self, point: Point) -> bool:
        """Whether all of them have the same sign at a point."""
        return all(point.sign_of(line) == sign for line, sign in self.known)


class Cell:
    """An open interval of the values of X around a sample.

    `unknown` says what X stands for.
    """

    def __init__(self, low: Point, high: Point | None, sample: Fraction, unknown: Unknown) -> None:
        self.low, self.high, self.sample, self.unknown = low, high, sample, unknown
        self._signs: dict[tuple[Key, int], tuple[Line, int]] = {}

    def sign(self, polynomial: fmpz_mpoly, root: int) -> int:
        """Return the sign of a polynomial on the cell, which shrinks to where it is constant."""
        name = key(polynomial), root
        if name not in self._signs:
            plain, root = _without_logarithm(polynomial, root, self.unknown)
            found = line_of(plain, root)
            self._signs[name] = found, self._shrunk(found)
        return self._signs[name][1]

    @property
    def signs(self) -> Signs:
        """All signs that were asked for so far."""
        return Signs(tuple(self._signs.values()))

    def power(self, denominator: int) -> int:
        """Return d. Raises InExponents where X does not stand for e^(unknown/d) with a multiple of `denominator`."""
        return _power(self.unknown, denominator)

    @property
    def reach(self) -> tuple[Fraction, Fraction | None]:
        """Rationals around the cell, close to it."""
        return self.low.low, None if self.high is None else self.high.high

    def _shrunk(self, found: Line) -> int:
        low, high = self.reach
        for point in roots(found, low, high):
            if point.compare(self.sample) <= 0:
                self.low = point if point.compare(self.low) > 0 else self.low
            elif self.high is None or point.compare(self.high) < 0:
                self.high = point
        return found.sign_after(self.sample)


@dataclass
class Single:
    """One value of X, without a closed form perhaps, at which all signs are decided."""

    point: Point
    unknown: Unknown

    @property
    def sample(self) -> Fraction:
        """A rational near it."""
        return self.point.near(20)[0]

    def sign(self, polynomial: fmpz_mpoly, root: int) -> int:
        """Return the sign of a polynomial at the point."""
        return self.point.sign_of(line_of(*_without_logarithm(polynomial, root, self.unknown)))

    def power(self, denominator: int) -> int:
        """Return d; see `Cell.power`."""
        return _power(self.unknown, denominator)


def _power(unknown: Unknown, denominator: int) -> int:
    known = unknown.denominator
    if not known or known % denominator:
        raise InExponents(math.lcm(max(1, known), denominator))
    return known


def _without_logarithm(polynomial: fmpz_mpoly, root: int, unknown: Unknown) -> tuple[fmpz_mpoly, int]:
    """Return a polynomial in X with the sign of one in the unknown, where that is linear."""
    if polynomial.degrees()[2] <= 0:
        return polynomial, root
    slope = polynomial.derivative(2)
    rest = polynomial - slope * LOG
    if not slope.is_constant() or not (rest.is_constant() or not rest):
        raise InsideAndOutside
    factor, shift = int(slope.leading_coefficient()), int(rest.leading_coefficient()) if rest else 0
    # unknown > c exactly where X = e^(unknown/d) > e^(c/d).
    border = exp(Fraction(-shift, factor * unknown.denominator))
    difference = ratio(UNKNOWN, UNKNOWN**0) - border
    assert isinstance(difference, ExpNumber)
    above = polynomials(difference.numerator)[0][0]
    return above if factor > 0 else -above, difference.root


def covered(
    low: Point, high: Point | None, compute: Callable[[Cell], R], unknown: Unknown, reached: Callable[[Point], None]
) -> list[tuple[Cell, R]]:
    """Return what is computed, as a function of the unknown, on cells that cover an open interval; in order.

    Only the ends of cells are left out. `reached` is called, before each cell, with the point up to which all is
    covered. Raises LimitError where the cells are too many.
    """
    found: dict[Cell, R] = {}

    def within(start: Point, stop: Point | None) -> Cell:
        reached(start)
        if len(found) == _MOST_CELLS:
            raise LimitError(
                f"comparisons in the program depend on the unknown in more than {_MOST_CELLS:,} ways",
                "give a smaller range for it, as in lam=?[1/10,1/5]",
            )
        cell = Cell(start, stop, between(start, stop), unknown)
        with at_place(cell):
            found[cell] = compute(cell)
        return cell

    return [(cell, found[cell]) for cell in covering(low, high, within)]
