"""Proofs for K20-K24 of keinan2025. Notation: t = e^ε, p = t/(1+t); T(r, v) = P(Bin(r, p) >= v)."""

from __future__ import annotations

from itertools import product

from sympy import Rational, Symbol, diff, integrate, log, solve, symbols

from tightdp.claims import certain, exhaustive, identity, positive
from tightdp.claims import log as certified_log

t, a, b, x, y = symbols("t a b x y", positive=True)
p = t / (1 + t)
HALF = Rational(1, 2)


# Clopper-Pearson


def hoeffding(upper: str) -> None:
    """Steps of P(Bin(r, q) >= xr) <= exp(-2r(x-q)²) for x >= q; q and 1-x exchanged give the lower tail."""
    q, z = symbols("q z", positive=True)
    bound = log(1 - q + q * z) - x * log(z)
    best = x * (1 - q) / (q * (1 - x))
    certain(
        (solve(diff(bound, z), z)[0] - best).equals(0),
        f"{upper}: the Chernoff bound (1-q+qz)/z^x is stationary at z = x(1-q)/(q(1-x))",
    )
    divergence = x * log(x / q) + (1 - x) * log((1 - x) / (1 - q))
    identity(diff(divergence, x, 2), 1 / (x * (1 - x)), "the second derivative of the divergence in x")
    identity(1 / (x * (1 - x)) - 4, (1 - 2 * x) ** 2 / (x * (1 - x)), "... is at least 4")
    certain(divergence.subs(x, q).equals(0), "the divergence is 0 at x = q")
    certain(diff(divergence, x).subs(x, q).equals(0), "... and so is its first derivative")
    identity(1 - q + q * best, (1 - q) / (1 - x), "1 - q + qz at that z")
    ln_x, ln_q, ln_not_x, ln_not_q = symbols("ln_x ln_q ln_not_x ln_not_q")
    identity(
        (ln_not_q - ln_not_x) - x * (ln_x + ln_not_q - ln_q - ln_not_x),
        -(x * (ln_x - ln_q) + (1 - x) * (ln_not_x - ln_not_q)),
        "... so the logarithm of the bound is minus the divergence",
    )
    identity(integrate(4 * (x - y), (y, q, x)), 2 * (x - q) ** 2, "so it is at least 2(x-q)² (Taylor's remainder)")


def lower_bound_on_both_sides() -> None:
    """Let c = CPL(r, v, β), v >= 1. P(Bin(r, q) >= v) is continuous in q and rises from 0 to 1, so it is β at
    q = c. Markov's inequality for z^Bin gives P(Bin(r, q) >= xr) <= ((1-q+qz)/z^x)^r for z >= 1, that is
    exp(-r·D(x|q)) at the best z, D the divergence, which is at least 2(x-q)² (at x = 1 by continuity).

    If c <= v/r, that with x = v/r, q = c gives β <= exp(-2r(v/r - c)²): v/r - c <= sqrt(-ln β/(2r)), and this
    side holds trivially if c > v/r. If c > v/r, then 1 - β = P(Bin(r, c) <= v - 1) <= P(Bin(r, c) <= v) <=
    exp(-2r(c - v/r)²), the same for failures: c - v/r <= sqrt(-ln(1-β)/(2r)). For β <= 1/2 the second is at
    most the first, since -ln(1-β) <= -ln β.
    """
    hoeffding("one tail")
    beta = Symbol("beta", positive=True)
    positive((1 - beta) - beta, beta, 0, "1/2", "1 - β > β for β < 1/2")


def counterexample_by_hand() -> None:
    """r = 2, v = 1, β = 9/10: P(Bin(2, 2/3) >= 1) = 8/9 <= 9/10, so CPL >= 2/3 and |v/r - CPL| >= 1/6; but
    -ln(β)/4 = ln(10/9)/4 < 1/36, as ln(1 + 1/9) < 1/9.
    """
    certain(1 - Rational(1, 3) ** 2 <= Rational(9, 10), "P(Bin(2, 2/3) >= 1) <= 9/10")
    from fractions import Fraction

    certain(certified_log(Fraction(10, 9)) / 4 < Fraction(1, 36), "the bound is below 1/6")


# validity


def one_more_guess() -> None:
    """Steps: a guess is right with probability at most p, whatever is known; T obeys Pascal's rule."""
    identity(
        t * a / (t * a + a) - (t * a - x) / ((t * a - x) + a),
        x / ((t + 1) * (t * a + a - x)),
        "a likelihood t·a - x against a leaves a posterior of at most p",
    )
    q, low, gain = symbols("q low gain", nonnegative=True)
    identity(
        (p * (low + gain) + (1 - p) * low) - (q * (low + gain) + (1 - q) * low),
        (p - q) * gain,
        "q W(r-1,v-1) + (1-q) W(r-1,v) rises with q, as W(r-1,v-1) = W(r-1,v) + gain",
    )


def guesses_are_dominated() -> None:
    """Fix the guesses, a function of the output, hence which r bits are guessed; go through these in any
    order. Given the output o and the bits before it, a bit has the posterior odds P(o|..,1)/P(o|..,0), at
    most t: both are means over the later bits of probabilities on datasets that differ in one record. So it
    is right with probability at most p, and W(r, v), the largest probability of v right guesses out of r,
    obeys W(r, v) <= p W(r-1, v-1) + (1-p) W(r-1, v): by induction W(r, v) <= T(r, v), for which this is an
    equality. This holds given the output, so given R = r.

    Validity: CPL(r, v) > p says T(r, v) < β, because T rises with p. Given R = r let v* be the least v with
    T(r, v) < β: the event is V >= v*, of probability at most T(r, v*) < β.
    """
    one_more_guess()
    left, right = symbols("left right", nonnegative=True)
    identity(
        (t * left - x) + (t * right - y),
        t * (left + right) - (x + y),
        "sums over the later bits keep the factor t",
    )


def adaptive_guesses_are_dominated() -> None:
    """Let the guesser make at most r guesses. After some steps it knows the output and some bits; the next
    index and the guess are functions of those, so the guess is right with probability at most p, as without
    adaptivity. Let W(r, v) be the largest probability of v more right guesses with at most r left. Then W(r,
    v) is at most the largest of W(r, v) after an abstention and p W(r-1, v-1) + (1-p) W(r-1, v); by induction
    on the bits left W(r, v) <= T(r, v). All this is given the output, of which r may be a function. In
    particular it holds for a guesser that makes exactly r guesses. Also each guess adds at most p to the mean
    of V, so that E V <= p·E R without any condition on R.
    """
    one_more_guess()
    identity(p * 1 + (1 - p) * 0, p, "the mean gain of a guess is at most p")


def adaptive_bound_is_valid() -> None:
    """V is dominated by Bin(r, p), r fixed in advance or a function of the output (K22a). The reported bound exceeds p
    exactly if T(r, V) < β, that is V >= v* for the least v* with T(r, v*) < β, of probability at most T(r, v*) < β.
    """
    adaptive_guesses_are_dominated()
    given_their_number()


def given_their_number() -> None:
    """Let V given R = r be dominated by Bin(r, p) for every r. Given R = r the reported bound exceeds p
    exactly if T(r, V) < β. With v* the least v of that kind, its probability is P(V >= v*|R = r) <= T(r, v*)
    < β. Averaging over R keeps that: wrong with probability at most β.
    """
    w = Symbol("w", nonnegative=True)
    beta = Symbol("beta", positive=True)
    identity(beta - (w * (beta - x) + (1 - w) * (beta - y)), w * x + (1 - w) * y, "a mean of numbers below β is")


def sum_of_independent() -> None:
    """Let Y1, Y2 be independent, and write the tails as P(X1 + X2 > s) = E g(X1), g(u) = P(X2 > s - u|X1 = u)
    <= P(Y2 > s - u) =: h(u). h rises with u, so E h(X1) <= E h(Y1) by dominance, and E h(Y1) = P(Y1 + Y2 > s)
    because Y1 and Y2 are independent. For a rising step function h = Σ c_j·1(u > u_j), c_j >= 0, dominance is
    used once for each step.
    """
    c, low, more = symbols("c low more", nonnegative=True)
    identity(c * (low + more) - c * low, c * more, "a step c·1(u > u_j) has the larger mean under Y1")


# the classic auditor


def sure_about_the_odds() -> None:
    """The guesser answers where P(o|x)/P(o|y) = t. There the posterior of x is P(o|x)/(P(o|x) + P(o|y)) =
    t/(1+t) = p(ε), and that of y 1/(1+t) = 1 - p(ε). For t = ∞, P(o|y) = 0 and x is certain. Answers come
    with probability (P(A|x) + P(A|y))/2 = P(A|x)·(1 + 1/t)/2 per round.
    """
    identity(t * a / (t * a + a), p, "the posterior of x")
    identity(a / (t * a + a), 1 - p, "the posterior of y")
    identity((a + a / t) / 2, a * (1 + 1 / t) / 2, "the probability of an answer")


# equality with p(ε)


def processing_gives_at_most_that() -> None:
    """If f∘M_Z is local randomized response, the guesser f is right on every bit with probability p(ε(M)), so
    E_n >= p(ε(M)); by Theorem 5.1 E_n <= p(ε(M_Z)) <= p(ε(M)). (A randomized f is no better than the best of
    the deterministic ones that it mixes.)
    """
    identity(t * a / (t * a + a), p, "randomized response is right with p")
    w, top = symbols("w top", nonnegative=True)
    identity(top - (w * (top - x) + (1 - w) * (top - y)), w * x + (1 - w) * y, "a mean is at most the largest")


def equality_forces_randomized_response() -> None:
    """Let T be the guesses of a maximum-likelihood guesser with E_n = p(ε(M)), ties decided by fair coins,
    and X_i = 1 if T_i = S_i. For every order of the bits the probability of X_i = 1 given T and all S_j, j <
    i, is at most p (as in K21; T is computed from the output), and its mean over everything is the
    probability that guess i is right, whose mean over i is p. A mean of numbers that are at most p is p only
    if all are p: P(X_i = 1|T, S_j for j < i) = p always. So X is independent of T, with independent
    Bernoulli(p) entries.

    For p > 1/2: S is uniform, and S is T with the flips 1 - X, so that the law of T, noised by independent
    flips, is uniform; with the characters χ of {0,1}^n, E χ(S) = (2p-1)^|χ|·E χ(T) = 0 for χ != 1, hence E
    χ(T) = 0 and T is uniform. Then (T, X) uniform and independent makes (S, X) so as well: given S = s, T is
    s with independent flips of probability 1-p. That is local randomized response. For p = 1/2, ε = 0, f may
    toss n fair coins.
    """
    w = Symbol("w", positive=True)
    identity(p - (w * (p - x) + (1 - w) * p), w * x, "one value below p with weight w > 0 makes the mean less")
    certain(diff(2 * p - 1, t).simplify().is_positive, "2p - 1 = (t-1)/(t+1) rises ...")
    identity((2 * p - 1).subs(t, 1), 0, "... and is 0 only for ε = 0, so the factor (2p-1)^|χ| is not 0 for ε > 0")
    identity(1 * p + (-1) * (1 - p), 2 * p - 1, "the mean of a flip's sign")
    exhaustive(product((0, 1), repeat=2), lambda s, flip: (s ^ flip) ^ flip == s, "flipping twice gives it back")


def lemma_needs_positive_epsilon() -> None:
    """Let guess i be 1 with probability a given S_i = 1 and -1 with probability b given S_i = -1. ε-DP says a
    <= t(1-b) and b <= t(1-a), whose sum is a + b <= 2p; a mean success of p needs equality in both, and then
    a = b = p if t > 1, because the difference of the two equalities is (a - b)(1 - t) = 0. For t = 1 both say
    a + b = 1, which leaves a free.
    """
    identity((t * (1 - b) - a) + (t * (1 - a) - b), (1 + t) * (2 * p - a - b), "the two slacks add up")
    identity((a - t * (1 - b)) - (b - t * (1 - a)), (a - b) - t * (a - b), "the difference of the equalities")
    identity((a - t * (1 - b)).subs(t, 1), a + b - 1, "for ε = 0 there is one condition only")
    identity((p - t * (1 - p)), 0, "a = b = p satisfies both")


def lemma_for_positive_epsilon() -> None:
    """If G∘M_Z is local randomized response its efficacy is p. Conversely let the efficacy be p(ε(M)), ε > 0:
    every guess has mean success p given the other bits, since it is at most p for each of their values. Let
    it be 1 with probability a given S_i = 1 and -1 with probability b given S_i = -1. ε-DP says a <= t(1-b)
    and b <= t(1-a), whose sum is a + b <= 2p; equality in the mean needs equality in both, and then a = b =
    p, because the difference of the two equalities is (a - b)(1 - t) = 0. So each guess is right with
    probability p given all bits; that the errors are independent follows as in K24b.
    """
    lemma_needs_positive_epsilon()
    equality_forces_randomized_response()
