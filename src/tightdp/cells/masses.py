"""Laws on the integers in closed form: on each piece a sum of polynomials times powers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import comb
from typing import NamedTuple

from flint import fmpq

from tightdp.cells.draws import by_pieces
from tightdp.cells.noise import Outside
from tightdp.cells.patterns import Counted, Pattern
from tightdp.cells.sums import Bases, add, exact_number, rational_number
from tightdp.cells.suprema import TooLong, supremum, upper_end
from tightdp.exact.field import Number
from tightdp.language.laws import Exponentials, TwoSided

_FEW_POINTS = 64
"""So many integers between two ends are told apart one by one."""
_MOST_POINTS = 10_000


class Part(NamedTuple):
    """coefficient·z^degree·base^z from `low` to `high`, 0 elsewhere; an end that is None is missing."""

    low: int | None
    high: int | None
    base: Number
    degree: int
    coefficient: Number


_Terms = tuple[tuple[Number, int, Number], ...]
"""Bases with degrees and coefficients."""
_Piece = tuple[int | None, int | None, _Terms]


@dataclass(frozen=True)
class Masses:
    """A law on the integers by pieces that are apart, in order; the mass of z is that of z - centre here."""

    pieces: tuple[_Piece, ...]
    centre: int = 0

    @staticmethod
    def of(parts: Iterable[Part]) -> Masses:
        """Return a sum of parts."""
        every = list(parts)
        starts = {each.low for each in every} | {each.high + 1 for each in every if each.high is not None}
        edges: list[int | None] = [None, *sorted(start for start in starts if start is not None)]
        found: list[_Piece] = []
        for low, after in zip(edges, [*edges[1:], None], strict=True):
            high = None if after is None else after - 1
            terms: dict[tuple[Number, int], Number] = {}
            for each in every:
                if _reaches(each, low, high):
                    key = each.base, each.degree
                    terms[key] = terms.get(key, Fraction(0)) + each.coefficient
            left = tuple(sorted(((*key, c) for key, c in terms.items() if c), key=repr))
            if left and low is not None and high is not None and high - low < _FEW_POINTS:
                points = ((z, _at(left, z)) for z in range(low, high + 1))
                found += [(z, z, ((Fraction(1), 0, mass),)) for z, mass in points if mass]
            elif left:
                # at its ends a sum of powers may be 0, as that of (z - 1)·2^-z is at 1
                while low is not None and not _at(left, low):
                    low += 1
                while high is not None and not _at(left, high):
                    high -= 1
                found.append((low, high, left))
        return Masses(tuple(_joined(found)))

    @staticmethod
    def of_noise(law: TwoSided | Exponentials | Masses) -> Masses:
        """Return the masses of noise on the integers around 0."""
        if isinstance(law, Masses):
            return law
        each = by_pieces(law)
        return Masses.of(
            Part(
                None if low is None else math.ceil(low),
                None if high is None else math.floor(high),
                base,
                0,
                each.weight,
            )
            for low, high, base in each.pieces
        )

    def parts(self, times: Number = Fraction(1), sign: int = 1, moved: int = 0) -> Iterator[Part]:
        """Yield the parts of `times` the law of sign·z + moved."""
        for low, high, terms in self.pieces:
            ends = (low, high) if sign > 0 else (high, low)
            first, last = (None if end is None else sign * end + moved for end in ends)
            for base, degree, c in terms:
                # z = sign·(w - moved), so that base^z is a power of base^sign
                turned = base if sign > 0 else 1 / base
                scale = times * c * (turned**-moved)
                for j in range(degree + 1):
                    share = comb(degree, j) * Fraction(-moved) ** (degree - j) * sign**degree
                    if share:
                        yield Part(first, last, turned, j, scale * share)

    def times(self, factor: Number) -> Masses:
        """Return a multiple."""
        return Masses(
            tuple((low, high, tuple((b, k, c * factor) for b, k, c in terms)) for low, high, terms in self.pieces)
        )

    def mass(self, z: int) -> Number:
        """The probability of z."""
        z -= self.centre
        return next((_at(piece[2], z) for piece in self.pieces if _has(piece, z)), Fraction(0))

    @property
    def ends(self) -> tuple[int | float, int | float]:
        """Between what z - centre lies."""
        low, high = self.pieces[0][0], self.pieces[-1][1]
        return -math.inf if low is None else low, math.inf if high is None else high

    @cached_property
    def whole(self) -> bool:
        """Whether all integers between the ends are known to have positive masses."""
        touching = all(one[1] is not None and one[1] + 1 == other[0] for one, other in pairwise(self.pieces))
        return touching and all(map(_is_positive, self.pieces))

    def total(self) -> Number:
        """Return the sum of all masses. Raises Outside where it is infinite, or of too many."""
        return sum((_sum(low, high, *term) for low, high, terms in self.pieces for term in terms), Fraction(0))

    def plain(self) -> TwoSided | Exponentials | Masses:
        """Return the law as that of a primitive, where it is one."""
        if any(len(terms) > 1 or terms[0][1] for _, _, terms in self.pieces):
            return self
        if len(self.pieces) == 1:
            ((low, high, ((base, _, c),)),) = self.pieces
            start = low if low is not None else high
            if start is None or (low is not None and high is not None):
                return self
            ends = (Fraction(0), None) if high is None else (None, Fraction(0))
            return Exponentials(start, c * base**start, ((*ends, base),), real=False)
        (first, last) = (self.pieces[0], self.pieces[-1])
        if len(self.pieces) == 2 and first[0] is None and last[1] is None and first[1] is not None:
            (rising, _, _), (falling, _, _) = first[2][0], last[2][0]
            if rising * falling == 1:
                for centre in (first[1], first[1] + 1):
                    law = TwoSided(0, falling)
                    if all(self.mass(centre + at) == law.mass(at) for at in (-1, 0, 1, 2, -2)):
                        return TwoSided(centre, falling)
        return self

    def largest(self, d: int) -> Number:
        """Return the largest ratio of the masses of z + d and z, where both are between the ends; 1 for no such z."""
        return _largest(self.pieces, d)


def mixed(parts: Sequence[Part]) -> TwoSided | Exponentials | Masses:
    """Return the law with these parts, as a primitive has it if one does."""
    return Masses.of(parts).plain()


def _reaches(part: Part, low: int | None, high: int | None) -> bool:
    """Whether a part covers what lies between two edges, of which its ends are some."""
    below = part.low is None or (low is not None and part.low <= low)
    return below and (part.high is None or (high is not None and high <= part.high))


def _at(terms: _Terms, z: int) -> Number:
    return sum((c * z**degree * base**z for base, degree, c in terms), Fraction(0))


def _joined(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Return pieces in which those that reach far have all integers next to them that are as they say."""
    found = list(pieces)
    for at in sorted(range(len(found)), key=lambda at: (found[at][0] is not None, found[at][1] is not None)):
        low, high, terms = found[at]
        if not terms or (low == high and low is not None):
            continue
        for step in (1, -1):
            beside = at + step
            while 0 <= beside < len(found):
                start, stop, other = found[beside]
                edge = high if step > 0 else low
                touches = edge is not None and edge + step == (start if step > 0 else stop)
                same = other == terms or (
                    start == stop and start is not None and _at(other, start) == _at(terms, start)
                )
                if not touches or not same:
                    break
                high, low = (stop, low) if step > 0 else (high, start)
                found[beside] = (None, None, ())
                beside += step
        found[at] = low, high, terms
    return [each for each in found if each[2]]


def _sum(low: int | None, high: int | None, base: Number, degree: int, c: Number) -> Number:
    if low is not None and high is not None:
        if high - low > _MOST_POINTS:
            raise Outside("has a law with too many masses")
        return sum((_at(((base, degree, c),), z) for z in range(low, high + 1)), Fraction(0))
    start, step = (high, -1) if low is None else (low, 1)
    ratio = base if step > 0 else 1 / base
    if start is None or not ratio < 1:
        raise Outside("has a law that is no sum of falling powers")
    # Newton's forward differences: a polynomial at k is Σ Δ^j·C(k, j), and Σ C(k, j)·r^k = r^j / (1 - r)^(j + 1)
    values, total = [Fraction((start + step * k) ** degree) for k in range(degree + 1)], Fraction(0) * c
    for j in range(degree + 1):
        total = total + values[0] * ratio**j / (1 - ratio) ** (j + 1)
        values = [after - before for before, after in pairwise(values)]
    return c * base**start * total


@lru_cache(4096)
def _largest(pieces: tuple[_Piece, ...], d: int) -> Number:
    law = Masses(pieces)
    low, high = law.ends
    first, last = max(low, low - d), min(high, high - d)
    starts = [start for start, _, _ in pieces if start is not None]
    cuts = sorted({cut for start in starts for cut in (start, start - d) if first < cut <= last})
    best: Number | None = None
    lows: list[int | float] = [first, *cuts]
    for start, stop in zip(lows, [*(cut - 1 for cut in cuts), last], strict=True):
        if start > stop:
            continue
        found = _largest_between(law, start, stop, d)
        best = found if best is None or found > best else best
    return Fraction(1) if best is None else best


def _largest_between(law: Masses, start: float, stop: float, d: int) -> Number:
    """Return the largest ratio between two ends, between which both masses are of one piece each."""
    if math.isfinite(start) and math.isfinite(stop):
        if stop - start > _MOST_POINTS:
            raise Outside("has a law with too many masses")
        return max(law.mass(z + d) / law.mass(z) for z in range(int(start), int(stop) + 1))
    at, step = (int(start), 1) if math.isfinite(start) else (int(stop), -1)
    far = at + step * (abs(d) + 1)
    of = {shift: next(each[2] for each in law.pieces if _has(each, far + shift)) for shift in (0, d)}
    numbers = [number for terms in of.values() for base, _, c in terms for number in (base, c)]
    one = fmpq(1) if all(isinstance(number, Fraction) for number in numbers) else Fraction(1)
    bases = Bases(one)
    p, q = (_counted(of[shift], at + shift, step, bases, one) for shift in (d, 0))
    pattern = Pattern((0,), ((1,),))
    try:
        found = supremum(p, q, pattern, 0 * one, _unwatched)
        return Fraction(0) if found is None else rational_number(found.value)
    except TooLong as error:
        least = error.best.value if error.best is not None else one
        upper = upper_end(p, q, pattern, least, _unwatched)
        if upper == math.inf:
            raise Outside("has a law whose ratios are not bounded in sight") from None
        return rational_number(upper)


def _is_positive(piece: _Piece) -> bool:
    """Whether all masses of a piece are seen to be positive: beyond some place one of its terms is above all others."""
    low, high, terms = piece
    if low is not None and high is not None:
        last = high
    elif low is None:
        turned = Masses((piece,)).parts(sign=-1)
        return high is not None and _is_positive((-high, None, tuple((b, k, c) for _, _, b, k, c in turned)))
    else:
        (base, degree, c), *others = sorted(terms, key=lambda term: (_size(term[0]), term[0], term[1]), reverse=True)
        rates = [(_size(b) / base, k - degree, _size(d) / c) for b, k, d in others] if base > 0 and c > 0 else None
        if rates is None or any(r == 1 and e >= 0 for r, e, _ in rates):
            return False
        last = max(low, 1)
        # what each of the others is of the first no longer grows from here on
        while last - low < _MOST_POINTS and (
            any(r * Fraction(last + 1, last) ** e > 1 for r, e, _ in rates)
            or sum((d * r**last * Fraction(last) ** e for r, e, d in rates), Fraction(0)) >= 1
        ):
            last += 1
    return last - low < _MOST_POINTS and all(_at(terms, z) > 0 for z in range(low, last + 1))


def _size(number: Number) -> Number:
    return number if number > 0 else -number


def _unwatched() -> None:
    """Nobody waits for so short a search."""


def _has(piece: _Piece, z: int) -> bool:
    low, high, _ = piece
    return (low is None or low <= z) and (high is None or z <= high)


def _counted(terms: _Terms, at: int, step: int, bases: Bases, one: object) -> Counted:
    """Return a piece as a function of the count k of steps from a place on."""
    found: Counted = {}
    for base, degree, c in terms:
        ratio = bases.of(exact_number(one, base if step > 0 else 1 / base))
        for j in range(degree + 1):
            share = comb(degree, j) * at ** (degree - j) * step**j
            if share:
                add(found, ((ratio, j),), exact_number(one, c * base**at * share))
    return found


__all__ = ["Masses", "Part", "mixed"]
