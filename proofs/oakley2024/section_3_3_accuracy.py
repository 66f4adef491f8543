"""Section 3.3: exhaustive accuracy bounds (Theorem 1)."""

from __future__ import annotations

from fractions import Fraction

from sympy import symbols

from tightdp.claims import grid, identity, random_law, seeds

from .paper import paper


def window_is_an_interval() -> None:
    """|y - v| <= α exactly when both α - (y - v) and α + (y - v) are >= 0, that is v - α <= y <= v + α: with α >= 0
    their sum is >= 0, so they are not both negative, and both are >= 0 exactly when their product α² - (y - v)² is.
    So the event |A(x) - v| <= α is the finite disjoint union of the outputs y in the interval, and its probability
    is the sum.

    For the reader: that probabilities of different outputs add up.
    """
    y, v, alpha = symbols("y v alpha", real=True)
    below, above = alpha - (y - v), alpha + (y - v)
    identity(below * above, alpha**2 - (y - v) ** 2, "the product is α² - (y - v)²")
    identity(below + above, 2 * alpha, "the sum is 2α >= 0")


def interval_and_distance(seed: int, alpha: Fraction, target: Fraction) -> dict[str, Fraction]:
    """P(|A - V| <= α) of a random law on 0..5, and the sum over the closed interval."""
    law = random_law(seed, "x", 6)["x"]
    near = sum((p for y, p in law.items() if abs(y - target) <= alpha), Fraction(0))
    closed = sum((p for y, p in law.items() if target - alpha <= y <= target + alpha), Fraction(0))
    return {"the sum": closed, "P(|A(x) - V_x| <= α)": near}


paper.claim(
    "O15a",
    "Thm 1",
    "The input that minimises the sum of P(A(x) = y) over y in [V_x - α, V_x + α] minimises P(|A(x) - V_x| <= "
    "α): for every input `the sum = P(|A(x) - V_x| <= α)`.",
    check=interval_and_distance,
    quick=9,
    instances=[{**each, **rest} for rest in grid(alpha=(0, 1, 2, "3/2"), target=(0, 2, "5/2")) for each in seeds(3)],
    verdict="argued",
    proof=window_is_an_interval,
    notes="Both are the same number for every input.",
)
