"""Section 5: efficacy (the guesser, Theorems 5.1 and 5.2)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sympy import Symbol, symbols

from tightdp.claims import Correction, brute, grid, identity, positive, random_law, seeds

from .games import (
    HALF,
    ZERO,
    Table,
    all_bits,
    bit_pairs,
    confidences,
    efficacies,
    every_guesser,
    posteriors,
    ratio_as_posterior,
    result_law,
    share,
    table_of,
)
from .grids import LAMS, NAMES
from .paper import paper
from .posterior_lemmas import k, p, t, x, y
from .programs import ON_BITS, name_and_shame, pairs_of, randomized_response


def printed_sign(n: int, lam: Fraction) -> dict[str, Any]:
    """The guesser sign(ℓ): 1 where -1 (record 0) is the likelier value."""
    bound = randomized_response.bind(n=n, lam=lam)
    one = randomized_response.bind(n=1, lam=lam)
    ratio = {o: one.probability((0,), (o,)) / one.probability((1,), (o,)) for o in (0, 1)}
    joint = bound.guessing(lambda o: tuple(1 if ratio[each] > 1 else 0 for each in o)).joint
    return {"efficacy of sign(ℓ)": joint.right / n, "E_n": bound.efficacy(n).rows[0].efficacy}


def printed_sign_again(n: int, lam: Fraction) -> dict[str, Any]:
    """The bits go separately: one of them by listing, where ℓ > 0 says that record 0 is likelier."""
    laws = [brute.law(randomized_response, (bit,), lam=lam) for bit in (0, 1)]
    printed = sum(laws[bit][o] / 2 for bit in (0, 1) for o in laws[0] if (laws[0][o] > laws[1][o]) == bool(bit))
    return {"efficacy of sign(ℓ)": printed, "E_n": sum(max(laws[0][o], laws[1][o]) / 2 for o in laws[0])}


def likelier_sign(seed: int, n: int) -> dict[str, Fraction]:
    """-sign(ℓ), ties to 0, and every guesser of a random mechanism."""
    table = random_law(seed, all_bits(n), outputs=2)
    shares = [share(result_law(table, each)) for each in every_guesser(table, (0, 1))]
    likelier = result_law(table, lambda o: [int(one > HALF) for one in posteriors(table, o)[1]])
    return {
        "efficacy of -sign(ℓ)": share(likelier),
        "largest efficacy": max(shares),
        "least efficacy without abstention": min(shares),
        "E_n": efficacies(table)[-1],
    }


def likelier_value_is_best() -> None:
    """Given the output o, a guess of bit i is right with its posterior: P/(P+Q) for S_i = -1 and Q/(P+Q) for
    S_i = 1, where P = P(o|S_i=-1), Q = P(o|S_i=1). With P = Q + x (ℓ_i >= 0) guessing -1 is right with the larger
    one, with Q = P + x (ℓ_i <= 0) guessing 1 is. So T_i = -sign(ℓ_i) reaches c_i(o), ties either way, and a guesser
    with r >= k guesses has mean at most that of the r largest c_i, which is at most that of the k largest. Guessing
    the other way is right with 1 - c_i(o): without abstention its efficacy is 1 - E_n, the least of all guessers.

    For the reader: that a guesser is a choice at every output, so that bounds output by output add up.
    """
    q = Symbol("q", positive=True)
    identity((q + x) / (2 * q + x) - q / (2 * q + x), x / (2 * q + x), "the likelier value gains x/(P+Q) >= 0")
    identity(1 - (q + x) / (2 * q + x), q / (2 * q + x), "the other value has the remaining probability")
    largest_have_the_largest_mean()


def largest_have_the_largest_mean() -> None:
    """Let a be the mean of the k largest of some numbers and the next largest be a - x, x >= 0 (it is at most each
    of the k, so at most their mean). The mean of the k+1 largest is a - x/(k+1), at most a: so the mean of the r
    largest falls in r.

    For the reader: the induction over the numbers from the top.
    """
    a = Symbol("a")
    identity((k * a + (a - x)) / (k + 1), a - x / (k + 1), "adding a number that is not larger")


paper.claim(
    "K5",
    "Sec. 5",
    "The maximum-likelihood guesser as printed, which guesses sign(ℓ_i) for ℓ_i(o) = ln P(o|S_i=-1)/P(o|S_i=1), has "
    "the "
    "best efficacy E_n: `efficacy of sign(ℓ) = E_n`.",
    brief=(
        "sign(ℓ) guesses the less likely value, and is right with 1/3 where -sign(ℓ) is right with 2/3 (n = "
        "1, λ = 1/3)."
    ),
    verdict="corrected",
    instances=grid(n=(1, 2), lam=LAMS),
    check=printed_sign,
    brute=printed_sign_again,
    at={"n": 1, "lam": "1/3"},
    minimal="smallest n, then the λ of smallest denominator",
    breaks="An output that is likelier under S_i = -1 has ℓ_i > 0. The loss is positive where -1 is the likelier "
    "value, and its sign is then 1, the other one. "
    "The printed guesser is always right where the best one is wrong: without abstention its efficacy "
    "is 1 - E_n, the least there is. Besides, sign(0) = 0 is an abstention, so that a guesser that is "
    "to take all n guesses (Thm 5.1) needs a rule for ties.",
    corrected=Correction(
        "T_i = -sign(ℓ_i), with ties guessed either way, has the best efficacy, and its opposite the least: "
        "`efficacy of -sign(ℓ) = largest efficacy = E_n`, `least efficacy without abstention = 1 - E_n`; for k "
        "guesses on the k largest |ℓ_i|.",
        verdict="argued",
        instances=seeds(20, n=1) + seeds(20, n=2),
        quick=20,
        check=likelier_sign,
        proof=likelier_value_is_best,
    ),
    stands="A slip of notation: the proofs use the larger posterior, which is what the corrected guesser attains.",
)


def is_ordered(mechanism: str, n: int) -> Iterator[dict[str, Any]]:
    """The chain by the engine, for every k; AE-AC by listing, with which the others have to agree."""
    chosen, parameters = ON_BITS[mechanism]
    rows = chosen.bind(n=n, **parameters).efficacy().rows
    table = table_of(chosen, bit_pairs(n), **parameters)
    listed = efficacies(table), average_case(table), distributional(table), ratio_as_posterior(table)
    for row in rows:
        if (row.efficacy, row.ac, row.ddp, row.dp) != (listed[0][row.guesses - 1], *listed[1:]):
            raise AssertionError(f"the engine and listing differ for {mechanism}")
        yield {
            "E_n": rows[-1].efficacy,
            "AE-AC": mean_posterior(table),
            "E_k": row.efficacy,
            "AC": row.ac,
            "p(ε_D)": row.ddp,
            "p(ε(M_Z))": row.dp,
        }


def average_case(table: Table) -> Fraction:
    """AC: the mean over outputs of the largest posterior."""
    return sum((total * each[0] for total, each in confidences(table)), ZERO)


def distributional(table: Table) -> Fraction:
    """p(ε_D): the largest posterior over outputs and bits."""
    return max(each[0] for _, each in confidences(table))


def efficacy_is_below_the_notions() -> None:
    """Given o, the best expected share of k guesses is the mean of the k largest c_i(o) (see K5; the mean of fewer
    numbers from the top is not smaller). (1) A mean of some c_i(o) is at most max_i c_i(o); take the mean over o.
    (2) A mean over o of max_i c_i(o) is at most its maximum, p(ε_D), over all o of positive probability. (3)
    P(o|S_i=b) is the mean over the other bits s of P(o|s,b). If a_s <= t·b_s for all s then Σ a_s <= t·Σ b_s, term
    by term: the ratio of two sums is at most the largest ratio of their terms, so ε_D <= ε(M_Z), and p increases.
    If some b_s = 0 < a_s then ε(M_Z) = ∞ and p = 1 is no less than anything.

    For the reader: that means over outputs keep inequalities, and the case of a probability 0.
    """
    largest_have_the_largest_mean()
    a, b = symbols("a b", positive=True)
    identity(t * (a + b) - (t * a - x) - (t * b - y), x + y, "terms t·a - x and t·b - y add up to at most t(a+b)")
    positive(p.diff(t), t, 0, None, "p(ε) increases")
    weight, top = symbols("weight top", nonnegative=True)
    identity(
        top - (weight * (top - x) + (1 - weight) * (top - y)),
        weight * x + (1 - weight) * y,
        "a mean of numbers top - x, top - y is at most top",
    )


def mean_posterior(table: Table) -> Fraction:
    """The mean over outputs and bits of the larger posterior."""
    n = len(next(iter(table)))
    return sum((total * sum(each, ZERO) for total, each in confidences(table)), ZERO) / n


paper.claim(
    "K6",
    "Thm 5.1",
    "`E_n = AE-AC <= E_k <= AC <= p(ε_D) <= p(ε(M_Z))` for every mechanism, pair vector and k.",
    verdict="argued",
    instances=grid(mechanism=NAMES, n=(1, 2, 3)),
    quick=grid(mechanism=NAMES, n=(2,)),
    check=is_ordered,
    proof=efficacy_is_below_the_notions,
    notes="E_n is the best efficacy of all guessers (K5), not that of the printed guesser.",
)


def is_ordered_at_random(seed: int, n: int) -> Iterator[dict[str, Fraction]]:
    """The chain for a mechanism drawn at random, and the best of all guessers with at least k guesses."""
    table = random_law(seed, all_bits(n), outputs=2)
    laws = [result_law(table, each) for each in every_guesser(table, (None, 0, 1))]
    for least, value in enumerate(efficacies(table), 1):
        yield {
            "largest efficacy with k guesses": max(share(law) for law in laws if all(made >= least for made, _ in law)),
            "E_k": value,
            "AC": average_case(table),
            "p(ε_D)": distributional(table),
            "p(ε(M_Z))": ratio_as_posterior(table),
        }


paper.claim(
    "K7a",
    "Thm 5.2",
    "With k guesses, for every k: E_k, the best efficacy of a guesser that commits to at least k "
    "guesses, is the mean over outputs of the mean of the k largest posteriors: `largest efficacy with k "
    "guesses = E_k <= AC <= p(ε_D) <= p(ε(M_Z))`.",
    verdict="argued",
    instances=seeds(20, n=1) + seeds(20, n=2),
    quick=seeds(10, n=2),
    check=is_ordered_at_random,
    proof=efficacy_is_below_the_notions,
    notes="In the instances every guesser of a random mechanism with two outputs is listed, abstentions included.",
)


def printed_threshold(n: int, k: int) -> dict[str, Any]:
    """Name and shame on records that tell the pairs apart: guess all |ℓ_i| >= τ, the k-th largest."""
    bound = name_and_shame.bind(n=n, k=2 * n)
    pairs = pairs_of("apart", n)[0]

    def guesser(o: int) -> list[int | None]:
        losses = [2 if o in pair else 1 for pair in pairs]  # infinite, or 0
        least = sorted(losses, reverse=True)[k - 1]
        return [int(o == pair[1]) if loss >= least else None for pair, loss in zip(pairs, losses, strict=True)]

    share = bound.guessing(guesser, pairs=pairs).joint.share
    return {"efficacy": share, "E_k": bound.efficacy(k, pairs=pairs).rows[0].efficacy}


def printed_threshold_again(n: int, k: int) -> dict[str, Any]:
    """By hand: one bit is sure, all others have |ℓ_i| = 0; for k >= 2 that is τ, and all n are guessed."""
    made = 1 if k == 1 else n
    return {"efficacy": (1 + Fraction(made - 1, 2)) / made, "E_k": (1 + Fraction(k - 1, 2)) / k}


def exactly_k_guesses(n: int, k: int) -> Iterator[dict[str, Fraction]]:
    """Name and shame on records that tell the pairs apart: ties to the first and to the last bits."""
    table = table_of(name_and_shame, pairs_of("apart", n)[0], k=2 * n)
    for turn in (1, -1):

        def guesser(o: Any, turn: int = turn) -> list[int | None]:
            ones = posteriors(table, o)[1]
            order = sorted(range(n), key=lambda i: (-max(ones[i], 1 - ones[i]), turn * i))
            return [int(ones[i] > HALF) if i in order[:k] else None for i in range(n)]

        yield {"efficacy": share(result_law(table, guesser)), "E_k": efficacies(table)[k - 1]}


paper.claim(
    "K7b",
    "Sec. 5.1, before Thm 5.2",
    "The guesser that sets τ to the k-th largest |ℓ_i(o)| and guesses where |ℓ_i(o)| >= τ attains E_k: "
    "`efficacy = E_k`.",
    verdict="corrected",
    extra=True,
    instances=[{"n": n, "k": k} for n in (1, 2, 3, 4) for k in range(1, n + 1)],
    check=printed_threshold,
    brute=printed_threshold_again,
    at={"n": 3, "k": 2},
    minimal="smallest n, then k; no mechanism has one with n < 3, as a tie at rank k needs k >= 2 and k < n",
    breaks="With ties at τ it makes more than k guesses, and the additional ones are no better than the "
    "worst of the k. Name-and-shame with pairs that tell the records apart: one loss is infinite, the "
    "others are 0 = τ.",
    corrected=Correction(
        "Guessing exactly k bits with the largest |ℓ_i(o)|, ties broken in any way, attains E_k: `efficacy = E_k`.",
        check=exactly_k_guesses,
        instances=[{"n": n, "k": k} for n in (1, 2, 3, 4) for k in range(1, n + 1)],
        verdict="argued",
        proof=likelier_value_is_best,
    ),
    stands="Theorem 5.2 itself; and the guesser wherever no tie lies at τ.",
)


paper.row("K7", "Thm 5.2", "E_k <= AC <= p(ε_D) <= p(ε(M_Z)) for every number k of guesses.", parts=("K7a", "K7b"))
