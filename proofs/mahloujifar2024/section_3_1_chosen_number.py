"""Section 3.1, beyond: the sharp bound where the output chooses the number of guesses."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

from sympy import symbols

from tightdp.claims import identity, random_dp_law

from .games import ZERO, binomial_law, delta_of, guesses_of, right, symmetric_laws
from .paper import paper

ONE = Fraction(1)
Corner = tuple[Fraction, Fraction, int]
"""A point (δ, P(rejected)) that r guesses reach, and r."""


def corners(m: int, t: Fraction, least: tuple[int, ...]) -> list[Corner]:
    """(0, T_r) and (c·b/(m·T_r), 1) for every number r of guesses, which reject from c = least[r-1] right ones on."""
    found = []
    for r, c in enumerate(least, 1):
        law = binomial_law(r, t, 2)
        tail = sum(law[c:], ZERO)
        found += [(ZERO, tail, r), (c * law[c] / (m * tail), ONE, r)]
    return found


def mixture(points: list[Corner], delta: Fraction) -> tuple[Fraction, list[tuple[Fraction, Corner]]]:
    """The highest value at δ of a point to its left, or of a line between two, and the weights of its ends."""
    best: tuple[Fraction, list[tuple[Fraction, Corner]]] = (ZERO, [])
    for point in points:
        if point[0] <= delta and point[1] > best[0]:
            best = point[1], [(ONE, point)]
    for left, other in combinations(sorted(points), 2):
        if left[0] <= delta < other[0]:
            share = (delta - left[0]) / (other[0] - left[0])
            value = (1 - share) * left[1] + share * other[1]
            if value > best[0]:
                best = value, [(1 - share, left), (share, other)]
    return best


def law_of_corner(point: Corner, t: Fraction, least: tuple[int, ...]) -> list[Fraction]:
    """The numbers of right guesses of r at a corner: binomial, or that given that at least c are right."""
    law, c = binomial_law(point[2], t, 2), least[point[2] - 1]
    if point[1] < 1:
        return law
    tail = sum(law[c:], ZERO)
    return [ZERO if i < c else p / tail for i, p in enumerate(law)]


def best_choice(seed: int, m: int, t: Fraction, delta: Fraction, least: tuple[int, ...]) -> Fraction:
    """P(rejected) for a random (ε,δ)-DP mechanism and its best guesser, who may guess any number of secrets."""
    laws = random_dp_law(seed, m, outputs=3, exp_epsilon=t, delta=delta)
    options = [guess for guess in guesses_of(m, 2, m) if any(each is not None for each in guess)]
    total = ZERO
    for out in next(iter(laws.values())):
        total += max(
            sum((law[out] for u, law in laws.items() if right(u, guess) >= least[m - guess.count(None) - 1]), ZERO)
            for guess in options
        )
    return total / len(laws)


def sharp_for_a_choice(seed: int, m: int) -> Iterator[dict[str, Any]]:
    """Random ε, δ and thresholds."""
    random = Random(seed)
    t, delta = Fraction(random.randint(4, 12), 4), Fraction(random.randint(1, 12), 40)
    least = tuple(random.randint(1, r) for r in range(1, m + 1))
    most, ends = mixture(corners(m, t, least), delta)
    shares: dict[int, list[Fraction]] = {}
    for weight, point in ends:
        law = shares.setdefault(point[2], [ZERO] * (point[2] + 1))
        for i, p in enumerate(law_of_corner(point, t, least)):
            law[i] += weight * p
    laws, guesser = symmetric_laws(m, 2, shares)
    chance = [
        sum((p for out, p in law.items() if right(u, guess := guesser[out]) >= least[m - guess.count(None) - 1]), ZERO)
        for u, law in laws.items()
    ]
    yield {
        "E": most,
        "δ": delta,
        "δ of the mechanism": delta_of(laws, 2, t),
        "P(rejected)": min(chance),
        "P(rejected) of others": best_choice(seed, m, t, delta, least),
    }


def a_choice_mixes() -> None:
    """For a number r of guesses let p_i be the probability that r guesses are made and i are right, w their sum, and
    X ~ Bin(r, q), q = e^ε/(1+e^ε), t = e^ε, b_i = P(X = i), x_i = p_i/b_i. After averaging over the names of secrets
    and their values, what r uses of δ is κ/m, where κ is the sum of max(0, i·p_i - t(r-i+1)·p_(i-1)), that is of
    i·b_i·max(0, x_i - x_(i-1)), as i·b_i = t(r-i+1)·b_(i-1); over all r these add up to δ at most.

    Let T = P(X >= c), L = 1 - T. The probability that r guesses are made and c right exceeds T·w by the sum of
    b_i·b_j·(x_i - x_j) over i >= c > j, at most that of W_l·max(0, x_l - x_(l-1)), where W_l is P(X >= l)·L for l >=
    c and T·P(X < l) for l <= c. Now l·b_l/P(X >= l) rises with l, as all b_(l+j)/b_l fall, and l·b_l/P(X < l), which
    is t(r-l+1)·b_(l-1)/P(X < l), falls: so W_l <= l·b_l·TL/(c·b_c), and the excess is at most κ·TL/(c·b_c). It is at
    most w - T·w besides. So given r the point (what is used of δ, P(rejected)), both divided by w, lies on or below
    the line from (0, T) to (c·b_c/(m·T), 1), and below 1; mixed over r it lies below the least concave function above
    all these. Both ends are attained: by the binomial law, and by it given that at least c are right; and so are
    mixtures.

    For the reader: the averaging over names of secrets, the telescoping of x_i - x_j, and concavity.
    """
    i, r, b, t, mm, tail, c, total, low = symbols("i r b t m T c A B", positive=True)
    above = b * (r - i + 1) / i * t
    identity(i * above, t * (r - i + 1) * b, "i·b_i = t(r-i+1)·b_(i-1) for the binomial law with odds t")
    identity(
        (1 - tail) * total - tail * low, total - tail * (total + low), "L·A - T·B is the excess of A over T·(A + B)"
    )
    ratio = (r - i) / (i + 1) * t
    identity(ratio.subs(i, i - 1) - ratio, t * (r + 1) / (i * (i + 1)), "b_(i+1)/b_i falls with i")
    used = c * b / (mm * tail)
    identity(tail + mm * used * tail * (1 - tail) / (c * b), 1, "the line reaches 1 at c·b_c/(m·T)")
    identity(c * b / tail, mm * used, "which is what the conditioned law uses: its one rise is x_c = 1/T")


paper.claim(
    "M10",
    "Def. 6, 8, the sharp bound",
    "Let the output choose the number r of guesses, and let (ε,δ)-DP be rejected if at least c(r) are right (k = 2). "
    "Then `P(rejected) of others <= E`, and a mechanism with `δ of the mechanism <= δ` has `P(rejected) = E`: E is "
    "the value at δ of the least concave function on or above the points (0, T) and (c·b/(m·T), 1) of all r, and "
    "beyond, where T = P(X >= c), b = P(X = c), X ~ Bin(r, e^ε/(1+e^ε)), c = c(r).",
    verdict="argued",
    extra=True,
    instances=[{"seed": seed, "m": m} for m in (1, 2, 3) for seed in range(8)],
    quick=12,
    check=sharp_for_a_choice,
    proof=a_choice_mixes,
    notes="In M6c the points are (0, 37/256) of 8 guesses and (3/8, 1) of 3: at δ = 1/16 the line between them is at "
    "(5/6)(37/256) + 1/6 = 147/512, so that no mechanism is rejected more often by that pair.",
)
