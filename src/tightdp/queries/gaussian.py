"""Divergences of programs that publish discrete Gaussian noise, from the laws of their core programs.

Such a core program gives integers within a core, and tails that record what is added to the noise (`GaussianTail`). The
output of the mechanism at a coordinate is an integer y anywhere. With offsets c from c_min to c_max, an integer between
c_max - reach and reach + c_min comes from the core alone. For y >= reach + c_min all comparisons of the noise are
decided, so that together with the rest r of the output P(r, y) = Σ_c A(r, c)·g(y - c), where A(r, c) is the probability
of the tail with offset c over that of its noise, and g the law of the noise. The proofs are in docs/unbounded-noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from tightdp.errors import LimitError
from tightdp.exact import theta
from tightdp.exact.enclosure import BITS, Enclosure, ball, ends
from tightdp.exact.field import Number, as_ball
from tightdp.language.outputs import Output
from tightdp.language.tails import GaussianTail
from tightdp.methods.base import Pair

Law = Mapping[Output, Number]
Tails = tuple[GaussianTail, ...]
Path = tuple[int, ...]


@dataclass(frozen=True)
class _Class:
    """Outputs that differ only in the offsets of their tails: the tails' directions, and A(r, c) by offsets c."""

    tails: Tails
    masses: dict[tuple[int, ...], Number]

    @property
    def total(self) -> Number:
        return sum(self.masses.values(), start=Fraction(0))

    def reaching(self, place: int, direction: int) -> int:
        """The offset nearest to far-out values of one of the tails (direction 1), or farthest from them (-1)."""
        offsets = [offset[place] for offset in self.masses]
        return max(offsets) if self.tails[place].direction * direction > 0 else min(offsets)


def laws_of(pair: Pair) -> tuple[Law, Law]:
    """Return the two laws of the core program that a pair compares."""
    return pair.table.law(pair.x), pair.table.law(pair.x_prime)


def pure(pairs: Iterable[Pair], relative: Fraction, lost: Fraction) -> tuple[Number | float, Pair | None]:
    """Return a lower end of the largest likelihood ratio over some pairs, infinite where ratios are unbounded.

    Far out at one tail, with the rest of the output as it is, the ratio tends to that of the A(r, c) with the offset c
    nearest to it, and to infinity where that is nearer on x than on x'.
    """
    best: tuple[Number | float, Pair | None] = Fraction(1), None
    factor = (1 - relative) / (1 + relative)
    for pair in pairs:
        ours, theirs = map(_split, laws_of(pair))
        paths = {path for key in theirs for path in _tail_paths(key)}
        found: list[Number | float] = []
        for key, mine in ours.items():
            other = theirs.get(key)
            if not mine.tails:
                if other is not None:
                    found.append(mine.total * (1 - relative) / (other.total * (1 + relative) + lost))
                elif not any(_at(key, path) for path in paths):
                    return math.inf, pair
            elif len(mine.tails) == 1:
                place, outward = mine.reaching(0, 1), mine.tails[0].direction
                if other is None or place * outward > other.reaching(0, 1) * outward:
                    return math.inf, pair
                if place == other.reaching(0, 1):
                    found.append(mine.masses[place,] / other.masses[place,] * factor)
        largest = max(found, default=Fraction(1))
        if largest > best[0]:
            best = largest, pair
    return best


def clamped(*laws: Law) -> tuple[dict[Output, Number], ...]:
    """Return laws in which published integers that may come from a tail are one output on each side, with the tail.

    The probabilities of the mechanism's outputs, clamped in this way, are these up to a relative error.
    """
    ranges = _ranges([each for law in laws for each in _split(law).items()])
    found = []
    for law in laws:
        merged: dict[Output, Number] = {}
        for output, mass in law.items():
            word = _clamped(output, (), ranges)
            merged[word] = merged.get(word, Fraction(0)) + mass
        found.append(merged)
    return tuple(found)


def _clamped(output: Output, path: Path, ranges: Mapping[Path, tuple[int, int]]) -> Output:
    if isinstance(output, tuple):
        return tuple(_clamped(part, (*path, place), ranges) for place, part in enumerate(output))
    if path not in ranges:
        return output
    first, last = ranges[path]
    if isinstance(output, GaussianTail):
        return f">= {last}" if output.direction > 0 else f"<= {first}"
    if isinstance(output, int) and not isinstance(output, bool) and not first < output < last:
        return f">= {last}" if output >= last else f"<= {first}"
    return output


def power_sum(ours: Law, theirs: Law, order: Fraction, relative: Fraction) -> Enclosure | float:
    """Enclose Σ_y P(y)^a Q(y)^(1-a) for a rational a > 0 other than 1, of laws that are right up to a factor."""
    classes, others = _split(ours), _split(theirs)
    ranges = _ranges([*classes.items(), *others.items()])

    def within(output: object) -> bool:
        """Whether all published integers of an output come from the core alone."""
        found = ((_at(output, path), *ends) for path, ends in ranges.items())
        return all(value is None or first < value < last for value, first, last in found)

    with ctx.workprec(2 * BITS):
        a, low, high = ball(order), arb(0), arb(0)
        for key, mine in classes.items():
            if not within(key):
                continue
            other = others.get(key)
            if other is None:
                if order > 1:
                    return math.inf
                continue
            firsts = [
                ranges[path][1 if tail.direction > 0 else 0]
                for path, tail in zip(_tail_paths(key), mine.tails, strict=True)
            ]
            term = as_ball(mine.total) ** a * as_ball(other.total) ** (1 - a)
            sums = [_tail_sums(mine, other, place, order, first) for place, first in enumerate(firsts)]
            low += term * math.prod((each[0] for each in sums), start=arb(1))
            high += term * math.prod((each[1] for each in sums), start=arb(1))
        slack = (1 + ball(relative)) ** a * ((1 - ball(relative)) if order > 1 else (1 + ball(relative))) ** (1 - a)
        found = ends(low / slack), ends(high * slack)
        assert found[0] is not None
        assert found[1] is not None
        return Enclosure(found[0].lower, found[1].upper)


def _ranges(classes: Iterable[tuple[object, _Class]]) -> dict[Path, tuple[int, int]]:
    """Return, for every place of tails, the integers just below and just above those that come from the core alone.

    Raises LimitError where what is added to the noise differs so much that comparisons of tails may not be decided.
    """
    offsets: dict[Path, set[int]] = {}
    tails: dict[Path, GaussianTail] = {}
    for key, found in classes:
        for place, (path, tail) in enumerate(zip(_tail_paths(key), found.tails, strict=True)):
            offsets.setdefault(path, set()).update(each[place] for each in found.masses)
            tails[path] = tail
    for path, tail in tails.items():
        if max(offsets[path]) - min(offsets[path]) > theta.reach_of(tail.variance):
            raise LimitError(
                "two neighbours are further apart than the Gaussian noise reaches that is looked at",
                "ask for δ, or give the noise a larger sigma_squared",
            )
    return {path: (max(offsets[path]) - tail.reach, min(offsets[path]) + tail.reach) for path, tail in tails.items()}


def _tail_sums(mine: _Class, other: _Class, place: int, order: Fraction, first: int) -> tuple[arb, arb]:
    """Enclose Σ g(y-c)^a g(y-d)^(1-a) over y from `first` outward, with offsets that make it smallest and largest."""
    tail, sign = mine.tails[place], mine.tails[place].direction
    against = -1 if order > 1 else 1  # a power of Q with a negative exponent falls where Q grows
    by_side = [(sign * mine.reaching(place, side), sign * other.reaching(place, against * side)) for side in (-1, 1)]
    low, high = (_tail_sum(tail.variance, c, d, order, sign * first) for c, d in by_side)
    return low, high


def _tail_sum(variance: Fraction, c: int, d: int, order: Fraction, first: int) -> arb:
    """Enclose Σ over y >= first of g(y-c)^a g(y-d)^(1-a).

    The exponent is that of a Gaussian around a·c + (1-a)·d, times e^(a(a-1)(c-d)²/(2·variance)).
    """
    middle = order * c + (1 - order) * d
    factor = (ball(order * (order - 1) * (c - d) ** 2) / ball(2 * variance)).exp()
    return factor * theta.sum_around(variance, middle, first)


def _split(law: Law) -> dict[object, _Class]:
    """Return the outputs, grouped by what remains without the offsets of their tails, if they have any."""
    classes: dict[object, _Class] = {}
    for output, mass in law.items():
        tails: list[GaussianTail] = []
        key = _key(output, tails)
        found = classes.setdefault(key, _Class(tuple(tails), {}))
        for tail in tails:
            mass = mass / theta.beyond(tail.variance, tail.reach)
        offsets = tuple(tail.offset for tail in tails)
        found.masses[offsets] = found.masses.get(offsets, Fraction(0)) + mass
    return classes


@dataclass(frozen=True)
class _Far:
    """The place of a tail in an output."""

    direction: int


def _key(output: object, tails: list[GaussianTail]) -> object:
    if isinstance(output, GaussianTail):
        tails.append(output)
        return _Far(output.direction)
    return tuple(_key(part, tails) for part in output) if isinstance(output, tuple) else output


def _tail_paths(key: object, at: Path = ()) -> Iterator[Path]:
    if isinstance(key, _Far):
        yield at
    elif isinstance(key, tuple):
        for place, part in enumerate(key):
            yield from _tail_paths(part, (*at, place))


def _at(output: object, path: Path) -> int | None:
    """Return the number at a place of an output, None where there is none."""
    for place in path:
        if not isinstance(output, tuple) or place >= len(output):
            return None
        output = output[place]
    return output if isinstance(output, int) and not isinstance(output, bool) else None
