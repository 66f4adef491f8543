"""Proofs of the claims of cheu2019. Every step is checked; the docstrings say how the steps give the claims.

Throughout L = ln(4/δ) and l = ln(2/δ) (natural logarithms), so l < L, and 0 < δ < 2, so L > ln 2; for δ >= 2
a guarantee with δ/2 >= 1 says nothing.
"""

from __future__ import annotations

from fractions import Fraction

from sympy import Expr, Rational, Symbol, binomial, diff, exp, factorial, log, sqrt, symbols

from tightdp.claims import certain, identity, positive
from tightdp.claims import exp as certified_exp
from tightdp.claims import log as certified_log
from tightdp.claims import sqrt as certified_sqrt

__all__ = [
    "accuracy",
    "advanced_composition",
    "bit_sum_is_private",
    "encoder_is_unbiased",
    "encoder_variance",
    "fixed_subset_is_private",
    "lambda_suffices",
    "local_randomizer",
    "logarithm_is_needed",
    "mean_and_variance",
    "random_subset_is_private",
    "rescaled_mean",
    "same_law",
    "shuffling_adds_nothing",
    "step_with_room",
    "transformed_is_private",
]


def rescaled_mean() -> None:
    """A client sends its bit x_i with probability 1 - p, else a fair bit, so its message has the mean
    (1-p)x_i + p/2. Expectations add up over the n clients: with S = Σ x_i the sum of the messages has the
    mean (1-p)S + np/2. So np/2 has to be subtracted, and not p/2; then division by 1 - p gives S.
    """
    p, x, n, total = symbols("p x n S", real=True)
    for bit in (0, 1):
        identity(
            (1 - p) * bit + p / 2,
            ((1 - p) * x + p / 2).subs(x, bit),
            f"the mean of a message for x_i = {bit}",
        )
    mean = (1 - p) * total + n * p / 2
    identity((mean - n * p / 2) / (1 - p), total, "with np/2 the estimate is unbiased, for all n")
    identity((mean - p / 2) / (1 - p) - total, (n - 1) * p / (2 * (1 - p)), "with p/2 the bias is this")
    identity((mean / n - p / 2) / (1 - p), total / n, "p/2 is right for the average of messages and bits")


def mean_and_variance() -> None:
    """With q = λ/n a message differs from x_i with probability q/2, so it is Bernoulli(q/2) or
    Bernoulli(1 - q/2), with mean q/2 + (1-q)x_i and variance (q/2)(1 - q/2) either way (Claim B.1). Means of
    messages add up, and variances too, as clients are independent. Rescaling by n/(n-λ) multiplies the
    variance by its square.
    """
    lam, n, total = symbols("lambda n S", positive=True)
    q = lam / n
    for bit in (0, 1):
        mean = (1 - q) * bit + q / 2
        identity(mean, q / 2 if bit == 0 else 1 - q / 2, f"the probability of message 1 for x_i = {bit}")
        identity(mean - mean**2, lam / (2 * n) * (1 - lam / (2 * n)), f"its variance for x_i = {bit}")
    mean = lam / 2 + (1 - q) * total
    identity(n / (n - lam) * (mean - lam / 2), total, "the mean of the estimate is Σ x_i")
    variance = (n / (n - lam)) ** 2 * n * (lam / (2 * n)) * (1 - lam / (2 * n))
    printed = (n / (n - lam)) ** 2 * (lam / 2) * (1 - lam / (2 * n))
    identity(variance, printed, "n variances, rescaled, are the printed one")


def same_law() -> None:
    """Let q = λ/n. C_λ takes a set H of size s with probability C(n,s) q^s (1-q)^(n-s) / C(n,s) = q^s
    (1-q)^(n-s): that is the probability that H is the set of clients that answer at random in Algorithm 1,
    where each does so independently with probability q. Given this set, both outputs are Σ_{i not in H} x_i
    plus a sum of |H| fair bits; Bin(s, 1/2) has the generating function of s fair bits. So the laws agree,
    for every n and x.
    """
    n, s, q, z, j = symbols("n s q z j", positive=True)
    size = binomial(n, s) * q**s * (1 - q) ** (n - s)
    identity(size / binomial(n, s), q**s * (1 - q) ** (n - s), "the probability of a set of size s in C_λ")
    identity(
        binomial(s + 1, j),
        binomial(s, j) + binomial(s, j - 1),
        "coefficients of (1 + z)^(s+1) by induction: one more fair bit",
    )
    one = (1 - q) + q * (1 + z) / 2
    identity(one, 1 - q / 2 + q / 2 * z, "one client with x_i = 0 as a generating function")


def shuffling_adds_nothing() -> None:
    """The shuffler maps a tuple Y with r ones to each of the C(n,r) tuples with r ones with the same
    probability: r!(n-r)! of the n! permutations do. So P(messages = Z) = P(sum = r)/C(n,r) on every dataset,
    and the C(n,r) terms max(0, P(Z|x) - t P(Z|x')) add up to max(0, P(r|x) - t P(r|x')). Summed over r, the
    least δ at t = e^ε is the same for the messages and for their sum, for every t and every pair of datasets:
    the claim and its converse. Nothing but one-bit messages is used.
    """
    n, r, p, other, t = symbols("n r p q t", positive=True)
    identity(
        factorial(r) * factorial(n - r) / factorial(n),
        1 / binomial(n, r),
        "the share of permutations that take Y to Z",
    )
    identity(
        binomial(n, r) * (p / binomial(n, r) - t * other / binomial(n, r)),
        p - t * other,
        "the terms of one sum r together",
    )


def hoeffding_for_fair_bits() -> None:
    """Steps of: P(Bin(h, 1/2) <= h/2 - d) <= exp(-2d²/h) for d >= 0."""
    k, s, d, h = symbols("k s d h", positive=True)
    term = factorial(2 * k) / (2**k * factorial(k))
    identity(
        term.subs(k, k + 1) / term,
        2 * k + 1,
        "(2k)! >= 2^k k! by induction, so cosh(z) <= exp(z²/2), term by term",
    )
    identity(
        (-s * d + s**2 * h / 8).subs(s, 4 * d / h),
        -2 * d**2 / h,
        "Markov: exp(-sd) cosh(s/2)^h <= exp(-sd + s²h/8), at s = 4d/h",
    )


def fixed_subset_is_private() -> None:
    """If the differing record is in H the laws are equal. Otherwise the outputs are B + c and B + c + 1 with
    B ~ Bin(h, 1/2), h = |H|; by the symmetry of B both directions are alike. At t = e^ε the least δ is Σ_j
    max(0, P(B=j) - t P(B=j-1)). Let u = sqrt(hL/2) and a = L/u. Then L = au, h = 2u/a, the hypothesis h > 8L
    is a < 1/2, that is u > 2L, and t = 1 + 4a. A term is positive only for j < (h+1)/(1+t), which is at least
    u - 1/4 below the mean h/2; so the sum is at most P(B <= h/2 - (u - 1/4)). By Hoeffding's inequality for
    fair bits (**one** tail, so without the factor 2 of the paper) this is at most exp(-L(1 - 1/(4u))²) <=
    e^(1/4) e^-L < 2 e^-L = δ/2. This takes the place of the paper's step from (2), which is off by one (C5b).
    Last, ln(1 + v) < v.
    """
    h, j, t, u, a, v = symbols("h j t u a v", positive=True)
    big, size = a * u, 2 * u / a
    identity(size * big / 2, u**2, "u = sqrt(hL/2)")
    identity(32 * big / size, (4 * a) ** 2, "so t = 1 + sqrt(32L/h) = 1 + 4a")
    identity(binomial(h, j) / binomial(h, j - 1), (h + 1 - j) / j, "the ratio P(B=j)/P(B=j-1)")
    identity(h + 1 - j - t * j, (1 + t) * ((h + 1) / (1 + t) - j), "it exceeds t just for j < (h+1)/(1+t)")
    below = size / 2 - (size + 1) / (2 + 4 * a)
    identity(below, (4 * u - 1) / (2 + 4 * a), "how far that is below the mean")
    certain(2 * certified_log(2) > 1, "u > 2L > 2 ln 2 > 1, so 4u - 1 > 0")
    identity(
        below - (u - Rational(1, 4)),
        (4 * u - 1) * (1 - 2 * a) / (4 * (1 + 2 * a)),
        "that is at least u - 1/4, as a < 1/2",
    )
    hoeffding_for_fair_bits()
    exponent = 2 * (u - Rational(1, 4)) ** 2 / size
    identity(
        big - exponent,
        a / 2 - a / (16 * u),
        "the exponent 2(u - 1/4)²/h falls short of L by less than a/2, which is less than 1/4",
    )
    certain(certified_exp(Fraction(1, 4)) < 2, "e^(1/4) < 2")
    positive(diff(v - log(1 + v), v), v, 0, None, "v - ln(1+v) is 0 at v = 0 and increases: ln(1+v) < v")


def step_with_room() -> None:
    """For B = j inside I_u, that is j > h/2 - u, and k = j - 1: the ratio P(B=k+1)/P(B=k) = (h+1-j)/j falls
    with j, so it is below its value at j = h/2 - u. That value is (h/2 + u + 1)/(h/2 -
    u); the paper's (h/2 + u)/(h/2 - u) leaves out the 1. With h = 2u²/L it is at most the printed 1 + 4L/u
    just if u >= 2L + 1/2, whereas |H| > 8L gives u > 2L only.
    """
    h, j, u = symbols("h j u", positive=True)
    ratio = (h + 1 - j) / j
    identity(diff(ratio, j), -(h + 1) / j**2, "the ratio falls with j")
    identity(ratio.subs(j, h / 2 - u), (h / 2 + u + 1) / (h / 2 - u), "its value at j = h/2 - u")
    big = Symbol("L", positive=True)
    identity(
        1 + 4 * big / u - ((h / 2 + u + 1) / (h / 2 - u)).subs(h, 2 * u**2 / big),
        big * (2 * u - 4 * big - 1) / (u * (u - big)),
        "the printed bound minus this, where u > L",
    )


def random_subset_is_private() -> None:
    """Let x_j = 0 and x'_j = 1 (the other direction: exchange 0 and 1 everywhere, which turns outputs y into
    n
    - y), W any set of outputs, p = 1 - s/n the probability that j is not in H, γ = P(C_s(X) in W | j in H), ζ
      and ζ' = P(C_s(X) in W | j not in H) and the same for X'; γ is the same for X and X'. Given j not in H,
      Claim 4.4 holds for every such H, so ζ <= (1+e)ζ' + δ/2 with e = sqrt(32L/s). Also ζ <= (1+e)γ + δ/2:
      exchange j for a random i in H; that turns a uniform H without j into a uniform H with j (every one of
      them comes from n - s of the pairs), and for each pair the two outputs are those of C_H on datasets that
      differ in place j only (x_j against x_i). So with m = min(ζ', γ): P(C_s(X) in W) <= (1-p)γ + p((1+e)m +
      δ/2) <= (1 + pe) P(C_s(X') in W) + pδ/2, by the identity below, all of whose terms are >= 0. Last, 1 +
      pe <= exp(pe). For s = n the law does not depend on X. (This is sharper than the claim: δ/2 becomes
      pδ/2, and ε becomes ln(1 + pe).)
    """
    p, gamma, zeta, e, m, delta, n, s, v = symbols("p gamma zeta e m delta n s v", positive=True)
    identity(
        binomial(n - 1, s) * s / binomial(n - 1, s - 1),
        n - s,
        "pairs (H, i) with j not in H and i in H, for each set that contains j",
    )
    upper = (1 - p) * gamma + p * ((1 + e) * m + delta / 2)
    other = (1 - p) * gamma + p * zeta
    identity(
        (1 + p * e) * other + p * delta / 2 - upper,
        p * (zeta - m) + p * e * ((1 - p) * (gamma - m) + p * (zeta - m)),
        "(1+pe)P' + pδ/2 minus the bound of P is a sum of terms >= 0, as m <= ζ', m <= γ and p <= 1",
    )
    identity(diff(exp(v) - 1 - v, v), exp(v) - 1, "e^v - 1 - v is 0 at 0 and increases: 1 + v <= e^v")


def chernoff_below() -> None:
    """Steps of: P(Bin(n, λ/n) < λ - a) <= exp(-a²/(2λ)) for a >= 0."""
    theta, lam, a = symbols("theta lambda a", positive=True)
    second = diff(1 - theta + theta**2 / 2 - exp(-theta), theta, 2)
    identity(
        second,
        1 - exp(-theta),
        "1 - θ + θ²/2 - e^-θ and its derivative are 0 at 0, and its second derivative is >= 0",
    )
    identity(
        (theta * (lam - a) + lam * (-theta + theta**2 / 2)).subs(theta, a / lam),
        -(a**2) / (2 * lam),
        "Markov: e^(θ(λ-a)) (1 - q + q e^-θ)^n <= exp(θ(λ-a) + λ(e^-θ - 1)), at θ = a/λ",
    )


def bit_sum_is_private() -> None:
    """Given the size s of H, C_λ is C_s. Let a = sqrt(2λl) and s0 = λ - a. By Chernoff's inequality s < s0
    has a probability of at most exp(-a²/(2λ)) = e^-l = δ/2. Since λ >= 14L, s0 > 8L, so Claim 4.5 (C6) holds
    for every s >= s0; its ε falls with s, so e^ε at s0 (a real number, which is fine) serves for all. So
    P(C_λ(X) in W) <= Σ_{s>=s0} π_s (e^ε Q_s + δ/2) + δ/2 <= e^ε P(C_λ(X') in W) + δ. The messages have the
    same curve (C3, C4), hence Corollary 4.7. (For 2 < δ < 4 the square root of ln(2/δ) < 0 has no meaning;
    the corollary has δ < 1.)
    """
    chernoff_below()
    lam, small, y, v = symbols("lambda l y v", positive=True)
    identity(sqrt(2 * lam * small) ** 2 / (2 * lam), small, "with a = sqrt(2λl) the exponent is l = ln(2/δ)")
    identity(
        diff(y**2 - sqrt(2) * y, y),
        2 * y - sqrt(2),
        "with λ = y²L and l < L: s0/L > y² - y·sqrt(2), which increases for y² >= 14 > 1/2",
    )
    certain(14 - certified_sqrt(28) > 8, "at λ = 14L it is 14 - sqrt(28) > 8, so s0 > 8L")
    identity(
        diff((1 - v) ** 2 / v, v),
        -(1 - v**2) / v**2,
        "the square of Claim 4.5's ε, with v = s/n, times n/(32L)",
    )
    positive((1 - v**2) / v**2, v, 0, 1, "so that ε falls with s up to n")


def lambda_suffices() -> None:
    """The range of ε is not empty only if sqrt(3456)·L/n < 1, so n > 58L (this makes the lemma's n >= 14L
    superfluous). In both cases it is shown that λ >= 14L, λ >= 8l and λ <= n, so that Corollary 4.7 applies,
    and that ε*(λ) <= ε. From λ >= 8l, sqrt(2λl) <= λ/2, so s0 = λ - sqrt(2λl) >= λ/2 and sqrt(32L/s0) <=
    sqrt(64L/λ).
    Case 1: λ = 64L/ε² > 64L, and ε² >= 192L/n gives λ <= n/3. ε*(λ) <= sqrt(64L/λ) = ε.
    Case 2: 1 - λ/n = ε sqrt(n/(432L)) < sqrt(192/432) = 2/3, so λ > n/3 > 19L. With λ >= n/3 in the first
    factor and λ <= n in the second, ε*(λ) <= sqrt(192L/n)·(ε sqrt(n/(432L)) + sqrt(2l/n)) < (2/3)ε +
    sqrt(384)L/n < ε, as sqrt(384) = sqrt(3456)/3.
    """
    lam, big, small, eps, n = symbols("lambda L l epsilon n", positive=True)
    certain(certified_sqrt(3456) > 58, "n > 58L")
    identity((lam / 2) ** 2 - 2 * lam * small, lam / 4 * (lam - 8 * small), "sqrt(2λl) <= λ/2 just if λ >= 8l")
    identity(32 * big / (lam / 2), 64 * big / lam, "32L/s0 <= 64L/λ")
    first = 64 * big / eps**2
    identity(first.subs(eps, sqrt(192 * big / n)), n / 3, "case 1: λ falls with ε and is n/3 at its end")
    identity(64 * big / first, eps**2, "case 1: sqrt(64L/λ) = ε")
    gap = eps * sqrt(n) / sqrt(432 * big)
    identity(1 - (n - eps * n * sqrt(n) / sqrt(432 * big)) / n, gap, "case 2: 1 - λ/n")
    identity(gap.subs(eps, sqrt(192 * big / n)), Rational(2, 3), "case 2: it is below 2/3, its value at the end")
    certain(58 >= 3 * 19 and 19 >= 14, "case 2: λ > n/3 > 19L, which is more than 14L and 8l")
    identity(64 * big / (n / 3), 192 * big / n, "case 2: 64L/λ <= 192L/n")
    identity(sqrt(192 * big / n) * gap, 2 * eps / 3, "case 2: the first product")
    identity(192 * big / n * (2 * big / n), 384 * big**2 / n**2, "case 2: the square of the second, with l < L")
    identity(sqrt(384), sqrt(3456) / 3, "case 2: the second product is below ε/3")


def accuracy() -> None:
    """Let d_i be message i minus its mean: independent, mean 0, |d_i| <= 1, variances adding up to V =
    (λ/2)(1 - λ/(2n)) <= λ/2 (C2); the error of the estimate is n/(n-λ)·Σ d_i. Bernstein: from k! >= 2·3^(k-2)
    E exp(θ d_i) <= 1 + Var(d_i)·(θ²/2)/(1 - θ/3), so P(Σ d_i >= a) <= exp(-θa + V(θ²/2)/(1 - θ/3)), which for
    θ = a/(V + a/3) is exp(-a²/(2V + 2a/3)); the same for the other tail. With l = ln(2/β) and a = sqrt(2λl)
    this is at most e^-l if 2λl >= l(2V + 2a/3), for which 2λ >= λ + (2/3)a suffices, that is a <= 3λ/2: 2λl
    <= 9λ²/4, λ >= (8/9)l. The theorem has λ >= 2l. Two tails give 2e^-l = β. (β >= 2 says nothing.)
    """
    k, theta, v, a, lam, small = symbols("k theta V a lambda l", positive=True)
    term = factorial(k) / (2 * Symbol("c", positive=True) ** (k - 2))
    ratio = (term.subs(k, k + 1) / term).subs(Symbol("c", positive=True), 3)
    identity(ratio, (k + 1) / 3, "k! >= 2·3^(k-2) for k >= 2: equal at k = 2, then the ratio is >= 1")
    rate: Expr = -theta * a + v * (theta**2 / 2) / (1 - theta / 3)
    identity(rate.subs(theta, a / (v + a / 3)), -(a**2) / (2 * v + 2 * a / 3), "the exponent at θ = a/(V + a/3)")
    identity(3 - a / (v + a / 3), 3 * v / (v + a / 3), "θ < 3, as the series needs")
    n = Symbol("n", positive=True)
    identity(lam / 2 - lam / 2 * (1 - lam / (2 * n)), lam**2 / (4 * n), "V <= λ/2")
    identity(
        (3 * lam / 2) ** 2 - 2 * lam * small,
        9 * lam / 4 * (lam - 8 * small / 9),
        "a <= 3λ/2 just if λ >= (8/9)l, so the hypothesis λ >= 2l is more than enough",
    )


def encoder_is_unbiased() -> None:
    """For 0 < x <= 1 let v = xr, μ = ceil(v), 1 <= μ <= r, and p = v - μ + 1, which is in (0, 1]. The bits
    sum to μ - 1 plus a Bernoulli(p). For x = 0: μ = 0, no j equals μ, all bits are 0, and the mean is 0 = x
    (p = 1 is not used).
    """
    x, r, mu = symbols("x r mu", positive=True)
    identity((mu - 1 + (x * r - mu + 1)) / r, x, "the mean of the average, whatever μ is")
    v, f = symbols("v f", positive=True)
    identity(v - (v + f) + 1, 1 - f, "with μ = v + f, 0 <= f < 1, p is 1 - f")
    positive(1 - f, f, 0, 1, "so p is in (0, 1]")


def encoder_variance() -> None:
    """Only bit μ is random, so the average has the variance p(1-p)/r², and p(1-p) <= 1/4, with equality just
    for p = 1/2. For x = 0 it is 0. With r = 1 this is the paper's x(1-x) <= 1/4.
    """
    p = Symbol("p", real=True)
    identity(Rational(1, 4) - p * (1 - p), (p - Rational(1, 2)) ** 2, "1/4 - p(1-p) is a square")
    positive(Rational(1, 4) - p * (1 - p), p, 0, 1, "so the variance is at most 1/(4r²)", strict=False, closed=True)


def advanced_composition() -> None:
    """Fix neighbours, let P_i, Q_i be the laws of M_i(X), M_i(X'), t = e^ε. (1) Replace P, Q by P' = min(P,
    tQ), Q' = min(Q, tP): their masses m1, m2 are at least 1 - δ, and Q'/t <= P' <= tQ'. If m1 > m2, take the
    share (m1 - m2)/(m1 - m2/t), which is at most 1, of P' - Q'/t away from P'; both inequalities stay and the
    masses become equal (if m2 > m1: the same for Q'). So there are P'' <= P and Q'' <= Q of equal mass m_i >=
    1 - δ with the ratio in [1/t, t]. (2) The products: P(W) <= P''(W) + 1 - Π m_i, and 1 - Π m_i <= Tδ. (3)
    Under P''/m the losses ℓ_i = ln(P''/Q'') are independent and in [-ε, ε]. Since -ln is convex and Q''/P''
    has the mean 1 in [1/t, t], the mean loss is at most ε(t-1)/(t+1) <= ε(t-1). Hoeffding: the second
    derivative of ln E exp(θℓ) is a variance under a tilted law, at most ε², so P(Σ ℓ_i > mean + a) <=
    exp(-a²/(2Tε²)), which is δ' for a = ε·sqrt(2T ln(1/δ')). Where the loss is at most ε' the ratio is at
    most e^ε', so P''(W) <= e^ε' Q''(W) + δ'. Together: P(W) <= e^ε' Q(W) + δ' + Tδ. (δ' >= 1 says nothing;
    for ε = 0, P'' = Q''.)
    """
    t, m1, m2, eps, a, rounds, theta, d, k = symbols("t m1 m2 epsilon a T theta delta k", positive=True)
    share = (m1 - m2) / (m1 - m2 / t)
    identity(m1 - share * (m1 - m2 / t), m2, "taking this share of P' - Q'/t away makes the masses equal")
    identity((m1 - m2 / t) - (m1 - m2), m2 * (t - 1) / t, "the share is at most 1, as t >= 1")
    identity(
        (k + 1) * d - (1 - (1 - d) * (1 - k * d)),
        k * d**2,
        "1 - (1-δ)^T <= Tδ by induction",
    )
    chord = eps - 2 * eps * (1 - 1 / t) / (t - 1 / t)
    identity(chord, eps * (t - 1) / (t + 1), "the chord of -ln from (1/t, ε) to (t, -ε), at 1")
    positive((t - 1) - (t - 1) / (t + 1), t, 1, None, "(t-1)/(t+1) < t - 1, so the printed mean is generous")
    identity(
        (-theta * a + rounds * theta**2 * eps**2 / 2).subs(theta, a / (rounds * eps**2)),
        -(a**2) / (2 * rounds * eps**2),
        "Markov: exp(-θa + Tθ²ε²/2) at θ = a/(Tε²)",
    )
    small = Symbol("l", positive=True)
    identity((eps * sqrt(2 * rounds * small)) ** 2 / (2 * rounds * eps**2), small, "the exponent is l = ln(1/δ')")


def local_randomizer() -> None:
    """Let x, x' be two inputs, Y a set of messages, p = P(R(x) in Y), p' = P(R(x') in Y). Of the datasets (x,
    ..., x) and (x', x, ..., x), take the event that some message is in Y; the shuffler does not change it.
    Its probability is 1 - (1-p)^n <= np on the first and 1 - (1-p')(1-p)^(n-1) >= p' on the second. So p' <=
    e^ε·np + δ, for all x, x', Y: R is (ε + ln n, δ)-DP.
    """
    n, p, other, k = symbols("n p q k", positive=True)
    power = (1 - p) ** n
    identity(
        1 - (1 - p) * power,
        (1 - p) * (1 - power) + p,
        "induction: if 1 - (1-p)^n <= np, the next one is at most (1-p)np + p <= (n+1)p",
    )
    identity((k + 1) * p - ((1 - p) * k * p + p), k * p**2, "and that is at most (n+1)p")
    identity(
        1 - (1 - other) * (1 - p) ** (n - 1) - other,
        (1 - other) * (1 - (1 - p) ** (n - 1)),
        "the second probability exceeds p' by a product of numbers >= 0",
    )


def logarithm_is_needed() -> None:
    """Keep λ and let n grow: by C7 the protocol is (ε, δ)-DP with an ε below sqrt(32L/s0), whatever n is. Its
    randomizer flips a bit with probability f = λ/(2n), and at e^ε' = n/λ its least δ is (1 - f) - (n/λ)f =
    1/2 - λ/(2n). So for δ < 1/2 - λ/(2n) it is not (ln n - ln λ, δ)-DP: the ln n of the theorem is needed,
    up to a term that does not grow with n.
    """
    n, lam = symbols("n lambda", positive=True)
    wrong = lam / (2 * n)
    identity((1 - wrong) - n / lam * wrong, Rational(1, 2) - lam / (2 * n), "δ of the randomizer at e^ε' = n/λ")
    share = Symbol("v", positive=True)
    positive(1 - share, share, 0, 1, "the factor 1 - s0/n of C7's ε is below 1, for all n")


def transformed_is_private() -> None:
    """Given v_1, ..., v_T, whose law does not depend on x, let q_t = p_t·k: they lie in [A, U] with A =
    k·e^(-2ε)/2 and U = k·e^(2ε)/2 < 1 (a p_t outside GoodInt becomes 1/2, which is inside). Index j is
    returned with probability Π(1-q_t)/T + q_j·E[1/(1 + Σ_{t≠j} b_t)]. The first term is at most (1-A)^T/T and
    at least (1-U)^T/T. The expectation falls when a q_t grows, so it lies between its values for Bin(T-1, U)
    and Bin(T-1, A), and E[1/(1 + Bin(T-1, q))] = (1 - (1-q)^T)/(Tq). So the probability of j is at most
    [(1-A)^T + (U/A)(1 - (1-A)^T)]/T <= (U/A)/T and at least [(1-U)^T + (A/U)(1 - (1-U)^T)]/T >= (A/U)/T,
    where U/A = e^(4ε). Between x and x' the ratio is at most (U/A)² = e^(8ε), for every j and v_1..v_T, and
    so for the output. That R is (ε, δ)-DP is not used.
    """
    m, s, ratio, low, eps, k = symbols("m s rho c epsilon k", positive=True)
    identity(
        binomial(m, s) / (s + 1),
        binomial(m + 1, s + 1) / (m + 1),
        "so Σ_s C(m,s) q^s (1-q)^(m-s)/(s+1) is (1 - (1-q)^(m+1))/((m+1)q), with m = T - 1",
    )
    identity(
        ratio - (low + ratio * (1 - low)),
        (ratio - 1) * low,
        "the upper bound is at most ρ = U/A >= 1, c = (1-A)^T",
    )
    identity(
        (low + (1 - low) / ratio) - 1 / ratio,
        (1 - 1 / ratio) * low,
        "the lower bound is at least 1/ρ, c = (1-U)^T",
    )
    identity(k * exp(2 * eps) / 2 / (k * exp(-2 * eps) / 2), exp(4 * eps), "ρ = U/A = e^(4ε)")
    identity(exp(4 * eps) / exp(-4 * eps), exp(8 * eps), "the ratio of the bounds")
    identity((2 * exp(-2 * eps)) * exp(2 * eps) / 2, 1, "U < 1 as k < 2e^(-2ε)")
