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
    stands="""
    Everything of the main line stands: the privacy of the bit-sum protocol, its accuracy, composition, and the
    lower bound for one message (C2 to C13 are proved here, for all parameters). One printed formula is wrong, the
    analyzer of the introduction (C1); Algorithm 1 has the right one. One step of a proof is off by one (C5b) and is
    repaired without changing the claim. The constants are generous: the exact computation needs far fewer clients
    that answer at random (C5c, C7b, C8c).
    """,
)
