"""States from which the same follows as from a mixture of others: what is drawn when it is needed is drawn before.

If the probabilities of all that may follow from a state s are Σ c_t times those that may follow from other states t,
c_t >= 0, a step to s can be one to each t with c_t times its probability: the law of the chain stays what it is, by
induction on what follows.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tightdp.every_n.chain import Chain, Matrix, Vector, column
from tightdp.every_n.simulation import solution

_MOST = 60
"""Of more states it is not asked which are mixtures of others."""


def unmixed(chain: Chain) -> Chain:
    """Return the chain without the states that are mixtures of others; itself where there are none, or too many."""
    if chain.size > _MOST:
        return chain
    follows = _follows(chain)
    kept = dict(enumerate(follows))
    for state in range(chain.size):
        if _mixture(follows[state], {at: each for at, each in kept.items() if at != state}) is not None:
            del kept[state]
    if len(kept) == chain.size:
        return chain
    number = {state: at for at, state in enumerate(kept)}
    shares: list[Vector] = []
    for state in range(chain.size):
        found = {state: Fraction(1)} if state in kept else _mixture(follows[state], kept)
        if found is None:
            return chain
        shares.append({number[at]: share for at, share in found.items()})

    def put(vector: Vector) -> Vector:
        total: Vector = {}
        for state, value in vector.items():
            for at, share in shares[state].items():
                total[at] = total.get(at, Fraction(0)) + value * share
        return total

    def cut(matrix: Matrix) -> Matrix:
        return {number[state]: put(entries) for state, entries in matrix.items() if state in kept}

    return replace(
        chain,
        size=len(kept),
        starts=tuple(map(put, chain.starts)),
        steps={y: {x: cut(matrix) for x, matrix in by.items()} for y, by in chain.steps.items()},
        finals=tuple({number[at]: value for at, value in each.items() if at in kept} for each in chain.finals),
    )


def _follows(chain: Chain) -> list[Vector]:
    """Return for each state the probabilities of some of what may follow, of which all others are linear functions."""
    found: list[Vector] = [{} for _ in range(chain.size)]
    reduced: dict[int, Vector] = {}
    pending = list(chain.finals)
    for vector in pending:
        left = dict(vector)
        for at, each in reduced.items():
            if factor := left.get(at, Fraction(0)):
                left = _plus(left, each, -factor / each[at])
        if left:
            for state, value in vector.items():
                found[state][len(reduced)] = value
            reduced[min(left)] = left
            pending += (column(matrix, vector) for matrix in chain.matrices())
    return found


def _mixture(wanted: Vector, others: dict[int, Vector]) -> Vector | None:
    """Return the shares of others whose sum is the wanted vector; None for none."""
    if not wanted:
        return {}
    shares = solution(_signed(wanted), {at: _signed(each) for at, each in others.items() if each})
    total: Vector = {}
    for at, share in (shares or {}).items():
        total = _plus(total, others[at], share)
    return shares if shares is not None and total == wanted and min(shares.values(), default=0) >= 0 else None


def _signed(vector: Vector) -> dict[tuple[int, int], Fraction]:
    """Return a vector followed by what is less than 0 by as much."""
    return {(at, sign): sign * value for at, value in vector.items() for sign in (1, -1)}


def _plus(one: Vector, other: Vector, factor: Fraction) -> Vector:
    total = dict(one)
    for at, value in other.items():
        total[at] = total.get(at, Fraction(0)) + factor * value
    return {at: value for at, value in total.items() if value}
