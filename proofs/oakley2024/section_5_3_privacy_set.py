"""Section 5.3: symmetries for the privacy bound (Lemmas 1 and 2, Theorems 5 and 6)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from sympy import summation as symbolic_sum
from sympy import symbols

from tightdp.claims import Near, certain, exhaustive, grid, identity

from .laws import SMALL, Bits, all_bits, one_changed, ones_first, ratio_of_neighbours, rr
from .paper import paper


def differing(x: Bits, y: Bits) -> int:
    """In how many positions x and y differ."""
    return sum(a != b for a, b in zip(x, y, strict=True))


def depends_on_distance(n: int, lam: Fraction) -> list[dict[str, Any]]:
    """All pairs of an input and an output, by the engine."""
    instance = rr.bind(n=n, lam=lam)
    representative = [instance.probability(ones_first(i, n), (0,) * n) for i in range(n + 1)]
    return [
        {"P(RR(x) = y)": p, "P(RR(1^i 0^(n-i)) = 0^n)": representative[differing(x, y)], "i": differing(x, y)}
        for x in all_bits(n)
        for y, p in instance.distribution(x).law
    ]


def distance_by_induction() -> None:
    """Induction on the number of clients: λ^d (1-λ)^(n-d) is right for n = 0, and one more client multiplies it by
    λ and raises d by 1 where its bits differ, or multiplies it by 1-λ where they agree: the form stays. So
    P(RR(x) = y) depends on n and d only, and the pair (1^i 0^(n-i), 0^n) has d = i.
    """
    lam, n, d = symbols("lambda n d", positive=True)
    here = lam**d * (1 - lam) ** (n - d)
    identity(here.subs({n: 0, d: 0}), 1, "no client: probability 1")
    for a, b in product((0, 1), repeat=2):
        sent = lam if a != b else 1 - lam
        identity(
            here * sent,
            here.subs({d: d + int(a != b), n: n + 1}, simultaneous=True),
            f"a client with {a}, {b}",
        )
    i, k = symbols("i k", integer=True, nonnegative=True)
    identity(
        symbolic_sum(1, (k, 1, i)) + symbolic_sum(0, (k, i + 1, n)),
        i,
        "1^i 0^(n-i) and 0^n differ in i positions",
    )


paper.claim(
    "O6",
    "Lemma 1",
    "P(RR(x) = y) depends only on the number i of positions where x and y differ: `P(RR(x) = y) = P(RR(1^i "
    "0^(n-i)) = 0^n) = λ^i·(1 - λ)^(n - i)`.",
    near=("(1 - λ)^(n - i)", "(1 - λ)^n"),
    verdict="proved",
    instances=grid(n=range(1, 6), lam=SMALL),
    quick=grid(n=range(1, 4), lam=("1/5",)),
    check=depends_on_distance,
    proof=distance_by_induction,
    notes="The lemma is printed for i from 1 to n; it holds for i = 0 too, where Theorem 5 uses it.",
)


def distance_changes_by_one(n: int) -> list[dict[str, Any]]:
    """All neighbours and outputs."""
    return [
        {"d(x,y)": differing(x, y), "d(x',y)": differing(other, y)}
        for x in all_bits(n)
        for other in one_changed(x)
        for y in all_bits(n)
    ]


def one_position_changes() -> None:
    """Neighbours differ in one position i, so the other positions contribute the same to both counts. At position i
    exactly one of x_i and x'_i = 1 - x_i differs from y_i, in all four cases.
    """
    exhaustive(
        product((0, 1), repeat=2),
        lambda a, b: abs(int(a != b) - int(1 - a != b)) == 1,
        "[x_i differs from y_i] and [1 - x_i differs from y_i] are 0 and 1 in some order",
    )


paper.claim(
    "O7",
    "Lemma 2",
    "For neighbours x, x' and any y the number d of differing positions changes by exactly one: `|d(x,y) - "
    "d(x',y)| = 1`.",
    near=("= 1", "= 2"),
    verdict="proved",
    instances=grid(n=range(1, 6)),
    check=distance_changes_by_one,
    proof=one_position_changes,
)


def privacy_set(n: int) -> list[tuple[Bits, Bits, Bits]]:
    """C_RR as printed in (7) and (8)."""
    zero = (0,) * n
    up = [(ones_first(i, n), ones_first(i + 1, n), zero) for i in range(n)]
    return up + [(ones_first(i, n), ones_first(i - 1, n), zero) for i in range(1, n + 1)]


def is_privacy_set(n: int, lam: Fraction, chosen: list[tuple[Bits, Bits, Bits]]) -> dict[str, int]:
    """Definition 4 for a set of triples, with the engine's laws."""
    instance = rr.bind(n=n, lam=lam)
    laws = {x: dict(instance.distribution(x).law) for x in all_bits(n)}
    ratios = {laws[x][y] / laws[other][y] for x, other, y in chosen}
    triples = [(x, other, y) for x in laws for other in one_changed(x) for y in laws[x]]
    return {
        "neighbouring triples whose ratio it lacks": sum(
            laws[x][y] / laws[other][y] not in ratios for x, other, y in triples
        ),
        "pairs that are no neighbours": sum(other not in one_changed(x) for x, other, _ in chosen),
        "|C_RR|": len(set(chosen)),
        "|C|": len(set(chosen)),
    }


def printed_set_is_right(n: int, lam: Fraction) -> dict[str, int]:
    """C_RR."""
    return is_privacy_set(n, lam, privacy_set(n))


def every_distance_is_there() -> None:
    """By Lemma 2 a neighbouring triple (x, x', y) has distances (d, d+1) with d <= n - 1, or (d, d-1) with d >= 1.
    By Lemma 1 its two probabilities are those of the element of C_RR with i = d of the first or second family. The
    elements are different: i is the number of ones of x, and the families differ in whether x' has more ones or
    fewer.
    """
    d, rest = symbols("d rest", integer=True, nonnegative=True)
    n = d + 1 + rest
    certain((n - 1 - d).is_nonnegative, "d + 1 <= n puts i = d among 0..n-1, the first family")
    certain((d + 1 - 1).is_nonnegative, "d >= 1 puts i = d among 1..n, the second family")
    i, size = symbols("i n", integer=True, positive=True)
    total = symbolic_sum(1, (i, 0, size - 1)) + symbolic_sum(1, (i, 1, size))
    identity(total, 2 * size, "the two families have 2n elements")


paper.claim(
    "O8a",
    "Thm 5",
    "C_RR = {(1^i 0^(n-i), 1^(i±1) 0^(n-i∓1), 0^n)} is a privacy set of RR (`neighbouring triples whose ratio "
    "it lacks = 0`) of neighbours (`pairs that are no neighbours = 0`) and has 2n elements: `|C_RR| = 2n`.",
    near=("= 2n", "= n"),
    verdict="proved",
    instances=grid(n=range(1, 5), lam=SMALL),
    quick=grid(n=range(1, 4), lam=("1/5",)),
    check=printed_set_is_right,
    proof=every_distance_is_there,
)


def two_are_enough(n: int, lam: Fraction) -> dict[str, int]:
    """The first triple of C_RR and its mirror image."""
    zero, one = (0,) * n, ones_first(1, n)
    return is_privacy_set(n, lam, [(zero, one, zero), (one, zero, zero)])


def one_is_enough(n: int, lam: Fraction) -> bool:
    """The first triple alone."""
    found = is_privacy_set(n, lam, [((0,) * n, ones_first(1, n), (0,) * n)])
    return found["neighbouring triples whose ratio it lacks"] == 0


paper.claim(
    "O8b",
    "Thm 5, beyond",
    "C = {(0^n, 10^(n-1), 0^n), (10^(n-1), 0^n, 0^n)} is a privacy set of RR already, for every n: `|C| = 2`, "
    "`neighbouring triples whose ratio it lacks = 0`, `pairs that are no neighbours = 0`.",
    near=Near("The first of the two triples alone is one.", one_is_enough),
    verdict="proved",
    extra=True,
    instances=grid(n=range(1, 5), lam=SMALL),
    quick=grid(n=range(1, 4), lam=("1/5",)),
    check=two_are_enough,
    proof=ratio_of_neighbours,
    notes="The ratio takes only two values, so that 2 triples and 2 inferences suffice where the paper has "
    "2n and n + 1.",
)


paper.row(
    "O8",
    "Thm 5",
    "C_RR = {(1^i 0^(n-i), 1^(i±1) 0^(n-i∓1), 0^n)} is a privacy set of RR and has 2n elements.",
    parts=("O8a", "O8b"),
    notes="The size is right; it is not the least possible.",
)


def inference_set_suffices(n: int) -> dict[str, int]:
    """Both sides of every triple of C_RR."""
    pairs = {(ones_first(i, n), (0,) * n) for i in range(n + 1)}
    needed = {pair for x, other, y in privacy_set(n) for pair in ((x, y), (other, y))}
    return {"|I_RR|": len(pairs), "pairs of C_RR that it lacks": len(needed - pairs)}


def prefixes_are_there() -> None:
    """An element of C_RR has x = 1^i 0^(n-i) and x' = 1^j 0^(n-j) with j = i + 1 (i <= n-1) or j = i - 1 (i >= 1),
    and output 0^n. In both cases 0 <= i, j <= n. The elements of I_RR are told apart by their number of ones, 0..n.
    """
    i, rest = symbols("i rest", integer=True, nonnegative=True)
    certain((i + 1 + rest - (i + 1)).is_nonnegative, "i <= n - 1 gives j = i + 1 <= n")
    certain(((i + 1) - 1).is_nonnegative, "i >= 1 gives j = i - 1 >= 0")
    k, n = symbols("k n", integer=True, positive=True)
    identity(symbolic_sum(1, (k, 0, n)), n + 1, "there are n + 1 numbers of ones")


paper.claim(
    "O9",
    "Thm 6",
    "I_RR = {(1^i 0^(n-i), 0^n)} contains what C_RR needs (`pairs of C_RR that it lacks = 0`) and has n+1 "
    "elements: `|I_RR| = n + 1`.",
    near=("= n + 1", "= n"),
    verdict="proved",
    instances=grid(n=range(1, 12)),
    check=inference_set_suffices,
    proof=prefixes_are_there,
)
