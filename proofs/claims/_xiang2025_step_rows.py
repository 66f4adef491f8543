"""X5 and X6 of xiang2025: the steps of the proof of Theorem 1."""

from __future__ import annotations

import _xiang2025_proofs as proofs
import _xiang2025_steps as steps
from _xiang2025_audit import MECHANISMS, cells
from _xiang2025_one_bit_rows import DELTAS
from _xiang2025_theorem_rows import MINIMAL

from tightdp.claims import Correction, Paper, grid, seeds

PURE_STEP = (
    "If M is ε-DP, replacing the guess of bit 1 by that of an independent channel with f = f_{ε,0} (error "
    "1/(1+e^ε)), with the original scores, never lowers P(at most u errors), for every decoder."
)


def pure_step() -> Correction:
    """The step where it is right."""
    return Correction(
        PURE_STEP,
        verdict="proved",
        instances=[{**each, **rest} for rest in grid(n=(1, 2, 3), t=(1, 2)) for each in seeds(8)],
        quick=20,
        check=steps.pure_step_keeps_chance,
        proof=proofs.released_guesses_stay_uncertain,
    )


def add(paper: Paper) -> None:
    """Add the rows."""
    paper.claim(
        "X5a",
        "App. B.2, (31), r = n",
        "Replacing the guess of bit 1 by that of an independent optimal channel never lowers P(at most u "
        "errors) when all guesses are released.",
        verdict="corrected",
        instances=list(cells(3, MECHANISMS[:2], every=True)),
        check=steps.step_keeps_chance,
        brute=steps.step_keeps_chance,
        at={"n": 2, "r": 2, "u": 0, "delta": "1/2", "mechanism": "all-or-nothing"},
        minimal=MINIMAL,
        breaks="""
        Reason 1) for the inequality compares P(E_1 = 1 | B_{>1}) before and after. But the event asks for E_1 <=
        u - Σ_{i>1} E_i, and given B_{>1} the two sides depend on each other through the output of M. Reason 3)
        would need the comparison given Σ_{i>1} E_i as well, and there the original guess may be perfect.
        """,
        corrected=pure_step(),
    )
    paper.claim(
        "X5b",
        "App. B.2, (30) and (31), r < n",
        "... nor when r < n guesses are released by the original scores.",
        verdict="corrected",
        instances=list(cells(3, MECHANISMS[:1], every=False)),
        check=steps.step_keeps_chance,
        brute=steps.step_keeps_chance,
        at={"n": 2, "r": 1, "u": 0, "delta": "1/2", "mechanism": "independent"},
        minimal=MINIMAL,
        breaks="""
        The proof treats the case "a_1 is released" as if releasing did not change the law of E_1. The scores are
        there to release guesses that are likely right; the new guess does not know that score. So the step lowers
        the probability even where M **is** n independent optimal channels already, for which Theorem 1 holds with
        equality.
        """,
        corrected=pure_step(),
    )
    paper.row(
        "X5",
        "App. B.2, first step",
        "... in particular, replacing the guess of bit 1 by that of an independent optimal channel, while "
        "keeping the original scores for deciding what is released, never lowers P(at most u errors).",
        parts=("X5a", "X5b"),
        readings="With M independent over the bits and r = n it is true: there E_1 is independent of the other "
        "errors. With r < n not even that helps (X5b).",
    )
    paper.claim(
        "X6a",
        "App. B.2, last step",
        "If v_i <= w_i for all i then the sum of independent Bernoulli(w_i) is at most u with no larger "
        "probability than the sum of Bernoulli(v_i).",
        verdict="proved",
        instances=[{**each, "n": n} for n in (1, 2, 3, 5) for each in seeds(10)],
        quick=30,
        check=steps.sums_are_ordered,
        proof=proofs.chance_falls_with_the_error,
    )
    paper.claim(
        "X6b",
        "App. B.2, its use",
        "... so that, once all guesses come from independent channels with the decoder (13), releasing by the "
        "channels' own scores is at least as good as releasing by the scores of M.",
        verdict="corrected",
        extra=True,
        instances=[
            {"n": n, "r": r, "u": u, "delta": f"1/{k}"}
            for n in (1, 2, 3, 4)
            for r in range(1, n + 1)
            for u in range(r)
            for k in range(2, 11)
        ],
        check=steps.own_scores_are_best,
        brute=steps.own_scores_are_best_again,
        at={"n": 4, "r": 3, "u": 0, "delta": "1/7"},
        minimal="smallest n, then r, u, the δ of smallest denominator, for all-or-nothing with this release",
        breaks="""
        The proof conditions on (y_1, ..., y_n) and takes each error to be Bernoulli(1/(1+e^score)) whatever is
        released. But the scores of M depend on the bits too, and (13) guesses 0 at every tie P = Q: an M that
        sees the bits can have those tied guesses released that happen to be right.
        """,
        corrected=Correction(
            "It is true for symmetric f if ties P = Q are guessed by a fair coin: then release by the scores of "
            "M gives exactly P(Bin(r, e) <= u), e the mean error of a channel.",
            verdict="proved",
            instances=grid(n=(1, 2, 3, 4), r=(1,), u=(0,), delta=DELTAS)
            + [
                {"n": n, "r": r, "u": u, "delta": d}
                for n in (2, 3, 4)
                for r in range(2, n + 1)
                for u in range(r)
                for d in DELTAS
            ],
            quick=20,
            check=steps.coins_make_it_right,
            proof=proofs.filtering_by_other_scores,
        ),
    )
    paper.row(
        "X6",
        "App. B.2, last step",
        "If v_i <= w_i for all i then the sum of independent Bernoulli(w_i) is at most u with no larger "
        "probability than the sum of Bernoulli(v_i).",
        parts=("X6a", "X6b"),
        notes="The fact is true; where the proof uses it there is a small gap, which a coin closes.",
    )
