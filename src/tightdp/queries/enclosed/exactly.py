"""The exact δ of one pair of neighbours, by which the witness of an enclosure is checked again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest

from flint import fmpz_poly

from tightdp.exact.field import Number
from tightdp.queries.enclosed.forms import PublishedSum
from tightdp.queries.enclosed.pairs import Move

__all__ = ["exact_delta"]

_MOST_BYTES = 64_000_000
"""Laws whose numbers are longer together, times the number of factors, are not written out: these take a second."""


def exact_delta(form: PublishedSum, others: Sequence[int], move: Move, t: Fraction | None) -> Fraction | None:
    """Return δ(t) of neighbours whose other records have these counts of letters; None where the numbers are too long.

    Without t it is the δ that is left however large t is: the probability of outputs that the other dataset lacks.

    Independent of the doubles that found the pair: the laws are recomputed as products of integer polynomials.
    """
    factors = [(form.letters[letter], times) for letter, times in enumerate(others) if times]
    for times, law in form.noises:
        if not isinstance(law, dict):
            return None
        factors.append(({times * value: mass for value, mass in law.items()}, 1))
    before, after = (form.letters[letter] for letter in move)
    if not all(isinstance(mass, Fraction) for law, _ in [*factors, (before, 1), (after, 1)] for mass in law.values()):
        return None
    length = sum(times * (max(law) - min(law)) for law, times in factors) + 1
    bits = sum(times * math.log2(_denominator(law)) for law, times in factors)
    if length * bits * len(factors) > 8 * _MOST_BYTES:
        return None
    product, denominator = fmpz_poly([1]), 1
    for law, times in factors:
        product *= _weights(law, _denominator(law), min(law)) ** times
        denominator *= _denominator(law) ** times
    shared, low = math.lcm(_denominator(before), _denominator(after)), min(*before, *after)
    ours, theirs = (_weights(law, shared, low) for law in (before, after))
    if t is None:
        pairs = zip_longest((product * ours).coeffs(), (product * theirs).coeffs(), fillvalue=0)
        return Fraction(sum(int(weight) for weight, other in pairs if not other), denominator * shared)
    excess = product * (ours * t.denominator - theirs * t.numerator)
    above = sum(int(weight) for weight in excess.coeffs() if weight > 0)
    return Fraction(above, denominator * shared * t.denominator)


def _denominator(law: Mapping[int, Number]) -> int:
    return math.lcm(*(mass.denominator for mass in law.values() if isinstance(mass, Fraction)))


def _weights(law: Mapping[int, Number], denominator: int, low: int) -> fmpz_poly:
    """Return a law as integers over a denominator; the first of them is the weight of `low`."""
    weights = [0] * (max(law) - low + 1)
    for value, mass in law.items():
        weights[value - low] = int(mass * denominator)
    return fmpz_poly(weights)
