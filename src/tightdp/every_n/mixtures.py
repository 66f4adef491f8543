"""States from which the same follows as from a mixture of others: what is drawn when it is needed is drawn before.

If the probabilities of all that may follow from a state s are Σ c_t times those that may follow from other states t,
c_t >= 0, a step to s can be one to each t with c_t times its probability: the law of the chain stays what it is, by
induction on what follows.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tightdp.every_n.chain import Chain, Matrix, Vector, column, plus, row
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
    shares: Matrix = {}
    for state in range(chain.size):
        found = {state: Fraction(1)} if state in kept else _mixture(follows[state], kept)
        if found is None:
            return chain
        shares[state] = {number[at]: share for at, share in found.items()}

    def cut(matrix: Matrix) -> Matrix:
        return {number[state]: row(entries, shares) for state, entries in matrix.items() if state in kept}

    return replace(
        chain,
        size=len(kept),
        starts=tuple(row(start, shares) for start in chain.starts),
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
                left = plus(left, each, -factor / each[at])
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
    if shares is None or min(shares.values(), default=0) < 0 or plus(row(shares, others), wanted, Fraction(-1)):
        return None
    return shares


def _signed(vector: Vector) -> dict[tuple[int, int], Fraction]:
    """Return a vector followed by what is less than 0 by as much."""
    return {(at, sign): sign * value for at, value in vector.items() for sign in (1, -1)}
