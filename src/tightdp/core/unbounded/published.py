"""Noise on all integers in outputs: a core of integers, and each tail as one output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from tightdp.core.builder import Builder
from tightdp.core.nodes import Apply, Const, Expr, children, terms_of
from tightdp.core.unbounded.forms import outside
from tightdp.core.unbounded.meetings import Meetings
from tightdp.core.unbounded.windows import NARROW, is_far
from tightdp.errors import LanguageError, Span
from tightdp.exact.theta import reach_of
from tightdp.language.laws import Gaussian, OnIntegers, TwoSided

__all__ = ["NO_ENDS", "Ends", "ends_of_outputs", "finite_output", "multiple_of"]

_HINT = "publish each noisy value once, on its own, or clamp what is published"
_TWICE = "publish it once, with what is added to it beside it: (z, b) tells as much as (z, z + b)"


@dataclass(frozen=True)
class Ends:
    """From where on outputs have tails with proportional laws, and how far Gaussian noise that is published is looked
    at (0: none is)."""

    core: int
    farthest: int = 0


NO_ENDS = Ends(0)
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


def multiple_of(output: Expr) -> tuple[Expr, int | Fraction, int | Fraction]:
    """Return a node, `times` other than 0 and `plus` with which an output is times·node + plus.

    Who sees the output sees the node, and the other way round.
    """
    times: Any = 1
    plus: Any = 0
    while True:
        terms, constant = terms_of(output) if output.numeric else ((output,), 0)
        if constant and len(terms) == 1 and isinstance(constant, (int, Fraction)):
            output, plus = terms[0], plus + times * constant
            continue
        match output:
            case Apply(operator="neg", operands=(inner,)):
                factor: Any = -1
            case Apply(operator="mul", operands=(inner, Const(values=(factor,)))):
                pass
            case Apply(operator="mul", operands=(Const(values=(factor,)), inner)):
                pass
            case Apply(operator="div", operands=(inner, Const(values=(int() | Fraction() as divisor,)))) if divisor:
                factor = 1 / Fraction(divisor)
            case Apply(operator="sub", operands=(inner, Const(values=(int() | Fraction() as less,)))):
                output, plus = inner, plus - times * less
                continue
            case Apply(operator="sub", operands=(Const(values=(int() | Fraction() as more,)), inner)):
                output, plus, times = inner, plus + times * more, -times
                continue
            case _:
                return output, times, plus
        if not factor or not isinstance(factor, (int, Fraction)) or not inner.numeric:
            return output, times, plus
        output, times = inner, times * factor


def finite_output(
    builder: Builder, output: Expr, ends: Ends, times: int | Fraction = 1, plus: int | Fraction = 0, again: bool = False
) -> Expr:
    """Return times·output + plus, for an output with noise on all integers, as one of finitely many values.

    Where it may be a string instead, that stays. `again` says that the output is published elsewhere, too.
    """
    places = {draw.serial: place for place, (draw, _) in enumerate(builder.noises)}
    kept = len(builder.operations)
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
        if isinstance(law, Gaussian):
            window = builder.windows[place] if place < len(builder.windows) else NARROW
            result = builder.total("name_tail", output, *map(builder.const, (window.reach, law.variance)))
        else:
            arguments = (ends.core, law.shape, times, plus, again)
            result = builder.total("merge_tail", output, *map(builder.const, arguments))
        del builder.operations[kept:]  # what tells far points apart asks for no wider window
        if isinstance(law, TwoSided):
            builder.operations.append(("min", (output, builder.const(ends.core), builder.const(-ends.core)), None))
        return result
    raise outside("is published as a loop leaves it")
