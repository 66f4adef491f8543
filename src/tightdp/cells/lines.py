"""Densities of a real number: the largest ratio of two of them, and where one exceeds a multiple of the other.

The line is cut where conditions change. On each stretch densities are sums of polynomials times exponentials of the
distance t from its start, whose signs are found part by part (`signs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb, inf
from typing import Any

from flint import arb, ctx

from tightdp.cells.linear import Row
from tightdp.cells.noise import Outside
from tightdp.cells.patterns import Counted
from tightdp.cells.sums import Base, Exact, Pieces, added, antiderivative, exact_number, rational_number
from tightdp.cells.suprema import Supremum, TooLong, difference, is_multiple, leading
from tightdp.exact.enclosure import BITS, ball, ends, round_down
from tightdp.exact.waves import Expansion, Terms, Undecided, Wave, derivative, integral, value_at

_MOST_PARTS = 1_000
"""On how many parts of a stretch a sign is looked for."""
ABOVE = (1 << 40, 1 << 30, 1 << 20, 1 << 10, 16, 1)
"""An upper end is larger than what is known by such a part of it."""
SHORT = Fraction(1, 1 << 60)
"""On parts that are no longer a density may or may not exceed a multiple of another one, which it touches."""
_DERIVATIVES = 32
"""So many derivatives are looked at where both densities are 0 at an end, as of the range of several draws."""
_CLOSER = 40
"""So often the place of the largest ratio inside of a stretch is looked for more closely."""


@dataclass(frozen=True)
class Stretch:
    """The numbers start + sign·t, for t from 0 to `length`; None where that has no end."""

    start: Fraction
    sign: int
    length: Fraction | None

    def at(self, t: Fraction) -> Fraction:
        return self.start + self.sign * t

    def inwards(self, t: Fraction | None) -> int:
        """Return the direction from an end to the other one."""
        return -self.sign if t else self.sign

    @property
    def inside(self) -> Fraction:
        """A distance between its ends."""
        return Fraction(1) if self.length is None else self.length / 2


def stretches(rows: Iterable[Row]) -> list[Stretch]:
    """Cut the line where one of some conditions on its only variable changes."""
    cuts = sorted({Fraction(bound) / normal[0][1] for normal, bound in rows}) or [Fraction(0)]
    between = [Stretch(a, 1, b - a) for a, b in pairwise(cuts)]
    return [Stretch(cuts[0], -1, None), *between, Stretch(cuts[-1], 1, None)]


def on_stretch(pieces: Pieces, stretch: Stretch, unit: Base) -> Counted:
    """Return a function of a real variable on a stretch, by the distance from its start."""
    found: Counted = {}
    inside = stretch.at(stretch.inside)
    for rows, terms in pieces:
        if all(normal[0][1] * inside <= bound for normal, bound in rows):
            of_number: Counted = {
                ((bases[0][1] if bases else unit, degrees[0][1] if degrees else 0),): c
                for (bases, degrees), c in terms.items()
            }
            added(found, _moved(of_number, stretch.start))
    return {((base**stretch.sign, k),): c * stretch.sign**k for ((base, k),), c in found.items()}


def supremum(p: Counted, q: Counted, stretch: Stretch, least: Any, watch: Callable[[], None]) -> Supremum | None:
    """Return the supremum of p/q on a stretch, None where it is at most `least`. Raises TooLong with what is known."""
    if not p or least == inf:
        return None
    best: Supremum | None = None
    for found in corners(p, q, stretch):
        if found.value == inf:
            return found
        if found.value > least:
            best, least = found, found.value
    if len(p) == len(q) == 1 and not any(key[0][1] for key in (*p, *q)):  # it is monotone
        return best
    if not difference(p, q, least):
        return best if best is None else Supremum(least, (stretch.at(stretch.inside),), (0,))
    if not never_above(p, q, least, stretch, watch):
        raise TooLong(_inside(p, q, stretch, least) or best)
    return best


def upper_end(p: Counted, q: Counted, stretch: Stretch, least: Any, watch: Callable[[], None]) -> Any:
    """Return a number above `least` that p/q is proved not to exceed; infinity where none is found."""
    for part in ABOVE:
        value = least * (part + 1) / part
        if q and never_above(p, q, value, stretch, watch):
            return value
    return inf


def corners(p: Counted, q: Counted, stretch: Stretch) -> Iterator[Supremum]:
    """Yield the ratios at the ends of a stretch; far out it is a limit."""
    if p and not q:
        yield Supremum(inf, (stretch.at(stretch.inside),), (0,))
    for t in (Fraction(0), stretch.length) if p and q else ():
        if t is None:
            (ours, above), (theirs, below) = leading(p, 0), leading(q, 0)
            if ours == theirs:
                yield Supremum(above[()] / below[()], (stretch.start,), (stretch.sign,))
            elif (ours[0].value, ours[1]) > (theirs[0].value, theirs[1]):
                yield Supremum(inf, (stretch.start,), (stretch.sign,))
        else:
            ours, theirs = _first_values(p, q, t)
            if theirs:
                yield Supremum(ours / theirs, (stretch.at(t),), (0,), (stretch.inwards(t),))
            elif ours:
                yield Supremum(inf, (stretch.at(t),), (0,), (stretch.inwards(t),))


def attained(p: Counted, q: Counted, value: Any, stretch: Stretch, _: Any) -> tuple[Fraction] | None:
    """Return a place of a stretch on all of which p/q is a value, None where it is only approached."""
    return (stretch.at(stretch.inside),) if is_multiple(p, q, value) else None


def _value(function: Counted, t: Fraction) -> Exact:
    total: Any = 0
    for ((base, degree),), c in function.items():
        total = total + c * (base**t).value * exact_number(c, Fraction(t) ** degree)
    return total


def _first_values(p: Counted, q: Counted, t: Fraction) -> tuple[Exact, Exact]:
    """Return the values of two functions, or of their first derivatives that are not both 0: p/q tends to their ratio.

    They are 0 where no derivative is looked at, as with an unknown scale.
    """
    ours, theirs = _value(p, t), _value(q, t)
    if ours or theirs or any(base.rate is None for each in (p, q) for ((base, _),) in each):
        return ours, theirs
    one, above, below = next(iter(q.values())), terms_of(p), terms_of(q)
    for _ in range(_DERIVATIVES):
        above, below = derivative(above), derivative(below)
        ours, theirs = (exact_number(one, value_at(each, t)) for each in (above, below))
        if ours or theirs:
            break
    return ours, theirs


def _inside(p: Counted, q: Counted, stretch: Stretch, least: Any) -> Supremum | None:
    """Return the ratio near where it is largest inside of a stretch, if it is above `least`: a rational below it."""
    with ctx.workprec(BITS):
        ours, theirs = Expansion(terms_of(p)), Expansion(terms_of(q))
    times = max(terms_of(p))[0] - max(terms_of(q))[0]

    def ratio(t: Fraction) -> arb:
        with ctx.workprec(BITS):
            return ours.at(t) / theirs.at(t) * ball(times * t).exp()

    low, step = Fraction(0), (stretch.length or 16) * Fraction(1, 64)
    places = [low + k * step for k in range(1, 64)]
    best = max(places, key=lambda t: float(ratio(t).mid()))
    for _ in range(_CLOSER):
        step /= 2
        best = max((best - step, best, best + step), key=lambda t: ratio(t).mid())
    below = ends(ratio(best))
    if below is None or not below.lower > least:
        return None
    return Supremum(round_down(below.lower), (stretch.at(best),), (0,))


def never_above(p: Counted, q: Counted, value: Any, stretch: Stretch, watch: Callable[[], None]) -> bool:
    """Whether p is seen to be at most value·q on all of a stretch."""
    function = {key: -c for key, c in difference(p, q, value).items()}
    return not function or _wave(function, stretch, watch).never_negative()


def terms_of(function: Counted) -> Terms:
    """Return a function of one real number by rates and degrees."""
    return {(rate_of(base), degree): rational_number(c) for ((base, degree),), c in function.items()}


def rate_of(base: Base) -> Fraction:
    """Return q of a base e^q."""
    if base.rate is None:
        raise Outside("has an unknown scale, and is published")
    return base.rate


def _wave(function: Counted, stretch: Stretch, watch: Callable[[], None], least: Fraction = Fraction(0)) -> Wave:
    return Wave(terms_of(function), Fraction(0), stretch.length, watch, _MOST_PARTS, least)


def _moved(function: Counted, by: Fraction) -> Counted:
    """Return a function of t + by."""
    found: Counted = {}
    for ((base, degree),), c in function.items():
        c = c * (base**by).value
        shares = (exact_number(c, Fraction(comb(degree, k) * by ** (degree - k))) for k in range(degree + 1))
        parts: Counted = {((base, k),): c * share for k, share in enumerate(shares)}
        added(found, parts)
    return found


def larger(p: Counted, q: Counted, t: Any, stretch: Stretch, watch: Callable[[], None]) -> tuple[Exact, Exact]:
    """Return the integrals of p - t·q and of q where p > t·q: exact, or enclosed. Raises TooLong."""
    function = difference(p, q, t)
    if not function:
        return 0, 0
    signs = _wave(function, stretch, watch, SHORT)
    try:
        pieces: list[tuple[Fraction, Fraction | None, int]] = [*signs.changes()]
        if stretch.length is None:
            pieces.append((signs.top, None, signs.beyond[1]))
    except Undecided:
        raise TooLong from None
    positive = [piece for piece in pieces if piece[2] >= 0]
    if all(sign for *_, sign in positive):
        return tuple(sum((mass_between(f, low, high) for low, high, _ in positive), 0) for f in (function, q))
    with ctx.workprec(BITS):
        return _enclosed(function, positive), _enclosed(q, positive)


def _enclosed(function: Counted, pieces: Sequence[tuple[Fraction, Fraction | None, int]]) -> arb:
    """Return an enclosure of an integral, where pieces of sign 0 may belong to it or not."""
    terms, total = terms_of(function), arb(0)
    for low, high, sign in pieces:
        found = integral(terms, low, high)
        total += found if sign else found.union(arb(0))
    return total


def mass_between(function: Counted, low: Fraction, high: Fraction | None) -> Exact:
    """Return the integral of a function of one real number; without a high end it vanishes far out."""
    total: Any = 0
    for ((base, degree),), c in function.items():
        polynomial = antiderivative(c / c if base is base.unit else base.value, degree)
        for t, sign in ((high, 1), (low, -1)):
            if t is not None:
                value = sum((q * exact_number(c, t**k) for k, q in enumerate(polynomial)), 0 * c)
                total = total + sign * c * value * (base**t).value
    return total
