"""How far the laws of a core program with Gaussian noise are from the true ones."""

from __future__ import annotations

from fractions import Fraction

from tightdp.core.builder import Builder
from tightdp.core.inexact import Inexact
from tightdp.core.unbounded.windows import NARROW
from tightdp.exact.field import Number
from tightdp.exact.theta import RELATIVE
from tightdp.language.laws import Gaussian

__all__ = ["inexactness"]


def inexactness(builder: Builder, published: bool) -> Inexact | None:
    """Return the errors of what a builder made; None where it has no Gaussian noise.

    Of each such law the masses have the relative error RELATIVE at most, but for the largest, which takes up what is
    missing from 1: that is at most RELATIVE in all, and the largest of m masses is at least 1/m.
    """
    relative = Fraction(0)
    lost: Number = Fraction(0)
    for place, (_, laws) in enumerate(builder.noises):
        gaussian = [law for law in laws if isinstance(law, Gaussian)]
        if not gaussian:
            continue
        window = builder.windows[place] if place < len(builder.windows) else NARROW
        relative += 2 * (2 * window.reach + 2) * RELATIVE
        if published:
            lost += 2 * max(law.at_least(window.reach) + law.at_most(-window.reach) for law in gaussian)
    assert isinstance(lost, Fraction)
    return Inexact(2 * relative, lost, published) if relative else None
