"""Section 2.1: privacy (the ratio of single outputs)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sympy import symbols

from tightdp.claims import brute, identity, random_law, seeds

from .paper import paper


def events_are_no_worse(seed: int, outputs: int) -> dict[str, Any]:
    """The largest ratio over all events and over single outputs, for two random laws."""
    laws = random_law(seed, ("x", "x'"), outputs)
    p, q = laws["x"], laws["x'"]
    events = [[y for y in range(outputs) if chosen >> y & 1] for chosen in range(1, 2**outputs)]
    sums = [(sum(p[y] for y in event), sum(q[y] for y in event)) for event in events]
    return {
        "largest ratio over events": max(brute.ratio(Fraction(top), Fraction(bottom)) for top, bottom in sums),
        "largest ratio over outputs": max(brute.ratio(p[y], q[y]) for y in range(outputs)),
    }


def sums_keep_the_bound() -> None:
    """Let P(y|x) <= t·P(y|x') for every output y. Adding an output to an event adds t·P(y|x') - P(y|x) >= 0 to the
    slack t·P(E|x') - P(E|x), which is 0 for the empty event; so by induction the slack of every event is >= 0, and
    no event has a ratio above t. Single outputs are events, so the two maxima are equal.

    For the reader: the induction over the outputs of an event.
    """
    t, p, q, big_p, big_q = symbols("t p q P Q")
    identity(t * (big_q + q) - (big_p + p), (t * big_q - big_p) + (t * q - p), "slacks add")
    identity((t * big_q - big_p).subs({big_p: 0, big_q: 0}), 0, "the empty event has slack 0")


paper.claim(
    "O15b",
    "Sec. 2.1, (2)",
    "Singleton outputs suffice: for any two laws, `largest ratio over events = largest ratio over outputs`.",
    verdict="argued",
    instances=seeds(20, outputs=5),
    quick=5,
    check=events_are_no_worse,
    proof=sums_keep_the_bound,
)
