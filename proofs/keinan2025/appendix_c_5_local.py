"""Appendix C.5: local algorithms (Proposition C.13)."""

from __future__ import annotations

from sympy import exp as symbolic_exp
from sympy import integrate, oo, symbols

from tightdp.claims import identity, limit

from .paper import paper
from .posterior_lemmas import ONE_HALF


def laplace_by_integration() -> None:
    """The likelihood ratio of Laplace noise around -1 and 1 with scale b = 2/ε is e^(2/b) = e^ε at most, attained
    outside [-1, 1], so the mechanism has privacy level ε exactly. It exceeds 1 exactly for o > 0 (in favour of 1),
    and the bits go separately, so the efficacy is P(1 + noise > 0), the integral of the density.
    """
    epsilon, u = symbols("epsilon u", positive=True)
    scale = 2 / epsilon
    near = integrate(symbolic_exp(-(1 - u) / scale) / (2 * scale), (u, 0, 1))
    far = integrate(symbolic_exp(-u / scale) / (2 * scale), (u, 0, oo))
    identity(near + far, 1 - symbolic_exp(-epsilon / 2) / 2, "P(1 + noise > 0), from 0 to 1 and beyond 1")
    identity(((u + 1) - (u - 1)) / scale, epsilon, "the log-ratio at o >= 1")
    identity(((u + 1) - (1 - u)) / scale, epsilon * u, "the log-ratio at 0 < o = u < 1: positive, below ε")
    limit(1 - symbolic_exp(-epsilon / 2) / 2, epsilon, 0, ONE_HALF, "no privacy loss, no efficacy")


paper.claim(
    "K10",
    "Prop. C.13",
    "Local Laplace with scale 2/ε on inputs -1, 1: efficacy without abstention is 1 - exp(-ε/2)/2.",
    verdict="proved",
    proof=laplace_by_integration,
    notes="The outputs are real numbers, so there are no instances for the engine: the integral is symbolic.",
)
