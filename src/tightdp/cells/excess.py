"""Where a density of several real numbers exceeds a multiple of another one: the integrals of both, and δ so.

They are exact where a sum of exponentials keeps its sign, or has that of a single linear form, which crosses 0 at
rational places. Elsewhere simplices are cut, each time the one of all regions on which most is unsure, until their
tangents are as close to it as is needed, or so many were cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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

MOST_WORK = 40_000_000
"""So many values of terms at corners of cells are computed for one answer: some seven seconds."""
_CUT, _MOST_CUTS = 12_000, 500
"""A cut of rays takes as long as so many numbers; so many cuts are made in a step."""
_LESS, _FURTHER = 2.0**-10, fmpq(10)
"""In a step what is unsure along rays becomes such a share of it: they are cut where exponentials are e^-10."""
_CLOSE = {2: 2.0**-36}
_NEAR = 2.0**-24
"""The integral of what exceeds a multiple is enclosed up to that, by dimension, where so much work is enough."""

Case: TypeAlias = "tuple[Function, Function, tuple[int | Simplex, fmpq]]"
"""Two functions on regions: of how many bounded lengths, with what volume in all; or on a simplex, so many times."""


def larger(p: Function, q: Function, t: Any, region: Region, watch: Callable[[], None]) -> tuple[Exact, Exact]:
    """Return the integrals over a region of p - t·q where that is positive, and of q there: exact, or enclosed."""
    found = Excess([(p, q, region.length)], t, watch)
    while found.unsure > found.close and found.work < MOST_WORK:
        found.step()
    return found.integrals()


class Excess:
    """The integral of p - t·q where that is positive, and that of q there, in all cases: exact, or enclosed.

    Each step brings both ends of the first one closer together, until it is as `close` as is worthwhile.
    """

    def __init__(
        self, cases: Iterable[Case], t: Any, watch: Callable[[], None], others: Iterable[tuple[Exact, Exact]] = ()
    ) -> None:
        self._watch, self._totals = watch, [(0 * t, 0 * t), *others]
        self._open: dict[int, _Open] = {}
        self.begun = 0
        """How many numbers were computed to begin with, about, where regions are many."""
        known: dict[tuple[int, int], tuple[Function, Function, Function]] = {}
        for p, q, (on, volume) in cases:
            if isinstance(on, int):
                self._look(p, q, t, on, volume)
                continue
            self.begun += _CUT
            if (id(p), id(q)) not in known:
                known[id(p), id(q)] = enclosed(p), enclosed(q), enclosed(difference(p, q, rational_number(t)))
            with ctx.workprec(BITS):
                case = _Case(*known[id(p), id(q)], volume)
                if case.function:
                    self._opened(len(on.columns)).look(case, on, on_simplex(case.function, on))
        for each in self._open.values():
            each.settle()

    def _look(self, p: Function, q: Function, t: Any, bounded: int, volume: fmpq) -> None:
        function = difference(p, q, rational_number(t))
        if not function or covered({key: -c for key, c in function.items()}, bounded):
            return
        dimension = len(next(iter(function)))
        whole = standard(bounded, dimension)
        parts = [(whole, 1)] if covered(function, bounded) else _along_a_line(function, bounded, self._watch)
        if parts is None:
            with ctx.workprec(BITS):
                case = _Case(enclosed(p), enclosed(q), enclosed(function), volume)
                self._opened(dimension).look(case, whole, case.function)
            return
        over, unsure = ([part for part, sign in parts if sign == each] for each in (1, 0))
        if not unsure:
            both = (_integral(each, over) for each in (function, q))
            self._totals.append(tuple(exact_number(t, rational_number(scaled(each, volume))) for each in both))
            return
        with ctx.workprec(BITS):
            both = (
                arb(_integral(each, over)) + sum((_size(each, part) for part in unsure), arb(0)).union(arb(0))
                for each in map(enclosed, (function, q))
            )
            self._totals.append(tuple(scaled(each, volume) for each in both))

    def _opened(self, dimension: int) -> _Open:
        return self._open.setdefault(dimension, _Open(self._watch))

    @property
    def close(self) -> float:
        """How closely it is enclosed at most."""
        return max((_CLOSE.get(dimension, _NEAR) for dimension in self._open), default=0.0)

    @property
    def unsure(self) -> float:
        """Up to how much it is known, but for what work does not change."""
        return sum(each.unsure for each in self._open.values())

    @property
    def work(self) -> int:
        """How many numbers were computed, about."""
        return sum(each.work for each in self._open.values())

    def step(self) -> None:
        """Look more closely where most is unsure."""
        self._watch()
        max(self._open.values(), key=lambda each: each.unsure).step()

    def integrals(self) -> tuple[Exact, Exact]:
        """Return both integrals."""
        return self.ours(), self.theirs()

    def ours(self) -> Exact:
        """Return the integral of p - t·q where that is positive."""
        return reduce(plus, [each for each, _ in self._totals] + [each.ours() for each in self._open.values()])

    def theirs(self) -> Exact:
        """Return the integral of q there."""
        return reduce(plus, [each for _, each in self._totals] + [each.theirs() for each in self._open.values()])


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


class _Far(NamedTuple):
    """A simplex with rays, on which `local` is a function, and both integrals over it, which may count or not."""

    ours: arb
    theirs: arb
    case: _Case
    simplex: Simplex
    local: Function


class _Open:
    """Simplices on which it is not seen where functions are positive: those with rays in a heap by what p has there.

    `ours` and `theirs` are the integrals on others, where they are.
    """

    def __init__(self, watch: Callable[[], None]) -> None:
        self._watch, self._seen, self._cuts = watch, 0, 0
        self._ours, self._theirs = [arb(0)], [arb(0)]
        self._heap: list[tuple[float, int, _Far]] = []
        self._bounded: list[doubles.Piece] = []
        self._searches: list[doubles.Search] = []

    @property
    def _far(self) -> float:
        return -sum(each[0] for each in self._heap)

    @property
    def unsure(self) -> float:
        """Up to how much the first integral is known."""
        return self._far + sum(each.unsure for each in self._searches)

    @property
    def work(self) -> int:
        """How many numbers were computed, about."""
        return _CUT * self._cuts + sum(each.work for each in self._searches)

    def look(self, case: _Case, simplex: Simplex, local: Function) -> None:
        """See where a function is positive on a simplex, on which `local` is that function."""
        self._seen += 1
        sign = sign_of(local, simplex.bounded, None)
        if sign is None and not simplex.rays and doubles.reachable(local):
            self._bounded.append(doubles.Piece(local, on_simplex(case.q, simplex), case.volume * simplex.volume))
        elif sign is None:
            ours, theirs = (scaled(_size(each, simplex), case.volume).union(arb(0)) for each in (case.p, case.q))
            far = _Far(ours, theirs, case, simplex, local)
            heappush(self._heap, (-float(far.ours.upper()) if simplex.rays else 0.0, self._seen, far))
        elif sign > 0:
            self._ours.append(scaled(_integral(case.function, [simplex]), case.volume))
            self._theirs.append(scaled(_integral(case.q, [simplex]), case.volume))

    def settle(self) -> None:
        """Begin to search on bounded simplices that are new."""
        if self._bounded:
            self._searches.append(doubles.Search(self._bounded))
            self._bounded = []

    def step(self) -> None:
        """Cut rays, or cells, wherever more is unsure."""
        best = max(self._searches, key=lambda each: each.unsure, default=None)
        far = self._far
        if best is not None and best.unsure >= far:
            best.step()
            return
        with ctx.workprec(BITS):
            for _ in range(_MOST_CUTS):
                if self._far <= far * _LESS:
                    break
                self._watch()
                self._cuts += 1
                *_, case, simplex, local = heappop(self._heap)[-1]
                for part in halves(local, simplex.bounded, _FURTHER):
                    self.look(case, within(part, simplex), on_simplex(local, part))
            self.settle()

    def ours(self) -> arb:
        """Return the integral of p - t·q where that is positive."""
        with ctx.workprec(BITS):
            total = sum(self._ours, arb(0)) + sum((far.ours for *_, far in self._heap), arb(0))
            return total + sum((each.ours() for each in self._searches), arb(0))

    def theirs(self) -> arb:
        """Return the integral of q there."""
        with ctx.workprec(BITS):
            total = sum(self._theirs, arb(0)) + sum((far.theirs for *_, far in self._heap), arb(0))
            return total + sum((each.theirs() for each in self._searches), arb(0))
