"""By how much the noise of a run may be shifted so that it takes another path and publishes the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf, lcm
from typing import Any, NamedTuple, TypeAlias

from tightdp.cells.masses import Masses
from tightdp.every_n.edges import Edge, finite, total
from tightdp.every_n.paths import Affine, Bounds, Noise, Odds, Path, Paths, Terms, plus, power, times, with_known
from tightdp.exact.field import ExpNumber, Number
from tightdp.language.laws import Exponentials

Shift: TypeAlias = tuple[Fraction | int, ...]
"""By how much noise is larger."""
Gaps: TypeAlias = tuple[tuple[Edge, Edge], ...]
"""Between what the differences of values lie, ours less theirs."""

_FARTHEST = 40
_MOST_PIECES = 16


class _Range(NamedTuple):
    """What the shifts of noise must satisfy: low <= Σ factors[j]·d_j <= high."""

    factors: tuple[Fraction, ...]
    low: Edge
    high: Edge

    def last(self) -> int:
        """Return the number of the last noise with a nonzero factor; -1 for none."""
        return max((at for at, factor in enumerate(self.factors) if factor), default=-1)

    def holds(self, by: Shift) -> bool:
        """Whether shifts of the first noises, up to `last()`, are in the range."""
        return self.low <= sum(factor * d for factor, d in zip(self.factors, by, strict=False)) <= self.high


class Steps(NamedTuple):
    """By which multiples of 1/`parts` real noise is shifted, and by which integers other noise, up to `reach`."""

    reach: int
    parts: int

    def of(self, law: Noise) -> list[Fraction | int]:
        """Return the shifts that are tried, small ones first."""
        parts = self.parts if is_real(law) else 1
        each = sorted(range(-self.reach * parts, self.reach * parts + 1), key=abs)
        return [Fraction(d, parts) if parts > 1 else d for d in each]

    def outward(self, gap: tuple[Edge, Edge]) -> tuple[Edge, Edge] | None:
        """Return a range of differences that is wide enough and one of finitely many; None for one that is too far."""
        low, high = gap
        if low == high:
            within = -self.reach <= low <= self.reach
            return gap if within and (Fraction(low) * self.parts).denominator == 1 else None
        return (
            -inf if low < -self.reach else Fraction(floor(min(low, self.reach) * self.parts), self.parts),
            inf if high > self.reach else Fraction(ceil(max(high, -self.reach) * self.parts), self.parts),
        )


def is_real(law: Noise) -> bool:
    return isinstance(law, Exponentials) and law.real


def steps_of(paths: Paths, farther: int = 1) -> Steps:
    """Return the largest shift of noise that is tried: twice, or farther, the spread of constants that are compared.

    These are added to the same unknowns on paths that publish the same, as ends of a range on the same side of it. More
    where what is held counts several times for one of the noise. Real noise is shifted in steps as small as these
    constants have.
    """
    ends: dict[Any, tuple[Fraction, Fraction]] = {}
    stretch = Fraction(1)
    for path in paths.each():
        found = [(affine.terms, 0, affine.constant) for affine in (*path.values, *path.published)]
        for terms, (least, most) in path.bounds.items():
            found += [(terms, side, edge) for side, edge in ((-1, least), (1, most)) if finite(edge)]
        for terms, side, constant in found:
            compared = path.letter, path.noises, terms, side
            low, high = ends.get(compared, (constant, constant))
            ends[compared] = min(low, constant), max(high, constant)
            fresh = [abs(factor) for (kind, _), factor in terms if kind == "fresh"]
            held = [abs(factor) for (kind, _), factor in terms if kind == "held" and fresh]
            stretch = max([stretch, *(factor / min(fresh) for factor in held)])
    spread = max([Fraction(1), *(high - low for low, high in ends.values())])
    reach = min(ceil(2 * spread * stretch) * farther, _FARTHEST)
    parts = lcm(*(each.denominator for pair in ends.values() for each in pair))
    return Steps(reach, parts if parts * reach <= _FARTHEST else 1)


def alike(ours: Path, theirs: Path) -> bool:
    """Whether two paths draw the same noise and publish the same but for numbers."""
    return (
        ours.noises == theirs.noises and ours.letter == theirs.letter and len(ours.published) == len(theirs.published)
    )


def shifts(ours: Path, theirs: Path, before: Gaps, steps: Steps) -> dict[Gaps, tuple[Number, Shift]]:
    """Return by how much the values that our path leaves behind may be larger than theirs; its cost, and the shift.

    Our values are larger by `before` when the paths begin. The cost is the largest ratio of the probability of our
    noise and that of theirs, the least over all shifts of the noise in `steps` that take our path to theirs.
    """
    if not alike(ours, theirs) or len(ours.values) != len(theirs.values):
        return {}
    ranges = _ranges(ours, theirs, before)
    if ranges is None or any(one.terms != other.terms for one, other in zip(ours.values, theirs.values, strict=True)):
        return {}
    found: dict[Gaps, tuple[Number, Shift]] = {}
    for by in _within(ranges, [steps.of(law) for law in ours.noises]):
        after: list[tuple[Edge, Edge]] = []
        for one, other in zip(ours.values, theirs.values, strict=True):
            low, high = _moved(one.terms, before)
            apart = one.constant - other.constant + _shifted(one.terms, by)
            gap = steps.outward((total(low, (1, apart)), total(high, (1, apart))))
            if gap is None:
                break
            after.append(gap)
        else:
            odds, key = _odds_price(ours, theirs, before, by), tuple(after)
            cost = odds and price(ours, by) * odds
            if cost and (key not in found or cost < found[key][0]):
                found[key] = cost, by
    return found


def pieces(ours: Path, theirs: Sequence[Path], gaps: Gaps, held: Sequence[bool]) -> list[Path]:
    """Return our path cut into pieces where theirs begin and end by integers that are held.

    Our values are larger than theirs by `gaps`; `held` says which of them are real.
    """
    cuts: dict[Terms, set[Edge]] = {}
    for other in theirs:
        for terms, (least, most) in other.bounds.items() if alike(ours, other) else ():
            low, high = _moved(terms, gaps)
            if low == high and all(kind == "held" and not held[at] for (kind, at), _ in terms):
                cuts.setdefault(terms, set()).update(edge + low for edge in (least, most + 1) if finite(edge))
    for terms, edges in cuts.items():
        low, high = ours.bounds.get(terms, (-inf, inf))
        for start, stop in pairwise(sorted(edges | {each for each in (low, high + 1) if finite(each)})):
            if stop - start <= _MOST_PIECES:
                edges.update(start + at for at in range(int(stop - start)))
    found = [ours]
    for terms, edges in cuts.items():
        found = [piece for one in found for piece in cut_at(one, terms, edges)]
    return found if len(found) <= _MOST_PIECES else [ours]


def cut_at(path: Path, terms: Terms, edges: Iterable[Edge]) -> list[Path]:
    """Return the parts of a path below, between and from some edges on; itself where none of them is inside."""
    low, high = path.bounds.get(terms, (-inf, inf))
    inside = [edge for edge in sorted(edges) if low < edge <= high]
    if not inside:
        return [path]
    ends = zip([low, *inside], [*(edge - 1 for edge in inside), high], strict=True)
    return [replace(path, bounds={**path.bounds, terms: each}) for each in ends]


def fixed(ours: Path, theirs: Path, gaps: Gaps) -> tuple[Path, Path] | None:
    """Return both paths with the values that ours fixes by its conditions; None where theirs is not taken with them.

    Nor is there one where they publish something else, or what is held contradicts them.
    """
    if not alike(ours, theirs) or exclusive(ours, theirs, gaps):
        return None
    known: dict[tuple[str, int], Affine] = {}
    before: dict[tuple[str, int], Affine] = {}
    used: set[tuple[str, int]] = set()
    for terms, (value, high) in ours.bounds.items():
        symbols = {symbol for symbol, _ in terms}
        moved, most = _moved(terms, gaps)
        if value != high or moved != most or symbols & used or any(kind != "held" for kind, _ in symbols):
            continue
        used |= symbols
        symbol, factor = terms[0]
        for each, fixed_at in ((known, Fraction(value)), (before, Fraction(value) - Fraction(moved))):
            rest = plus(Affine((), fixed_at), Affine(terms[1:], Fraction(0)), -1)
            each[symbol] = times(rest, 1 / factor)
    if not known:
        return ours, theirs
    one, other = with_known(ours, known), with_known(theirs, before)
    return None if one is None or other is None else (one, other)


def exclusive(one: Path, other: Path, gaps: Gaps | None = None) -> bool:
    """Whether two paths are not both possible, by the values that are held before them: those of one larger by gaps."""
    for terms, (low, high) in one.bounds.items():
        if terms in other.bounds and all(kind == "held" for (kind, _), _ in terms):
            (least, most), (less, more) = other.bounds[terms], _moved(terms, gaps) if gaps else (0, 0)
            if low > total(most, (1, more)) or high < total(least, (1, less)):
                return True
    return False


def price(path: Path, by: Shift) -> Number:
    """Return the largest ratio of the probabilities, or densities, of noise that is larger by a shift and of noise."""
    cost: Number = Fraction(1)
    for law, d in zip(path.noises, by, strict=True):
        cost = cost * _price(law, d)
    return cost


def _odds_price(ours: Path, theirs: Path, before: Gaps, by: Shift) -> Number | None:
    """Return the largest ratio of the probabilities of outcomes whose weights are not known; None for no bound.

    A ratio of sums of weights is at most the largest ratio of two of them.
    """
    chosen, open_ = zip(*(_with_known_odds(path) for path in (ours, theirs)), strict=True)
    if [[odds.powers for odds in each] for each in open_[0]] != [[odds.powers for odds in each] for each in open_[1]]:
        return None
    cost: Number = chosen[0] / chosen[1]
    for one, other in zip(*open_, strict=True):
        most: Number = Fraction(1)
        for mine, their in zip(one, other, strict=True):
            ratio = their.factor / mine.factor
            for base, terms in mine.powers:
                low, high = _moved(terms, before)
                edge = low if base > 1 else high
                if not finite(edge):
                    return None
                exact = edge if isinstance(base, ExpNumber) else ceil(edge) if base > 1 else floor(edge)
                ratio = ratio * power(base, -Fraction(exact) - _shifted(terms, by))
            most = max(most, ratio)
        cost = cost * most
    return cost


def _with_known_odds(path: Path) -> tuple[Number, list[tuple[Odds, ...]]]:
    """Return how likely the outcomes are whose odds are known by now, and the odds of the others."""
    chosen: Number = Fraction(1)
    for each in path.odds:
        if not any(odds.powers for odds in each):
            chosen = chosen / (1 + sum((odds.factor for odds in each), Fraction(0)))
    return chosen, [each for each in path.odds if any(odds.powers for odds in each)]


def _price(law: Noise, d: Fraction | int) -> Number:
    """Return the largest ratio of the probabilities, or densities, of noise that is larger by d and of noise.

    Both are within the ends of the law, between which the logarithm of the law is linear by pieces, with slopes that
    are the logarithms of the bases.
    """
    if not d:
        return Fraction(1)
    if isinstance(law, Masses):
        return law.largest(int(d))
    if not isinstance(law, Exponentials):
        return law.ratio ** -abs(int(d))
    return max(base**d if isinstance(base, ExpNumber) else base ** int(d) for _, _, base in law.pieces)


def _ranges(ours: Path, theirs: Path, before: Gaps) -> list[_Range] | None:
    """Return conditions on the shifts of the noise under which the bounds of our path imply those of theirs.

    Our noise is theirs plus the shift. None where no shift satisfies them.
    """
    found: list[_Range] = []
    count = len(ours.noises)
    for one, other in zip(ours.published, theirs.published, strict=True):
        if one.terms != other.terms:
            return None
        low, high = _moved(one.terms, before)
        if low != high:
            return None
        gap = other.constant - one.constant - low
        found.append(_Range(_factors(one.terms, count), gap, gap))
    for terms, (least, most) in theirs.bounds.items():
        low, high = known_range(ours.bounds, terms)
        moved = _moved(terms, before)
        # our terms are in low..high, theirs in low - shift..high - shift, which must be within least..most
        above = inf if least == -inf else total(low, (-1, least), (-1, moved[1]))
        below = -inf if most == inf else total(high, (-1, most), (-1, moved[0]))
        found.append(_Range(_factors(terms, count), below, above))
    return None if any(each.low > each.high for each in found) else found


def known_range(bounds: Bounds, terms: Terms) -> tuple[Edge, Edge]:
    """Return the range of a combination that follows from bounds on it, or on its parts."""
    low, high = bounds.get(terms, (-inf, inf))
    least: Edge = Fraction(0)
    most: Edge = Fraction(0)
    for symbol, factor in terms:
        one, other = bounds.get(((symbol, Fraction(1)),), (-inf, inf))
        least = total(least, (factor, one if factor > 0 else other))
        most = total(most, (factor, other if factor > 0 else one))
    return max(low, least), min(high, most)


def _factors(terms: Terms, count: int) -> tuple[Fraction, ...]:
    factors = [Fraction(0)] * count
    for (kind, at), factor in terms:
        if kind == "fresh":
            factors[at] = factor
    return tuple(factors)


def _shifted(terms: Terms, by: Shift) -> Fraction:
    """Return by how much a combination changes with its noise."""
    return sum((factor * by[at] for (kind, at), factor in terms if kind == "fresh"), Fraction(0))


def _moved(terms: Terms, gaps: Gaps) -> tuple[Edge, Edge]:
    """Return between what a combination changes with the values held; the number of records is the same for both."""
    low: Edge = Fraction(0)
    high: Edge = Fraction(0)
    for (kind, at), factor in terms:
        if kind == "held":
            least, most = gaps[at] if factor > 0 else gaps[at][::-1]
            low, high = total(low, (factor, least)), total(high, (factor, most))
    return low, high


def _within(ranges: Sequence[_Range], tried: Sequence[Sequence[Fraction | int]]) -> Iterator[Shift]:
    """Yield the shifts, one of those that are tried for each noise, that satisfy all ranges."""
    due: dict[int, list[_Range]] = {}
    for each in ranges:
        due.setdefault(each.last(), []).append(each)
    if not all(each.holds(()) for each in due.get(-1, ())):
        return
    pending: list[Shift] = [()]
    while pending:
        chosen = pending.pop()
        if len(chosen) == len(tried):
            yield chosen
            continue
        for d in tried[len(chosen)]:
            longer = (*chosen, d)
            if all(each.holds(longer) for each in due.get(len(chosen), ())):
                pending.append(longer)
