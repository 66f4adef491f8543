"""The claims of mahloujifar2024 (auditing f-DP in one run), decided.

The text has two drafts; numbers of theorems are those of the later one (Theorem 9, Lemma 11, Algorithm 3). t is e^ε,
f̄ is 1 - f.
"""

from __future__ import annotations

from tightdp.claims import Paper

paper = Paper(
    "mahloujifar2024",
    symbols={
        "m": "the number of secrets",
        "k": "the number of values of a secret",
        "c'": "the most guesses that are made",
        "u_1": "the first secret",
        "v_1": "the guess of the first secret, or ⊥",
        "[k]^m": "the set of all vectors of m secrets",
        "f̄": "1 - f, the largest P(T) at a given P'(T)",
    },
    title="Auditing f-Differential Privacy in One Run",
    words={"guesses": "c'", "correct": "c", "silent": "the guesser always abstains", "published": "published secrets"},
    left_out={
        "Thm 7, 8, 11, 12, Lemma 9, 12, 13, Prop. 10, of the earlier draft": (
            "Theorems 9, 10, 13 and 10, Lemmas 11, 14 and 15, and Proposition 12 of the later one."
        ),
        "Def. 1-8, Alg. 1, 2": "definitions and the two games; M1, M2c and M6c say how they have to be read.",
        "Thm 13": "Theorem 9 (M5a) for k = 2 and a guesser that answers everything.",
        "Lemma 14": "a step of the proof of Theorem 10 (M6a), which is argued there in another form.",
        "Algorithm 4, k >= 3, with abstentions": (
            "the order of certainty of k Gaussian coordinates has no short law; where every secret is guessed, as in "
            "the figures, the mean is enclosed for every k."
        ),
        "Fig. 1, 3-7": (
            "`tightdp figures` has them at the mean of Algorithm 4, which is enclosed (M9). With at most 1,500 guesses "
            "the bound by f-DP does not always improve with more canaries, as the text has it of Fig. 1: at standard "
            "deviation 1/2 it is 6.9 on 10^5 and 5.5 on 10^7, where all guesses are right."
        ),
        "Fig. 8-11, App. B, C": (
            "Fig. 3 to 7 again, with other numbers of canaries and other noise: the functions behind `tightdp figures` "
            "take any; 10^4 canaries in buckets are there."
        ),
        "Fig. 2, and Fig. 3 and 4 of the later draft": "experiments with trained models.",
    },
    unsettled={
        "The sharp bound for a chosen number of guesses, beyond (ε,δ)-DP and k = 2": (
            "M10 has it for one (ε,δ) and two options. For a curve f the sets of points that r guesses reach are no "
            "segments, and the mixture is a linear program over all r."
        ),
    },
    stands="""
    The main results stand: Theorem 9 holds for every guesser with at most c' guesses, and an audit with Algorithm 3
    keeps its level when c' is fixed beforehand. As a linear program over all sets T, Theorem 9 even gives the exact
    optimum for (ε,δ)-DP; Algorithm 3 attains it when all guesses are right (c = c') and only then. What is false is
    the lower half of Lemma 11 (for abstentions, and for k >= 3), which nothing else uses, and one formula in the
    proof of Lemma 15, which can be replaced. Two ways of use need care: the number of guesses must not be chosen
    after looking at the output (M6c), and in the reconstruction game f must speak of replacing an element (M2c).
    """,
)
