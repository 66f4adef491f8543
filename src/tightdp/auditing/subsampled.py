"""The trade-off function of the Poisson-subsampled Gaussian mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from tightdp.auditing.tradeoff import Gaussian, Pair, Polygon, pairs_of_vertices
from tightdp.errors import ParameterError
from tightdp.exact.enclosure import Enclosure, round_up
from tightdp.exact.parameters import read_number

__all__ = ["SubsampledGaussian"]

_STEPS = 60


@dataclass(frozen=True)
class SubsampledGaussian:
    """The trade-off function of P = N(0, 1) and (1 - q) P + q N(mu, 1), read as symmetric, for a rate 0 < q <= 1.

    At x it is (1 - q)(1 - x) + q f(x), f that of the Gaussian mechanism, as far as its slope is at most -1; then its
    mirror image (Dong, Roth, Su 2019, Thm 4.2: the operator C_q).
    """

    mu: Fraction
    rate: Fraction

    def __post_init__(self) -> None:
        rate = read_number("rate", self.rate, 1)
        if rate == 0:
            raise ParameterError("rate is 0", "a probability above 0")
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "mu", self.base.mu)

    @cached_property
    def base(self) -> Gaussian:
        """The mechanism without subsampling."""
        return Gaussian(self.mu)

    def __str__(self) -> str:
        return f"{self.base}, sampled with probability {self.rate}"

    def base_t(self, t: Fraction) -> Fraction:
        """Return the likelihood ratio of the base at which that of the mixture is t; below 0 where there is none."""
        return 1 + (t - 1) / self.rate

    def delta(self, t: Fraction) -> Enclosure:
        """Enclose δ(t) for t >= 1."""
        low, high = self.base.delta(self.base_t(t))
        return Enclosure(self.rate * low, self.rate * high)

    def outer(self, logs: Sequence[float]) -> tuple[Pair, ...]:
        """Return tangents of slopes near -exp(log), δ rounded up."""
        pairs = self.base.outer([self._base_log(log) for log in logs])
        return Polygon(tuple((1 + self.rate * (t - 1), self.rate * delta) for t, delta in pairs)).pairs

    def inner(self, logs: Sequence[float]) -> tuple[Pair, ...]:
        """Return the sides of a polygon whose vertices lie on or just above the curve, near the same tangents."""
        pairs = self.base.inner([self._base_log(log) for log in logs])
        t, delta = pairs[0]
        middle = (1 - delta) / (1 + t)
        vertices = [(middle, middle), (Fraction(0), 1 - pairs[-1][1])]
        for (flat, more), (steep, less) in pairwise(pairs):
            x = (more - less) / (steep - flat)
            vertices.append((x, 1 - less - steep * x))
        mixed = [(x, round_up((1 - self.rate) * (1 - x) + self.rate * y, 160)) for x, y in vertices]
        return pairs_of_vertices([*mixed, mixed[0][::-1]])  # the side of slope -1 is longer than that of the base

    def logs(self, count: int) -> list[float]:
        """Return ε = ln t of `count` tangents, spread as those of the base."""
        return [math.log1p(float(self.rate) * math.expm1(log)) for log in self.base.logs(count)]

    def blow_up(self, x: float) -> float:
        """Return 1 - f(x) in floats, continued with slope 1 beyond the middle."""
        rate = float(self.rate)
        return (1 - rate) * x + rate * self.base.blow_up(x)

    def inverse(self, y: float) -> float:
        """Return the inverse of `blow_up`, 0 where there is none."""
        low, high = 0.0, max(0.0, y)
        if self.blow_up(low) >= y:
            return 0.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.blow_up(middle) < y else (low, middle)
        return low

    def log_slope(self, x: float) -> float:
        """Return the logarithm of the slope of `blow_up`."""
        slope = self.base.log_slope(x)
        return slope if slope > 700 else math.log1p(float(self.rate) * math.expm1(slope))

    def _base_log(self, log: float) -> float:
        return math.log1p(math.expm1(log) / float(self.rate))
