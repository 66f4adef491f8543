"""The figures of keinan2025 without sampling: local Laplace, counts in sets, and DP-SGD idealised."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_FLOOR
from fractions import Fraction
from math import comb, floor

from flint import arb, ctx, fmpq, fmpq_poly

from tightdp import audit
from tightdp.auditing import Enclosure, Gaussian
from tightdp.auditing.curves import rejected_exp_epsilon
from tightdp.auditing.expected import mean_of_least
from tightdp.claims import exp, log
from tightdp.claims.figures import Cell, epsilon_text
from tightdp.exact.enclosure import ball, ends, normal_tail
from tightdp.exact.numbers import decimal_text
from tightdp.exact.sums import Point, enclosed_integral
from tightdp.one_run.guessers import JointLaw

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
    "100 counts in sets of s elements, sure guesses alone: how many a set has in the mean without and with adaptivity, "
    "and the mean ε that is reported from those of all sets at 95 % confidence, rounded down",
    ("s", "guesses", "adaptive guesses", "bound", "adaptive bound"),
    drawn=("guesses", "adaptive guesses"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for s in range(1, 13):
        instance = count_in_sets.bind(n=s, s=s)
        joints = instance.guessing("certain").joint, instance.adaptive_guessing(1).joint
        yield s, *(joint.guesses for joint in joints), *map(mean_bound, joints)


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


def mean_bound(joint: JointLaw, sets: int = 100) -> str:
    """The mean ε reported from independent sets whose guesses are all right: p^-1(β^(1/r)) from r of them, β = 1/20."""
    assert all(r == v for r, v, _ in joint.entries)
    law = fmpq_poly([0])
    for r, _, p in joint.entries:
        law[r] += fmpq(p.numerator, p.denominator)
    mean = arb(0)
    with ctx.workprec(160):
        for r, p in enumerate((law**sets).coeffs()):
            bound = ball(Fraction(1, 20)) ** (1 / arb(r)) if r else arb(0)
            if bound > 0.5:
                mean += p * (bound / (1 - bound)).log()
        found = ends(mean)
    assert found is not None
    return decimal_text(found.lower, 4, ROUND_FLOOR)


def _audited(mu: Fraction, s: int, k: int) -> tuple[Cell, ...]:
    right = expected_in_sets(mu, s, k, DIMENSIONS)
    share = right.lower / k
    reported = audit(canaries=s * DIMENSIONS, guesses=k, correct=floor(right.lower)).exp_epsilon_lower
    true = rejected_exp_epsilon(Gaussian(mu), Fraction(1, 10**5))
    return decimal_text(share, 4, ROUND_FLOOR), *map(epsilon_text, (share / (1 - share), reported or ONE, true))


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
            far += share * (normal_tail(ball(mu * (z + away))) + normal_tail(ball(mu * (z - away))))
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
