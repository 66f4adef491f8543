"""The trade-off functions of Gaussian and Laplace noise, by name and as families, and searches for a scale.

Whoever satisfies a guarantee satisfies those of larger scales (its ε, or the mu of a family), so that the rejection of
one scale refutes all smaller ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist

from flint import arb

from tightdp.auditing.tradeoff import CURVE_BITS, Curve, Polygon, Tails, short
from tightdp.errors import ParameterError
from tightdp.exact.enclosure import Enclosure, ball, exp, ln, normal_cdf, normal_tail, root, round_up
from tightdp.exact.lazily import lazily
from tightdp.exact.parameters import read_number

_NORMAL = NormalDist()
_NONE = (arb(0), arb(0))
_LARGEST_LOG = 700.0
"""Just below where exp overflows."""


@dataclass(frozen=True)
class Gaussian(Curve):
    """The trade-off function of P = N(0, 1) and (1 - q) P + q N(mu, 1), read as symmetric, for a rate 0 < q <= 1.

    With the rate 1 it is that of the mechanism itself, f(x) = Φ(Φ⁻¹(1 - x) - mu). Sampled, it is at x
    (1 - q)(1 - x) + q f(x), as far as its slope is at most -1; then its mirror image (Dong, Roth, Su 2019, Thm 4.2: the
    operator C_q).
    """

    rate: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        super().__post_init__()
        rate = read_number("rate", self.rate, 1)
        if rate == 0:
            raise ParameterError("rate is 0", "a probability above 0")
        object.__setattr__(self, "rate", rate)

    def __str__(self) -> str:
        named = f"the Gaussian trade-off function with mu = {self.mu}"
        return named if self.rate == 1 else f"{named}, sampled with probability {self.rate}"

    @cached_property
    def _floats(self) -> tuple[float, float, float]:
        """mu, the x with f(x) = x, and the rate."""
        mu = float(self.mu)
        return mu, _cdf(-mu / 2), float(self.rate)

    def _base_t(self, t: Fraction) -> Fraction:
        """Return the likelihood ratio of the mechanism at which that of the mixture is t; below 0 for none."""
        return 1 + (t - 1) / self.rate

    def delta(self, t: Fraction) -> Enclosure:
        """Enclose δ(t) for t = e^ε: q times that of the mechanism, Φ(mu/2 - ε/mu) - t Φ(-mu/2 - ε/mu), at its t."""
        base = self._base_t(t)
        log = ln(base)
        center, low, high = self.mu / 2, log.lower / self.mu, log.upper / self.mu
        first = normal_cdf(Enclosure(center - high, center - low))
        second = normal_cdf(Enclosure(-center - high, -center - low))
        least = max(Fraction(0), first.lower - base * second.upper)
        return Enclosure(self.rate * least, self.rate * (first.upper - base * second.lower))

    def points(self, logs: Sequence[float]) -> list[tuple[Fraction, Fraction]]:
        half, mu = self.mu / 2, self._floats[0]
        scores = [half, *(score for score in (short(self._unmixed(log) / mu + mu / 2) for log in logs) if score > half)]
        # the tangent at x = Φ(-s) has slope -exp(s mu - mu²/2)
        found = [(_cdf_above(-score), _cdf_above(score - self.mu)) for score in scores]
        mixed = [(x, round_up((1 - self.rate) * (1 - x) + self.rate * y, CURVE_BITS)) for x, y in found]
        return [*mixed, mixed[0][::-1]]  # the side of slope -1 is longer than that of the mechanism

    def logs(self, count: int) -> list[float]:
        """Return ε = ln t of `count` tangents, evenly spread over the scores that matter."""
        return [self._mixed(float(self.mu) * 7.5 * i / (count - 1)) for i in range(count)]

    def tails(self, t: Fraction | None, strict: bool) -> Tails:
        if t is None:
            return _NONE
        high, low = self._base_t(t), self._base_t(1 / t)
        return self._mass(high, 1), self._mass(low, -1) if low > 0 else arb(0)

    def _mass(self, t: Fraction, sign: int) -> arb:
        """Return the mass where the mechanism has a likelihood ratio of at least t (at most t for the sign -1)."""
        mu, rate = ball(self.mu), ball(self.rate)
        score = ball(t).log() / mu + mu / 2
        return ((2 - rate) * normal_tail(sign * score) + rate * normal_tail(sign * (score - mu))) / 2

    def blow_up(self, x: float) -> float:
        mu, middle, rate = self._floats
        base = x + 1 - 2 * middle if x >= middle else _cdf(_NORMAL.inv_cdf(x) + mu) if x > 0 else 0.0
        return (1 - rate) * x + rate * base

    def inverse(self, y: float) -> float:
        mu, middle, rate = self._floats
        x = y - 1 + 2 * middle if y >= 1 - middle else _cdf(_NORMAL.inv_cdf(y) - mu) if y > 0 else 0.0
        if rate == 1:
            return x
        # below the solution: Newton steps rise to it, as `blow_up` is concave
        while x > 0 and (step := (y - self.blow_up(x)) * math.exp(-self.log_slope(x))) > 1e-15 * x:
            x += step
        return x

    def log_slope(self, x: float) -> float:
        mu = self._floats[0]
        return self._mixed(max(0.0, -_NORMAL.inv_cdf(x) * mu - mu * mu / 2) if 0 < x < 0.5 else 0.0 if x else math.inf)

    def _mixed(self, log: float) -> float:
        """Return the logarithm of the slope of the mixture where that of the mechanism is `log`."""
        return log if self.rate == 1 or log > _LARGEST_LOG else math.log1p(float(self.rate) * math.expm1(log))

    def _unmixed(self, log: float) -> float:
        return log if self.rate == 1 else math.log1p(math.expm1(log) / float(self.rate))


class Laplace(Curve):
    """The trade-off function of two Laplace laws of scale 1 at distance mu > 0 (pure DP with ε = mu)."""

    def __str__(self) -> str:
        return f"the Laplace trade-off function with mu = {self.mu}"

    @property
    def steepest(self) -> Fraction:
        return round_up(exp(self.mu).upper, 64)

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

    def points(self, logs: Sequence[float]) -> list[tuple[Fraction, Fraction]]:
        """Return points on or just above f(x) = e^-mu / (4x), and where its straight end begins."""
        scale = exp(-self.mu).upper
        middle = round_up(root(scale).upper / 2, CURVE_BITS)
        found = [middle * short(math.exp(-log / 2)) for log in logs if 0 < log < float(self.mu)]
        curved = [(x, round_up(scale / (4 * x), CURVE_BITS)) for x in found]
        return [(middle, middle), (round_up(scale / 2, CURVE_BITS), Fraction(1, 2)), *curved]

    def logs(self, count: int) -> list[float]:
        return [float(self.mu) * i / (count - 1) for i in range(count)]

    def tails(self, t: Fraction | None, strict: bool) -> Tails:
        largest = ball(self.mu).exp()
        if t is None or ball(t) > largest:
            return _NONE
        scale = (ball(t) / largest).sqrt()
        tail = (1 - scale / 2 + 1 / (2 * scale * largest)) / 2
        return tail, tail

    def blow_up(self, x: float) -> float:
        mu, middle = self._floats
        if x <= math.exp(-mu) / 2:
            return math.exp(mu) * x
        return 1 - math.exp(-mu) / (4 * x) if x < middle else x + 1 - 2 * middle

    def inverse(self, y: float) -> float:
        mu, middle = self._floats
        if y <= 0.5:
            return math.exp(-mu) * y
        return math.exp(-mu) / (4 * (1 - y)) if y < 1 - middle else y - 1 + 2 * middle

    def log_slope(self, x: float) -> float:
        mu, _ = self._floats
        return mu if x <= math.exp(-mu) / 2 else max(0.0, -mu - math.log(4 * x * x))


# by name

Family = Callable[[Fraction], Curve]
"""The trade-off function of a scale; a larger scale is a weaker guarantee."""

_NAMED = re.compile("(gaussian|laplace):([^@]*)(?:(?<=[^@])@(.*))?")


def family_of(name: object) -> Family | None:
    """Return the family of a name: gaussian, laplace, or gaussian@RATE (sub-sampled); None for others."""
    if isinstance(name, str) and name.startswith("gaussian@"):
        rate = read_number("rate", name.removeprefix("gaussian@"), 1)
        return lambda mu: Gaussian(mu, rate)
    families: dict[object, Family] = {"gaussian": Gaussian, "laplace": Laplace}
    return families.get(name) if isinstance(name, str) else None


def as_tradeoff(tradeoff: object) -> Polygon | Curve:
    """Return the curve that `tradeoff` stands for: a curve, or a list of (exp_epsilon, delta) pairs."""
    if isinstance(tradeoff, (Polygon, Curve)):
        return tradeoff
    if isinstance(tradeoff, str) and (found := _NAMED.fullmatch(tradeoff)):
        name, scale, rate = found.groups()
        mu = read_number(f"mu of the {name} trade-off function", scale)
        if name == "laplace":
            return Laplace(mu)
        return Gaussian(mu, Fraction(1) if rate is None else read_number("rate", rate, 1))
    if isinstance(tradeoff, (str, bytes)) or not isinstance(tradeoff, Iterable):
        raise ParameterError(
            f"{tradeoff!r} is not a trade-off function",
            "give gaussian:1, gaussian:1@1/2 (sampled with probability 1/2), laplace:1, a list of (exp_epsilon, delta) "
            "pairs, gaussian or laplace for the family, or a program",
        )
    pairs = []
    for entry in tradeoff:
        if not isinstance(entry, (tuple, list)) or len(entry) != 2:
            raise ParameterError(f"{entry!r} is not an (exp_epsilon, delta) pair", "give two rationals")
        pairs.append((read_number("exp_epsilon of a pair", entry[0]), read_number("delta of a pair", entry[1])))
    return Polygon(tuple(pairs))


def _cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _cdf_above(score: Fraction) -> Fraction:
    """Return a short rational just above Φ(score)."""
    return round_up(normal_cdf(Enclosure.exactly(score)).upper, CURVE_BITS)


# the largest scale


optimize = lazily("scipy.optimize")

_LEAST = 2.0**-30
"""A smaller scale is not told from 0."""
LARGEST_EPSILON = 230.0
"""e^230 is about 10^100."""


def largest_rejected(rejects: Callable[[float], bool], most: float, bits: int, near: float = 0.0) -> float | None:
    """Return a rejected scale within a factor of 1 + 2^-bits of the largest up to `most`, None if there is none."""
    low, high = _LEAST, most
    if not rejects(low):
        return None
    for share in (2.0**-8, 2.0**-6, 2.0**-4, 2.0**-2):  # far from the answer, decisions can take long
        for probe in (near * (1 - share), near * (1 + share)):
            if low < probe < high:
                low, high = (probe, high) if rejects(probe) else (low, probe)
    while high - low > low * 2.0**-bits:
        middle = math.sqrt(low * high) if high > 2 * low else (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if rejects(middle) else (low, middle)
    return low


def confirmed(
    excess: Callable[[float], float], rejects: Callable[[float], bool], most: float, bits: int
) -> float | None:
    """Return a rejected scale, or None, for costly decisions: floats find the place, `rejects` decides.

    `excess` is at most 0 where the scale should be rejected. Where the place is not confirmed, it is lowered in small
    steps.
    """
    low = high = 0.5
    while excess(low) > 0:
        low, high = low / 2, low
        if low < _LEAST:
            return None
    while high < most and excess(high) <= 0:
        low, high = high, min(most, 2 * high)
    found = low
    if low < high:
        rejects(low)  # something is known then, should a limit cut the search short
        found = optimize.brentq(excess, low, high, xtol=low * 2.0 ** -(bits + 2), rtol=2.0**-50)
    lowered = 2.0**-bits
    while lowered < 1:
        if rejects(found * (1 - lowered)):
            return found * (1 - lowered)
        lowered *= 8
    return None


def t_of(epsilon: float) -> Fraction:
    """Return a rational e^ε."""
    return Fraction(math.exp(epsilon))


def rejected_t(rejects: Callable[[Fraction], bool], near: float = 1.0) -> Fraction:
    """Return a rejected e^ε within 2^-48 of the largest found, or 1; `rejects` is asked about `near` first."""
    found = largest_rejected(lambda epsilon: rejects(t_of(epsilon)), LARGEST_EPSILON, 52, math.log(near))
    return Fraction(1) if found is None else t_of(found)


def rejected_exp_epsilon(curve: Curve, delta: Fraction) -> Fraction:
    """Return a rational at most the least e^ε with δ(ε) <= delta, close to it: the guarantee's ε at this δ."""
    if delta == 0 and isinstance(curve, Gaussian):
        raise ParameterError("a Gaussian trade-off function has no finite epsilon at delta = 0", "give delta above 0")
    return rejected_t(lambda t: curve.delta(t).lower > delta)
