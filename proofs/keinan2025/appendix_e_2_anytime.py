"""Appendix E.2, what Prop. E.5 leaves open: an adaptive audit that may stop whenever it likes."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

from sympy import symbols

from tightdp.claims import identity, seeds

from .paper import paper

ONE = Fraction(1)


def chance_to_reach(chances: Any, p: Fraction, bet: Fraction, beta: Fraction, n: int) -> Fraction:
    """P(some product over the guesses so far is at least 1/β) in n guesses.

    `chances` gives the probability that the next guess is right for what was seen (1 for right, 0 for wrong).
    """

    def reach(seen: tuple[int, ...], product: Fraction) -> Fraction:
        if product * beta >= 1:
            return ONE
        if len(seen) == n or product == 0:
            return Fraction(0)
        right = chances(seen)
        up, down = (1 + bet * (b - p) for b in (1, 0))
        return right * reach((*seen, 1), product * up) + (1 - right) * reach((*seen, 0), product * down)

    return reach((), ONE)


def products_are_fair() -> None:
    """Given the output and all other bits, the odds of a bit are at most e^ε, as the mechanism is ε-DP and the bits are
    fair coins. So given the output and what was revealed the next guess is right with a probability of at most p =
    e^ε/(1 + e^ε), whatever the guesser makes of them; a skipped bit changes nothing. So the factor 1 + λ(b - p), which
    is at least 0 for 0 <= λ <= 1/p, has a conditional mean of at most 1, and the products are a supermartingale that
    starts at 1. Stop it when it first reaches 1/β: its mean is still at most 1, and at least 1/β times the probability
    of getting there (Ville's inequality).

    For the reader: optional stopping for a supermartingale that is not negative (Ville's inequality).
    """
    right, p, bet = symbols("q p lambda", nonnegative=True)
    identity(
        right * (1 + bet * (1 - p)) + (1 - right) * (1 - bet * p),
        1 - bet * (p - right),
        "the mean of a factor, at most 1 for q <= p",
    )
    identity((1 - bet * p).subs(bet, 1 / p), 0, "the least factor is 0 at λ = 1/p, and above for smaller λ")


@paper.claim(
    "K32",
    "Prop. E.5, an audit that may stop at any time",
    "Fix λ in [0, 1/p], p = e^ε/(1 + e^ε), and multiply 1 + λ(b - p) over the guesses, b = 1 for a right one. For "
    "every ε-DP mechanism and adaptive guesser, who may skip bits and stop when he likes, a product of at least 1/β is "
    "ever seen with probability at most β: `P(seen) <= β`. So an audit that reports every ε at which the product has "
    "reached 1/β is valid, where Prop. E.5 is not (K22b).",
    verdict="argued",
    extra=True,
    instances=[
        {"seed": -1, "p": "1/2", "bet": "2", "beta": "1/8", "n": 8},
        {"seed": -1, "p": "1/2", "bet": "1/2", "beta": "1/20", "n": 14},
        {"seed": -1, "p": "3/4", "bet": "4/3", "beta": "1/3", "n": 10},
        *seeds(8, p="2/3", bet="1", beta="1/5", n=8),
    ],
    quick=4,
    proof=products_are_fair,
    notes="""
    With λ = c/p for a fixed c in [0, 1] the product falls in p, so that what is reported is an interval from 0 on. The
    first instance attains the bound: every right guess doubles the product, a wrong one ends it.
    """,
)
def _(seed: int, p: Fraction, bet: Fraction, beta: Fraction, n: int) -> dict[str, Any]:
    random, drawn = Random(seed), dict[tuple[int, ...], Fraction]()

    def chances(seen: tuple[int, ...]) -> Fraction:
        if seed < 0:
            return p
        return drawn.setdefault(seen, p * Fraction(random.choice((2, 3, 4)), 4))

    return {"P(seen)": chance_to_reach(chances, p, bet, beta, n)}
