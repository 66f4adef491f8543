"""What is looked at of noise on all integers: a core, points that stand for its tails, and one far point on each side.

A far point stands for integers beyond everything else, as integers so large that sums and comparisons of Python tell
what holds of all of them. Among draws that meet, the far points of an earlier one are beyond those of a later one.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from tightdp.core.nodes import Expr
from tightdp.core.unbounded.quadrature import tail_nodes
from tightdp.exact.field import Number
from tightdp.language.laws import Gaussian, Law, OnIntegers, TwoSided
from tightdp.language.source import FunctionSource

__all__ = ["FAR", "NARROW", "Place", "Window", "is_far", "is_far_value"]

Place: TypeAlias = tuple[FunctionSource, ast.AST]
"""Where in the source something happens."""
FAR = 1 << 24
"""No value that does not come from a far point is as large as this in absolute value."""


@dataclass(frozen=True)
class Window:
    """The integers -reach+1..reach-1 with their own masses, points in the tails that begin at -reach and reach, ±far.

    The points give the right mean of e^|z| on each tail for every base e.
    """

    reach: int
    bases: tuple[Number, ...] = ()
    far: int = 2 * FAR

    def law(self, law: OnIntegers) -> Law:
        """The law that stands for a law on all integers. Its centre must be in the core, or at an end of it."""
        found = self._law(law)
        if not isinstance(law, Gaussian):
            return found
        # Probabilities are rounded: what is missing from 1 goes to the largest, which it changes by a tiny part.
        missing = 1 - sum((mass for _, mass in found), Fraction(0))
        largest = max(range(len(found)), key=lambda at: found[at][1])
        outcome, mass = found[largest]
        return (*found[:largest], (outcome, mass + missing), *found[largest + 1 :])

    def _law(self, law: OnIntegers) -> Law:
        points = tail_nodes(law.ratio, self.bases) if isinstance(law, TwoSided) else ()
        rest = 1 - sum((weight for _, weight in points), Fraction(0))
        below, above = law.at_most(-self.reach), law.at_least(self.reach)
        return (
            (-self.far, below * rest),
            *((-self.reach - z, below * weight) for z, weight in reversed(points)),
            *((z, law.mass(z)) for z in range(1 - self.reach, self.reach)),
            *((self.reach + z, above * weight) for z, weight in points),
            (self.far, above * rest),
        )

    def covers(self, other: Window) -> bool:
        """Whether this window can take the place of another one."""
        return self.reach >= other.reach and self.bases == other.bases


NARROW = Window(1)
"""The window of a draw before it is known what it meets."""


def is_far_value(value: object) -> bool:
    """Whether a value comes from a far point."""
    return isinstance(value, (int, Fraction)) and not -FAR < value < FAR


def is_far(expr: Expr) -> bool:
    """Whether a node can take a value that comes from a far point."""
    values = expr.values
    if expr.numeric:
        return is_far_value(values[0]) or is_far_value(values[-1])
    return any(is_far_value(part) for value in values for part in (value if isinstance(value, tuple) else (value,)))
