"""Proofs that several sections use. t = e^ε, α and β the two errors of a test."""

from __future__ import annotations

from sympy import binomial, diff, symbols

from tightdp.claims import certain, exhaustive, identity

t, delta, alpha, beta, x = symbols("t delta alpha beta x", positive=True)


q = t / (1 + t)


def private_is_above_two_lines() -> None:
    """Let P, Q be the laws on two neighbours and let a test reject P in favour of Q with probability φ(y), so that
    α = Σ φP and β = 1 - Σ φQ. Because 0 <= φ <= 1, φ(Q - tP) is at most max(0, Q - tP), and the sum of that over y
    is the largest Q(S) - tP(S). So (ε, δ)-DP says 1 - β <= tα + δ for every test, the first line of f. The test
    1 - φ with P and Q exchanged gives 1 - α <= tβ + δ, the second. β >= 0 is the third. All three bounds fall in α,
    so that they also hold for the infimum over tests with error at most α. For the converse let φ be the indicator
    of an event S: β >= f(α) gives 1 - Q(S) >= 1 - δ - tP(S).

    For the reader: that tests are mixtures of events, and the infimum over tests.
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


def flips_cost_at_most() -> None:
    """**No mechanism does better.** Let N be the number of right ones among the r released guesses, p_i = P(N = i),
    v = r - u. Fix the other bits and a value a of bit j, and let φ(y) be a number s_i >= 0 where bit j is released
    with guess a and i - 1 of the other released guesses are right, 0 elsewhere. (ε, δ)-DP gives E[φ | b_j = a] - t
    E[φ | b_j = 1 - a] <= δ max s. If b_j = a then N = i there, otherwise N = i - 1 and bit j is wrong. Averaging
    over a and the other bits and adding over j (each outcome with N = i has i right released bits and r - i wrong
    ones):

    Σ_i s_i (i p_i - t (r - i + 1) p_{i-1}) <= n δ max s, for all s_1, ..., s_r >= 0.

    (That is the theorem one_run in `proofs/coq/OneRun.v`, proved in Coq.)

    Let b_i = P(Bin(r, t/(1+t)) = i), T_i = P(Bin >= i), T = T_v, and s_i = (T_{max(i,v)} - T·T_i)/(i b_i) >= 0.
    Then T + i s_i - t (r - i) s_{i+1} is 1 for i >= v and 0 for i < v, so that adding up gives P(N >= v) <= T + n δ
    max s. The largest s_i is s_v = T(1 - T)/(v b_v): for i >= v, (1-T) T_i/(i b_i) falls with i, because
    b_{k+1}/b_k falls in k and with it every b_{i+k}/b_i; for i <= v, T (1 - T_i)/(i b_i) = T·Σ_j b_{i-j}/(i b_i)
    rises with i, as b_{i-1}/(i b_i) and every b_{i-j}/b_{i-1} rise.

    For the reader: that averaging makes a mechanism symmetric at no cost, and weak duality of linear programs.
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


def released_guesses_stay_uncertain() -> None:
    """Fix the output y and all bits but one, i. For an ε-DP mechanism the two values of b_i have posterior odds of
    at most t, so that every guess of b_i is wrong with conditional probability at least e = 1/(1+t), given y, the
    other bits and so the errors of all other released guesses. Replacing the released errors one after the other by
    independent Bernoulli(e) variables therefore never lowers P(at most u errors): given the rest it rises as the
    probability of this error falls. In the end there are r independent ones. And n independent channels with
    f = f_{ε,0} have exactly that: all scores are ln t, every guess is wrong with probability e, whichever are
    released.

    For the reader: replacing the released errors one after the other.
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
    """Let W be Bernoulli(w), independent of S. P(S + W <= u) = (1-w) P(S <= u) + w P(S <= u-1) = P(S <= u) - w
    P(S = u): it falls as w grows. Changing v_i into w_i >= v_i, one i after the other, never raises it.

    For the reader: changing one v_i after the other.
    """
    w, v, more = symbols("w v more", nonnegative=True)
    below, here = symbols("below here", nonnegative=True)  # P(S <= u-1), P(S = u)
    identity(
        (1 - w) * (below + here) + w * below,
        (below + here) - w * here,
        "P(S + W <= u) = P(S <= u) - w P(S = u)",
    )
    identity(-v * here - (-(v + more) * here), more * here, "it falls by (w - v) P(S = u) >= 0")
