"""Which laws are extreme among some: all others are mixtures of these.

Divergences between output laws are largest between extreme ones: f-divergences are jointly convex, and Rényi
divergences and the largest likelihood ratio jointly quasi-convex (van Erven and Harremoës, Rényi divergence and
Kullback-Leibler divergence, IEEE Transactions on Information Theory 2014, Theorem 13).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from flint import fmpz_mat

from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.weights import all_over_common
from tightdp.exact.whole import ExpInteger, Whole

K = TypeVar("K", bound=Hashable)


def extremes(laws: Sequence[Mapping[K, Number]]) -> list[int]:
    """Return the positions of laws, in order, of which all others are mixtures; more than needed where these are many.

    A law is seen to be a mixture where it is one of linearly independent laws, begun with those that have the largest
    probability of an outcome. Laws with an unknown are all extreme.
    """
    if any(isinstance(mass, ExpNumber) and mass.unknown for law in laws for mass in law.values()):
        return list(range(len(laws)))
    outcomes = dict.fromkeys(outcome for law in laws for outcome in law)
    peaks = (max(range(len(laws)), key=lambda at: laws[at].get(outcome, Fraction(0))) for outcome in outcomes)
    order = list(dict.fromkeys((*peaks, *range(len(laws)))))
    weights, _ = all_over_common([list(laws[at].values()) for at in order])
    rows: dict[tuple[K, Fraction], dict[int, int]] = {}
    for column, (at, law) in enumerate(zip(order, weights, strict=True)):
        for outcome, weight in zip(laws[at], law, strict=True):
            for power, share in _terms(weight):
                rows.setdefault((outcome, power), {})[column] = share
    table = [[row.get(column, 0) for column in range(len(order))] for row in rows.values()]
    reduced, _, rank = fmpz_mat(table).rref()
    shares = [list(map(int, row)) for row in reduced.tolist()[:rank]]
    pivots = {next(column for column, share in enumerate(row) if share): row for row in shares}
    mixed = {at for column, at in enumerate(order) if column not in pivots and _mixed(column, pivots)}
    return [at for at in range(len(laws)) if at not in mixed]


def _mixed(column: int, pivots: Mapping[int, Sequence[int]]) -> bool:
    """Whether no share that a law has of the independent ones is negative; they add up to 1."""
    return all(row[column] * row[pivot] >= 0 for pivot, row in pivots.items())


def _terms(weight: Whole) -> list[tuple[Fraction, int]]:
    """Return the powers of e of a weight with their factors: what is equal term by term is equal."""
    if not isinstance(weight, ExpInteger):
        return [(Fraction(0), int(weight))]
    return [(Fraction(power, weight.root), int(share)) for power, share in enumerate(weight.polynomial.coeffs())]
