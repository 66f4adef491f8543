"""Section 2: f-DP and (ε,δ)-DP (Proposition 3, Remark 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

from tightdp.claims import Correction, Exactly, every, grid, identity, program
from tightdp.session.instance import Instance

from .games import Curve, blow_up, delta_of, one_sided, symmetric
from .lemmas import delta, t, x, y
from .mechanisms import BELOW, random_laws
from .paper import paper


def same_inequality() -> None:
    """Definition 1 asks P(T) <= e^ε P'(T) + δ and Definition 2 asks P(T) <= 1 - f(P'(T)), for the same pairs and
    events. With this f the right sides are equal, so each implies the other.

    For the reader: nothing but the two definitions.
    """
    identity(1 - (1 - delta - t * y), t * y + delta, "1 - f(y) = t y + δ, t = e^ε")


LEVELS = grid(delta=("0", "1/10", "1/4"), t=("1", "2", "3", "4"))


rr_delta = program("randomized_response_delta")


@cache
def one_record(delta: Fraction) -> tuple[Instance, list[dict[Any, Fraction]]]:
    """The engine's laws of randomized response with four outputs, one record, e^ε = 3."""
    instance = rr_delta.bind(n=1, delta=delta, exp_epsilon=3)
    return instance, [dict(instance.distribution((bit,)).law) for bit in (0, 1)]


def beyond_f(laws: list[dict[Any, Fraction]], curve: Curve) -> Fraction:
    """The largest P(T) - (1 - f(P'(T))) of two laws in both orders and all events T."""
    outputs = sorted({out for law in laws for out in law})
    return max(
        total(ours, event) - blow_up(curve, total(theirs, event))
        for ours, theirs in (laws, laws[::-1])
        for size in range(len(outputs) + 1)
        for event in combinations(outputs, size)
    )


def total(law: dict[Any, Fraction], event: Iterable[Any]) -> Fraction:
    """The probability of an event."""
    return sum((law.get(out, Fraction(0)) for out in event), Fraction(0))


def events_within(delta: Fraction, t: Fraction) -> list[dict[str, Any]]:
    """The engine's least δ at t for one record, and both probabilities of every event, in both orders."""
    instance, laws = one_record(delta)
    outputs = sorted({out for law in laws for out in law})
    pairs = [
        (total(ours, event), total(theirs, event))
        for ours, theirs in (laws, laws[::-1])
        for size in range(len(outputs) + 1)
        for event in combinations(outputs, size)
    ]
    shared = {
        "least δ": instance.delta(exp_epsilon=t).delta,
        "largest P(T) - e^ε·P'(T)": max(p - t * q for p, q in pairs),
    }
    return [{**shared, "P(T)": p, "P'(T)": q} for p, q in pairs]


paper.claim(
    "M1a",
    "Prop. 3, if",
    "A mechanism that is f-DP with 1 - f(x) = e^ε x + δ is (ε,δ)-DP: `least δ <= largest P(T) - e^ε·P'(T)`, "
    "over all events T and neighbours.",
    verdict="argued",
    instances=LEVELS,
    quick=12,
    check=events_within,
    proof=same_inequality,
)


paper.claim(
    "M1b",
    "Prop. 3, only if",
    "A mechanism that is (ε,δ)-DP is f-DP with 1 - f(x) = e^ε x + δ: `P(T) <= e^ε·P'(T) + least δ` for all "
    "events T and neighbours.",
    verdict="argued",
    instances=LEVELS,
    quick=12,
    check=events_within,
    proof=same_inequality,
    notes="The earlier draft says *if and only if*, the later one only *if*; both directions hold.",
)


TRADEOFFS = grid(t=("1", "3/2", "2", "3"), delta=("0", "1/4", "1/10"))


def ends_of_printed(t: Fraction, delta: Fraction) -> dict[str, Any]:
    """The printed f = 1 - f̄ at 1, from its line."""
    ((slope, offset),) = one_sided(t, delta)
    return {"f(1)": 1 - (slope + offset)}


def ends_again(t: Fraction, delta: Fraction) -> dict[str, Any]:
    """1 - δ - e^ε."""
    return {"f(1)": 1 - delta - t}


paper.claim(
    "M1c",
    "Prop. 3 with Remark 4",
    "The f of Proposition 3 is a trade-off function in the sense of Remark 4, which f-DP always implies: f "
    "maps [0,1] to [0,1], is convex, falls, and f(x) <= 1 - x; at 1, then, `0 <= f(1) <= 0`.",
    verdict="corrected",
    extra=True,
    instances=TRADEOFFS,
    check=ends_of_printed,
    brute=ends_again,
    at={"t": 1, "delta": "1/4"},
    minimal="smallest e^ε, then first δ (for ε = δ = 0 the printed f is a trade-off function)",
    breaks="f(1) = 1 - δ - e^ε is negative unless ε = δ = 0.",
    corrected=Correction(
        Exactly(
            every("t >= 1"),
            every("δ >= 0"),
            every("0 <= x <= 1"),
            every("h >= 0"),
            says=["0 <= f(x) <= 1 - x", "f(x + h) <= f(x)", "2·f(x) <= f(x - h) + f(x + h)"],
            where={
                "f(x)": "max(0, 1 - δ - t·x)",
                "f(x + h)": "max(0, 1 - δ - t·(x + h))",
                "f(x - h)": "max(0, 1 - δ - t·(x - h))",
            },
        ),
        verdict="decided",
    ),
    notes="With t = e^ε: cut off at 0 the f is a trade-off function, and P(T) <= 1 - f(P'(T)) says the same, as P(T) "
    "<= 1.",
)


def complement_gives_the_mirror() -> None:
    """The lines of the symmetric f are 0, 1 - δ - t y and (1 - δ - y)/t. P(T) <= 1 minus the second is the (ε,δ)
    inequality for (P, P') and T. P(T) <= 1 minus the third is the (ε,δ) inequality for (P', P) and the complement
    of T, solved for P(T). Neighbouring is symmetric and events have complements, so (ε,δ)-DP for all pairs gives
    both for all pairs; and the second line alone gives (ε,δ)-DP back.

    For the reader: that neighbouring is symmetric and events have complements.
    """
    same_inequality()
    identity(
        t * ((1 - (1 - delta - y) / t) - x),
        t * (1 - x) + delta - (1 - y),
        "t times the slack of the third line is the slack of P'(not T) <= t P(not T) + δ",
    )


def mirror_changes_nothing(seed: int, outputs: int) -> Iterator[dict[str, Any]]:
    """One-sided and symmetric f on a random pair of laws in both orders, at and just below its δ(t)."""
    laws = random_laws(seed, 1, 2, outputs)
    both = list(laws.values())
    for slope in (Fraction(1), Fraction(3, 2), Fraction(3)):
        exact = delta_of(laws, 2, slope)
        for level in (exact, exact * BELOW) if exact else (exact,):
            yield {
                "least δ": exact,
                "δ": level,
                "excess, one-sided": beyond_f(both, one_sided(slope, level)),
                "excess, symmetric": beyond_f(both, symmetric(slope, level)),
            }


paper.claim(
    "M1d",
    "Prop. 3, symmetric f",
    "(ε,δ)-DP if and only if f-DP with the symmetric f(x) = max(0, 1 - δ - e^ε x, e^-ε (1 - δ - x)): "
    "`least δ <= δ` if and only if `excess, symmetric <= 0`, and `least δ <= δ` if and only if `excess, one-sided <= "
    "0`, the excess being the largest P(T) - (1 - f(P'(T))) over events T and both orders of the neighbours, with "
    "this f or that of Proposition 3.",
    verdict="argued",
    extra=True,
    instances=[{"seed": seed, "outputs": outputs} for outputs in (2, 3, 4) for seed in range(8)],
    quick=8,
    check=mirror_changes_nothing,
    proof=complement_gives_the_mirror,
    notes="Because neighbouring is symmetric, the one-sided f of Proposition 3 and the larger symmetric one "
    "are the same guarantee; Algorithm 3 decides the same with either (M6d).",
)


paper.row(
    "M1",
    "Prop. 3",
    "(ε,δ)-DP if and only if f-DP with 1 - f(x) = e^ε x + δ.",
    parts=("M1a", "M1b", "M1c", "M1d"),
    readings="Read with Definitions 1 and 2 alone it is the same inequality twice; read with Remark 4, f "
    "has to be cut off at 0 (M1c), which changes no guarantee.",
)
