"""M1-M3 of mahloujifar2024: trade-off functions, and Lemma 11."""

from __future__ import annotations

import _mahloujifar2024_lemmas as lemmas
import _mahloujifar2024_proofs as proofs

from tightdp.claims import Correction, Paper, grid

LEVELS = grid(delta=("0", "1/10", "1/4"), t=("1", "2", "3", "4"), level=("0", "1/10", "1/4", "1/2"))


TRADEOFFS = grid(t=("1", "3/2", "2", "3"), delta=("0", "1/4", "1/10"))


SMALL_GAMES = [(1, 2, 3), (2, 2, 3), (1, 3, 3), (2, 3, 2), (1, 4, 2)]


DRAWN = [{"seed": seed, "m": m, "k": k, "outputs": outputs} for m, k, outputs in SMALL_GAMES for seed in range(6)]


def add(paper: Paper) -> None:
    """Add the rows."""
    paper.claim(
        "M1a",
        "Prop. 3, if",
        "A mechanism that is f-DP with 1 - f(x) = e^ε x + δ is (ε,δ)-DP.",
        verdict="proved",
        instances=LEVELS,
        quick=12,
        check=lemmas.events_within,
        proof=proofs.same_inequality,
    )
    paper.claim(
        "M1b",
        "Prop. 3, only if",
        "A mechanism that is (ε,δ)-DP is f-DP with 1 - f(x) = e^ε x + δ.",
        verdict="proved",
        instances=LEVELS,
        quick=12,
        check=lemmas.events_within,
        proof=proofs.same_inequality,
        notes="The earlier draft says *if and only if*, the later one only *if*; both directions hold.",
    )
    paper.claim(
        "M1c",
        "Prop. 3 with Remark 4",
        "The f of Proposition 3 is a trade-off function in the sense of Remark 4, which f-DP always implies: f "
        "maps [0,1] to [0,1], is convex, falls, and f(x) <= 1 - x.",
        verdict="corrected",
        extra=True,
        instances=TRADEOFFS,
        check=lemmas.stays_in_range,
        brute=lemmas.stays_in_range,
        at={"t": 1, "delta": "1/4"},
        minimal="smallest e^ε, then first δ (for ε = δ = 0 the printed f is a trade-off function)",
        breaks="f(1) = 1 - δ - e^ε is negative unless ε = δ = 0.",
        corrected=Correction(
            "f(x) = max(0, 1 - δ - e^ε x) is a trade-off function, and f-DP with it is (ε,δ)-DP.",
            verdict="proved",
            instances=TRADEOFFS,
            check=lemmas.clamped_stays_in_range,
            proof=proofs.clamped_is_a_tradeoff_function,
        ),
    )
    paper.claim(
        "M1d",
        "Prop. 3, symmetric f",
        "(ε,δ)-DP if and only if f-DP with the symmetric f(x) = max(0, 1 - δ - e^ε x, e^-ε (1 - δ - x)).",
        verdict="proved",
        extra=True,
        instances=[{"seed": seed, "outputs": outputs} for outputs in (2, 3, 4) for seed in range(8)],
        quick=8,
        check=lemmas.mirror_changes_nothing,
        proof=proofs.complement_gives_the_mirror,
        notes="Because neighbouring is symmetric, the one-sided f of Proposition 3 and the larger symmetric one "
        "are the same guarantee; Algorithm 3 decides the same with either (M6d).",
    )
    paper.row(
        "M1",
        "Prop. 3",
        "(ε,δ)-DP if and only if f-DP with 1 - f(x) = e^ε x + δ.",
        parts=("M1a", "M1b", "M1c", "M1d"),
        readings="Read with Definitions 1 and 2 alone it is the same inequality twice; read with Remark 4, f "
        "has to be cut off at 0 (M1c), which changes no guarantee.",
    )
    paper.claim(
        "M2a",
        "Lemma 11, upper",
        "P(E and u_1 = v_1) <= f'_k(P(E)), f'_k(x) = sup{α : α + f((x-α)/(k-1)) <= 1}, for every f-DP mechanism "
        "on [k]^m, guesser (which may abstain) and event E of the output.",
        verdict="proved",
        instances=DRAWN,
        quick=[each for each in DRAWN if each["seed"] < 2],
        check=lemmas.upper_half,
        proof=proofs.right_from_wrong,
    )
    paper.claim(
        "M2b",
        "Lemma 11, as the proof of Thm 9 uses it",
        "The same for events E of the output and of the other secrets u_2, ..., u_m (such as: i - 1 of the "
        "other guesses are right).",
        verdict="proved",
        extra=True,
        instances=grid(k=(2,), outputs=(2, 3), seed=range(6)) + grid(k=(3,), outputs=(2,), seed=range(2)),
        quick=6,
        check=lemmas.upper_half_given_others,
        proof=proofs.right_from_wrong_given_the_others,
        notes="Lemma 11 is printed for E ⊆ Θ only; the proof of Theorem 9 applies it to events that look at the "
        "other secrets. The proof of the lemma covers them.",
    )
    paper.claim(
        "M2c",
        "Lemma 11 with Def. 2 and Alg. 2",
        "In the reconstruction game (Algorithm 2: one of k canaries per set is put into the dataset) it "
        "suffices that the mechanism is f-DP in the sense of Definition 2, for datasets with |S Δ S'| = 1.",
        verdict="corrected",
        extra=True,
        instances=grid(t=(1, 2, 3)),
        check=lemmas.neighbours_of_definition_two,
        brute=lemmas.neighbours_of_definition_two,
        at={"t": 2},
        minimal="one secret with two options, smallest integer e^ε",
        breaks="Another value of u_1 takes one canary out and puts another in: |S Δ S'| = 2, where Definition 2 "
        "promises nothing. Lemma 11 and Theorem 9 are stated for M on [k]^m, where this is one replacement. "
        "(Membership, Algorithm 1, is not affected; the reconstruction experiments scale their noise by √2, as "
        "replacing unit vectors asks for.)",
        corrected=Correction(
            "It suffices that f bounds the replacement of one element; a mechanism that is f-DP for |S Δ S'| = "
            "1 satisfies this with f(1 - f) in place of f.",
            verdict="proved",
            instances=grid(t=(2, 3, 5)),
            check=lemmas.two_steps_hold,
            proof=proofs.two_steps,
        ),
    )
    paper.row(
        "M2",
        "Lemma 11, upper",
        "P(E and u_1 = v_1) <= f'_k(P(E)), f'_k(x) = sup{α : α + f((x-α)/(k-1)) <= 1}, alphabet size k.",
        parts=("M2a", "M2b", "M2c"),
    )
    paper.claim(
        "M3a",
        "Lemma 11, lower, k = 2",
        "k = 2, and u_1 is answered in E: P(E and u_1 = v_1) >= f''_2(P(E)), f''_2(x) = inf{α : f(α) + x - α <= 1}.",
        verdict="proved",
        instances=grid(m=(1, 2), outputs=(2, 3), seed=range(6)),
        quick=12,
        check=lemmas.lower_half_two,
        proof=proofs.wrong_from_right,
    )
    paper.claim(
        "M3b",
        "Lemma 11, lower, k = 2, as printed",
        "k = 2: P(E and u_1 = v_1) >= f''_2(P(E)) for every guesser A: Θ -> ([2] ∪ {⊥})^m.",
        verdict="corrected",
        instances=grid(k=(2,), t=(1, 2), silent=(False, True)),
        check=lemmas.randomized_by_engine,
        brute=lemmas.randomized_by_listing,
        at={"k": 2, "t": 1, "silent": True},
        minimal="one secret with two options, smallest e^ε",
        breaks="The proof turns Σ_{j ≠ i} P(E and v_1 = i and u_1 = j) into P(E and u_1 ≠ v_1) and this into "
        "P(E) - P(E and u_1 = v_1): outputs with v_1 = ⊥ are counted as wrong guesses, but are in no term of "
        "the sum.",
        corrected=Correction(
            "k = 2: P(E and u_1 = v_1) >= f''_2(P(E and v_1 ≠ ⊥)).",
            verdict="proved",
            instances=grid(m=(1, 2), k=(2,), outputs=(2, 3), seed=range(6)),
            quick=12,
            check=lemmas.lower_half_corrected,
            proof=proofs.wrong_from_right,
        ),
        readings="For guessers that answer the first secret it holds as printed (M3a).",
    )
    paper.claim(
        "M3c",
        "Lemma 11, lower, k = 3",
        "k = 3: P(E and u_1 = v_1) >= f''_3(P(E)), f''_k(x) = inf{α : (k-1) f(α) + x - α <= 1}.",
        verdict="corrected",
        instances=grid(k=(3,), t=(1, 2), silent=(False,)),
        check=lemmas.randomized_by_engine,
        brute=lemmas.randomized_by_listing,
        at={"k": 3, "t": 1, "silent": False},
        minimal="one secret with three options, smallest e^ε, E everything",
        breaks="In the last lines of the proof Σ_{i ≠ j} (1/k)(1 - P(E and v_1 = i | u_1 = j)) becomes 1 - P(E "
        "and u_1 ≠ v_1). There are k(k-1) ones with weight 1/k, so it is k - 1 - P(E and u_1 ≠ v_1); the two "
        "agree for k = 2 only.",
        corrected=Correction(
            "P(E and u_1 = v_1) >= inf{α : (k-1) f(α) + x - α <= k - 1} at x = P(E and v_1 ≠ ⊥), for every k.",
            verdict="proved",
            instances=[each for each in DRAWN if each["k"] > 2],
            quick=[each for each in DRAWN if each["k"] > 2 and each["seed"] < 2],
            check=lemmas.lower_half_corrected,
            proof=proofs.wrong_from_right,
        ),
        notes="With perfect privacy, f(x) = 1 - x, the printed bound is f''_k(x) = (k - 2 + x)/k; a blind guess "
        "is right with probability x/k. The corrected bound is x/k.",
    )
    paper.row(
        "M3",
        "Lemma 11, lower",
        "P(E and u_1 = v_1) >= f''_k(P(E)), f''_k(x) = inf{α : (k-1) f(α) + x - α <= 1}.",
        parts=("M3a", "M3b", "M3c"),
        stands="Theorem 9 and Algorithm 3: they use the upper half only.",
    )
