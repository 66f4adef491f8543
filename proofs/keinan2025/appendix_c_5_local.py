"""Appendix C.5: local algorithms (Proposition C.13)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sympy import exp as symbolic_exp
from sympy import integrate, oo, symbols

from tightdp.claims import grid, identity, limit, log

from .paper import paper
from .posterior_lemmas import ONE_HALF


def laplace_by_integration() -> None:
    """The likelihood ratio of Laplace noise around -1 and 1 with scale b = 2/ε is e^(2/b) = e^ε at most, attained
    outside [-1, 1], so the mechanism has privacy level ε exactly. It exceeds 1 exactly for o > 0 (in favour of 1),
    and the bits go separately, so the efficacy is P(1 + noise > 0), the integral of the density.

    For the reader: that the bits go separately, and where the density of one hypothesis is the larger.
    """
    epsilon, u = symbols("epsilon u", positive=True)
    scale = 2 / epsilon
    near = integrate(symbolic_exp(-(1 - u) / scale) / (2 * scale), (u, 0, 1))
    far = integrate(symbolic_exp(-u / scale) / (2 * scale), (u, 0, oo))
    identity(near + far, 1 - symbolic_exp(-epsilon / 2) / 2, "P(1 + noise > 0), from 0 to 1 and beyond 1")
    identity(((u + 1) - (u - 1)) / scale, epsilon, "the log-ratio at o >= 1")
    identity(((u + 1) - (1 - u)) / scale, epsilon * u, "the log-ratio at 0 < o = u < 1: positive, below ε")
    limit(1 - symbolic_exp(-epsilon / 2) / 2, epsilon, 0, ONE_HALF, "no privacy loss, no efficacy")


def enclosed_by_sums(ratio: Fraction, steps: int) -> dict[str, Any]:
    """Lower and upper sums of the Laplace density around 1 over cells of width 1/steps, from 0 to infinity.

    ε = 2·steps·ln(ratio), so that the density falls by the factor `ratio` from one end of a cell to the other.
    """
    height = log(ratio) * steps / 2  # 1/(2·scale), the density at its top
    before = sum((1 / ratio**j for j in range(1, steps + 1)), Fraction(0))  # from 1 down to 0
    after = 1 / (ratio - 1)  # from 1 on: the sum of 1/ratio^j, j >= 1
    lower = height * ((before + after) / steps)
    return {"ε": 2 * steps * log(ratio), "lower sum of the density": lower, "upper sum of the density": lower * ratio}


paper.claim(
    "K10",
    "Prop. C.13",
    "Local Laplace with scale 2/ε on inputs -1, 1: efficacy without abstention, the integral of the density "
    "from 0 on, is 1 - e^(-ε/2)/2: `lower sum of the density < 1 - e^(-ε/2)/2 < upper sum of the density`, "
    "where `upper sum of the density <= 101/100·lower sum of the density`.",
    check=enclosed_by_sums,
    quick=2,
    instances=grid(ratio=("1001/1000",), steps=(20, 100, 1000, 5000)),
    verdict="argued",
    proof=laplace_by_integration,
    notes="The outputs are real numbers, so that there are no instances for the engine. The integral is "
    "symbolic in the proof, and enclosed by exact lower and upper sums in the instances: cells of width "
    "1/N, ε = 2N·ln(1001/1000).",
)
