"""Section 3.1: Algorithm 3 (Theorem 10)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from random import Random
from typing import Any

from sympy import Symbol, symbols

from tightdp.auditing import fdp
from tightdp.auditing.certificate import Game as Observation
from tightdp.claims import Correction, certain, grid, identity

from .audits import AGAINST, drawn, drawn_games, optimum
from .games import (
    ZERO,
    Game,
    Guess,
    Laws,
    binomial_law,
    guesses_of,
    neighbours,
    one_sided,
    refutes,
    right,
    right_law,
    symmetric,
)
from .lemmas import _weights, delta, m, t
from .mechanisms import BELOW
from .paper import paper


def never_below(kind: str, seed: int, m: int, k: int, guesses: int) -> Iterator[dict[str, int]]:
    """Algorithm 3, listing, code and engine, just below the best probability, for every c."""
    for _, level, refuted in decisions(kind, seed, m, k, guesses, BELOW):
        yield {"wrong answers": int(bool(level) and refuted)}


def engine_refutes(pairs: tuple[tuple[Fraction, Fraction], ...], game: Game, level: Fraction, variant: str) -> bool:
    """Whether the engine's Algorithm 3 refutes a level."""
    return fdp.rejects(Observation(game.m, game.guesses, game.correct, game.k), pairs, level, variant)


def invariant() -> None:
    """Let τ' = P(at least c right), α_i = Σ_{z>=i} z p_z/m, β_i = Σ_{z>=i} (c'-z) p_z/m. Theorem 9 with
    T = {i+1, ..., c'} says α_{i+1} <= f̄(β_i/(k-1)), so β_i >= (k-1) f̄⁻¹(α_{i+1}), f̄⁻¹(r) the least y with
    f̄(y) >= r.

    Suppose τ' > τ and 1 <= c <= c'. Let G_i = α_i - d_i β_i and g_i = r_i - d_i h_i for i < c. Start: α_c >= c τ'/m
    and β_c <= (c'-c) τ'/m, so G_{c-1} = α_c - d_{c-1} β_c >= τ' c'/(m (c'-c+1)) > τ c'/(m (c'-c+1)) = g_{c-1}; and
    α_c > r_c. Step: β_i >= (k-1) f̄⁻¹(α_{i+1}) >= (k-1) f̄⁻¹(r_{i+1}) = h_i; so α_i = G_i + d_i β_i > g_i + d_i
    h_i = r_i; and G_{i-1} = G_i + (d_i - d_{i-1}) β_i > g_i + (d_i - d_{i-1}) h_i = g_{i-1}. End:
    α_0 + β_0 > r_0 + h_0. But α_0 + β_0 = c'/m, so Algorithm 3 returns False. (c = 0: it returns True for τ >= 1
    only.)

    Only h_i <= β_i for i < c is used: h_c, which is an upper bound of β_c, enters with a negative sign.

    For the reader: the induction from c down to 0, and that f̄⁻¹ does not fall.
    """
    _weights()
    z, guesses, c, weight = symbols("z c' c p_z", nonnegative=True)
    identity(z * weight / m + (guesses - z) * weight / m, guesses * weight / m, "α_0 + β_0 = c' Σ p_z / m = c'/m")
    identity(z * weight - c * weight, (z - c) * weight, "α_c - c τ'/m = Σ_{z>=c} (z-c) p_z/m >= 0")
    identity(
        (guesses - c) * weight - (guesses - z) * weight,
        (z - c) * weight,
        "(c'-c) τ'/m - β_c is the same sum",
    )


def best_probability(laws: Laws, k: int, guesses: int, correct: int) -> Fraction:
    """The largest P(at least `correct` right) of all guessers that make at most so many guesses."""
    options = guesses_of(len(next(iter(laws))), k, guesses)
    total = ZERO
    for out in next(iter(laws.values())):
        total += max(
            sum((law[out] for u, law in laws.items() if right(u, guess) >= correct), ZERO) for guess in options
        )
    return total / len(laws)


def decisions(
    kind: str, seed: int, m: int, k: int, guesses: int, factor: Fraction
) -> Iterator[tuple[int, Fraction, bool]]:
    """(c, τ, whether Algorithm 3 refutes τ in any of its forms), τ so many times P(at least c right) of the best
    guesser of a random mechanism; for symmetric mechanisms of the guesser that repeats what is published.
    """
    laws, curve, guesser = drawn(kind, seed, m, k, guesses)
    pairs = tuple((slope, offset) for slope, offset in curve if slope >= 1)
    for correct in range(1, guesses + 1):
        if guesser is None:
            level = factor * best_probability(laws, k, guesses, correct)
        else:
            level = factor * sum(right_law(laws, guesser)[correct:])
        game = Game(m, k, guesses, correct)
        found = bool(level) and (
            any(refutes(curve, game, level, code) for code in (False, True))
            or any(engine_refutes(pairs, game, level, variant) for variant in ("listing", "code"))
        )
        yield correct, level, found


paper.claim(
    "M6a",
    "Thm 10",
    "When Algorithm 3 returns True for τ, c, c', no f-DP mechanism and guesser with at most c' guesses has at "
    "least c right guesses with probability above τ: `wrong answers = 0`, those being True at a τ just below P(at "
    "least c right).",
    verdict="argued",
    instances=drawn_games(10),
    quick=drawn_games(1),
    check=never_below,
    proof=invariant,
    notes="f̄⁻¹(r) has to be the least y with f̄(y) >= r (0 for r <= δ). The printed proof compares with >= "
    "and so needs that s rises strictly with τ, which it does (M8). Lemma 14's claim that r and h map into "
    "[0, 1] is not needed; r may exceed 1.",
)


def at_least_the_optimum(m: int, k: int, t: Fraction, delta: Fraction) -> Iterator[dict[str, int]]:
    """Algorithm 3 at and just below the exact optimum, for all c <= c' <= m."""
    curve, pairs = one_sided(t, delta), ((Fraction(t), Fraction(delta)),)
    for guesses in range(1, m + 1):
        for correct in range(1, guesses + 1):
            game = Game(m, k, guesses, correct)
            most = optimum(game, t, delta)
            below = refutes(curve, game, most * BELOW) or engine_refutes(pairs, game, most * BELOW, "listing")
            yield {
                "c": correct,
                "c'": guesses,
                "optimum": most,
                "refutations below": int(below),
                "refutations": int(most < 1 and refutes(curve, game, most)),
            }


paper.claim(
    "M6b",
    "Thm 10 and the optimum",
    "For (ε,δ)-DP the least τ that Algorithm 3 refutes is at least the exact optimum of the linear program, "
    "with equality (where the optimum is below 1) exactly when c = c': just below the optimum it has `refutations "
    "below = 0`, and at the optimum `refutations = 1` if and only if `c = c', optimum < 1`.",
    verdict="holds on",
    extra=True,
    instances=AGAINST,
    quick=AGAINST[:32],
    check=at_least_the_optimum,
    notes="That it is at least the optimum is Theorem 10; equality for c = c' is argued in M7c.",
)


def chosen_number(
    m: int, delta: Fraction, tau: Fraction, guesses: int, correct: int, published: int
) -> dict[str, Fraction]:
    """With probability mδ/r publish r of m bits, else nothing: how often the engine's Algorithm 3 rejects (0, δ)."""
    pairs, share = ((Fraction(1), Fraction(delta)),), m * delta / published
    rejects = [
        engine_refutes(pairs, game, tau, "listing")
        for game in (Game(m, 2, published, published), Game(m, 2, guesses, correct))
    ]
    tail = sum(binomial_law(guesses, Fraction(1), 2)[correct:])
    return {"least δ": share * published / m, "P(rejected)": share * rejects[0] + (1 - share) * tail * rejects[1]}


def chosen_number_again(
    m: int, delta: Fraction, tau: Fraction, guesses: int, correct: int, published: int
) -> dict[str, Fraction]:
    """The same by listing all secrets, outputs and neighbours, and Algorithm 3 by listing."""
    curve, share = one_sided(Fraction(1), Fraction(delta)), m * delta / published
    often, seldom = (Game(m, 2, *counts) for counts in ((guesses, correct), (published, published)))
    sets = list(combinations(range(m), published))
    outputs = {u: {(chosen, tuple(u[at] for at in chosen)) for chosen in sets} for u in product((0, 1), repeat=m)}
    spent = max(len(outputs[u] - outputs[other]) for u in outputs for other in neighbours(u, 2))
    guess: Guess = (0,) * guesses + (None,) * (m - guesses)
    blind = Fraction(sum(right(u, guess) >= correct for u in outputs), len(outputs))
    rejected = share * refutes(curve, seldom, tau) + (1 - share) * blind * refutes(curve, often, tau)
    return {"least δ": share * Fraction(spent, len(sets)), "P(rejected)": rejected}


paper.claim(
    "M6c",
    "Def. 6, 8 and Thm 10",
    "The audit keeps its level when Algorithm 3 is run with the observed pair (c, c'), where the guesser "
    "chose the number c' of its guesses after seeing the output: if a mechanism is (0,δ)-DP, with `least δ <= δ`, "
    "that is rejected with "
    "probability `P(rejected) <= τ`.",
    verdict="corrected",
    extra=True,
    instances=[
        {"m": 8, "delta": "1/16", "tau": "13/48", "guesses": 8, "correct": 6, "published": 3},
        {"m": 10, "delta": "1/50", "tau": "1/20", "guesses": 9, "correct": 8, "published": 6},
    ],
    check=chosen_number,
    brute=chosen_number_again,
    at={"m": 8, "delta": "1/16", "tau": "13/48", "guesses": 8, "correct": 6, "published": 3},
    minimal="fewest secrets found for ε = 0 and mechanisms of this form (none with m <= 7 and a small "
    "denominator of m δ); at the usual level 1/20 the second instance, with ten secrets",
    breaks="The mechanism publishes 3 of 8 bits with probability 1/6, otherwise nothing; the guesser repeats what is "
    "published, and otherwise guesses 8 bits blindly. Theorem 10 bounds P(at least c right) for one c' at a time. "
    "Definition 8 and Algorithms 1, 2 "
    "hand the observed (c, c') to the evaluation; then the events of several c' add up, and the budget mδ "
    "can be spent on a c' where few revealed secrets suffice.",
    corrected=Correction(
        "The audit keeps its level for a c' that is fixed beforehand and never exceeded: `wrong answers = 0`, as in "
        "M6a.",
        verdict="argued",
        instances=drawn_games(2),
        quick=drawn_games(1),
        check=never_below,
        proof=invariant,
    ),
    readings="With a fixed number of guesses, as in the experiments, nothing is wrong. For ε-DP an observed "
    "c' does no harm: given the output and the other secrets every guess is right with probability at most "
    "q, so the number right is dominated by Bin(c', q) whatever c' is.",
    notes="At level 1/20: m = 10, δ = 1/50; 6 of 10 bits are published with probability 1/30, else 9 are "
    "guessed: rejected with probability 401/7680 = 0.0522.",
)


def same_decisions(seed: int, m: int, k: int) -> Iterator[dict[str, Any]]:
    """One-sided against symmetric f at random ε, δ, τ for all c <= c' <= m."""
    random = Random(seed)
    slope, offset = Fraction(random.randint(4, 16), 4), Fraction(random.randint(0, 10), 40)
    taus = [Fraction(random.randint(1, 63), 64) for _ in range(4)]
    games = [Game(m, k, guesses, correct) for guesses in range(1, m + 1) for correct in range(1, guesses + 1)]
    for game, tau in product(games, taus):
        yield {
            "True with the one-sided f": int(refutes(one_sided(slope, offset), game, tau)),
            "True with the symmetric f": int(refutes(symmetric(slope, offset), game, tau)),
        }


def one_line_is_enough() -> None:
    """Let ρ = (t+δ)/(t+1). The mirror line of the symmetric f changes f̄⁻¹(r) only for r > ρ. Let κ(r) = (k-1)
    (r-δ)/t be the one-sided one, τ < 1. At ρ: κ(ρ) = (k-1)(1-δ)/(t+1), so ρ + κ(ρ) >= 1. If r_c > ρ, then h_c = τ
    c'/m - r_c < 1 - ρ <= κ(r_c). So if κ(r_c) <= h_c, then r_c <= ρ, r never rises (M7d), both functions agree all
    along and neither refutes. If κ(r_c) > h_c, r and h rise. When the one-sided run does not refute, then
    r_1 + κ(r_1) = r_0 + h_0 < c'/m <= 1, so all r_i <= r_1 < ρ and the symmetric run is the same. When it refutes,
    the symmetric run, whose f̄⁻¹ is larger, refutes too (M6a: r and h grow with f̄⁻¹).

    For the reader: the two cases, and M6a and M7d.
    """
    rho = (t + delta) / (t + 1)
    identity((rho - delta) / t, (1 - delta) / (t + 1), "(ρ - δ)/t = (1-δ)/(t+1)")
    identity(1 - delta - t * (1 - rho), (1 - delta) / (t + 1), "the mirror line has the same inverse at ρ")
    identity(rho + (1 - delta) / (t + 1), 1, "ρ + (1-δ)/(t+1) = 1")
    grown = Symbol("t_minus_1", nonnegative=True)
    identity((1 + grown) - 1 / (1 + grown), grown * (grown + 2) / (grown + 1), "the mirror is the steeper: t - 1/t")
    certain((grown * (grown + 2) / (grown + 1)).is_nonnegative, "is >= 0, so below ρ it is the smaller")


paper.claim(
    "M6d",
    "Alg. 3 and Prop. 3",
    "For (ε,δ)-DP Algorithm 3 returns the same for every τ < 1 with the one-sided f of Proposition 3 and with "
    "the symmetric f: `True with the one-sided f = True with the symmetric f`, counted as 1 and 0.",
    verdict="argued",
    extra=True,
    instances=grid(m=(2, 4, 7), k=(2, 3), seed=range(6)),
    quick=12,
    check=same_decisions,
    proof=one_line_is_enough,
)


paper.row(
    "M6",
    "Thm 10",
    "When Algorithm 3 returns True, no f-DP mechanism gives at least c right guesses with probability above τ.",
    parts=("M6a", "M6b", "M6c", "M6d", "M10"),
)
