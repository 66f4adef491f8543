"""Section 3.3: exhaustive accuracy bounds (Theorem 1)."""

from __future__ import annotations

from sympy import symbols

from tightdp.claims import identity

from .paper import paper


def window_is_an_interval() -> None:
    """|y - v| <= α exactly when both α - (y - v) and α + (y - v) are >= 0, that is v - α <= y <= v + α: with α >= 0
    their sum is >= 0, so they are not both negative, and both are >= 0 exactly when their product α² - (y - v)² is.
    So the event |A(x) - v| <= α is the finite disjoint union of the outputs y in the interval, and its probability
    is the sum.
    """
    y, v, alpha = symbols("y v alpha", real=True)
    below, above = alpha - (y - v), alpha + (y - v)
    identity(below * above, alpha**2 - (y - v) ** 2, "the product is α² - (y - v)²")
    identity(below + above, 2 * alpha, "the sum is 2α >= 0")


paper.claim(
    "O15a",
    "Thm 1",
    "The input that minimises the sum of P(A(x) = y) over y in [V_x - α, V_x + α] minimises P(|A(x) - V_x| <= α).",
    verdict="proved",
    proof=window_is_an_interval,
    notes="Both are the same number for every input.",
)
