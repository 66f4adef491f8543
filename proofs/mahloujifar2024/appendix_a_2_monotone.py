"""Appendix A.2: Algorithm 3 as τ grows (Lemma 15)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from sympy import symbols

from tightdp.claims import Correction, grid, identity

from .games import Game, one_sided, recursion, tradeoff
from .lemmas import _weights, grows_with_tau
from .mechanisms import random_laws
from .paper import paper

TAUS = [Fraction(at, 24) for at in (1, 2, 5, 11, 12, 17, 23, 24)]


def sum_rises(seed: int, k: int, guesses: int) -> Iterator[dict[str, Fraction]]:
    """s_{i,j}(τ) at τ and the next of eight for all i < j <= c <= c' on the f of a random mechanism, listing and
    code."""
    curve, m = tradeoff(random_laws(seed, 1, k, 3), k), guesses + 1
    for correct in range(1, guesses + 1):
        game = Game(m, k, guesses, correct)
        for start, code in product(range(1, correct + 1), (False, True)):
            runs = []
            for tau in TAUS:
                from_here = correct * tau / m, (guesses - correct) * tau / m
                r, h = recursion(curve, game, start, *from_here, code)
                runs.append([a + b for a, b in zip(r, h, strict=True)])
            for before, after in pairwise(runs):
                pairs = zip(before, after, strict=True)
                yield from ({"s(τ)": low, "s(τ + h)": high} for low, high in pairs)


paper.claim(
    "M8a",
    "Lemma 15",
    "s_{i,j}(τ) = h_{i,j}(cτ/m, (c'-c)τ/m) + r_{i,j}(cτ/m, (c'-c)τ/m) is increasing in τ for i < j <= c: "
    "for h > 0 `s(τ) < s(τ + h)`.",
    verdict="argued",
    instances=grid(k=(2, 3), guesses=(1, 2, 3, 5), seed=range(3)),
    quick=9,
    check=sum_rises,
    proof=grows_with_tau,
    notes="Strictly, and with the maximum of the code too.",
)


def unrolled_as_printed(guesses: int, correct: int, j: int, t: Fraction, tau: Fraction) -> dict[str, Fraction]:
    """The alternative form of r_{0,j} in the proof of Lemma 15, at δ = 0, k = 2, m = c'."""
    alpha, beta = correct * tau / guesses, (guesses - correct) * tau / guesses
    r, h = recursion(one_sided(t, Fraction(0)), Game(guesses, 2, guesses, correct), j, alpha, beta)
    d = [Fraction(i, guesses - i) for i in range(j + 1)]
    weighted = sum(((d[z + 1] - d[z]) * h[z] for z in range(j)), Fraction(0))
    return {"r_{0,j}": r[0], "α": alpha, "β": beta, "c'": Fraction(guesses), "Σ λ_z·h_{z,j}": weighted}


def unrolled_rightly(seed: int, k: int, guesses: int) -> Iterator[dict[str, Any]]:
    """The corrected form for all i < j <= c' on the f of a random mechanism."""
    curve = tradeoff(random_laws(seed, 1, k, 3), k)
    d = [Fraction(at, guesses - at) for at in range(guesses)]
    for j in range(1, guesses + 1):
        alpha, beta = Fraction(j, 3 * guesses), Fraction(1, 7)
        r, h = recursion(curve, Game(guesses, k, guesses, j), j, alpha, beta)
        for at in range(j):
            yield {
                "r_{i,j}": r[at],
                "α": alpha,
                "β": beta,
                "d_{j-1}": d[j - 1],
                "d_i": d[at],
                "h_{i,j}": h[at],
                "i": at,
                "c'": guesses,
                "Σ (d_z - d_{z-1})·h_{z,j}": sum(((d[z] - d[z - 1]) * h[z] for z in range(at + 1, j)), Fraction(0)),
            }


def unrolled() -> None:
    """r_i - d_i h_i = r_{i+1} - d_i h_{i+1} = (r_{i+1} - d_{i+1} h_{i+1}) + (d_{i+1} - d_i) h_{i+1}. Adding up from
    i to j - 1 gives r_i = α - d_{j-1} β + d_i h_i + Σ_{z=i+1}^{j-1} (d_z - d_{z-1}) h_z, with all weights of h_i,
    ..., h_{j-1} not negative.

    For the reader: adding up the steps.
    """
    _weights()
    r, h = symbols("r_next h_next")
    d, further = symbols("d_i d_next")
    identity(r - d * h, (r - further * h) + (further - d) * h, "one step of the sum")


def unrolled_as_printed_again(guesses: int, correct: int, j: int, t: Fraction, tau: Fraction) -> dict[str, Fraction]:
    """j = 1 by hand: r_1 = α, h_1 = β, and line 5 gives h_0 = r_1/t; r_0 = r_1 + 0·(h_0 - h_1) = α."""
    if j != 1:
        raise ValueError("by hand only for j = 1")
    alpha, beta = tau * correct / guesses, tau * (guesses - correct) / guesses
    weight = Fraction(1, guesses - 1)  # λ_0 = 1/(c'-1) - 0
    return {"r_{0,j}": alpha, "α": alpha, "β": beta, "c'": Fraction(guesses), "Σ λ_z·h_{z,j}": weight * (alpha / t)}


paper.claim(
    "M8b",
    "Lemma 15, proof",
    "With λ_z = (z+1)/(c'-z-1) - z/(c'-z), r_{i,j} is α - (j/(c'-j)) β plus the sum of λ_z·h_{z,j} over z = i, ..., "
    "j - 1; for i = 0: `r_{0,j} = α - j/(c' - j)·β + Σ λ_z·h_{z,j}`.",
    verdict="corrected",
    extra=True,
    instances=grid(guesses=(2, 3), correct=(1,), j=(1,), t=(1, 2), tau=("1/2",)),
    check=unrolled_as_printed,
    brute=unrolled_as_printed_again,
    at={"guesses": 2, "correct": 1, "j": 1, "t": 2, "tau": "1/2"},
    minimal="smallest c', then smallest e^ε",
    breaks="The sum is shifted by one: h_z is multiplied by d_{z+1} - d_z in place of d_z - d_{z-1}, d_z = "
    "z/(c'-z), and the term d_i h_i is missing. (The form (3) in the proof of Lemma 14 is right, except "
    "that d_j is not defined for j = c'.)",
    corrected=Correction(
        "`r_{i,j} = α - d_{j-1}·β + d_i·h_{i,j} + Σ (d_z - d_{z-1})·h_{z,j}`, the sum over z = i + 1, ..., j - 1, "
        "where "
        "`d_i = i/(c' - i)`.",
        verdict="argued",
        instances=grid(k=(2, 3), guesses=(1, 2, 3, 5), seed=range(3)),
        quick=9,
        check=unrolled_rightly,
        proof=unrolled,
    ),
    stands="Lemma 15: with the corrected form its induction goes through, also for j = c'.",
)


paper.row(
    "M8",
    "Lemma 15",
    "s_{i,j}(τ) is increasing in τ.",
    parts=("M8a", "M8b"),
)
