"""What is asked of one law whose outputs are numbers: probabilities of intervals, expected errors, quantiles."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from math import lcm

from tightdp.cells.laws import CellLaws
from tightdp.cells.linear import Label, row, tightest
from tightdp.cells.maker import Contribution
from tightdp.cells.noise import Outside
from tightdp.cells.sums import UNIT, Exact, Piece, Pieces, Terms, expanded, multiplied, multiplied_terms, summed_out
from tightdp.language.program import Dataset

_FARTHEST = 1 << 40


def within(laws: CellLaws, x: Dataset, low: Fraction, high: Fraction) -> Exact:
    """Return the probability that the output is from `low` to `high`. Raises Outside where it may be no number."""
    total = 0 * laws.one
    for label, contributions in laws.of(x).items():
        form, constant = _number(label)
        rows = [row(form, high - constant), row({v: -c for v, c in form.items()}, constant - low)]
        total += _sum(laws, label, contributions, [(tightest(rows), {UNIT: laws.one})])
    return total


def expected_error(laws: CellLaws, x: Dataset, target: Fraction, power: int) -> Exact:
    """Return the expectation of |output - target|^power. Raises Outside where the output may be no number."""
    total = 0 * laws.one
    for label, contributions in laws.of(x).items():
        form, constant = _number(label)
        away: Terms = {((), ((v, 1),)): laws.exact(c) for v, c in form.items()}
        if constant != target:
            away[UNIT] = laws.exact(constant - target)
        error: Terms = {UNIT: laws.one}
        for _ in range(power):
            error = multiplied_terms(error, away)
        signed = {key: c if power % 2 == 0 else -c for key, c in error.items()}
        below = row(form, target - constant, strict=True)
        above = row({v: -c for v, c in form.items()}, constant - target)
        sides = [(tightest([above]), error), (tightest([below]), signed)]
        total += _sum(laws, label, contributions, sides)
    return total


def least_error(laws: CellLaws, x: Dataset, target: Fraction, beta: Exact) -> Fraction:
    """Return the least α such that |output - target| <= α with probability 1 - beta or more; beta is positive.

    Raises Outside where the output may be no number.
    """
    if any(label.real for label in laws.of(x)):
        raise Outside("on the reals has quantiles that are no numbers of its field")
    parts = [number for label in laws.of(x) for number in (*_number(label)[0].values(), _number(label)[1], target)]
    unit = Fraction(1, lcm(*(Fraction(part).denominator for part in parts)))

    def enough(steps: int) -> bool:
        return bool(within(laws, x, target - steps * unit, target + steps * unit) >= 1 - beta)

    if enough(0):
        return Fraction(0)
    high = 1
    while not enough(high):
        high = 2 * high
        if high > _FARTHEST:
            raise Outside("is too far out")
    return bisect_left(range(high), True, lo=high // 2 + 1, key=enough) * unit


def _number(label: Label) -> tuple[dict[int, Fraction], Fraction]:
    """Return an output that is one number as a form of its coordinates."""
    if label.shape is True:
        (line,), (base,), (scale,) = label.columns, label.base, label.scales
        return {v: Fraction(c, scale) for v, c in zip(label.variables, line, strict=True) if c}, base / scale
    if label.shape is False and isinstance(label.constants[0], (int, Fraction)):
        return {}, Fraction(label.constants[0])
    raise Outside("is published beside others")


def _sum(laws: CellLaws, label: Label, contributions: list[Contribution], what: list[Piece]) -> Exact:
    """Return the sum of a function times the law over all coordinates."""
    total = 0 * laws.one
    for contribution in contributions:
        pieces: Pieces = multiplied(expanded(contribution.factors, laws.one), what)
        for v in reversed(label.variables):  # real ones first: integers in their conditions are summed over then
            pieces = summed_out(pieces, v)
        total += sum((terms.get(UNIT, 0) for _, terms in pieces), 0 * laws.one)
    return total
