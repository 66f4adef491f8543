"""Appendix A.3 to A.5: bounds and estimates in the limit (Lemma A.12, Propositions A.13 to A.15, Lemmas A.16, A.17)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sympy import Symbol, oo, symbols
from sympy import log as symbolic_log
from sympy import sqrt as symbolic_sqrt

from tightdp.claims import Correction, exp, grid, identity, limit, log, positive, random_law, seeds, sqrt

from .appendix_a_3_confidence_bounds import lower_bound_on_both_sides
from .games import HALF, ONE, ZERO, tail
from .paper import paper
from .validity_lemmas import t


def clopper_pearson(r: int, v: int, beta: Fraction) -> tuple[Fraction, Fraction]:
    """An enclosure of CPL(r, v, β), by bisection of P(Bin(r, q) >= v) = β."""
    low, high = ZERO, ONE
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(r, middle, v) <= beta else (low, middle)
    return low, high


def bound_for_identity(n: int, beta: Fraction) -> list[dict[str, Any]]:
    """All n bits of the identity are guessed, and right: V = R = n. Both ends of an enclosure of CPL."""
    return [{"CPL": end} for end in clopper_pearson(n, n, beta)]


def bound_for_identity_again(n: int, beta: Fraction) -> dict[str, Any]:
    """P(Bin(n, q) >= n) = q^n is β at q = β^(1/n)."""
    return {"CPL": exp(log(beta) / n)}


def estimate_near_bound(r: int, v: int, beta: Fraction) -> list[dict[str, Any]]:
    """Both ends of an enclosure of CPL."""
    width = sqrt(-log(min(beta, 1 - beta)) / (2 * r))
    return [{"CPL": end, "width": width} for end in clopper_pearson(r, v, beta)]


def estimates_follow_bounds() -> None:
    """By K20 |v/r - CPL| is at most sqrt(-ln(min(β, 1-β))/(2r)), which tends to 0 as r grows. So if R tends to infinity
    in probability then V/R - CPL(R, V, β) tends to 0 in probability. p^-1 is uniformly continuous on [1/2, q] for
    every q < 1, where its derivative is 1/(x(1-x)); so the same holds for p^-1 of both as long as both stay there.

    For the reader: uniform continuity, and that convergence in probability passes through it.
    """
    lower_bound_on_both_sides()
    r, b = symbols("r b", positive=True)
    limit(symbolic_sqrt(b / (2 * r)), r, oo, 0, "the width of K20, b = -ln(min(β, 1-β))")
    x = Symbol("x", positive=True)
    identity(
        symbolic_log(x / (1 - x)).diff(x), 1 / (x * (1 - x)), "the derivative of p^-1(x) = ln(x/(1-x)), bounded below 1"
    )


WIDTHS = [
    {"r": r, "v": v, **each}
    for r, v in ((1, 1), (2, 1), (5, 3), (9, 4), (60, 30), (60, 60))
    for each in grid(beta=("1/100", "1/2", "9/10"))
]

paper.claim(
    "K26",
    "Lemma A.12",
    (
        "For every auditor with unlimited guesses, every mechanism, strategy and β in (0,1), p^-1(V/R) - "
        "ε'_β(V,R) tends to 0 in probability. For a mechanism that outputs its input all guesses are right, V = R, and "
        "p^-1(V/R) = ∞; the bound would have to be infinite, too: `CPL >= 1`."
    ),
    verdict="corrected",
    instances=grid(n=(1, 2, 10), beta=("1/20",)),
    check=bound_for_identity,
    brute=bound_for_identity_again,
    at={"n": 1, "beta": "1/20"},
    minimal="smallest number of bits; it is the same for every n",
    brief=(
        "The difference of the estimate and the bound is ∞ for a mechanism that outputs its input: V = R, "
        "p^-1(1) = ∞, and the bound stays finite. True of V/R and CPL, and of their p^-1 while they stay in "
        "[1/2, q] with q < 1."
    ),
    breaks="CPL(n, n, β) = β^(1/n) is below 1 for every n, so that ε' is finite. The last step uses continuity of "
    "p^-1, which ends at 1 (and at 0: a guesser that is always wrong has the "
    "estimate -∞, while ε' is a supremum of positive numbers).",
    corrected=Correction(
        "V/R - CPL(R, V, β) tends to 0 in probability: `|v/r - CPL| <= width`, where the width is "
        "sqrt(-ln(min(β, 1-β))/(2r)). So does p^-1(V/R) - ε'_β(V,R) where V/R stays in [1/2, q] for some q < 1.",
        verdict="argued",
        instances=WIDTHS,
        check=estimate_near_bound,
        proof=estimates_follow_bounds,
    ),
    stands="Propositions A.13 to A.15 and Lemma A.17, which need one side only, or convergence to ∞ (K27, K28).",
)


CLOSE = (
    (10, 10, "6/10", "1/4"),
    (50, 40, "1/2", "1/20"),
    (50, 50, "4/5", "1/20"),
    (200, 150, "3/5", "1/100"),
    (3, 3, "1/4", "1/2"),
    (400, 390, "189/200", "1/2"),
)


def bound_follows_estimate(r: int, v: int, q: Fraction, beta: Fraction) -> dict[str, Any]:
    """The upper end of an enclosure of CPL, against a value that V/R exceeds by the width of K20."""
    return {"CPL": clopper_pearson(r, v, beta)[1], "q": q}


def one_side_is_enough() -> None:
    """Let R tend to infinity in probability. By K26 V/R and CPL(R, V, β) come together, for every β. p rises strictly:
    p(ε + a) - p(ε + a/2) > 0 for finite ε.

    A.13: if P(V/R <= p(ε + a/2)) tends to 1 then so does P(CPL <= p(ε + a)), because CPL exceeds V/R by less than that
    gap with a probability that tends to 1; and the same with V/R and CPL exchanged. For ε = ∞ both hold always.

    A.14: a valid auditor has P(CPL > p(ε)) <= β for every β. If P(V/R > p(ε + a)) were above δ for infinitely many c,
    then P(CPL > p(ε)) would be above δ/2 for one of them, whatever β is: a contradiction at β = δ/2.

    A.15: for a valid auditor both are below p(ε) + a in the limit, by A.14. They tend to p(ε) in probability together,
    and p^-1 is continuous with values in [-∞, ∞]: estimates tend to ε exactly if the bounds do, for ε = ∞ too.

    For the reader: the passages to the limit in A.13, A.14 and A.15, that R tends to infinity throughout.
    """
    estimates_follow_bounds()
    s, gap = symbols("s gap", positive=True)
    p = t / (1 + t)
    identity(
        p.subs(t, s * (1 + gap)) - p.subs(t, s),
        s * gap / ((1 + s) * (1 + s * (1 + gap))),
        "p(ε + a) - p(ε), e^a = 1 + gap",
    )
    positive(p.diff(t), t, 0, None, "p rises strictly")


paper.claim(
    "K27",
    "Prop. A.13-A.15",
    (
        "Let the number R of guesses tend to infinity in probability. The auditor is asymptotically valid exactly if "
        "P(ε'_β <= ε(M) + a) tends to 1 for every a > 0 and β (A.13); if it is valid it is asymptotically valid (A.14, "
        "which K34 shows to need this R); and a valid one is asymptotically tight exactly if some strategy has ε'_β "
        "tending to ε(M) in probability for every β (A.15). What carries them: if `v/r - q > sqrt(-ln(β)/(2r))` "
        "then `CPL > q`."
    ),
    verdict="argued",
    instances=[{"r": r, "v": v, "q": q, "beta": beta} for r, v, q, beta in CLOSE],
    check=bound_follows_estimate,
    proof=one_side_is_enough,
    notes="The printed proofs go through Lemma A.12, which is too strong (K26); they need only its one-sided form.",
)


def one_guess_without_output(n: int, beta: Fraction) -> dict[str, Any]:
    """A mechanism without output, ε = 0, and one guess: how often the bound, and the estimate, are above 0."""
    wrong = sum((HALF for v in (0, 1) if v and clopper_pearson(1, v, beta)[0] > HALF), ZERO)
    return {"P(bound > 0)": wrong, "P(V/R <= p(a))": sum((HALF for v in (0, 1) if v < 1), ZERO)}


def one_guess_by_hand(n: int, beta: Fraction) -> dict[str, Any]:
    """A fair coin: a right guess has V/R = 1 and CPL = β, which is above 1/2 only for β > 1/2."""
    return {"P(bound > 0)": Fraction(1, 2) if beta > Fraction(1, 2) else Fraction(0), "P(V/R <= p(a))": Fraction(1, 2)}


paper.claim(
    "K34",
    "Prop. A.14, as printed",
    "Every valid auditor is asymptotically valid. For a mechanism without output, ε = 0, and one guess, however "
    "large n "
    "is, the auditor is valid if `P(bound > 0) <= β`; then its estimate would have to be at most any a > 0 with a "
    "probability that tends to 1: `P(V/R <= p(a)) > 1/2`.",
    verdict="corrected",
    instances=grid(n=(1, 100), beta=("1/20",)),
    check=one_guess_without_output,
    brute=one_guess_by_hand,
    at={"n": 1, "beta": "1/20"},
    minimal="one element; it is the same for every n",
    brief="A valid auditor that makes one guess, of a mechanism without output, has the estimate ∞ with probability "
    "1/2.",
    breaks="The proposition does not ask for unlimited guesses, which its proof uses: V/R is compared with its bound.",
    corrected=Correction(
        "It is if R tends to infinity in probability (K27): if `v/r - q > sqrt(-ln(β)/(2r))` then `CPL > q`.",
        verdict="argued",
        instances=[{"r": r, "v": v, "q": Fraction(q), "beta": Fraction(beta)} for r, v, q, beta in CLOSE],
        check=bound_follows_estimate,
        proof=one_side_is_enough,
    ),
)


def bounded_variable(seed: int, low: Fraction, high: Fraction) -> Iterator[dict[str, Fraction]]:
    """A random law on 0, 1/5, ..., 1, for every l among these values; seed 0 and 1 are two-point laws."""
    if seed < 2:
        law = {at: ONE / 2 if at in (0, 5 - seed) else ZERO for at in range(6)}
    else:
        law = random_law(seed, "x", 6)["x"]
    mean = sum((Fraction(at, 5) * p for at, p in law.items()), ZERO)
    for l_at in range(6):
        yield {
            "l": Fraction(l_at, 5),
            "E X": mean,
            "P(X < l - low)": sum((p for at, p in law.items() if Fraction(at, 5) < Fraction(l_at, 5) - low), ZERO),
            "P(X > l + high)": sum((p for at, p in law.items() if Fraction(at, 5) > Fraction(l_at, 5) + high), ZERO),
        }


def means_and_probabilities() -> None:
    """Cut [a, b] at l - ε_L and l + ε_H. With probability P_L X is below l - ε_L, with P_H above l + ε_H, at most b:
    E X <= P_L (l - ε_L) + (1 - P_L - P_H)(l + ε_H) + P_H b <= l + ε_H - P_L ε_L + P_H (b - l). If P_H tends to 0 for
    every ε_H and E X to l, then P_L ε_L <= ε_H + (l - E X) + P_H (b - l), and as ε_H is any number > 0, P_L tends to 0.
    Conversely E X >= (1 - P_L)(l - ε_L) + P_L a, which tends to l - ε_L if P_L tends to 0; and the upper bound with it
    gives the limit l.

    A.17 is this for X = V/R in [0, 1] and l = p(ε(M)): the condition is asymptotic validity, its conclusion tightness.

    For the reader: the choice of ε_H before ε_L, and the limits.
    """
    low, high, below, above, a, b, value = symbols("e_L e_H P_L P_H a b l", nonnegative=True)
    bound = below * (value - low) + (1 - below - above) * (value + high) + above * b
    identity(
        (value + high - below * low + above * (b - value)) - bound,
        (below + above) * high,
        "the printed bound is larger by (P_L + P_H) ε_H >= 0",
    )
    identity(
        (1 - below) * (value - low) + below * a - (value - low),
        -below * (value - low - a),
        "the lower bound: l - ε_L less a term that tends to 0 with P_L",
    )


paper.claim(
    "K28",
    "Lemma A.16, A.17",
    (
        "If X_n in [a, b] is at most l + e with a probability that tends to 1, for every e > 0, then it is "
        "at least l - e with a probability that tends to 1, for every e > 0, exactly if E X_n tends to l "
        "(A.16); so an asymptotically valid auditor with unlimited guesses is asymptotically tight exactly "
        "if its efficacy tends to p(ε(M)) (A.17). In numbers, for [0, 1] and any margins high and low: `E X <= "
        "l + high - low·P(X < l - low) + P(X > l + high)(1 - l)` and `E X >= (1 - P(X < l - low))(l - low)`."
    ),
    verdict="argued",
    instances=[{**each, **cut} for cut in grid(low=("1/100", "1/10"), high=("1/100", "1/10")) for each in seeds(10)],
    quick=20,
    check=bounded_variable,
    proof=means_and_probabilities,
)
