"""Mechanisms that the claims of cheu2019 speak of, besides programs/shuffled_randomized_response.py."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightdp import Bit, Int, binomial, choice, flip, mechanism, randint, shuffle

__all__ = ["bit_sum", "composed", "encoder", "fixed_subset_sum", "random_subset_sum", "transformed"]


@mechanism(record=Bit)
def fixed_subset_sum(x: Any, h: int) -> Any:
    """C_H of Algorithm 3: the ones of the clients outside H, plus Bin(|H|, 1/2) for those in H."""
    return sum(x) + binomial(h, Fraction(1, 2))


@mechanism(record=Bit)
def random_subset_sum(x: Any, s: int) -> Any:
    """C_s of Algorithm 4: H is a uniformly random set of s clients."""
    y = shuffle(x)
    return sum(y[s:]) + binomial(s, Fraction(1, 2))


@mechanism(record=Bit)
def bit_sum(x: Any, lam: Fraction, n: int) -> Any:
    """The sum of the messages of Algorithm 1."""
    return sum(randint(0, 1) if flip(lam / n) else b for b in x)


@mechanism(record=lambda m: Int(0, m))
def encoder(x: Any, m: int, r: int) -> Any:
    """E_r of Algorithm 5 on the number x/m in [0, 1]."""
    v = x[0] * r
    mu = -((-v) // m)
    b = flip((v - mu * m + m) / m)
    return tuple(1 if j < mu else b if j == mu else 0 for j in range(1, r + 1))


@mechanism(record=Bit)
def composed(x: Any, lam: Fraction, rounds: int) -> Any:
    """Randomized response on the same bit, so many times."""
    return tuple(x[0] ^ flip(lam) for _ in range(rounds))


RANDOMIZER = ((3, 6, 1), (6, 3, 1), (5, 5, 0))
"""Weights of a (ln 2, 1/10)-DP randomizer: input, then message."""
HALVES = (("1/2", "1/2", "1/2"), ("1", "1/4", "1/2"), ("5/6", "5/12", "1/2"))
"""p_t of Algorithm 7 for it, with c = 0: half the ratio to input 0; 0 is not in GoodInt, so it becomes 1/2."""


@mechanism(record=Int(0, 2))
def transformed(x: Any, k: Fraction, halves: Any, weights: Any) -> Any:
    """R_{k,T} of Algorithm 7 with T = 2, for the randomizer above."""
    v = choice((0, 1, 2), weights)
    w = choice((0, 1, 2), weights)
    a = flip(k * halves[x[0]][v])
    b = flip(k * halves[x[0]][w])
    if a == b:
        return choice((v, w))
    return v if a else w
