"""Fig. 3 and Fig. 8 of keinan2025, the exact part: local Laplace, and counts in sets."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tightdp.claims import exp, log
from tightdp.claims.figures import Cell

from .paper import paper
from .programs import count_in_sets


@paper.figure(
    "Fig. 3",
    "local Laplace without abstentions: p^-1 of the efficacy 1 - e^(-ε/2)/2, to which the bounds converge",
    ("ε", "efficacy", "p^-1(efficacy)"),
    drawn=("p^-1(efficacy)",),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for epsilon in (Fraction(1, 10), Fraction(1, 2), *map(Fraction, range(1, 11))):
        efficacy = 1 - exp(-epsilon / 2) / 2
        yield epsilon, efficacy, log(efficacy / (1 - efficacy))


@paper.figure(
    "Fig. 8",
    "counts in sets, per set of s elements: expected sure guesses without and with adaptivity, and P(no sure guess)",
    ("s", "not adaptive", "adaptive", "P(none)"),
    drawn=("not adaptive", "adaptive"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for s in range(1, 13):
        instance = count_in_sets.bind(n=s, s=s)
        joint = instance.guessing("certain").joint
        none = sum((p for r, _, p in joint.entries if r == 0), Fraction(0))
        yield s, joint.guesses, instance.adaptive_guessing(1).joint.guesses, none
