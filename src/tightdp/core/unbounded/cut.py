"""Noise on all integers cut off far out, where no exact finite form is known: any use of it, with a proven error.

Each draw has its own masses up to a reach, and one far point on each side with all that is beyond. Runs without a far
point are those of the mechanism, so the probabilities of an event differ by that of far points at most.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import isqrt

from tightdp.core.builder import Builder
from tightdp.core.inexact import Inexact
from tightdp.core.nodes import Apply, Const, CoreProgram, Expr, reachable
from tightdp.core.operators import is_number
from tightdp.core.unbounded.meetings import Meetings
from tightdp.core.unbounded.windows import FAR, is_far_value
from tightdp.errors import LanguageError, Span
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.theta import RELATIVE
from tightdp.language.laws import Gaussian, Law, OnIntegers, TwoSided
from tightdp.language.tails import BEYOND

__all__ = ["cut_law", "cut_output", "error_of_cuts", "reach_of", "reach_of_outcomes"]

_FAR = 1 << 60
"""Where far points are: quotients and fractions of them are far as well, beyond `_SURELY_FAR`."""
_SURELY_FAR = 1 << 40
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
"""What a number may be in, however large: the far points are told apart so, and few runs go wrong."""
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
    outcomes = [(-_FAR, law.at_most(law.centre - reach - 1)), *core, (_FAR, law.at_least(law.centre + reach + 1))]
    if isinstance(law, Gaussian):  # probabilities are rounded: what is missing from 1 goes to the largest
        missing = 1 - sum((mass for _, mass in outcomes), Fraction(0))
        outcomes[reach + 1] = (law.centre, outcomes[reach + 1][1] + missing)
    return tuple(outcomes)


def cut_output(builder: Builder, output: Expr) -> Expr:
    """Return an output without values that come from a far point: one string stands for them."""
    result = output
    for word in output.values:
        if not is_number(word):
            number = builder.either(builder.equals(output, word), builder.const(0), output)
            return builder.either(builder.equals(output, word), builder.const(word), cut_output(builder, number))
    if any(map(is_far_value, output.values)):
        above = builder.total("gt", output, builder.const(FAR - 1))
        below = builder.total("lt", output, builder.const(1 - FAR))
        result = builder.either(builder.disjunction([above, below]), builder.const(BEYOND), output)
    return result


def refuse_large(builder: Builder, program: CoreProgram, span: Span) -> None:
    """Raise LanguageError where a value that comes from no far point is as large as those that do."""
    noisy = {draw.serial for draw, _ in builder.noises}
    for expr in reachable((*program.roots, *(draw for draw, _ in builder.noises))):
        if any(child.serial in noisy for child in expr.children):
            noisy.add(expr.serial)
        compares = isinstance(expr, Apply) and expr.operator in _COMPARISONS
        parts = [] if compares else [child for child in expr.children if isinstance(child, Const)]
        for part in parts if isinstance(expr, Const) else [*parts, expr]:
            values = part.values if part.serial in noisy or not part.numeric else (part.values[0], part.values[-1])
            for value in values:
                if not isinstance(value, (int, Fraction)) or -FAR < value - 1 < value + 1 < FAR:
                    continue
                if part.serial not in noisy or -_SURELY_FAR < value < _SURELY_FAR:
                    hint = "keep numbers below 2^24 here"
                    raise LanguageError(f"noise on all integers meets the number {value}", hint, span)


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
