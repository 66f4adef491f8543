"""Noise on all integers in outputs: a core of integers, and each tail as one output."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from tightdp.core.builder import Builder
from tightdp.core.nodes import Expr
from tightdp.core.unbounded.forms import outside
from tightdp.core.unbounded.meetings import Meetings
from tightdp.errors import LanguageError, Span
from tightdp.exact.field import Number
from tightdp.language.tails import Tail

__all__ = ["end_of_core", "merge_tails"]

_HINT = "publish each noisy value once, on its own, or clamp what is published"
_TWICE = "publish it once, with what is added to it beside it: (z, b) tells as much as (z, z + b)"


def end_of_core(meetings: Meetings, outputs: Sequence[tuple[Expr, Span | None]]) -> tuple[int, Number]:
    """Return from where on all outputs have tails with proportional laws, and by what ratio these fall.

    `meetings` are those of the program without its outputs. Raises LanguageError where the laws of tails are not
    proportional on all datasets: for sums of two such draws, a ratio that depends on the run, noise that is published
    twice or that is compared with other such noise as well.
    """
    end = 1
    ratios: set[Number] = set()
    seen: set[int] = set()
    for output, place in outputs:
        try:
            end, here = _tails(meetings, output, end, seen)
        except LanguageError as error:
            error.span = error.span or place
            raise
        seen |= here
        ratios |= {law.ratio for draw in here for law in meetings.laws[draw]}
    return end, max(ratios)


def _tails(meetings: Meetings, output: Expr, end: int, seen: set[int]) -> tuple[int, set[int]]:
    """Return from where on an output has tails, at least `end`, and the draws that it publishes."""
    if not output.numeric:
        raise outside("is published as one of several kinds of values", _HINT)
    here: set[int] = set()
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
    if len({law.ratio for draw in here for law in meetings.laws[draw]}) > 1 or not all(map(meetings.pure, here)):
        raise outside("is published with a ratio that depends on the run", _HINT)
    return end, here


def merge_tails(builder: Builder, output: Expr, end: int, ratio: Number) -> Expr:
    """Return an output whose integers from `end` on, on both sides, are one value each."""
    above = builder.total("ge", output, builder.const(end))
    below = builder.total("le", output, builder.const(-end))
    inner = builder.either(below, builder.const(Tail(-end, -1, ratio)), output)
    return builder.either(above, builder.const(Tail(end, 1, ratio)), inner)
