"""Densities of several real numbers: the largest ratio of two of them, and where one exceeds a multiple of the other.

Space is cut into simplices on which no condition changes. That a function on one is nowhere negative is proved term by
term, by its values and slopes in the middle with a remainder, or from a face on: it is not negative there, and, divided
by an exponential, grows in a direction that leads from this face through the simplex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import gcd, inf, prod
from typing import Any

from flint import ctx, fmpq

from tightdp.cells.excess import larger
from tightdp.cells.lines import ABOVE, rate_of
from tightdp.cells.signs import covered, enclosed, halves, sign_of, tangent_of
from tightdp.cells.simplices import (
    Function,
    Length,
    Region,
    Simplex,
    grown,
    on_simplex,
    scaled,
    standard,
)
from tightdp.cells.sums import Base, Pieces, Terms, added, rational_number
from tightdp.cells.suprema import Supremum, TooLong, difference, is_multiple
from tightdp.exact.enclosure import BITS, as_fmpq, as_fraction
from tightdp.exact.waves import PARTS

__all__ = ["Region", "attained", "corners", "larger", "on_region", "supremum", "upper_end"]

_MOST_CASES = 3_000
"""How many functions are looked at for a proof."""
_MOST_DIRECTIONS, _FEW_COORDINATES = 100, 5
"""In how many directions limits are looked at, and how many coordinates move in them."""


Way = tuple[tuple[int, ...], tuple[int, ...]]
"""A direction, and one that leads from 0 to a place close beside it."""
Growth = dict[tuple[Base, int], Any]
"""What a function is in a direction: coefficients by base and degree, of which the largest is to tell."""


def on_region(pieces: Pieces, region: Region) -> Function:
    """Return a function of real coordinates on a region on which no condition of it changes."""
    inside = region.simplex.inside
    found: Function = {}
    for rows, terms in pieces:
        if all(sum(c * inside[v] for v, c in normal) <= as_fmpq(bound) for normal, bound in rows):
            added(found, function_of(terms, len(inside)))
    return on_simplex(found, region.simplex)


def function_of(terms: Terms, dimension: int) -> Function:
    """Return a function of so many real coordinates."""
    found: Function = {}
    for (bases, degrees), c in terms.items():
        rates, powers = {v: as_fmpq(rate_of(base)) for v, base in bases}, dict(degrees)
        key = tuple((rates.get(v, fmpq(0)), powers.get(v, 0)) for v in range(dimension))
        added(found, {key: rational_number(c)})
    return found


def supremum(p: Function, q: Function, region: Region, least: Any, watch: Callable[[], None]) -> Supremum | None:
    """Return the supremum of p/q on a region, None where it is at most `least`. Raises TooLong with what is known."""
    if not p or least == inf:
        return None
    best: Supremum | None = None
    least = rational_number(least)
    for found in corners(p, q, region):
        if found.value == inf or found.value > least:
            best, least = found, found.value
            if least == inf:
                return best
    try:
        shown = _Proof(watch).never_negative(difference(_times(q, least), p, 1), region.simplex.bounded)
    except TooLong:
        shown = False
    if not shown:
        raise TooLong(best)
    return best


def corners(p: Function, q: Function, region: Region) -> Iterator[Supremum]:
    """Yield the ratios at the vertices of a region, and what they approach along its rays."""
    simplex = region.simplex
    count = len(simplex.columns)
    if p and not q:
        yield Supremum(inf, _fractions(simplex.inside), (0,) * len(simplex.inside))
    elif p:
        for value, place, moved in _corners(p, q, simplex.bounded, [0] * count, [0] * count, tuple(range(count))):
            at = simplex.at(place)
            side = [c - d for c, d in zip(simplex.inside, at, strict=True)]
            yield Supremum(value, *map(_fractions, (at, simplex.along(moved), side)))


def attained(p: Function, q: Function, value: Any, region: Region, _: Any) -> tuple[Fraction, ...] | None:
    """Return a place of a region on all of which p/q is a value, None where it is only approached."""
    value = value if value == inf else rational_number(value)
    return _fractions(region.simplex.inside) if is_multiple(p, q, value) else None


def ways(dimension: int) -> list[Way]:
    """Return some directions, each with two places beside 0 to begin from; those along few coordinates first."""
    few = min(dimension, _FEW_COORDINATES)
    wide = max(m for m in range(1, dimension + 2) if m == 1 or (2 * m + 1) ** few <= _MOST_DIRECTIONS)
    found = [each for each in product(range(-wide, wide + 1), repeat=few) if gcd(*each) == 1]
    found.sort(key=lambda each: (sum(map(abs, each)), each))
    rest = (0,) * (dimension - few)
    return [((*each, *rest), tuple(side << at for at in range(dimension))) for each in found for side in (1, -1)]


def limit(ours: Growth | None, theirs: Growth | None, way: Way) -> Supremum | None:
    """Return what the ratio of two functions approaches in a direction; None where that is 0, or unknown."""
    if not ours or theirs is None:
        return None
    most, below = max(ours, key=_order), max(theirs, key=_order, default=None)
    if below is not None and below != most and _order(most) < _order(below):
        return None
    moved = tuple(map(Fraction, way[0]))
    return Supremum(ours[most] / theirs[most] if below == most else inf, (Fraction(0),) * len(moved), moved)


def _order(growth: tuple[Base, int]) -> tuple[Any, int]:
    return growth[0].value, growth[1]


def grown_out(pieces: Pieces, way: Way, unit: Base, integers: int = 0) -> Growth | None:
    """Return how a function grows in a direction, from very close beside 0; None where it is cut there.

    So many first coordinates are integers, which begin at 0; no condition is on them and on others.
    """
    found: Growth = {}
    along, beside = way
    for rows, terms in pieces:
        heights = [
            sum(c * along[v] for v, c in normal)
            or -bound
            or (sum(c * beside[v] for v, c in normal) if normal[0][0] >= integers else -1)
            for normal, bound in rows
        ]
        if any(height > 0 for height in heights):
            continue
        if 0 in heights:
            return None
        for (bases, degrees), c in terms.items():
            if all(along[v] for v, _ in degrees):
                base = prod((each ** along[v] for v, each in bases), start=unit)
                times = prod(along[v] ** degree for v, degree in degrees)
                added(found, {(base, sum(degree for _, degree in degrees)): c * times})
    return {growth: c for growth, c in found.items() if c}


def upper_end(p: Function, q: Function, region: Region, least: Any, watch: Callable[[], None]) -> Any:
    """Return a number above `least` that p/q is proved not to exceed; infinity where none is found."""
    with suppress(TooLong):
        for part in ABOVE:
            value = rational_number(least) * Fraction(part + 1, part)
            if q and _Proof(watch).never_negative(difference(_times(q, value), p, 1), region.simplex.bounded):
                return value
    return inf


def _times(function: Function, value: Any) -> Function:
    return {key: c * value for key, c in function.items()}


def _fractions(vector: Sequence[Any]) -> tuple[Fraction, ...]:
    return tuple(as_fraction(fmpq(c)) for c in vector)


Corner = tuple[Any, list[int], list[int]]


def _corners(
    p: Function, q: Function, bounded: int, place: list[int], moved: list[int], names: tuple[int, ...]
) -> Iterator[Corner]:
    """Yield the ratios at vertices, and what they approach along rays, with places and directions by lengths."""
    for i in range(-1, bounded):
        ours, theirs = _at_vertex(p, i), _at_vertex(q, i)
        at = [int(name == i) for name in range(len(place))]
        if theirs:
            yield ours / theirs, at, moved
        elif ours:
            yield inf, at, moved
    for j in range(bounded, len(names)):
        (ours, above), (theirs, below) = _leading(p, j), _leading(q, j)
        further = [m + (name == names[j]) for name, m in enumerate(moved)]
        if ours == theirs:
            yield from _corners(above, below, bounded, place, further, (*names[:j], *names[j + 1 :]))
        elif ours > theirs:
            yield inf, place, further


def _at_vertex(function: Function, i: int) -> Any:
    """Return the value where length i is 1 and the others are 0; -1 stands for no length."""
    values = (
        grown(c, key[i][0]) if i >= 0 else c
        for key, c in function.items()
        if not any(degree for at, (_, degree) in enumerate(key) if at != i)
    )
    return sum(values, 0)


def _leading(function: Function, j: int) -> tuple[Length, Function]:
    """Return the fastest growth in a length, and what it is multiplied by."""
    most = max(key[j] for key in function)
    return most, {(*key[:j], *key[j + 1 :]): c for key, c in function.items() if key[j] == most}


@dataclass
class _Proof:
    """Proves that functions are nowhere negative; counts what it looks at."""

    watch: Callable[[], None]
    left: int = _MOST_CASES
    known: dict[Any, bool] = field(default_factory=dict)

    def never_negative(self, function: Function, bounded: int) -> bool:
        """Whether a function of lengths is seen to be at least 0 everywhere."""
        losses = [key for key, c in function.items() if c < 0]
        if not losses:
            return True
        if len(losses) == len(function) or self.left <= 0:
            return False
        name = frozenset(function.items()), bounded
        if name not in self.known:
            self.left -= 1
            self.watch()
            self.known[name] = False
            self.known[name] = self._shown(function, bounded)
        return self.known[name]

    def _shown(self, function: Function, bounded: int) -> bool:
        with ctx.workprec(BITS):
            near = enclosed(function)
            least = [_at_vertex(near, i) for i in range(-1, bounded)]
        if any(value < 0 for value in least):
            return False
        if covered(function, bounded):
            return True
        if all(value > 0 for value in least) and self._by_parts(near, bounded):
            return True
        return self._by_slopes(function, bounded)

    def _by_parts(self, function: Function, bounded: int) -> bool:
        """Whether a function is seen to be positive on all of some parts."""
        todo = [(function, bounded)]
        for _ in range(PARTS):
            if not todo:
                return True
            self.watch()
            here, count = todo.pop()
            with ctx.workprec(BITS):
                sign = sign_of(here, count, tangent_of(here, count))
                if sign is None:
                    if any(_at_vertex(here, i) < 0 for i in range(-1, count)):
                        return False
                    todo += [(on_simplex(here, part), part.bounded) for part in halves(here, count)]
                elif sign < 0:
                    return False
        return False

    def _by_slopes(self, function: Function, bounded: int) -> bool:
        """Whether a function is not negative on a face, and, divided by an exponential, grows from there on."""
        count = len(next(iter(function)))
        for root in range(bounded + 1):
            turned = function if root == 0 else on_simplex(function, _rooted(bounded, count, root))
            for i in range(count):
                face: Function = {}  # terms that differ in this length alone are one there
                for key, c in turned.items():
                    added(face, {} if key[i][1] else {(*key[:i], *key[i + 1 :]): c})
                rates = sorted({key[i][0] for key in turned}, reverse=True)
                slopes = [_slope(turned, i, rate) for rate in rates]
                if any(self.never_negative(slope, bounded) for slope in slopes) and (
                    not face or self.never_negative(face, bounded - (i < bounded))
                ):
                    return True
        return False


def _rooted(bounded: int, count: int, root: int) -> Simplex:
    """Return the simplex of all lengths with another first vertex."""
    vertices, rays = standard(bounded, count)
    return Simplex((vertices[root], *vertices[:root], *vertices[root + 1 :]), rays)


def _slope(function: Function, i: int, rate: fmpq) -> Function:
    """Return the derivative by a length of a function divided by e^(rate·length)."""
    found: Function = {}
    for key, c in function.items():
        own, degree = key[i][0] - rate, key[i][1]
        added(found, {(*key[:i], (own, degree), *key[i + 1 :]): scaled(c, own)} if own else {})
        added(found, {(*key[:i], (own, degree - 1), *key[i + 1 :]): scaled(c, fmpq(degree))} if degree else {})
    return found
