"""The claims of oakley2024 (tight bounds by weighted model counting), decided.

Notation: λ (lam) is the probability that randomized response (RR) flips a bit, d the number of positions in which a
dataset and an output differ, c the number of ones of a dataset.
"""

from __future__ import annotations

from tightdp.claims import Paper

paper = Paper(
    "oakley2024",
    symbols={
        "RR": "randomized response, where each of n clients flips its bit with probability λ",
        "1^i 0^(n-i)": "the vector of i ones and then zeros",
        "1 - β": "the probability that the output is within α of the target",
    },
    title="Synthesizing Tight Privacy and Accuracy Bounds via Weighted Model Counting",
    left_out={
        "Def. 1-3, 5, Alg. 1, 2, 4": (
            "definitions; O1 and O15 say how Definition 3 and Algorithm 2 have to be read, Algorithm 1 lists "
            "probabilities, and Algorithm 4 is randomized response."
        ),
        "Thm 8": (
            "the inference set (11) is by definition what Algorithm 3 asks for on the accuracy set; its size is O11b."
        ),
        "Table 1": "the three entries are values of O6.",
        "Sec. 4.2.1, 4.3.1, 5.3.3, 5.4.2, running times": (
            "they are the sizes of the sets (O8, O9, O11) times the cost of a model count, which is not a "
            "number of the paper."
        ),
        "Table 2, times; Fig. 3(b)": "measurements on machines; the sizes in Table 2 are O12.",
        "Fig. 2, 3(a), 4": (
            "sizes of diagrams of another compiler, and tight values; `tightdp figures` has the sizes here beside the "
            "one that the text names, and the values exactly."
        ),
        "Fig. 1": "the drawing of a formula and its diagram, whose weights are O1.",
        "App. A, Alg. 5, truncated geometric above threshold": (
            "a program, `programs/above_threshold.py`, with exact answers beside it; the paper states no claim "
            "of it that could be checked."
        ),
    },
    stands="""
    The method stands: the weighted count of the formula is the law of the algorithm, the tight e^ε of randomized
    response is (1 - λ)/λ for every n, and its symmetry sets (n + 1 inputs, 2n triples) are right and could even be
    smaller. What is wrong as printed are slips that do not touch the method: two weights that are exchanged (O1),
    an input that is named as the worst and is the best (O5), sizes of sets (O11), 6^4 for 4^6 (O13), and a
    definition that does not ask the pairs of a privacy set to be neighbours (O15).
    """,
)
