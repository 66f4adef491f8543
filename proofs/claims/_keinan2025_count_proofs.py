"""Proofs for K11-K19 and K25 of keinan2025: counts, sets, adaptive guessing. D = O - n/2, q a probability."""

from __future__ import annotations

from itertools import product

from sympy import Rational, Symbol, binomial, diff, exp, log, oo, solve, sqrt, symbols

from tightdp.claims import certain, exhaustive, identity, limit

HALF = Rational(1, 2)
n, o = symbols("n o", integer=True, positive=True)
d, t, z, q, mu = symbols("d t z q mu", positive=True)


def posterior_of_count() -> None:
    """Given the count o, bit i is 1 in the share C(n-1,o-1)/C(n,o) = o/n of the datasets with o ones, so
    c_i(o) = max(o, n-o)/n, for o = 0 and o = n too. With d = |2o - n| that is 1/2 + |o - n/2|/n. It does not
    depend on i: the mean of the k largest is the same for every k. The mean over O is E_k. Finally (E|D|)² <=
    E D² = n/4, because E(|D| - E|D|)² >= 0; so E_k - 1/2 <= sqrt(n/4)/n = 1/(2·sqrt(n)).
    """
    identity(binomial(n - 1, o - 1) / binomial(n, o), o / n, "the share of datasets in which bit i is 1")
    identity(((n + d) / 2) / n, HALF + (d / 2) / n, "max(o, n-o)/n, with d = |2o - n|")
    moments = ((1 + z) / 2) ** n
    mean = diff(moments, z).subs(z, 1)
    second = diff(z * diff(moments, z), z).subs(z, 1)
    identity(mean, n / 2, "E O, from the generating function")
    identity(second - mean**2, n / 4, "E D² = Var O")
    a, square = symbols("a square", positive=True)
    identity(square - 2 * a * a + a**2, square - a**2, "E(|D| - a)² = E D² - a² for a = E|D|")
    identity(sqrt(n / 4) / n, 1 / (2 * sqrt(n)), "the bound")


def efficacy_of_count_in_closed_form() -> None:
    """(o - n/2)·C(n,o) = (n/2)·(C(n-1,o-1) - C(n-1,o)) telescopes: its sum over o > n/2 is
    (n/2)·C(n-1,⌊n/2⌋), and the o < n/2 mirror it. So E|D| = n·C(n-1,⌊n/2⌋)/2^n, and E_k = 1/2 +
    C(n-1,⌊n/2⌋)/2^n.
    """
    identity(
        (o - n / 2) * binomial(n, o),
        n / 2 * (binomial(n - 1, o - 1) - binomial(n - 1, o)),
        "the terms telescope",
    )
    total = Symbol("total", positive=True)
    identity(2 * (n / 2 * total) / 2**n / n, total / 2**n, "both halves, divided by n, with C(n-1,⌊n/2⌋) = total")


def loss_of_count() -> None:
    """P(O=o|S_i=0)/P(O=o|S_i=1) = C(n-1,o)/C(n-1,o-1) = (n-o)/o (infinite at o = 0, zero at o = n). With d =
    |2o - n| its larger direction is (n+d)/(n-d), infinite at d = n. |ℓ| >= a says n + d >= e^a (n - d), and
    that is d/2 >= n(e^a - 1)/(2(e^a + 1)). At d = n both say nothing that fails, for every real a, also a <=
    0.
    """
    identity(binomial(n - 1, o) / binomial(n - 1, o - 1), (n - o) / o, "the likelihood ratio")
    identity(
        (n + d) - t * (n - d),
        2 * (t + 1) * (d / 2 - n * (t - 1) / (2 * (t + 1))),
        "both conditions have the same sign, t = e^a",
    )
    identity(n / 2 - n * (t - 1) / (2 * (t + 1)), n / (t + 1), "d = n satisfies the second, as 1/(t+1) > 0")


# count in sets


def enough_revealed(what: str, mean: object) -> None:
    """Chebyshev for the number of revealed sets, and what sure guesses report."""
    identity(mu * (1 - q) * 4 / mu**2, 4 * (1 - q) / mu, "P(fewer than half of the mean) <= 4(1-q)/μ")
    limit(mean, n, oo, oo, what)
    beta, r = symbols("beta r", positive=True)
    limit(beta ** (1 / r), r, oo, 1, "r sure and right guesses report p(ε') = β^(1/r)")


def small_sets_are_tight() -> None:
    """A set of s elements is revealed (all zeros or all ones) with probability q = 2^(1-s), the n/s sets
    independently: their number has mean μ = (n/s)·2^(1-s) and variance μ(1-q). If s = o(log n) then from some
    n on s <= (1/2)·log2 n, and μ >= (2·sqrt(n))/((1/2)·log2 n), which tends to infinity. So does the number
    of sure guesses, in probability; they are all right, and the reported level grows without bound to ε = ∞.
    Finite n: with probability at least 1 - 4/μ at least μ/2 sets are revealed.
    """
    nn = Symbol("n", positive=True)
    identity(2 * HALF**o, 2 ** (1 - o), "q: two of the 2^s contents of a set, here s = o")
    enough_revealed("μ, at least", (2 * sqrt(n) / (HALF * log(n) / log(2))))
    identity(nn * 2 ** (-log(nn) / (2 * log(2))), sqrt(nn), "n·2^(-s) at s = (1/2)·log2 n")


def half_of_log2_is_tight_too() -> None:
    """Let s(n) = ⌊(1/2)·log2 n⌋ for n >= 4, which is at least (1/2)·log2 n - 1 and so not o(log n); if s does
    not divide n the last set is smaller. There are at least n/s - 1 full sets, each revealed with probability
    q = 2^(1-s) >= 2/sqrt(n), so that the number of revealed ones has a mean μ of at least (n/s - 1)·2/sqrt(n)
    with s <= (1/2)·log2 n, which tends to infinity. By Chebyshev's inequality the number does so in
    probability. All their elements are guessed, and right: one-run auditing is asymptotically tight. On n =
    4^s, where s is exactly half of log2 n, μ is 2·2^s/s, and the mean number of sure guesses 2·2^s =
    2·sqrt(n).
    """
    s = Symbol("s", positive=True)
    half = log(n) / (2 * log(2))
    limit((half - 1) / log(n), n, oo, 1 / (2 * log(2)), "s/log n stays away from 0")
    identity(2 ** (1 - half), 2 / sqrt(n), "q, for s = (1/2)·log2 n")
    enough_revealed("μ, at least", (n / half - 1) * 2 / sqrt(n))
    identity(log(4**s) / (2 * log(2)), s, "at n = 4^s, s is half of log2 n")
    identity(4**s / s * 2 ** (1 - s), 2 * 2**s / s, "μ at n = 4^s")


def threshold_is_log2() -> None:
    """Fix a and let η = 1/(e^a + 1) < 1/2: by Lemma D.5 a set has loss at least a if at most ηs or at least
    (1-η)s of its elements are ones. Call its probability q.

    Upper bound: P(O <= ηs) <= z^(-ηs)·((1+z)/2)^s for every 0 < z <= 1; at z = η/(1-η) that is 2^(-s(1-h)), h
    the entropy of η in bits, h < 1. If limsup s/log2 n > c > 1, choose a so large that (1-h)c > 1 (h tends to
    0 as a grows). Infinitely often s >= c·log2 n, and the expected number of such elements, n·q <=
    2·n·2^(-s(1-h)) <= 2·n^(1-c(1-h)), tends to 0 along them. So with probability tending to 1 no loss reaches
    a, every guess is right with probability below p(a) given the output, and the share of right guesses has a
    mean below p(a): not tight.

    Lower bound: with j = ⌊ηs⌋, C(s,j) >= (s/j)^j >= η^(-j) >= η^(1-ηs), so q >= 2η·2^(-s(1-κ)), κ =
    η·log2(1/η) > 0. If limsup s/log2 n <= 1 then from some n on s <= (1+κ)·log2 n, hence 2^(-s(1-κ)) >=
    n^(-(1-κ²)) and the number of sets with loss at least a has mean (n/s)·q >= 2η·n^(κ²)/((1+κ)·log2 n),
    which tends to infinity; by Chebyshev's inequality the number does too. For every a there is such an N;
    let a grow slowly with n and guess the elements with loss at least a: the guesses are unlimited and right
    with probability at least p(a), which tends to 1.
    """
    eta, kappa, c = symbols("eta kappa c", positive=True)
    best = eta / (1 - eta)
    z0 = Symbol("z0", positive=True)
    slope = diff(-eta * log(z0) + log(1 + z0), z0)
    certain((solve(slope, z0)[0] - best).equals(0), "z = η/(1-η) is where the bound z^(-η)(1+z) is stationary")
    identity(
        (-eta * log(eta) + eta * log(1 - eta) - log(1 - eta)),
        -eta * log(eta) - (1 - eta) * log(1 - eta),
        "log of z^(-η)(1+z) there, where 1+z = 1/(1-η): the entropy",
    )
    identity(1 + best, 1 / (1 - eta), "1 + z")
    entropy = -eta * log(eta) - (1 - eta) * log(1 - eta)
    limit(entropy, eta, 0, 0, "the entropy tends to 0 with η, as a grows")
    identity(entropy.subs(eta, HALF), log(2), "it is one bit at η = 1/2 ...")
    identity(diff(entropy, eta), log(1 - eta) - log(eta), "... and rises before it, so h < 1")
    x = Symbol("x", positive=True)
    identity(1 - (1 - kappa) * (1 + kappa), kappa**2, "the exponent of n in the lower bound")
    limit(exp(kappa**2 * x) / x, x, oo, oo, "n^(κ²)/log n, with x = log n")
    limit(exp(-c * x), x, oo, 0, "n^(1-c(1-h)) with a negative exponent")
    identity(mu * (1 - q) * 4 / mu**2, 4 * (1 - q) / mu, "Chebyshev: P(Bin below half its mean) <= 4(1-q)/μ")


def revealed_with_mean_one() -> None:
    """Take sets of size s, N = 2^(s-1) of them, n = s·N, and q = 2^(1-s) = 1/N, the probability that a set is
    revealed. Then n·q = s tends to infinity, but no set is revealed with probability (1 - 1/N)^N, which tends
    to 1/e: s·Bin(N, q) is 0 with a probability that stays away from 0.
    """
    s = Symbol("s", positive=True)
    identity(s * 2 ** (s - 1) * 2 ** (1 - s), s, "n·q")
    x = Symbol("x", positive=True)
    limit((1 - 1 / x) ** x, x, oo, exp(-1), "the probability that no set is revealed, N = x")


def some_set_is_enough() -> None:
    """If Bin(N, q) = 0 the product s·Bin(N, q) is 0, otherwise at least s, which tends to infinity. So the
    product tends to infinity in probability exactly if P(Bin(N, q) = 0) = (1-q)^N tends to 0.
    """
    count = Symbol("count", integer=True, positive=True)
    identity(binomial(count, 0) * q**0 * (1 - q) ** count, (1 - q) ** count, "P(Bin = 0)")


# full knowledge, pairs, adaptive guessing


def all_right_or_all_wrong() -> None:
    """With a the XOR of the other bits, b the bit and w the noise, the output is a ^ b ^ w and the guess a ^
    (a ^ b ^ w), which is b exactly if w = 0. The noise is the same for all n bits and 0 with probability p:
    all guesses are right, or none.
    """
    exhaustive(product((0, 1), repeat=3), lambda a, b, w: ((a ^ (a ^ b ^ w)) == b) == (w == 0), "right iff w = 0")


def neither_dominates() -> None:
    """P(V >= 1) = p, and P(Bin >= 1) = 1 - (1-p)^n is larger by (1-p)(1 - (1-p)^(n-1)) > 0 for n >= 2 and 0 <
    p < 1. P(V >= n) = p, and P(Bin >= n) = p^n is smaller by p(1 - p^(n-1)) > 0. Both have mean np.
    """
    p = Symbol("p", positive=True)
    identity(1 - (1 - p) ** n - p, (1 - p) * (1 - (1 - p) ** (n - 1)), "at least one right")
    identity(p - p**n, p * (1 - p ** (n - 1)), "all right")
    identity(n * p + 0 * (1 - p), n * p, "the mean of V")
    identity(diff((1 - p + p * z) ** n, z).subs(z, 1), n * p, "the mean of Bin(n, p)")


def pairs_reveal_one_by_the_other() -> None:
    """Given the parity w of a pair its contents (0, w) and (1, 1-w) are equally likely, so each bit alone is
    uniform, and every guess is right with probability 1/2 whatever the guesser does: V/R has mean 1/2. Once
    the first bit of a pair is revealed (the guesser abstained on it), the second is the parity XOR the first:
    n/2 guesses, all right.
    """
    exhaustive((0, 1), lambda w: [(a, a ^ w) for a in (0, 1)] == [(0, w), (1, 1 - w)], "contents by parity")
    exhaustive(
        product((0, 1), repeat=2),
        lambda i, w: {bit: sum((a, a ^ w)[i] == bit for a in (0, 1)) for bit in (0, 1)} == {0: 1, 1: 1},
        "each bit is 0 in one content and 1 in the other",
    )
    exhaustive(product((0, 1), repeat=2), lambda a, b: (a ^ b) ^ a == b, "the second from the first")


def sure_guesses_of_count() -> None:
    """c_i(o) = max(o, n-o)/n is 1 exactly for o = 0 and o = n, each of probability 2^-n, and then **all** n
    bits are sure and guessed. So a guess is made with probability 2^-(n-1), and the expected number is n
    times that.
    """
    identity(n * (HALF**n + HALF**n), n * 2 ** -(n - 1), "the expected number of guesses")
    identity(HALF**n + HALF**n, 2 ** -(n - 1), "the probability of a guess")


def sure_guesses_fall() -> None:
    """a(n) = n·2^-(n-1) has a(n) - a(n+1) = a(n)·(n-1)/(2n) >= 0, which is 0 for n = 1 and positive after;
    its limit is 0.
    """
    here = n * 2 ** -(n - 1)
    identity(here - here.subs(n, n + 1), here * (n - 1) / (2 * n), "the step from n to n + 1")
    limit(Symbol("x") * 2 ** -(Symbol("x") - 1), Symbol("x"), oo, 0, "the limit")


def adaptive_sure_guesses_of_count() -> None:
    """Going from the last bit to the first, the guesser knows the sum of the first i bits, and bit i is sure
    exactly if they are all equal, which has probability 2·2^-i = 2^-(i-1). The expected number of guesses is
    the sum of these over i = 1, ..., n. By induction it is 2 - 2^-(n-1): 1 for n = 1, and the next term is
    the increase.
    """
    total = 2 - 2 ** -(n - 1)
    identity(2 * HALF**o, 2 ** -(o - 1), "all i bits equal")
    identity(total.subs(n, 1), 1, "n = 1")
    identity(total.subs(n, n + 1) - total, 2**-n, "the term for i = n + 1")
    x = Symbol("x", positive=True)
    limit(2 - 2 ** -(x - 1), x, oo, 2, "it grows to 2")


def symmetric_is_processed_count() -> None:
    """The law of a symmetric mechanism on n bits depends on the count c only: K(o|c). With either order in a
    pair (0, 1) the secrets are the bits or their complements. Given o, bit i has the posterior Σ_c w_c·c/n,
    w_c the posterior of the count: the same for all i, so E_k is the same for every k. The larger posterior
    is |Σ_c w_c·(c/n - 1/2)| + 1/2 <= Σ_c w_c·|c/n - 1/2| + 1/2 (the triangle inequality), the mean of that of
    Count. Its mean over o is E_k(Count), because the w_c average to P(count = c). With pairs of different
    orders c_i is the same, as c and 1-c have the same larger value.
    """
    a, b, w = symbols("a b w", nonnegative=True)
    identity(w * a + (1 - w) * b - (w * a - (1 - w) * b), 2 * (1 - w) * b, "|wa - (1-w)b| <= wa + (1-w)b, one way")
    identity(w * a + (1 - w) * b - ((1 - w) * b - w * a), 2 * w * a, "... and the other")
    identity(HALF + d, 1 - (HALF - d), "a posterior and its complement are equally far from 1/2")
    posterior_of_count()


def ten_elements() -> None:
    """The formula of K17, corrected, at n = 10."""
    sure_guesses_of_count()
    certain(10 * Rational(1, 2**9) == Rational(5, 256), "10·2^-9")
    certain(abs(Rational(5, 256) - Rational(20, 1000)) <= Rational(1, 2000), "rounded to three decimals 0.020")


def ten_elements_adaptively() -> None:
    """The formula of K18 at n = 10."""
    adaptive_sure_guesses_of_count()
    certain(
        abs(2 - Rational(1, 2**9) - Rational(1998, 1000)) <= Rational(1, 2000),
        "2 - 2^-9 is 1.998 to three decimals",
    )
