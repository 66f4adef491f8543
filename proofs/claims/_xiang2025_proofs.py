"""The proofs for the claims of xiang2025. Notation: t = e^ε, α and β the two errors of a test."""

from __future__ import annotations

from fractions import Fraction
from inspect import getdoc
from itertools import product

from sympy import Function, Integer, Symbol, binomial, diff, exp, factorial, integrate, oo, symbols

from tightdp.claims import certain, exhaustive, identity, limit

t, delta, alpha, beta, x = symbols("t delta alpha beta x", positive=True)
u = Symbol("u", integer=True)
q = t / (1 + t)


# X1, X2, X3


def private_is_above_two_lines() -> None:
    """Let P, Q be the laws on two neighbours and let a test reject P in favour of Q with probability φ(y), so
    that α = Σ φP and β = 1 - Σ φQ. Because 0 <= φ <= 1, φ(Q - tP) is at most max(0, Q - tP), and the sum of
    that over y is the largest Q(S) - tP(S). So (ε, δ)-DP says 1 - β <= tα + δ for every test, the first line
    of f. The test 1 - φ with P and Q exchanged gives 1 - α <= tβ + δ, the second. β >= 0 is the third. All
    three bounds fall in α, so that they also hold for the infimum over tests with error at most α. For the
    converse let φ be the indicator of an event S: β >= f(α) gives 1 - Q(S) >= 1 - δ - tP(S).
    """
    d, phi = symbols("d phi", nonnegative=True)
    exhaustive((0, 1), lambda end: end * d <= d and -end * d <= 0, "φ·d <= max(0, d) at φ = 0, 1, hence between them")
    certain(not (phi * d).diff(phi, 2), "φ·d is linear in φ")
    line = (1 - delta - t * alpha) - beta
    identity(1 - beta - (t * alpha + delta), line, "Q rejects with at most tα + δ: the first line")
    other = (1 - delta - alpha) / t - beta
    identity((1 - alpha - (t * beta + delta)) / t, other, "P accepts with at most tβ + δ: the second line")
    certain(diff(1 - delta - t * alpha, alpha).is_negative, "the first line falls")
    certain(diff((1 - delta - alpha) / t, alpha).is_negative, "the second line falls")


def four_outputs_attain() -> None:
    """In the order of the likelihood ratio Q/P = ∞, t, 1/t, 0 the four outputs add to α the probabilities 0,
    (1-δ)/(1+t), (1-δ)t/(1+t), δ and take from β the mirrored ones. By the Neyman-Pearson lemma T is the
    broken line through the points so reached. f is a broken line too: with c = (1-δ)/(1+t) its first line is
    the larger one up to c, the second between c and 1-δ, then 0. Both are equal at the kinks, hence
    everywhere. The δ of the mechanism at t is δ + max(0, right - t·wrong) = δ. Bits go through the mechanism
    one by one, so neighbours of n bits differ in one such pair.
    """
    right, wrong = (1 - delta) * q, (1 - delta) / (1 + t)
    identity(right + wrong + delta, 1, "the probabilities of an input add up to 1")
    identity(right - t * wrong, 0, "so only the revealing output exceeds t times the other law: δ in all")
    points = [(Integer(0), 1 - delta), (wrong, 1 - delta - right), (wrong + right, Integer(0))]
    lines = (1 - delta - t * alpha, (1 - delta - alpha) / t)
    for (at, height), line, name in zip(
        points, (lines[0], lines[0], lines[1]), ("first", "second", "third"), strict=True
    ):
        identity(line.subs(alpha, at), height, f"f at the {name} vertex of T")
    identity(lines[1].subs(alpha, wrong), wrong, "the two lines of f meet there, on the diagonal")
    gap = (t - 1) / t * (1 - delta - alpha * (1 + t))
    identity(lines[0] - lines[1], gap, "the first line is the larger one exactly up to c, for t >= 1")
    identity(points[2][0], 1 - delta, "f and T reach 0 at 1 - δ")


def least_error_of_a_bit() -> None:
    """Whatever a decoder does at y, guessing 1 with probability φ, it errs there with ½(φP + (1-φ)Q), at
    least ½ min(P, Q), which the likelihood-ratio rule attains at every y. So that rule has the least error.
    The error of a test with errors α, β is ½(α + β) >= ½(α + f(α)), with equality for the best test of each
    α, so that the least error is also the minimum of ½(α + f(α)). If -1 is a subgradient of f at a then f(x)
    >= f(a) - (x - a) for all x, that is, x + f(x) >= a + f(a): the minimum is at a.
    """
    p, extra, phi = symbols("p extra phi", nonnegative=True)
    identity(phi * (p + extra) + (1 - phi) * p - p, phi * extra, "P >= Q = p: guessing 0 is best, φ·extra more")
    identity(phi * p + (1 - phi) * (p + extra) - p, (1 - phi) * extra, "Q >= P = p: guessing 1 is best")
    a, fa = symbols("a fa")
    identity(x + (fa - (x - a)), a + fa, "the tangent of slope -1 has the same sum everywhere")


def where_slope_is_minus_one() -> None:
    """x + f(x) is continuous on [0, 1] and has a minimum there, where 0 is a subgradient of it: a exists in
    [0, 1]. Let f be symmetric (f its own generalized inverse) with f(0) > 0. As f(1) = 0 and f is continuous
    it has a fixed point c in (0, 1). For any x the points (x, f(x)) and (f(x), x) both lie on or above the
    graph, hence so does their midpoint (m, m), m = (x + f(x))/2. As f falls, f(m) <= m means m >= c. So x +
    f(x) >= 2c = c + f(c): -1 is a subgradient at c.
    """
    fx, c = symbols("fx c")
    identity((x + fx) / 2, (fx + x) / 2, "the midpoint of a point and its mirror image lies on the diagonal")
    identity(2 * ((x + fx) / 2), x + fx, "m >= c says x + f(x) >= 2c")
    identity(fx - (c - (x - c)), (x + fx) - 2 * c, "and that is f(x) >= f(c) - (x - c)")


# X4: the sharp bound


def flips_cost_at_most() -> None:
    """**No mechanism does better.** Let N be the number of right ones among the r released guesses, p_i = P(N
    = i), v = r - u. Fix the other bits and a value a of bit j, and let φ(y) be a number s_i >= 0 where bit j
    is released with guess a and i - 1 of the other released guesses are right, 0 elsewhere. (ε, δ)-DP gives
    E[φ | b_j = a] - t E[φ | b_j = 1 - a] <= δ max s. If b_j = a then N = i there, otherwise N = i - 1 and bit
    j is wrong. Averaging over a and the other bits and adding over j (each outcome with N = i has i right
    released bits and r - i wrong ones):

    Σ_i s_i (i p_i - t (r - i + 1) p_{i-1}) <= n δ max s, for all s_1, ..., s_r >= 0.

    Let b_i = P(Bin(r, t/(1+t)) = i), T_i = P(Bin >= i), T = T_v, and s_i = (T_{max(i,v)} - T·T_i)/(i b_i) >=
    0. Then T + i s_i - t (r - i) s_{i+1} is 1 for i >= v and 0 for i < v, so that adding up gives P(N >= v)
    <= T + n δ max s. The largest s_i is s_v = T(1 - T)/(v b_v): for i >= v, (1-T) T_i/(i b_i) falls with i,
    because b_{k+1}/b_k falls in k and with it every b_{i+k}/b_i; for i <= v, T (1 - T_i)/(i b_i) = T·Σ_j
    b_{i-j}/(i b_i) rises with i, as b_{i-1}/(i b_i) and every b_{i-j}/b_{i-1} rise.
    """
    r, i, k = symbols("r i k", positive=True, integer=True)
    weight = binomial(r, i) * t**i
    identity(
        (i + 1) * weight.subs(i, i + 1) / weight,
        (r - i) * t,
        "(i+1) b_{i+1} = t (r-i) b_i, the link of two rows",
    )
    b, rest, tail = symbols("b rest T", positive=True)
    high = ((rest + b) - tail * (rest + b)) / b - (rest - tail * rest) / b
    identity(tail + high, 1, "the row of i >= v, T_i = T_{i+1} + b_i: at least the indicator 1")
    low = (tail - tail * (rest + b)) / b - (tail - tail * rest) / b
    identity(tail + low, 0, "the row of i < v: the indicator 0")
    step = t * (r - k) / (k + 1)
    identity(step - step.subs(k, k + 1), t * (r + 1) / ((k + 1) * (k + 2)), "b_{k+1}/b_k falls in k, by this much")
    before = (weight.subs(i, i - 1) / weight) / i
    identity(before, 1 / (t * (r - i + 1)), "b_{i-1}/(i b_i), which rises with i")


def extremal_law_attains() -> None:
    """**It is attained.** The mechanism publishes r positions, uniformly, and a guess for each; the number of
    right ones has the law p_i = (1-w) b_i + w b_i [i >= v]/T with w = n δ T/(v b_v), if w <= 1; all outcomes
    with the same number of right guesses are equally likely. For neighbours that differ in bit j, outcomes
    with j right under the first and i right in all weigh a_i = p_i i/n under the first and p_{i-1}
    (r-i+1)/n under the second. These are in the ratio t, except for i = v, where the excess over t times the
    other is δ. Outcomes with j wrong weigh less under the first than under the second, those without j the
    same. So δ(t) = δ, and P(N >= v) = (1-w)T + w is the bound. If w > 1 then w = 1 gives probability 1 with a
    smaller δ.
    """
    r, i, v, n = symbols("r i v n", positive=True, integer=True)
    w, tail, common = symbols("w T c", positive=True)
    binomial_law = binomial(r, i) * t**i / common
    ours, theirs = binomial_law * i, binomial_law.subs(i, i - 1) * (r - i + 1)
    identity(ours / theirs, t, "a_i = t·(weight under the other) where both have the same factor 1-w or 1-w+w/T")
    here = symbols("b_v", positive=True)
    inside = ((1 - w) + w / tail) * here * v / n - t * (1 - w) * here * v / (t * n)
    identity(inside, w * v * here / (n * tail), "for i = v the excess is w v b_v/(n T)")
    share = n * delta * tail / (v * here)
    identity(inside.subs(w, share), delta, "which is δ for w = nδT/(v b_v)")
    value = ((1 - w) * tail + w).subs(w, share)
    identity(value, tail + n * delta * tail * (1 - tail) / (v * here), "P(N >= v) is the bound")


def sharp_bound_is_proved() -> None:
    """Both sides, for all n, r, u < r, t >= 1 and δ."""
    flips_cost_at_most()
    extremal_law_attains()


sharp_bound_is_proved.__doc__ = f"{getdoc(flips_cost_at_most)}\n\n{getdoc(extremal_law_attains)}"


def released_guesses_stay_uncertain() -> None:
    """Fix the output y and all bits but one, i. For an ε-DP mechanism the two values of b_i have posterior
    odds of at most t, so that every guess of b_i is wrong with conditional probability at least e = 1/(1+t),
    given y, the other bits and so the errors of all other released guesses. Replacing the released errors one
    after the other by independent Bernoulli(e) variables therefore never lowers P(at most u errors): given
    the rest it rises as the probability of this error falls. In the end there are r independent ones. And n
    independent channels with f = f_{ε,0} have exactly that: all scores are ln t, every guess is wrong with
    probability e, whichever are released.
    """
    p, slack = symbols("p slack", nonnegative=True)
    odds = p + slack  # t p' = p + slack
    identity(
        odds / t / (p + odds / t) - 1 / (1 + t),
        slack * t / ((t + 1) * (p * (t + 1) + slack)),
        "p <= t p' leaves error >= e",
    )
    chance_falls_with_the_error()
    identity((1 / (1 + t)) / (1 - 1 / (1 + t)), 1 / t, "the error of a channel with f_{ε,0} is e at both outputs")


def chance_falls_with_the_error() -> None:
    """Let W be Bernoulli(w), independent of S. P(S + W <= u) = (1-w) P(S <= u) + w P(S <= u-1) = P(S <= u) -
    w P(S = u): it falls as w grows. Changing v_i into w_i >= v_i, one i after the other, never raises it.
    """
    w, v, more = symbols("w v more", nonnegative=True)
    below, here = symbols("below here", nonnegative=True)  # P(S <= u-1), P(S = u)
    identity(
        (1 - w) * (below + here) + w * below,
        (below + here) - w * here,
        "P(S + W <= u) = P(S <= u) - w P(S = u)",
    )
    identity(-v * here - (-(v + more) * here), more * here, "it falls by (w - v) P(S = u) >= 0")


def shared_score_beats_channels() -> None:
    """A symmetric f is a mixture of pure ones: the optimal score S of its channel has the same law under both
    inputs, and given S = ln s the channel is randomized response with the chance Q = s/(1+s) to be right.
    Let a mechanism draw **one** S for all bits, publish it, and send every bit through randomized response
    with that S. Neighbours differ in one bit, and given the other bits the pair (S, message of the bit) has
    the laws of a single channel while the other messages have the same law under both: the mechanism is
    exactly f-DP. With r = n = 2 all guesses are right with probability E[Q²]; independent channels have
    (E Q)². The difference is the variance of Q, which is 0 only if the score is constant, that is, for f =
    f_{ε,0}. (The same with any n = r >= 2, by Jensen's inequality for Q^n.) In particular it is δ(1-δ)/(1+t)²
    for f_{ε,δ}. The first step writes the variance as a sum of squares, for three atoms; the same double
    sum is the variance for any number, and for densities.
    """
    masses, chances = symbols("m1:4"), symbols("q1:4")
    mean = sum(m * c for m, c in zip(masses, chances, strict=True))
    square = sum(m * c**2 for m, c in zip(masses, chances, strict=True))
    pairs = sum(masses[i] * masses[j] * (chances[i] - chances[j]) ** 2 for i, j in product(range(3), repeat=2))
    identity(
        (square * sum(masses) - mean**2),
        pairs / 2,
        "E[Q²] - (E Q)² = ½ Σ m_i m_j (q_i - q_j)² >= 0 (Σ m = 1)",
    )
    gap = delta + (1 - delta) * q**2 - (delta + (1 - delta) * q) ** 2
    identity(gap, delta * (1 - delta) / (1 + t) ** 2, "for f_{ε,δ} it is δ(1-δ)/(1+t)², positive for 0 < δ < 1")


def best_release_given_outputs() -> None:
    """If M treats the bits independently, bit i through a pair with trade-off function at least f, then by
    Blackwell's theorem (the one that the paper cites) each pair is a post-processing of the f-DP channel, so
    that every decoder for M is a (randomized) decoder for n independent channels that sees their outputs.
    Given those outputs the bits are independent: P(at most u errors) is that of independent Bernoulli
    errors, and falls with each error probability. So it is largest when every guess is the likelier value
    and the r guesses of least error, that is, largest score, are released.
    """
    chance_falls_with_the_error()
    e, better = symbols("e better", nonnegative=True)
    identity((1 - e) - e, 1 - 2 * e, "guessing the less likely value errs with 1 - e >= e, as e <= 1/2")
    identity((e + better) - e, better, "a released guess of error e + better can be changed for one of error e")


# X6, X7, X8, X9


def filtering_by_other_scores() -> None:
    """Let f be symmetric and let a channel guess by a fair coin where P = Q. Then its score and whether it
    errs are independent of its bit: given the score s the error has probability 1/(1+e^s) under both values.
    The scores of M depend on the bits and on the randomness of M only. So, given which r are released, their
    errors are independent with the mean error e of a channel: P(at most u errors) is exactly P(Bin(r, e) <=
    u). With r channels chosen without looking at anything the value is the same. Given the outputs of all
    channels, the best release has errors that are no larger, one by one in order, hence a chance no smaller.
    """
    chance_falls_with_the_error()
    s = Symbol("s", positive=True)
    under_zero, under_one = 1 / (1 + s), (1 / s) / (1 + 1 / s)
    identity(under_zero, 1 - 1 / (1 + 1 / s), "given 0 and the score, the wrong output has probability 1/(1+s)")
    identity(under_one, under_zero, "given 1 likewise: the error does not depend on the bit")


def all_means_are_equal() -> None:
    """For f = f_{ε,0} the score is constant, so that (25) averages the constant e = 1/(1+t) over the density
    of an order statistic: v_k = e for every k. The sum of independent V_k is Bin(r, e), which by X4c bounds
    P(at most u errors) for every ε-DP mechanism.
    """
    released_guesses_stay_uncertain()
    y = Symbol("y", positive=True)
    cases = [(n, k) for n in range(1, 7) for k in range(1, n + 1)]

    exhaustive(
        cases,
        lambda n, k: (
            integrate(
                factorial(n) / (factorial(n - k) * factorial(k - 1)) * y ** (k - 1) * (1 - y) ** (n - k),
                (y, 0, 1),
            )
            == 1
        ),
        "the density of the k-th order statistic integrates to 1 (n <= 6; it is a Beta density)",
    )


def different_means_lower_the_product() -> None:
    """Let n = r = 2 and u = 0. The two order statistics have the mean errors v_1 >= v_2 with v_1 + v_2 = 2e,
    e the mean error of one channel, because the two released errors together are those of both channels. Two
    independent channels are both right with probability (1-e)²; Theorem 3 has (1-v_1)(1-v_2), which is
    smaller by ((v_1-v_2)/2)². The two are E[max] and E[min] of the errors of two independent channels, equal
    only if the score is constant. For f_{ε,δ}: v_1 - v_2 = 2δ(1-δ)/(1+t).
    """
    one, two = symbols("v1 v2")
    e = (one + two) / 2
    identity((1 - e) ** 2 - (1 - one) * (1 - two), ((one - two) / 2) ** 2, "the gap is the square of (v_1-v_2)/2")
    error = 1 / (1 + t)
    v1, v2 = (1 - delta**2) * error, (1 - delta) ** 2 * error
    identity(v1 + v2, 2 * (1 - delta) * error, "for f_{ε,δ}: the means add up to 2e")
    identity(v1 - v2, 2 * delta * (1 - delta) * error, "and differ by 2δ(1-δ)/(1+t) > 0 for 0 < δ < 1")


def exponential_moment() -> None:
    """For 0 < x = e^λ < 1 the indicator of s <= u is at most x^(s-u): that is at least 1 for s <= u and
    positive otherwise. Taking expectations, E[x^(ΣV)] is the product of the E[x^V] because the V are
    independent.
    """
    v, lam = symbols("v lambda")
    identity((1 - v) * x**0 + v * x**1, 1 - v + v * x, "E[x^V] = 1 - v + v x for a Bernoulli(v) variable V")
    s = Symbol("s", integer=True, nonnegative=True)
    identity(x**s * x ** (-u), x ** (s - u), "x^s/x^u = x^(s-u), which is >= 1 for s <= u as 0 < x < 1")
    inside = 1 - v + v * exp(lam)
    second = (diff(inside, lam, 2) * inside - diff(inside, lam) ** 2) / inside**2
    identity(second, v * (1 - v) * exp(lam) / inside**2, "each ln(1-v+v e^λ) has the printed curvature (35), >= 0")


def false_alarms_stay() -> None:
    """All-or-nothing is (0, δ)-DP, and blind guesses of all n secrets are right with probability δ +
    (1-δ)2^-n > δ. The p-value at x = e^λ is Π(1 - v_k (1-x)), at most (1 - e(1-x))^n by the inequality of the
    means, where e = (1-δ)/2 is the mean of the v_k. That tends to 0 as n grows, for every fixed x < 1. So at
    every significance level a large enough n lets the method reject the true guarantee with probability above
    δ.
    """
    size = Symbol("n", positive=True)
    base = Symbol("b", positive=True)
    e = (1 - delta) / 2
    identity(1 - e * (1 - x), (1 + delta) / 2 + (1 - delta) * x / 2, "the base is a mean of 1 and x")
    gap = symbols("gap", positive=True)
    identity(1 - (1 - e * (1 - x)).subs(x, 1 - gap), e * gap, "1 - base = e(1-x) > 0 for every δ < 1")
    limit((base / (1 + base)) ** size, size, oo, 0, "powers of a number below 1, b/(1+b), tend to 0")
    limit(delta + (1 - delta) * (Fraction(1, 2)) ** size, size, oo, delta, "the true probability tends to δ")


def no_valid_value_is_smaller() -> None:
    """Reveal a uniformly chosen set of r secrets with probability nδ/r < 1, otherwise nothing. Every
    secret is revealed with probability δ, so the mechanism is (0, δ)-DP. If the set is revealed then the
    decoder releases its r secrets and makes exactly as many errors as it likes; otherwise it guesses at
    random. So for every u the probability of exactly u errors is at least nδ/r + (1 - nδ/r) P(Bin(r, 1/2) =
    u) > nδ/r. Hence a test by the number of errors that ever rejects (ε, δ)-DP, for any ε >= 0, rejects this
    mechanism with probability above nδ/r. In Fig. 7 r = n/5 and δ = 1/100, in Fig. 10 r = n and δ = 1/10.
    """
    n, r, share, at_random = symbols("n r share c", positive=True)
    identity((n * delta / r) * (r / n), delta, "a secret is in the revealed set with probability δ")
    identity(share + (1 - share) * at_random - share, (1 - share) * at_random, "more than nδ/r, if nδ/r < 1")
    identity((n / (n / 5)) * Fraction(1, 100), Fraction(1, 20), "in Fig. 7 nδ/r is 1/20, the significance level")
    identity((n / n) * Fraction(1, 10), Fraction(1, 10), "in Fig. 10, with δ = 1/10, it is 1/10")


def sharp_p_value_is_valid() -> None:
    """Let p(u) be the sharp bound of X4a, made nondecreasing in u as it is (larger u, larger event). {p(U) <=
    level} is {U <= u*} for the largest u* with p(u*) <= level, and its probability is at most p(u*) <= level.
    """
    flips_cost_at_most()


def ties_do_not_matter() -> None:
    """Given the outputs of all channels, the errors are independent, and that of channel i has a probability
    that depends on its score only. A rule that looks at outputs and indices (and its own coins) only breaks
    ties among equal scores, so the r released ones have the same scores, counted with multiplicity, whatever
    the rule. The generating function of the number of errors among them is the product of (1-e_i) + e_i z
    over them, and depends on nothing else. Likewise v_k is the mean error at the k-th smallest score.
    """
    z, e, other = symbols("z e other")
    factor = Function("g")
    rest = (1 - other) + other * z
    first, second = (1 - e) + e * z, (1 - e) + e * z
    identity(first * rest, second * rest, "two tied channels have the same factor: either may be released")
    identity(factor(e) * factor(other), factor(other) * factor(e), "the order of release does not matter")
    p, ratio = symbols("p ratio", positive=True)
    identity(p / (p * ratio + p), 1 / (1 + ratio), "the error is min/(P+Q), a function of the score")


# X10


def returned_epsilon_is_private() -> None:
    """The set A of all a with f(x) >= 1 - δ - e^a x for every x is closed, because the inequality is not
    strict and continuous in a, and with a it contains every larger a. So the infimum of A, if finite, belongs
    to A, and the supremum would always be infinite. Let M be f-DP, for all neighbours in both orders. For an
    event S the test that rejects on S has 1 - Q(S) >= f(P(S)) >= 1 - δ - e^a P(S), so Q(S) <= e^a P(S) + δ.
    If a < 0 this gives it for 0 too. If A is empty the answer is ∞ and says nothing; if δ < 1 - f(0) then A
    is empty, as x = 0 shows, so line 2 agrees with line 3. If A has no lower bound (δ = 1) the answer is 0.
    """
    a, more = symbols("a more", real=True)
    rise = symbols("r", nonnegative=True)
    identity(
        (1 - delta - exp(a) * x) - (1 - delta - exp(a + more) * x),
        x * exp(a) * (exp(more) - 1),
        "the line falls as a grows",
    )
    certain((x * exp(a) * rise).is_nonnegative, "so A contains every larger a")
    p, other = symbols("P Q")
    below = (1 - delta - exp(a) * p) - (1 - other)
    identity(other - (exp(a) * p + delta), below, "1 - Q(S) >= line says Q(S) <= e^a P(S) + δ")
    identity((1 - delta - exp(a) * x).subs(x, 0), 1 - delta, "at x = 0 no a helps: f(0) >= 1 - δ is needed")


def returned_epsilon_is_least() -> None:
    """Let f be symmetric. The mechanism that sends one bit through the base pair has T = f in one order and T
    = f^-1 = f in the other: it is f-DP. If it is (ε, δ)-DP with ε >= 0 then by X1 f(x) >= 1 - δ - e^ε x for
    all x, so ε is in A and ε >= max(0, inf A). By X10a that value suffices for every f-DP mechanism.
    """
    private_is_above_two_lines()
    returned_epsilon_is_private()


def rejecting_a_line_pair() -> None:
    """By X1, M is (ε, δ)-DP exactly if it is f_{ε,δ}-DP: rejecting one is rejecting the other. And Algorithm
    2 gives ε back: f >= 1 - δ - e^a x fails just right of x = 0 for a < ε (where f is its first line, as long
    as δ < 1) and holds for a = ε.
    """
    private_is_above_two_lines()
    gap = symbols("gap", positive=True)
    identity(
        (1 - delta - (t - gap) * x) - (1 - delta - t * x),
        gap * x,
        "with a smaller slope the line is above f for small x > 0",
    )
