"""By how much the noise of a run may be shifted so that it takes another path and publishes the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, inf, isfinite, lcm
from typing import Any, NamedTuple, TypeAlias

from tightdp.every_n.paths import Bounds, Edge, Noise, Path, Paths, Terms
from tightdp.exact.field import ExpNumber, Number
from tightdp.language.laws import Exponentials

Shift: TypeAlias = tuple[Fraction | int, ...]

_FARTHEST = 40


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
        parts = self.parts if _is_real(law) else 1
        each = sorted(range(-self.reach * parts, self.reach * parts + 1), key=abs)
        return [Fraction(d, parts) if parts > 1 else d for d in each]


def _is_real(law: Noise) -> bool:
    return isinstance(law, Exponentials) and law.real


def steps_of(paths: Paths) -> Steps:
    """Return the largest shift of noise that is tried: twice the spread of constants that are compared.

    These are added to the same unknowns on paths that publish the same, as ends of a range on the same side of it. More
    where what is held counts several times for one of the noise. Real noise is shifted in steps as small as these
    constants have.
    """
    ends: dict[Any, tuple[Fraction, Fraction]] = {}
    stretch = Fraction(1)
    for path in paths.each():
        found = [(affine.terms, 0, affine.constant) for affine in (*path.values, *path.published)]
        for terms, (least, most) in path.bounds.items():
            found += [(terms, side, Fraction(edge)) for side, edge in ((-1, least), (1, most)) if isfinite(edge)]
        for terms, side, constant in found:
            compared = path.letter, path.noises, terms, side
            low, high = ends.get(compared, (constant, constant))
            ends[compared] = min(low, constant), max(high, constant)
            fresh = [abs(factor) for (kind, _), factor in terms if kind == "fresh"]
            held = [abs(factor) for (kind, _), factor in terms if kind == "held" and fresh]
            stretch = max([stretch, *(factor / min(fresh) for factor in held)])
    spread = max([Fraction(1), *(high - low for low, high in ends.values())])
    reach = min(ceil(2 * spread * stretch), _FARTHEST)
    parts = lcm(*(each.denominator for pair in ends.values() for each in pair))
    return Steps(reach, parts if parts * reach <= _FARTHEST else 1)


def shifts(ours: Path, theirs: Path, before: Shift, steps: Steps) -> dict[Shift, Number]:
    """Return by how much the values that our path leaves behind may be larger than theirs, and what each costs.

    Our values are larger by `before` when the paths begin. The cost is the largest ratio of the probability of our
    noise and that of theirs, the least over all shifts of the noise in `steps` that take our path to theirs.
    """
    alike = ours.noises == theirs.noises and ours.letter == theirs.letter
    if not alike or len(ours.published) != len(theirs.published) or len(ours.values) != len(theirs.values):
        return {}
    ranges = _ranges(ours, theirs, before)
    if ranges is None or any(one.terms != other.terms for one, other in zip(ours.values, theirs.values, strict=True)):
        return {}
    found: dict[Shift, Number] = {}
    for by in _within(ranges, [steps.of(law) for law in ours.noises]):
        after = tuple(
            one.constant - other.constant + _shifted(one.terms, before, by)
            for one, other in zip(ours.values, theirs.values, strict=True)
        )
        if any((each * steps.parts).denominator != 1 or abs(each) > steps.reach for each in after):
            continue
        cost: Number = Fraction(1)
        for law, d in zip(ours.noises, by, strict=True):
            cost = cost * _price(law, d)
        if after not in found or cost < found[after]:
            found[after] = cost
    return found


def _price(law: Noise, d: Fraction | int) -> Number:
    """Return the largest ratio of the probabilities, or densities, of noise that is larger by d and of noise.

    Both are within the ends of the law, between which the logarithm of the law is linear by pieces, with slopes that
    are the logarithms of the bases.
    """
    if not d:
        return Fraction(1)
    if not isinstance(law, Exponentials):
        return law.ratio ** -abs(int(d))
    return max(base**d if isinstance(base, ExpNumber) else base ** int(d) for _, _, base in law.pieces)


def _ranges(ours: Path, theirs: Path, before: Shift) -> list[_Range] | None:
    """Return conditions on the shifts of the noise under which the bounds of our path imply those of theirs.

    Our noise is theirs plus the shift. None where no shift satisfies them.
    """
    found: list[_Range] = []
    count = len(ours.noises)
    for one, other in zip(ours.published, theirs.published, strict=True):
        if one.terms != other.terms:
            return None
        gap = other.constant - one.constant - _shifted(one.terms, before, ())
        found.append(_Range(_factors(one.terms, count), gap, gap))
    for terms, (least, most) in theirs.bounds.items():
        low, high = _known(ours.bounds, terms)
        moved = _shifted(terms, before, ())
        # our terms are in low..high, theirs in low - shift..high - shift, which must be within least..most
        above = inf if least == -inf else low - least - moved
        below = -inf if most == inf else high - most - moved
        found.append(_Range(_factors(terms, count), below, above))
    return None if any(each.low > each.high for each in found) else found


def _known(bounds: Bounds, terms: Terms) -> tuple[Edge, Edge]:
    """Return the range of a combination that follows from bounds on it, or on its parts."""
    low, high = bounds.get(terms, (-inf, inf))
    least: Edge = Fraction(0)
    most: Edge = Fraction(0)
    for symbol, times in terms:
        one, other = bounds.get(((symbol, Fraction(1)),), (-inf, inf))
        least += times * (one if times > 0 else other)
        most += times * (other if times > 0 else one)
    return max(low, least), min(high, most)


def _factors(terms: Terms, count: int) -> tuple[Fraction, ...]:
    factors = [Fraction(0)] * count
    for (kind, at), times in terms:
        if kind == "fresh":
            factors[at] = times
    return tuple(factors)


def _shifted(terms: Terms, values: Shift, noises: Shift) -> Fraction:
    """Return by how much a combination changes; the number of records is the same on both sides."""
    total = Fraction(0)
    for (kind, at), times in terms:
        moved = values if kind == "held" else noises if kind == "fresh" else ()
        total += times * moved[at] if at < len(moved) else 0
    return total


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
