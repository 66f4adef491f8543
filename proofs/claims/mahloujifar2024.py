"""The claims of mahloujifar2024 (auditing f-DP in one run), decided.

The text has two drafts; numbers of theorems are those of the later one (Theorem 9, Lemma 11, Algorithm 3).
t is e^ε, f̄ is 1 - f. The objects are in _mahloujifar2024_game.py, the checks in _mahloujifar2024_lemmas.py
and _mahloujifar2024_audit.py, the proofs in _mahloujifar2024_proofs.py.
"""

from __future__ import annotations

from fractions import Fraction

import _mahloujifar2024_audit as audit
import _mahloujifar2024_lemmas as lemmas
import _mahloujifar2024_proofs as proofs

from tightdp.claims import Correction, Paper, grid

paper = Paper(
    "mahloujifar2024",
    title="Auditing f-Differential Privacy in One Run",
    stands="""
    The main results stand: Theorem 9 holds for every guesser with at most c' guesses, and an audit with
    Algorithm 3 keeps its level when c' is fixed beforehand. As a linear program over all sets T, Theorem 9
    even gives the exact optimum for (ε,δ)-DP; Algorithm 3 attains it when all guesses are right (c = c') and
    only then. What is false is the lower half of Lemma 11 (for abstentions, and for k >= 3), which nothing
    else uses, and one formula in the proof of Lemma 15, which can be replaced. Two ways of use need care: the
    number of guesses must not be chosen after looking at the output (M6c), and in the reconstruction game f
    must speak of replacing an element (M2c).
    """,
)

# M1: approximate DP as f-DP

LEVELS = grid(delta=("0", "1/10", "1/4"), t=("1", "2", "3", "4"), level=("0", "1/10", "1/4", "1/2"))

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

TRADEOFFS = grid(t=("1", "3/2", "2", "3"), delta=("0", "1/4", "1/10"))

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

# M2, M3: Lemma 11

SMALL_GAMES = [(1, 2, 3), (2, 2, 3), (1, 3, 3), (2, 3, 2), (1, 4, 2)]
DRAWN = [{"seed": seed, "m": m, "k": k, "outputs": outputs} for m, k, outputs in SMALL_GAMES for seed in range(6)]

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

# M4: Proposition 12

paper.claim(
    "M4a",
    "Prop. 12, first half",
    "f'_k is increasing and concave.",
    verdict="proved",
    instances=grid(k=(2, 3, 4), outputs=(2, 3), seed=range(4)),
    quick=6,
    check=lemmas.rises_and_is_concave,
    proof=proofs.infimum_of_rising_lines,
    notes="It even rises strictly. The supremum is over 0 <= α <= x, where f((x-α)/(k-1)) makes sense.",
)
paper.claim(
    "M4b",
    "Prop. 12, second half",
    "f''_k is increasing and convex.",
    verdict="proved",
    extra=True,
    instances=grid(k=(2, 3, 4), outputs=(2, 3), seed=range(4)),
    quick=6,
    check=lemmas.rises_and_is_convex,
    proof=proofs.supremum_of_rising_lines,
    notes="Not strictly: it is 0 near 0 when δ > 0. It holds for the printed f''_k and for the corrected one (M3c).",
)
paper.row(
    "M4",
    "Prop. 12",
    "f'_k is increasing and concave.",
    parts=("M4a", "M4b"),
)

# M5: Theorem 9


def drawn_games(seeds: int) -> list[dict[str, object]]:
    """Random games of all three kinds, small first."""
    shapes = [("f-DP", 2, 2), ("f-DP", 3, 2), ("f-DP", 2, 3), ("(ε,δ)-DP", 2, 2), ("(ε,δ)-DP", 3, 2)]
    shapes += [("symmetric", 2, 2), ("symmetric", 3, 2), ("symmetric", 2, 3)]
    return [
        {"kind": kind, "seed": seed, "m": m, "k": k, "guesses": guesses}
        for kind, m, k in shapes
        for guesses in range(1, m + 1)
        for seed in range(seeds)
    ]


paper.claim(
    "M5a",
    "Thm 9",
    "For every set T of counts: Σ_{i in T} (i/m) p_i <= 1 - f((1/(k-1)) Σ_{i in T} ((c'-i+1)/m) p_{i-1}), "
    "for every f-DP mechanism on [k]^m and every guesser that makes at most c' guesses.",
    verdict="proved",
    instances=drawn_games(15),
    quick=drawn_games(1),
    check=audit.theorem_nine,
    proof=proofs.counted_twice,
    readings="The proof replaces *at most c'* by a guesser that marks exactly c' guesses, which would "
    "change the p_i. That is not needed: for exactly c' the counting is exact, for fewer the right side "
    "only grows. In the reconstruction game f must bound the replacement of one element (M2c).",
    notes="For k = 2, f(x) = 1 - δ - e^ε x and all T at once it says Σ_i max(0, i p_i - e^ε (c'-i+1) p_{i-1}) <= m δ.",
)

LINEAR_PROGRAMS = [
    {"m": m, "k": k, "guesses": guesses, "t": Fraction(t), "delta": Fraction(delta)}
    for m, k in ((1, 2), (2, 2), (3, 2), (2, 3))
    for guesses in range(1, m + 1)
    for t in ("1", "3/2", "3")
    for delta in ("0", "1/10")
]

paper.claim(
    "M5b",
    "Thm 9, beyond",
    "For (ε,δ)-DP Theorem 9 loses nothing: the largest P(at least v right) that its inequalities for all T "
    "allow is attained by an (ε,δ)-DP mechanism, for every v.",
    verdict="holds-on",
    extra=True,
    instances=LINEAR_PROGRAMS,
    quick=12,
    check=audit.program_is_exact,
    notes="Checked by a dual point of the linear program Σ_i max(0, a_i - e^ε b_i) <= δ (which is Theorem 9 "
    "for all T), and by a symmetric mechanism written out for all datasets. So what Algorithm 3 loses "
    "(M6b) it loses after Theorem 9.",
)
paper.row(
    "M5",
    "Thm 9",
    "For every set T of counts: Σ_{i in T} (i/m) p_i <= 1 - f((1/(k-1)) Σ_{i in T} ((c'-i+1)/m) p_{i-1}), "
    "p_i the probability of exactly i right guesses by an adversary who makes at most c'.",
    parts=("M5a", "M5b"),
)

# M6: Theorem 10

paper.claim(
    "M6a",
    "Thm 10",
    "When Algorithm 3 returns True for τ, c, c', no f-DP mechanism and guesser with at most c' guesses has "
    "at least c right guesses with probability above τ.",
    verdict="proved",
    instances=drawn_games(10),
    quick=drawn_games(1),
    check=audit.never_below,
    proof=proofs.invariant,
    notes="f̄⁻¹(r) has to be the least y with f̄(y) >= r (0 for r <= δ). The printed proof compares with >= "
    "and so needs that s rises strictly with τ, which it does (M8). Lemma 14's claim that r and h map into "
    "[0, 1] is not needed; r may exceed 1.",
)

GUARANTEES = grid(t=("1", "3/2", "2", "4"), delta=("0", "1/100", "1/20", "1/4"))
AGAINST = [{"m": m, "k": k, **each} for m, k in ((1, 2), (3, 2), (6, 2), (3, 3), (5, 4)) for each in GUARANTEES]

paper.claim(
    "M6b",
    "Thm 10 and the optimum",
    "For (ε,δ)-DP the least τ that Algorithm 3 refutes is at least the exact optimum of the linear program, "
    "with equality (where the optimum is below 1) exactly when c = c'.",
    verdict="holds-on",
    extra=True,
    instances=AGAINST,
    quick=AGAINST[:32],
    check=audit.at_least_the_optimum,
    notes="That it is at least the optimum is Theorem 10; equality for c = c' is proved in M7c.",
)

paper.claim(
    "M6c",
    "Def. 6, 8 and Thm 10",
    "The audit keeps its level when Algorithm 3 is run with the observed pair (c, c'), where the guesser "
    "chose the number c' of its guesses after seeing the output.",
    verdict="corrected",
    extra=True,
    instances=[
        {"m": 8, "delta": "1/16", "tau": "13/48", "guesses": 8, "correct": 6, "published": 3},
        {"m": 10, "delta": "1/50", "tau": "1/20", "guesses": 9, "correct": 8, "published": 6},
    ],
    check=audit.chosen_number,
    brute=audit.chosen_number_again,
    at={"m": 8, "delta": "1/16", "tau": "13/48", "guesses": 8, "correct": 6, "published": 3},
    minimal="fewest secrets found for ε = 0 and mechanisms of this form (none with m <= 7 and a small "
    "denominator of m δ); at the usual level 1/20 the second instance, with ten secrets",
    breaks="Theorem 10 bounds P(at least c right) for one c' at a time. Definition 8 and Algorithms 1, 2 "
    "hand the observed (c, c') to the evaluation; then the events of several c' add up, and the budget mδ "
    "can be spent on a c' where few revealed secrets suffice.",
    corrected=Correction(
        "The audit keeps its level for a c' that is fixed beforehand and never exceeded.",
        verdict="proved",
        instances=drawn_games(2),
        quick=drawn_games(1),
        check=audit.never_below,
        proof=proofs.invariant,
    ),
    readings="With a fixed number of guesses, as in the experiments, nothing is wrong. For ε-DP an observed "
    "c' does no harm: given the output and the other secrets every guess is right with probability at most "
    "q, so the number right is dominated by Bin(c', q) whatever c' is.",
    notes="At level 1/20: m = 10, δ = 1/50; 6 of 10 bits are published with probability 1/30, else 9 are "
    "guessed: rejected with probability 401/7680 = 0.0522.",
)

paper.claim(
    "M6d",
    "Alg. 3 and Prop. 3",
    "For (ε,δ)-DP Algorithm 3 returns the same for every τ < 1 with the one-sided f of Proposition 3 and "
    "with the symmetric f.",
    verdict="proved",
    extra=True,
    instances=grid(m=(2, 4, 7), k=(2, 3), seed=range(6)),
    quick=12,
    check=audit.same_decisions,
    proof=proofs.one_line_is_enough,
)
paper.row(
    "M6",
    "Thm 10",
    "When Algorithm 3 returns True, no f-DP mechanism gives at least c right guesses with probability above τ.",
    parts=("M6a", "M6b", "M6c", "M6d"),
)

# M7: tightness

paper.claim(
    "M7a",
    "Sec. 4, discussion",
    "For δ = 0 the binomial bound is tight: the largest P(at least v right of c') of all ε-DP mechanisms is "
    "P(Bin(c', e^ε/(e^ε + k - 1)) >= v), for every v, c', m, k.",
    verdict="proved",
    instances=grid(guesses=(1, 2, 3, 4, 10, 40), k=(2, 3), t=("1", "3/2", "3")),
    quick=18,
    check=audit.binomial_is_the_optimum,
    proof=proofs.binomial_is_best,
    readings="Tight means that some ε-DP mechanism X",
)

ALL_COUNTS = [
    {"guesses": guesses, "correct": correct, "t": Fraction(t)}
    for guesses in (1, 2, 3, 4, 6, 9)
    for t in ("1", "3/2", "3")
    for correct in range(1, guesses + 1)
]

paper.claim(
    "M7b",
    "Alg. 3 at δ = 0",
    "For δ = 0 Algorithm 3 is tight too: it refutes every τ above the binomial tail.",
    verdict="corrected",
    extra=True,
    instances=ALL_COUNTS,
    quick=12,
    check=audit.refuted_at_the_tail,
    brute=audit.refuted_at_the_tail_again,
    at={"guesses": 2, "correct": 1, "t": 1},
    minimal="fewest guesses, then smallest e^ε, then smallest c",
    breaks="Not at Theorem 9, which is an equality on all tails for randomized response, but at (6) and "
    "(7): α_c >= c τ/m holds with equality only if exactly c are right whenever at least c are.",
    corrected=Correction(
        "For δ = 0 the least τ that Algorithm 3 refutes is the binomial tail when c = c', and is larger "
        "than it when 1 <= c < c'.",
        verdict="proved",
        instances=ALL_COUNTS,
        quick=12,
        check=audit.tight_when_all_right,
        proof=proofs.tight_without_slack,
    ),
    notes="The paper does not claim this; Sec. 4 names the same equations as a source of looseness.",
)

paper.claim(
    "M7c",
    "Alg. 3 for c = c'",
    "When all guesses are right (c = c') Algorithm 3 is tight for every (ε,δ): the least τ that it refutes "
    "is min(1, q^c + mδ(1-q^c)/c), q = e^ε/(e^ε + k - 1), and an (ε,δ)-DP mechanism attains it.",
    verdict="proved",
    extra=True,
    instances=AGAINST,
    quick=AGAINST[:32],
    check=audit.equal_when_all_right,
    proof=proofs.tight_with_delta,
)

paper.claim(
    "M7d",
    "Alg. 3, line 5, and the code",
    "h[i] = (k-1) f̄⁻¹(r[i+1]) of the listing and h[i] = max(h[i+1], (k-1) f̄⁻¹(r[i+1])) of the code give "
    "the same answer for every f and every τ < 1; so both are valid, and neither is sharper.",
    verdict="proved",
    extra=True,
    instances=grid(m=(2, 4, 7), k=(2, 3), seed=range(6)),
    quick=12,
    check=audit.code_decides_alike,
    proof=proofs.maximum_never_decides,
    notes="The maximum can act only at i = c - 1, where h[c] is an upper bound of β_c and not a lower one; "
    "when it acts there, r and h stay as they are and nothing is refuted. The code compares r[0] + h[0] > "
    "c'/m, the listing >=; they differ where both are equal only.",
)
paper.row(
    "M7",
    "Sec. 4, discussion",
    "For δ = 0 the binomial bound is tight. (Is Algorithm 3 itself tight at δ = 0? Line 5 of the listing "
    "and the code's h[i] = max(h[i+1], ...) differ: are both valid, and which is sharper?)",
    parts=("M7a", "M7b", "M7c", "M7d"),
    readings="Only M7a is a claim of the paper; M7b to M7d answer the questions.",
)

# M8: Lemma 15

paper.claim(
    "M8a",
    "Lemma 15",
    "s_{i,j}(τ) = h_{i,j}(cτ/m, (c'-c)τ/m) + r_{i,j}(cτ/m, (c'-c)τ/m) is increasing in τ for i < j <= c.",
    verdict="proved",
    instances=grid(k=(2, 3), guesses=(1, 2, 3, 5), seed=range(3)),
    quick=9,
    check=audit.sum_rises,
    proof=proofs.grows_with_tau,
    notes="Strictly, and with the maximum of the code too.",
)

paper.claim(
    "M8b",
    "Lemma 15, proof",
    "r_{i,j}(α, β) = α - (j/(c'-j)) β + Σ_{z=i}^{j-1} λ_z h_{z,j}(α, β), λ_z = (z+1)/(c'-z-1) - z/(c'-z).",
    verdict="corrected",
    extra=True,
    instances=grid(guesses=(2, 3), correct=(1,), j=(1,), t=(1, 2), tau=("1/2",)),
    check=audit.unrolled_as_printed,
    brute=audit.unrolled_as_printed,
    at={"guesses": 2, "correct": 1, "j": 1, "t": 2, "tau": "1/2"},
    minimal="smallest c', then smallest e^ε",
    breaks="The sum is shifted by one: h_z is multiplied by d_{z+1} - d_z in place of d_z - d_{z-1}, d_z = "
    "z/(c'-z), and the term d_i h_i is missing. (The form (3) in the proof of Lemma 14 is right, except "
    "that d_j is not defined for j = c'.)",
    corrected=Correction(
        "r_{i,j}(α, β) = α - d_{j-1} β + d_i h_{i,j} + Σ_{z=i+1}^{j-1} (d_z - d_{z-1}) h_{z,j}, d_z = z/(c'-z).",
        verdict="proved",
        instances=grid(k=(2, 3), guesses=(1, 2, 3, 5), seed=range(3)),
        quick=9,
        check=audit.unrolled_rightly,
        proof=proofs.unrolled,
    ),
    stands="Lemma 15: with the corrected form its induction goes through, also for j = c'.",
)
paper.row(
    "M8",
    "Lemma 15",
    "s_{i,j}(τ) is increasing in τ.",
    parts=("M8a", "M8b"),
)

if __name__ == "__main__":
    paper.main()
