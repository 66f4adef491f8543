"""Trade-off functions by name, and one-parameter families of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fractions import Fraction

from tightdp.auditing.subsampled import SubsampledGaussian
from tightdp.auditing.tradeoff import Curve, Gaussian, Laplace, Polygon
from tightdp.errors import ParameterError
from tightdp.exact.parameters import read_number

__all__ = ["Family", "as_tradeoff", "family_of"]

Family = Callable[[Fraction], Curve]
"""The trade-off function of a scale; a larger scale is a weaker guarantee."""

_NAMED = re.compile("(gaussian|laplace):([^@]*)(?:(?<=[^@])@(.*))?")


def family_of(name: object) -> Family | None:
    """Return the family of a name: gaussian, laplace, or gaussian@RATE (sub-sampled); None for others."""
    if name == "gaussian":
        return Gaussian
    if name == "laplace":
        return Laplace
    if isinstance(name, str) and name.startswith("gaussian@"):
        rate = read_number("rate", name.removeprefix("gaussian@"), 1)
        return lambda mu: SubsampledGaussian(mu, rate)
    return None


def as_tradeoff(tradeoff: object) -> Polygon | Curve:
    """Return the curve that `tradeoff` stands for: a curve, or a list of (exp_epsilon, delta) pairs."""
    if isinstance(tradeoff, (Polygon, Curve)):
        return tradeoff
    if isinstance(tradeoff, str) and (found := _NAMED.fullmatch(tradeoff)):
        name, scale, rate = found.groups()
        mu = read_number(f"mu of the {name} trade-off function", scale)
        if name == "laplace":
            return Laplace(mu)
        return Gaussian(mu) if rate is None else SubsampledGaussian(mu, read_number("rate", rate, 1))
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
