"""δ and e^ε of programs whose outputs have many parts with noise of their own, as enclosures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tightdp.errors import LimitError
from tightdp.language.program import Dataset
from tightdp.limits import snapshot
from tightdp.limits.calibrated import LISTED_MASSES, LISTED_ROWS, MOST_WORK
from tightdp.methods.base import Refusal
from tightdp.methods.noisy_parts import NoisyParts, find_noisy_parts
from tightdp.queries.enclosed.mixtures import Ends, chain_of, enclosed
from tightdp.queries.enclosed.privacy import Asked, AtDelta, Found
from tightdp.queries.privacy import DeltaAt, LeastRatio
from tightdp.results.privacy import Delta, Privacy
from tightdp.results.result import PairWitness
from tightdp.session.engine import Engine, Query
from tightdp.session.large import WIDTH, enclosure, in_doubles

_SMALLEST = 1e-14
"""Values of a part that are rarer than this times δ do not matter."""
METHOD = "parts with noise of their own"
"""What the statistics of a result call this method."""

Value = Fraction | float


@dataclass
class _Pair:
    """Neighbours whose enclosure is refined step by step, and its ends so far."""

    x: Dataset
    x_prime: Dataset
    closer: Iterator[Ends]
    lower: Value
    upper: Value = math.inf


def answer(engine: Engine, question: LeastRatio | DeltaAt) -> Privacy | Delta | None:
    """Return both ends of the answer over all pairs of neighbours, where the program is of this form, and large."""
    asked, query = in_doubles(question), engine.query()
    parts = find_noisy_parts(engine.program, query.control)
    if (known := engine.program.inexact) is not None and known.cut:
        return None
    if (
        parts is None
        or math.prod(len(kernel) for kernel in parts.kernels) > LISTED_ROWS
        or (engine.precision is None and _listed(engine, parts, query))
    ):
        return None

    def found(stopped: LimitError | None = None) -> Privacy | Delta:
        best = max(pairs, key=lambda pair: pair.lower, default=None)
        if best is None:
            return enclosure(engine, query, question, Found(asked.least, asked.least), None, METHOD)
        upper = min(asked.limit(math.inf), max(pair.upper for pair in pairs))
        witness = PairWitness(best.x, best.x_prime) if best.lower > asked.least else None
        ends = Found(best.lower, max(upper, best.lower), stopped=stopped)
        return enclosure(engine, query, question, ends, witness, METHOD)

    width, stopped = engine.precision or WIDTH, None
    pairs: list[_Pair] = []
    with query.searching():
        try:
            pairs += _pairs(engine, parts, query, asked)
            while (first := max(pairs, key=lambda pair: pair.upper, default=None)) is not None:
                best = max(pair.lower for pair in pairs)
                if first.upper <= best * (1 + width) or (ends := next(first.closer, None)) is None:
                    break
                lower = asked.shown(ends.lower)
                upper = lower if lower == math.inf else asked.enough(ends.upper, float(lower))
                first.lower = max(first.lower, lower)
                first.upper = min(first.upper, Fraction(upper) if math.isfinite(upper) else math.inf)
                snapshot(found())  # printed where the search must be abandoned
        except LimitError as error:
            stopped = error
    if not pairs and stopped is not None:
        return None
    ended = found(stopped)
    return None if not ended.within(engine.precision) and _listed(engine, parts, query) else ended


def _pairs(engine: Engine, parts: NoisyParts, query: Query, asked: Asked) -> list[_Pair]:
    """Return the pairs of neighbours whose chains are different."""
    least = max(float(asked.low) if isinstance(asked, AtDelta) else 1e-6, 1e-200) * _SMALLEST
    known = engine.program.inexact
    relative, lost = (0.0, 0.0) if known is None else (float(known.relative), float(known.lost))
    found: dict[object, _Pair] = {}
    for x, x_prime, ours, theirs in parts.pairs(query.control):
        chain = chain_of(ours, theirs, parts.kernels, least)
        if chain.ours != chain.theirs and chain.key not in found:
            found[chain.key] = _Pair(x, x_prime, enclosed(chain, relative, lost, query.control), asked.least)
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
