"""Functions of integer coordinates, cut into patterns on which no condition changes.

A pattern is a start and a step for each of a few counts, which are at least 0: every place in it is reached by counts
of its own. An orthant is cut until each condition holds everywhere, or nowhere: two counts with which a condition grows
and falls are compared (one is the other and a further count), a count that decides it is 0, or one more than a count.
On a pattern a function is a sum of exponentials of the counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import TypeAlias

from tightdp.cells.linear import Row, Rows
from tightdp.cells.noise import Outside
from tightdp.cells.sums import Base, Exact, Pieces, add

_MOST_PATTERNS = 10_000

Counted: TypeAlias = dict[tuple[tuple[Base, int], ...], Exact]
"""Coefficients of the products of base^count · count^degree, by (base, degree) for every count."""
Step: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Pattern:
    """The places start + Σ count·step, where all counts are at least 0."""

    start: Step
    steps: tuple[Step, ...]

    @property
    def counts(self) -> int:
        return len(self.steps)


def patterns(rows: Iterable[Row], dimension: int) -> list[Pattern]:
    """Return patterns that cover all places, each once, on each of which every row holds everywhere or nowhere.

    Raises Outside where they are too many.
    """
    conditions = sorted(set(rows), key=lambda each: (len(each[0]), each))
    todo = []
    for signs in product((1, -1), repeat=dimension):
        steps = tuple(tuple(sign * (i == j) for j in range(dimension)) for i, sign in enumerate(signs))
        todo.append((Pattern(tuple(min(sign, 0) for sign in signs), steps), 0))
    found: list[Pattern] = []
    while todo:
        pattern, at = todo.pop()
        cut: list[Pattern] = []
        while at < len(conditions) and not (cut := _cut(pattern, conditions[at])):
            at += 1
        todo += [(each, at) for each in cut]
        found += [] if cut else [pattern]
        if len(found) + len(todo) > _MOST_PATTERNS:
            raise Outside("is published in too many numbers that depend on each other")
    return found


def _cut(pattern: Pattern, condition: Row) -> list[Pattern]:
    """Return two patterns in place of one on which a condition holds somewhere; nothing where it is decided."""
    normal, bound = condition
    slopes = [sum(c * step[v] for v, c in normal) for step in pattern.steps]
    up, down = max(slopes, default=0), min(slopes, default=0)
    holds = sum(c * pattern.start[v] for v, c in normal) <= bound
    if up > 0 > down:
        return compared(pattern, slopes.index(up), slopes.index(down))
    if (up > 0 and holds) or (down < 0 and not holds):
        return counted(pattern, slopes.index(up or down))
    return []


def compared(pattern: Pattern, i: int, j: int) -> list[Pattern]:
    """Cut where one count is at least another one, and where it is less."""
    both = _plus(pattern.steps[i], pattern.steps[j])
    at_least = tuple(both if k == j else step for k, step in enumerate(pattern.steps))
    less = tuple(both if k == i else step for k, step in enumerate(pattern.steps))
    return [Pattern(pattern.start, at_least), Pattern(_plus(pattern.start, pattern.steps[j]), less)]


def counted(pattern: Pattern, j: int) -> list[Pattern]:
    """Cut where a count is 0, and where it is more."""
    rest = (*pattern.steps[:j], *pattern.steps[j + 1 :])
    return [Pattern(pattern.start, rest), Pattern(_plus(pattern.start, pattern.steps[j]), pattern.steps)]


def _plus(left: Step, right: Step) -> Step:
    return tuple(map(sum, zip(left, right, strict=True)))


def holding(rows: Iterable[Row], pattern: Pattern) -> Rows:
    """Return those of some rows that hold on a pattern that decides all of them."""
    return frozenset(line for line in rows if sum(c * pattern.start[v] for v, c in line[0]) <= line[1])


def on_pattern(pieces: Pieces, pattern: Pattern, held: Rows, unit: Base) -> Counted:
    """Return a function on a pattern; `held` are those of its rows that hold there."""
    found: Counted = {}
    nothing = tuple((unit, 0) for _ in range(pattern.counts))
    for rows, terms in pieces:
        if not rows <= held:
            continue
        for (bases, degrees), c in terms.items():
            shares = [unit] * pattern.counts
            for v, base in bases:
                c = c * (base ** pattern.start[v]).value
                for j, step in enumerate(pattern.steps):
                    if step[v]:
                        shares[j] = shares[j] * base ** step[v]
            for key, times in _polynomial(degrees, pattern, nothing).items():
                place = tuple((share, degree) for share, (_, degree) in zip(shares, key, strict=True))
                add(found, place, c * times)
    return found


def _polynomial(
    degrees: tuple[tuple[int, int], ...], pattern: Pattern, nothing: tuple[tuple[Base, int], ...]
) -> dict[tuple[tuple[Base, int], ...], int]:
    """Return a product of powers of coordinates as a polynomial of the counts."""
    found = {nothing: 1}
    for v, degree in degrees:
        line: list[tuple[int | None, int]] = [
            (None, pattern.start[v]),
            *((j, s[v]) for j, s in enumerate(pattern.steps)),
        ]
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
            add(found, (*key[:j], (base, k), *key[j + 1 :]), c * base.value * comb(degree, k))
    return found


def without(function: Counted, j: int) -> Counted:
    """Return a function where count j is 0, of the other counts."""
    found: Counted = {}
    for key, c in function.items():
        if key[j][1] == 0:
            add(found, (*key[:j], *key[j + 1 :]), c)
    return found


def together(function: Counted, i: int, j: int) -> Counted:
    """Return a function where count i is count j and a further count, which takes its place."""
    found: Counted = {}
    for key, c in function.items():
        (base, degree), (other, power) = key[i], key[j]
        for k in range(degree + 1):
            changed = list(key)
            changed[i], changed[j] = (base, k), (base * other, power + degree - k)
            add(found, tuple(changed), c * comb(degree, k))
    return found
