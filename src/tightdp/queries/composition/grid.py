"""Enclosed composition: losses on a grid, probabilities as fixed-point integers, every rounding in one direction.

From below: every outcome gets the number of a cell of losses, k runs the sum of their numbers, and outcomes with the
same sum are merged. That is post-processing, whatever the ratios are, so the curve of the sums is at most the true one;
P is rounded down and Q up.

From above: every outcome is split into two whose losses lie on the grid, with the same P and the same Q together (the
outcome is a post-processing of the two; Doroshenko et al. 2022, "Connect the Dots"). Losses on the grid add up to
losses on the grid, so the masses under P of k runs are the coefficients of a power. P is rounded up, and Q, which
follows from P and the loss, down; masses in the far tails move to larger losses.

Either end differs from the truth by the spread of losses within a cell, a term of second order in the step. Where the
likely losses of the pairs lie on an arithmetic progression, as those of noise on the integers do, the grid takes it up:
then there is next to no spread.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, zip_longest
from typing import TypeVar

from flint import arb, ctx, fmpz_poly

from tightdp.exact.enclosure import BITS
from tightdp.exact.field import ExpNumber, Number, as_ball
from tightdp.exact.numbers import log
from tightdp.exact.scaled import doubled
from tightdp.limits.calibrated import COMPOSITION_PLACES
from tightdp.queries.composition.lattice import Composition, Runs, composition_of
from tightdp.queries.composition.pairs import DominatingPair

"""Bits after the point of a probability, besides those that the largest likelihood ratio needs."""
_MOST_BITS = 4096
_NEGLIGIBLE = 1 << 24
"""Cells at either end that hold less together, in units of the last bit, are moved or left out."""
_UNLIKELY = 2.0**-40
"""Outcomes that are less likely need not lie on a progression."""
_RAREST = 2.0**-128
"""How far the losses of outcomes that are less likely are spread does not show in an answer."""
_NEARLY = 1e-7
_MOST_STEPS = 1 << 16
"""So closely, and with at most so many steps from end to end, losses are taken to lie on a progression."""
_FINER = 16
"""A grid that takes up a progression may have so many times the points of one that does not."""

Watch = Callable[[], None]
C = TypeVar("C", "_Lower", "_Upper")


@dataclass(frozen=True)
class Grid:
    """Losses that are j·step over the origin of a pair, and masses in units of 1/unit."""

    step: Fraction
    unit: int

    def exp(self, origin: Fraction, place: int) -> arb:
        """Return a ball that contains the inverse of the likelihood ratio at a place."""
        return as_ball(-origin - self.step * place).exp()

    @property
    def precision(self) -> int:
        """Precision of ball arithmetic, in bits."""
        return 2 * self.unit.bit_length()


def grid_for(runs: Runs, places: int = COMPOSITION_PLACES) -> Grid:
    """Return a grid on which the likely losses of all runs take at most about `places` points.

    Its step is that of the progression on which they lie, where there is one, else a power of two.
    """
    widths = mean = variance = largest = 0.0
    for pair, times in runs:
        losses = [(_log(p / q), float(p)) for p, q in pair.finite] or [(0.0, 1.0)]
        middle = sum(loss * p for loss, p in losses)
        widths += (losses[0][0] - losses[-1][0]) * times
        mean += middle * times
        variance += sum((loss - middle) ** 2 * p for loss, p in losses) * times
        largest += max(losses[0][0], 0.0) * times
    # About all but 2^-BITS of the mass lies within this distance of the mean.
    reach = math.sqrt(2 * variance * BITS * math.log(2))
    largest = min(largest, max(mean, 0.0) + reach)
    wanted = min(widths, 2 * reach) / places
    step = _common_step(runs)
    if step is None or step * _FINER < wanted:
        step = Fraction(2) ** (math.ceil(math.log2(wanted)) if wanted > 0 else -16)
    elif 0 < wanted < step and not _on_progression(runs, float(step)):
        step /= math.ceil(step / Fraction(wanted))
    return Grid(step, 1 << min(BITS + math.ceil(largest / math.log(2)), _MOST_BITS))


def _common_step(runs: Runs) -> Fraction | None:
    """Return the step of a progression on which the likely losses of every pair lie, nearly; None where none is met."""
    found, widest = 0.0, 0.0
    for pair, _ in runs:
        likely = [_log(p / q) for p, q in pair.finite if p > _UNLIKELY]
        for larger, smaller in pairwise(likely):
            found = _common_measure(max(found, larger - smaller), min(found, larger - smaller))
        widest = max(widest, likely[0] - likely[-1]) if likely else widest
    steps = round(widest / found) if found else 0
    return Fraction(widest / steps) if 0 < steps <= _MOST_STEPS else None


def _on_progression(runs: Runs, step: float) -> bool:
    """Whether the losses of all outcomes but the rarest lie on a progression with this step, nearly."""
    for pair, _ in runs:
        places = [_log(p / q) / step for p, q in pair.finite if p > _RAREST]
        if any(abs(math.remainder(place - places[0], 1.0)) > _MOST_STEPS * _NEARLY for place in places):
            return False
    return True


def _common_measure(larger: float, smaller: float) -> float:
    """Return the largest number of which both are multiples, nearly."""
    error = larger * _NEARLY
    while smaller > error:
        larger, smaller = smaller, abs(math.remainder(larger, smaller))
    return larger


def _origin(pair: DominatingPair) -> Fraction:
    p, q = max(pair.finite)
    return Fraction(_log(p / q))


def below(runs: Runs, grid: Grid, watch: Watch = lambda: None) -> Composition:
    """Return a composition whose δ is nowhere above that of the runs."""
    total = _Lower(grid, 0, fmpz_poly([grid.unit]), fmpz_poly([grid.unit]))
    finite: Number = Fraction(1)
    for pair, times in runs:
        total = total.times(_power(_lower(pair, grid), times, watch))
        finite *= (1 - pair.certain) ** times
    outcomes = zip_longest(total.p.coeffs(), total.q.coeffs(), fillvalue=0)
    return composition_of(1 - finite, grid.unit, [(int(p), int(q)) for p, q in outcomes if p], watch)


def above(runs: Runs, grid: Grid, watch: Watch = lambda: None) -> Composition:
    """Return a composition whose δ is nowhere below that of the runs."""
    total = _Upper(grid, Fraction(0), 0, fmpz_poly([grid.unit]), 0)
    for pair, times in runs:
        total = total.times(_power(_upper(pair, grid), times, watch))
    outcomes, infinite, scale = [], total.infinite * grid.unit, grid.unit * grid.unit
    with ctx.workprec(grid.precision):
        inverse, ratio = grid.exp(total.origin, total.first) * grid.unit, grid.exp(Fraction(0), 1)
        for mass in total.p.coeffs():
            p, q = int(mass) * grid.unit, _floor(inverse * mass)
            if q > 0:
                outcomes.append((p, q))
            else:
                infinite += p
            inverse *= ratio
    return composition_of(Fraction(infinite, scale), scale, outcomes, watch)


def _power(one: C, times: int, watch: Watch) -> C:
    """Return the composition of `times` >= 1 runs, by repeated squaring."""
    watch()
    return one if times == 1 else doubled(lambda fewer: _power(one, fewer, watch), times, lambda a, b: a.times(b))


@dataclass(frozen=True)
class _Lower:
    """Cells first, first + 1, ... with their masses under P, rounded down, and under Q, rounded up."""

    grid: Grid
    first: int
    p: fmpz_poly
    q: fmpz_poly

    def times(self, other: _Lower) -> _Lower:
        """Return the composition of both; cells at either end with negligible mass under P are left out."""
        p = (self.p * other.p) // fmpz_poly([self.grid.unit])
        q = _rounded_up(self.q * other.q, self.grid)
        start, end = _core(p)
        return _Lower(self.grid, self.first + other.first + start, _cut(p, start, end), _cut(q, start, end))


@dataclass(frozen=True)
class _Upper:
    """Places first, first + 1, ... of the grid with their masses under P, and that of an infinite loss, rounded up."""

    grid: Grid
    origin: Fraction
    first: int
    p: fmpz_poly
    infinite: int

    def times(self, other: _Upper) -> _Upper:
        """Return the composition of both; the lower end moves up, the upper end to infinity."""
        p = _rounded_up(self.p * other.p, self.grid)
        ours, theirs = (int(side.p(1)) for side in (self, other))
        infinite = -(-(self.infinite * (theirs + other.infinite) + other.infinite * ours) // self.grid.unit)
        start, end = _core(p)
        low, high = int(_cut(p, 0, start)(1)), int(_cut(p, end, p.length())(1))
        origin, first = self.origin + other.origin, self.first + other.first + start
        return _Upper(self.grid, origin, first, _cut(p, start, end) + low, infinite + high)


def _lower(pair: DominatingPair, grid: Grid) -> _Lower:
    origin = float(_origin(pair))
    cells = [round((_log(p / q) - origin) / float(grid.step)) for p, q in pair.finite]
    first = min(cells)
    sides: list[list[Number]] = [[Fraction(0)] * (max(cells) - first + 1) for _ in range(2)]
    for cell, outcome in zip(cells, pair.finite, strict=True):
        for side, mass in zip(sides, outcome, strict=True):
            side[cell - first] += mass
    p, q = (
        fmpz_poly([rounded(mass * grid.unit) for mass in side])
        for side, rounded in zip(sides, (math.floor, math.ceil), strict=True)
    )
    return _Lower(grid, first, p, q)


def _upper(pair: DominatingPair, grid: Grid) -> _Upper:
    masses: dict[int, int] = {}
    origin = _origin(pair)
    with ctx.workprec(grid.precision):
        for p, q in pair.finite:
            for place, mass in _split(p, q, grid, origin):
                masses[place] = masses.get(place, 0) + mass
    first = min(masses)
    coefficients = [masses.get(place, 0) for place in range(first, max(masses) + 1)]
    return _Upper(grid, origin, first, fmpz_poly(coefficients), math.ceil(pair.certain * grid.unit))


def _split(p: Number, q: Number, grid: Grid, origin: Fraction) -> list[tuple[int, int]]:
    """Return the masses a at e^low and b at e^high, one step apart, with a + b = p and a/e^low + b/e^high = q.

    A loss that is hardly to be told from a place of the grid is taken to be there, or below: b may be less than 0 then,
    and to round it up is to round δ up. With an `a` less than 0 that would not be so.
    """
    guess = math.floor((_log(p / q) - float(origin)) / float(grid.step))
    for low in (guess, guess - 1, guess + 1):
        down, up = grid.exp(origin, low), grid.exp(origin, low + 1)
        a = (as_ball(q) - as_ball(p) * up) / (down - up)
        b = as_ball(p) - a
        if a > 0 and not b < 0:
            return [(low + at, max(_floor(mass * grid.unit), 0) + 2) for at, mass in enumerate((a, b))]
    raise AssertionError("a loss lies in no cell of the grid: a defect of the rounding")


def _rounded_up(product: fmpz_poly, grid: Grid) -> fmpz_poly:
    return (product + fmpz_poly([grid.unit - 1] * product.length())) // fmpz_poly([grid.unit])


def _core(p: fmpz_poly) -> tuple[int, int]:
    """Return the range of cells without those at either end that hold negligible mass."""
    coefficients = [int(mass) for mass in p.coeffs()]
    start, end, held = 0, len(coefficients), 0
    while start < end - 1 and held + coefficients[start] < _NEGLIGIBLE:
        held, start = held + coefficients[start], start + 1
    held = 0
    while end > start + 1 and held + coefficients[end - 1] < _NEGLIGIBLE:
        held, end = held + coefficients[end - 1], end - 1
    return start, end


def _cut(p: fmpz_poly, start: int, end: int) -> fmpz_poly:
    return fmpz_poly(p.coeffs()[start:end])


def _floor(value: arb) -> int:
    return int((value.lower()).floor().unique_fmpz() or 0)


def _log(ratio: Number) -> float:
    """Return an approximate logarithm of a positive number, used only to choose cells."""
    if isinstance(ratio, ExpNumber):
        return log(ratio)
    return math.log(ratio.numerator) - math.log(ratio.denominator)
