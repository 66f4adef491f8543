"""δ and e^ε of programs whose outputs have many parts with noise of their own, as enclosures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from tightdp.errors import LimitError
from tightdp.language.program import Dataset
from tightdp.limits import snapshot
from tightdp.limits.calibrated import LISTED_MASSES, LISTED_ROWS, MOST_WORK
from tightdp.methods.base import Refusal
from tightdp.methods.noisy_parts import NoisyParts, find_noisy_parts
from tightdp.queries.enclosed.mixtures import Ends, chain_of, enclosed
from tightdp.results.privacy import Delta, DeltaAt, LeastRatio, Privacy
from tightdp.results.result import PairWitness
from tightdp.session.engine import Engine, Query
from tightdp.session.large import WIDTH, ends_of, outcome_of, rounded

_SMALLEST = 1e-14
"""Values of a part that are rarer than this times δ do not matter."""
METHOD = "parts with noise of their own"
"""What the statistics of a result call this method."""

Value = Fraction | float


def _worth(question: LeastRatio | DeltaAt, found: Ends) -> tuple[Value, Value]:
    """Return both ends of what is asked, from two laws, a less and a more informative one."""
    if isinstance(question, DeltaAt):
        low, high = ends_of(question.low)[0], ends_of(question.high)[1]
        ours, theirs = found.lower.event(float(high))
        return max(ours - high * theirs, Fraction(0)), Fraction(min(found.upper.delta_above(float(low)), 1.0))
    low, high = ends_of(question.delta)
    ours, theirs = found.lower.best(float(high))
    least: Value = Fraction(1)
    if ours > high:
        least = max(Fraction(1), (ours - high) / theirs) if theirs else math.inf
    if isinstance(least, float):
        return least, least
    above = found.upper.enough(float(least), math.nextafter(float(low), 0.0))
    return least, Fraction(above) if math.isfinite(above) else above


def _answer(engine: Engine, question: LeastRatio | DeltaAt, found: _Found) -> Privacy | Delta:
    upper = min(found.upper, Fraction(1)) if isinstance(question, DeltaAt) else found.upper
    outcome = outcome_of(found.query, found.stopped, found.lower == upper, METHOD)
    if found.stopped is not None and upper == math.inf > found.lower:
        outcome = replace(outcome, status="unresolved")
    return outcome.on(question.between(engine.subject, *rounded(found.lower, upper), found.witness))


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


def answer(engine: Engine, question: LeastRatio | DeltaAt) -> Privacy | Delta | None:
    """Return both ends of the answer over all pairs of neighbours, where the program is of this form, and large."""
    delta, least = 1e-6, Fraction(0)
    if isinstance(question, LeastRatio):
        delta, least = float(ends_of(question.delta)[0]), Fraction(1)
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
                lower, upper = _worth(question, ends)
                first.lower, first.upper = max(first.lower, lower), min(first.upper, upper)
                so_far = _answer(engine, question, _found(query, pairs, least, None))
                snapshot(so_far)  # printed where the search must be abandoned
        except LimitError as error:
            stopped = error
    if not pairs and stopped is not None:
        return None
    found = _answer(engine, question, _found(query, pairs, least, stopped))
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
