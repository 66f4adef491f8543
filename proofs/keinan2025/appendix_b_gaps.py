"""Appendix B: the three gaps (Propositions B.1, B.3, B.6, B.9)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sympy import Symbol, oo

from tightdp.claims import grid, identity, limit

from .games import bit_pairs, every_guesser, result_law, share, table_of
from .grids import LAMS
from .paper import paper
from .posterior_lemmas import ONE_HALF, k, m, n, p, t
from .programs import all_or_nothing, name_and_shame, pairs_of, randomized_response, xor


def response_efficacy(n: int, lam: Fraction) -> dict[str, Any]:
    """E_n of local randomized response, by the engine."""
    found = randomized_response.bind(n=n, lam=lam)
    return {"E_n": found.efficacy(n).rows[0].efficacy, "e^ε": found.privacy().exp_epsilon}


def randomized_response_keeps_each_bit() -> None:
    """Output i depends on bit i alone, so the posterior of bit i comes from one run of randomized response: the
    value that is output has P(o|S_i) = p against 1 - p, whatever o is. No guesser is right on a bit with more than
    its larger posterior, and the guesser that repeats the output attains it; the mean over the n bits is p. For
    ε = 0 it is 1/2, and for ε = ∞ (the limit) 1.

    For the reader: that output i depends on bit i alone.
    """
    identity(p / (p + (1 - p)), p, "the posterior of the bit that is output")
    identity(p - ONE_HALF, (t - 1) / (2 * (1 + t)), "it is at least 1/2 for t >= 1")
    identity(n * p / n, p, "the mean over n bits")
    limit(p, t, oo, 1, "ε = ∞")


paper.claim(
    "K1",
    "Prop. B.1",
    "Local randomized response that flips a bit with probability λ, so that `e^ε = (1 - λ)/λ`: efficacy "
    "without abstention is `E_n = e^ε/(1 + e^ε)`, that is p(ε), for every n.",
    verdict="argued",
    instances=grid(n=(*range(1, 8), 30), lam=("1/2", *LAMS)),
    check=response_efficacy,
    proof=randomized_response_keeps_each_bit,
)


def shame_efficacy(n: int, vector: str) -> Iterator[dict[str, Any]]:
    """Name and shame: every E_k, by the engine."""
    pairs, size = pairs_of(vector, n)
    rows = name_and_shame.bind(n=n, k=max(size, 2)).efficacy(pairs=pairs).rows
    held = [m for m in (sum(o in pair for pair in pairs) for o in range(size)) if m]
    for row in rows:
        yield {
            "k": row.guesses,
            "E_k": row.efficacy,
            "E_n": rows[-1].efficacy,
            "Σ_o m(o)/(4n·max(k, m(o)))": sum(Fraction(m, 4 * n * max(row.guesses, m)) for m in held),
        }


def name_and_shame_reveals_one() -> None:
    """Let a pair contain the output o (at most one of its two records does, they differ), let m(o) be the number of
    such pairs. n·P(o|S) counts the chosen records that equal o. The other m-1 pairs choose o with probability 1/2
    each, so given that bit i chooses o it is 1 + (m-1)/2, given the other value (m-1)/2. Hence
    c_i(o) = 1/2 + 1/(2m) for these m bits, and 1/2 for all others. The mean of the k largest is
    1/2 + 1/(2·max(k,m)), and P(o) = m(o)/(2n). So E_k = 1/2 + Σ_o m(o)/(2n) · 1/(2·max(k, m(o))): at most
    1/2 + 1/(2k) for every pair vector, and exactly 1/2 + 1/(2n) for k = n, because m(o) <= n and Σ_o m(o) = 2n
    (each of the 2n records of the pair vector is counted once). A guesser with R guesses is right on a share of at
    most 1/2 + 1/(2R), which tends to 1/2 when R grows without bound.

    For the reader: the count of records in pairs, and that every guesser is a mixture of such choices.
    """
    chosen, other = 1 + (m - 1) / 2, (m - 1) / 2
    confidence = chosen / (chosen + other)
    identity(confidence, ONE_HALF + 1 / (2 * m), "the posterior of a pair that contains the output")
    identity((m * confidence + (k - m) * ONE_HALF) / k, ONE_HALF + 1 / (2 * k), "the mean of the k largest when k >= m")
    identity(k * confidence / k, ONE_HALF + 1 / (2 * m), "... and when k <= m")
    identity((chosen + other) / (2 * n), m / (2 * n), "P(o): the mean of P(o|S) over the two values of a bit in it")
    limit(ONE_HALF + 1 / (2 * n), n, oo, ONE_HALF, "the efficacy without abstention")
    limit(ONE_HALF + 1 / (2 * k), k, oo, ONE_HALF, "its bound for k guesses")


paper.claim(
    "K2a",
    "Prop. B.3",
    "Name-and-shame (one uniformly chosen record is output): the efficacy without abstention tends to 1/2 for "
    "every pair vector; also with abstentions, as long as the number of guesses is unlimited. Exactly, with "
    "m(o) the number of pairs that contain the record o, `E_k = 1/2 + Σ_o m(o)/(4n·max(k, m(o)))`; so `E_n = "
    "1/2 + 1/(2n)` for every pair vector, and `E_k <= 1/2 + 1/(2k)`.",
    verdict="argued",
    instances=grid(n=range(1, 7), vector=("alike", "overlapping", "apart")),
    check=shame_efficacy,
    proof=name_and_shame_reveals_one,
    notes="The printed proof says that the exposed element is guessed right for sure and the others by chance; "
    "when several pairs contain the output nobody knows which element was exposed, but the sum is the "
    "same.",
)


def shame_special_values(n: int) -> Iterator[dict[str, Any]]:
    """Name and shame with equal pairs, and with pairs that tell the records apart."""
    alike, apart = pairs_of("alike", n)[0], pairs_of("apart", n)[0]
    same = name_and_shame.bind(n=n, k=2).efficacy(pairs=alike).rows
    told = name_and_shame.bind(n=n, k=2 * n).efficacy(pairs=apart).rows
    for one, other in zip(same, told, strict=True):
        yield {"k": one.guesses, "E_k of equal pairs": one.efficacy, "E_k of pairs apart": other.efficacy}


paper.claim(
    "K2b",
    "Prop. B.3, finite n",
    "For every k: `E_k of equal pairs = 1/2 + 1/(2n)`, if all pairs are alike; and `E_k of pairs apart = 1/2 "
    "+ 1/(2k)`, if they tell the records apart.",
    verdict="argued",
    instances=grid(n=range(1, 9)),
    check=shame_special_values,
    proof=name_and_shame_reveals_one,
    extra=True,
)


paper.row(
    "K2",
    "Prop. B.3",
    "Name-and-shame (one uniformly chosen record is output): the efficacy without abstention tends to "
    "1/2 for every pair vector.",
    parts=("K2a", "K2b"),
)


def nothing_efficacy(n: int, p: Fraction) -> list[dict[str, Any]]:
    """All or nothing: every E_k, by the engine."""
    return [{"E_k": row.efficacy} for row in all_or_nothing.bind(n=n, p=p).efficacy().rows]


def all_or_nothing_reveals_all() -> None:
    """If the dataset is output every bit is known (the records of a pair differ): c_i = 1 for all i. If nothing is
    output, which happens with the same probability on every dataset, c_i = 1/2 for all i. So the k largest have
    mean 1 with probability q and 1/2 otherwise, for every k and n.

    For the reader: that an output without the dataset says nothing of any bit.
    """
    q = Symbol("q", nonnegative=True)
    nothing = 1 - q
    identity(
        nothing * ONE_HALF / (nothing * ONE_HALF + nothing * ONE_HALF), ONE_HALF, "the posterior when nothing is output"
    )
    identity(q + (1 - q) * ONE_HALF, ONE_HALF + q / 2, "the efficacy")


paper.claim(
    "K3",
    "Prop. B.6",
    "All-or-nothing with probability p: efficacy is `E_k = 1/2 + p/2` for every n and every number of guesses k.",
    verdict="argued",
    instances=grid(n=range(1, 7), p=("1/10", "1/3", "9/10")),
    check=nothing_efficacy,
    proof=all_or_nothing_reveals_all,
    notes="A guesser that makes no guess at all on the output null would always be right; the paper "
    "rules that out (r > 0, Section 2).",
)


def parity_efficacy(n: int) -> Iterator[dict[str, Any]]:
    """XOR: every E_k; for n = 2 every guesser."""
    yield from ({"efficacy": row.efficacy} for row in xor.bind(n=n).efficacy().rows)
    if n == 2:
        table = table_of(xor, bit_pairs(n))
        for guesser in every_guesser(table, (None, 0, 1)):
            yield {"efficacy": share(result_law(table, guesser))}


def parity_hides_each_bit() -> None:
    """For n >= 2 fix bit i: the parity of the others is uniform, so the output is uniform whatever bit i is, and
    independent of it. Given the output every bit is uniform, and a guesser that makes r guesses, whichever and by
    whatever rule, is right on r/2 of them in expectation; V/R has mean 1/2. The parity of j >= 1 fair bits is
    uniform by induction: adding a fair bit to a bit that is 1 with probability q gives 1 with probability 1/2.

    For the reader: the induction over the bits of a parity.
    """
    q = Symbol("q", nonnegative=True)
    identity(ONE_HALF * q + ONE_HALF * (1 - q), ONE_HALF, "a fair bit added to any bit gives a fair bit")
    identity(
        ONE_HALF * ONE_HALF / (ONE_HALF * ONE_HALF + ONE_HALF * ONE_HALF),
        ONE_HALF,
        "the posterior of bit i given the output",
    )
    identity(k * ONE_HALF / k, ONE_HALF, "the expected share of right guesses among k")


paper.claim(
    "K4",
    "Prop. B.9",
    "XOR, for `n >= 2`: efficacy is `efficacy = 1/2` for every guesser.",
    verdict="argued",
    instances=grid(n=(2, 3, 4, *range(5, 13))),
    check=parity_efficacy,
    proof=parity_hides_each_bit,
    notes="For n = 2 the 64 guessers that make a guess on either output are all listed. Only the mean "
    "is that of fair coins, not the law: for even n the guess 0 for every bit is always right on an "
    "even number of bits after the output 0.",
)
