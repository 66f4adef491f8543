"""Linear forms on integer and on real variables, and systems of inequalities between them.

On real variables an inequality may be strict or not: between the two is a set of volume 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm
from typing import TypeAlias

__all__ = ["FALSE", "REAL", "TRUE", "Coefficients", "Normal", "Row", "Rows", "feasible", "needed", "row", "tightest"]

REAL = 1 << 20
"""Variables from here on are real."""

Coefficients: TypeAlias = Mapping[int, "int | Fraction"]
Normal: TypeAlias = tuple[tuple[int, int], ...]
"""Coefficients by variable, in the order of variables, without a common divisor."""
Row: TypeAlias = tuple[Normal, "int | Fraction"]
"""normal · variables <= bound."""
Rows: TypeAlias = frozenset[Row]

TRUE: Row = ((), 0)
FALSE: Row = ((), -1)


def row(coefficients: Coefficients, bound: int | Fraction, strict: bool = False) -> Row:
    """Return the inequality Σ coefficient·variable <= bound (or <, if strict), reduced."""
    times = lcm(*(c.denominator for c in coefficients.values()), bound.denominator)
    most = int(bound * times) - strict
    scaled = {v: int(c * times) for v, c in coefficients.items() if c}
    if not scaled:
        return TRUE if most >= 0 else FALSE
    divisor = gcd(*scaled.values())
    normal = tuple(sorted((v, c // divisor) for v, c in scaled.items()))
    return normal, Fraction(bound * times) / divisor if normal[-1][0] >= REAL else most // divisor


def tightest(rows: Iterable[Row]) -> Rows:
    """Return a system with one row for each normal."""
    least: dict[Normal, int | Fraction] = {}
    for normal, bound in rows:
        if normal or bound < 0:
            least[normal] = min(bound, least.get(normal, bound))
    return frozenset(least.items())


@lru_cache(1 << 18)
def feasible(rows: Rows) -> bool:
    """Whether a system may have a solution: False is certain; for differences of variables True is, too."""
    system = dict(rows)
    while True:
        if system.get((), 0) < 0:
            return False
        above: dict[int, int] = {}
        below: dict[int, int] = {}
        for normal in system:
            for v, c in normal:
                counts = above if c > 0 else below
                counts[v] = counts.get(v, 0) + 1
        if not above.keys() & below.keys():
            return True
        v = min(above.keys() | below.keys(), key=lambda v: (above.get(v, 0) * below.get(v, 0), v))
        system = _without(system, v)


def needed(rows: Rows) -> Rows:
    """Return a system without rows that follow from the others."""
    left = set(rows)
    for normal, bound in sorted(rows, key=lambda each: (-len(each[0]), each)):
        opposite = tuple((v, -c) for v, c in normal), -bound - (not normal or normal[-1][0] < REAL)
        rest = left - {(normal, bound)}
        if not feasible(tightest([*rest, opposite])):
            left = rest
    return frozenset(left)


def _without(system: Mapping[Normal, int | Fraction], v: int) -> dict[Normal, int | Fraction]:
    """Return what a system says of the other variables (Fourier and Motzkin)."""
    above: list[tuple[dict[int, int], int | Fraction]] = []
    below: list[tuple[dict[int, int], int | Fraction]] = []
    found: dict[Normal, int | Fraction] = {}
    for normal, bound in system.items():
        coefficients = dict(normal)
        if v not in coefficients:
            found[normal] = min(bound, found.get(normal, bound))
        else:
            (above if coefficients[v] > 0 else below).append((coefficients, bound))
    for ours, most in above:
        for theirs, least in below:
            a, b = -theirs[v], ours[v]
            joined = {w: a * ours.get(w, 0) + b * theirs.get(w, 0) for w in ours.keys() | theirs.keys()}
            normal, bound = row(joined, a * most + b * least, strict=v >= REAL)
            if normal or bound < 0:
                found[normal] = min(bound, found.get(normal, bound))
    return found
