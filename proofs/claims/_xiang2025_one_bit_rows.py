"""X1-X3 of xiang2025: one bit, and the two lines of (ε,δ)-DP."""

from __future__ import annotations

import _xiang2025_one_bit as one_bit
import _xiang2025_proofs as proofs

from tightdp.claims import Correction, Paper, grid, seeds

DELTAS = ("1/2", "1/4", "1/10")


def add(paper: Paper) -> None:
    """Add the rows."""
    paper.claim(
        "X1",
        "Sec. 2.1",
        "(ε,δ)-DP is f-DP with f(y) = max(0, 1 - δ - e^ε y, e^-ε (1 - δ - y)).",
        verdict="proved",
        instances=[{**each, **pair} for pair in grid(t=(1, 2, 3), delta=("0", "1/6", "1/2")) for each in seeds(12)],
        quick=36,
        check=one_bit.pair_is_private_iff_above,
        proof=proofs.private_is_above_two_lines,
        notes="Both directions. It needs that neighbours are taken in both orders, as Definitions 1 and 4 do. "
        "The checked instances are random pairs of laws, some private and some not.",
    )
    paper.claim(
        "X2a",
        "Sec. 6.2",
        "The four-output randomized response (right bit (1-δ)e^ε/(1+e^ε), wrong bit (1-δ)/(1+e^ε), and an "
        "output that reveals the bit with probability δ) is (ε,δ)-DP, and its trade-off function (over "
        "randomized tests) is exactly f.",
        verdict="proved",
        instances=grid(n=(1, 2, 3), t=(1, 2, 5), delta=("0", "1/10", "1/2", "1")),
        quick=grid(n=(1, 2), t=(2,), delta=("0", "1/10")),
        check=one_bit.curve_of_four_outputs,
        proof=proofs.four_outputs_attain,
    )
    paper.claim(
        "X2b",
        "Def. 2 to the letter",
        "The same, with the tests R: Y -> {0,1} that Definition 2 prints, which are not randomized.",
        verdict="corrected",
        extra=True,
        instances=grid(t=(1, 2), delta=("0", "1/2"), alpha=("1/2", "1/3")),
        check=one_bit.deterministic_equals_f,
        brute=one_bit.deterministic_equals_f,
        at={"t": 1, "delta": 0, "alpha": "1/3"},
        minimal="smallest t, then smallest δ, then the α of smallest denominator",
        breaks="On finitely many outputs the errors α of deterministic tests are finitely many, so that T is a "
        "staircase. The sentence after Definition 2 says that T is convex and continuous, which is true of "
        "randomized tests.",
        corrected=Correction(
            "The staircase lies on or above f and touches it at the kinks of f.",
            verdict="holds-on",
            instances=grid(t=(1, 2, 3), delta=("0", "1/10", "1/2"), alpha=("0", "1/10", "1/3", "1/2", "3/4")),
            quick=15,
            check=one_bit.deterministic_is_above,
        ),
    )
    paper.row(
        "X2",
        "Sec. 6.2",
        "The four-output randomized response (right bit (1-δ)e^ε/(1+e^ε), wrong bit (1-δ)/(1+e^ε), and an "
        "output that reveals the bit with probability δ) is (ε,δ)-DP, and its trade-off function is exactly "
        "that f.",
        parts=("X2a", "X2b"),
        notes="Trade-off functions are meant with randomized tests, as in the work of Dong, Roth and Su that "
        "the paper builds on; everything below reads them so.",
    )
    paper.claim(
        "X3a",
        "Lemma 2, App. B.1",
        "For one bit through a pair with trade-off function f the least error is (a + f(a))/2 where -1 is a "
        "subgradient of f at a, attained by the likelihood-ratio rule.",
        verdict="proved",
        instances=seeds(40, outputs=3) + seeds(20, outputs=5),
        quick=30,
        check=one_bit.least_error_is_at_slope_one,
        proof=proofs.least_error_of_a_bit,
        notes="For asymmetric f too; every decoder is listed in the checked instances.",
    )
    paper.claim(
        "X3b",
        "Lemma 2, after (14)",
        "There is such an a in (0, 1), for every trade-off function.",
        verdict="corrected",
        extra=True,
        instances=grid(h=(1, "1/2", "1/3")),
        check=one_bit.has_inner_point,
        brute=one_bit.has_inner_point,
        at={"h": "1/2"},
        minimal="the h of smallest denominator in f(x) = h(1-x)",
        breaks="The lemma takes the minimum to be inside (0, 1); for an asymmetric f it may be at the end a = 0.",
        corrected=Correction(
            "There is such an a in [0, 1]; and in (0, 1), at the fixed point f(a) = a, if f is symmetric and f(0) > 0.",
            verdict="proved",
            proof=proofs.where_slope_is_minus_one,
        ),
        stands="Lemma 2 with a in [0, 1]; for the symmetric f of the paper nothing changes.",
    )
    paper.row(
        "X3",
        "Lemma 2",
        "For one bit through a pair with trade-off function f the least error is (a + f(a))/2 where -1 is a "
        "subgradient of f at a, attained by the likelihood-ratio rule.",
        parts=("X3a", "X3b"),
    )
