"""K20 and K21 of keinan2025: confidence bounds, and validity."""

from __future__ import annotations

import _keinan2025_audit as audit
import _keinan2025_audit_proofs as proofs
import _keinan2025_checks as checks

from tightdp.claims import Correction, Paper, grid, seeds

SHAPES = ("noisy parity", "one noisy bit", "all but one value")
GUESSERS = ("all", "3/5", "certain", "first bit by the output", "as many as the output says")
BETAS = tuple(f"{k}/{m}" for m in range(2, 13) for k in range(1, m))


def add(paper: Paper) -> None:
    """Add the rows."""
    _clopper_pearson(paper)
    _valid(paper)


def _clopper_pearson(paper: Paper) -> None:
    paper.claim(
        "K20",
        "Lemma A.10",
        "|v/r - CPL(r,v,β)| <= sqrt(-ln β/(2r)) for all 1 <= v <= r and all β in (0,1), CPL the "
        "Clopper-Pearson lower bound.",
        verdict="corrected",
        instances=[{"r": r, "v": v, **each} for r in (1, 2) for v in range(1, r + 1) for each in grid(beta=BETAS)],
        check=audit.lower_bound_is_close,
        brute=audit.lower_bound_is_close,
        at={"r": 2, "v": 1, "beta": "9/10"},
        minimal="smallest r, then v, then the β of smallest denominator (up to 12)",
        breaks="Hoeffding's inequality P(Bin >= v) <= exp(-2(v - r·CPL)²/r) is used also where v is below "
        "the mean r·CPL, which happens for β near 1. There it bounds nothing.",
        corrected=Correction(
            "v/r - CPL <= sqrt(-ln β/(2r)) and CPL - v/r <= sqrt(-ln(1-β)/(2r)) for all β; so the printed "
            "inequality holds for β <= 1/2.",
            verdict="proved",
            instances=[
                {"r": r, "v": v, **each}
                for r in (1, 2, 3, 5, 9)
                for v in range(1, r + 1)
                for each in grid(beta=("1/100", "1/20", "1/2", "9/10", "99/100"))
            ],
            quick=15,
            check=audit.lower_bound_is_close_on_both_sides,
            proof=proofs.lower_bound_on_both_sides,
        ),
        stands="Every use with a confidence level of at least 1/2, and Lemma A.11 (convergence) for every "
        "β, by the corrected bound.",
        notes="By hand: P(Bin(2, 2/3) >= 1) = 8/9 <= 9/10, so that CPL >= 2/3 and the left side is at least "
        "1/6; the right side squared is ln(10/9)/4 < (1/9)/4 = 1/36. For v = 0 the set in Definition A.5 "
        "is empty.",
    )


def _valid(paper: Paper) -> None:
    paper.claim(
        "K21a",
        "Prop. A.9, Lemma A.7",
        "One-run auditing is valid: for an ε-DP mechanism the number right is stochastically dominated by "
        "Bin(r, p(ε)), given the number r of guesses, and the reported lower bound is wrong with "
        "probability at most β.",
        verdict="proved",
        instances=[
            *grid(mechanism=(*checks.PURE, "k-ary", "exponential"), n=(2, 3), guesser=GUESSERS),
        ],
        quick=14,
        check=audit.program_is_dominated,
        proof=proofs.guesses_are_dominated,
    )
    paper.claim(
        "K21b",
        "Prop. A.9, random mechanisms",
        "The same for mechanisms drawn at random from the ε-DP ones, with every deterministic guesser.",
        verdict="holds-on",
        extra=True,
        instances=[
            {**each, **rest} for rest in grid(n=(1, 2, 3), outputs=(2, 4), t=("1", "2", "5")) for each in seeds(5)
        ],
        quick=30,
        check=audit.random_is_dominated,
    )
    paper.claim(
        "K21c",
        "Prop. A.9, extremal mechanisms",
        "The same for symmetric extremal mechanisms, with every deterministic guesser.",
        verdict="holds-on",
        extra=True,
        instances=grid(shape=SHAPES, n=(1, 2, 3), t=("2", "5")),
        quick=12,
        check=audit.extremal_is_dominated,
    )
    paper.claim(
        "K21d",
        "Lemma A.7 to the letter",
        "If V is stochastically dominated by Bin(R, p(ε)), R random and not conditioned on, the reported "
        "bound is wrong with probability at most β.",
        verdict="corrected",
        extra=True,
        instances=grid(many=range(2, 8), beta=("1/3",)),
        check=audit.unconditional_dominance,
        brute=audit.unconditional_dominance,
        at={"many": 5, "beta": "1/3"},
        minimal="smallest number of guesses in the other case",
        breaks="The proof compares CPL(R, V) with CPL(R, V'), the same R in both; dominance of the laws of "
        "V and V' says nothing about them together with R.",
        corrected=Correction(
            "If V given R = r is dominated by Bin(r, p(ε)) for every r, the reported bound is wrong with "
            "probability at most β.",
            verdict="proved",
            proof=proofs.given_their_number,
        ),
        stands="Its use in Propositions A.8 and A.9, where the dominance is shown given the guesses.",
    )
    paper.claim(
        "K21e",
        "Lemma A.7, last line",
        "P(CPL <= p(ε)) = 1 - β for V ~ Bin(R, p(ε)).",
        verdict="corrected",
        extra=True,
        instances=grid(lam=("1/3",), beta=("1/2", "1/20")),
        check=audit.is_exactly_covered,
        brute=audit.is_exactly_covered,
        at={"lam": "1/3", "beta": "1/2"},
        minimal="one bit; the β of smallest denominator",
        breaks="Bin(r, p) takes finitely many values, so that the probability cannot equal every 1 - β.",
        corrected=Correction(
            "It is at least 1 - β, which is what validity needs.", verdict="proved", proof=proofs.given_their_number
        ),
    )
    paper.row(
        "K21",
        "Lemma A.7, Prop. A.9",
        "One-run auditing is valid: for an ε-DP mechanism the number right is stochastically dominated by "
        "Bin(r, p(ε)).",
        parts=("K21a", "K21b", "K21c", "K21d", "K21e"),
    )
