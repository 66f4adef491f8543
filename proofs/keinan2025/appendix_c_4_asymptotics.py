"""Appendix C.3.2 to C.5: efficacy in the limit (Lemma C.9, Theorems C.10 and C.11 = 5.3, Lemma C.14)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb
from typing import Any

from sympy import oo, symbols
from sympy import sqrt as symbolic_sqrt

from tightdp.claims import Correction, grid, identity, limit, log, random_dp_law, random_law, seeds, sqrt

from .appendix_a_4_asymptotics import clopper_pearson, estimates_follow_bounds, means_and_probabilities
from .games import HALF, ONE, ZERO, Table, all_bits, outputs, posteriors, ratio_as_posterior, tail
from .paper import paper
from .programs import randomized_response_delta


def many_large_posteriors(seed: int, n: int) -> Iterator[dict[str, Any]]:
    """Every output of a random mechanism, every k, several levels s below p(ε)."""
    table = random_law(seed, all_bits(n), outputs=3)
    top = ratio_as_posterior(table)
    for o in outputs(table):
        found = sorted((max(one, 1 - one) for one in posteriors(table, o)[1]), reverse=True)
        for k in range(1, n + 1):
            mean = sum(found[:k], ZERO) / k
            for s in (HALF, (HALF + top) / 2, (1 + 9 * top) / 10):
                if s < top:
                    many = sum(each >= s for each in found)
                    yield {"k": k, "mean": mean, "p(ε)": top, "s": s, "N": many, "share": min(ONE, Fraction(many, k))}


def mean_and_number() -> None:
    """Fix an output, let m be the mean of the k largest larger posteriors, N the number of those that are at least s,
    s < p = p(ε(M)). Each is at most p (K6) and at least 1/2. At most N of the k are in [s, p], the others below s: so
    m <= s + min(N, k)(p - s)/k, that is N >= k(m - s)/(p - s). And if N >= k then m >= s.

    If one-run auditing is asymptotically tight, then by A.17 and K7 some k(n) that tends to infinity has mean E m
    tending to p; as m <= p, m is above (s + p)/2 with a probability that tends to 1, and N >= k/2 then: N tends to
    infinity in probability, for every s < p. Conversely, if that holds for every s, choose k(n) so slowly increasing
    that N >= k(n) with a probability that tends to 1 for s = p - 1/j, j growing slowly: then E m tends to p.
    For p = 1 (ε = ∞) s is any number below 1; for ε = 0 both sides hold always.

    For the reader: the choice of k(n), and K6, K7 and A.17, which it uses.
    """
    s, p, number, k = symbols("s p N k", nonnegative=True)
    bound = s + number * (p - s) / k
    identity(k * (bound - s) / (p - s), number, "m <= s + N(p - s)/k says N >= k(m - s)/(p - s)")
    identity(bound - (number * p + (k - number) * s) / k, 0, "N of the k at most p, the others at most s")
    identity(((s + p) / 2 - s) / (p - s), (p - s) / (2 * (p - s)), "m = (s + p)/2 gives N >= k/2")
    means_and_probabilities()


paper.claim(
    "K29",
    "Thm 5.3 = C.11",
    (
        "One-run auditing is asymptotically tight for M and pair vectors Z_n if and only if for every ε' < "
        "ε(M) the number of elements with |ℓ_i| >= ε' tends to infinity in probability. What carries it, "
        "for every output: with the mean of the k largest posteriors and the number N of those at least s < "
        "p(ε), `N >= k(mean - s)/(p(ε) - s)`, and `mean >= s·share + (1 - share)/2`, share = min(1, N/k)."
    ),
    verdict="argued",
    instances=seeds(10, n=2) + seeds(10, n=3),
    quick=12,
    check=many_large_posteriors,
    proof=mean_and_number,
    notes="The printed chain of equivalences leaves out that k(n) has to be chosen from the condition.",
)


def locals_reach_the_largest_loss() -> None:
    """Let ε' < ε(M), M local. Some records x, y and outputs of probability q > 0 (given a fair coin between x and y)
    have a loss of at least ε'. With the pairs (x, y, ..., x, y) the elements are independent, so that the number N of
    those with |ℓ_i| >= ε' is Bin(n, q), and by Chebyshev's inequality below nq/2 with probability at most
    4(1-q)/(nq), which tends to 0: N tends to infinity in probability. If the largest loss is not attained take levels
    ε_1 < ε_2 < ... that tend to ε(M), and pairs for ε_j from some n_j on, from which N >= j with probability at least
    1 - 1/j. Theorem 5.3 (K29) says that this is asymptotic tightness.

    For the reader: Chebyshev's inequality, the choice of levels, and Theorem 5.3 (K29).
    """
    mean_and_number()
    n, q = symbols("n q", positive=True)
    identity(n * q * (1 - q) / (n * q / 2) ** 2, 4 * (1 - q) / (n * q), "the variance over the square of half the mean")
    limit(4 * (1 - q) / (n * q), n, oo, 0, "that tends to 0")


def sure_elements(n: int, q: Fraction) -> dict[str, Any]:
    """Local randomized response that gives a bit away with probability q: loss ∞, the elements with a sure guess."""
    law = randomized_response_delta.bind(n=n, delta=q, exp_epsilon=2).guessing("certain").joint.entries
    few = sum((p for r, _, p in law if r < n * q / 2), ZERO)
    return {"P(N < nq/2)": few, "P(N = 0)": sum((p for r, _, p in law if r == 0), ZERO)}


paper.claim(
    "K33",
    "Cor. 5.4",
    "One-run auditing is asymptotically tight for every local mechanism. What carries it: with equal pairs the number "
    "N of elements with |ℓ_i| >= ε' is Bin(n, q) for some q > 0, `P(N = 0) = (1 - q)^n`, and `P(N < nq/2) <= 4(1 - "
    "q)/(n·q)`.",
    verdict="argued",
    instances=grid(n=(1, 2, 5, 12), q=("1/2", "1/4", "1/10")),
    quick=6,
    check=sure_elements,
    proof=locals_reach_the_largest_loss,
    notes="The largest loss need not be attained, and the pairs then have to change with n; the paper leaves that out.",
)


def near_response(seed: int, n: int, exp_epsilon: Fraction) -> Iterator[dict[str, Any]]:
    """A random ε-DP mechanism whose outputs are guesses: how often each bit is right with probability near p."""
    top = exp_epsilon / (1 + exp_epsilon)
    if seed:
        laws: Table = dict(random_dp_law(seed, n, outputs=2**n, exp_epsilon=exp_epsilon).items())
        table = {s: {all_bits(n)[o]: q for o, q in law.items()} for s, law in laws.items()}
    else:
        table = {s: {o: _kept(s, o, top) for o in all_bits(n)} for s in all_bits(n)}
    chances = [[_right(table, i, rest) for rest in all_bits(n - 1)] for i in range(n)]
    efficacy = sum((sum(each, ZERO) / len(each) for each in chances), ZERO) / n
    for a in (Fraction(1, 20), Fraction(1, 5)):
        for s in (HALF, Fraction(9, 10)):
            close = [sum(chance >= top - a for chance in each) >= s * len(each) for each in chances]
            yield {"E": efficacy, "p": top, "a": a, "s": s, "m": Fraction(sum(close), n)}


def _kept(s: tuple[int, ...], o: tuple[int, ...], keep: Fraction) -> Fraction:
    wrong = sum(bit != other for bit, other in zip(s, o, strict=True))
    return keep ** (len(s) - wrong) * (1 - keep) ** wrong


def _right(table: Table, i: int, rest: tuple[int, ...]) -> Fraction:
    """The probability that output bit i is right, the bit uniform and the others given."""
    right = ZERO
    for bit in (0, 1):
        law = table[(*rest[:i], bit, *rest[i:])]
        right += sum((q for o, q in law.items() if o[i] == bit), ZERO) / 2
    return right


def efficacy_and_nearness() -> None:
    """Call index i near if given the other bits the guess is right with probability at least p - a, for a share of at
    least s of them; let m be the share of near indices. Every such probability is at most p. So a near index is right
    with probability at least s(p - a), any other with at most s p + (1 - s)(p - a): together E >= m s (p - a) and
    E <= m p + (1 - m)(p - (1 - s) a) = p - (1 - m)(1 - s) a. If a sequence approaches local randomized response, m
    tends to 1 for every s < 1, a > 0, and E to p by the first. If it does not, some s, a, m < 1 are not reached
    infinitely often, and E stays below p by (1 - m)(1 - s) a there. With A.17, whose conditions hold by K21, the
    efficacy tends to p exactly for asymptotic tightness without abstentions (C.10).

    For the reader: the passage from one n to sequences, and A.17.
    """
    m, s, a, p, low = symbols("m s a p delta", nonnegative=True)
    identity(m * p + (1 - m) * (s * p + (1 - s) * (p - a)), p - (1 - m) * (1 - s) * a, "the upper bound")
    root = symbolic_sqrt((p - low) / (p - 3 * low / 4))
    identity(
        root * root * (p - low / 2) - (p - low),
        (p - low) * (low / 4) / (p - 3 * low / 4),
        "Lemma C.9's choice m = s = sqrt((p-δ)/(p-3δ/4)), a = δ/2 gives E >= p - δ",
    )
    means_and_probabilities()


paper.claim(
    "K30",
    "Lemma C.9, Thm C.10",
    (
        "Without abstentions one-run auditing is asymptotically tight if and only if some post-processing "
        "of M_Z approaches local randomized response. What carries it: for the share m of indices that are "
        "right with probability at least p - a for a share of at least s of the values of the other bits, "
        "`m·s·(p - a) <= E <= p - (1 - m)(1 - s)·a`."
    ),
    verdict="argued",
    instances=[{**each, **rest} for rest in grid(n=(1, 2, 3), exp_epsilon=("3/2", "3")) for each in seeds(8)],
    quick=30,
    check=near_response,
    proof=efficacy_and_nearness,
    notes=(
        "The printed proof of Lemma C.9 ends with 'the factor is lesser than 1'; the factor "
        "(p-δ/2)/(p-3δ/4) is larger, which is what the step needs."
    ),
)


def bound_of_local(n: int, lam: Fraction, beta: Fraction) -> dict[str, Any]:
    """The mean of CPL, rounded down, for n bits through randomized response; and the efficacy."""
    q, mean = 1 - lam, ZERO
    for v in range(n + 1):
        low, high = ZERO, ONE
        for _ in range(8):
            middle = (low + high) / 2
            low, high = (middle, high) if tail(n, middle, v) <= beta else (low, middle)
        mean += comb(n, v) * q**v * (1 - q) ** (n - v) * (low if v else ZERO)
    return {"mean CPL": mean, "E": q}


def bound_of_local_again(n: int, lam: Fraction, beta: Fraction) -> dict[str, Any]:
    """P(Bin(n, q) >= v) >= q^n > 0 for every q > 0: no q > 0 is at most β = 0, so that every bound is 0."""
    if beta:
        raise ValueError("by hand only for β = 0")
    return {"mean CPL": Fraction(0), "E": 1 - lam}


def local_bounds_close_in(n: int, lam: Fraction, beta: Fraction) -> dict[str, Any]:
    """V ~ Bin(n, 1 - λ): how often CPL is farther than g from 1 - λ, g/2 just above the width of K20."""
    q, width = 1 - lam, sqrt(-log(min(beta, 1 - beta)) / (2 * n))
    g = next(Fraction(k, 100) for k in range(1, 200) if width < Fraction(k, 200))
    law = [comb(n, v) * q**v * (1 - q) ** (n - v) for v in range(n + 1)]
    ends = [clopper_pearson(n, v, beta) for v in range(n + 1)]
    apart = [p for p, both in zip(law, ends, strict=True) if max(abs(end - q) for end in both) > g]
    far = [p for v, p in enumerate(law) if abs(Fraction(v, n) - q) > g / 2]
    return {"P(|CPL - q| > g)": sum(apart, ZERO), "P(|V/n - q| > g/2)": sum(far, ZERO), "q": q, "g": g}


def local_bounds_converge() -> None:
    """The guesses of a local mechanism with equal pairs are independent and right with the same probability q = E:
    V ~ Bin(n, q), and V/n tends to q in probability (Chebyshev: P(|V/n - q| > g) <= q(1-q)/(n g²)). By K26 CPL does so
    too, for 0 < β < 1. p^-1 is continuous on [1/2, 1), where q lies unless ε(M) = ∞ and q = 1; then the bounds tend to
    ∞, as they should, but their difference to ∞ is ∞.

    For the reader: Chebyshev's inequality, K26, and continuity of p^-1.
    """
    estimates_follow_bounds()
    n, q, g = symbols("n q g", positive=True)
    identity((q * (1 - q) / n) / g**2, q * (1 - q) / (n * g**2), "Chebyshev for the share of right guesses")
    limit(q * (1 - q) / (n * g**2), n, oo, 0, "it tends to 0")


paper.claim(
    "K31",
    "Lemma C.14",
    "For every local mechanism, pair vector (x, y, ..., x, y) and `0 <= β < 1`, the bounds of one-run auditing with a "
    "maximum-likelihood guesser without abstentions converge in probability to p^-1 of the efficacy E; so at large n "
    "the "
    "mean of the bound CPL is near E: `|mean CPL - E| < 1/8`.",
    verdict="corrected",
    instances=grid(n=(60,), lam=("1/4",), beta=("1/20", "0")),
    check=bound_of_local,
    brute=bound_of_local_again,
    at={"n": 60, "lam": "1/4", "beta": 0},
    minimal="every n is one: for β = 0 the bound is 0",
    brief="For β = 0, which the lemma allows, every bound is 0. With 0 < β < 1 and efficacy below 1 it is true.",
    breaks=(
        "Lemma A.11, which the proof uses, has 0 < β < 1. For efficacy 1 the difference to p^-1(1) = ∞ is "
        "infinite (K26)."
    ),
    corrected=Correction(
        (
            "They do for 0 < β < 1 if the efficacy q is below 1: P(|CPL - q| > g) tends to 0 for every g > 0, "
            "as for n large enough that the width of K20 is below g/2, `P(|CPL - q| > g) <= P(|V/n - q| > g/2) "
            "<= 4q(1 - q)/(n·g²)`."
        ),
        verdict="argued",
        instances=grid(n=(40, 100), lam=("1/4", "2/5"), beta=("1/2",)),
        quick=1,
        check=local_bounds_close_in,
        proof=local_bounds_converge,
    ),
)
