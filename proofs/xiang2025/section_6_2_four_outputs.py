"""Section 6.2: the four-output mechanism, and the settings of Fig. 7 and 10."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

from sympy import Integer, symbols

from tightdp.claims import Correction, grid, identity, program

from .games import (
    ONE,
    ZERO,
    Table,
    all_bits,
    best_chance,
    delta_of,
    four_outputs,
    merged,
    of_pair,
    private,
    value_at,
)
from .lemmas import alpha, delta, q, t
from .paper import paper


def four_outputs_attain() -> None:
    """In the order of the likelihood ratio Q/P = ∞, t, 1/t, 0 the four outputs add to α the probabilities 0,
    (1-δ)/(1+t), (1-δ)t/(1+t), δ and take from β the mirrored ones. By the Neyman-Pearson lemma T is the broken line
    through the points so reached. f is a broken line too: with c = (1-δ)/(1+t) its first line is the larger one up
    to c, the second between c and 1-δ, then 0. Both are equal at the kinks, hence everywhere. The δ of the
    mechanism at t is δ + max(0, right - t·wrong) = δ. Bits go through the mechanism one by one, so neighbours of n
    bits differ in one such pair.

    For the reader: the lemma of Neyman and Pearson, and that broken lines with the same vertices are the same.
    """
    right, wrong = (1 - delta) * q, (1 - delta) / (1 + t)
    identity(right + wrong + delta, 1, "the probabilities of an input add up to 1")
    identity(right - t * wrong, 0, "so only the revealing output exceeds t times the other law: δ in all")
    points = [(Integer(0), 1 - delta), (wrong, 1 - delta - right), (wrong + right, Integer(0))]
    lines = (1 - delta - t * alpha, (1 - delta - alpha) / t)
    for (at, height), line, name in zip(
        points, (lines[0], lines[0], lines[1]), ("first", "second", "third"), strict=True
    ):
        identity(line.subs(alpha, at), height, f"f at the {name} vertex of T")
    identity(lines[1].subs(alpha, wrong), wrong, "the two lines of f meet there, on the diagonal")
    gap = (t - 1) / t * (1 - delta - alpha * (1 + t))
    identity(lines[0] - lines[1], gap, "the first line is the larger one exactly up to c, for t >= 1")
    identity(points[2][0], 1 - delta, "f and T reach 0 at 1 - δ")


four_output_program = program("randomized_response_delta")


def curve_of_four_outputs(n: int, t: Fraction, delta: Fraction) -> Iterator[dict[str, Any]]:
    """The engine's δ and trade-off function at the kinks of both, and at 0."""
    t, delta = Fraction(t), Fraction(delta)
    found = four_output_program.bind(n=n, delta=delta, exp_epsilon=t)
    vertices, one = list(found.tradeoff().vertices), four_outputs(0, delta, t)
    shared = {
        "least δ": found.delta(exp_epsilon=t).delta,
        "P(right)": one.get(0, ZERO),
        "P(wrong)": one.get(1, ZERO),
        "P(revealed)": one.get(2, ZERO),
    }
    corners = {ZERO, ONE, (1 - delta) / (1 + t), 1 - delta} | {kink for kink, _ in vertices}
    for at in sorted(corners | {kink / 2 for kink in corners}):
        yield {**shared, "y": at, "T(y)": value_at(vertices, at)}


paper.claim(
    "X2a",
    "Sec. 6.2",
    "The four-output randomized response (right bit (1-δ)e^ε/(1+e^ε), wrong bit (1-δ)/(1+e^ε), and an output "
    "that reveals the bit with probability δ) is (ε,δ)-DP, `least δ = δ`, and its trade-off function (over "
    "randomized tests) is exactly `T(y) = max(0, 1 - δ - e^ε·y, (1 - δ - y)/e^ε)`; here `P(right) = (1 - "
    "δ)e^ε/(1 + e^ε)`, `P(wrong) = (1 - δ)/(1 + e^ε)`, `P(revealed) = δ`.",
    verdict="argued",
    instances=grid(n=(1, 2, 3), t=(1, 2, 5), delta=("0", "1/10", "1/2", "1")),
    quick=grid(n=(1, 2), t=(2,), delta=("0", "1/10")),
    check=curve_of_four_outputs,
    proof=four_outputs_attain,
)


def least_by_events(t: Fraction, delta: Fraction, alpha: Fraction) -> Fraction:
    """The least β of a deterministic test with error at most α on the four-output mechanism, by listing."""
    p, q = four_outputs(0, delta, t), four_outputs(1, delta, t)
    outputs = sorted(p.keys() | q.keys())
    events = ([y for y, kept in zip(outputs, chosen, strict=True) if kept] for chosen in all_bits(len(outputs)))
    return min(
        1 - sum((q.get(y, ZERO) for y in event), ZERO)
        for event in events
        if sum((p.get(y, ZERO) for y in event), ZERO) <= alpha
    )


def deterministic_equals_f(t: Fraction, delta: Fraction, alpha: Fraction) -> dict[str, Any]:
    """Definition 2 to the letter, without randomized tests."""
    return {"least β": least_by_events(t, delta, alpha), "f(α)": of_pair(t, delta)(alpha)}


def deterministic_is_above(t: Fraction, delta: Fraction, alpha: Fraction) -> Iterator[dict[str, Any]]:
    """The staircase and f at α and at the kinks of f."""
    f = of_pair(t, delta)
    for kink in (ZERO, Fraction(1 - delta) / (1 + t), Fraction(1 - delta)):
        yield {
            "least β": least_by_events(t, delta, alpha),
            "f(α)": f(alpha),
            "least β at a kink": least_by_events(t, delta, kink),
            "f at a kink": f(kink),
        }


def deterministic_equals_f_again(t: Fraction, delta: Fraction, alpha: Fraction) -> dict[str, Any]:
    """The four outputs in a row, with their two errors; every set of them is a test."""
    keep, lose = (1 - delta) * t / (1 + t), (1 - delta) / (1 + t)
    p, q = (keep, lose, delta, Fraction(0)), (lose, keep, Fraction(0), delta)
    least = Fraction(1)
    for chosen in range(16):
        rejects = [at for at in range(4) if chosen >> at & 1]
        if sum(p[at] for at in rejects) <= alpha:
            least = min(least, 1 - sum(q[at] for at in rejects))
    return {"least β": least, "f(α)": max(Fraction(0), 1 - delta - t * alpha, (1 - delta - alpha) / t)}


paper.claim(
    "X2b",
    "Def. 2 to the letter",
    "The trade-off function of X2a is f with the tests R: Y -> {0,1} that Definition 2 prints, which are not "
    "randomized: the least β of a test with error at most α is `least β = f(α)`.",
    verdict="corrected",
    extra=True,
    instances=grid(t=(1, 2), delta=("0", "1/2"), alpha=("1/2", "1/3")),
    check=deterministic_equals_f,
    brute=deterministic_equals_f_again,
    at={"t": 1, "delta": 0, "alpha": "1/3"},
    minimal="smallest t, then smallest δ, then the α of smallest denominator",
    breaks="On finitely many outputs the errors α of deterministic tests are finitely many, so that T is a "
    "staircase. The sentence after Definition 2 says that T is convex and continuous, which is true of "
    "randomized tests.",
    corrected=Correction(
        "The staircase lies on or above f and touches it at the kinks of f: `least β >= f(α)`, `least β at a kink "
        "= f at a kink`.",
        verdict="holds on",
        instances=grid(t=(1, 2, 3), delta=("0", "1/10", "1/2"), alpha=("0", "1/10", "1/3", "1/2", "3/4")),
        quick=15,
        check=deterministic_is_above,
    ),
)


paper.row(
    "X2",
    "Sec. 6.2",
    "The four-output randomized response (right bit (1-δ)e^ε/(1+e^ε), wrong bit (1-δ)/(1+e^ε), and an "
    "output that reveals the bit with probability δ) is (ε,δ)-DP, and its trade-off function is exactly "
    "that f.",
    parts=("X2a", "X2b"),
    notes="Trade-off functions are meant with randomized tests, as in the work of Dong, Roth and Su that "
    "the paper builds on; everything below reads them so.",
)


def no_valid_value_is_smaller() -> None:
    """Reveal a uniformly chosen set of r secrets with probability nδ/r < 1, otherwise nothing. Every secret is
    revealed with probability δ, so the mechanism is (0, δ)-DP. If the set is revealed then the decoder releases its
    r secrets and makes exactly as many errors as it likes; otherwise it guesses at random. So for every u the
    probability of exactly u errors is at least nδ/r + (1 - nδ/r) P(Bin(r, 1/2) = u) > nδ/r. Hence a test by the
    number of errors that ever rejects (ε, δ)-DP, for any ε >= 0, rejects this mechanism with probability above
    nδ/r. In Fig. 7 r = n/5 and δ = 1/100, in Fig. 10 r = n and δ = 1/10.

    For the reader: that a test by the number of errors rejects at some number.
    """
    n, r, share, at_random = symbols("n r share c", positive=True)
    identity((n * delta / r) * (r / n), delta, "a secret is in the revealed set with probability δ")
    identity(share + (1 - share) * at_random - share, (1 - share) * at_random, "more than nδ/r, if nδ/r < 1")
    identity((n / (n / 5)) * Fraction(1, 100), Fraction(1, 20), "in Fig. 7 nδ/r is 1/20, the significance level")
    identity((n / n) * Fraction(1, 10), Fraction(1, 10), "in Fig. 10, with δ = 1/10, it is 1/10")


def group_is_revealed(n: int, r: int, delta: Fraction) -> dict[str, Any]:
    """Reveal r uniformly chosen bits with probability nδ/r."""
    table = private(revealed_group(n, r, delta), delta)
    return {"least δ": delta_of(table, ONE), "P(no error)": best_chance(table, r, 0)}


def revealed_group(n: int, r: int, delta: Fraction) -> Table:
    """With probability nδ/r a uniformly chosen set of r bits is revealed, otherwise nothing; δ <= r/n."""
    groups = list(combinations(range(n), r))
    share = n * delta / r / len(groups)
    return {
        x: merged([*(((group, tuple(x[i] for i in group)), share) for group in groups), (None, 1 - n * delta / r)])
        for x in all_bits(n)
    }


paper.claim(
    "X8d",
    "Sec. 6.2, Fig. 7 and Fig. 10",
    "For every n, r and δ < r/n: no test by the number of errors among r released guesses that ever rejects "
    "(ε,δ)-DP, for "
    "whatever ε, has a significance level of nδ/r or less: some mechanism with `least δ = δ` at ε = 0 has "
    "`P(no error) > n·δ/r`, and as often any other number of errors. With the r = n/5 and δ = 1/100 of Fig. 7 nδ/r is "
    "1/20, with the r = n and δ = 1/10 of Fig. 10 it is 1/10: such a test reports nothing at 95 % confidence there.",
    verdict="argued",
    extra=True,
    instances=[
        {"n": n, "r": r, "delta": delta}
        for n, r in ((1, 1), (2, 1), (2, 2), (3, 2), (4, 2), (5, 1))
        for delta in ("1/10", "1/100")
    ]
    + [{"n": 4, "r": 4, "delta": "9/10"}],
    quick=[{"n": 2, "r": 2, "delta": "1/10"}, {"n": 3, "r": 2, "delta": "1/100"}, {"n": 4, "r": 4, "delta": "9/10"}],
    check=group_is_revealed,
    proof=no_valid_value_is_smaller,
    notes="Sec. 6.2 holds it against the bound of Steinke, Nasr and Jagielski that it gives no meaningful "
    "result for δ = 1/100 and large n. With r = n/5 and a test by the number of errors no valid method can. It is "
    "about "
    "these tests and this r: other numbers of guesses do report (the optimal audit, `tightdp audit`, with r = n), as "
    "do "
    "tests of other statistics.",
)


paper.row(
    "X8",
    "Prop. 1",
    "P(at most u errors) <= exp(-λu + Σ ln(1 - v_k + v_k e^λ)) for every λ < 0.",
    parts=("X8a", "X8b", "X8c", "X8d", "X8e", "X8f"),
)
