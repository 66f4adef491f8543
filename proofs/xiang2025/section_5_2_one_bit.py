"""Section 5.2: one bit through an f-DP channel (Lemma 2)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sympy import symbols

from tightdp.claims import Correction, grid, identity, seeds

from .games import ONE, ZERO, all_bits, of_pair, random_pair, tradeoff, value_at
from .lemmas import x
from .paper import paper


def least_error_of_a_bit() -> None:
    """Whatever a decoder does at y, guessing 1 with probability φ, it errs there with ½(φP + (1-φ)Q), at least ½
    min(P, Q), which the likelihood-ratio rule attains at every y. So that rule has the least error. The error of a
    test with errors α, β is ½(α + β) >= ½(α + f(α)), with equality for the best test of each α, so that the least
    error is also the minimum of ½(α + f(α)). If -1 is a subgradient of f at a then f(x) >= f(a) - (x - a) for all
    x, that is, x + f(x) >= a + f(a): the minimum is at a.

    For the reader: that decoders act output by output.
    """
    p, extra, phi = symbols("p extra phi", nonnegative=True)
    identity(phi * (p + extra) + (1 - phi) * p - p, phi * extra, "P >= Q = p: guessing 0 is best, φ·extra more")
    identity(phi * p + (1 - phi) * (p + extra) - p, (1 - phi) * extra, "Q >= P = p: guessing 1 is best")
    a, fa = symbols("a fa")
    identity(x + (fa - (x - a)), a + fa, "the tangent of slope -1 has the same sum everywhere")


def least_error_is_at_slope_one(seed: int, outputs: int) -> Iterator[dict[str, Any]]:
    """All deterministic decoders of a random pair, the likelihood-ratio rule, and every a where -1 is a subgradient."""
    p, q = random_pair(seed, outputs)
    ys = sorted(p.keys() | q.keys())
    errors = [
        sum((p[y] if guess else q[y] for y, guess in zip(ys, rule, strict=True)), ZERO) / 2
        for rule in all_bits(len(ys))
    ]
    corners = tradeoff(p, q)
    for a in [a for a, b in corners if all(top >= b - (at - a) for at, top in corners)]:
        yield {
            "a": a,
            "f(a)": value_at(corners, a),
            "least error of all decoders": min(errors),
            "error of the likelihood-ratio rule": sum((q[y] if p[y] >= q[y] else p[y] for y in ys), ZERO) / 2,
        }


paper.claim(
    "X3a",
    "Lemma 2, App. B.1",
    "For one bit through a pair with trade-off function f the least error is (a + f(a))/2 where -1 is a "
    "subgradient of f at a, attained by the likelihood-ratio rule: `least error of all decoders = error of "
    "the likelihood-ratio rule = (a + f(a))/2`.",
    verdict="argued",
    instances=seeds(40, outputs=3) + seeds(20, outputs=5),
    quick=30,
    check=least_error_is_at_slope_one,
    proof=least_error_of_a_bit,
    notes="For asymmetric f too; every decoder is listed in the checked instances.",
)


def where_slope_is_minus_one() -> None:
    """x + f(x) is continuous on [0, 1] and has a minimum there, where 0 is a subgradient of it: a exists in [0, 1].
    Let f be symmetric (f its own generalized inverse) with f(0) > 0. As f(1) = 0 and f is continuous it has a fixed
    point c in (0, 1). For any x the points (x, f(x)) and (f(x), x) both lie on or above the graph, hence so does
    their midpoint (m, m), m = (x + f(x))/2. As f falls, f(m) <= m means m >= c. So x + f(x) >= 2c = c + f(c): -1 is
    a subgradient at c.

    For the reader: that a continuous function has a minimum, and a fixed point.
    """
    fx, c = symbols("fx c")
    identity((x + fx) / 2, (fx + x) / 2, "the midpoint of a point and its mirror image lies on the diagonal")
    identity(2 * ((x + fx) / 2), x + fx, "m >= c says x + f(x) >= 2c")
    identity(fx - (c - (x - c)), (x + fx) - 2 * c, "and that is f(x) >= f(c) - (x - c)")


def inner_point(h: Fraction) -> dict[str, Fraction]:
    """The largest of 0, 1/4, 1/2, 3/4 at which x + f(x) is least, f the trade-off function of δ_y against h·δ_y +
    ..."""
    corners = tradeoff({"y": ONE}, {"y": h, "z": 1 - h})
    sums = {Fraction(s, 4): Fraction(s, 4) + value_at(corners, Fraction(s, 4)) for s in range(4)}
    return {"a": max(a for a, total in sums.items() if total == min(sums.values()))}


def inner_point_again(h: Fraction) -> dict[str, Fraction]:
    """x + h(1-x) rises with x unless h = 1, so that it is least at 0 only."""
    return {"a": Fraction(0) if h < 1 else Fraction(3, 4)}


def at_the_fixed_point(t: Fraction, delta: Fraction) -> Iterator[dict[str, Any]]:
    """f_{ε,δ} at its fixed point and at x = 0, 1/20, ..., 1."""
    f, c = of_pair(t, delta), (1 - delta) / (1 + t)
    yield from ({"c": c, "f(c)": f(c), "x": Fraction(s, 20), "f(x)": f(Fraction(s, 20))} for s in range(21))


paper.claim(
    "X3b",
    "Lemma 2, after (14)",
    "There is such an a in (0, 1), for every trade-off function: one at which x + f(x) is least has `a > 0`, a here "
    "the "
    "largest of 0, 1/4, 1/2 and 3/4 at which it is.",
    verdict="corrected",
    extra=True,
    instances=grid(h=(1, "1/2", "1/3")),
    check=inner_point,
    brute=inner_point_again,
    at={"h": "1/2"},
    minimal="the h of smallest denominator in f(x) = h(1-x)",
    breaks="P = δ_y against Q with Q(y) = h, Q(z) = 1 - h has f(x) = h(1 - x), of slope -h on (0, 1). The lemma "
    "takes the minimum to be inside (0, 1); for an asymmetric f it may be at the end a = 0.",
    corrected=Correction(
        "There is such an a in [0, 1]; and in (0, 1), at the fixed point c = f(c), if f is symmetric and f(0) > "
        "0: `x + f(x) >= 2c` for all x, where `f(c) = c` (here f is that of (ε,δ), where `c = (1 - δ)/(1 + "
        "e^ε)`).",
        check=at_the_fixed_point,
        instances=grid(t=(1, 2, 3), delta=("0", "1/10", "1/4")),
        verdict="argued",
        proof=where_slope_is_minus_one,
    ),
    stands="Lemma 2 with a in [0, 1]; for the symmetric f of the paper nothing changes.",
)


paper.row(
    "X3",
    "Lemma 2",
    "For one bit through a pair with trade-off function f the least error is (a + f(a))/2 where -1 is a "
    "subgradient of f at a, attained by the likelihood-ratio rule.",
    parts=("X3a", "X3b"),
)
