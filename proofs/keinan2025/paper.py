"""The claims of keinan2025 ("How Well Can Differential Privacy Be Audited in One Run?"), decided.

p(x) = e^x/(1+e^x) is the logistic function; V right guesses out of R.
"""

from __future__ import annotations

from tightdp.claims import Paper

paper = Paper(
    "keinan2025",
    symbols={
        "p(ε)": "e^ε/(1 + e^ε)",
        "ε(M)": "the least ε of which M is ε-DP",
        "S_i": "the secret bit of element i, a fair coin",
        "M_Z": "M on the dataset that the secret bits pick from the pair vector Z",
        "ℓ_i": "the loss ln P(o|S_i=-1)/P(o|S_i=1) of element i at the output o",
        "E_n": "the best mean share of right guesses when all n elements are guessed",
        "E_k": "the best mean share of right guesses when k elements are guessed",
        "AE-AC": "the mean over outputs and elements of the likelier bit's posterior",
        "AC": "the mean over outputs of the largest posterior of an element's bit",
        "ε_D": "the largest loss |ℓ_i(o)| over outputs and elements (distributional DP)",
        "CPL": "the Clopper-Pearson lower bound, the largest p with P(Bin(r, p) >= v) <= β",
        "ε'_β": "the reported bound, p^-1(CPL)",
        "TV": "the total variation distance",
    },
    title="How Well Can Differential Privacy Be Audited in One Run?",
    words={"many": "guesses in the other case", "s": "s", "c": "c", "N": "N", "threshold": "threshold"},
    left_out={
        "Def. 2.1, 3.1, 3.2, 4.1, 4.2, A.1-A.6, B.2, B.5, B.8, C.2, C.12, D.4, E.1, E.3, E.6, Alg. 1-3": (
            "definitions, the two auditors and DP-SGD; the claims use them, and K5, K16a, K22, K23b say where a "
            "reading had to be chosen."
        ),
        "Lemma 3.3, A.4": "the two forms of Lemma A.17 (K28) that the text announces.",
        "Prop. A.8": "the validity of classic auditing is K21a for one element per run, in independent runs.",
        "Lemma A.11": "the limit of K20's corrected bound; it is used, and stated, in K26.",
        "Cor. B.4, B.7, B.10": "restatements of Propositions B.3, B.6 and B.9 (K2 to K4) with A.17 (K28).",
        "Thm C.1, C.5": "the general form of Theorems 5.1 and 5.2 (K6, K7).",
        "Lemma C.6, D.1": "steps that K24b and K11 prove directly.",
        "Sec. 6, App. D.1, D.3": "DP-SGD, and averages of simulated runs of it, which have no exact value.",
        "Fig. 1, 2, 4-7": (
            "these averages; `tightdp figures` has their idealised part, one noisy count in sets without batches. It "
            "shows what Fig. 2 shows: at ε = 2 the bound from 100 guesses is larger with 4 or 5 elements per "
            "dimension than with 1."
        ),
        "Fig. 3, 8": (
            "the first is the curve of K10. `tightdp figures` has both exactly, and what Fig. 8 shows is so: with sets "
            "of 10 the mean bound from sure guesses is 4.19 with adaptivity and 0.20 without, with sets of one "
            "both are 3.49."
        ),
    },
    unsettled={
        "Adaptive audits for δ > 0": (
            "for δ = 0 one that may stop at any time is K32, one with a fixed number of guesses K22a. For δ > 0 the "
            "odds of a bit are not bounded on every output, and what is revealed may depend on that; no bound is "
            "known here."
        ),
    },
    stands="""
    The core stands: the efficacy of one-run auditing as a mean of posteriors, the three gaps and their examples
    (K1-K4), Theorems 5.1 and 5.2 (K6, K7a), the link to total variation (K8, K9), the values for Laplace noise and
    for counts (K10-K12), validity of one-run auditing (K21a), and that symmetric mechanisms are audited badly
    (K25).

    Two results are false as printed in a way that matters. Adaptive auditing is **not** valid if the guesser may
    decide from what was revealed whether to go on (K22): for a mechanism that outputs nothing, a guesser that stops
    when it is ahead makes the audit report ε > 0 at 95 % confidence too often from n = 8 on, and a
    maximum-likelihood guesser with a threshold breaks the stated dominance on an ordinary ε-DP mechanism (K22f). It
    is valid with a number of guesses that is fixed in advance, or taken to be n. The mechanisms of the paper's
    adaptive examples have ε = ∞, so that nothing wrong can be reported of them. And sets of size (1/2)·log2 n are
    audited tightly though they are not o(log n) (K13b); the threshold is exactly limsup s(n)/log2 n <= 1.

    The others are repairs: the sign of the guesser (K5), ties (K7b), the direction of a dominance that is not there
    (K15), a factor n in the expected number of sure guesses and the number 0.002 that follows from it (K17, K19), a
    confidence bound for β near 1 (K20), ε in place of p(ε) (K23), and ε = 0 in a lemma (K24c). None of them changes
    a conclusion of the paper.
    """,
)
