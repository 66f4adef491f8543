"""K1-K10 of keinan2025: the gaps, the guesser, the efficacy and the notions above it."""

from __future__ import annotations

import _keinan2025_checks as checks
import _keinan2025_gap_proofs as proofs

from tightdp.claims import Correction, Paper, grid, seeds

LAMS = ("1/3", "1/4", "1/10")
NAMES = tuple(checks.ON_BITS)


def add(paper: Paper) -> None:
    """Add the rows."""
    _gaps(paper)
    _guesser(paper)
    _efficacy(paper)


def _gaps(paper: Paper) -> None:
    paper.claim(
        "K1",
        "Prop. B.1",
        "Local randomized response with parameter ε: efficacy without abstention is p(ε) for every n.",
        verdict="proved",
        instances=grid(n=(*range(1, 8), 30), lam=LAMS),
        check=checks.response_efficacy,
        proof=proofs.randomized_response_keeps_each_bit,
    )
    paper.claim(
        "K2a",
        "Prop. B.3",
        "Name-and-shame (one uniformly chosen record is output): the efficacy without abstention tends to "
        "1/2 for every pair vector; also with abstentions, as long as the number of guesses is unlimited.",
        verdict="proved",
        instances=grid(n=range(1, 7), vector=("alike", "overlapping", "apart")),
        check=checks.shame_efficacy,
        proof=proofs.name_and_shame_reveals_one,
        notes="Exactly: E_n = 1/2 + 1/(2n) for **every** pair vector, and E_k <= 1/2 + 1/(2k). The printed "
        "proof says that the exposed element is guessed right for sure and the others by chance; when "
        "several pairs contain the output nobody knows which element was exposed, but the sum is the same.",
    )
    paper.claim(
        "K2b",
        "Prop. B.3, finite n",
        "E_k = 1/2 + 1/(2n) for every k if all pairs are alike; E_k = 1/2 + 1/(2k) if they tell the records apart.",
        verdict="proved",
        instances=grid(n=range(1, 9)),
        check=checks.shame_special_values,
        proof=proofs.name_and_shame_reveals_one,
        extra=True,
        notes="In general E_k = 1/2 + Σ_o m(o)/(2n) · 1/(2·max(k, m(o))), m(o) the number of pairs with the record o.",
    )
    paper.row(
        "K2",
        "Prop. B.3",
        "Name-and-shame (one uniformly chosen record is output): the efficacy without abstention tends to "
        "1/2 for every pair vector.",
        parts=("K2a", "K2b"),
    )
    paper.claim(
        "K3",
        "Prop. B.6",
        "All-or-nothing with probability p: efficacy is 1/2 + p/2 for every n and every number of guesses k.",
        verdict="proved",
        instances=grid(n=range(1, 7), p=("1/10", "1/3", "9/10")),
        check=checks.nothing_efficacy,
        proof=proofs.all_or_nothing_reveals_all,
        notes="A guesser that makes no guess at all on the output null would always be right; the paper "
        "rules that out (r > 0, Section 2).",
    )
    paper.claim(
        "K4",
        "Prop. B.9",
        "XOR: efficacy is 1/2 for every n >= 2 and every guesser.",
        verdict="proved",
        instances=grid(n=range(2, 13)),
        check=checks.parity_efficacy,
        proof=proofs.parity_hides_each_bit,
        notes="For n = 2 the 64 guessers that make a guess on either output are all listed. Only the mean "
        "is that of fair coins, not the law: for even n the guess 0 for every bit is always right on an "
        "even number of bits after the output 0.",
    )


def _guesser(paper: Paper) -> None:
    paper.claim(
        "K5",
        "Sec. 5",
        "The maximum-likelihood guesser as printed (ℓ_i(o) = ln P(o|S_i=-1)/P(o|S_i=1); guess sign(ℓ_i)) "
        "has the best efficacy.",
        verdict="corrected",
        instances=grid(n=(1, 2), lam=LAMS),
        check=checks.printed_sign,
        brute=checks.printed_sign_again,
        at={"n": 1, "lam": "1/3"},
        minimal="smallest n, then the λ of smallest denominator",
        breaks="The loss is positive where -1 is the likelier value, and its sign is then 1, the other one. "
        "The printed guesser is always right where the best one is wrong: without abstention its efficacy "
        "is 1 - E_n, the least there is. Besides, sign(0) = 0 is an abstention, so that a guesser that is "
        "to take all n guesses (Thm 5.1) needs a rule for ties.",
        corrected=Correction(
            "T_i = -sign(ℓ_i), with ties guessed either way, has the best efficacy; for k guesses on the k "
            "largest |ℓ_i|.",
            verdict="proved",
            instances=seeds(20, n=1) + seeds(20, n=2),
            quick=20,
            check=checks.likelier_sign,
            proof=proofs.likelier_value_is_best,
        ),
        stands="A slip of notation: the proofs use the larger posterior, which is what the corrected guesser attains.",
    )


def _efficacy(paper: Paper) -> None:
    paper.claim(
        "K6",
        "Thm 5.1",
        "E_n = AE-AC <= AC <= p(ε_D) <= p(ε(M_Z)) for every mechanism and pair vector.",
        verdict="proved",
        instances=grid(mechanism=NAMES, n=(1, 2, 3)),
        quick=grid(mechanism=NAMES, n=(2,)),
        check=checks.is_ordered,
        proof=proofs.efficacy_is_below_the_notions,
        notes="E_n is the best efficacy of all guessers (K5), not that of the printed guesser.",
    )
    paper.claim(
        "K7a",
        "Thm 5.2",
        "The same with k guesses, for every k: E_k, the best efficacy of a guesser that commits to at least "
        "k guesses, is the mean over outputs of the mean of the k largest posteriors, and E_k <= AC <= "
        "p(ε_D) <= p(ε(M_Z)).",
        verdict="proved",
        instances=seeds(20, n=1) + seeds(20, n=2),
        quick=seeds(10, n=2),
        check=checks.is_ordered_at_random,
        proof=proofs.efficacy_is_below_the_notions,
        notes="In the instances every guesser of a random mechanism with two outputs is listed, abstentions included.",
    )
    paper.claim(
        "K7b",
        "Sec. 5.1, before Thm 5.2",
        "The guesser that sets τ to the k-th largest |ℓ_i(o)| and guesses where |ℓ_i(o)| >= τ attains E_k.",
        verdict="corrected",
        extra=True,
        instances=[{"n": n, "k": k} for n in (1, 2, 3, 4) for k in range(1, n + 1)],
        check=checks.printed_threshold,
        brute=checks.printed_threshold_again,
        at={"n": 3, "k": 2},
        minimal="smallest n, then k; no mechanism has one with n < 3, as a tie at rank k needs k >= 2 and k < n",
        breaks="With ties at τ it makes more than k guesses, and the additional ones are no better than the "
        "worst of the k. Name-and-shame with pairs that tell the records apart: one loss is infinite, the "
        "others are 0 = τ.",
        corrected=Correction(
            "Guessing exactly k bits with the largest |ℓ_i(o)|, ties broken in any way, attains E_k.",
            verdict="proved",
            proof=proofs.likelier_value_is_best,
        ),
        stands="Theorem 5.2 itself; and the guesser wherever no tie lies at τ.",
    )
    paper.row("K7", "Thm 5.2", "The same with k guesses, for every k.", parts=("K7a", "K7b"))
    paper.claim(
        "K8",
        "Prop. C.4",
        "E_n = 1/2 + (1/2)·mean over i of the total variation distance between the outputs given S_i = -1 and S_i = 1.",
        verdict="proved",
        instances=grid(mechanism=NAMES, n=(1, 2, 3, 4)),
        quick=grid(mechanism=NAMES, n=(1, 2)),
        check=checks.efficacy_is_distance,
        proof=proofs.efficacy_is_mean_distance,
    )
    paper.claim(
        "K9",
        "Lemma C.3",
        "p(|ℓ(o)|) = max(P,Q)/(P+Q); E_P[p(|ℓ|)] + E_Q[p(|ℓ|)] = 1 + TV(P,Q).",
        verdict="proved",
        instances=seeds(40, outputs=2) + seeds(40, outputs=5),
        quick=20,
        check=checks.share_and_distance,
        proof=proofs.larger_share_and_distance,
        notes="The first identity is for outputs with P + Q > 0; elsewhere ℓ is 0/0 and neither side is defined.",
    )
    paper.claim(
        "K10",
        "Prop. C.13",
        "Local Laplace with scale 2/ε on inputs -1, 1: efficacy without abstention is 1 - exp(-ε/2)/2.",
        verdict="proved",
        proof=proofs.laplace_by_integration,
        notes="The outputs are real numbers, so there are no instances for the engine: the integral is symbolic.",
    )
