"""Appendix A.1: the functions of Lemma 11 (Proposition 12)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sympy import Symbol, symbols

from tightdp.claims import certain, grid, identity

from .games import Curve, blow_up, least_right, most_right, tradeoff
from .lemmas import a, b, others, x
from .mechanisms import random_laws
from .paper import paper


def infimum_of_rising_lines() -> None:
    """α + f((x-α)/(k-1)) <= 1 says α <= a (x-α)/(k-1) + b for every line of f̄, that is
    α <= (a x + (k-1) b)/(k-1+a). With α <= x (the argument of f is not negative) f'_k(x) is an infimum of lines in
    x of slopes a/(k-1+a) >= 0 and 1, so it does not fall and is concave. It even rises strictly: suppose f'_k is v
    at x and at z > x. Then v <= x < z, so v = f̄((z-v)/(k-1)), and v <= f̄((x-v)/(k-1)): f̄, which is concave and
    does not fall, is constant from there on. So v = f̄(1) = 1 - f(1) = 1, and x >= 1, which is not below z.

    For the reader: that an infimum of lines is concave, and the strictness at the end.
    """
    alpha = Symbol("alpha", nonnegative=True)
    bound = (a * x + others * b) / (others + a)
    identity(
        (others + a) * (bound - alpha),
        others * (a * (x - alpha) / others + b - alpha),
        "the two forms of the inequality have the same sign",
    )
    identity(bound.diff(x), a / (others + a), "its slope in x")
    certain((a / (others + a)).is_positive, "is positive for a > 0")
    identity(bound.diff(x, 2), 0, "it is a line")


STEPS = [Fraction(at, 24) for at in range(25)]


def is_the_supremum(curve: Curve, k: int, x: Fraction) -> bool:
    """Whether most_right is a largest α with α + f((x-α)/(k-1)) <= 1, straight from the definition."""
    alpha, step = most_right(curve, k, x), Fraction(1, 10**6)
    allowed = [a <= blow_up(curve, (x - a) / (k - 1)) for a in (alpha, alpha + step)]
    return allowed[0] and (alpha + step > x or not allowed[1])


def rises_and_is_concave(seed: int, k: int, outputs: int) -> Iterator[dict[str, Fraction]]:
    """f'_k of the f of a random mechanism at multiples of h = 1/24; each value is a supremum by its definition."""
    curve = tradeoff(random_laws(seed, 1, k, outputs), k)
    values = [most_right(curve, k, at) for at in STEPS]
    if not all(is_the_supremum(curve, k, at) for at in STEPS):
        raise AssertionError("most_right is not the supremum")
    for before, here, after in zip(values, values[1:], values[2:], strict=False):
        yield {"f'_k(x - h)": before, "f'_k(x)": here, "f'_k(x + h)": after}


paper.claim(
    "M4a",
    "Prop. 12, first half",
    "f'_k is increasing and concave: `f'_k(x) < f'_k(x + h)`, `f'_k(x - h) + f'_k(x + h) <= 2·f'_k(x)`.",
    verdict="argued",
    instances=grid(k=(2, 3, 4), outputs=(2, 3), seed=range(4)),
    quick=6,
    check=rises_and_is_concave,
    proof=infimum_of_rising_lines,
    notes="It even rises strictly. The supremum is over 0 <= α <= x, where f((x-α)/(k-1)) makes sense.",
)


def supremum_of_rising_lines() -> None:
    """(k-1) f(α) + x - α <= K says α >= ((k-1)(1-b) + x - K)/((k-1) a + 1) for every line 1 - b - a α below f. So
    the infimum of these α >= 0 is a supremum of lines in x of positive slopes and 0: it does not fall and is
    convex.

    For the reader: that a supremum of lines is convex.
    """
    alpha, side = symbols("alpha K", nonnegative=True)
    bound = (others * (1 - b) + x - side) / (others * a + 1)
    identity(
        (others * a + 1) * (alpha - bound),
        side - (others * (1 - b - a * alpha) + x - alpha),
        "the two forms of the inequality have the same sign",
    )
    certain((1 / (others * a + 1)).is_positive, "its slope in x is positive")
    identity(bound.diff(x, 2), 0, "it is a line")


def rises_and_is_convex(seed: int, k: int, outputs: int) -> Iterator[dict[str, Fraction]]:
    """f''_k as printed and corrected, at multiples of h = 1/24."""
    curve = tradeoff(random_laws(seed, 1, k, outputs), k)
    for side in {1, k - 1}:
        values = [least_right(curve, k, at, side) for at in STEPS]
        for before, here, after in zip(values, values[1:], values[2:], strict=False):
            yield {"f''_k(x - h)": before, "f''_k(x)": here, "f''_k(x + h)": after}


paper.claim(
    "M4b",
    "Prop. 12, second half",
    "f''_k is increasing and convex: `f''_k(x) <= f''_k(x + h)`, `f''_k(x - h) + f''_k(x + h) >= 2·f''_k(x)`.",
    verdict="argued",
    extra=True,
    instances=grid(k=(2, 3, 4), outputs=(2, 3), seed=range(4)),
    quick=6,
    check=rises_and_is_convex,
    proof=supremum_of_rising_lines,
    notes="Not strictly: it is 0 near 0 when δ > 0. It holds for the printed f''_k and for the corrected one (M3c).",
)


paper.row(
    "M4",
    "Prop. 12",
    "f'_k is increasing and concave.",
    parts=("M4a", "M4b"),
)
