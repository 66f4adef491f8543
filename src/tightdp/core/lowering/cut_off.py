"""Loops with too many states, followed for so many rounds that hardly a run goes on: their law up to that probability.

After k rounds a run is in one of finitely many states, or has left the loop. Probabilities are rounded down, so that
what the ends have falls short of 1 by the probability that the loop goes on, with all rounding: that much is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tightdp.core.lowering.given import bits_of
from tightdp.core.lowering.loop_chain import MOST_PLACES, LoopChain
from tightdp.core.lowering.loop_runs import Context, NotAChain, Outcome, State, Values
from tightdp.core.lowering.machine import Failure
from tightdp.core.published import GOES_ON, above
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import down
from tightdp.limits.calibrated import LOOP_STATES, NOISE_BITS

_BITS = 3 * NOISE_BITS
"""Probabilities are whole multiples of 2 to the power of minus this."""
_FEWER = 20
"""States that are less likely than what may go on by so many bits are not followed: all together are not much more."""
MOST_ROUNDS = 5 * LOOP_STATES
"""Of all loops together, where some are cut off."""
_WIDEST = Fraction(1, 8)
"""A loop that goes on with a larger probability is refused."""


def cut_off(chain: LoopChain, context: Context, entry: Values) -> dict[Outcome, Number]:
    """Return how a loop ends from a state; runs that go on fail."""
    bits = bits_of(chain.m.given)
    flow: dict[State, int] = {(0, entry): 1 << _BITS}
    found: dict[Outcome, int] = {}
    rows: dict[State, list[tuple[Outcome, int]]] = {}
    left, most = 1 << _BITS, chain.places + MOST_PLACES
    while flow and left >> (_BITS - bits) and chain.places < most and len(chain.known) <= 2 * LOOP_STATES:
        following: dict[State, int] = {}
        for state, mass in flow.items():
            begun, counted = chain.apart(state)
            if begun not in rows:
                rows[begun] = [(end, _rounded(share)) for end, share in chain.outcomes(begun, context).items()]
            for outcome, share in rows[begun]:
                place = chain.place(state, outcome, counted)
                to: dict[Any, int] = following if len(place) == 2 else found
                to[place] = to.get(place, 0) + (mass * share >> _BITS)
        chain.places += len(flow)
        flow = {state: mass for state, mass in following.items() if mass >> (_BITS - bits - _FEWER)}
        left = (1 << _BITS) - sum(found.values())
    known: dict[Outcome, Number] = {outcome: Fraction(mass, 1 << _BITS) for outcome, mass in found.items()}
    for outcome, lost in goes_on(chain, Fraction(left, 1 << _BITS)).items() if left else ():
        known[outcome] = known.get(outcome, Fraction(0)) + lost
    return known


def goes_on(chain: LoopChain, mass: Fraction) -> dict[Outcome, Number]:
    """Return the law of runs that fail, with so much probability, since they are not followed any further."""
    known = [at for at, failure in enumerate(chain.failures) if failure.message == GOES_ON]
    if not known:
        chain.failures.append(Failure(GOES_ON))
    return {("fail", (), known[0] if known else len(chain.failures) - 1): mass}


def is_near(chain: LoopChain, law: dict[Outcome, Number]) -> bool:
    """Whether hardly any run goes on, those in loops inside included."""
    return sum((above(mass) for end, mass in law.items() if is_left(chain, end)), Fraction(0)) < Fraction(
        1, 1 << max(bits_of(chain.m.given) - 16, 1)
    )


def _rounded(share: Number) -> int:
    if isinstance(share, ExpNumber) and share.unknown:
        raise NotAChain("its probabilities are not known")
    return int(down(share) * (1 << _BITS))


def settle(
    chain: LoopChain, laws: Sequence[dict[Outcome, Number] | Values | None]
) -> list[tuple[Outcome, Number] | None]:
    """Take what runs have that go on out of each law; return how much that is, and the likeliest end, to stand for it.

    Raises NotAChain where it is too much.
    """
    left: list[tuple[Outcome, Number] | None] = []
    for law in laws:
        going = [end for end in law if is_left(chain, end)] if isinstance(law, dict) else []
        left.append(None)
        if isinstance(law, dict) and going:
            mass = sum((law.pop(end) for end in going), Fraction(0))
            if above(mass) > _WIDEST or not law:
                shown = float(above(mass))
                raise NotAChain(f"it goes on for longer than it is followed with probability {shown:.3g}")
            left[-1] = max(law, key=lambda end: law[end]), mass
    return left


def is_left(chain: LoopChain, end: Outcome) -> bool:
    """Whether an outcome is that of runs that go on."""
    return end[0] == "fail" and bool(chain.failures[end[2]].message == GOES_ON)
