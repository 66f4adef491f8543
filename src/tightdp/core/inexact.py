"""How far the laws of a core program may be from those of the mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightdp.exact.field import Number

__all__ = ["Inexact"]


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
