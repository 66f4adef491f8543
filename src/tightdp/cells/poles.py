"""The supremum of a ratio of two sequences with linear recurrences, by the poles of their generating functions.

Where one pole is closest to 0, terms have its sign from some place on, which enclosures of all poles prove. Else that
is so of every second term, every third, and so on (Berstel 1971). The ratio of two sequences with the same such pole
tends to an algebraic number, of which it is known by division whether it is rational.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from math import comb
from operator import itemgetter
from typing import Any, NamedTuple

from flint import acb, acb_mat, arb, ctx, fmpq, fmpq_poly

from tightdp.cells.generating import Coefficients, Generating
from tightdp.cells.patterns import Pattern, Step
from tightdp.cells.suprema import Supremum, TooLong
from tightdp.exact.enclosure import as_fmpq, ends

_PERIODS = (1, 2, 3, 4, 5, 6, 8, 10, 12)
_BITS = (128, 512, 2048)
_FIRST = 16
"""So many terms and the order of both sequences are looked at before anything is proved."""
_MOST_TERMS, _MOST_STEPS = 4_000, 200
_CLOSE = 100
"""Irrational limits are enclosed to so many bits."""
_ABOVE = (1 << 90, 1 << 30, 1 << 10, 16, 1)
"""An upper end is larger than what is known by such a part of it."""


class _Pole(NamedTuple):
    """The pole closest to 0, a positive number: the smallest positive root of an irreducible factor."""

    factor: fmpq_poly
    times: int

    def near(self) -> arb:
        """Return an enclosure, at the precision in force."""
        return self.beside()[0].real

    def beside(self) -> list[acb]:
        """Return it, and then the other roots of its factor."""
        roots = _roots(self.factor)
        own = min((root for root in roots if root.imag == 0 and root.real > 0), key=lambda root: root.real.mid())
        return [own, *(root for root in roots if root is not own)]


class _Settled(NamedTuple):
    """From which term on those of a section have a sign; 0 where they are 0."""

    residue: int
    period: int
    section: Generating
    start: int
    sign: int


def _at(polynomial: fmpq_poly, place: arb) -> arb:
    total = arb(0)
    for c in reversed(polynomial.coeffs()):
        total = total * place + c
    return total


def _roots(factor: fmpq_poly) -> list[acb]:
    found: Any = factor.numer().complex_roots()
    return [root for root, _ in found]


def _factors(below: fmpq_poly) -> list[tuple[fmpq_poly, int]]:
    return [(factor / factor[0], times) for factor, times in below.factor()[1]]


def _closest(section: Generating) -> _Pole | None:
    """Return the pole closest to 0 of a sequence that does not end, None where several are, or may be."""
    factors = _factors(section.quotient[1])
    for bits in _BITS:
        with ctx.workprec(bits):
            every = [(abs(root), root, at) for at, (factor, _) in enumerate(factors) for root in _roots(factor)]
            size, closest, at = min(every, key=lambda each: each[0].mid())
            if all(size < other for other, root, _ in every if root is not closest):
                return _Pole(*factors[at]) if closest.real > 0 else None  # alone, it is real
    return None


def _settled(section: Generating) -> tuple[int, int] | None:
    """Return from which term on a sequence has a sign, and which; None where it has none, or that is not seen."""
    if len(section.below) == 1:
        return len(section.above), 0
    pole = _closest(section)
    for bits in _BITS:
        with ctx.workprec(bits):
            found = None if pole is None else _start(section, pole)
        if found is not None:
            return found
    return None


def _start(section: Generating, pole: _Pole) -> tuple[int, int] | None:
    """Return from which term on the pole closest to 0 has more than all others together, and its sign."""
    above, below = section.quotient
    others = [(root, each) for factor, each in _factors(below) if factor != pole.factor for root in _roots(factor)]
    roots = [*((root, pole.times) for root in pole.beside()), *others]
    terms = [(1 / root, t) for root, times in roots for t in range(times)]
    size, first = len(terms), max(above.degree() - below.degree() + 1, 0)
    matrix = [comb(first + k + t, t) * base ** (first + k) for k in range(size) for base, t in terms]
    values = acb_mat(size, 1, [acb(arb(section.term(first + k))) for k in range(size)])
    try:
        solved = acb_mat(size, size, matrix).solve(values)
    except ZeroDivisionError:
        return None
    main, base = pole.times - 1, abs(terms[0][0])
    own = solved[main, 0].real
    if not (own > 0 or own < 0):
        return None
    shares = [
        (abs(solved[at, 0]) / abs(own), arb(1) if at < pole.times else abs(terms[at][0]) / base, terms[at][1])
        for at in range(size)
        if at != main
    ]
    start = max(first, 1)
    while start < _MOST_TERMS:
        left = sum((c * r**start * comb(start + t, t) / comb(start + main, main) for c, r, t in shares), arb(0))
        if left < 1 and all(r * max(start + 1 + t, start + 1 + main) / (start + 1 + main) <= 1 for _, r, t in shares):
            return start, 1 if own > 0 else -1  # from here on, each share falls
        start = 2 * start
    return None


def _sections(function: Generating) -> list[_Settled]:
    """Return a sequence by sections that have a sign from some term on. Raises TooLong."""
    for period in _PERIODS:
        found = []
        for residue in range(period):
            section = function.section(residue, period)
            settled = _settled(section)
            if settled is None:
                break
            found.append(_Settled(residue, period, section, *settled))
        else:
            return found
    raise TooLong


def _negative(function: Generating) -> int | None:
    """Return the place of a negative term, None where there is none. Raises TooLong."""
    for k in range(_FIRST + function.order):
        if function.term(k) < 0:
            return k
    for each in _sections(function):
        for k in range(each.start + (each.sign < 0)):
            if each.section.term(k) < 0:
                return each.residue + each.period * k
    return None


class _Limit(NamedTuple):
    """What ratios of a section tend to: a polynomial of a pole, infinity, or 0."""

    residue: int
    period: int
    value: fmpq_poly | None
    pole: _Pole | None
    infinite: bool = False

    @property
    def exact(self) -> Any:
        """The limit where it is rational, else None."""
        if self.infinite:
            return math.inf
        return fmpq(0) if self.value is None else self.value[0] if self.value.degree() < 1 else None

    def near(self) -> tuple[fmpq, fmpq]:
        """Return rationals around the limit."""
        assert self.value is not None
        assert self.pole is not None
        for bits in _BITS:
            with ctx.workprec(bits):
                found = ends(_at(self.value, self.pole.near()))
            if found is not None and (found.upper - found.lower) * (1 << _CLOSE) <= found.lower:
                return as_fmpq(found.lower), as_fmpq(found.upper)
        raise TooLong


def _limits(p: Generating, q: Generating) -> Iterator[_Limit]:
    """Yield what ratios of sections tend to. Raises TooLong."""
    for period in _PERIODS:
        both = [(p.section(residue, period), q.section(residue, period)) for residue in range(period)]
        poles = [[_closest(each) if len(each.below) > 1 else None for each in pair] for pair in both]
        if any(
            pole is None and len(each.below) > 1
            for pair, found in zip(both, poles, strict=True)
            for each, pole in zip(pair, found, strict=True)
        ):
            continue
        for residue, (pair, found) in enumerate(zip(both, poles, strict=True)):
            yield _limit(residue, period, *pair, *found)
        return
    raise TooLong


def _limit(residue: int, period: int, p: Generating, q: Generating, ours: _Pole | None, theirs: _Pole | None) -> _Limit:
    if ours is None:
        return _Limit(residue, period, None, None)
    if theirs is None:
        return _Limit(residue, period, None, None, True)
    if ours.factor != theirs.factor:
        for bits in _BITS:
            with ctx.workprec(bits):
                one, other = ours.near(), theirs.near()
            if one < other or one > other:
                return _Limit(residue, period, None, None, bool(one < other))
        raise TooLong
    if ours.times != theirs.times:
        return _Limit(residue, period, None, None, ours.times > theirs.times)
    (a, b), (c, d), whole = p.quotient, q.quotient, ours.factor**ours.times
    above, below = a * (d // whole) % ours.factor, c * (b // whole) % ours.factor
    common, inverse, _ = below.xgcd(ours.factor)
    return _Limit(residue, period, above * inverse / common[0] % ours.factor, ours)


class _Search:
    """The largest ratio that is known, and which limits are larger than any known ratio."""

    def __init__(self, p: Coefficients, q: Coefficients, on: Pattern, least: Any) -> None:
        self.p, self.q, self.on = Generating.named(p), Generating.named(q), on
        self.value = least
        self.best: Supremum | None = None

    def place(self, k: int) -> Step:
        return tuple(start + k * step for start, step in zip(self.on.start, self.on.steps[0], strict=True))

    def see(self, k: int) -> None:
        """Look at the ratio at a place."""
        ours, theirs = self.p.term(k), self.q.term(k)
        if ours and self.value != math.inf:
            ratio = ours / theirs if theirs else math.inf
            if ratio == math.inf or ratio > self.value:
                self.value = ratio
                self.best = Supremum(ratio, self.place(k), (0,) * len(self.on.start))

    def approached(self, limit: _Limit, value: Any) -> Supremum:
        moved = tuple(limit.period * step for step in self.on.steps[0])
        return Supremum(value, self.place(limit.residue), moved)


def supremum(p: Coefficients, q: Coefficients, on: Pattern, least: Any, watch: Callable[[], None]) -> Supremum | None:
    """Return the supremum of p/q, None where it is at most `least`. Raises TooLong."""
    search = _Search(p, q, on, least)
    if not p:
        return None
    for k in range(_FIRST + max(search.p.order, search.q.order)):
        search.see(k)
    watch()
    if search.value == math.inf:
        return search.best
    try:
        limits = list(_limits(search.p, search.q))
        for limit in limits:
            exact = limit.exact
            if exact is not None and (exact == math.inf or exact > search.value):
                search.value, search.best = exact, search.approached(limit, exact)
                if exact == math.inf:
                    return search.best
        irrational = [(*limit.near(), limit) for limit in limits if limit.exact is None]
        for _ in range(_MOST_STEPS):
            watch()
            beyond = max((each for each in irrational if each[1] > search.value), key=itemgetter(1), default=None)
            worse = _negative(search.q.times(search.value if beyond is None else beyond[1]) - search.p)
            if worse is not None:
                search.see(worse)
            if search.value == math.inf or (worse is None and beyond is None):
                return search.best
            if worse is None and beyond is not None:
                if beyond[0] > search.value:
                    search.best = search.approached(beyond[2], beyond[0])
                break
        raise TooLong
    except TooLong:
        raise TooLong(search.best) from None


def never_above(p: Coefficients, q: Coefficients, value: Any, on: Pattern, watch: Callable[[], None]) -> bool:
    """Whether p is proved to be at most value·q everywhere."""
    watch()
    try:
        return _negative(Generating.named(q).times(value) - Generating.named(p)) is None
    except TooLong:
        return False


def upper_end(p: Coefficients, q: Coefficients, on: Pattern, least: Any, watch: Callable[[], None]) -> Any:
    """Return a number above `least` that p/q is proved not to exceed; infinity where none is found."""
    for part in _ABOVE:
        value = least * (part + 1) / part
        if never_above(p, q, value, on, watch):
            return value
    return math.inf


def attained(p: Coefficients, q: Coefficients, value: Any, on: Pattern, watch: Callable[[], None]) -> Step | None:
    """Return a place where p/q is a value that it never exceeds, None where there is none. Raises TooLong."""
    search = _Search(p, q, on, 0)
    gap = search.q if value == math.inf else search.q.times(value) - search.p
    for each in _sections(gap):
        watch()
        last = each.start if each.sign else each.start + 2 * search.p.order + 1
        for k in range(last):
            place = each.residue + each.period * k
            if not gap.term(place) and search.p.term(place):
                return search.place(place)
    return None


def larger(p: Coefficients, q: Coefficients, t: Any, on: Pattern, watch: Callable[[], None]) -> tuple[Any, Any]:
    """Return the sums of p - t·q and of q over all places with p > t·q. Raises TooLong."""
    ours, theirs = Generating.named(p), Generating.named(q)
    excess, beyond = fmpq(0), fmpq(0)
    for each in _sections(ours - theirs.times(t)):
        watch()
        beside = theirs.section(each.residue, each.period)
        for k in range(each.start):
            if each.section.term(k) > 0:
                excess, beyond = excess + each.section.term(k), beyond + beside.term(k)
        if each.sign > 0:
            excess += each.section.later(each.start).total
            beyond += beside.later(each.start).total
    return excess, beyond
