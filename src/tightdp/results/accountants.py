"""Privacy losses in the form of other accountants. `dp_accounting` is an optional extra, imported only here."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tightdp.errors import MissingExtra, ParameterError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import log_down, log_up
from tightdp.exact.weights import quotient
from tightdp.queries.composition.lattice import Composition
from tightdp.queries.composition.loss import Losses

__all__ = ["dp_accounting_of"]


def dp_accounting_of(losses: Losses, interval: Fraction, pessimistic: bool) -> Any:
    """Return a privacy loss distribution of dp_accounting whose δ is nowhere below (or above) the true one."""
    if find_spec("dp_accounting") is None:
        raise MissingExtra("dp_accounting is not installed", "dp-accounting")
    if not interval:
        raise ParameterError("interval is 0", "give the distance of two losses, such as 1e-4")
    make = import_module("dp_accounting.pld.pld_pmf").create_pmf
    whole = import_module("dp_accounting.pld.privacy_loss_distribution").PrivacyLossDistribution
    sides = losses.upper if pessimistic else losses.lower
    if len(sides) != len(losses.directions):
        raise QueryError(
            "no single pair of neighbours gives the lower end", "leave out pessimistic, or ask delta() for both ends"
        )
    masses = [_masses(composed, interval, pessimistic) for composed in sides]
    pmfs = [make(finite, float(interval), infinite, pessimistic) for finite, infinite in masses]
    return whole(*pmfs)


def _masses(composed: Composition, interval: Fraction, pessimistic: bool) -> tuple[dict[int, float], float]:
    """Return the masses under P by multiple of the interval, and that of an infinite loss, all rounded to one side."""
    by_place: dict[int, Number] = {}
    for ratio, p in zip(composed.ratios, composed.p, strict=True):
        if pessimistic:
            place = math.ceil(Fraction(log_up(ratio)) / interval)
        else:
            place = math.floor(Fraction(log_down(ratio)) / interval)
        by_place[place] = by_place.get(place, Fraction(0)) + quotient(p, composed.scale)
    masses = {place: _to_one_side(mass, pessimistic) for place, mass in by_place.items()}
    return masses, _to_one_side(composed.certain, pessimistic)


def _to_one_side(mass: Number, up: bool) -> float:
    """Return a float that is not below (`up`) or not above a mass."""
    near = float(mass)
    if Fraction(near) == mass or (Fraction(near) > mass) == up:
        return near
    return math.nextafter(near, math.inf if up else 0.0)
