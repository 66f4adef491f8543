"""How far the laws of a core program with Gaussian noise are from the true ones."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightdp.core.builder import Builder
from tightdp.core.unbounded.windows import NARROW
from tightdp.exact.field import Number
from tightdp.exact.theta import RELATIVE
from tightdp.language.laws import Gaussian

__all__ = ["Inexact", "inexactness"]


@dataclass(frozen=True)
class Inexact:
    """Two bounds on the error of a core program.

    The true probability of each of its outputs is the one that it has times a factor from 1 - `relative` to
    1 + `relative`. Where Gaussian noise is published (`published`), an output of the mechanism is a function of one of
    the program, with the tails drawn anew; the probability of such tails is at most `lost`.
    """

    relative: Fraction
    lost: Fraction
    published: bool
    cut: bool = False
    """Whether noise is cut off, so that any probability may be larger or smaller by `lost`. There may be other outputs
    then, further out, where `published`."""

    @property
    def total(self) -> Fraction:
        """How much the probability of an event may differ at most, and the sum of those under two laws."""
        return self.relative + self.lost

    def joined(self, other: Inexact) -> Inexact:
        """Return bounds that hold for two programs."""
        relative, lost = max(self.relative, other.relative), max(self.lost, other.lost)
        return Inexact(relative, lost, self.published or other.published, self.cut or other.cut)

    def ends(self, mass: Number) -> tuple[Number, Number]:
        """Return both ends of the true probability of an event that has the probability `mass` in the core program."""
        low = mass * (1 - self.relative) - (self.lost if self.cut else 0)
        return max(low, Fraction(0)), mass * (1 + self.relative) + self.lost


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
