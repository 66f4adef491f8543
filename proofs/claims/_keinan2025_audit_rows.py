"""K20-K25 of keinan2025: confidence bounds, validity with and without adaptivity, equality, symmetric
mechanisms.
"""

from __future__ import annotations

import _keinan2025_adaptive as adaptive
import _keinan2025_audit as audit
import _keinan2025_audit_proofs as proofs
import _keinan2025_checks as checks
import _keinan2025_count_proofs as count_proofs

from tightdp.claims import Correction, Paper, grid, seeds

SHAPES = ("noisy parity", "one noisy bit", "all but one value")
GUESSERS = ("all", "3/5", "certain", "first bit by the output", "as many as the output says")
BETAS = tuple(f"{k}/{m}" for m in range(2, 13) for k in range(1, m))


def add(paper: Paper) -> None:
    """Add the rows."""
    _clopper_pearson(paper)
    _valid(paper)
    _adaptive(paper)
    _classic(paper)
    _equality(paper)


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


def _adaptive(paper: Paper) -> None:
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
            "An adaptive guesser that makes at most r guesses has V dominated by Bin(r, p(ε)), for a number r that is "
            "fixed in advance or a function of the output alone. Without any condition E V <= p(ε)·E R.",
            verdict="proved",
            instances=[
                {**each, **rest} for rest in grid(n=(1, 2, 3), outputs=(2, 3), t=("1", "2", "5")) for each in seeds(4)
            ],
            quick=24,
            check=adaptive.adaptive_optimum_is_dominated,
            proof=proofs.adaptive_guesses_are_dominated,
        ),
        stands="Everything for guessers whose number of guesses does not depend on revealed bits (fixed in "
        "advance, or a function of the output), and the examples of E.3: their guesses are all right.",
    )
    paper.claim(
        "K22b",
        "Prop. E.5, validity at 95 %",
        "... and the lower bound reported at β = 1/20 exceeds ε with probability at most 1/20.",
        verdict="corrected",
        instances=grid(n=range(1, 11), beta=("1/20",)),
        check=adaptive.stopping_is_valid,
        brute=adaptive.stopping_is_valid_again,
        at={"n": 8, "beta": "1/20"},
        minimal="smallest n at β = 1/20, for the guesser that stops as soon as the reported ε is above 0",
        breaks="As above; a test that is looked at after every guess, and stopped when it rejects, exceeds its level.",
        corrected=Correction(
            "It does if it is computed with a number r that the guesser may not exceed, fixed in advance or a function "
            "of the output alone (n always will do), in place of the number of guesses made.",
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
    paper.row(
        "K22",
        "Prop. E.5",
        "The same for adaptive one-run auditing.",
        parts=("K22a", "K22b", "K22c", "K22d", "K22e"),
        readings="""
        - Guessers that may abstain depending on what was revealed, as Definition E.3 and the guessers of
          E.3.2 do: false.
        - The number of guesses fixed in advance, or chosen from the output alone: true, proved with the
          corrected statement.
        """,
    )


def _classic(paper: Paper) -> None:
    paper.claim(
        "K23a",
        "Lemma A.18",
        "The classic auditor's guesser that answers only when the loss equals ε is right with probability ε "
        "(as printed in the proof).",
        verdict="corrected",
        instances=grid(exp_epsilon=("2", "3", "4")),
        check=audit.right_with_probability_epsilon,
        brute=audit.right_with_probability_epsilon_again,
        at={"exp_epsilon": "2"},
        minimal="smallest whole e^ε",
        breaks="ε stands where p(ε) is meant, twice; from e^ε = 3 on ε exceeds 1 and is no probability.",
        corrected=Correction(
            "It is right with probability p(ε) = e^ε/(1 + e^ε).",
            verdict="proved",
            instances=grid(exp_epsilon=("2", "3", "4", "10")),
            check=audit.right_with_logistic,
            proof=proofs.sure_about_the_odds,
        ),
        stands="The lemma: with p(ε) the efficacy converges to what Lemma A.4 asks for.",
    )
    paper.claim(
        "K23b",
        "Lemma A.18, the guess",
        "... when it guesses 1 (the record y) at loss L = ln P(o|x)/P(o|y) = ε, it is right with probability p(ε).",
        verdict="corrected",
        extra=True,
        instances=grid(exp_epsilon=("2",)),
        check=audit.printed_direction,
        brute=audit.printed_direction,
        at={"exp_epsilon": "2"},
        minimal="smallest whole e^ε",
        breaks="As in K5: a positive loss speaks for x, which Algorithm 2 codes as -1.",
        corrected=Correction(
            "It has to guess -1; and per round it answers with probability (P(L=ε|x) + P(L=ε|y))/2, not P(L=ε|x).",
            verdict="proved",
            proof=proofs.sure_about_the_odds,
        ),
        readings="With the loss the other way round, L = ln P(o|y)/P(o|x), the printed guess 1 is right.",
    )
    paper.row(
        "K23",
        "Lemma A.18",
        "The classic auditor's guesser that answers only when the loss equals ε is right with probability ε.",
        parts=("K23a", "K23b"),
    )


def _equality(paper: Paper) -> None:
    paper.claim(
        "K24a",
        "Prop. C.8, 'if'",
        "Efficacy equals p(ε(M)) if some post-processing of M_Z is local randomized response with ε(M).",
        verdict="proved",
        instances=grid(mechanism=tuple(checks.ON_BITS), n=(1, 2, 3)),
        quick=11,
        check=checks.equality_is_response,
        proof=proofs.processing_gives_at_most_that,
    )
    paper.claim(
        "K24b",
        "Prop. C.8, 'only if'",
        "... and only if, where the post-processing may be randomized.",
        verdict="proved",
        instances=[{**each, **rest} for rest in grid(n=(1, 2), exp_epsilon=("1", "2", "5")) for each in seeds(10)],
        quick=20,
        check=checks.equality_at_random,
        proof=proofs.equality_forces_randomized_response,
        notes="The instances of K24a and K24b test both directions on programs and on random mechanisms. "
        "The printed proof goes through Lemma C.7, which needs ε > 0 (K24c); the argument here does not "
        "use it.",
    )
    paper.claim(
        "K24c",
        "Lemma C.7",
        "For every guesser G, the efficacy with G is p(ε(M)) if and only if G∘M_Z is local randomized response.",
        verdict="corrected",
        extra=True,
        instances=grid(n=(1, 2)),
        check=audit.constant_guesser_is_response,
        brute=audit.constant_guesser_is_response,
        at={"n": 1},
        minimal="smallest n",
        breaks="For ε = 0 a mean success probability of 1/2 does not force both error probabilities to be "
        "1/2: the two inequalities of ε-DP are then one and the same.",
        corrected=Correction("It holds for ε(M) > 0.", verdict="proved", proof=proofs.lemma_for_positive_epsilon),
        stands="Proposition C.8, for a randomized f: for ε = 0 it may toss coins. With f deterministic, as "
        "the words 'some f' could be read, 'only if' fails for ε = 0 by the same example and holds for ε > "
        "0.",
    )
    paper.row(
        "K24",
        "Prop. C.8",
        "Efficacy equals p(ε(M)) if and only if some post-processing of M_Z is local randomized response.",
        parts=("K24a", "K24b", "K24c"),
    )
    paper.claim(
        "K25a",
        "Cor. D.3",
        "A symmetric mechanism on bits has efficacy at most that of Count, for every number of guesses.",
        verdict="proved",
        instances=[{**each, "n": n} for n in (1, 2, 3, 4, 5) for each in seeds(12)],
        quick=24,
        check=checks.random_symmetric_stays_below,
        proof=count_proofs.symmetric_is_processed_count,
        notes="Symmetric: the law of the output does not change when the records are permuted. Pairs (0, 1) "
        "and (1, 0) may be mixed.",
    )
    paper.claim(
        "K25b",
        "Cor. D.3, small n",
        "Every deterministic symmetric mechanism on n <= 6 bits, that is every partition of the counts 0..n.",
        verdict="holds-on",
        extra=True,
        instances=grid(n=range(1, 7)),
        quick=4,
        check=checks.symmetric_stays_below,
    )
    paper.claim(
        "K25c",
        "Cor. D.3, programs",
        "The symmetric programs of this repository.",
        verdict="holds-on",
        extra=True,
        instances=grid(
            mechanism=checks.SYMMETRIC,
            n=(1, 2, 3, 5),
        ),
        quick=12,
        check=checks.symmetric_program_stays_below,
    )
    paper.row(
        "K25",
        "Cor. D.3",
        "A symmetric mechanism on bits has efficacy at most that of Count.",
        parts=("K25a", "K25b", "K25c"),
    )
