"""How claims and witnesses are written: numbers, outputs as what parts of a program publish, pairs for a curve."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tightdp.core.nodes import CoreProgram
from tightdp.core.operators import Value
from tightdp.core.sections import written_value
from tightdp.core.syntax import plain_value
from tightdp.core.text import ProgramText
from tightdp.errors import QueryError
from tightdp.exact.field import ExpNumber, Number, exp
from tightdp.exact.numbers import Exact, compare_log
from tightdp.exact.rationals import as_value
from tightdp.language.program import Bound, Dataset
from tightdp.queries.privacy import DeltaAt
from tightdp.results.privacy import Delta, Privacy
from tightdp.results.result import PairWitness
from tightdp.session.engine import Engine
from tightdp.session.search import answer, tight_privacy
from tightdp.session.widened import refuse_inexact


def event_of(core: CoreProgram, text: ProgramText, output: Any) -> list[Any] | None:
    """Return what each part publishes where an output is given; None where it is not found."""
    found: dict[int, Value] = {}

    def known(component: int, value: Any) -> tuple[Value, Fraction] | None:
        return (value, Fraction(1)) if value in core.components[component].values else None

    if not core.shape.read(output, known, found):
        return None
    values = {str(text.components[at]): plain_value(written_value(as_value(value))) for at, value in found.items()}
    return [[values[name] for name in part.publishes] for part in text.parts]


def known_nearly(engine: Engine, core: CoreProgram, claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim with how far events of a program that is cut off may be from those of the mechanism.

    Raises QueryError where the mechanism may publish what the program does not, and there is no δ for that.
    """
    inexact = engine.program.inexact
    if "variances" in claim:  # of what the noise is added to
        return dict(claim)
    if inexact is None or inexact.merged:
        refuse_inexact(engine.program, "certify")
    assert inexact is not None
    sure = (
        "delta" in claim
        or "points" in claim
        or claim["question"] in ("violation", "larger moment")
        or not inexact.published
    )
    if not sure and any(type(value) is not bool for each in core.components for value in each.values):
        raise QueryError("no rule of evidence fits: outputs further out may be missing", "give delta too")
    if claim.get("bound") == math.inf:
        raise QueryError("where noise, or a loop, is cut off, one e^ε is refuted at a time", "give exp_epsilon")
    return {name: value for name, value in claim.items() if name != "attained"} | {"error": inexact.total}


def record_of(bound: Bound, record: Any) -> Any:
    """Return a record as certificates have it."""
    return plain_value(written_value(tuple(bound.record.split(record))))


def dataset_of(bound: Bound, x: Dataset) -> list[Any]:
    """Return a dataset as certificates have it."""
    return [record_of(bound, record) for record in x]


MOST_SHOWN = 40
"""Of so many points of a curve it is shown that they are attained, each by a pair of neighbours."""


def shown_at(engine: Engine, points: Sequence[tuple[Number, Number]]) -> list[PairWitness]:
    """Return pairs of neighbours that attain δ at the points of a curve; none where one is not known, or of many."""
    found: list[PairWitness] = []
    for t, delta in points if len(points) <= MOST_SHOWN else ():
        known: Delta | Privacy = answer(engine, DeltaAt(t, t)) if delta else tight_privacy(engine, Fraction(0))
        if known.status != "exact" or known.witness is None:
            return []
        found.append(known.witness)
    return found


def power_of(claim: Mapping[str, Any]) -> Any:
    """Return the number that T stands for in a certificate: a root of e; 1 where there is none."""
    return exp(Fraction(1, claim["root"])) if "root" in claim else Fraction(1)


def number_of(checker: Any, weight: Any, power: Any) -> Any:
    """Return a weight of the checker as a number, with this number for T."""
    return sum((Fraction(c) * power**at if at else Fraction(c) for at, c in enumerate(checker.coefficients(weight))))


def between(epsilon: Fraction, tight: Exact) -> Fraction:
    """Return a rational between e^epsilon and a larger number."""
    digits = 1
    while True:
        least = tight.enclosure(digits).lower if isinstance(tight, ExpNumber) else tight
        bound = Fraction(2) ** digits if least == math.inf else Fraction(least) * (1 - Fraction(1, 1 << digits))
        if bound >= 1 and compare_log(bound, epsilon) >= 0:
            return bound
        digits += 1
