"""Brute force: every dataset, every neighbour, every output, on laws that the interpreter finds.

It uses the definition of the language (`language.interp`) and nothing of the compiler or the queries, so that it
can confirm what they find; `without_engine` watches that.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from types import FrameType
from typing import Any

from tightdp.errors import TightdpError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.language import interp
from tightdp.session.mechanism import Mechanism

Law = dict[Any, Number]
Dataset = tuple[Any, ...]


def law(mechanism: Mechanism, x: Dataset, **parameters: Any) -> Law:
    """Return the exact law of the output on dataset x."""
    return interp.law(mechanism.program.bind(len(x), **parameters), x)


def probability(mechanism: Mechanism, x: Dataset, y: Any, **parameters: Any) -> Number:
    """Return P(y | x)."""
    return law(mechanism, x, **parameters).get(y, Fraction(0))


def datasets(mechanism: Mechanism, n: int, **parameters: Any) -> list[Dataset]:
    """Return every dataset of n records."""
    return list(product(mechanism.program.bind(n, **parameters).record.values, repeat=n))


def are_neighbours(relation: Any, x: Dataset, x_prime: Dataset) -> bool:
    """Whether two datasets are neighbours, straight from the definitions of the relations."""
    changed = [(a, b) for a, b in zip(x, x_prime, strict=True) if a != b]
    if relation == "replace-one":
        return len(changed) == 1
    if relation == "unit-step":
        return len(changed) == 1 and abs(changed[0][0] - changed[0][1]) <= 1
    if relation == "unit-all":
        return bool(changed) and all(abs(a - b) <= 1 for a, b in changed)
    if relation == "add-remove":
        return len(changed) == 1 and (changed[0][0] is None) != (changed[0][1] is None)
    return x_prime in list(relation(x))


def ratio(p: Number, p_prime: Number) -> Exact:
    """Return p/p', infinite when only p' is 0; 0/0 counts as 0."""
    if not p_prime:
        return math.inf if p else Fraction(0)
    return p / p_prime


def exp_epsilon(mechanism: Mechanism, n: int, **parameters: Any) -> Exact:
    """Return the largest likelihood ratio over neighbours and outputs; at least 1.

    `neighbours` among the parameters overrides the relation of the mechanism.
    """
    zero, most = Fraction(0), Fraction(1)
    found = (ratio(p, q.get(y, zero)) for law, q in _pairs(mechanism, n, parameters) for y, p in law.items())
    return max(found, default=most)


def delta(mechanism: Mechanism, n: int, t: Fraction, **parameters: Any) -> Number:
    """Return the largest sum of max(0, P(y|x) - t·P(y|x')) over neighbours."""
    zero = Fraction(0)
    return max(
        sum((max(zero, p - t * q.get(y, zero)) for y, p in law.items()), zero)
        for law, q in _pairs(mechanism, n, parameters)
    )


def accuracies(mechanism: Mechanism, n: int, alpha: Fraction | int, **parameters: Any) -> dict[Dataset, Number]:
    """Return, for every dataset, the probability of an output within alpha of the target."""
    bound = mechanism.program.bind(n, **parameters)
    found = {}
    for x in product(bound.record.values, repeat=n):
        target = interp.target_value(bound, x)
        near = (p for y, p in interp.law(bound, x).items() if abs(y - target) <= alpha)
        found[x] = sum(near, Fraction(0))
    return found


def _pairs(mechanism: Mechanism, n: int, parameters: dict[str, Any]) -> Iterator[tuple[Law, Law]]:
    bound = mechanism.program.bind(n, **parameters)
    laws = {x: interp.law(bound, x) for x in product(bound.record.values, repeat=n)}
    for x, x_prime in permutations(laws, 2):
        if are_neighbours(bound.neighbours, x, x_prime):
            yield laws[x], laws[x_prime]


# the guard

_PACKAGE = Path(__file__).parent.parent
_ROOMS = ("auditing", "cells", "core", "every_n", "logic", "methods", "one_run", "queries", "symmetry")
_ENGINE = tuple(f"{_PACKAGE / room}{os.sep}" for room in _ROOMS)
"""What compiles, searches and answers: not the language with its interpreter, not exact numbers."""


class SharedCodeError(TightdpError):
    """A brute force called the engine that it is meant to check."""


@contextmanager
def without_engine() -> Iterator[None]:
    """Raise SharedCodeError where code of the compiler, the diagrams or the queries is called meanwhile."""

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_ENGINE) and not _importing(frame):
            sys.setprofile(before)
            raise SharedCodeError(
                f"the brute force calls {Path(code.co_filename).stem}.{code.co_name} of the engine",
                "use Fractions, itertools and tightdp.claims.brute only",
            )

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)


def _importing(frame: FrameType | None) -> bool:
    """Whether a module is being imported, which runs decorators and class bodies, not the engine."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(_ENGINE):
            return True
        frame = frame.f_back
    return False
