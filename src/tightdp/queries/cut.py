"""Divergences of programs whose noise is cut off: probabilities are enclosed, and so are the divergences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from flint import arb, ctx

from tightdp.core.inexact import Inexact
from tightdp.exact.enclosure import ends
from tightdp.exact.field import Number, as_ball
from tightdp.exact.numbers import Exact
from tightdp.language.tails import is_beyond
from tightdp.methods.base import Pair
from tightdp.queries.gaussian import laws_of

__all__ = ["pure", "pure_of_core", "renyi"]

_BITS = 512
_CLOSE = Fraction(1, 10**13)
Range = tuple[Number, Number]
Found = tuple[Exact, Exact, Pair | None]
"""Both ends, and a pair that attains the lower one."""


def pure(pairs: Iterable[Pair], error: Inexact) -> Found:
    """Enclose the largest likelihood ratio; there is no finite upper end where noise that was cut off is published."""
    return _largest(pairs, error, lambda rows: _ratio(rows, error.published))


def pure_of_core(largest: Number, pair: Pair, steps: int, error: Inexact) -> tuple[Number, Number] | None:
    """Enclose the largest likelihood ratio by that of the core program, None where it is not known closely so.

    All datasets are within `steps` changes of x, each of which makes an output less likely by the factor `largest` at
    most: this can show that all probabilities are far above the mass that is cut off.
    """
    least = min(mass for mass in laws_of(pair)[0].values() if mass) / largest**steps
    off = error.relative + error.lost / least
    if not error.lost or off > _CLOSE:
        return None
    return largest * (1 - off) / (1 + off), largest * (1 + off) / (1 - off)


def _ratio(rows: Iterator[tuple[Range, Range]], published: bool) -> tuple[Exact, Exact]:
    lower: Exact = Fraction(1)
    upper: Exact = math.inf if published else Fraction(1)
    for (low, high), (low_prime, high_prime) in rows:
        lower = max(lower, low / high_prime)
        upper = max(upper, high / low_prime if low_prime else math.inf)
    return lower, upper


def renyi(pairs: Iterable[Pair], order: Fraction, error: Inexact) -> Found:
    """Enclose the largest Σ_y P(y|x)^a P(y|x')^(1-a), for a rational order a > 1; terms grow with P alone."""
    return _largest(pairs, error, lambda rows: _moment(rows, order, error.published))


def _moment(rows: Iterator[tuple[Range, Range]], order: Fraction, published: bool) -> tuple[Exact, Exact]:
    with ctx.workprec(_BITS):
        a, low_sum, high_sum = as_ball(order), arb(0), arb("inf") if published else arb(0)
        for (low, high), (low_prime, high_prime) in rows:
            if low:
                low_sum += as_ball(low) ** a * as_ball(high_prime) ** (1 - a)
            high_sum += as_ball(high) ** a * as_ball(low_prime) ** (1 - a) if low_prime else arb("inf")
        above = ends(high_sum) if high_sum.is_finite() else None
        below = ends(low_sum)
        assert below is not None
        return max(below.lower, Fraction(1)), math.inf if above is None else max(above.upper, Fraction(1))


def _largest(
    pairs: Iterable[Pair], error: Inexact, of: Callable[[Iterator[tuple[Range, Range]]], tuple[Exact, Exact]]
) -> Found:
    lower: Exact = Fraction(1)
    upper: Exact = Fraction(1)
    best: Pair | None = None
    for pair in pairs:
        ours, theirs = laws_of(pair)
        none = Fraction(0)
        rows = (
            (error.ends(ours.get(output, none)), error.ends(theirs.get(output, none)))
            for output in {**ours, **theirs}
            if not is_beyond(output)
        )
        low, high = of(rows)
        if low > lower or best is None:
            best = pair
        lower, upper = max(lower, low), max(upper, high)
    return lower, upper, best
