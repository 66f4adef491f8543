"""Limits along rays of datasets: how fast what is published at the end gets unlikely as some records are repeated.

On m copies of a few records its probability is, but for factors that grow or fall like powers of m, a rate to the power
of m: sums over the records are larger by a constant each time, and noise that reaches as much farther has a tail of
that rate. Where one record of each copy changes, there are neighbours of neighbours between the two datasets, m of
them, so that some have a ratio of at least that of the rates, in the limit. The proof is in docs/every-n.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, combinations_with_replacement, product
from typing import Any, NamedTuple, TypeAlias

from flint import fmpq_mat

from tightdp.cells.draws import by_pieces
from tightdp.every_n.edges import Edge, finite
from tightdp.every_n.mixing import has_mixtures, primitive
from tightdp.every_n.paths import Noise, Path, Paths, Terms, refusal
from tightdp.every_n.shifts import is_real
from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact

_LONGEST = 4
_COPIES = 24
"""So many copies are one step along a ray: states come again after 2, 3 or 4 of them."""
_FAR = 8 * _COPIES
"""A number that is published lies farther out each time, by so much, where it is asked to be far out."""
_MOST_FAR = 2
_MOST_WORK = 8_000
"""So many systems of equations are solved, and records followed, until no more words are looked at."""
_MOST_NEAR = 400
"""So many places are looked at where noise may begin to grow."""
_CONTRADICTED = "what is proved of it contradicts how fast its outputs get unlikely"

Rate: TypeAlias = "tuple[tuple[Number, Fraction], ...]"
"""A product of powers of positive numbers."""
Word: TypeAlias = "tuple[Any, ...]"
Noises: TypeAlias = "tuple[Fraction, ...]"
Values: TypeAlias = "dict[tuple[str, int], Fraction]"


class _Ray(NamedTuple):
    """Where a run is, what it holds there, and by how much that is larger each time."""

    state: int
    begin: Values
    more: Values


class _Row(NamedTuple):
    """What a path asks of its noise: how it depends on that, the rest, and by how much this is larger each time.

    The rest is that of no copies, if the first ones were as the later ones are.
    """

    factors: tuple[Fraction | int, ...]
    begin: Fraction | int
    more: Fraction
    low: Edge
    high: Edge
    real: bool

    def holds(self, noise: Sequence[Fraction | int]) -> bool:
        """Whether it holds of noise at the beginning."""
        here = self.begin + _times(self.factors, noise)
        return self.low < here < self.high if self.real else self.low <= here <= self.high

    def end(self) -> Fraction:
        """Return an end, if there is one."""
        return self.low if finite(self.low) else self.high if finite(self.high) else Fraction(0)

    def allows(self, ahead: Fraction | int) -> bool:
        """Whether it can go on changing like this."""
        return not (finite(self.low) and ahead < 0) and not (finite(self.high) and ahead > 0)


def approaches(paths: Paths, upper: Exact) -> bool:
    """Whether some n come arbitrarily close to an upper end; where all records may change, whether that is infinite."""
    if not paths.faithful or any(path.noises or path.bounds for path in paths.before) or has_mixtures(paths):
        return False
    if (upper == math.inf) is not paths.all_at_once:
        return False
    return _Rays(paths).approach(upper)


class _Rays:
    """The rates of what is published on copies of a few records."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._known: dict[Word, tuple[list[_Ray], dict[Any, Rate]]] = {}
        self._work = 0

    def approach(self, upper: Exact) -> bool:
        """Whether a word is likelier than another one by the upper end for each record, each time."""
        return any(self._reach(upper, word, other) for word, other in self._words())

    def _words(self) -> Iterator[tuple[Word, Word]]:
        """Yield a few records, and those with one of them changed."""
        for size in range(_LONGEST):
            for others in combinations_with_replacement(self._paths.steps, size):
                for (old, new), at in product(self._paths.moves, range(size + 1 if self._paths.states > 1 else 1)):
                    if old != new and self._work < _MOST_WORK:
                        yield (*others[:at], old, *others[at:]), (*others[:at], new, *others[at:])

    def _reach(self, upper: Exact, word: Word, other: Word) -> bool:
        (rays, ours), (_, theirs) = self._rates(word), self._rates(other)
        for letter in ours.keys() & theirs.keys():
            ratio: Rate = *ours[letter], *_inverse(theirs[letter])
            if not isinstance(upper, float):
                ratio = *ratio, (upper, Fraction(-_COPIES))
            above, below = _is_above_one(ratio), _is_above_one(_inverse(ratio))
            if not below and (above or upper < math.inf) and self._has(rays, letter, ours):
                if above and upper < math.inf:
                    raise refusal(_CONTRADICTED, "this is a mistake of tightdp, please report it; ask for one n")
                return True
        return False

    def _rates(self, word: Word) -> tuple[list[_Ray], dict[Any, Rate]]:
        """Return the rays of copies of a word, and rates that probabilities of what is sent have at most."""
        if word not in self._known:
            self._work += _COPIES
            rays = [self._ray(before, word) for before in self._paths.before]
            some = [ray for ray in rays if ray is not None]
            found: dict[Any, Rate] = {}
            if len(some) == len(rays):
                for letter, rate, _ in self._ways(some):
                    known = found.get(letter)
                    found[letter] = rate if known is None or _is_above_one((*rate, *_inverse(known))) else known
            self._known[word] = some, found
        return self._known[word]

    def _has(self, rays: list[_Ray], letter: Any, rates: Mapping[Any, Rate]) -> bool:
        """Whether the probability of a letter has its rate at least, too."""
        return any(
            happens is not None
            and sent == letter
            and not _is_above_one((*rates[letter], *_inverse(rate)))
            and happens()
            for sent, rate, happens in self._ways(rays)
        )

    def _ways(self, rays: list[_Ray]) -> Iterator[tuple[Any, Rate, Callable[[], bool] | None]]:
        """Yield how a letter may be sent on a ray, the rate of that, and what says whether it happens at that rate.

        Nothing does where the rate is more than that of choices by weight, in which noise has a part.
        """
        for ray in rays:
            for path in self._paths.after.get(ray.state, ()):
                asked = [_row(path, terms, ends, ray) for terms, ends in path.bounds.items()]
                chosen = _odds_rate(path, ray)
                for far in _far(path):
                    rows = asked + [
                        _row(path, form.terms, (0, math.inf) if sign > 0 else (-math.inf, 0), ray, sign * _FAR)
                        for form, sign in zip(path.published, far, strict=True)
                        if sign
                    ]
                    for noise, begin in self._vertices(rows, len(path.noises)):
                        fallen = _noise_rate(path.noises, noise)
                        if fallen is not None:
                            happens = partial(_happens, path.noises, rows, noise, begin)
                            event = path.letter, far
                            yield event, (*fallen, *(chosen or ())), None if chosen is None else happens

    def _ray(self, before: Path, word: Word) -> _Ray | None:
        """Return where copies of a word lead, as many times as all words have their states again."""
        state, values = before.target, _held(before, {})
        seen: list[tuple[int, Values]] = []
        for copies in range(1, 3 * _COPIES + 1):
            for record in word:
                ways = self._paths.steps[record].get(state, ())
                if values is None or len(ways) != 1 or ways[0].bounds or ways[0].noises or ways[0].probability != 1:
                    return None
                state, values = ways[0].target, _held(ways[0], values)
            if values is None:
                return None
            seen.append((state, {**values, ("size", 0): Fraction(copies * len(word))}))
        (one, begin), (two, then), (three, last) = (seen[_COPIES * at - 1] for at in (1, 2, 3))
        more, again = (
            {name: after[name] - value for name, value in first.items() if name in after}
            for first, after in ((begin, then), (then, last))
        )
        return _Ray(one, begin, more) if one == two == three and more == again else None

    def _vertices(self, rows: Sequence[_Row], size: int) -> Iterator[tuple[Noises, Noises]]:
        """Yield how noise may grow where no two ways of growing have it between them, and where it may begin."""
        for many in range(min(len(rows), size) + 1):
            for tight, moved in product(combinations(rows, many), combinations(range(size), many)):
                self._work += 1
                matrix = [[row.factors[at] for at in moved] for row in tight]
                solved = _solved(matrix, [-row.more for row in tight])
                if solved is None:
                    continue
                noise = _filled(moved, solved, size)
                if all(row.allows(row.more + _times(row.factors, noise)) for row in rows):
                    begin = _solved(matrix, [row.end() - row.begin for row in tight])
                    assert begin is not None
                    yield noise, _filled(moved, begin, size)


def _held(path: Path, values: Values) -> Values | None:
    """Return what is held after a path without noise; None where n is added, which is not known along a ray."""
    if any(name not in values for form in path.values for name, _ in form.terms):
        return None
    return {("held", at): form.constant + _value(form.terms, values) for at, form in enumerate(path.values)}


def _value(terms: Terms, values: Values) -> Fraction:
    return sum((factor * values[name] for name, factor in terms if name in values), Fraction(0))


def _times(factors: Sequence[Fraction | int], numbers: Sequence[Fraction | int]) -> Fraction | int:
    return sum(factor * number for factor, number in zip(factors, numbers, strict=True))


def _far(path: Path) -> Iterator[tuple[int, ...]]:
    """Yield how far the numbers that are published may be asked to lie: on either side, or anywhere."""
    many = len(path.published)
    return product((0, 1, -1), repeat=many) if many <= _MOST_FAR else iter([(0,) * many])


def _row(path: Path, terms: Terms, ends: tuple[Edge, Edge], ray: _Ray, less: int = 0) -> _Row:
    by = {at: factor for (kind, at), factor in terms if kind == "fresh"}
    factors = tuple(_short(by.get(at, Fraction(0))) for at in range(len(path.noises)))
    begin, more = _value(terms, ray.begin), _value(terms, ray.more)
    real = any(is_real(path.noises[at]) for at in by)
    return _Row(factors, _short(begin - more), more - less, *ends, real)


def _short(number: Fraction) -> Fraction | int:
    return number if number.denominator > 1 else number.numerator


def _solved(matrix: list[list[Fraction | int]], right: list[Fraction]) -> list[Fraction] | None:
    """Return the solution of a square system; None where there is not exactly one."""
    size = len(right)
    if not size:
        return []
    entries = fmpq_mat(size, size, [as_fmpq(value) for row in matrix for value in row])
    try:
        found = entries.solve(fmpq_mat(size, 1, list(map(as_fmpq, right))))
    except ZeroDivisionError:
        return None
    return [as_fraction(found[at, 0]) for at in range(size)]


def _noise_rate(laws: Sequence[Noise], noise: Sequence[Fraction]) -> Rate | None:
    """Return how fast the law of noise falls as it grows like this; None where it does not go so far."""
    found: list[tuple[Number, Fraction]] = []
    for law, by in zip(laws, noise, strict=True):
        last = [base for low, high, base in by_pieces(primitive(law)).pieces if (high if by > 0 else low) is None]
        if by and not last:
            return None
        found += [(base, by) for base in last if by]
    return tuple(found)


def _odds_rate(path: Path, ray: _Ray) -> Rate | None:
    """Return how fast choices by weight get unlikely; None where noise has a part in the weights."""
    found: Rate = ()
    for others in path.odds:
        largest: Rate = ()
        for odds in others:
            if any(kind == "fresh" for _, terms in odds.powers for (kind, _), _ in terms):
                return None
            grows: Rate = tuple((base, _value(terms, ray.more)) for base, terms in odds.powers)
            largest = grows if _is_above_one((*grows, *_inverse(largest))) else largest
        found = *found, *_inverse(largest)
    return found


def _filled(places: Sequence[int], values: Sequence[Fraction], size: int) -> Noises:
    by = dict(zip(places, values, strict=True))
    return tuple(by.get(at, Fraction(0)) for at in range(size))


def _happens(laws: Sequence[Noise], rows: Sequence[_Row], noise: Noises, begin: Noises) -> bool:
    """Whether noise that grows like this, from about a place, is found to be possible, and all that is asked holds."""
    tight = [row for row in rows if not row.more + _times(row.factors, noise)]
    free = [at for at in range(len(laws)) if any(row.factors[at] for row in tight)]
    reach = int((_MOST_NEAR ** (1 / max(len(free), 1)) - 1) / 2)
    middle = [each if is_real(law) else round(each) for each, law in zip(begin, laws, strict=True)]
    for near in sorted(product(range(-reach, reach + 1), repeat=len(free)), key=lambda each: sum(map(abs, each))):
        place = list(middle)
        for at, by in zip(free, near, strict=True):
            place[at] += Fraction(by, 2) if is_real(laws[at]) else by
        if all(row.holds(place) for row in tight) and all(
            by or _is_possible(law, at) for law, by, at in zip(laws, noise, place, strict=True)
        ):
            return True
    return False


def _is_possible(law: Noise, at: Fraction | int) -> bool:
    pieces = by_pieces(primitive(law)).pieces
    return any((low is None or low <= at) and (high is None or at <= high) for low, high, _ in pieces)


def _inverse(rate: Rate) -> Rate:
    return tuple((base, -exponent) for base, exponent in rate)


def _is_above_one(rate: Rate) -> bool:
    """Whether a product of powers is above 1."""
    exponents: dict[Number, Fraction] = {}
    for base, exponent in rate:
        exponents[base] = exponents.get(base, Fraction(0)) + exponent
    whole = math.lcm(*(each.denominator for each in exponents.values()))
    above: Number = Fraction(1)
    below: Number = Fraction(1)
    for base, exponent in exponents.items():
        times = int(exponent * whole)
        if times > 0:
            above = above * base**times
        else:
            below = below * base**-times
    return bool(above > below)
