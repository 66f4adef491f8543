"""The bit-sum protocol, run by the engine."""

from __future__ import annotations

from fractions import Fraction

from tightdp.claims import program

from .sums import agreed, bit_sum_delta

shuffled = program("shuffled_randomized_response")


def engine_delta(n: int, lam: Fraction, t: Fraction) -> Fraction:
    """δ of the shuffled messages at t, from the engine and from binomial sums."""
    return agreed(shuffled.bind(n=n, lam=lam).delta(exp_epsilon=t).delta, bit_sum_delta(n, lam, t))
