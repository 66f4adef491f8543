"""Every deterministic strategy of an analyst, one after the other, with laws by the interpreter: plain sums and maxima.

It shares nothing with the compiler or the queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from tightdp.language.interp import law
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound

Law = dict[Any, Any]


def datasets(bound: Bound) -> Iterator[tuple[Any, ...]]:
    return product(bound.record.values, repeat=bound.n)


def questions(bound: Bound) -> dict[Any, int]:
    """Return what the analyst may see when asked, with the number of choices: on some dataset, with some answers."""
    found: dict[Any, int] = {}
    for x in datasets(bound):
        for _, asked in law(bound, x):
            for history, choices, _ in asked:
                number = len(choices) if isinstance(choices, tuple) else choices
                assert found.setdefault(history, number) == number
    return found


def strategies(bound: Bound) -> Iterator[Callable[[Any, tuple[Any, ...]], Any]]:
    """Yield a function for every way to answer what may be seen."""
    asked = questions(bound)
    for answers in product(*map(range, asked.values())):
        table = dict(zip(asked, answers, strict=True))
        yield lambda history, choices, table=table: choices[table[history]]


def laws(bound: Bound) -> Iterator[dict[tuple[Any, ...], Law]]:
    """Yield the laws of all datasets, for every strategy."""
    for strategy in strategies(bound):
        against = replace(bound, strategy=strategy)
        yield {x: law(against, x) for x in datasets(bound)}


def largest(bound: Bound, value: Callable[[Law, Law], Any]) -> Any:
    """Return the largest value of two laws of neighbours, over all strategies."""
    pairs = [(x, other) for x in datasets(bound) for other in relation_of(bound).neighbours(x)]
    return max(value(found[x], found[other]) for found in laws(bound) for x, other in pairs)


def ratio(ours: Law, theirs: Law) -> Any:
    return max(p / theirs[y] if theirs.get(y) else math.inf for y, p in ours.items() if p)


def excess(t: Fraction) -> Callable[[Law, Law], Any]:
    """Return δ(t) of two laws."""
    return lambda ours, theirs: sum(
        (max(p - t * theirs.get(y, 0), Fraction(0)) for y, p in ours.items()), start=Fraction(0)
    )


def moment(order: int) -> Callable[[Law, Law], Any]:
    """Return the power sum of an order of two laws."""

    def value(ours: Law, theirs: Law) -> Any:
        if any(p and not theirs.get(y) for y, p in ours.items()):
            return math.inf
        return sum((p**order / theirs[y] ** (order - 1) for y, p in ours.items() if p), start=Fraction(0))

    return value
