"""Functions of integer coordinates, cut into patterns on which no condition changes.

The coordinates and 0 are sorted; neighbours in that order are either at a given distance below `reach`, or at `reach`
and a further count. On such a pattern a function is a sum of exponentials of the counts, with no conditions left, as
long as its conditions are on differences of coordinates smaller than the reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import comb, factorial
from typing import TypeAlias

from tightdp.cells.bases import Base
from tightdp.cells.linear import Normal
from tightdp.cells.sums import Exact, Pieces
from tightdp.cells.symbols import Outside

__all__ = ["Counted", "Pattern", "flips_of", "on_pattern", "patterns", "reach_of"]

_MOST_PATTERNS = 20_000

Counted: TypeAlias = dict[tuple[tuple[Base, int], ...], Exact]
"""Coefficients of the products of base^count · count^degree, by (base, degree) for every count."""


@dataclass(frozen=True)
class Pattern:
    """Coordinate i is starts[i] + Σ steps[i][j]·count j, where all counts are at least 0."""

    starts: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]

    @property
    def counts(self) -> int:
        """The number of counts."""
        return len(self.steps[0]) if self.steps else 0

    def at(self, counts: Sequence[int]) -> list[int]:
        """Return the coordinates."""
        return [
            start + sum(s * n for s, n in zip(line, counts, strict=True))
            for start, line in zip(self.starts, self.steps, strict=True)
        ]


def flips_of(normals: Iterable[Normal], dimension: int) -> tuple[int, ...]:
    """Return signs for the coordinates after which all conditions are on differences. Raises Outside."""
    sign: dict[int, int] = {}
    links: dict[int, list[tuple[int, int]]] = {}
    for normal in set(normals):
        if len(normal) > 2 or any(abs(c) > 1 for _, c in normal):
            raise Outside("is published in a way that is not known to be exact")
        if len(normal) == 2:
            (v, a), (w, b) = normal
            links.setdefault(v, []).append((w, -a * b))
            links.setdefault(w, []).append((v, -a * b))
    for start in range(dimension):
        stack = [start]
        sign.setdefault(start, 1)
        while stack:
            v = stack.pop()
            for w, same in links.get(v, ()):
                if w not in sign:
                    sign[w] = sign[v] * same
                    stack.append(w)
                elif sign[w] != sign[v] * same:
                    raise Outside("is published as sums and as differences")
    return tuple(sign[v] for v in range(dimension))


def reach_of(functions: Iterable[Pieces]) -> int:
    """Return a distance beyond which no condition of some functions changes."""
    return max((abs(bound) for pieces in functions for rows, _ in pieces for _, bound in rows), default=0) + 1


def patterns(flips: Sequence[int], reach: int) -> Iterator[Pattern]:
    """Yield patterns that cover all integer coordinates, each once. Raises Outside where they are too many."""
    dimension = len(flips)
    if factorial(dimension + 1) * (reach + 1) ** dimension > _MOST_PATTERNS:
        raise Outside("is published in too many numbers that depend on each other")
    for order in permutations(range(dimension + 1)):
        ties = [first < second for first, second in zip(order, order[1:], strict=False)]
        for gaps in product(range(reach + 1), repeat=dimension):
            if all(gap or tie for gap, tie in zip(gaps, ties, strict=True)):
                yield _pattern(flips, order, gaps, reach)


def _pattern(flips: Sequence[int], order: Sequence[int], gaps: Sequence[int], reach: int) -> Pattern:
    dimension = len(flips)
    free = [at for at, gap in enumerate(gaps) if gap == reach]
    at = {item: place for place, item in enumerate(order)}
    origin = at[dimension]
    starts, steps = [], []
    for item in range(dimension):
        low, high = sorted((origin, at[item]))
        sign = flips[item] * (1 if at[item] > origin else -1)
        starts.append(sign * sum(gaps[low:high]))
        steps.append(tuple(sign * (low <= place < high) for place in free))
    return Pattern(tuple(starts), tuple(steps))


def on_pattern(pieces: Pieces, pattern: Pattern, unit: Base) -> Counted:
    """Return a function on a pattern."""
    found: Counted = {}
    nothing = tuple((unit, 0) for _ in range(pattern.counts))
    for rows, terms in pieces:
        if not all(_holds(normal, bound, pattern) for normal, bound in rows):
            continue
        for (bases, degrees), c in terms.items():
            shares = [unit] * pattern.counts
            for v, base in bases:
                c = c * (base ** pattern.starts[v]).value
                for j, step in enumerate(pattern.steps[v]):
                    if step:
                        shares[j] = shares[j] * base**step
            for key, times in _polynomial(degrees, pattern, nothing).items():
                place = tuple((share, degree) for share, (_, degree) in zip(shares, key, strict=True))
                new = found.get(place, 0) + c * times
                if new:
                    found[place] = new
                else:
                    found.pop(place, None)
    return found


def _holds(normal: Normal, bound: int, pattern: Pattern) -> bool:
    for j in range(pattern.counts):
        moved = sum(c * pattern.steps[v][j] for v, c in normal)
        if moved:
            return moved < 0
    return sum(c * pattern.starts[v] for v, c in normal) <= bound


def _polynomial(
    degrees: tuple[tuple[int, int], ...], pattern: Pattern, nothing: tuple[tuple[Base, int], ...]
) -> dict[tuple[tuple[Base, int], ...], int]:
    """Return a product of powers of coordinates as a polynomial of the counts."""
    found = {nothing: 1}
    for v, degree in degrees:
        line: list[tuple[int | None, int]] = [(None, pattern.starts[v]), *enumerate(pattern.steps[v])]
        for _ in range(degree):
            grown: dict[tuple[tuple[Base, int], ...], int] = {}
            for key, c in found.items():
                for j, times in line:
                    if times:
                        new = key if j is None else (*key[:j], (key[j][0], key[j][1] + 1), *key[j + 1 :])
                        grown[new] = grown.get(new, 0) + c * times
            found = {key: c for key, c in grown.items() if c}
    return found


def shifted(function: Counted, j: int) -> Counted:
    """Return a function of one more of count j."""
    found: Counted = {}
    for key, c in function.items():
        base, degree = key[j]
        for k in range(degree + 1):
            place = (*key[:j], (base, k), *key[j + 1 :])
            new = found.get(place, 0) + c * base.value * comb(degree, k)
            if new:
                found[place] = new
            else:
                found.pop(place, None)
    return found


def without(function: Counted, j: int) -> Counted:
    """Return a function where count j is 0, of the other counts."""
    found: Counted = {}
    for key, c in function.items():
        if key[j][1] == 0:
            place = (*key[:j], *key[j + 1 :])
            new = found.get(place, 0) + c
            if new:
                found[place] = new
            else:
                found.pop(place, None)
    return found
