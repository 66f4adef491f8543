"""The exact laws of the random primitives.

A law lists its outcomes of positive probability in canonical order (False before True, integers ascending);
the probabilities are exact numbers that sum to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, wraps
from itertools import chain
from typing import Any, TypeAlias

from tightdp.errors import ParameterError
from tightdp.exact import theta, weights
from tightdp.exact.field import ExpNumber, Number, exp
from tightdp.exact.polynomials import inside_and_outside
from tightdp.exact.rationals import Symbolic, as_int
from tightdp.language.doubles import BITS
from tightdp.limits.calibrated import TABLE_ENTRIES

Law: TypeAlias = tuple[tuple[int, Number], ...]

_DISTANCES = 1 << 16


def as_exact(value: Any) -> Number:
    """A number, exactly: where numbers are doubles as they run, a float is the rational that it is."""
    return Fraction(value) if BITS.get() and isinstance(value, float) else weights.as_exact(value)


@dataclass(frozen=True)
class OnIntegers:
    """Noise on all integers, symmetric around its centre."""

    centre: int

    @property
    def shape(self) -> Number:
        """What the law depends on besides its kind and its centre."""
        raise NotImplementedError

    def mass(self, z: int) -> Number:
        """The probability of z."""
        raise NotImplementedError

    def at_least(self, z: int) -> Number:
        """The probability of z or more."""
        raise NotImplementedError

    def at_most(self, z: int) -> Number:
        """The probability of z or less."""
        return self.at_least(2 * self.centre - z)


@dataclass(frozen=True)
class TwoSided(OnIntegers):
    """Noise on all integers: P(z) is proportional to ratio^|z - centre|. The ratio is positive and below 1."""

    ratio: Number

    @property
    def shape(self) -> Number:
        """The ratio."""
        return self.ratio

    def mass(self, z: int) -> Number:
        return _at_distance(abs(z - self.centre), self.ratio)

    def at_least(self, z: int) -> Number:
        return _tail(z - self.centre, self.ratio)


@dataclass(frozen=True)
class Gaussian(OnIntegers):
    """Noise on all integers: P(z) is proportional to e^(-(z - centre)²/(2·variance)); the variance is positive.

    Probabilities are rationals whose relative error is at most `theta.RELATIVE`.
    """

    variance: Fraction

    @property
    def shape(self) -> Number:
        """The variance."""
        return self.variance

    def mass(self, z: int) -> Fraction:
        return theta.mass(self.variance, abs(z - self.centre))

    def at_least(self, z: int) -> Fraction:
        return theta.beyond(self.variance, z - self.centre)


@dataclass(frozen=True)
class Exponentials:
    """Noise around a centre by pieces: on each, from `low` to `high`, what z - centre has is weight·base^(z - centre).

    An end that is None is missing. That is a density, or on integers, where it is not `real`, a mass. Bases on the
    reals are powers of e.
    """

    centre: int | Fraction
    weight: Number
    pieces: tuple[tuple[Fraction | None, Fraction | None, Number], ...]
    real: bool = True


def bernoulli(p: object) -> Law:
    """True with probability p, else False. Raises ParameterError unless 0 <= p <= 1."""
    return _bernoulli(_probability(p, "the probability of flip"))


def uniform(lo: object, hi: object) -> Law:
    """Every integer in lo..hi, both included, equally likely. Raises ParameterError when lo > hi."""
    first, last = as_int(lo, "the lower end of randint"), as_int(hi, "the upper end of randint")
    if first > last:
        raise ParameterError(f"randint({first}, {last}) has no outcome", "give the lower end first")
    return _uniform(first, last)


def weighted(values: Iterable[object], weights: Iterable[object] | None = None) -> Law:
    """The index of one of `values`, with probability proportional to its weight (uniform without weights).

    Raises ParameterError when there are no values, or the weights are negative, all 0, or not one per value.
    """
    count = len(tuple(values))
    if count == 0:
        raise ParameterError("choice was given no values", "give at least one value")
    if weights is None:
        return _uniform(0, count - 1)
    exact = tuple(_nonnegative(weight) for weight in weights)
    if len(exact) != count:
        raise ParameterError(f"choice was given {count} values and {len(exact)} weights", "give one weight per value")
    if not any(exact):
        raise ParameterError("the weights of choice are all 0", "give at least one positive weight")
    return _weighted(exact)


def binomial(n: object, p: object) -> Law:
    """The number of successes in n independent trials of probability p. ParameterError unless n >= 0."""
    trials = as_int(n, "the number of trials of binomial")
    if trials < 0:
        raise ParameterError(f"binomial was given {trials} trials", "give a number of trials of at least 0")
    return _binomial(trials, _probability(p, "the probability of binomial"))


def geometric(v: object, ratio: object, lo: object = None, hi: object = None) -> Law | TwoSided:
    """Two-sided geometric noise around v, on all integers or clamped to lo..hi.

    P(z) is proportional to ratio^|z - v| on all integers; the mass beyond an end is moved to that end, and v
    may lie outside lo..hi. Raises ParameterError unless 0 <= ratio < 1, lo <= hi, and both ends are given or none.
    """
    centre, exact = as_int(v, "the centre of geometric"), _below_1(ratio, "geometric")
    if lo is None and hi is None:
        return TwoSided(centre, exact) if exact else ((centre, Fraction(1)),)
    if lo is None or hi is None:
        raise ParameterError("geometric was given one end", "give both ends, or none, and clamp with min or max")
    first, last = as_int(lo, "the lower end of geometric"), as_int(hi, "the upper end of geometric")
    if first > last:
        raise ParameterError(f"geometric was given the empty range {first}..{last}", "give the lower end first")
    return _geometric(centre, exact, first, last)


def discrete_laplace(v: object, scale: object) -> TwoSided:
    """Noise on all integers around v: P(z) is proportional to e^(-|z - v| / scale). The ratio is e^(-1/scale).

    Raises ParameterError unless the scale is a positive rational. Ghosh, Roughgarden and Sundararajan 2009.
    """
    width = _scale(scale, "discrete_laplace", real=False)
    return TwoSided(as_int(v, "the centre of discrete_laplace"), exp(-1 / width))


def discrete_gaussian(v: object, sigma_squared: object) -> Gaussian:
    """Noise on all integers around v: P(z) is proportional to e^(-(z - v)²/(2·sigma_squared)).

    Raises ParameterError unless sigma_squared is a positive rational. Canonne, Kamath and Steinke 2020.
    """
    variance = _positive_rational(sigma_squared, "discrete_gaussian", "sigma_squared")
    return Gaussian(as_int(v, "the centre of discrete_gaussian"), variance)


def one_sided_geometric(v: object, ratio: object) -> Exponentials | Law:
    """v plus a number of failures: P(z) = (1 - ratio)·ratio^(z - v) for integers z >= v.

    Raises ParameterError unless 0 <= ratio < 1.
    """
    centre, exact = as_int(v, "the centre of one_sided_geometric"), _below_1(ratio, "one_sided_geometric")
    if not exact:
        return ((centre, Fraction(1)),)
    return Exponentials(centre, 1 - exact, ((Fraction(0), None, exact),), real=False)


def laplace(v: object, scale: object) -> Exponentials:
    """Real noise around v of density e^(-|z - v| / scale) / (2·scale). ParameterError unless the scale is positive."""
    weight, sides = _laplace(_scale(scale, "laplace"))
    return Exponentials(_rational(v, "the centre of laplace"), weight, sides)


@lru_cache(maxsize=1024)
def _laplace(width: Number) -> tuple[Number, tuple[tuple[Fraction | None, Fraction | None, Number], ...]]:
    """Return the density at the centre, and the pieces on both sides."""
    return 1 / (2 * width), ((Fraction(0), None, exp(-1 / width)), (None, Fraction(0), exp(1 / width)))


def exponential(v: object, scale: object) -> Exponentials:
    """Real noise above v of density e^(-(z - v) / scale) / scale. ParameterError unless the scale is positive."""
    width = _scale(scale, "exponential")
    side = Fraction(0), None, exp(-1 / width)
    return Exponentials(_rational(v, "the centre of exponential"), 1 / width, (side,))


def continuous_uniform(a: object, b: object) -> Exponentials:
    """A real number between a and b, of constant density. ParameterError unless a < b."""
    low, high = _rational(a, "the lower end of uniform"), _rational(b, "the upper end of uniform")
    if low >= high:
        raise ParameterError(f"uniform was given the empty range {low}..{high}", "give the lower end first")
    return Exponentials(low, Fraction(1) / (high - low), ((Fraction(0), high - low, Fraction(1)),))


def _below_1(ratio: object, primitive: str) -> Number:
    exact = as_exact(ratio)
    if not 0 <= exact < 1:
        raise ParameterError(f"the ratio of {primitive} is {exact}", "give a ratio of at least 0 and below 1")
    return exact


def _scale(value: object, primitive: str, real: bool = True) -> Number:
    """Read a scale: a positive rational, or a function of the unknown, which is a factor of a density besides."""
    exact = as_exact(value)
    if isinstance(exact, ExpNumber) and exact.unknown:
        if real:
            inside_and_outside()
        if exact > 0:
            return exact
    return _positive_rational(exact, primitive)


def _positive_rational(value: object, primitive: str, name: str = "scale") -> Fraction:
    exact = as_exact(value)
    if not isinstance(exact, Fraction) or exact <= 0:
        raise ParameterError(f"the {name} of {primitive} is {exact}", f"give a positive rational {name}")
    return exact


def _rational(value: object, what: str) -> Fraction:
    """Read a rational number. Raises ParameterError for others."""
    if isinstance(value, Symbolic):
        return value  # type: ignore[return-value]
    exact = as_exact(value)
    if not isinstance(exact, Fraction):
        raise ParameterError(f"{what} is {exact}", "give a rational number")
    return exact


def poisson_binomial(probabilities: Iterable[object]) -> Law:
    """The number of successes in independent trials with these probabilities.

    Raises ParameterError unless all are in [0, 1]. Wang, "On the number of successes in independent trials" (1993).
    """
    return _poisson_binomial(tuple(_probability(p, "a probability of poisson_binomial") for p in probabilities))


def _kept(law_of: Callable[..., Law]) -> Callable[..., Law]:
    """Keep laws, but for those with an unknown: which outcomes have probability 0 depends on its value."""
    known = lru_cache(TABLE_ENTRIES)(law_of)

    @wraps(law_of)
    def found(*arguments: Any) -> Law:
        numbers = chain.from_iterable(each if isinstance(each, tuple) else (each,) for each in arguments)
        unknown = any(isinstance(number, ExpNumber) and number.unknown for number in numbers)
        return law_of(*arguments) if unknown else known(*arguments)

    return found


@_kept
def _bernoulli(p: Number) -> Law:
    return _positive([(False, 1 - p), (True, p)])


@_kept
def _uniform(lo: int, hi: int) -> Law:
    share = Fraction(1, hi - lo + 1)
    return tuple((value, share) for value in range(lo, hi + 1))


@_kept
def _weighted(weights: tuple[Number, ...]) -> Law:
    total = sum(weights, start=Fraction(0))
    return _positive([(index, weight / total) for index, weight in enumerate(weights)])


@_kept
def _binomial(n: int, p: Number) -> Law:
    return _positive([(k, math.comb(n, k) * p**k * (1 - p) ** (n - k)) for k in range(n + 1)])


@_kept
def _poisson_binomial(probabilities: tuple[Number, ...]) -> Law:
    masses: list[Number] = [Fraction(1)]
    for p in probabilities:
        fewer, more = [*masses, Fraction(0)], [Fraction(0), *masses]
        masses = [(1 - p) * same + p * one for same, one in zip(fewer, more, strict=True)]
    return _positive(list(enumerate(masses)))


@_kept
def _geometric(v: int, ratio: Number, lo: int, hi: int) -> Law:
    if lo == hi:
        return ((lo, Fraction(1)),)
    if ratio == 0:
        return ((min(max(v, lo), hi), Fraction(1)),)
    low_end = (lo, _tail(v - lo, ratio))
    high_end = (hi, _tail(hi - v, ratio))
    interior = [(z, _at_distance(abs(z - v), ratio)) for z in range(lo + 1, hi)]
    return (low_end, *interior, high_end)


@lru_cache(_DISTANCES)
def _at_distance(distance: int, ratio: Number) -> Number:
    """P(Z = distance) for two-sided geometric noise Z around 0, one number for all laws in which it stands."""
    return (1 - ratio) / (1 + ratio) * ratio**distance


@lru_cache(_DISTANCES)
def _tail(distance: int, ratio: Number) -> Number:
    """P(Z >= distance) for two-sided geometric noise Z around 0; distance may be negative."""
    if distance < 0:
        return 1 - _tail(1 - distance, ratio)
    return ratio**distance / (1 + ratio) if distance > 0 else 1 / (1 + ratio)


def _positive(masses: Iterable[tuple[int, Number]]) -> Law:
    return tuple((outcome, mass) for outcome, mass in masses if mass > 0)


def _probability(value: object, name: str) -> Number:
    p = as_exact(value)
    if not 0 <= p <= 1:
        raise ParameterError(f"{name} is {p}, which is outside [0, 1]", "give a probability from 0 to 1")
    return p


def _nonnegative(weight: object) -> Number:
    exact = as_exact(weight)
    if exact < 0:
        raise ParameterError(f"the weight {exact} of choice is negative", "give weights of at least 0")
    return exact
