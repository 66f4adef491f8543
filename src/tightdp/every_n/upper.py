"""The least upper end of e^ε that some way proves for every n."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction

from tightdp.every_n.chain import Chain
from tightdp.every_n.cones import noisy_end, pairs, windows
from tightdp.every_n.growth import growth
from tightdp.every_n.simulation import simulate
from tightdp.exact.numbers import Exact

__all__ = ["CLOSE", "Upper", "least_upper"]

CLOSE = Fraction(1, 10**9)
"""Ends whose relative distance is at most this are not brought closer."""
_SECONDS = 3.0


@dataclass(frozen=True)
class Upper:
    """An upper end of e^ε for every n, and the name of the way that proves it ("none" where none was found).

    Where the way is "growth", the ratios have no end.
    """

    value: Exact
    proof: str


def least_upper(chain: Chain, lower: Exact) -> Upper:
    """Return the least upper end; no further way is tried where one comes close to the lower end."""
    if not chain.starts:  # the program ends before it looks at the records
        return Upper(Fraction(1), "independence")
    best = Upper(math.inf, "none")
    for tried in (chain, chain.reversed()):
        if near(lower, best.value):
            return best
        found = simulate(tried)
        if found is not None and found.ratio() < best.value:
            best = Upper(found.ratio(), "independence" if chain.size == 1 else "simulation")
    for value, name in ((noisy_end(chain), "noisy end"), (pairs(chain) if chain.all_at_once else math.inf, "pairs")):
        if value < best.value:
            best = Upper(value, name)
    if best.value == math.inf and growth(chain) is not None:
        return Upper(math.inf, "growth")
    if chain.all_at_once:
        return best
    last: Exact | None = None
    start = time.monotonic()
    for value in windows(chain):
        best = min(best, Upper(value, "windows"), key=lambda each: each.value)
        settled = value == last and value != math.inf
        if near(lower, best.value) or settled or time.monotonic() - start > _SECONDS:
            break
        last = value
    return best


def near(lower: Exact, upper: Exact) -> bool:
    """Whether two ends are as close as they are brought."""
    return lower == upper or (upper != math.inf and upper * (1 - CLOSE) <= lower)
