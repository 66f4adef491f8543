"""Appendix D.2: counts (Proposition D.2, Corollary D.3, Lemma D.5)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb
from random import Random
from typing import Any

from sympy import Symbol, binomial, diff, symbols
from sympy import sqrt as symbolic_sqrt

from tightdp.claims import grid, identity, random_law, seeds

from .count_lemmas import ONE_HALF, d, n, o, t, z
from .games import HALF, ONE, ZERO, Table, all_bits, efficacies
from .paper import paper
from .programs import ON_BITS, count


def posterior_of_count() -> None:
    """Given the count o, bit i is 1 in the share C(n-1,o-1)/C(n,o) = o/n of the datasets with o ones, so
    c_i(o) = max(o, n-o)/n, for o = 0 and o = n too. With d = |2o - n| that is 1/2 + |o - n/2|/n. It does not depend
    on i: the mean of the k largest is the same for every k. The mean over O is E_k. Finally (E|D|)² <= E D² = n/4,
    because E(|D| - E|D|)² >= 0; so E_k - 1/2 <= sqrt(n/4)/n = 1/(2·sqrt(n)).

    For the reader: that all datasets with o ones are equally likely, and (E|D|)² <= E D².
    """
    identity(binomial(n - 1, o - 1) / binomial(n, o), o / n, "the share of datasets in which bit i is 1")
    identity(((n + d) / 2) / n, ONE_HALF + (d / 2) / n, "max(o, n-o)/n, with d = |2o - n|")
    moments = ((1 + z) / 2) ** n
    mean = diff(moments, z).subs(z, 1)
    second = diff(z * diff(moments, z), z).subs(z, 1)
    identity(mean, n / 2, "E O, from the generating function")
    identity(second - mean**2, n / 4, "E D² = Var O")
    a, square = symbols("a square", positive=True)
    identity(square - 2 * a * a + a**2, square - a**2, "E(|D| - a)² = E D² - a² for a = E|D|")
    identity(symbolic_sqrt(n / 4) / n, 1 / (2 * symbolic_sqrt(n)), "the bound")


def count_efficacies(n: int) -> Iterator[dict[str, Any]]:
    """Every E_k of Count by the engine, the mean of |O - n/2|, and the larger posterior at every output."""
    mean = sum((abs(o - Fraction(n, 2)) * comb(n, o) for o in range(n + 1)), ZERO) / 2**n
    rows = count.bind(n=n).efficacy().rows
    for at in range(n + 1):
        row = rows[min(at, n - 1)]
        yield {
            "o": at,
            "p(|ℓ_i(o)|)": larger_posterior(n, at),
            "E_k": row.efficacy,
            "E_n": rows[-1].efficacy,
            "E|O - n/2|": mean,
        }


def larger_posterior(n: int, o: int) -> Fraction:
    """The larger posterior of the first bit given the count o: by listing for n <= 8, else by counting."""
    if n > 8:
        return Fraction(max(comb(n - 1, o - 1) if o else 0, comb(n - 1, o)), comb(n, o))
    fits = [x for x in product((0, 1), repeat=n) if sum(x) == o]
    ones = Fraction(sum(x[0] for x in fits), len(fits))
    return max(ones, 1 - ones)


paper.claim(
    "K11a",
    "Prop. D.2",
    "Count of n bits: `p(|ℓ_i(o)|) = 1/2 + |o - n/2|/n` for every o; E_k is the same for every k: `E_k = E_n "
    "= 1/2 + E|O - n/2|/n`, and is at most 1/2 + 1/(2·sqrt(n)), that is `4n·(E_k - 1/2)² <= 1`.",
    verdict="argued",
    instances=grid(n=(*range(1, 17), 40, 100)),
    quick=10,
    check=count_efficacies,
    proof=posterior_of_count,
    notes="The bound is attained at n = 1. In closed form E_k = 1/2 + C(n-1,⌊n/2⌋)/2^n (K11b).",
)


def efficacy_of_count_in_closed_form() -> None:
    """(o - n/2)·C(n,o) = (n/2)·(C(n-1,o-1) - C(n-1,o)) telescopes: its sum over o > n/2 is (n/2)·C(n-1,⌊n/2⌋), and
    the o < n/2 mirror it. So E|D| = n·C(n-1,⌊n/2⌋)/2^n, and E_k = 1/2 + C(n-1,⌊n/2⌋)/2^n.

    For the reader: that the sum telescopes between its ends.
    """
    identity(
        (o - n / 2) * binomial(n, o),
        n / 2 * (binomial(n - 1, o - 1) - binomial(n - 1, o)),
        "the terms telescope",
    )
    total = Symbol("total", positive=True)
    identity(2 * (n / 2 * total) / 2**n / n, total / 2**n, "both halves, divided by n, with C(n-1,⌊n/2⌋) = total")


paper.claim(
    "K11b",
    "Prop. D.2, finite n",
    "For Count `E_k = 1/2 + C(n - 1, ⌊n/2⌋)/2^n`.",
    verdict="argued",
    extra=True,
    instances=grid(n=(*range(1, 17), 40)),
    quick=10,
    check=count_efficacies,
    proof=efficacy_of_count_in_closed_form,
)


paper.row(
    "K11",
    "Prop. D.2",
    "Count of n bits: p(|ℓ_i(o)|) = 1/2 + |o - n/2|/n for every o; E_k is the same for every k, equals "
    "1/2 + E|O - n/2|/n, and is at most 1/2 + 1/(2·sqrt(n)).",
    parts=("K11a", "K11b"),
)


def loss_of_count() -> None:
    """P(O=o|S_i=0)/P(O=o|S_i=1) = C(n-1,o)/C(n-1,o-1) = (n-o)/o (infinite at o = 0, zero at o = n). With
    d = |2o - n| its larger direction is (n+d)/(n-d), infinite at d = n. |ℓ| >= a says n + d >= e^a (n - d), and
    that is d/2 >= n(e^a - 1)/(2(e^a + 1)). At d = n both say nothing that fails, for every real a, also a <= 0.

    For the reader: the cases o = 0 and o = n, where the loss is infinite.
    """
    identity(binomial(n - 1, o) / binomial(n - 1, o - 1), (n - o) / o, "the likelihood ratio")
    identity(
        (n + d) - t * (n - d),
        2 * (t + 1) * (d / 2 - n * (t - 1) / (2 * (t + 1))),
        "both conditions have the same sign, t = e^a",
    )
    identity(n / 2 - n * (t - 1) / (2 * (t + 1)), n / (t + 1), "d = n satisfies the second, as 1/(t+1) > 0")


def count_losses(n: int, t: Fraction) -> dict[str, Any]:
    """P(|ℓ| >= a) from the engine's guesser with that threshold on posteriors, t = e^a; the other by counting."""
    least = max(t, 1 / t) / (1 + max(t, 1 / t)) if t > 1 else HALF
    joint = count.bind(n=n).guessing(least).joint
    bound = n * (t - 1) / (2 * (t + 1))
    far = sum(comb(n, o) for o in range(n + 1) if abs(o - Fraction(n, 2)) >= bound)
    return {
        "e^a": t,
        "d": bound,
        "P(|ℓ| >= a)": sum((p for r, _, p in joint.entries if r), ZERO),
        "P(|O - n/2| >= d)": Fraction(far, 2**n),
    }


paper.claim(
    "K12",
    "Lemma D.5",
    "Count: `P(|ℓ| >= a) = P(|O - n/2| >= d)` where `d = n(e^a - 1)/(2(e^a + 1))`.",
    verdict="argued",
    instances=grid(n=range(1, 13), t=("1", "3/2", "2", "3", "7", "20")),
    quick=20,
    check=count_losses,
    proof=loss_of_count,
    notes="Printed for a > 0; it holds for every real a, and in the limit a = ∞. The instances have t = e^a.",
)


def symmetric_is_processed_count() -> None:
    """The law of a symmetric mechanism on n bits depends on the count c only: K(o|c). With either order in a pair
    (0, 1) the secrets are the bits or their complements. Given o, bit i has the posterior Σ_c w_c·c/n, w_c the
    posterior of the count: the same for all i, so E_k is the same for every k. The larger posterior is |Σ_c
    w_c·(c/n - 1/2)| + 1/2 <= Σ_c w_c·|c/n - 1/2| + 1/2 (the triangle inequality), the mean of that of Count. Its
    mean over o is E_k(Count), because the w_c average to P(count = c). With pairs of different orders c_i is the
    same, as c and 1-c have the same larger value.

    For the reader: the triangle inequality for any number of terms, from two.
    """
    a, b, w = symbols("a b w", nonnegative=True)
    identity(w * a + (1 - w) * b - (w * a - (1 - w) * b), 2 * (1 - w) * b, "|wa - (1-w)b| <= wa + (1-w)b, one way")
    identity(w * a + (1 - w) * b - ((1 - w) * b - w * a), 2 * w * a, "... and the other")
    identity(ONE_HALF + d, 1 - (ONE_HALF - d), "a posterior and its complement are equally far from 1/2")
    posterior_of_count()


def random_symmetric_stays_below(seed: int, n: int) -> Iterator[dict[str, Any]]:
    """A symmetric mechanism drawn at random, with pairs in random orders too; seed 0 is Count itself."""
    limits = [row.efficacy for row in count.bind(n=n).efficacy().rows]
    kernel = random_law(seed, range(n + 1), outputs=3) if seed else {c: {c: ONE} for c in range(n + 1)}
    table = _by_count(n, kernel)
    flips = [Random(seed).randint(0, 1) for _ in range(n)]
    turned = {tuple(bit ^ flip for bit, flip in zip(s, flips, strict=True)): law for s, law in table.items()}
    yield from _below(efficacies(table), limits)
    yield from _below(efficacies(turned), limits)


def _by_count(n: int, kernel: dict[int, dict[int, Fraction]]) -> Table:
    return {s: kernel[sum(s)] for s in all_bits(n)}


def _below(found: list[Fraction], limits: list[Fraction]) -> Iterator[dict[str, Any]]:
    return ({"E_k": one, "E_k of Count": most} for one, most in zip(found, limits, strict=True))


paper.claim(
    "K25a",
    "Cor. D.3",
    "A symmetric mechanism on bits has efficacy at most that of Count, for every number of guesses k: `E_k <= "
    "E_k of Count`.",
    verdict="argued",
    instances=[{**each, "n": n} for n in (1, 2, 3, 4, 5) for each in seeds(12)],
    quick=24,
    check=random_symmetric_stays_below,
    proof=symmetric_is_processed_count,
    notes="Symmetric: the law of the output does not change when the records are permuted. Pairs (0, 1) "
    "and (1, 0) may be mixed.",
)


def symmetric_stays_below(n: int) -> Iterator[dict[str, Any]]:
    """Every deterministic symmetric mechanism on n bits."""
    top = efficacies(_by_count(n, {c: {c: ONE} for c in range(n + 1)}))
    for named in _partitions(n + 1):
        yield from _below(efficacies(_by_count(n, {c: {o: ONE} for c, o in enumerate(named)})), top)


def _partitions(size: int) -> list[tuple[int, ...]]:
    """Every partition of `size` things: the class of each, classes numbered as they appear."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(size):
        found = [(*each, new) for each in found for new in range(max(each, default=-1) + 2)]
    return found


paper.claim(
    "K25b",
    "Cor. D.3, small n",
    "Every deterministic symmetric mechanism on n <= 6 bits, that is every partition of the "
    "counts 0..n: `E_k <= E_k of Count`.",
    verdict="holds on",
    extra=True,
    instances=grid(n=range(1, 7)),
    quick=4,
    check=symmetric_stays_below,
)


SYMMETRIC = (
    "randomized response count",
    "XOR",
    "noisy XOR",
    "name and shame",
    "geometric count",
    "shuffled",
)
"""Those that do not look at the order of the records."""


def symmetric_program_stays_below(mechanism: str, n: int) -> Iterator[dict[str, Any]]:
    """A symmetric program of this repository, by the engine."""
    chosen, parameters = ON_BITS[mechanism]
    found = [row.efficacy for row in chosen.bind(n=n, **parameters).efficacy().rows]
    return _below(found, [row.efficacy for row in count.bind(n=n).efficacy().rows])


paper.claim(
    "K25c",
    "Cor. D.3, programs",
    "The symmetric programs of this repository: `E_k <= E_k of Count`.",
    verdict="holds on",
    extra=True,
    instances=grid(
        mechanism=SYMMETRIC,
        n=(1, 2, 3, 5),
    ),
    quick=12,
    check=symmetric_program_stays_below,
)


paper.row(
    "K25",
    "Cor. D.3",
    "A symmetric mechanism on bits has efficacy at most that of Count.",
    parts=("K25a", "K25b", "K25c"),
)
