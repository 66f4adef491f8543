"""Which of their paths a run on x' may take whose noise is ours but for a shift, where that does not follow.

Our run is on one path. Theirs begins with other values, within known differences, and its noise is shifted. It may then
be on one of several paths: those whose conditions do not contradict ours. If one of them is taken in any case, they
cover ours. All this is asked of systems of linear inequalities, which are decided exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from tightdp.cells.linear import REAL, Row, Rows, extent, feasible, opposite, row, tightest
from tightdp.every_n.edges import Edge, finite
from tightdp.every_n.paths import Affine, Bounds, Path, plus, times
from tightdp.every_n.shifts import Gaps, Shift, alike, is_real

Kinds = tuple[bool, ...]
"""Of the values that a state holds: whether they are real numbers."""

_OURS, _THEIRS, _GAP, _FRESH, _ASKED = 0, 1000, 2000, 3000, 4000
"""Where the numbers of variables begin."""
_SLACK = REAL + 5000
_MOST_ROWS = 24
_MOST_VARIABLES = 8
"""Larger systems are not asked."""


_NOTHING = Affine((), Fraction(0))
_Values = Callable[[tuple[str, int]], Affine]
"""The value of each symbol of a path."""


def kinds_after(path: Path, held: Kinds) -> Kinds:
    """Return what kinds of values a path leaves behind, from a state that holds values of these kinds."""
    return tuple(
        any(
            held[at] if kind == "held" else kind == "fresh" and is_real(path.noises[at]) for (kind, at), _ in form.terms
        )
        for form in path.values
    )


def apart(paths: Sequence[Path], held: Kinds) -> list[frozenset[int]]:
    """Return for each path which others, with as many draws, are not taken by the same noise."""
    rows = [list(_conditions(path.bounds, _values(path, held, _OURS, None))) for path in paths]
    found: list[set[int]] = [set() for _ in paths]
    for (one, ours), (other, theirs) in combinations(enumerate(paths), 2):
        if ours.noises == theirs.noises and not _possible([*rows[one], *rows[other]]):
            found[one].add(other)
            found[other].add(one)
    return list(map(frozenset, found))


def taken(paths: Sequence[Path], held: Kinds) -> tuple[Path, ...]:
    """Return the paths that some noise takes."""
    return tuple(path for path in paths if _possible([*_conditions(path.bounds, _values(path, held, _OURS, None))]))


def covers(
    ours: Path, theirs: Sequence[Path], gaps: Gaps | None, held: tuple[Kinds, Kinds], by: Shift = ()
) -> list[tuple[int, tuple[tuple[Edge, Edge], ...] | None]] | None:
    """Return which of their paths cover ours, and the differences of values after each; None where they do not.

    `held` are the kinds of our values and of theirs; our noise is theirs plus `by`. Differences are None where there
    are not as many values.
    """
    mine, other = _values(ours, held[0], _OURS, None), _values(ours, held[1], _THEIRS, gaps, by)
    near = [
        (at, path)
        for at, path in enumerate(theirs)
        if not path.odds and alike(ours, path) and _alike_published(ours, path, mine, other)
    ]
    rows = [*_within(gaps, held[0]), *_conditions(ours.bounds, mine)] if near else []
    found, left = [], []
    for at, path in near:
        own = list(_conditions(path.bounds, other))
        more = [*rows, *own]
        if not _possible(more):
            continue
        left.append(own)
        after = None
        if len(ours.values) == len(path.values):
            changes = (_difference(a, b, mine, other) for a, b in zip(ours.values, path.values, strict=True))
            after = tuple(_extent(tightest(more), change) for change in changes)
        found.append((at, after))
    return None if not found or _uncovered(rows, left) else found


def _alike_published(ours: Path, theirs: Path, mine: _Values, other: _Values) -> bool:
    pairs = zip(ours.published, theirs.published, strict=True)
    return all(_difference(a, b, mine, other) == _NOTHING for a, b in pairs)


def _values(path: Path, held: Kinds, begin: int, gaps: Gaps | None, by: Shift = ()) -> _Values:
    """Return the values of symbols; with differences, these are taken from values that begin elsewhere."""

    def of(symbol: tuple[str, int]) -> Affine:
        kind, at = symbol
        if kind == "fresh":
            noise = _variable(_FRESH + at, is_real(path.noises[at]))
            return plus(noise, Affine((), Fraction(by[at])), -1) if by else noise
        if kind == "size":
            return _variable(_ASKED - 1, False)
        if gaps is None:
            return _variable(begin + at, held[at])
        low, high = gaps[at]
        gap = Affine((), Fraction(low)) if low == high else _variable(_GAP + at, held[at])
        return plus(_variable(_OURS + at, held[at]), gap, -1)

    return of


def _variable(number: int, real: bool) -> Affine:
    return Affine(((("", number + REAL * real), Fraction(1)),), Fraction(0))


def _form(form: Affine, values: _Values) -> Affine:
    total = Affine((), form.constant)
    for symbol, factor in form.terms:
        total = plus(total, values(symbol), factor)
    return total


def _factors(form: Affine) -> dict[int, Fraction]:
    """Return the coefficients by variable."""
    return {v: factor for (_, v), factor in form.terms}


def _difference(ours: Affine, theirs: Affine, mine: _Values, other: _Values) -> Affine:
    return plus(_form(ours, mine), _form(theirs, other), -1)


def _conditions(bounds: Bounds, values: _Values) -> Iterator[Row]:
    for terms, (low, high) in bounds.items():
        yield from _between(_form(Affine(terms, Fraction(0)), values), low, high)


def _within(gaps: Gaps | None, held: Kinds) -> Iterator[Row]:
    for at, (low, high) in enumerate(gaps or ()):
        if low != high:
            yield from _between(_variable(_GAP + at, held[at]), low, high)


def _between(form: Affine, low: Edge, high: Edge) -> Iterator[Row]:
    if finite(high):
        yield row(_factors(form), high - form.constant)
    if finite(low):
        yield row(_factors(times(form, -1)), form.constant - low)


def _uncovered(rows: Sequence[Row], left: Sequence[Sequence[Row]]) -> bool:
    """Whether there may be a solution that violates a condition of each of the paths that are left."""
    if not _possible(rows):
        return False
    return not left or any(_uncovered([*rows, opposite(one)], left[1:]) for one in left[0])


def _possible(rows: Sequence[Row]) -> bool:
    """Whether there may be a solution that has a probability: conditions on real numbers may hold without their border.

    By Farkas' lemma a system that has no other solutions has a condition that is an equality in all of them.
    """
    system = tightest(rows)
    if _too_large(system):
        return True
    if not feasible(system):
        return False
    inside = [row({**dict(normal), _SLACK: 1}, bound) for normal, bound in system if any(map(_has_density, normal))]
    closed = [each for each in system if not any(map(_has_density, each[0]))]
    return not inside or extent(tightest([*closed, *inside, row({_SLACK: 1}, 1)]), _SLACK)[1] > 0


def _has_density(term: tuple[int, int]) -> bool:
    return term[0] >= REAL and not _GAP <= term[0] % REAL < _FRESH


def _too_large(rows: Rows) -> bool:
    return len(rows) > _MOST_ROWS or len({v for normal, _ in rows for v, _ in normal}) > _MOST_VARIABLES


@lru_cache(1 << 14)
def _of_asked(rows: Rows) -> tuple[Edge, Edge]:
    asked = next((v for normal, _ in rows for v, _ in normal if v % REAL == _ASKED), None)
    return (-float("inf"), float("inf")) if asked is None or _too_large(rows) else extent(rows, asked)


def _extent(rows: Rows, form: Affine) -> tuple[Edge, Edge]:
    """Return between what a form lies."""
    factors = _factors(form)
    if not factors:
        return form.constant, form.constant
    chosen = min(factors, key=lambda v: (v < max(factors) // REAL * REAL, abs(factors[v]), v))
    real = max(factors) >= REAL or any(c.denominator > 1 for c in factors.values())
    rest = Affine(tuple(each for each in form.terms if each[0][1] != chosen), Fraction(0))
    value = times(plus(_variable(_ASKED, real), rest, -1), 1 / factors[chosen])
    found = []
    for normal, bound in rows:
        total = _NOTHING
        for v, c in normal:
            total = plus(total, value if v == chosen else _variable(v, False), c)
        found.append(row(_factors(total), bound))
    low, high = _of_asked(tightest(found))
    return low + form.constant, high + form.constant
