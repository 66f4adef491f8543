"""The figures of keinan2025 without sampling: local Laplace, counts in sets, and DP-SGD idealised."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_FLOOR
from fractions import Fraction
from math import comb, floor

from flint import arb, ctx

from tightdp.auditing import Enclosure, Gaussian, audit
from tightdp.auditing.expected import mean_of_least
from tightdp.auditing.families import rejected_exp_epsilon
from tightdp.claims import exp, log
from tightdp.claims.figures import Cell
from tightdp.exact.enclosure import ball, ends
from tightdp.exact.integral import Point, enclosed_integral
from tightdp.exact.numbers import decimal_text

from .paper import paper
from .programs import count_in_sets

ONE = Fraction(1)
DIMENSIONS = 1000
LOSSES = (Fraction(1, 4), Fraction(1, 2), Fraction(1))
"""1/σ of the Gaussian noise on a count; ε at δ = 10^-5 is 0.92, 1.99, 4.37. Fig. 1 and 2 have ε = 2."""

IDEALISED = (
    "DP-SGD as one count in sets with Gaussian noise, 1,000 dimensions; the mean share of right guesses, its p^-1, the "
    "ε reported from it at 95 % confidence (δ = 0), and the ε of the mechanism at δ = 10^-5"
)


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


@paper.figure(
    "Fig. 1, 4, 6",
    f"{IDEALISED}; n = 5,000 elements, k guesses",
    ("1/σ", "k", "efficacy", "estimation", "bound", "mechanism"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for mu in LOSSES:
        for k in (50, 100, 250, 500, 1000, 2500, 5000):
            yield mu, k, *_audited(mu, 5, k)


@paper.figure(
    "Fig. 2, 5, 7",
    f"{IDEALISED}; s elements per dimension, k = 100 guesses",
    ("1/σ", "s", "efficacy", "estimation", "bound", "mechanism"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for mu in LOSSES:
        for s in (1, 2, 4, 5, 10, 20, 50):
            yield mu, s, *_audited(mu, s, 100)


def _audited(mu: Fraction, s: int, k: int) -> tuple[Cell, ...]:
    right = expected_in_sets(mu, s, k, DIMENSIONS)
    share = right.lower / k
    reported = audit(canaries=s * DIMENSIONS, guesses=k, correct=floor(right.lower)).exp_epsilon_lower
    true = rejected_exp_epsilon(Gaussian(mu), Fraction(1, 10**5))
    estimation, bound, epsilon = (
        decimal_text(log(t).enclosure().lower, 4, ROUND_FLOOR) for t in (share / (1 - share), reported or ONE, true)
    )
    return decimal_text(share, 4, ROUND_FLOOR), estimation, bound, epsilon


def expected_in_sets(mu: Fraction, s: int, k: int, sets: int) -> Enclosure:
    """Enclose the mean number of right guesses among the k most certain elements, s dividing k, of noisy counts.

    The elements of a set share their certainty: it is c/s in the mean over the counts c that the noisy one leaves
    possible, or one minus that, and grows with the distance z of the noisy count from s/2. The right guesses are the
    integral over certainties of the mean of s·min(k/s, N), N the number of sets that reach it.
    """

    def at(z: Fraction) -> Point:
        far, ones, all_ = arb(0), arb(0), arb(0)
        for c in range(s + 1):
            share, away = arb(comb(s, c)) / 2**s, Fraction(s, 2) - c
            far += share * (_above(mu * (z + away)) + _above(mu * (z - away)))
            seen = share * (-(ball(mu * (z + away)) ** 2) / 2).exp()
            ones, all_ = ones + c * seen, all_ + seen
        value = s * mean_of_least(sets, k // s, far)
        return ones / (s * all_), value, value

    with ctx.workprec(160):
        end = Fraction(s, 2) + 20 / mu
        found = enclosed_integral(at, [Fraction(0), end], Fraction(k, 2000))
        certain, most, _ = at(end)
        rest = ends((1 - certain) * most)
        assert rest is not None
        return Enclosure(Fraction(k, 2) + found.lower, Fraction(k, 2) + found.upper + rest.upper)


def _above(score: Fraction) -> arb:
    """P(N(0, 1) >= score)."""
    return (ball(score) / arb(2).sqrt()).erfc() / 2
