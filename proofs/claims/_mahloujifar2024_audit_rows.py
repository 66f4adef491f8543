"""M4-M8 of mahloujifar2024: Theorems 9 and 10, Algorithm 3, and how sharp they are."""

from __future__ import annotations

from fractions import Fraction

import _mahloujifar2024_audit as audit
import _mahloujifar2024_lemmas as lemmas
import _mahloujifar2024_proofs as proofs

from tightdp.claims import Correction, Paper, grid


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


LINEAR_PROGRAMS = [
    {"m": m, "k": k, "guesses": guesses, "t": Fraction(t), "delta": Fraction(delta)}
    for m, k in ((1, 2), (2, 2), (3, 2), (2, 3))
    for guesses in range(1, m + 1)
    for t in ("1", "3/2", "3")
    for delta in ("0", "1/10")
]


GUARANTEES = grid(t=("1", "3/2", "2", "4"), delta=("0", "1/100", "1/20", "1/4"))


AGAINST = [{"m": m, "k": k, **each} for m, k in ((1, 2), (3, 2), (6, 2), (3, 3), (5, 4)) for each in GUARANTEES]


ALL_COUNTS = [
    {"guesses": guesses, "correct": correct, "t": Fraction(t)}
    for guesses in (1, 2, 3, 4, 6, 9)
    for t in ("1", "3/2", "3")
    for correct in range(1, guesses + 1)
]


def add(paper: Paper) -> None:
    """Add the rows."""
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
        notes="Not strictly: it is 0 near 0 when δ > 0. It holds for the printed f''_k and for the corrected one "
        "(M3c).",
    )
    paper.row(
        "M4",
        "Prop. 12",
        "f'_k is increasing and concave.",
        parts=("M4a", "M4b"),
    )
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
        notes="For k = 2, f(x) = 1 - δ - e^ε x and all T at once it says Σ_i max(0, i p_i - e^ε (c'-i+1) p_{i-1}) "
        "<= m δ.",
    )
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
        readings="Tight is said of the bound: some ε-DP mechanism attains it, the same one for every v. Algorithm 3 is "
        "another bound (M7b).",
    )
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
