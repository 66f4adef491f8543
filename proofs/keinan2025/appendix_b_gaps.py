"""Appendix B: the three gaps (Propositions B.1, B.3, B.6, B.9)."""

from __future__ import annotations

from fractions import Fraction

from sympy import Symbol, oo

from tightdp.claims import grid, identity, limit

from .games import HALF, bit_pairs, every_guesser, result_law, share, table_of
from .grids import LAMS
from .paper import paper
from .posterior_lemmas import ONE_HALF, k, m, n, p, t
from .programs import all_or_nothing, name_and_shame, pairs_of, randomized_response, xor


def response_efficacy(n: int, lam: Fraction) -> bool:
    """Local randomized response: E_n is 1 - λ."""
    return randomized_response.bind(n=n, lam=lam).efficacy(n).rows[0].efficacy == 1 - lam


def randomized_response_keeps_each_bit() -> None:
    """Output i depends on bit i alone, so the posterior of bit i comes from one run of randomized response: the
    value that is output has P(o|S_i) = p against 1 - p, whatever o is. No guesser is right on a bit with more than
    its larger posterior, and the guesser that repeats the output attains it; the mean over the n bits is p. For
    ε = 0 it is 1/2, and for ε = ∞ (the limit) 1.
    """
    identity(p / (p + (1 - p)), p, "the posterior of the bit that is output")
    identity(p - ONE_HALF, (t - 1) / (2 * (1 + t)), "it is at least 1/2 for t >= 1")
    identity(n * p / n, p, "the mean over n bits")
    limit(p, t, oo, 1, "ε = ∞")


paper.claim(
    "K1",
    "Prop. B.1",
    "Local randomized response with parameter ε: efficacy without abstention is p(ε) for every n.",
    verdict="proved",
    instances=grid(n=(*range(1, 8), 30), lam=LAMS),
    check=response_efficacy,
    proof=randomized_response_keeps_each_bit,
)


def shame_efficacy(n: int, vector: str) -> bool:
    """Name and shame: the formula for E_k, every k."""
    pairs, size = pairs_of(vector, n)
    rows = name_and_shame.bind(n=n, k=max(size, 2)).efficacy(pairs=pairs).rows
    held = [sum(o in pair for pair in pairs) for o in range(size)]
    return all(
        row.efficacy == HALF + sum(Fraction(m, 2 * n) / (2 * max(row.guesses, m)) for m in held if m) for row in rows
    )


def name_and_shame_reveals_one() -> None:
    """Let a pair contain the output o (at most one of its two records does, they differ), let m(o) be the number of
    such pairs. n·P(o|S) counts the chosen records that equal o. The other m-1 pairs choose o with probability 1/2
    each, so given that bit i chooses o it is 1 + (m-1)/2, given the other value (m-1)/2. Hence
    c_i(o) = 1/2 + 1/(2m) for these m bits, and 1/2 for all others. The mean of the k largest is
    1/2 + 1/(2·max(k,m)), and P(o) = m(o)/(2n). So E_k = 1/2 + Σ_o m(o)/(2n) · 1/(2·max(k, m(o))): at most
    1/2 + 1/(2k) for every pair vector, and exactly 1/2 + 1/(2n) for k = n, because m(o) <= n and Σ_o m(o) = 2n
    (each of the 2n records of the pair vector is counted once). A guesser with R guesses is right on a share of at
    most 1/2 + 1/(2R), which tends to 1/2 when R grows without bound.
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
    "Name-and-shame (one uniformly chosen record is output): the efficacy without abstention tends to "
    "1/2 for every pair vector; also with abstentions, as long as the number of guesses is unlimited.",
    verdict="proved",
    instances=grid(n=range(1, 7), vector=("alike", "overlapping", "apart")),
    check=shame_efficacy,
    proof=name_and_shame_reveals_one,
    notes="Exactly: E_n = 1/2 + 1/(2n) for **every** pair vector, and E_k <= 1/2 + 1/(2k). The printed "
    "proof says that the exposed element is guessed right for sure and the others by chance; when "
    "several pairs contain the output nobody knows which element was exposed, but the sum is the same.",
)


def shame_special_values(n: int) -> bool:
    """Name and shame: 1/2 + 1/(2n) when all pairs are alike, 1/2 + 1/(2k) when they tell the records apart."""
    alike, apart = pairs_of("alike", n)[0], pairs_of("apart", n)[0]
    same = name_and_shame.bind(n=n, k=2).efficacy(pairs=alike).rows
    told = name_and_shame.bind(n=n, k=2 * n).efficacy(pairs=apart).rows
    return all(row.efficacy == HALF + Fraction(1, 2 * n) for row in same) and all(
        row.efficacy == HALF + Fraction(1, 2 * row.guesses) for row in told
    )


paper.claim(
    "K2b",
    "Prop. B.3, finite n",
    "E_k = 1/2 + 1/(2n) for every k if all pairs are alike; E_k = 1/2 + 1/(2k) if they tell the records apart.",
    verdict="proved",
    instances=grid(n=range(1, 9)),
    check=shame_special_values,
    proof=name_and_shame_reveals_one,
    extra=True,
    notes="In general E_k = 1/2 + Σ_o m(o)/(2n) · 1/(2·max(k, m(o))), m(o) the number of pairs with the record o.",
)


paper.row(
    "K2",
    "Prop. B.3",
    "Name-and-shame (one uniformly chosen record is output): the efficacy without abstention tends to "
    "1/2 for every pair vector.",
    parts=("K2a", "K2b"),
)


def nothing_efficacy(n: int, p: Fraction) -> bool:
    """All or nothing: E_k is 1/2 + p/2 for every k."""
    return all(row.efficacy == HALF + p / 2 for row in all_or_nothing.bind(n=n, p=p).efficacy().rows)


def all_or_nothing_reveals_all() -> None:
    """If the dataset is output every bit is known (the records of a pair differ): c_i = 1 for all i. If nothing is
    output, which happens with the same probability on every dataset, c_i = 1/2 for all i. So the k largest have
    mean 1 with probability q and 1/2 otherwise, for every k and n.
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
    "All-or-nothing with probability p: efficacy is 1/2 + p/2 for every n and every number of guesses k.",
    verdict="proved",
    instances=grid(n=range(1, 7), p=("1/10", "1/3", "9/10")),
    check=nothing_efficacy,
    proof=all_or_nothing_reveals_all,
    notes="A guesser that makes no guess at all on the output null would always be right; the paper "
    "rules that out (r > 0, Section 2).",
)


def parity_efficacy(n: int) -> bool:
    """XOR: every E_k is 1/2; for n = 2 every guesser is tried."""
    if any(row.efficacy != HALF for row in xor.bind(n=n).efficacy().rows):
        return False
    if n > 2:
        return True
    table = table_of(xor, bit_pairs(n))
    return all(share(result_law(table, guesser)) == HALF for guesser in every_guesser(table, (None, 0, 1)))


def parity_hides_each_bit() -> None:
    """For n >= 2 fix bit i: the parity of the others is uniform, so the output is uniform whatever bit i is, and
    independent of it. Given the output every bit is uniform, and a guesser that makes r guesses, whichever and by
    whatever rule, is right on r/2 of them in expectation; V/R has mean 1/2. The parity of j >= 1 fair bits is
    uniform by induction: adding a fair bit to a bit that is 1 with probability q gives 1 with probability 1/2.
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
    "XOR: efficacy is 1/2 for every n >= 2 and every guesser.",
    verdict="proved",
    instances=grid(n=range(2, 13)),
    check=parity_efficacy,
    proof=parity_hides_each_bit,
    notes="For n = 2 the 64 guessers that make a guess on either output are all listed. Only the mean "
    "is that of fair coins, not the law: for even n the guess 0 for every bit is always right on an "
    "even number of bits after the output 0.",
)
