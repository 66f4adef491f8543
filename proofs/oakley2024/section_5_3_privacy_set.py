"""Section 5.3: symmetries for the privacy bound (Lemmas 1 and 2, Theorems 5 and 6)."""

from __future__ import annotations

from fractions import Fraction

from sympy import summation as symbolic_sum
from sympy import symbols

from tightdp.claims import Exactly, Places, certain, columns, every, grid, identity

from .laws import BITS, RR, RR_PRIME, SMALL, Bits, all_bits, one_changed, ones_first, rr
from .paper import paper

DISTANCE = ("the number of places in which x and y differ", Places(lambda x, y: int(x != y)))


paper.claim(
    "O6",
    "Lemma 1",
    Exactly(
        every("λ"),
        columns({"x": BITS, "y": BITS}),
        says=["P(RR(x) = y) = λ^i·(1 - λ)^(n - i)"],
        where={"P(RR(x) = y)": RR, "i": DISTANCE},
    ),
    verdict="decided",
    notes="So it depends on n and i only, and is P(RR(1^i 0^(n-i)) = 0^n). The lemma is printed for i from 1 to n; it "
    "holds for i = 0 too, where Theorem 5 uses it.",
)


paper.claim(
    "O7",
    "Lemma 2",
    Exactly(
        columns({"x": BITS, "x'": BITS, "y": BITS}, neighbours=("x", "x'")),
        says=["|d(x,y) - d(x',y)| = 1"],
        where={
            "d(x,y)": DISTANCE,
            "d(x',y)": ("the same for x' and y", Places(lambda x_prime, y: int(x_prime != y))),
        },
    ),
    verdict="decided",
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
        "missing": sum(laws[x][y] / laws[other][y] not in ratios for x, other, y in triples),
        "strangers": sum(other not in one_changed(x) for x, other, _ in chosen),
        "|C_RR|": len(set(chosen)),
    }


def printed_set_is_right(n: int, lam: Fraction) -> dict[str, int]:
    """C_RR."""
    return is_privacy_set(n, lam, privacy_set(n))


def every_distance_is_there() -> None:
    """By Lemma 2 a neighbouring triple (x, x', y) has distances (d, d+1) with d <= n - 1, or (d, d-1) with d >= 1.
    By Lemma 1 its two probabilities are those of the element of C_RR with i = d of the first or second family. The
    elements are different: i is the number of ones of x, and the families differ in whether x' has more ones or
    fewer.

    For the reader: Lemmas 1 and 2 (O6, O7), which give the ratios.
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
    "C_RR = {(1^i 0^(n-i), 1^(i±1) 0^(n-i∓1), 0^n)} is a privacy set of RR: of neighbouring triples (x, x', y), the "
    "number whose ratio it does not have is `missing = 0`, the number of its pairs that are no neighbours is "
    "`strangers = 0`, and it has `|C_RR| = 2n` elements.",
    verdict="argued",
    instances=grid(n=range(1, 5), lam=SMALL),
    quick=grid(n=range(1, 4), lam=("1/5",)),
    check=printed_set_is_right,
    proof=every_distance_is_there,
)


paper.claim(
    "O8b",
    "Thm 5, beyond",
    Exactly(
        every("0 < λ < 1"),
        columns({"x": BITS, "x'": BITS, "y": BITS}, neighbours=("x", "x'")),
        says=["(r - (1 - λ)/λ)·(r - λ/(1 - λ)) = 0"],
        where={
            "P(RR(x) = y)": RR,
            "P(RR(x') = y)": RR_PRIME,
            "r": ("the likelihood ratio of neighbours", "P(RR(x) = y)/P(RR(x') = y)"),
        },
    ),
    verdict="decided",
    extra=True,
    notes="The ratio takes only two values, those of (0^n, 10^(n-1), 0^n) and (10^(n-1), 0^n, 0^n): these 2 triples "
    "are "
    "a privacy set already, with 2 inferences, where the paper has 2n and n + 1.",
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
    return {"|I_RR|": len(pairs), "missing": len(needed - pairs)}


def prefixes_are_there() -> None:
    """An element of C_RR has x = 1^i 0^(n-i) and x' = 1^j 0^(n-j) with j = i + 1 (i <= n-1) or j = i - 1 (i >= 1),
    and output 0^n. In both cases 0 <= i, j <= n. The elements of I_RR are told apart by their number of ones, 0..n.

    For the reader: that the elements are told apart by their number of ones.
    """
    i, rest = symbols("i rest", integer=True, nonnegative=True)
    certain((i + 1 + rest - (i + 1)).is_nonnegative, "i <= n - 1 gives j = i + 1 <= n")
    certain(((i + 1) - 1).is_nonnegative, "i >= 1 gives j = i - 1 >= 0")
    k, n = symbols("k n", integer=True, positive=True)
    identity(symbolic_sum(1, (k, 0, n)), n + 1, "there are n + 1 numbers of ones")


paper.claim(
    "O9",
    "Thm 6",
    "I_RR = {(1^i 0^(n-i), 0^n)} contains what C_RR needs: of the pairs (x, y) and (x', y) of its triples, the number "
    "that it lacks is `missing = 0`. It has `|I_RR| = n + 1` elements.",
    verdict="argued",
    instances=grid(n=range(1, 12)),
    check=inference_set_suffices,
    proof=prefixes_are_there,
)
