"""K22 of keinan2025: adaptive auditing, where it is valid and where not."""

from __future__ import annotations

import _keinan2025_adaptive as adaptive
import _keinan2025_audit_proofs as proofs

from tightdp.claims import Correction, Paper, grid, seeds

SHAPES = ("noisy parity", "one noisy bit", "all but one value")


def add(paper: Paper) -> None:
    """Add the rows."""
    paper.claim(
        "K22a",
        "Prop. E.5",
        "Adaptive one-run auditing: the number right is stochastically dominated by Bin(r, p(ε)), r the "
        "number of guesses made.",
        verdict="corrected",
        instances=grid(n=range(1, 6)),
        check=adaptive.stopping_is_dominated,
        brute=adaptive.stopping_is_dominated_again,
        at={"n": 2},
        minimal="smallest n, with a mechanism that outputs nothing",
        breaks="""
        The proof fixes the whole vector of guesses T = t and the order, and calls them functions of the
        output and the bits revealed so far. The later entries of T also depend on the bit that is being
        guessed: whether to go on after a right guess reveals it. So P(T = t, I = i | S_k, ...) is not
        post-processing of the mechanism, its ratio is not bounded by e^ε, and V given T = t is not dominated.
        A guesser that stops when it is ahead makes R small exactly when it was right.
        """,
        corrected=Correction(
            "An adaptive guesser that makes at most r guesses has V dominated by Bin(r, p(ε)), for a number r "
            "that is fixed in advance or a function of the output alone. Without any condition E V <= p(ε)·E R.",
            verdict="proved",
            instances=[
                {**each, **rest} for rest in grid(n=(1, 2, 3), outputs=(2, 3), t=("1", "2", "5")) for each in seeds(4)
            ],
            quick=24,
            check=adaptive.adaptive_optimum_is_dominated,
            proof=proofs.adaptive_guesses_are_dominated,
        ),
        stands="Everything for guessers whose number of guesses does not depend on revealed bits (fixed in "
        "advance, or a function of the output), and the examples of E.3: their mechanisms have ε = ∞, and no "
        "bound exceeds that.",
    )
    paper.claim(
        "K22b",
        "Prop. E.5, validity at 95 %",
        "In adaptive one-run auditing the lower bound reported at β = 1/20 exceeds ε with probability at most 1/20.",
        verdict="corrected",
        instances=grid(n=range(1, 11), beta=("1/20",)),
        check=adaptive.stopping_is_valid,
        brute=adaptive.stopping_is_valid_again,
        at={"n": 8, "beta": "1/20"},
        minimal="smallest n at β = 1/20, for the guesser that stops as soon as the reported ε is above 0",
        breaks="As above; a test that is looked at after every guess, and stopped when it rejects, exceeds its level.",
        corrected=Correction(
            "It does if it is computed with a number r that the guesser may not exceed, fixed in advance or a "
            "function of the output alone (n always will do), in place of the number of guesses made.",
            verdict="proved",
            proof=proofs.adaptive_bound_is_valid,
        ),
        notes="The error grows with n (K22c).",
    )
    paper.claim(
        "K22c",
        "Prop. E.5, more elements",
        "For a mechanism without output (ε = 0) the adaptive audit reports some ε > 0 at β = 1/20 with "
        "probability above 1/20 at n = 8, above 1/10 at n = 30, above 1/5 at n = 130, above 1/4 at n = 260.",
        verdict="holds-on",
        extra=True,
        instances=[
            {**each, "n": n}
            for n, least in ((8, "1/20"), (30, "1/10"), (130, "1/5"), (260, "1/4"))
            for each in grid(least=(least,))
        ],
        quick=2,
        check=lambda n, least: adaptive.stopping_error_at_five_percent(n) > least,
        notes="By the law of the iterated logarithm it tends to 1.",
    )
    paper.claim(
        "K22d",
        "Prop. E.5, corrected, extremal mechanisms",
        "The best adaptive guesser with at most r guesses stays below Bin(r, p(ε)) for symmetric extremal mechanisms.",
        verdict="holds-on",
        extra=True,
        instances=grid(shape=SHAPES, n=(1, 2, 3), t=("2", "5")),
        quick=9,
        check=adaptive.adaptive_extremal_is_dominated,
    )
    paper.claim(
        "K22e",
        "Lemma E.4",
        "For all X1, X2, Y1, Y2: if X1 is dominated by Y1 and X2 given X1 = x by Y2 for every x, then X1 + "
        "X2 is dominated by Y1 + Y2.",
        verdict="corrected",
        extra=True,
        instances=grid(p=("1/2",)),
        check=adaptive.dependent_sum,
        brute=adaptive.dependent_sum,
        at={"p": "1/2"},
        minimal="two fair coins X1, X2; Y2 = 1 - Y1",
        breaks="Nothing is said of Y1 and Y2 together.",
        corrected=Correction(
            "It holds if Y1 and Y2 are independent.", verdict="proved", proof=proofs.sum_of_independent
        ),
        stands="Its use with independent binomial and Bernoulli variables.",
    )
    paper.claim(
        "K22f",
        "Prop. E.5 for the guessers of E.3.2",
        "For the adaptive maximum-likelihood guesser with a threshold on the posterior and randomized response "
        "count (ε-DP with e^ε = 2), V is dominated by Bin(R, p(ε)), not given R.",
        verdict="corrected",
        extra=True,
        instances=grid(n=(1, 2, 3), threshold=("1/2", "11/20", "3/5")),
        check=adaptive.threshold_guesser_is_dominated,
        brute=adaptive.threshold_guesser_is_dominated_again,
        at={"n": 3, "threshold": "11/20"},
        minimal="smallest n, then threshold",
        breaks="As in K22a: what a revealed bit says decides whether the later bits reach the threshold. So it "
        "does not take a guesser that is made to cheat.",
        corrected=Correction(
            "V is dominated by Bin(n, p(ε)), n the number of elements.",
            verdict="proved",
            proof=proofs.adaptive_guesses_are_dominated,
        ),
    )
    paper.row(
        "K22",
        "Prop. E.5",
        "Adaptive one-run auditing is valid: for an ε-DP mechanism the number right is stochastically dominated "
        "by Bin(r, p(ε)).",
        parts=("K22a", "K22b", "K22c", "K22d", "K22e", "K22f"),
        readings="""
        - Guessers that may abstain depending on what was revealed, as Definition E.3 and the guessers of
          E.3.2 do: false.
        - The number of guesses fixed in advance, or chosen from the output alone: true, proved with the
          corrected statement.
        """,
    )
