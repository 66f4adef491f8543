"""Section 5.4: symmetries for the accuracy bound (Lemma 3, Theorem 7, sizes)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from sympy import summation as symbolic_sum
from sympy import symbols

from tightdp.claims import Correction, grid, identity

from .laws import SMALL, all_bits, inference_set, ones_first, rr_count
from .paper import paper


def law_depends_on_ones(n: int, lam: Fraction) -> dict[str, int]:
    """All inputs against their representatives."""
    instance = rr_count.bind(n=n, lam=lam)
    laws = {x: instance.distribution(x).law for x in all_bits(n)}
    return {
        "others": sum(law != laws[ones_first(sum(x), n)] for x, law in laws.items()),
        "laws": len(set(laws.values())),
    }


def generating_functions_commute() -> None:
    """The count is a sum of independent bits, so its generating function is the product of one factor per client:
    (1-λ) + λz for a 0 and λ + (1-λ)z for a 1. Factors commute, so that the product depends on x only through how
    many there are of each; and so do the target c and with it P(|count - c| <= α), for every α. 1^c 0^(n-c) has c
    ones.

    For the reader: that a law is determined by its generating function.
    """
    lam, z = symbols("lambda z")
    zero, one = (1 - lam) + lam * z, lam + (1 - lam) * z
    identity(zero * one, one * zero, "two clients may change places: any order can be sorted")
    for client, factor in ((0, zero), (1, one)):
        law = {y: lam if y != client else 1 - lam for y in (0, 1)}
        identity(sum(p * z**y for y, p in law.items()), factor, f"the factor of a client with bit {client}")


paper.claim(
    "O10",
    "Lemma 3, Thm 7",
    "The law of RR count depends on x only through its number c of ones, so that {1^i 0^(n-i)} is an accuracy set: the "
    "number of inputs whose law is not that of 1^c 0^(n-c) is `others = 0`, and there are `laws = n + 1` laws.",
    verdict="argued",
    instances=grid(n=range(1, 6), lam=SMALL),
    quick=grid(n=range(1, 4), lam=("1/5",)),
    check=law_depends_on_ones,
    proof=generating_functions_commute,
    notes="The printed proof of Lemma 3 ends in an equality without an argument; the generating function supplies one.",
)


def accuracy_set_size_corrected(n: int, alpha: int) -> dict[str, int]:
    """The set that (10) lists."""
    return {"|A|": len({ones_first(i, n) for i in range(n + 1)})}


def prefixes_counted() -> None:
    """The elements 1^i 0^(n-i) are told apart by their number of ones, which takes the values 0..n; α plays no
    part.

    For the reader: that the elements are told apart by their number of ones.
    """
    i, n = symbols("i n", integer=True, positive=True)
    identity(symbolic_sum(1, (i, 0, n)), n + 1, "there are n + 1 numbers of ones")


def accuracy_set_size_again(n: int, alpha: int) -> dict[str, int]:
    """Sorting every input leaves as many as there are classes."""
    return {"|A|": len({tuple(sorted(x)) for x in product((0, 1), repeat=n)})}


paper.claim(
    "O11a",
    "Sec. 5.4.2",
    "The accuracy set A of RR count has `|A| = (n + 1)·α` elements, where `1 <= α <= n/2`.",
    brief="The accuracy set has n + 1 elements, not (n+1)·α: 5 against 10 at n = 4, α = 2.",
    verdict="corrected",
    instances=[{"n": n, "alpha": alpha} for n in range(2, 7) for alpha in range(1, n // 2 + 1)],
    check=accuracy_set_size_corrected,
    brute=accuracy_set_size_again,
    at={"n": 4, "alpha": 2},
    minimal="smallest n, then smallest α, with 1 <= α and 2α <= n as the paper supposes (for α = 1 the size is right)",
    breaks="The factor α belongs to the work per input, not to the size of the set, which (10) defines without α.",
    corrected=Correction(
        "It has `|A| = n + 1` elements, for every α.",
        verdict="argued",
        instances=grid(n=range(1, 8), alpha=range(4)),
        check=accuracy_set_size_corrected,
        proof=prefixes_counted,
    ),
)


def inference_set_size_corrected(n: int, alpha: int) -> dict[str, int]:
    """The pairs of (11), with outputs in 0..n and with any integers."""
    every = [(i, j) for i in range(n + 1) for j in range(-alpha, n + alpha + 1) if abs(i - j) <= alpha]
    return {"|I|": len(inference_set(n, alpha)), "|I'|": len(every)}


def sizes_by_summing() -> None:
    """For every i there are 2α + 1 integers j with |i - j| <= α. Below 0 lie α - i of them when i < α and none
    otherwise, and by the mirror i -> n - i as many in all lie above n. For α <= n the sum over i <= α - 1 is
    α(α+1)/2, twice.

    For the reader: the mirror i -> n - i, and that for α <= n no output is cut off at both ends wrongly.
    """
    i, n, alpha = symbols("i n alpha", integer=True, positive=True)
    identity(symbolic_sum(1, (i, 0, n)), n + 1, "i takes n + 1 values")
    below = symbolic_sum(alpha - i, (i, 0, alpha - 1))
    identity(below, alpha * (alpha + 1) / 2, "the j below 0")
    identity(
        (n + 1) * (2 * alpha + 1) - 2 * below,
        (n + 1) * (2 * alpha + 1) - alpha * (alpha + 1),
        "all pairs less those below 0 and above n",
    )


def inference_set_size_again(n: int, alpha: int) -> dict[str, int]:
    """Adding up the lengths of the intervals of outputs."""
    return {"|I|": sum(min(n, i + alpha) - max(0, i - alpha) + 1 for i in range(n + 1))}


paper.claim(
    "O11b",
    "Sec. 5.4.2",
    "The inference set I of RR count has `|I| = n·2α` elements, where `1 <= α <= n/2`.",
    brief="The inference set has (n+1)(2α+1) - α(α+1) elements, not n·2α: 7 against 4 at n = 2, α = 1.",
    verdict="corrected",
    instances=[{"n": n, "alpha": alpha} for n in range(2, 7) for alpha in range(1, n // 2 + 1)],
    check=inference_set_size_corrected,
    brute=inference_set_size_again,
    at={"n": 2, "alpha": 1},
    minimal="smallest n, then smallest α, with 1 <= α and 2α <= n as the paper supposes",
    breaks="There are n + 1 inputs, not n, and an interval of radius α has 2α + 1 integers, not 2α; some "
    "are no outputs.",
    corrected=Correction(
        "For integers with `0 <= α <= n` it has `|I| = (n + 1)(2α + 1) - α(α + 1)` elements, outputs being in 0..n; "
        "without that restriction, as (11) is printed, `|I'| = (n + 1)(2α + 1)`.",
        verdict="argued",
        instances=[{"n": n, "alpha": alpha} for n in range(1, 10) for alpha in range(n + 1)],
        check=inference_set_size_corrected,
        proof=sizes_by_summing,
    ),
    notes="Both agree by accident at single points, for instance n = 5, α = 3 (30 elements).",
)


paper.row(
    "O11",
    "Sec. 5.4.2",
    "The accuracy set has (n+1)·α elements and the inference set n·2α.",
    parts=("O11a", "O11b"),
    stands="The running times that follow: the inference set is at most (n+1)·min(2α+1, n+1), which is "
    "O(nα) and O(n²).",
)
