"""What is looked at of noise on all integers: a core, points that stand for its tails, and one far point on each side.

A far point stands for integers beyond everything else, as a number that is (`core/far.py`): sums and comparisons tell
what holds of all of them. Among draws that meet, the far points of an earlier one are beyond those of a later one.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.core.far import Far
from tightdp.core.nodes import Expr
from tightdp.core.operators import symbol_of
from tightdp.core.unbounded.quadrature import tail_nodes
from tightdp.errors import LanguageError
from tightdp.exact.field import Number
from tightdp.language.laws import Gaussian, Law, OnIntegers, TwoSided
from tightdp.language.source import FunctionSource

__all__ = ["FARTHEST", "NARROW", "Place", "Window", "check_growth", "is_far"]

Place: TypeAlias = tuple[FunctionSource, ast.AST]
"""Where in the source something happens."""
FARTHEST = 1 << 24
"""Numbers that noise meets are smaller than this in absolute value, as it is looked at up to there."""


@dataclass(frozen=True)
class Window:
    """The integers -reach+1..reach-1 with their own masses, points in the tails that begin at -reach and reach, ±far.

    The points give the right mean of e^|z| on each tail for every base e.
    """

    reach: int
    bases: tuple[Number, ...] = ()
    rank: int = 0
    """Far points of a higher rank are beyond those of a lower one."""

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
        far: Any = Far(((self.rank, 1),))
        points = tail_nodes(law.ratio, self.bases) if isinstance(law, TwoSided) else ()
        rest = 1 - sum((weight for _, weight in points), Fraction(0))
        below, above = law.at_most(-self.reach), law.at_least(self.reach)
        return (
            (-far, below * rest),
            *((-self.reach - z, below * weight) for z, weight in reversed(points)),
            *((z, law.mass(z)) for z in range(1 - self.reach, self.reach)),
            *((self.reach + z, above * weight) for z, weight in points),
            (far, above * rest),
        )

    def covers(self, other: Window) -> bool:
        """Whether this window can take the place of another one."""
        return self.reach >= other.reach and (self.bases, self.rank) == (other.bases, other.rank)


NARROW = Window(1)
"""The window of a draw before it is known what it meets."""


def is_far(expr: Expr) -> bool:
    """Whether a node can take a value that comes from a far point."""
    values = expr.values
    if expr.numeric:
        return isinstance(values[0], Far) or isinstance(values[-1], Far)
    return any(isinstance(part, Far) for value in values for part in (value if isinstance(value, tuple) else (value,)))


def check_growth(operator: str, operands: Sequence[Expr]) -> None:
    """Raise LanguageError where an operation on noise gives numbers that are too long, or none, for far points."""
    grows = operator in ("pow", "lshift", "rshift") and is_far(operands[1])
    if grows or operator in ("comb", "perm", "factorial", "exp", "powmod"):
        hint = "clamp it first, as in max(lo, min(value, hi))"
        raise LanguageError(f"noise on all integers is an operand of {symbol_of(operator)}", hint)
