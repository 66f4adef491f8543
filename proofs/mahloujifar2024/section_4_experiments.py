"""Section 4: the number of right guesses that Algorithm 4 estimates, as an enclosed mean."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tightdp.auditing import Gaussian, expected_correct
from tightdp.claims import Correction, Exactly, every, largest

from .games import blow_up, symmetric
from .paper import paper


def of_definition_seven(t: Fraction, delta: Fraction) -> dict[str, Any]:
    """max (1 - f(x) - δ)/x for 1 - f(x) = min(1, t x + δ), over x = 1/20, ..., 1; it falls in x, and is t up to 1/t."""
    f = symmetric(t, delta)[:1]
    return {"ε(δ)": max((blow_up(f, Fraction(at, 20)) - delta) / Fraction(at, 20) for at in range(1, 21))}


def of_definition_seven_again(t: Fraction, delta: Fraction) -> dict[str, Any]:
    """Below the cut the quotient is (t x + δ - δ)/x."""
    return {"ε(δ)": t}


paper.claim(
    "M11",
    "Def. 7",
    "The empirical privacy of Definition 7, the largest (1 - f(x) - δ)/x, is ε where the strongest f that passes is "
    "that "
    "of (ε,δ)-DP, 1 - f(x) = e^ε x + δ: `ln(e^ε) <= ε(δ) <= ln(e^ε)`.",
    brief="A logarithm is missing: for the f of (ε,δ)-DP the printed quotient is e^ε.",
    verdict="corrected",
    instances=[{"t": Fraction(2), "delta": Fraction(1, 10)}, {"t": Fraction(4), "delta": Fraction(0)}],
    check=of_definition_seven,
    brute=of_definition_seven_again,
    at={"t": 2, "delta": "1/10"},
    minimal="smallest whole e^ε above 1",
    breaks="(1 - f(x) - δ)/x is the slope of the line, which is e^ε; the definition leaves out its logarithm.",
    corrected=Correction(
        Exactly(
            every("t >= 1"),
            every("0 <= δ < 1"),
            every("x > 0"),
            says=[largest("(1 - f(x) - δ)/x", "t", over="x", x="(1 - δ)/t")],
            where={"1 - f(x)": "min(1, t·x + δ)"},
        ),
        verdict="decided",
    ),
    stands="The figures, which show ln of it. ε(δ) is the logarithm of the largest quotient.",
)


@paper.claim(
    "M9",
    "Sec. 4, δ and confidence levels",
    """
    The idealised setting suggests 1,429 right guesses of 1,500 on 10^5 canaries, at standard deviation 1. Algorithm 4
    returns them in the mean, rounded: its mean is in `1429 - 1/2 < lower end <= upper end < 1429 - 1/4`.
    """,
    verdict="holds on",
    instances=[{"sigma": Fraction(1), "guesses": 1500, "canaries": 10**5}],
    notes="""
    The mean is between 1428.64 and 1428.71; the average of the hundred runs of Algorithm 4 has a standard deviation
    of about 1.2. `expected_correct` encloses it for any numbers: the h = guesses/2 highest scores are right as often as
    their certainties add up to, which is the integral over c of the mean of min(h, N), N the binomial number of secrets
    whose certainty reaches c; between the points of a grid both bounds are sums.
    """,
)
def suggested(sigma: Fraction, guesses: int, canaries: int) -> Iterator[dict[str, Any]]:
    found = expected_correct(canaries=canaries, guesses=guesses, tradeoff=Gaussian(1 / sigma), balanced=True)
    yield {"lower end": found.lower, "upper end": found.upper}
