"""Noise on all integers in outputs: a core of integers, and each tail as one output.

Where no exact finite form is known, noise is cut off far out, with a proven error. Each draw then has its own masses up
to a reach, and one far point on each side with all that is beyond. Runs without a far point are those of the mechanism,
so the probabilities of an event differ by that of far points at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, isqrt
from typing import Any

from tightdp.core.builder import Builder
from tightdp.core.meetings import Meetings
from tightdp.core.nodes import (
    Apply,
    Const,
    CoreProgram,
    Draw,
    Expr,
    Inexact,
    Shuffled,
    reachable,
    terms_of,
)
from tightdp.core.operators import Far
from tightdp.core.outputs import Leaf, TupleOf
from tightdp.core.unmerged import outside
from tightdp.core.windows import NARROW, LeftOff, is_far
from tightdp.errors import LanguageError, Span
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.theta import RELATIVE, reach_of
from tightdp.language.laws import Exponentials, Gaussian, Law, OnIntegers, TwoSided
from tightdp.limits.calibrated import NOISE_BITS, TABLE_ENTRIES

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
            new = [child for child in node.children if is_far(child) and child.serial not in seen]
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
    return Inexact(2 * relative, lost, published, variances=_variances(builder)) if relative else None


def _variances(builder: Builder) -> tuple[Fraction, ...]:
    """Return the variances of the noise of a program, where all of it is Gaussian, and no loop is cut off."""
    laws = [law for _, found in builder.noises for law in found]
    variances = {law.variance for law in laws if isinstance(law, Gaussian)}
    return tuple(sorted(variances)) if all(isinstance(law, Gaussian) for law in laws) and not builder.lost else ()


_BEYOND: Any = Far(((0, 1),))
GOES_ON = "a run goes on for longer, or further out, than it is followed"
"""What is said of runs in which a loop, or noise, is cut off, as long as it is not settled how likely that is."""
_FARTHEST = TABLE_ENTRIES // 4
"""Up to such a reach noise is cut off."""


def reach_of_cut(law: OnIntegers, least: int) -> int:
    """Return how far from its centre a law is looked at, and no less than `least`.

    Raises LanguageError where it cannot be cut off.
    """
    found = _FARTHEST + 1
    if isinstance(law, Gaussian):
        found = isqrt(int(2 * NOISE_BITS * law.variance)) + 2  # e^-80 < 2^-80
    elif isinstance(law, TwoSided) and not (isinstance(law.ratio, ExpNumber) and law.ratio.unknown):
        found = 1 + math.ceil(NOISE_BITS * math.log(2) / max(-math.log(float(law.ratio)), 1e-9))
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


def cut_exponentials(law: Exponentials) -> Law:
    """Return noise on the integers from an end on, cut off: the last outcome has what is further out.

    Raises LanguageError where it cannot be cut off.
    """
    ((low, high, base),) = law.pieces
    assert low is not None
    if high is not None or (isinstance(base, ExpNumber) and base.unknown):
        raise LanguageError("one-sided noise reaches too far to be cut off", "clamp it")
    reach = 1 + math.ceil(NOISE_BITS * math.log(2) / max(-math.log(float(base)), 1e-9))
    if reach > _FARTHEST:
        raise LanguageError("one-sided noise reaches too far to be cut off", "clamp it")
    centre = int(law.centre)
    masses = [law.weight * base**z for z in range(int(low), int(low) + reach)]
    far = centre + int(low) + reach, law.weight * base ** (int(low) + reach) / (1 - base)
    return (*((centre + int(low) + at, mass) for at, mass in enumerate(masses)), far)


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
    """Return the error of a program whose draws, and loops, are cut off."""
    relative, lost = Fraction(0), Fraction(0)
    for _, found in builder.noises:
        laws = [law for law in found if isinstance(law, OnIntegers)]
        relative += max(
            (2 * (2 * reach_of_cut(law, least) + 4) * RELATIVE for law in laws if isinstance(law, Gaussian)), default=0
        )
        lost += max(2 * above(law.at_least(law.centre + reach_of_cut(law, least) + 1)) for law in laws)
    lost = lost * (1 + relative) + sum(each.probability for each in builder.lost)
    return Inexact(2 * relative, lost, published or bool(builder.lost), True, variances=_variances(builder))


def finer(builder: Builder, program: CoreProgram) -> CoreProgram | None:
    """Return a program of whose output that of the mechanism is a function, and of draws that no record has a say in.

    Where runs are cut off it tells by what their end is decided: what is given for the law of the draw in question, and
    whatever comes together with that draw on the way to the output. None where that is not known.
    """
    lost = list(builder.lost)
    for draw, laws in builder.noises:
        if not isinstance(draw, Draw) or any(isinstance(law, Gaussian) for law in laws):
            return None
        ends = [builder.equals(draw, end) for end in (-_BEYOND, _BEYOND)]
        lost.append(LeftOff(Fraction(0), builder.disjunction(ends), draw, draw.selector))
    if not lost or program.evidence:
        return None
    told: list[Expr] = []
    nodes = reachable((*program.components, *(each.given for each in lost)))
    drawn = _below(nodes, [node for node in nodes if isinstance(node, (Draw, Shuffled))])
    for each in lost:
        changed = _below(nodes, [each.draw])
        beside = {each.given.serial: each.given}
        for node in nodes:
            if node.serial in changed and node is not each.draw:
                beside |= {child.serial: child for child in node.children if child.serial not in changed}
        beside = {part.serial: part for node in beside.values() for part in _scalars(node)}
        if not drawn.issuperset(beside):  # it would tell records as they are
            return None
        if any(isinstance(node.values[0], tuple) for node in beside.values()):
            return None
        told += [each.condition]
        told += [builder.case(each.condition, (builder.const(None), node)) for node in beside.values()]
    parts = tuple(Leaf(len(program.components) + at) for at in range(len(told)))
    return replace(program, components=(*program.components, *told), shape=TupleOf((program.shape, *parts)))


def _scalars(node: Expr) -> Iterator[Expr]:
    """Yield what is not constant of the scalars that a node is, or is the tuple of."""
    if isinstance(node, Apply) and node.operator == "tuple":
        for operand in node.operands:
            yield from _scalars(operand)
    elif not isinstance(node, Const):
        yield node


def _below(nodes: Sequence[Expr], first: Sequence[Expr]) -> set[int]:
    """Return the serials of some nodes, and of those that are computed from them."""
    found = {node.serial for node in first}
    for node in nodes:
        if any(child.serial in found for child in node.children):
            found.add(node.serial)
    return found


def above(value: Number) -> Fraction:
    """Return a rational that is no smaller."""
    return value if isinstance(value, Fraction) else value.enclosure(20).upper
