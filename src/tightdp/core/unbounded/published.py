"""Noise on all integers in outputs: a core of integers, and each tail as one output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from tightdp.core.builder import Builder
from tightdp.core.nodes import Expr, children
from tightdp.core.operators import is_number
from tightdp.core.unbounded.forms import outside
from tightdp.core.unbounded.meetings import Meetings
from tightdp.core.unbounded.windows import NARROW, Window, is_far
from tightdp.errors import LanguageError, Span
from tightdp.exact.field import Number
from tightdp.exact.theta import reach_of
from tightdp.language.laws import Gaussian, OnIntegers, TwoSided
from tightdp.language.tails import Tail

__all__ = ["NO_ENDS", "Ends", "ends_of_outputs", "finite_output"]

_HINT = "publish each noisy value once, on its own, or clamp what is published"
_TWICE = "publish it once, with what is added to it beside it: (z, b) tells as much as (z, z + b)"


@dataclass(frozen=True)
class Ends:
    """From where on outputs have tails with proportional laws, and how far Gaussian noise that is published is looked
    at (0: none is)."""

    core: int
    farthest: int = 0


NO_ENDS = Ends(1)
"""Where nothing with noise on all integers is published."""


def ends_of_outputs(meetings: Meetings, outputs: Sequence[tuple[Expr, Span | None]]) -> Ends:
    """Return where the tails of outputs begin.

    `meetings` are those of the program without its outputs. Raises LanguageError where the laws of tails are not
    proportional on all datasets: for sums of two such draws, a ratio that depends on the run, noise that is published
    twice or that is compared with other such noise as well.
    """
    end, farthest = 1, 0
    seen: set[int] = set()
    for output, place in outputs:
        try:
            beyond, here = _tails(meetings, output, seen)
            alone = 2 * beyond if frozenset() in meetings.forms.of(output) else 0
        except LanguageError as error:
            raise _placed(error, place) from None
        seen |= here
        for draw in here:
            for law in meetings.laws[draw]:
                if isinstance(law, Gaussian):
                    if law.centre:
                        raise _placed(outside("is published around what is no integer on some runs", _HINT), place)
                    farthest = max(farthest, meetings.bounds[draw] + alone + reach_of(law.variance))
                elif isinstance(law, TwoSided):
                    end = max(end, beyond)
    return Ends(end, farthest)


def _placed(error: LanguageError, place: Span | None) -> LanguageError:
    error.span = error.span or place
    return error


def _tails(meetings: Meetings, output: Expr, seen: set[int]) -> tuple[int, set[int]]:
    """Return from where on an output has tails, and the draws that it publishes."""
    here: set[int] = set()
    end = 1
    for terms, rest in meetings.forms.of(output).items():
        end = max(end, ceil(max(abs(edge) for edge in rest)) + 1)
        if not terms:
            continue
        (draw, times), *others = terms
        if others or abs(times) != 1:
            raise outside("is published as a sum of several draws or as a multiple", _HINT)
        if meetings.partners[draw]:
            raise outside("is published and compared with other such noise, too", _HINT)
        if any(Fraction(edge).denominator != 1 for edge in rest):
            raise outside("is published with a fraction added", "publish the integer")
        here.add(draw)
        end = max(end, meetings.bounds[draw] + ceil(max(abs(edge) for edge in rest)) + 1)
    if here & seen:
        raise outside("is published twice", _TWICE)
    shapes = {(type(law), law.shape) for draw in here for law in meetings.laws[draw]}
    if len(shapes) > 1 or not all(map(meetings.pure, here)):
        what = "variance" if any(kind is Gaussian for kind, _ in shapes) else "ratio"
        raise outside(f"is published with a {what} that depends on the run", _HINT)
    return end, here


def finite_output(builder: Builder, output: Expr, ends: Ends) -> Expr:
    """Return an output with noise on all integers, or a string instead of it, as one of finitely many values."""
    for word in output.values:
        if not is_number(word):
            kept = len(builder.operations)
            said = builder.equals(output, word)
            del builder.operations[kept:]
            number = builder.either(said, builder.const(0), output)
            return builder.either(said, builder.const(word), finite_output(builder, number, ends))
    places = {draw.serial: place for place, (draw, _) in enumerate(builder.noises)}
    stack, seen = [output], {output.serial}
    while stack:
        node = stack.pop()
        place = places.get(node.serial)
        if place is None:
            new = [child for child in children(node) if is_far(child) and child.serial not in seen]
            seen |= {child.serial for child in new}
            stack += new
            continue
        law = next(law for law in builder.noises[place][1] if isinstance(law, OnIntegers))
        if isinstance(law, TwoSided):
            return _merged_tails(builder, output, ends.core, law.ratio)
        if isinstance(law, Gaussian):
            window = builder.windows[place] if place < len(builder.windows) else NARROW
            return _named_tails(builder, output, window, law.variance)
    raise AssertionError("an output with far points has no noise on all integers")


def _named_tails(builder: Builder, output: Expr, window: Window, variance: Fraction) -> Expr:
    """Return an output whose far points are tails, each with what is added to the noise there."""
    kept = len(builder.operations)
    result = builder.total("name_tail", output, *map(builder.const, (window.far, window.reach, variance)))
    del builder.operations[kept:]  # what tells far points apart asks for no wider window
    return result


def _merged_tails(builder: Builder, output: Expr, end: int, ratio: Number) -> Expr:
    """Return an output whose integers from `end` on, on both sides, are one value each."""
    above = builder.total("ge", output, builder.const(end))
    below = builder.total("le", output, builder.const(-end))
    inner = builder.either(below, builder.const(Tail(-end, -1, ratio)), output)
    return builder.either(above, builder.const(Tail(end, 1, ratio)), inner)
