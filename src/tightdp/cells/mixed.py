"""Integers and real numbers beside each other: where one law exceeds a multiple of another, the masses of both.

Integers are cut into patterns, and real numbers into stretches or simplices. Where both laws fall alike in all counts
of a pattern, the real numbers decide, and the counts are a factor, a sum of their own. Else a count is 0, or one more
than a count, until little is left. The ratio of two laws that are sums of the same two exponentials of a real number is
largest at an end of a stretch, as it is monotone in their quotient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import ModuleType
from typing import Any, TypeAlias

from flint import arb, ctx

from tightdp.cells import joint, lines, suprema
from tightdp.cells.linear import Row, Rows
from tightdp.cells.lines import Stretch, mass_between, on_stretch, stretches
from tightdp.cells.patterns import Counted, Pattern, holding, on_pattern, patterns, shifted, without
from tightdp.cells.simplices import Region, divided, integral, scaled
from tightdp.cells.sums import Base, Exact, Key, Piece, Pieces, added, plus, rational_number
from tightdp.cells.suprema import Supremum, TooLong, sum_of
from tightdp.exact.enclosure import BITS
from tightdp.exact.field import as_ball

_MOST_CASES = 2_000
"""How many cases of counts are looked at."""
_LITTLE = arb(2) ** -44
"""What is left may be as much as this at a place."""

Counts: TypeAlias = tuple[tuple[Base, int], ...]
Mixed: TypeAlias = dict[tuple[Counts, Any], Exact]
"""Coefficients by what they are in counts, and in real numbers."""
_Placed: TypeAlias = Callable[[Supremum], Supremum]


@dataclass(frozen=True)
class Place:
    """A pattern of the integers, and where the real numbers are."""

    pattern: Pattern
    real: Stretch | Region

    @property
    def length(self) -> Any:
        """What masses depend on besides terms."""
        return self.pattern.counts, self.real.length

    @property
    def bounded(self) -> int:
        """How many of the lengths of real numbers are bounded: they come first."""
        return int(self.real.length is not None) if isinstance(self.real, Stretch) else self.real.simplex.bounded


def _parted(row: Row, integers: int) -> Row:
    """Return a condition on real numbers, which are counted from 0."""
    normal, bound = row
    return tuple((v - integers, c) for v, c in normal), bound


def _is_real(rows: Iterable[Row], integers: int) -> list[Row]:
    return [row for row in rows if row[0] and row[0][-1][0] >= integers]


def places(rows: Iterable[Row], integers: int, reals: int) -> list[Place]:
    """Cut space where one of some conditions changes, each of them on integers or on real numbers."""
    every = list(rows)
    real = [_parted(row, integers) for row in _is_real(every, integers)]
    within = [row for row in every if row[0][-1][0] < integers]
    cut: list[Any] = (
        stretches(real)
        if reals == 1
        else [Region(each) for each, _ in divided([[frozenset()], [frozenset([row]) for row in real]], reals)]
    )
    return [Place(pattern, each) for pattern in patterns(within, integers) for each in cut]


def on_place(pieces: Pieces, place: Place, rows: Iterable[Row], integers: int, unit: Base) -> Mixed:
    """Return a function at a place; `rows` are all its conditions."""
    held = holding([row for row in rows if row[0][-1][0] < integers], place.pattern)
    by_counts: dict[Counts, list[Piece]] = {}
    for conditions, terms in pieces:
        real: Rows = frozenset(_parted(row, integers) for row in _is_real(conditions, integers))
        within = frozenset(row for row in conditions if row[0][-1][0] < integers)
        for key, c in terms.items():
            bases, degrees = key
            inner: Key = tuple(e for e in bases if e[0] < integers), tuple(e for e in degrees if e[0] < integers)
            outer: Key = (
                tuple((v - integers, base) for v, base in bases if v >= integers),
                tuple((v - integers, degree) for v, degree in degrees if v >= integers),
            )
            counted = on_pattern([(within, {inner: c})], place.pattern, held, unit)
            for counts, share in counted.items():
                by_counts.setdefault(counts, []).append((real, {outer: share}))
    found: Mixed = {}
    for counts, each in by_counts.items():
        function: Any = (
            on_stretch(each, place.real, unit) if isinstance(place.real, Stretch) else joint.on_region(each, place.real)
        )
        found |= {(counts, term): c for term, c in function.items()}
    return found


def decided(p: Mixed, q: Mixed, place: Place) -> bool:
    """Whether the ratio of two functions does not depend on counts, or is monotone in the real number at all counts."""
    terms = {term for _, term in (*p, *q)}
    few = len(terms) <= 2 and not any(degree for ((_, degree), *_) in terms)
    return not (p and q) or (isinstance(place.real, Stretch) and (few or _alike(p, q)))


def supremum(p: Mixed, q: Mixed, place: Place, least: Any, watch: Callable[[], None]) -> Supremum | None:
    """Return the supremum of p/q where that is decided, None where it is at most `least`. Raises TooLong."""
    best: Supremum | None = None
    for look, ours, theirs, on, placed in _parts(p, q, place):
        try:
            found = look.supremum(ours, theirs, on, least, watch)
        except TooLong as error:
            raise TooLong(best if error.best is None else placed(error.best)) from None
        if found is not None:
            least, best = found.value, placed(found)
    return best


def upper_end(p: Mixed, q: Mixed, place: Place, least: Any, watch: Callable[[], None]) -> Any:
    """Return a number above `least` that p/q, where that is decided, is proved not to exceed."""
    return max(look.upper_end(*both, on, least, watch) for look, *both, on, _ in _parts(p, q, place))


def _alike(p: Mixed, q: Mixed) -> bool:
    return len({counts for counts, _ in (*p, *q)}) <= 1


def _parts(p: Mixed, q: Mixed, place: Place) -> Iterator[tuple[ModuleType, Counted, Counted, Any, _Placed]]:
    """Yield what decides: functions of the real number, or those of counts at the ends of its stretch.

    Far out that is what the largest exponential is multiplied by. What is found there is told of the place.
    """
    stretch: Any = place.real
    if _alike(p, q) or not (p and q):
        start = place.pattern.start
        ours, theirs = ({term: c for (_, term), c in each.items()} for each in (p, q))
        look = lines if isinstance(stretch, Stretch) else joint
        yield look, ours, theirs, stretch, partial(_beside, before=start, still=(0,) * len(start))
        return
    far = max((base for _, ((base, _),) in (*p, *q)), key=lambda base: base.value, default=None)
    for t in (Fraction(0), stretch.length):
        both: list[Counted] = [{}, {}]
        for function, total in zip((p, q), both, strict=True):
            for (counts, ((base, _),)), c in function.items():
                if t is not None or base is far:
                    added(total, {counts: c if t is None else c * (base**t).value})
        at, moved = (stretch.start, stretch.sign) if t is None else (stretch.at(t), 0)
        side = (*(0 for _ in place.pattern.start), stretch.inwards(t))
        yield suprema, both[0], both[1], place.pattern, partial(_beside, after=(at,), moved=(moved,), side=side)


def _beside(
    found: Supremum, before: Any = (), still: Any = (), after: Any = (), moved: Any = (), side: Any = ()
) -> Supremum:
    side = (*still, *found.side) if found.side else side
    return Supremum(found.value, (*before, *found.place, *after), (*still, *found.moved, *moved), side)


def attained(p: Mixed, q: Mixed, value: Any, place: Place, watch: Callable[[], None]) -> tuple[Any, ...] | None:
    """Return a place near which p/q is a value that it never exceeds, None where there is none. Raises TooLong.

    Where that is decided, and depends on counts, two exponentials of the real number differ there.
    """
    stretch: Any = place.real
    if _alike(p, q) or not (p and q):
        look, ours, theirs, on, placed = next(_parts(p, q, place))
        at = look.attained(ours, theirs, value, on, watch)
        return None if at is None else placed(Supremum(value, at, ())).place
    both: list[Counted] = [{}, {}]
    for t in (Fraction(0), stretch.inside):  # it is a value everywhere if it is at two places
        for function, total in zip((p, q), both, strict=True):
            for (counts, ((base, _),)), c in function.items():
                added(total, {counts: c * (base**t).value})
    at = suprema.attained(both[0], both[1], value, place.pattern, watch)
    return None if at is None else (*at, stretch.at(stretch.inside))


def larger(p: Mixed, q: Mixed, t: Any, place: Place, watch: Callable[[], None]) -> tuple[Exact, Exact]:
    """Return the masses of p - t·q and of q where p > t·q: exact, or enclosed. Raises TooLong."""
    by: ModuleType = lines if isinstance(place.real, Stretch) else joint
    found: list[Any] = [0, 0]
    todo = [(p, q)]
    for _ in range(_MOST_CASES):
        if not todo:
            return found[0], found[1]
        watch()
        p, q = todo.pop()
        every = {counts for counts, _ in (*p, *q)}
        if not p:
            continue
        if len(every) > 1:
            size = as_ball(mass(p, place)).upper()
            if size > _LITTLE:
                count = _deciding(every)
                for way in (partial(shifted, j=count), partial(without, j=count)):
                    todo.append((_turned(p, way), _turned(q, way)))
                continue
            masses = [size.union(arb(0)), (size / as_ball(rational_number(t))).union(arb(0))]
        else:
            functions = [{term: c for (_, term), c in each.items()} for each in (p, q)]
            times = sum_of(every.pop())
            masses = [_product(times, each) for each in by.larger(*functions, t, place.real, watch)]
        with ctx.workprec(BITS):
            found = [plus(a, b) for a, b in zip(found, masses, strict=True)]
    raise TooLong


def _deciding(every: set[Counts]) -> int:
    """Return a count in which some terms fall otherwise than others."""
    first, *others = every
    return next(j for j in range(len(first)) if any(each[j] != first[j] for each in others))


def _turned(function: Mixed, change: Callable[[Counted], Counted]) -> Mixed:
    by_term: dict[Any, Counted] = {}
    for (counts, term), c in function.items():
        by_term.setdefault(term, {})[counts] = c
    return {(counts, term): c for term, each in by_term.items() for counts, c in change(each).items()}


def mass(function: Mixed, place: Place) -> Exact:
    """Return the mass of a function at a place."""
    total: Any = 0
    for (counts, term), c in function.items():
        if isinstance(place.real, Stretch):
            real = mass_between({term: c}, Fraction(0), place.real.length)
        else:
            real = scaled(integral({term: rational_number(c)}, place.real.simplex.bounded), place.real.simplex.volume)
        total = total + rational_number(real) * rational_number(sum_of(counts))
    return total


def _product(times: Exact, mass: Any) -> Any:
    return as_ball(rational_number(times)) * mass if isinstance(mass, arb) else times * mass
