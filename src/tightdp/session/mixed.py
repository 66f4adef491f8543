"""δ and e^ε of programs whose outputs have many parts with noise of their own, as enclosures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.language.program import Dataset
from tightdp.limits import snapshot
from tightdp.limits.calibrated import LISTED_MASSES, LISTED_ROWS, MOST_WORK
from tightdp.methods.base import Refusal
from tightdp.methods.noisy_parts import NoisyParts, find_noisy_parts
from tightdp.queries.enclosed.mixtures import Ends, chain_of, enclosed, least_above
from tightdp.results.privacy import Delta, Privacy
from tightdp.results.result import PairWitness
from tightdp.session.engine import Engine, Query
from tightdp.session.large import WIDTH, enclosed_delta, enclosed_privacy, ends_of, outcome_of

_SMALLEST = 1e-14
"""Values of a part that are rarer than this times δ do not matter."""
METHOD = "parts with noise of their own"
"""What the statistics of a result call this method."""

Value = Fraction | float
Worth = Callable[[Ends], tuple[Value, Value]]
"""Both ends of what is asked, from two laws, a less and a more informative one."""
Answer = TypeVar("Answer", Privacy, Delta)


def privacy_at(engine: Engine, bar: Number) -> Privacy | None:
    """Return both ends of the least e^ε >= 1 with δ(e^ε) <= bar, where the program is of this form, and large."""
    low, high = ends_of(bar)

    def worth(found: Ends) -> tuple[Value, Value]:
        ours, theirs = found.lower.best(float(high))
        least: Value = Fraction(1)
        if ours > high:
            least = max(Fraction(1), (ours - high) / theirs) if theirs else math.inf
        if isinstance(least, float):
            return least, least
        above = least_above(found.upper, float(least), math.nextafter(float(low), 0.0))
        return least, Fraction(above) if math.isfinite(above) else above

    def answer(found: _Found) -> Privacy:
        outcome = outcome_of(found.query, found.stopped, found.lower == found.upper, METHOD)
        if found.stopped is not None and found.upper == math.inf > found.lower:
            outcome = replace(outcome, status="unresolved")
        return outcome.on(enclosed_privacy(engine, bar, found.lower, found.upper, found.witness))

    return _asked(engine, worth, float(low), Fraction(1), answer)


def delta_at(engine: Engine, t: Number, epsilon: Fraction | None) -> Delta | None:
    """Return both ends of δ at t = e^ε, where the program is of this form, and large."""
    low, high = ends_of(t)

    def worth(found: Ends) -> tuple[Value, Value]:
        ours, theirs = found.lower.event(float(high))
        return max(ours - high * theirs, Fraction(0)), Fraction(min(found.upper.delta_above(float(low)), 1.0))

    def answer(found: _Found) -> Delta:
        lower, upper = Fraction(found.lower), Fraction(min(found.upper, 1))
        outcome = outcome_of(found.query, found.stopped, lower == upper, METHOD)
        return outcome.on(enclosed_delta(engine, t, epsilon, lower, upper, found.witness))

    return _asked(engine, worth, 1e-6, Fraction(0), answer)


@dataclass
class _Pair:
    """Neighbours whose enclosure is refined step by step, and its ends so far."""

    x: Dataset
    x_prime: Dataset
    closer: Iterator[Ends]
    lower: Value
    upper: Value = math.inf


@dataclass(frozen=True)
class _Found:
    query: Query
    lower: Value
    upper: Value
    witness: PairWitness | None
    stopped: LimitError | None


def _asked(
    engine: Engine, worth: Worth, delta: float, least: Fraction, answer: Callable[[_Found], Answer]
) -> Answer | None:
    """Return the answer with both ends of the largest worth over all pairs of neighbours."""
    query = engine.query()
    parts = find_noisy_parts(engine.program, query.control)
    if (known := engine.program.inexact) is not None and known.cut:
        return None
    if (
        parts is None
        or math.prod(len(kernel) for kernel in parts.kernels) > LISTED_ROWS
        or (engine.precision is None and _listed(engine, parts, query))
    ):
        return None
    width, stopped = engine.precision or WIDTH, None
    pairs: list[_Pair] = []
    with query.searching():
        try:
            pairs += _pairs(engine, parts, query, delta, least)
            while (first := max(pairs, key=lambda pair: pair.upper, default=None)) is not None:
                best = max(pair.lower for pair in pairs)
                if first.upper <= best * (1 + width) or (ends := next(first.closer, None)) is None:
                    break
                lower, upper = worth(ends)
                first.lower, first.upper = max(first.lower, lower), min(first.upper, upper)
                snapshot(answer(_found(query, pairs, least, None)))  # printed where the search must be abandoned
        except LimitError as error:
            stopped = error
    if not pairs and stopped is not None:
        return None
    found = answer(_found(query, pairs, least, stopped))
    return None if not found.within(engine.precision) and _listed(engine, parts, query) else found


def _found(query: Query, pairs: list[_Pair], least: Fraction, stopped: LimitError | None) -> _Found:
    best = max(pairs, key=lambda pair: pair.lower, default=None)
    if best is None:
        return _Found(query, least, least, None, None)
    upper = max(pair.upper for pair in pairs)
    witness = PairWitness(best.x, best.x_prime) if best.lower > least else None
    return _Found(query, best.lower, max(upper, best.lower), witness, stopped)


def _pairs(engine: Engine, parts: NoisyParts, query: Query, delta: float, least: Fraction) -> list[_Pair]:
    """Return the pairs of neighbours whose chains are different."""
    known = engine.program.inexact
    relative, lost = (0.0, 0.0) if known is None else (float(known.relative), float(known.lost))
    found: dict[object, _Pair] = {}
    for x, x_prime, ours, theirs in parts.pairs(query.control):
        chain = chain_of(ours, theirs, parts.kernels, max(delta, 1e-200) * _SMALLEST)
        if chain.ours != chain.theirs and chain.key not in found:
            found[chain.key] = _Pair(x, x_prime, enclosed(chain, relative, lost, query.control), least)
    return list(found.values())


def _listed(engine: Engine, parts: NoisyParts, query: Query) -> bool:
    """Whether the exact answer is to be had: all laws are, and can be listed, or clients share nothing."""
    if engine.program.inexact is not None:
        return False
    outputs = math.prod(len({value for law in kernel.values() for value in law}) for kernel in parts.kernels)
    alone = (each for each in engine.program.candidates if each.name.startswith("independent"))
    return outputs <= LISTED_MASSES or any(
        not isinstance(engine.program.look(each, query.control, MOST_WORK), Refusal) for each in alone
    )
