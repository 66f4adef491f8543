"""Where a density of several real numbers exceeds a multiple of another one: the integrals of both, and δ so.

They are exact where a sum of exponentials keeps its sign, or has that of a single linear form, which crosses 0 at
rational places. Elsewhere simplices are cut, each time the one of all regions on which most is unsure, until their
tangents are as close to it as is needed, or so many were cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush
from math import factorial, prod
from typing import Any, NamedTuple, TypeAlias

from flint import arb, ctx, fmpq

from tightdp.cells import doubles
from tightdp.cells.lines import SHORT
from tightdp.cells.signs import covered, enclosed, halves, sign_of
from tightdp.cells.simplices import (
    Function,
    Region,
    Simplex,
    cut,
    grown,
    integral,
    on_simplex,
    scaled,
    standard,
    within,
)
from tightdp.cells.sums import Exact, exact_number, plus, rational_number
from tightdp.cells.suprema import difference
from tightdp.exact.enclosure import BITS, as_fmpq, as_fraction
from tightdp.exact.waves import Undecided, Wave

_MOST_CUTS = 1_500
"""So often rays are cut, in all."""
_CLOSE = {2: 2.0**-36}
_NEAR = 2.0**-24
"""The integral of what exceeds a multiple is enclosed up to that, by dimension, where so much work is enough."""

Case: TypeAlias = tuple[Function, Function, tuple[int, fmpq]]
"""Two functions on regions: of how many bounded lengths, and with what volume in all."""


def larger(p: Function, q: Function, t: Any, region: Region, watch: Callable[[], None]) -> tuple[Exact, Exact]:
    """Return what p exceeds t·q by, and the integral of q there; see `larger_in_all`."""
    return larger_in_all([(p, q, region.length)], t, watch)


def larger_in_all(cases: Iterable[Case], t: Any, watch: Callable[[], None], close: float = 0.0) -> tuple[Exact, Exact]:
    """Return the integral of p - t·q where that is positive, and that of q there, in all cases: exact, or enclosed.

    The first one is enclosed no more closely than is asked for.
    """
    totals = [(0 * t, 0 * t)]
    every: dict[int, _Open] = {}
    for p, q, (bounded, volume) in cases:
        function = difference(p, q, rational_number(t))
        if not function or covered({key: -c for key, c in function.items()}, bounded):
            continue
        dimension = len(next(iter(function)))
        whole = standard(bounded, dimension)
        parts = [(whole, 1)] if covered(function, bounded) else _along_a_line(function, bounded, watch)
        if parts is None:
            with ctx.workprec(BITS):
                every.setdefault(dimension, _Open(watch)).look(
                    _Case(enclosed(p), enclosed(q), enclosed(function), volume), whole, enclosed(function)
                )
            continue
        over, unsure = ([part for part, sign in parts if sign == each] for each in (1, 0))
        if not unsure:
            both = (_integral(each, over) for each in (function, q))
            totals.append(tuple(exact_number(t, rational_number(scaled(each, volume))) for each in both))
            continue
        with ctx.workprec(BITS):
            both = (
                arb(_integral(each, over)) + sum((_size(each, part) for part in unsure), arb(0)).union(arb(0))
                for each in map(enclosed, (function, q))
            )
            totals.append(tuple(scaled(each, volume) for each in both))
    totals += [each.integrals(max(close, _CLOSE.get(dimension, _NEAR))) for dimension, each in every.items()]
    excess, theirs = zip(*totals, strict=True)
    return reduce(plus, excess), reduce(plus, theirs)


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


class _Case(NamedTuple):
    """Two functions, what the first exceeds a multiple of the second by, and how large the volumes of lengths are."""

    p: Function
    q: Function
    function: Function
    volume: fmpq


@dataclass
class _Open:
    """Simplices on which it is not seen where functions are positive, in a heap by what p has on those with rays.

    `ours` and `theirs` are the integrals on others, where they are.
    """

    watch: Callable[[], None]
    ours: arb = field(default_factory=lambda: arb(0))
    theirs: arb = field(default_factory=lambda: arb(0))
    heap: list[tuple[float, int, _Case, Simplex, Function]] = field(default_factory=list)
    seen: int = 0

    def look(self, case: _Case, simplex: Simplex, local: Function) -> None:
        """See where a function is positive on a simplex, on which `local` is that function."""
        self.seen += 1
        sign = sign_of(local, simplex.bounded, None)
        if sign is None:
            most = _size(case.p, simplex) if simplex.rays else arb(0)
            heappush(self.heap, (-float(scaled(most, case.volume).upper()), self.seen, case, simplex, local))
        elif sign > 0:
            self.ours += scaled(_integral(case.function, [simplex]), case.volume)
            self.theirs += scaled(_integral(case.q, [simplex]), case.volume)

    def integrals(self, close: float) -> tuple[arb, arb]:
        """Return the integrals of p - t·q where that is positive, and of q there."""
        with ctx.workprec(BITS):
            for _ in range(_MOST_CUTS):
                if -sum(each[0] for each in self.heap) <= close:
                    break
                self.watch()
                *_, case, simplex, local = heappop(self.heap)
                for part in halves(local, simplex.bounded):
                    self.look(case, within(part, simplex), on_simplex(local, part))
            pieces = []
            for *_, case, simplex, local in self.heap:
                if simplex.rays or not doubles.reachable(local):
                    self.ours += scaled(_size(case.p, simplex).union(arb(0)), case.volume)
                    self.theirs += scaled(_size(case.q, simplex).union(arb(0)), case.volume)
                else:
                    pieces.append(doubles.Piece(local, on_simplex(case.q, simplex), case.volume * simplex.volume))
            found = doubles.positive(pieces, close, self.watch) if pieces else (arb(0), arb(0))
            return self.ours + found[0], self.theirs + found[1]
