"""K23-K25 of keinan2025: the classic auditor, perfect efficacy, symmetric mechanisms."""

from __future__ import annotations

import _keinan2025_audit as audit
import _keinan2025_audit_proofs as proofs
import _keinan2025_checks as checks
import _keinan2025_count_proofs as count_proofs

from tightdp.claims import Correction, Paper, grid, seeds


def add(paper: Paper) -> None:
    """Add the rows."""
    _classic(paper)
    _equality(paper)


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
        "The classic auditor's guesser that guesses 1 (the record y) at loss L = ln P(o|x)/P(o|y) = ε is "
        "right with probability p(ε).",
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
        "Efficacy equals p(ε(M)) only if some post-processing of M_Z, which may be randomized, is local "
        "randomized response with ε(M).",
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
