"""Section 5.3: symmetries for the privacy bound (Lemmas 1 and 2, Theorems 5 and 6)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from sympy import summation as symbolic_sum
from sympy import symbols

from tightdp.claims import certain, exhaustive, grid, identity

from .laws import SMALL, Bits, all_bits, one_changed, ones_first, ratio_of_neighbours, rr
from .paper import paper


def differing(x: Bits, y: Bits) -> int:
    """In how many positions x and y differ."""
    return sum(a != b for a, b in zip(x, y, strict=True))


def depends_on_distance(n: int, lam: Fraction) -> bool:
    """All pairs of an input and an output, by the engine."""
    instance = rr.bind(n=n, lam=lam)
    representative = [instance.probability(ones_first(i, n), (0,) * n) for i in range(n + 1)]
    laws = {x: dict(instance.distribution(x).law) for x in all_bits(n)}
    return all(p == representative[differing(x, y)] for x, law in laws.items() for y, p in law.items())


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
    "P(RR(x) = y) depends only on the number i of positions where x and y differ and equals P(RR(1^i 0^(n-i)) = 0^n).",
    verdict="proved",
    instances=grid(n=range(1, 6), lam=SMALL),
    quick=grid(n=range(1, 4), lam=("1/5",)),
    check=depends_on_distance,
    proof=distance_by_induction,
    notes="The lemma is printed for i from 1 to n; it holds for i = 0 too, where Theorem 5 uses it.",
)


def distance_changes_by_one(n: int) -> bool:
    """All neighbours and outputs."""
    return all(
        abs(differing(x, y) - differing(other, y)) == 1
        for x in all_bits(n)
        for other in one_changed(x)
        for y in all_bits(n)
    )


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
    "For neighbours x, x' the number of differing positions to any y changes by exactly one.",
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


def is_privacy_set(n: int, lam: Fraction, chosen: list[tuple[Bits, Bits, Bits]]) -> bool:
    """Definition 4, with the engine's laws; and the pairs are neighbours."""
    instance = rr.bind(n=n, lam=lam)
    laws = {x: dict(instance.distribution(x).law) for x in all_bits(n)}
    ratios = {laws[x][y] / laws[other][y] for x, other, y in chosen}
    covered = all(laws[x][y] / laws[other][y] in ratios for x in laws for other in one_changed(x) for y in laws[x])
    return covered and all(other in one_changed(x) for x, other, _ in chosen)


def printed_set_is_right(n: int, lam: Fraction) -> bool:
    """C_RR is a privacy set of 2n elements."""
    return is_privacy_set(n, lam, privacy_set(n)) and len(set(privacy_set(n))) == 2 * n


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
    "C_RR = {(1^i 0^(n-i), 1^(i±1) 0^(n-i∓1), 0^n)} is a privacy set of RR and has 2n elements.",
    verdict="proved",
    instances=grid(n=range(1, 5), lam=SMALL),
    quick=grid(n=range(1, 4), lam=("1/5",)),
    check=printed_set_is_right,
    proof=every_distance_is_there,
)


def two_are_enough(n: int, lam: Fraction) -> bool:
    """The first triple of C_RR and its mirror image are a privacy set."""
    zero, one = (0,) * n, ones_first(1, n)
    return is_privacy_set(n, lam, [(zero, one, zero), (one, zero, zero)])


paper.claim(
    "O8b",
    "Thm 5, beyond",
    "The two triples (0^n, 10^(n-1), 0^n) and (10^(n-1), 0^n, 0^n) are a privacy set of RR already, for every n.",
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


def inference_set_suffices(n: int) -> bool:
    """I_RR has n+1 elements, and both sides of every triple of C_RR."""
    pairs = {(ones_first(i, n), (0,) * n) for i in range(n + 1)}
    return len(pairs) == n + 1 and all((x, y) in pairs and (other, y) in pairs for x, other, y in privacy_set(n))


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
    "I_RR = {(1^i 0^(n-i), 0^n)} contains what C_RR needs and has n+1 elements.",
    verdict="proved",
    instances=grid(n=range(1, 12)),
    check=inference_set_suffices,
    proof=prefixes_are_there,
)
