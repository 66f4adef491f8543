"""Loops with too many states, followed for so many rounds that hardly a run goes on: their law up to that probability.

After k rounds a run is in one of finitely many states, or has left the loop. Probabilities are rounded down, so that
what the ends have falls short of 1 by the probability that the loop goes on, with all rounding: that much is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tightdp.core.lowering.loop_chain import MOST_PLACES, LoopChain, counted_up
from tightdp.core.lowering.loop_runs import Context, NotAChain, Outcome, State, Values
from tightdp.core.lowering.machine import Failure
from tightdp.core.nodes import Draw, Expr
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


class _Move(NamedTuple):
    """What a round leads to with some probability: a state, or an end of the loop and which counters it is to have.

    Each of the counters there has grown `by` a number since it was the one `at` a place; -1 where it begins.
    """

    share: int
    to: State | tuple[Outcome, Sequence[int]]
    grown: Sequence[tuple[int, int]]


def cut_off(chain: LoopChain, context: Context, entry: Values) -> dict[Outcome, Number]:
    """Return how a loop ends from a state; runs that go on fail."""
    bits, one = chain.bits, 1 << _BITS
    begun, counted = chain.without((0, entry), chain.counters)
    flow: dict[Any, dict[Any, int]] = {begun: {tuple(counted.values()): one}}
    found: dict[Any, dict[Any, int]] = {}
    moves: dict[State, list[_Move]] = {}
    left, most = one, chain.places + MOST_PLACES
    while flow and left >> (_BITS - bits) and chain.places < most and len(chain.known) <= 2 * LOOP_STATES:
        following: dict[Any, dict[Any, int]] = {}
        for state, masses in flow.items():
            chain.places += len(masses)
            if state not in moves:
                moves[state] = list(_moves(chain, context, state))
            for share, to, grown in moves[state]:
                into = (following if isinstance(to[0], int) else found).setdefault(to, {})
                for counts, mass in masses.items():
                    now = tuple([by if at < 0 else counts[at] + by for at, by in grown])
                    into[now] = into.get(now, 0) + (mass * share >> _BITS)
        flow = {}
        for to, masses in following.items():
            if kept := {counts: mass for counts, mass in masses.items() if mass >> (_BITS - bits - _FEWER)}:
                flow[to] = kept
        left = one - sum(sum(masses.values()) for masses in found.values())
    known: dict[Outcome, Number] = {}
    for ((kind, held, value), places), masses in found.items():
        for counts, mass in masses.items():
            end = kind, counted_up(held, dict(zip(places, counts, strict=True))) if held else held, value
            known[end] = known.get(end, Fraction(0)) + Fraction(mass, one)
    for outcome, lost in goes_on(chain, Fraction(left, one)).items() if left else ():
        known[outcome] = known.get(outcome, Fraction(0)) + lost
    return known


def _moves(chain: LoopChain, context: Context, state: State) -> Iterator[_Move]:
    """Yield what a round leads to from a state whose counters are at 0."""
    begun, counted = chain.apart(state)
    places = list(counted)
    for outcome, mass in chain.outcomes(begun, context).items():
        place = chain.place(state, outcome, counted)
        if len(place) == 3:
            yield _Move(_rounded(mass), (place, tuple(places)), [(at, 0) for at in range(len(places))])
        else:
            to, grown = chain.without(place, chain.counters)
            at = [(places.index(each) if each in places else -1, by) for each, by in grown.items()]
            yield _Move(_rounded(mass), to, at)


def goes_on(chain: LoopChain, mass: Fraction) -> dict[Outcome, Number]:
    """Return the law of runs that fail, with so much probability, since they are not followed any further."""
    known = [at for at, failure in enumerate(chain.failures) if failure.message == GOES_ON]
    if not known:
        chain.failures.append(Failure(GOES_ON))
    return {("fail", (), known[0] if known else len(chain.failures) - 1): mass}


def is_near(chain: LoopChain, law: dict[Outcome, Number]) -> bool:
    """Whether hardly any run goes on, those in loops inside included."""
    return sum((above(mass) for end, mass in law.items() if is_left(chain, end)), Fraction(0)) < Fraction(
        1, 1 << max(chain.bits - 16, 1)
    )


def _rounded(share: Number) -> int:
    if isinstance(share, ExpNumber) and share.unknown:
        raise NotAChain("its probabilities are not known")
    return int(down(share) * (1 << _BITS))


def likeliest(selector: Expr) -> Sequence[Fraction]:
    """Return how likely each value of a node is at most."""
    if not isinstance(selector, Draw):
        return [Fraction(1)] * len(selector.values)
    most: dict[Any, Fraction] = {}
    for law in selector.laws:
        for value, mass in law or ():
            most[value] = max(most.get(value, Fraction(0)), above(mass))
    return [most[value] for value in selector.values]


def settle(
    chain: LoopChain, laws: Sequence[dict[Outcome, Number] | Values | None], shares: Sequence[Fraction]
) -> list[tuple[Outcome, Number] | None]:
    """Take what runs have that go on out of each law; return how much that is, and the likeliest end, to stand for it.

    So likely is what they begin with at most. Raises NotAChain where it is too much.
    """
    left: list[tuple[Outcome, Number] | None] = []
    for law, share in zip(laws, shares, strict=True):
        going = [end for end in law if is_left(chain, end)] if isinstance(law, dict) else []
        left.append(None)
        if isinstance(law, dict) and going:
            mass = sum((law.pop(end) for end in going), Fraction(0))
            if above(mass) * share > _WIDEST or not law:
                shown = float(above(mass))
                raise NotAChain(f"it goes on for longer than it is followed with probability {shown:.3g}")
            left[-1] = max(law, key=lambda end: law[end]), mass
    return left


def is_left(chain: LoopChain, end: Outcome) -> bool:
    """Whether an outcome is that of runs that go on."""
    return end[0] == "fail" and bool(chain.failures[end[2]].message == GOES_ON)
