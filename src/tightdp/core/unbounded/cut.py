"""Noise on all integers cut off far out, where no exact finite form is known: any use of it, with a proven error.

Each draw has its own masses up to a reach, and one far point on each side with all that is beyond. Runs without a far
point are those of the mechanism, so the probabilities of an event differ by that of far points at most.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import isqrt
from typing import Any

from tightdp.core.builder import Builder
from tightdp.core.far import Far
from tightdp.core.inexact import Inexact
from tightdp.core.nodes import CoreProgram, Expr
from tightdp.core.unbounded.meetings import Meetings
from tightdp.errors import LanguageError
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.theta import RELATIVE
from tightdp.language.laws import Gaussian, Law, OnIntegers, TwoSided

__all__ = ["cut_law", "cut_output", "error_of_cuts", "reach_of", "reach_of_outcomes"]

_BEYOND: Any = Far(((0, 1),))
_BITS = 80
"""A draw is further out with a probability of about 2^-80."""
_FARTHEST = 1_000
"""Up to such a reach noise is cut off."""


def reach_of(law: OnIntegers, least: int) -> int:
    """Return how far from its centre a law is looked at, and no less than `least`.

    Raises LanguageError where it cannot be cut off.
    """
    found = _FARTHEST + 1
    if isinstance(law, Gaussian):
        found = isqrt(int(2 * _BITS * law.variance)) + 2  # e^-80 < 2^-80
    elif isinstance(law, TwoSided) and not (isinstance(law.ratio, ExpNumber) and law.ratio.unknown):
        found = 1 + math.ceil(_BITS * math.log(2) / max(-math.log(float(law.ratio)), 1e-9))
    if found > _FARTHEST:
        raise LanguageError("noise on all integers reaches too far to be cut off", "clamp it")
    return max(found, least)


def cut_law(law: OnIntegers, reach: int) -> Law:
    """Return a law that is cut off so far from its centre; probabilities add up to 1."""
    core = [(law.centre + z, law.mass(law.centre + z)) for z in range(-reach, reach + 1)]
    outcomes = [(-_BEYOND, law.at_most(law.centre - reach - 1)), *core, (_BEYOND, law.at_least(law.centre + reach + 1))]
    if isinstance(law, Gaussian):  # probabilities are rounded: what is missing from 1 goes to the largest
        missing = 1 - sum((mass for _, mass in outcomes), Fraction(0))
        outcomes[reach + 1] = (law.centre, outcomes[reach + 1][1] + missing)
    return tuple(outcomes)


def cut_output(builder: Builder, output: Expr) -> Expr:
    """Return an output without values that come from a far point: one string stands for them."""
    return builder.total("leave_out_far", output)


def reach_of_outcomes(builder: Builder, program: CoreProgram) -> int | None:
    """Return how far draws are to be looked at so that all outputs occur there, None where that is not known."""
    try:
        meetings = Meetings(builder.noises, builder.operations, periodic=True)
        meetings.check(program)
    except LanguageError:
        return None
    return meetings.reach if meetings.reach <= _FARTHEST else None


def error_of_cuts(builder: Builder, least: int, published: bool) -> Inexact:
    """Return the error of a program whose draws are cut off."""
    relative, lost = Fraction(0), Fraction(0)
    for _, found in builder.noises:
        laws = [law for law in found if isinstance(law, OnIntegers)]
        relative += max(
            (2 * (2 * reach_of(law, least) + 4) * RELATIVE for law in laws if isinstance(law, Gaussian)), default=0
        )
        lost += max(2 * _above(law.at_least(law.centre + reach_of(law, least) + 1)) for law in laws)
    return Inexact(2 * relative, lost * (1 + relative), published, True)


def _above(value: Number) -> Fraction:
    return value if isinstance(value, Fraction) else value.enclosure(20).upper
