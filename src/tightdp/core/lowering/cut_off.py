"""Loops with too many states, followed for so many rounds that hardly a run goes on: their law up to that probability.

After k rounds a run is in one of finitely many states, or has left the loop. Probabilities are rounded down, so that
what the ends have falls short of 1 by the probability that the loop goes on, with all rounding: that much is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tightdp.core.lowering.loop_chain import MOST_PLACES, Context, LoopChain, NotAChain, Outcome, State, Values
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.published import GOES_ON, above
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import down
from tightdp.limits.calibrated import LOOP_STATES, NOISE_BITS

_BITS = 3 * NOISE_BITS
"""Probabilities are whole multiples of 2 to the power of minus this."""
MOST_ROUNDS = 5 * LOOP_STATES
"""Of all loops together, where some are cut off."""
_WIDEST = 1 << (_BITS - 3)
"""A loop that goes on with a larger probability is refused."""


def cut_off(chain: LoopChain, context: Context, entry: Values) -> dict[Outcome, Number]:
    """Return how a loop ends from a state; runs that go on fail. Raises NotAChain where these are too many."""
    flow: dict[State, int] = {(0, entry): 1 << _BITS}
    found: dict[Outcome, int] = {}
    rows: dict[State, list[tuple[Any, int]]] = {}
    left, rounds, most = 1 << _BITS, 0, chain.places + MOST_PLACES
    while left >> (_BITS - NOISE_BITS) and chain.places < most and len(chain.known) <= 2 * LOOP_STATES:
        following: dict[State, int] = {}
        for state, mass in flow.items():
            if state not in rows:
                rows[state] = [(place, _rounded(share)) for place, share in chain.step(state, context).items()]
            for place, share in rows[state]:
                to: dict[Any, int] = following if len(place) == 2 else found
                to[place] = to.get(place, 0) + (mass * share >> _BITS)
        chain.places += len(flow)
        flow = {state: mass for state, mass in following.items() if mass}
        left, rounds = (1 << _BITS) - sum(found.values()), rounds + 1
    if left > _WIDEST:
        seen = f"after {rounds:,} rounds, in {len(chain.known):,} states"
        raise NotAChain(f"{seen}, it goes on with probability {left / (1 << _BITS):.3g}")
    chain.failures.append(Failure(GOES_ON))
    found["fail", (), len(chain.failures) - 1] = left
    return {outcome: Fraction(mass, 1 << _BITS) for outcome, mass in found.items()}


def _rounded(share: Number) -> int:
    if isinstance(share, ExpNumber) and share.unknown:
        raise NotAChain("its probabilities are not known")
    return int(down(share) * (1 << _BITS))


def settle(m: Machine, chain: LoopChain, laws: Sequence[dict[Outcome, Number] | Values | None]) -> None:
    """Give what runs have that go on to the likeliest end, for each law, and note how much that is at most."""
    lost = Fraction(0)
    for law in laws:
        if not isinstance(law, dict):
            continue
        going = [end for end in law if end[0] == "fail" and chain.failures[end[2]].message == GOES_ON]
        given = sum((law.pop(end) for end in going), Fraction(0))
        if going and law:
            likeliest = max(law, key=lambda end: law[end])
            law[likeliest] = law[likeliest] + given
            lost = max(lost, above(given))
    if lost:
        m.builder.lost.append(lost)
