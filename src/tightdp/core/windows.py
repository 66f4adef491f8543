"""What is looked at of noise on all integers: a core, points that stand for its tails, and one far point on each side.

A far point stands for integers beyond everything else, as a number that is (`Far`): sums and comparisons tell what
holds of all of them. Among draws that meet, the far points of an earlier one are beyond those of a later one.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from flint import arb, ctx

from tightdp.core.nodes import Expr
from tightdp.core.operators import Far, symbol_of
from tightdp.errors import LanguageError
from tightdp.exact.field import ExpNumber, Number, as_ball
from tightdp.language.laws import Gaussian, Law, OnIntegers, TwoSided
from tightdp.language.source import FunctionSource
from tightdp.limits.calibrated import NOISE_BITS

Place: TypeAlias = tuple[FunctionSource, ast.AST]
"""Where in the source something happens."""


@dataclass(frozen=True)
class LeftOff:
    """Where runs are not followed any further: how likely that is at most, and the condition.

    What they do then is decided by what is `given`, but not by the outcome that the draw has instead.
    """

    probability: Fraction
    condition: Expr
    draw: Expr
    given: Expr


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


@lru_cache(1024)
def tail_nodes(ratio: Number, bases: tuple[Number, ...]) -> tuple[tuple[int, Number], ...]:
    """Points z >= 0 with positive weights of sum below 1 that give the mean of e^z, for each base e.

    The mean is that of P(z) = (1 - ratio)·ratio^z. `ratio` and the distinct `bases` are in (0, 1). What is missing from
    1 is the weight of the point at infinity, and positive. The first m points keep their own probabilities, up to a
    correction on as many of them as there are bases; with m it falls like the m-th power of the largest base.
    With an unknown there are as many points as bases, and weights of any sign: means are right all the same.
    """
    count = len(bases)
    if not count:
        return ()
    if any(isinstance(number, ExpNumber) and number.unknown for number in (ratio, *bases)):
        return _mean_of(ratio, bases, count, 0)
    for points in itertools.count(count):
        for first in range(points - count, -1, -1):
            if _may_be_law(ratio, bases, points, first):
                found = _mean_of(ratio, bases, points, first)
                if min(weight for _, weight in found) > 0 and sum(weight for _, weight in found) < 1:
                    return found
    raise AssertionError("unreachable")


def _mean_of(ratio: Number, bases: tuple[Number, ...], points: int, first: int) -> tuple[tuple[int, Number], ...]:
    """Return so many points with weights that give the means, corrected from `first` on; without weights of 0.

    With an unknown a weight is left out where it is 0 as a function: what it is at a point is not asked for.
    """
    beyond = [(1 - ratio) * (ratio * base) ** points / (1 - ratio * base) for base in bases]
    weights = [(1 - ratio) * ratio**z for z in range(points)]
    for at, change in enumerate(_weights([base**first for base in bases], bases, beyond)):
        weights[first + at] += change
    return tuple((z, weight) for z, weight in enumerate(weights) if not _is_zero(weight))


def _may_be_law(ratio: Number, bases: tuple[Number, ...], points: int, first: int) -> bool:
    """Whether weights may be positive and of sum below 1, as far as balls tell."""
    with ctx.workprec(NOISE_BITS * (len(bases) + 1)):
        balls: list[Any] = [as_ball(number) for number in (ratio, *bases)]
        weights: list[Any] = [weight for _, weight in _mean_of(balls[0], tuple(balls[1:]), points, first)]
        return not any(weight < 0 for weight in weights) and not sum(weights, arb(0)) >= 1


def _weights(scales: Sequence[Number], bases: Sequence[Number], wanted: Sequence[Number]) -> list[Number]:
    """The w with sum over j of w_j·scale·base^j = wanted for each base: a polynomial, in Newton's form first."""
    values = [value / scale for value, scale in zip(wanted, scales, strict=True)]
    for step in range(1, len(bases)):
        for at in range(len(bases) - 1, step - 1, -1):
            values[at] = (values[at] - values[at - 1]) / (bases[at] - bases[at - step])
    found: list[Number] = []
    for base, value in zip(reversed(bases), reversed(values), strict=True):
        found = [below - base * own for below, own in zip([value, *found], [*found, 0], strict=True)]
    return found


def _is_zero(number: Number) -> bool:
    """Whether a number is 0, as a function where it has the unknown: no sign is asked for."""
    return isinstance(number, Fraction) and not number
