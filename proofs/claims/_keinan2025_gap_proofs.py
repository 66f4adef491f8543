"""Proofs for K1-K10 of keinan2025. Notation: t = e^ε, p = t/(1+t); c_i(o) the larger posterior of bit i."""

from __future__ import annotations

from sympy import Rational, Symbol, exp, integrate, oo, symbols

from tightdp.claims import identity, limit, positive

t, n, m, k = symbols("t n m k", positive=True)
x, y = symbols("x y", nonnegative=True)
p = t / (1 + t)
HALF = Rational(1, 2)

# the gaps


def randomized_response_keeps_each_bit() -> None:
    """Output i depends on bit i alone, so the posterior of bit i comes from one run of randomized response:
    the value that is output has P(o|S_i) = p against 1 - p, whatever o is. No guesser is right on a bit with
    more than its larger posterior, and the guesser that repeats the output attains it; the mean over the n
    bits is p. For ε = 0 it is 1/2, and for ε = ∞ (the limit) 1.
    """
    identity(p / (p + (1 - p)), p, "the posterior of the bit that is output")
    identity(p - HALF, (t - 1) / (2 * (1 + t)), "it is at least 1/2 for t >= 1")
    identity(n * p / n, p, "the mean over n bits")
    limit(p, t, oo, 1, "ε = ∞")


def name_and_shame_reveals_one() -> None:
    """Let a pair contain the output o (at most one of its two records does, they differ), let m(o) be the
    number of such pairs. n·P(o|S) counts the chosen records that equal o. The other m-1 pairs choose o with
    probability 1/2 each, so given that bit i chooses o it is 1 + (m-1)/2, given the other value (m-1)/2.
    Hence c_i(o) = 1/2 + 1/(2m) for these m bits, and 1/2 for all others. The mean of the k largest is 1/2 +
    1/(2·max(k,m)), and P(o) = m(o)/(2n). So E_k = 1/2 + Σ_o m(o)/(2n) · 1/(2·max(k, m(o))): at most 1/2 +
    1/(2k) for every pair vector, and exactly 1/2 + 1/(2n) for k = n, because m(o) <= n and Σ_o m(o) = 2n
    (each of the 2n records of the pair vector is counted once). A guesser with R guesses is right on a share
    of at most 1/2 + 1/(2R), which tends to 1/2 when R grows without bound.
    """
    chosen, other = 1 + (m - 1) / 2, (m - 1) / 2
    confidence = chosen / (chosen + other)
    identity(confidence, HALF + 1 / (2 * m), "the posterior of a pair that contains the output")
    identity((m * confidence + (k - m) * HALF) / k, HALF + 1 / (2 * k), "the mean of the k largest when k >= m")
    identity(k * confidence / k, HALF + 1 / (2 * m), "... and when k <= m")
    identity((chosen + other) / (2 * n), m / (2 * n), "P(o): the mean of P(o|S) over the two values of a bit in it")
    limit(HALF + 1 / (2 * n), n, oo, HALF, "the efficacy without abstention")
    limit(HALF + 1 / (2 * k), k, oo, HALF, "its bound for k guesses")


def all_or_nothing_reveals_all() -> None:
    """If the dataset is output every bit is known (the records of a pair differ): c_i = 1 for all i. If
    nothing is output, which happens with the same probability on every dataset, c_i = 1/2 for all i. So the k
    largest have mean 1 with probability q and 1/2 otherwise, for every k and n.
    """
    q = Symbol("q", nonnegative=True)
    nothing = 1 - q
    identity(nothing * HALF / (nothing * HALF + nothing * HALF), HALF, "the posterior when nothing is output")
    identity(q + (1 - q) * HALF, HALF + q / 2, "the efficacy")


def parity_hides_each_bit() -> None:
    """For n >= 2 fix bit i: the parity of the others is uniform, so the output is uniform whatever bit i is,
    and independent of it. Given the output every bit is uniform, and a guesser that makes r guesses,
    whichever and by whatever rule, is right on r/2 of them in expectation; V/R has mean 1/2. The parity of j
    >= 1 fair bits is uniform by induction: adding a fair bit to a bit that is 1 with probability q gives 1
    with probability 1/2.
    """
    q = Symbol("q", nonnegative=True)
    identity(HALF * q + HALF * (1 - q), HALF, "a fair bit added to any bit gives a fair bit")
    identity(HALF * HALF / (HALF * HALF + HALF * HALF), HALF, "the posterior of bit i given the output")
    identity(k * HALF / k, HALF, "the expected share of right guesses among k")


# guessing


def likelier_value_is_best() -> None:
    """Given the output o, a guess of bit i is right with its posterior: P/(P+Q) for S_i = -1 and Q/(P+Q) for
    S_i = 1, where P = P(o|S_i=-1), Q = P(o|S_i=1). With P = Q + x (ℓ_i >= 0) guessing -1 is right with the
    larger one, with Q = P + x (ℓ_i <= 0) guessing 1 is. So T_i = -sign(ℓ_i) reaches c_i(o), ties either way,
    and a guesser with r >= k guesses has mean at most that of the r largest c_i, which is at most that of the
    k largest. Guessing the other way is right with 1 - c_i(o): without abstention its efficacy is 1 - E_n,
    the least of all guessers.
    """
    q = Symbol("q", positive=True)
    identity((q + x) / (2 * q + x) - q / (2 * q + x), x / (2 * q + x), "the likelier value gains x/(P+Q) >= 0")
    identity(1 - (q + x) / (2 * q + x), q / (2 * q + x), "the other value has the remaining probability")
    largest_have_the_largest_mean()


def largest_have_the_largest_mean() -> None:
    """Let a be the mean of the k largest of some numbers and the next largest be a - x, x >= 0 (it is at most
    each of the k, so at most their mean). The mean of the k+1 largest is a - x/(k+1), at most a: so the mean
    of the r largest falls in r.
    """
    a = Symbol("a")
    identity((k * a + (a - x)) / (k + 1), a - x / (k + 1), "adding a number that is not larger")


def efficacy_is_below_the_notions() -> None:
    """Given o, the best expected share of k guesses is the mean of the k largest c_i(o) (see K5; the mean of
    fewer numbers from the top is not smaller). (1) A mean of some c_i(o) is at most max_i c_i(o); take the
    mean over o. (2) A mean over o of max_i c_i(o) is at most its maximum, p(ε_D), over all o of positive
    probability. (3) P(o|S_i=b) is the mean over the other bits s of P(o|s,b). If a_s <= t·b_s for all s then
    Σ a_s <= t·Σ b_s, term by term: the ratio of two sums is at most the largest ratio of their terms, so ε_D
    <= ε(M_Z), and p increases. If some b_s = 0 < a_s then ε(M_Z) = ∞ and p = 1 is no less than anything.
    """
    largest_have_the_largest_mean()
    a, b = symbols("a b", positive=True)
    identity(t * (a + b) - (t * a - x) - (t * b - y), x + y, "terms t·a - x and t·b - y add up to at most t(a+b)")
    positive(p.diff(t), t, 0, None, "p(ε) increases")
    weight, top = symbols("weight top", nonnegative=True)
    identity(
        top - (weight * (top - x) + (1 - weight) * (top - y)),
        weight * x + (1 - weight) * y,
        "a mean of numbers top - x, top - y is at most top",
    )


def larger_share_and_distance() -> None:
    """At an o with P >= Q > 0, e^|ℓ| = P/Q and p(|ℓ|) = P/(P+Q); with Q = 0 both are 1; P < Q mirrors it. So
    (P+Q)·p(|ℓ|) = max(P, Q) wherever P + Q > 0, and both sides are 0 elsewhere, where ℓ is not defined and
    which no expectation sees. Summed (or integrated) over o, with max(a,b) = (a + b + |a-b|)/2, that is (1 +
    1 + 2·TV)/2.
    """
    small, tv = symbols("small tv", positive=True)
    ratio = (small + x) / small
    identity(ratio / (1 + ratio), (small + x) / (2 * small + x), "p(|ℓ|) with the smaller value and x more")
    identity(small + x, ((small + x) + small + x) / 2, "max(a,b) = (a + b + |a-b|)/2, for b = a + x or a = b + x")
    identity((1 + 1 + 2 * tv) / 2, 1 + tv, "the sum over o of the larger value")


def efficacy_is_mean_distance() -> None:
    """Given o the best guess of bit i is right with max(P, Q)/(P+Q), P and Q the laws of the output given S_i
    = -1 and 1, and P(o) = (P+Q)/2. So P(right on bit i) = Σ_o max(P,Q)/2 = (1 + TV_i)/2 by Lemma C.3; the
    mean over i is the statement.
    """
    larger_share_and_distance()
    a, b, tv = symbols("a b tv", positive=True)
    identity((a + b) / 2 * a / (a + b), a / 2, "P(o) times the larger posterior, here a/(a+b)")
    identity((1 + tv) / 2, HALF + tv / 2, "half of 1 + TV")


def laplace_by_integration() -> None:
    """The likelihood ratio of Laplace noise around -1 and 1 with scale b = 2/ε is e^(2/b) = e^ε at most,
    attained outside [-1, 1], so the mechanism has privacy level ε exactly. It exceeds 1 exactly for o > 0 (in
    favour of 1), and the bits go separately, so the efficacy is P(1 + noise > 0), the integral of the
    density.
    """
    epsilon, u = symbols("epsilon u", positive=True)
    scale = 2 / epsilon
    near = integrate(exp(-(1 - u) / scale) / (2 * scale), (u, 0, 1))
    far = integrate(exp(-u / scale) / (2 * scale), (u, 0, oo))
    identity(near + far, 1 - exp(-epsilon / 2) / 2, "P(1 + noise > 0), from 0 to 1 and beyond 1")
    identity(((u + 1) - (u - 1)) / scale, epsilon, "the log-ratio at o >= 1")
    identity(((u + 1) - (1 - u)) / scale, epsilon * u, "the log-ratio at 0 < o = u < 1: positive, below ε")
    limit(1 - exp(-epsilon / 2) / 2, epsilon, 0, HALF, "no privacy loss, no efficacy")
