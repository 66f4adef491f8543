"""Where a density of several real numbers exceeds a multiple of another one: the integrals of both, and δ so.

They are exact where a sum of exponentials keeps its sign, or has that of a single linear form, which crosses 0 at
rational places. Elsewhere simplices are cut until their tangents are as close to it as is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from math import factorial, prod
from typing import Any

from flint import arb, ctx, fmpq

from tightdp.cells import curves
from tightdp.cells.lines import SHORT
from tightdp.cells.signs import Tangent, covered, enclosed, halves, sign_of, tangent_of
from tightdp.cells.simplices import Function, Region, Simplex, cut, grown, integral, on_simplex, scaled, standard
from tightdp.cells.sums import Exact, exact_number, rational_number
from tightdp.cells.suprema import difference
from tightdp.exact.enclosure import BITS, as_fmpq, as_fraction
from tightdp.exact.waves import Undecided, Wave

_MOST_CELLS = 2_000
"""Into how many simplices one is cut for an integral."""
_CLOSE = 2.0**-34
"""The integral of what exceeds a multiple is enclosed up to that on each simplex, where these are enough."""


def larger(p: Function, q: Function, t: Any, region: Region, watch: Callable[[], None]) -> tuple[Exact, Exact]:
    """Return the integrals of p and of q where p > t·q: exact, or enclosed.

    Enclosed ones are those of another set, with what the integral of p - t·q differs by added to the first.
    """
    bounded, volume = region.length
    function = difference(p, q, rational_number(t))
    if not function or covered({key: -c for key, c in function.items()}, bounded):
        return 0, 0
    parts = [(standard(bounded, len(next(iter(function)))), 1)]
    if not covered(function, bounded):
        found = _along_a_line(function, bounded, watch)
        if found is None:
            with ctx.workprec(BITS):
                return _Cells(p, q, function, watch).integrals(bounded, volume)
        parts = found
    if all(sign for _, sign in parts):
        over = [part for part, sign in parts if sign > 0]
        return tuple(exact_number(t, rational_number(scaled(_integral(f, over), volume))) for f in (p, q))
    with ctx.workprec(BITS):
        over = [part for part, sign in parts if sign > 0]
        unsure = [part for part, sign in parts if not sign]
        return tuple(
            scaled(_integral(f, over) + sum((_size(f, part) for part in unsure), arb(0)).union(arb(0)), volume)
            for f in map(enclosed, (p, q))
        )


def _integral(function: Function, parts: Sequence[Simplex]) -> Any:
    """Return the integral of a function on some simplices, 0 for one that is 0."""
    functions = ((on_simplex(function, part), part) for part in (parts if function else ()))
    return sum((scaled(integral(each, part.bounded), part.volume) for each, part in functions), 0)


def _size(function: Function, simplex: Simplex) -> arb:
    """Return an upper end of the integral of a function on a simplex."""
    return _most_of(on_simplex(function, simplex), simplex.bounded) * simplex.volume


def _most_of(function: Function, bounded: int) -> arb:
    """Return an upper end of the integral of a function over all lengths."""
    total = arb(0)
    for key, c in function.items():
        far = prod((factorial(k) / (-rate) ** (k + 1) for rate, k in key[bounded:]), start=fmpq(1))
        total += grown(scaled(abs(c), far / factorial(bounded)), max([fmpq(0), *(rate for rate, _ in key[:bounded])]))
    return total


def _along_a_line(function: Function, bounded: int, watch: Callable[[], None]) -> list[tuple[Simplex, int]] | None:
    """Cut where a function changes its sign that is one of a single linear form, up to an exponential.

    Parts have its sign, 0 where it crosses 0. None for other functions.
    """
    if any(degree for key in function for _, degree in key):
        return None
    origin, *others = [tuple(rate for rate, _ in key) for key in function]
    steps = [tuple(a - b for a, b in zip(rates, origin, strict=True)) for rates in others]
    at = next(at for at, step in enumerate(steps[0]) if step)
    times = [fmpq(0), *(step[at] / steps[0][at] for step in steps)]
    line = steps[0]
    if any(step != tuple(share * c for c in line) for step, share in zip(steps, times[1:], strict=True)):
        return None
    places, far = (fmpq(0), *line[:bounded]), line[bounded:]
    low, high = min(places), max(places)
    ways: list[tuple[fmpq, int, fmpq | None]] = [(high, -1, None)] if min(far, default=0) < 0 else []
    if max(far, default=0) > 0 or not ways:
        start = high if ways else low
        ways.append((start, 1, None if max(far, default=0) > 0 else high - low))
    signs: list[tuple[fmpq | None, fmpq | None, int]] = []
    for start, way, length in ways:
        terms = {
            (as_fraction(way * share), 0): grown(c, share * start)
            for share, c in zip(times, function.values(), strict=True)
        }
        wave = Wave(terms, Fraction(0), None if length is None else as_fraction(length), watch, least=SHORT)
        try:
            pieces = [*wave.changes(), *([(wave.top, None, wave.beyond[1])] if length is None else [])]
        except Undecided:
            return None
        for a, b, sign in pieces:
            ends = start + way * as_fmpq(a), None if b is None else start + way * as_fmpq(b)
            signs.append((*ends, sign) if way > 0 else (*ends[::-1], sign))
    found: list[tuple[Simplex, int]] = []
    rest = [standard(bounded, len(line))]
    for _, end, sign in sorted(signs, key=lambda each: (each[0] is not None, each[0])):
        sides = [([each], []) if end is None else cut(each, line, end) for each in rest]
        found += [(part, sign) for below, _ in sides for part in below]
        rest = [part for _, above in sides for part in above]
    return [*found, *((part, signs[-1][2]) for part in rest)]


@dataclass
class _Cells:
    """Simplices on which a function is positive, or is bounded by a curve there, and others.

    On these it is nearly positive where its tangents are.
    """

    p: Function
    q: Function
    function: Function
    watch: Callable[[], None]
    known: list[arb] = field(default_factory=lambda: [arb(0), arb(0)])
    over: list[Simplex] = field(default_factory=list)
    open: list[tuple[float, int, arb, Simplex, Function]] = field(default_factory=list)

    def integrals(self, bounded: int, volume: fmpq) -> tuple[arb, arb]:
        """Return the integrals of p and of q where the function is positive, with what is unsure in the first."""
        self._look(standard(bounded, len(next(iter(self.function)))))
        for _ in range(_MOST_CELLS):
            if -sum(each[0] for each in self.open) * float(volume) <= _CLOSE:
                break
            self.watch()
            *_, simplex, local = heappop(self.open)
            for part in halves(local, simplex.bounded):
                self._look(_within(simplex, part))
        for *_, simplex, local in self.open:
            if not simplex.rays:
                tangent = Tangent.of(local, simplex.bounded)
                _, above = cut(standard(simplex.bounded, simplex.bounded), tangent.normal, tangent.bound)
                self.over += [_within(simplex, part) for part in above]
        unsure = sum((gap for _, _, gap, *_ in self.open), arb(0)).union(arb(0))
        ours, theirs = (
            known + _integral(enclosed(f), self.over) for known, f in zip(self.known, (self.p, self.q), strict=True)
        )
        return scaled(ours + unsure, volume), scaled(theirs, volume)

    def _look(self, simplex: Simplex) -> None:
        bounded = simplex.bounded
        local = on_simplex(enclosed(self.function), simplex)
        tangent = tangent_of(local, bounded)
        sign = sign_of(local, bounded, tangent)
        curved = None
        if sign is None:
            p, q, function = (on_simplex(f, simplex) for f in (self.p, self.q, self.function))
            curved = curves.integrals(p, q, function, bounded, self.watch)
        if curved is not None:
            self.known = [a + scaled(b, simplex.volume) for a, b in zip(self.known, curved, strict=True)]
        elif sign is None:
            far = _size(enclosed(self.p), simplex)
            far = far if tangent is None else far.min(tangent.mistaken() * simplex.volume)
            heappush(self.open, (-float(far.upper()), len(self.open), far, simplex, local))
        elif sign > 0:
            self.over.append(simplex)


def _within(simplex: Simplex, part: Simplex) -> Simplex:
    """Return a simplex of lengths in another one by the places there."""
    vertices, rays = map(simplex.at, part.vertices), map(simplex.along, part.rays)
    return Simplex(tuple(sorted(vertices)), tuple(sorted(rays)))
