"""The claims of mahloujifar2024 (auditing f-DP in one run), decided.

The text has two drafts; numbers of theorems are those of the later one (Theorem 9, Lemma 11, Algorithm 3). t is e^ε,
f̄ is 1 - f.
"""

from __future__ import annotations

from tightdp.claims import Paper

paper = Paper(
    "mahloujifar2024",
    title="Auditing f-Differential Privacy in One Run",
    words={"guesses": "c'", "correct": "c", "silent": "the guesser always abstains", "published": "published secrets"},
    left_out={
        "Def. 1-8": "definitions; M1, M2c and M6c say how they have to be read.",
        "Lemma 13, 14": "steps of the proof of Theorem 10 (M6a), which are proved there in another form.",
        "Algorithm 4, k >= 3": "the mean number of right guesses is enclosed for k = 2 only (M9).",
        "Sec. 4, Fig. 1-9, App. B, C": (
            "experiments with Algorithm 4 and trained models; `tightdp figures` has the mean of Algorithm 4, and "
            "the audits of its 1,429 right guesses (Fig. 6, 7)."
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
