"""Trade-off functions as lists of exact (e^ε, δ) pairs.

A guarantee of the game is symmetric: it holds for a dataset and its neighbour in both orders. So a trade-off
function f may be replaced by the larger of f and its inverse, and is then the list of its supporting lines of
slope -t, t >= 1: f(x) >= 1 - δ - t x. A polygon has finitely many. A smooth curve is enclosed between two
polygons: its tangents (weaker, used for guarantees) and its chords (stronger, used for what is attained).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from statistics import NormalDist
from typing import Protocol, runtime_checkable

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import Enclosure, exp, ln, normal_cdf, root, round_up
from tightdp.exact.parameters import read_number
from tightdp.exact.rationals import as_fraction

__all__ = ["Curve", "Gaussian", "Laplace", "Pair", "Polygon", "pairs_of_vertices"]

Pair = tuple[Fraction, Fraction]
"""(t, δ) with t = e^ε >= 1 and 0 <= δ <= 1."""


@runtime_checkable
class Curve(Protocol):
    """A smooth symmetric trade-off function f, enclosed between polygons.

    `outer` and `inner` are exact; the float functions serve searches that are rechecked.
    """

    def outer(self, logs: Sequence[float]) -> tuple[Pair, ...]:
        """Return pairs that every mechanism under the guarantee satisfies: tangents of slope near -exp(log)."""

    def inner(self, logs: Sequence[float]) -> tuple[Pair, ...]:
        """Return pairs that together imply the guarantee: chords between points with those tangents."""

    def logs(self, count: int) -> list[float]:
        """Return logarithms of slopes, spread over the curve."""

    def delta(self, t: Fraction) -> Enclosure:
        """Enclose δ(t)."""

    def blow_up(self, x: float) -> float:
        """Return 1 - f(x), continued with slope 1 where its slope would fall below 1."""

    def inverse(self, y: float) -> float:
        """Return the inverse of `blow_up`."""

    def log_slope(self, x: float) -> float:
        """Return the logarithm of the slope of `blow_up`."""


@dataclass(frozen=True)
class Polygon:
    """The guarantee that every one of finitely many (e^ε, δ) pairs holds, e^ε >= 1 ascending."""

    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", _checked(self.pairs))


@dataclass(frozen=True)
class Gaussian:
    """The trade-off function of N(0, 1) against N(mu, 1): f(x) = Φ(Φ⁻¹(1 - x) - mu), for a rational mu > 0."""

    mu: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", _positive(self.mu, "mu"))

    def __str__(self) -> str:
        return f"the Gaussian trade-off function with mu = {self.mu}"

    @cached_property
    def _floats(self) -> tuple[float, float]:
        """mu, and the x with f(x) = x."""
        mu = float(self.mu)
        return mu, _cdf(-mu / 2)

    def delta(self, t: Fraction) -> Enclosure:
        """Enclose δ(t) = Φ(mu/2 - ε/mu) - t Φ(-mu/2 - ε/mu) for t = e^ε."""
        log = ln(t)
        center, low, high = self.mu / 2, log.lower / self.mu, log.upper / self.mu
        first = normal_cdf(Enclosure(center - high, center - low))
        second = normal_cdf(Enclosure(-center - high, -center - low))
        return Enclosure(max(Fraction(0), first.lower - t * second.upper), first.upper - t * second.lower)

    def outer(self, logs: Sequence[float]) -> tuple[Pair, ...]:
        """Return the tangents of slopes near -exp(log) for each log >= 0, δ rounded up."""
        found = sorted({_short(math.exp(log)) for log in logs} | {Fraction(1)})
        return Polygon(tuple((t, min(Fraction(1), round_up(self.delta(t).upper, 160))) for t in found)).pairs

    def inner(self, logs: Sequence[float]) -> tuple[Pair, ...]:
        """Return the sides of a polygon whose vertices lie on or just above the curve, near the same
        tangents.
        """
        half, mu = self.mu / 2, float(self.mu)
        middle = round_up(normal_cdf(Enclosure.exactly(-half)).upper, 160)
        vertices = [(Fraction(0), Fraction(1)), (middle, middle)]
        for score in (_short(log / mu + mu / 2) for log in logs):
            if score > half:  # the tangent at x = Φ(-s) has slope -exp(s mu - mu²/2)
                x = round_up(normal_cdf(Enclosure.exactly(-score)).upper, 160)
                vertices.append((x, round_up(normal_cdf(Enclosure.exactly(score - self.mu)).upper, 160)))
        return pairs_of_vertices(vertices)

    def logs(self, count: int) -> list[float]:
        """Return ε = ln t of `count` tangents, evenly spread over the scores that matter."""
        return [float(self.mu) * 7.5 * i / (count - 1) for i in range(count)]

    def blow_up(self, x: float) -> float:
        """Return 1 - f(x) in floats, continued with slope 1 beyond the middle."""
        mu, middle = self._floats
        if x >= middle:
            return x + 1 - 2 * middle
        return _cdf(_NORMAL.inv_cdf(x) + mu) if x > 0 else 0.0

    def inverse(self, y: float) -> float:
        """Return the inverse of `blow_up`, 0 where there is none."""
        mu, middle = self._floats
        if y >= 1 - middle:
            return y - 1 + 2 * middle
        return _cdf(_NORMAL.inv_cdf(y) - mu) if y > 0 else 0.0

    def log_slope(self, x: float) -> float:
        """Return the logarithm of the slope of `blow_up`."""
        mu, _ = self._floats
        return max(0.0, -_NORMAL.inv_cdf(x) * mu - mu * mu / 2) if 0 < x < 0.5 else 0.0 if x else 1e3


@dataclass(frozen=True)
class Laplace:
    """The trade-off function of two Laplace laws of scale 1 at distance mu > 0 (pure DP with ε = mu)."""

    mu: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", _positive(self.mu, "mu"))

    def __str__(self) -> str:
        return f"the Laplace trade-off function with mu = {self.mu}"

    @cached_property
    def _floats(self) -> tuple[float, float]:
        """mu, and the x with f(x) = x."""
        mu = float(self.mu)
        return mu, math.exp(-mu / 2) / 2

    def delta(self, t: Fraction) -> Enclosure:
        """Enclose δ(t) = max(0, 1 - sqrt(t / e^mu))."""
        scale = exp(-self.mu)
        low, high = root(t * scale.lower).lower, root(t * scale.upper).upper
        return Enclosure(max(Fraction(0), 1 - high), max(Fraction(0), 1 - low))

    def outer(self, logs: Sequence[float]) -> tuple[Pair, ...]:
        """Return the tangents of slopes near -exp(log), δ rounded up, and (e^mu, 0)."""
        top = round_up(exp(self.mu).upper, 64)
        found = sorted({_short(math.exp(log)) for log in logs} | {Fraction(1)})
        pairs = [(t, round_up(self.delta(t).upper, 160)) for t in found if t < top]
        return Polygon((*pairs, (top, Fraction(0)))).pairs

    def inner(self, logs: Sequence[float]) -> tuple[Pair, ...]:
        """Return the sides of a polygon with vertices on or just above f(x) = e^-mu / (4x) and its straight
        end.
        """
        scale = exp(-self.mu).upper
        middle = round_up(root(scale).upper / 2, 160)
        vertices = [(Fraction(0), Fraction(1)), (middle, middle), (round_up(scale / 2, 160), Fraction(1, 2))]
        for log in logs:
            if 0 < log < float(self.mu):
                x = middle * _short(math.exp(-log / 2))
                vertices.append((x, round_up(scale / (4 * x), 160)))
        return pairs_of_vertices(vertices)

    def logs(self, count: int) -> list[float]:
        """Return ε = ln t of `count` tangents, evenly spread."""
        return [float(self.mu) * i / (count - 1) for i in range(count)]

    def blow_up(self, x: float) -> float:
        """Return 1 - f(x) in floats, continued with slope 1 beyond the middle."""
        mu, middle = self._floats
        if x <= math.exp(-mu) / 2:
            return math.exp(mu) * x
        return 1 - math.exp(-mu) / (4 * x) if x < middle else x + 1 - 2 * middle

    def inverse(self, y: float) -> float:
        """Return the inverse of `blow_up`."""
        mu, middle = self._floats
        if y <= 0.5:
            return math.exp(-mu) * y
        return math.exp(-mu) / (4 * (1 - y)) if y < 1 - middle else y - 1 + 2 * middle

    def log_slope(self, x: float) -> float:
        """Return the logarithm of the slope of `blow_up`."""
        mu, _ = self._floats
        if x <= math.exp(-mu) / 2:
            return mu
        return max(0.0, -mu - math.log(4 * x * x))


def pairs_of_vertices(vertices: Iterable[tuple[object, object]]) -> tuple[Pair, ...]:
    """Return the pairs of the trade-off function whose graph is the lower hull of (x, f(x)) vertices.

    The guarantee is read as symmetric: a side of slope -s, 0 < s < 1, is the line of the inverse with slope
    -1/s.
    """
    points = [(as_fraction(x), as_fraction(y)) for x, y in vertices]
    for x, y in points:
        if not (0 <= x <= 1 and 0 <= y <= 1):
            raise ParameterError(
                f"the vertex ({x}, {y}) is outside the unit square",
                "give (false positive, false negative) rates",
            )
    lower, other = _hull(points), _hull([(y, x) for x, y in points])
    pairs = _lines(lower) + _lines(other)
    if not pairs:
        if len(lower) < 2 and len(other) < 2:
            raise ParameterError("the vertices span no side of the trade-off function", "give at least two vertices")
        pairs = [(Fraction(1), 1 - min(x + y for x, y in points))]
    return Polygon(tuple(pairs)).pairs


def _checked(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Mirror pairs with t < 1, keep the smallest δ of each t, drop pairs that others imply. Raises ParameterError."""
    best: dict[Fraction, Fraction] = {}
    for t, delta in pairs:
        if t <= 0 or not 0 <= delta <= 1:
            raise ParameterError(
                f"(exp_epsilon, delta) = ({t}, {delta}) is not a guarantee",
                "exp_epsilon > 0 and 0 <= delta <= 1",
            )
        if t < 1:  # P - tP' has the excess δ exactly when P' - P/t has (δ - 1 + t)/t
            t, delta = 1 / t, (delta - 1 + t) / t
            if delta < 0:
                raise ParameterError(f"no mechanism satisfies delta = {1 + (delta - 1) / t} there", "delta >= 1 - t")
        best[t] = min(delta, best.get(t, delta))
    falling: list[Pair] = []
    for t in sorted(best):
        if not falling or best[t] < falling[-1][1]:
            falling.append((t, best[t]))
    kept: list[Pair] = []
    for pair in reversed(falling):
        if not kept or not _implies(kept[-1], pair):
            kept.append(pair)
    kept.reverse()
    if not kept:
        raise ParameterError("the trade-off function has no pairs", "give at least one (exp_epsilon, delta)")
    return tuple(kept)


def _implies(steep: Pair, pair: Pair) -> bool:
    """Whether every mechanism with the steeper pair has the other: its curve meets f(x) = x above that line."""
    (t, delta), (t_less, delta_less) = steep, pair
    return (1 - delta) * (1 + t_less) >= (1 - delta_less) * (1 + t)


def _hull(points: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    hull: list[tuple[Fraction, Fraction]] = []
    for x, y in sorted(set(points)):
        if hull and hull[-1][0] == x:
            continue
        while len(hull) > 1 and _turns_right(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    return hull


def _turns_right(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) <= (b[1] - a[1]) * (c[0] - a[0])


def _lines(hull: list[tuple[Fraction, Fraction]]) -> list[Pair]:
    """Return (t, δ) of the sides of slope at most -1."""
    lines = []
    for (x, y), (x_next, y_next) in pairwise(hull):
        t = (y - y_next) / (x_next - x)
        if t >= 1:
            lines.append((t, 1 - y - t * x))
    return lines


def _short(value: float) -> Fraction:
    """Return a rational of some 40 bits near a float."""
    shift = 40 - math.frexp(value)[1]
    return Fraction(round(math.ldexp(value, shift)), 1) / Fraction(2) ** shift


_NORMAL = NormalDist()


def _cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _positive(value: object, name: str) -> Fraction:
    fraction = read_number(name, value)
    if not 0 < fraction <= 100:
        raise ParameterError(f"{name} is {fraction}", "a number above 0, at most 100")
    return fraction
