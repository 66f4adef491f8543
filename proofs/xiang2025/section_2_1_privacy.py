"""Section 2.1: (ε,δ)-DP as f-DP."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightdp.claims import grid, seeds

from .games import excess, of_pair, random_pair, tradeoff
from .lemmas import private_is_above_two_lines
from .paper import paper


def pair_is_private_iff_above(seed: int, t: Fraction, delta: Fraction) -> list[dict[str, Any]]:
    """(ε, δ)-DP of a random pair in both orders against T >= f at all vertices of T, which is straight between."""
    p, q = random_pair(seed)
    t, f = Fraction(t), of_pair(t, delta)
    corners = tradeoff(p, q)
    decided = {
        "least δ": max(excess(p, q, t), excess(q, p, t)),
        "least T - f": min(beta - f(alpha) for alpha, beta in corners),
    }
    return [{**decided, "y": alpha, "f(y)": f(alpha)} for alpha, _ in corners]


paper.claim(
    "X1",
    "Sec. 2.1",
    "(ε,δ)-DP is f-DP where `f(y) = max(0, 1 - δ - e^ε·y, (1 - δ - y)/e^ε)`: for every pair of neighbours, with the "
    "trade-off function T and the least δ that it has at ε, `least δ <= δ` if and only if `least T - f >= 0`.",
    verdict="argued",
    instances=[{**each, **pair} for pair in grid(t=(1, 2, 3), delta=("0", "1/6", "1/2")) for each in seeds(12)],
    quick=36,
    check=pair_is_private_iff_above,
    proof=private_is_above_two_lines,
    notes="Both directions. It needs that neighbours are taken in both orders, as Definitions 1 and 4 do. "
    "The checked instances are random pairs of laws, some private and some not.",
)
