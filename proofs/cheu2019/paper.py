"""The claims of cheu2019 (distributed differential privacy via shuffling), decided.

Notation: λ (lam) of n clients answer at random on average, c is the number of ones of a dataset, L = ln(4/δ). A
guarantee at an irrational e^ε is checked at a rational just below it, where δ is at least as large.
"""

from __future__ import annotations

from tightdp.claims import Paper

paper = Paper(
    "cheu2019",
    title="Distributed Differential Privacy via Shuffling",
    words={"h": "|H|", "rounds": "T", "slack": "δ'"},
    left_out={
        "Thm 2.1-2.4, 4.1, 5.1, 5.3": (
            "statements with constants that are not named; those with constants are C5 to C9, C14, C15 and C17."
        ),
        "Cor. C.3, its conclusion": (
            "it speaks of n beyond some 10^12 (C16), where no instance can be listed; its arithmetic was not "
            "formalised."
        ),
        "Lemma 3.2, 3.6": "post-processing, and composition as in C11.",
        "Claim 5.2": "the encoder, C10.",
        "Thm 6.1, 6.4, D.1, Claims D.3, D.4, D.8, D.9": (
            "that a protocol stays accurate rests on C18c and on a choice of k and T with constants that are "
            "not named; the choice is not decided."
        ),
        "Thm 6.5, 6.7, Cor. 6.6, 6.8": "lower bounds of other papers, and what follows from them, up to constants.",
        "App. E": (
            "the inequalities of Chernoff, Hoeffding and Bernstein, which are proved where they are used (C5a, "
            "C7a, C9a, C15a)."
        ),
    },
    stands="""
    Everything of the main line stands: the privacy of the bit-sum protocol, its accuracy, composition, and the
    lower bound for one message (C2 to C13 are proved here, for all parameters). One printed formula is wrong, the
    analyzer of the introduction (C1); Algorithm 1 has the right one. One step of a proof is off by one (C5b) and is
    repaired without changing the claim. The constants are generous: the exact computation needs far fewer clients
    that answer at random (C5c, C7b, C8c).
    """,
)
