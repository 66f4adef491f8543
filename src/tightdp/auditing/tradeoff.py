"""Trade-off functions as lists of exact (e^ε, δ) pairs.

A guarantee of the game is symmetric: it holds for a dataset and its neighbour in both orders. So a trade-off
function f may be replaced by the larger of f and its inverse, and is then the list of its supporting lines of
slope -t, t >= 1: f(x) >= 1 - δ - t x. A polygon has finitely many. A smooth curve is enclosed between two
polygons: its tangents (weaker, used for guarantees) and its chords (stronger, used for what is attained).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import Enclosure, ball, round_up
from tightdp.exact.parameters import read_number
from tightdp.exact.rationals import as_fraction

Pair = tuple[Fraction, Fraction]
"""(t, δ) with t = e^ε >= 1 and 0 <= δ <= 1."""

Tails = tuple[arb, arb]
"""The probabilities that a loss is at least ln t, and that it is at most -ln t."""

CURVE_BITS = 160
"""Fractional bits of the numbers that enclose a curve."""


@dataclass(frozen=True)
class Polygon:
    """The guarantee that every one of finitely many (e^ε, δ) pairs holds, e^ε >= 1 ascending."""

    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", _checked(self.pairs))

    def tails(self, t: Fraction | None, strict: bool) -> Tails:
        """Return the tails of the loss of a uniform secret, as `Curve.tails`."""
        slope, delta, x = Fraction(-1), Fraction(1), Fraction(0)
        for steeper, less in self.pairs:
            if t is not None and (steeper > t or (steeper == t and not strict)):
                x = (delta - less) / (steeper - slope)
                delta = less + steeper * x + x
                break
            slope, delta = steeper, less
        tail = ball(delta / 2)
        return tail, tail


@dataclass(frozen=True)
class Curve(ABC):
    """A smooth symmetric trade-off function f of a scale mu, enclosed between polygons.

    `delta`, `outer` and `inner` are exact; the float functions serve searches that are rechecked.
    """

    mu: Fraction

    def __post_init__(self) -> None:
        mu = read_number("mu", self.mu)
        if not 0 < mu <= 100:
            raise ParameterError(f"mu is {mu}", "a number above 0, at most 100")
        object.__setattr__(self, "mu", mu)

    def outer(self, logs: Sequence[float]) -> tuple[Pair, ...]:
        """Return pairs that every mechanism under the guarantee satisfies: tangents of slope near -exp(log)."""
        found = sorted({short(math.exp(log)) for log in logs} | {Fraction(1)})
        last = self.steepest
        pairs = [
            (t, min(Fraction(1), round_up(self.delta(t).upper, CURVE_BITS))) for t in found if last is None or t < last
        ]
        return Polygon((*pairs, *([] if last is None else [(last, Fraction(0))]))).pairs

    def inner(self, logs: Sequence[float]) -> tuple[Pair, ...]:
        """Return pairs that together imply the guarantee: chords between points with those tangents."""
        return pairs_of_vertices([(Fraction(0), Fraction(1)), *self.points(logs)])

    @property
    def steepest(self) -> Fraction | None:
        """A rational just above the largest likelihood ratio, None where it is infinite."""
        return None

    @abstractmethod
    def delta(self, t: Fraction) -> Enclosure:
        """Enclose δ(t) for t >= 1."""

    @abstractmethod
    def points(self, logs: Sequence[float]) -> list[tuple[Fraction, Fraction]]:
        """Return points on or just above the curve: that with f(x) = x, and some with slopes near -exp(log)."""

    @abstractmethod
    def logs(self, count: int) -> list[float]:
        """Return ε = ln t of `count` tangents, spread over the curve."""

    @abstractmethod
    def tails(self, t: Fraction | None, strict: bool) -> Tails:
        """Return the tails of the loss of a uniform secret at ln t, None for infinite; t > 1, or t >= 1 where `strict`
        leaves out equality.
        """

    @abstractmethod
    def blow_up(self, x: float) -> float:
        """Return 1 - f(x) in floats, continued with slope 1 where its slope would fall below 1."""

    @abstractmethod
    def inverse(self, y: float) -> float:
        """Return the inverse of `blow_up`, 0 where there is none."""

    @abstractmethod
    def log_slope(self, x: float) -> float:
        """Return the logarithm of the slope of `blow_up`."""


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
    lower, other = lower_hull(points), lower_hull([(y, x) for x, y in points])
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
    kept: list[Pair] = []
    for pair in reversed(lower_hull(best.items())):  # a mechanism's δ is convex in t, and falls
        if kept and pair[1] <= kept[-1][1]:
            kept.pop()
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


def lower_hull(points: Iterable[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return the corners of the lower hull of points, from left to right."""
    hull: list[tuple[Fraction, Fraction]] = []
    for x, y in sorted(set(points)):
        if hull and hull[-1][0] == x:
            continue
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (x1 - x0) * (y - y0) > (y1 - y0) * (x - x0):
                break
            hull.pop()
        hull.append((x, y))
    return hull


def _lines(hull: list[tuple[Fraction, Fraction]]) -> list[Pair]:
    """Return (t, δ) of the sides of slope at most -1."""
    lines = []
    for (x, y), (x_next, y_next) in pairwise(hull):
        t = (y - y_next) / (x_next - x)
        if t >= 1:
            lines.append((t, 1 - y - t * x))
    return lines


def short(value: float) -> Fraction:
    """Return a rational of some 40 bits near a float."""
    shift = 40 - math.frexp(value)[1]
    return Fraction(round(math.ldexp(value, shift)), 1) / Fraction(2) ** shift
