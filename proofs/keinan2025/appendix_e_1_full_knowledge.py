"""Appendix E.1: guessers that know all other bits (Proposition E.2)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from sympy import Symbol, diff

from tightdp.claims import Correction, brute, exhaustive, grid, identity

from .count_lemmas import n, z
from .games import ZERO, Bits, Law, all_bits, tail
from .paper import paper
from .programs import xor_randomized_response


def all_right_or_all_wrong() -> None:
    """With a the XOR of the other bits, b the bit and w the noise, the output is a ^ b ^ w and the guess
    a ^ (a ^ b ^ w), which is b exactly if w = 0. The noise is the same for all n bits and 0 with probability p: all
    guesses are right, or none.

    For the reader: that the law of the noise is that of one randomized response.
    """
    exhaustive(product((0, 1), repeat=3), lambda a, b, w: ((a ^ (a ^ b ^ w)) == b) == (w == 0), "right iff w = 0")


def full_knowledge(n: int, lam: Fraction, law: Callable[[Bits], Law]) -> dict[int, Fraction]:
    """The law of V for the guesser XOR(S^-i) ^ O that knows all the other bits."""
    found: dict[int, Fraction] = {}
    for s in all_bits(n):
        for o, p in law(s).items():
            right = sum((sum(s) - s[i] + o) % 2 == s[i] for i in range(n))
            found[right] = found.get(right, ZERO) + p / 2**n
    return found


def all_or_none_right(n: int, lam: Fraction) -> dict[str, Any]:
    """The law of V, by the engine."""
    bound = xor_randomized_response.bind(n=n, lam=lam)
    found = full_knowledge(n, lam, lambda s: dict(bound.distribution(s).law))
    return {"e^ε": bound.privacy().exp_epsilon, "P(V = n)": found.get(n, ZERO), "P(V = 0)": found.get(0, ZERO)}


LAMS = ("1/3", "1/4", "1/10")


paper.claim(
    "K14",
    "Prop. E.2",
    "XOR followed by randomized response, guesser that knows all the other bits: with e^ε = (1 - λ)/λ the "
    "number right is n with probability p(ε) and 0 otherwise: `P(V = n) = e^ε/(1 + e^ε), P(V = 0) = 1/(1 + "
    "e^ε)`.",
    verdict="argued",
    instances=grid(n=range(1, 7), lam=LAMS),
    quick=6,
    check=all_or_none_right,
    proof=all_right_or_all_wrong,
)


def neither_dominates() -> None:
    """P(V >= 1) = p, and P(Bin >= 1) = 1 - (1-p)^n is larger by (1-p)(1 - (1-p)^(n-1)) > 0 for n >= 2 and
    0 < p < 1. P(V >= n) = p, and P(Bin >= n) = p^n is smaller by p(1 - p^(n-1)) > 0. Both have mean np.

    For the reader: that powers of a number between 0 and 1 fall.
    """
    p = Symbol("p", positive=True)
    identity(1 - (1 - p) ** n - p, (1 - p) * (1 - (1 - p) ** (n - 1)), "at least one right")
    identity(p - p**n, p * (1 - p ** (n - 1)), "all right")
    identity(n * p + 0 * (1 - p), n * p, "the mean of V")
    identity(diff((1 - p + p * z) ** n, z).subs(z, 1), n * p, "the mean of Bin(n, p)")


def dominates(n: int, lam: Fraction) -> list[dict[str, Any]]:
    """Both tails at every v, with the engine's probabilities."""
    bound = xor_randomized_response.bind(n=n, lam=lam)
    law = full_knowledge(n, lam, lambda s: {o: bound.probability(s, o) for o in (0, 1)})
    return [
        {"P(V >= v)": sum((q for k, q in law.items() if k >= v), ZERO), "P(Bin(n, p(ε)) >= v)": tail(n, 1 - lam, v)}
        for v in range(1, n + 1)
    ]


def dominates_again(n: int, lam: Fraction) -> list[dict[str, Any]]:
    """All guesses are right where the noise is 0, as the interpreter says, or none."""
    right = Fraction(brute.law(xor_randomized_response, (0,) * n, lam=lam)[0])
    return [{"P(V >= v)": right, "P(Bin(n, p(ε)) >= v)": brute.tail(n, 1 - lam, v)} for v in range(1, n + 1)]


def tails_of_both(n: int, lam: Fraction) -> dict[str, Any]:
    """The tails and the mean of V by the interpreter."""
    law = full_knowledge(n, lam, lambda s: brute.law(xor_randomized_response, s, lam=lam))
    return {
        "p": 1 - lam,
        "P(V >= n)": sum((q for v, q in law.items() if v >= n), ZERO),
        "P(V >= 1)": sum((q for v, q in law.items() if v >= 1), ZERO),
        "E V": sum((v * q for v, q in law.items()), ZERO),
    }


paper.claim(
    "K15",
    "Prop. E.2",
    "The law of K14, V = n with probability p(ε) and V = 0 otherwise, stochastically dominates Bin(n, p(ε)): for "
    "every v "
    "`P(V >= v) >= P(Bin(n, p(ε)) >= v)`.",
    brief=(
        "Neither law dominates the other: with n = 2, λ = 1/3, P(V >= 1) is 2/3, less than the binomial "
        "8/9, and P(V >= 2) is 2/3, more than 4/9."
    ),
    verdict="corrected",
    instances=grid(n=range(1, 5), lam=LAMS),
    check=dominates,
    brute=dominates_again,
    at={"n": 2, "lam": "1/3"},
    minimal="smallest n, then the λ of smallest denominator",
    breaks="Both laws have the same mean n·p(ε), so one could only dominate the other if they were "
    "equal. V puts more weight on n and also on 0.",
    corrected=Correction(
        "For `n >= 2` and 0 < ε < ∞ neither law dominates the other: `P(V >= n) = p > p^n`, `P(V >= 1) = p < 1 - "
        "(1 - p)^n`. Both have the mean `E V = n·p`.",
        check=tails_of_both,
        instances=grid(n=range(2, 6), lam=LAMS),
        verdict="argued",
        proof=neither_dominates,
    ),
    stands="The conclusion drawn from it, that full-knowledge auditing is not valid: that needs only "
    "that V is not dominated **by** Bin(n, p), and P(V = n) = p > p^n shows it. For p^n < β < p the "
    "reported bound is wrong with probability p.",
)
