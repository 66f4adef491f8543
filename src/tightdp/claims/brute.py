"""Brute force: every dataset, every neighbour, every output, on laws that the interpreter finds.

It uses the definition of the language (`language.interp`) and nothing of the compiler or the queries, so that it
can confirm what they find; `without_engine` watches that.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
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


def tail(n: int, p: Fraction, v: int) -> Fraction:
    """Return P(Bin(n, p) >= v), coin by coin."""
    law = [Fraction(1)]
    for _ in range(n):
        law = [a * (1 - p) + b * p for a, b in zip([*law, Fraction(0)], [Fraction(0), *law], strict=True)]
    return sum(law[max(v, 0) :], Fraction(0))


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
    """A recomputation called the engine that it is meant to check."""


@contextmanager
def _watching(each: Callable[[FrameType], None]) -> Iterator[None]:
    """Call a function with the frame of every call in Python meanwhile."""

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            each(frame)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)


@contextmanager
def without_engine() -> Iterator[None]:
    """Raise SharedCodeError where code of the compiler, the diagrams or the queries is called meanwhile."""

    def refuse(frame: FrameType) -> None:
        code = frame.f_code
        if code.co_filename.startswith(_ENGINE) and not _importing(frame):
            sys.setprofile(None)
            raise SharedCodeError(
                f"the recomputation calls {Path(code.co_filename).stem}.{code.co_name} of the engine",
                "use Fractions, itertools and tightdp.claims.brute only",
            )

    with _watching(refuse):
        yield


def shared_code(
    check: Callable[..., Any], again: Callable[..., Any], instance: Mapping[str, Any]
) -> tuple[Any, list[str]]:
    """Return what a check measures, and the functions that its recomputation calls as well.

    The interpreter, which runs mechanisms by the definition of the language, does not count, nor do exact numbers.
    """
    called: list[set[Any]] = []
    measured = None
    for at, function in enumerate((check, again)):
        seen: set[Any] = set()
        with _watching(lambda frame, seen=seen: seen.add(frame.f_code)):  # type: ignore[misc]
            found = function(**instance)
            found = dict(found) if isinstance(found, Mapping) else list(found)
        measured = found if at == 0 else measured
        called.append(seen)
    library = f"{_PACKAGE}{os.sep}"
    both = (code for code in called[0] & called[1] if _counts(code.co_filename, library))
    return measured, sorted({f"{Path(code.co_filename).stem}.{code.co_name}" for code in both})


def _counts(file: str, library: str) -> bool:
    """Whether code of a file says something about claims: the engine, and what is written beside a claim."""
    if file.startswith(library):
        return file.startswith(_ENGINE)
    return (
        "site-packages" not in file
        and not file.startswith((str(Path(os.__file__).parent), "<"))
        and (f"{os.sep}programs{os.sep}" not in file)
    )


def _importing(frame: FrameType | None) -> bool:
    """Whether a module is being imported, which runs decorators and class bodies, not the engine."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(_ENGINE):
            return True
        frame = frame.f_back
    return False
