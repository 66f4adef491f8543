"""Doubles that are published: all their values where these are few, else some that tell datasets apart.

A number that takes another value for nearly every k of its draw has too many values for laws. What is asked first of
such a mechanism is whether there is an output that one dataset can give and another one cannot (Mironov, "On
significance of the least significant bits for differential privacy", CCS 2012). So some of its values are kept which
are in the image of all k for some values of what the number depends on, and not for others; all the rest are one
output. That is a function of the output: an infinite ratio of it is one of the mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence

from tightdp.core.doubles import Double, Raised, Tape, Undecided
from tightdp.core.lowering.doubles import divided, possible, resolved, uniform_of
from tightdp.core.lowering.machine import Machine
from tightdp.core.nodes import Expr
from tightdp.errors import LanguageError, Span

OTHERS = "another number"
"""The output that stands for all numbers that are not kept."""
_TRIES = 16
"""How many k are tried for all values of what a number depends on."""
_KEPT = 4
_SPREAD = 0x9E3779B97F4A7C15
"""An odd number by whose multiples the k that are tried are spread (2^64 over the golden ratio)."""


class Unpicked(Exception):
    """On one dataset it cannot be seen which outputs are to be kept."""


def published(m: Machine, tree: Double, picks: list[tuple[float, ...]] | None, at: int, whole: bool) -> Expr | None:
    """Return the node of a published number; None where it has too many values and none of them is to be kept.

    `picks` are the values that are kept of each number with too many of them, this one being the one at a place.
    """
    try:
        return divided(m, tree)
    except Undecided:
        if picks is None:
            raise
    if len(picks) <= at:
        if not whole:
            raise Unpicked
        picks.append(_picked(m, tree))
    result: Expr = m.builder.const(OTHERS)
    for value in picks[at]:
        result = m.expr(m.merge(resolved(m, Double(tree.draw, "eq", (tree, value))), value, result))
    return result if picks[at] else None


def _picked(m: Machine, tree: Double) -> tuple[float, ...]:
    """Return values of a number that are in its image for some values of what it depends on, and not for others."""
    uniform, tape = uniform_of(m, tree)
    states = list(possible(m, tree))
    given = list(dict.fromkeys(tuple(values) for _, *values in states))
    kept: list[float] = []
    for at in range(_TRIES):
        k = (at * _SPREAD >> 3) % (1 << uniform.bits)
        for start, *values in states:
            if not start <= k <= uniform.last(start):
                continue
            value = tape.at(k, values)
            if isinstance(value, Raised) or value in kept:
                continue
            if not _in_all_images(m, tree, value, states, given):
                kept.append(value)
            if len(kept) == _KEPT:
                return tuple(kept)
    return tuple(kept)


def _in_all_images(
    m: Machine, tree: Double, value: float, states: Sequence[tuple[object, ...]], given: Sequence[tuple[object, ...]]
) -> bool:
    uniform, _ = uniform_of(m, tree)
    equal = Tape(Double(tree.draw, "eq", (tree, value)), uniform.bits)
    return all(
        any(
            piece is True
            for start, *found in states
            if tuple(found) == values
            for _, _, piece in equal.pieces(int(str(start)), uniform.last(int(str(start))), values, m.watch)
        )
        for values in given
    )


def refused(place: Span) -> LanguageError:
    """Return the error for a number of which no value is known that tells datasets apart."""
    return LanguageError(
        "this number in doubles has more values than are followed, and none was found that not all datasets can give",
        "round it, compare it, or ask with fewer bits of random(): --floats 10",
        place,
    )
