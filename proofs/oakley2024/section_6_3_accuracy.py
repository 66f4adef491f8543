"""Section 6.3: the inputs of lowest accuracy (Table 3)."""

from __future__ import annotations

from fractions import Fraction

from tightdp.claims import Correction, Exactly, every, grid

from .laws import FIFTH, all_bits, rr_count
from .paper import paper

NEXT = Fraction(9723904, 10**7)


def accuracies_of_classes(alpha: int) -> list[Fraction]:
    """P(|count - c| <= α) for c = 0..8, from the law of the sum of two binomials."""
    found = []
    for c in range(9):
        law = [Fraction(1)]
        for client in range(8):
            up = 1 - FIFTH if client < c else FIFTH
            law = [a * (1 - up) + b * up for a, b in zip([*law, Fraction(0)], [Fraction(0), *law], strict=True)]
        found.append(sum((p for y, p in enumerate(law) if abs(y - c) <= alpha), Fraction(0)))
    return found


def accuracies(alpha: int) -> list[Fraction]:
    """1-β of each of the 256 inputs."""
    near = accuracies_of_classes(alpha)
    return [near[sum(x)] for x in all_bits(8)]


def nearest(alpha: int, rank: int) -> tuple[Fraction, int]:
    """The value of a rank, from the lowest on, and how many inputs have it."""
    found = accuracies(alpha)
    value = sorted(set(found))[rank]
    return value, found.count(value)


RANKED = {
    "lowest": ("the lowest 1-β of the 256 inputs of RR count", lambda alpha: nearest(int(alpha), 0)[0]),
    "N1": ("how many inputs have it, 0^8 and 1^8", lambda alpha: nearest(int(alpha), 0)[1]),
    "second": ("the second lowest", lambda alpha: nearest(int(alpha), 1)[0]),
    "N2": ("how many inputs have that, with one 1 or one 0", lambda alpha: nearest(int(alpha), 1)[1]),
}
TABLE_THREE = every("n, λ, α", among=[(8, FIFTH, 3)])

paper.claim(
    "O14a",
    "Table 3",
    Exactly(
        TABLE_THREE,
        says=["lowest = 0.9437184, second = 0.9723904, N1 = 2, N2 = 16"],
        where=RANKED,
    ),
    verdict="decided",
    notes="The α that is not printed is 3 (any 3 <= α < 4): 0.9437184 is a value for no other whole α.",
)


def at_most_next(n: int, lam: Fraction, alpha: int) -> dict[str, int]:
    """How many inputs have at most the second lowest 1 - β, by the engine."""
    return {"inputs": sum(each.inputs for each in rr_count.bind(n=n, lam=lam).accuracy(alpha, top=2).top)}


def at_most_next_listed(n: int, lam: Fraction, alpha: int) -> dict[str, int]:
    """The same by listing 256 inputs."""
    return {"inputs": sum(each <= NEXT for each in accuracies(alpha)) if (n, lam) == (8, FIFTH) else 0}


paper.claim(
    "O14b",
    "Table 3, as a list of inputs",
    "With `n = 8, λ = 1/5, α = 3` these four inputs are the only ones with 1-β at most 0.9723904: `inputs = 4`.",
    unclaimed=True,
    verdict="corrected",
    extra=True,
    instances=grid(n=(8,), lam=("1/5",), alpha=(3,)),
    check=at_most_next,
    brute=at_most_next_listed,
    at={"n": 8, "lam": "1/5", "alpha": 3},
    minimal="the only instance of the claim",
    breaks="Inputs are ranked by representatives (sorted), and 16 inputs tie for the third place. The text "
    "says that it lists the examples with a unique 1-β, but the table has two pairs of equal values.",
    corrected=Correction(
        Exactly(
            TABLE_THREE,
            says=["N1 + N2 = 18"],
            where=RANKED,
        ),
        verdict="decided",
    ),
)


paper.row(
    "O14",
    "Table 3",
    "RR count, n=8, λ=1/5: the four inputs with the lowest 1-β are 0^8, 1^8 at 0.9437184, then 01111111 and "
    "00000001 at 0.9723904 (the α used is not printed).",
    parts=("O14a", "O14b"),
    notes="α = 3. The four are a right choice among ties.",
)
