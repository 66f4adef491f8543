"""Classic auditing of the same mechanism for comparison: many runs, one secret bit each (keinan2025, Alg. 2)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from tightdp.exact.field import Number
from tightdp.exact.polynomial import Joint, joint_power
from tightdp.exact.whole import Whole, lcm
from tightdp.language.program import Output

__all__ = ["classic_joint"]

Law = Mapping[Output, Number]


def classic_joint(law: Law, law_prime: Law, runs: int, least: Number) -> Joint:
    """Return the weights of (guesses, right) over independent runs on x or x', each with probability 1/2.

    A run is guessed where the larger posterior of x or x' given its output is at least `least`; ties are guessed x.
    """
    below = 2 * lcm(*(p.denominator for p in (*law.values(), *law_prime.values())))
    passed: Whole = 0
    wrong: Whole = 0
    right: Whole = 0
    for output in law.keys() | law_prime.keys():
        chances = [other.get(output, Fraction(0)) for other in (law, law_prime)]
        masses = [p.numerator * (below // p.denominator) for p in chances]
        if max(masses) * least.denominator >= sum(masses) * least.numerator:
            right, wrong = right + max(masses), wrong + min(masses)
        else:
            passed += sum(masses)
    return joint_power({0: [passed], 1: [wrong, right]}, runs)
