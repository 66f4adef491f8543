"""Lemmas on validity. t = e^ε, p = t/(1+t), T(r, v) = P(Bin(r, p) >= v)."""

from __future__ import annotations

from sympy import Symbol, binomial, diff, symbols

from tightdp.claims import identity

t, a, b, x, y = symbols("t a b x y", positive=True)


p = t / (1 + t)


def one_more_guess() -> None:
    """Steps: a guess is right with probability at most p, whatever is known; T obeys Pascal's rule.

    For the reader: that W obeys this recursion, which is what makes the inequality carry over.
    """
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


def adaptive_guesses_are_dominated() -> None:
    """Let the guesser make at most r guesses. After some steps it knows the output and some bits; the next index
    and the guess are functions of those, so the guess is right with probability at most p, as without adaptivity.
    Let W(r, v) be the largest probability of v more right guesses with at most r left. Then W(r, v) is at most the
    largest of W(r, v) after an abstention and p W(r-1, v-1) + (1-p) W(r-1, v); by induction on the bits left
    W(r, v) <= T(r, v). All this is given the output, of which r may be a function. In particular it holds for a
    guesser that makes exactly r guesses. Also each guess adds at most p to the mean of V, so that E V <= p·E R
    without any condition on R.

    For the reader: the induction on the bits left, and that what is known never raises the odds above e^ε.
    """
    one_more_guess()
    identity(p * 1 + (1 - p) * 0, p, "the mean gain of a guess is at most p")


def given_their_number() -> None:
    """Let V given R = r be dominated by Bin(r, p) for every r. T(r, v) = P(Bin(r, p) >= v) rises with p, so the bound
    CPL(r, v), where the tail is β, exceeds p exactly if T(r, v) < β. T(r, v) falls in v: with v* the least v of that
    kind the event is V >= v*, of probability P(V >= v*|R = r) <= T(r, v*) < β; without such a v it never happens.
    Averaging over R keeps that: wrong with probability at most β.

    For the reader: continuity of T in p, by which CPL > p says T < β, and the mean over R.
    """
    w, q = symbols("w q", nonnegative=True)
    beta = Symbol("beta", positive=True)
    r, v = symbols("r v", integer=True, positive=True)
    term = binomial(r, v) * q**v * (1 - q) ** (r - v)
    identity(
        diff(term, q),
        r
        * (
            binomial(r - 1, v - 1) * q ** (v - 1) * (1 - q) ** (r - v)
            - binomial(r - 1, v) * q**v * (1 - q) ** (r - 1 - v)
        ),
        "the derivatives of the terms telescope, so that dT(r, v)/dq = r C(r-1, v-1) q^(v-1) (1-q)^(r-v) >= 0",
    )
    identity(beta - (w * (beta - x) + (1 - w) * (beta - y)), w * x + (1 - w) * y, "a mean of numbers below β is")
