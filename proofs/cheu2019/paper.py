"""The claims of cheu2019 (distributed differential privacy via shuffling), decided.

Notation: λ (lam) of n clients answer at random on average, c is the number of ones of a dataset, L = ln(4/δ). A
guarantee at an irrational e^ε is checked at a rational just below it, where δ is at least as large.
"""

from __future__ import annotations

from tightdp.claims import Paper

paper = Paper(
    "cheu2019",
    symbols={
        "P_{n,λ}": "the bit-sum protocol: each of n clients sends a fair bit with probability λ/n, else its own",
        "C_λ": "the sum with a random set of clients that answer at random, each of them with probability λ/n",
        "C_H": "the sum with the clients of the set H answering at random",
        "C_s": "the sum with a random set of s clients answering at random",
        "R_{k,T}": "what Algorithm 7 makes of the randomizer R with T draws and the factor k",
        "E_r": "the randomized rounding of a number in [0, 1] to r bits",
        "Good": "the messages v with P(R(x) = v)/P(R(c) = v) between e^(-2ε) and e^(2ε)",
    },
    title="Distributed Differential Privacy via Shuffling",
    words={"h": "|H|", "rounds": "T", "slack": "δ'"},
    left_out={
        "Def. 3.1, 3.4, 3.5, Alg. 2-4, 6, 7": (
            "definitions; Algorithms 2 to 4 are C_λ, C_H and C_s of C3, C5 and C6, Algorithm 6 is the protocol of C14 "
            "and C15 and a program, as is Algorithm 7, of C13 and C18 to C22."
        ),
        "Thm 2.1": (
            "a mean error O((1/ε)·log(n/δ)) for δ above a constant times ε·n·2^(-εn). C23 is narrower: an error with "
            "probability 1 - 2β, and δ above 8e^(-0.03·n^(1/4)); for smaller δ nothing is decided here."
        ),
        "Thm 2.2, 4.1": "statements with constants that are not named; those with constants are C8 and C9.",
        "Thm 2.3, 2.4": "C12, and a lower bound of another paper with C22.",
        "Lemma 3.2, 3.6": "post-processing, and composition as in C11.",
        "Claim 6.3": "the local analyzer shuffles first, so that the outputs have one law; C22 uses it.",
        "Thm 6.5, 6.7": "lower bounds of other papers for local protocols, with a constant that is not named; see C26.",
        "Table 1": (
            "orders of growth. Those of this paper are C23, C24 and C26; what it says of many messages for selection "
            "and histograms comes without a proof."
        ),
        "App. E, Thm E.2, E.3": (
            "the inequalities of Hoeffding and Bernstein, which are argued where they are used (C5a, C9a, C15a)."
        ),
    },
    unsettled={
        "The exact constant of Lemma 4.8": (
            "64L/ε² is printed, 8L/ε² suffices in the first case (C27), 4L/ε² and 5L/ε² do not (C27, C28), and nothing "
            "below 7.57L/ε² can for all n, δ and ε < 1. Between 7.57 and 8 it is not decided; the second case, "
            "λ = n - ε·n^(3/2)/sqrt(432L), is only compared with the least λ (C8c)."
        ),
    },
    stands="""
    Everything of the main line stands: the privacy of the bit-sum protocol, its accuracy, composition, and the
    lower bound for one message (all that is printed but C1 and C29 is argued here, for all parameters). One printed
    formula is wrong, the analyzer of the introduction (C1); Algorithm 1 has the right one. One of the inequalities of
    Appendix E does not hold for small β (C29). One step of a proof
    is off by one (C5b) and is repaired without changing the claim. The constants are generous: the exact
    computation needs far fewer clients that answer at random (C5c, C7b, C8c), and in the first case of Lemma
    4.8 an eighth of its λ is argued to suffice (C27).
    """,
)
