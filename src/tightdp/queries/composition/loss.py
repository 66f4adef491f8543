"""The privacy loss of a mechanism: a dominating pair for each direction of change, composed, with its δ and ε.

Add-remove neighbours are kept in two directions, since a sample in which a record may be missing treats them
differently (Zhu, Dong, Wang 2022, Theorem 11). Within one direction the upper end comes from a pair that dominates all
neighbours, the lower end from real pairs of neighbours; where the two agree, answers are exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise

from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import quotient
from tightdp.language.program import Dataset
from tightdp.limits.calibrated import MOST_PAIRS
from tightdp.methods.base import Pair
from tightdp.queries.composition.grid import above, below, grid_for
from tightdp.queries.composition.lattice import Composition, Runs, compose_on_lattice
from tightdp.queries.composition.pairs import (
    Choices,
    DominatingPair,
    merged,
    optimum,
    optimum_least,
    pair_of_hull,
)
from tightdp.queries.curves import Profile, profile
from tightdp.queries.privacy import Ends

Watch = Callable[[], None]


def _unwatched() -> None:
    """Watch nothing: a named function, not a lambda, so that losses can be pickled for another process."""


@dataclass(frozen=True)
class Direction:
    """Runs in one direction of change: a dominating pair for each, and real pairs of neighbours below it.

    `alone` are those real pairs in which the record that is added or removed is the only one: no other record can then
    be left out by sampling. `attained` says that every point of the dominating curve is one of some real pair, as it is
    for a single run. `choices` are all the real pairs to choose from, run after run, where they are few.
    """

    name: str
    dominating: Runs
    real: tuple[Runs, ...]
    alone: tuple[Runs, ...] = ()
    attained: bool = False
    choices: Choices = ()

    def repeated(self, times: int) -> Direction:
        """Return `times` repetitions of all runs."""
        real, alone = (tuple(_times(runs, times) for runs in side) for side in (self.real, self.alone))
        return Direction(
            self.name,
            _times(self.dominating, times),
            real,
            alone,
            self.attained and times == 1,
            tuple((pairs, number * times) for pairs, number in self.choices) if len(self.choices) == 1 else (),
        )

    def followed_by(self, other: Direction) -> Direction:
        """Return these runs and the other ones; real pairs are matched in their order."""
        real, alone = _matched(self.real, other.real), _matched(self.alone, other.alone)
        choices = (*self.choices, *other.choices) if self.choices and other.choices else ()
        dominating = _joined(self.dominating, other.dominating)
        return Direction(self.name, dominating, real, alone, False, choices)

    def sampled(self, rate: Fraction) -> Direction:
        """Return the direction after a Poisson sample of the records has been taken once, before all the runs."""
        if self.name not in ("remove", "add"):
            raise QueryError(
                "subsampling is analysed for neighbours that differ in the presence of one record",
                'bind the mechanism with neighbours="add-remove"',
            )
        dominating, *alone = (((self._diluted(_single(runs), rate), 1),) for runs in (self.dominating, *self.alone))
        return Direction(self.name, dominating, tuple(alone), tuple(alone))

    def _diluted(self, pair: DominatingPair, rate: Fraction) -> DominatingPair:
        """Mix the law without the record into the one that has it: P where it is removed, Q where it is added."""
        return pair.diluted(rate) if self.name == "remove" else pair.reversed().diluted(rate).reversed()


@dataclass(frozen=True)
class Losses:
    """Privacy losses in all directions of change; none where there are no neighbours, and no δ above 0."""

    directions: tuple[Direction, ...]
    watch: Watch = field(default=_unwatched, compare=False, repr=False)

    def delta(self, t: Number) -> Ends:
        """Return the largest δ(t) over the directions, for t = e^ε >= 0."""
        lower, upper = (max([Fraction(0), *(composed.delta(t) for composed in side)]) for side in self._ends)
        return self._chosen(lower, upper, lambda choices: optimum(choices, t, self.watch))

    def least_ratio(self, delta: Number) -> Ends:
        """Return the least t >= 1 with δ(t) <= delta in all directions."""
        start, upper = (max([Fraction(1), *(composed.least(delta) for composed in side)]) for side in self._ends)
        if isinstance(start, float):
            return start, upper
        return self._chosen(start, upper, lambda choices: optimum_least(choices, delta, start, self.watch))

    def _chosen(self, lower: Exact, upper: Exact, best: Callable[[Choices], Number | None]) -> Ends:
        """Return ends of which the upper is the optimum over the neighbours of every run, where that is known."""
        if lower == upper or not any(direction.choices for direction in self.directions):
            return lower, upper
        values = [best(direction.choices) for direction in self.directions]
        known = [value for value in values if value is not None]
        return lower, upper if len(known) < len(values) else min(max([lower, *known]), upper)

    @property
    def exact(self) -> bool:
        """Whether all answers are exact: in every direction a real pair of neighbours attains the upper end."""
        lower, upper = self._ends
        return all(composed in lower for composed in upper)

    @property
    def lower(self) -> tuple[Composition, ...]:
        """The compositions whose curves bound δ from below, perhaps several for a direction, or none."""
        return self._ends[0]

    @property
    def upper(self) -> tuple[Composition, ...]:
        """The compositions whose curves bound δ from above, one for each direction."""
        return self._ends[1]

    def curve(self) -> tuple[tuple[Number, Number], ...]:
        """Return (t, δ(t)) at t = 1 and wherever the slope of the upper end changes beyond; then δ is constant."""
        places = sorted({t for composed in self.upper for t, _ in composed.breakpoints()} or {Fraction(1)})
        if len(self.upper) > 1:
            values = [[composed.delta(t) for t in places] for composed in self.upper]
            places = sorted({*places, *_crossings(places, values)})
        points = [(t, max((composed.delta(t) for composed in self.upper), default=Fraction(0))) for t in places]
        kept = [at for at in range(1, len(points) - 1) if not _straight(*points[at - 1 : at + 2])]
        last = [len(points) - 1] if len(points) > 1 and points[-1][1] != points[-2][1] else []
        return tuple(points[at] for at in dict.fromkeys([0, *kept, *last]))

    def repeated(self, times: int) -> Losses:
        """Return the losses of `times` repetitions."""
        return Losses(tuple(direction.repeated(times) for direction in self.directions), self.watch)

    def followed_by(self, other: Losses) -> Losses:
        """Return the losses of both, one after the other."""
        if not self.directions or not other.directions:
            return self if self.directions else other
        ours, theirs = ({each.name: each for each in side.directions} for side in (self, other))
        if ours.keys() != theirs.keys():
            raise QueryError(
                "the two mechanisms have different neighbour relations",
                "compose mechanisms with the same neighbours, binding them with neighbours=...",
            )
        return Losses(tuple(ours[name].followed_by(theirs[name]) for name in ours), self.watch)

    def sampled(self, rate: Fraction) -> Losses:
        """Return the losses after a Poisson sample: every record takes part with probability `rate`."""
        return Losses(tuple(direction.sampled(rate) for direction in self.directions), self.watch)

    @cached_property
    def _ends(self) -> tuple[tuple[Composition, ...], tuple[Composition, ...]]:
        lower: list[Composition] = []
        upper: list[Composition] = []
        for direction in self.directions:
            best = compose_on_lattice(direction.dominating, self.watch)
            upper.append(best or above(direction.dominating, grid_for(direction.dominating), self.watch))
            for runs in direction.real:
                found = best if runs == direction.dominating else compose_on_lattice(runs, self.watch)
                lower.append(found or below(runs, grid_for(runs), self.watch))
            if direction.attained:
                lower.append(upper[-1])
        return tuple(lower), tuple(upper)


def _crossings(places: list[Number], values: list[list[Number]]) -> Iterable[Number]:
    """Yield the crossings of any two functions between adjacent places, where they are linear."""
    for one, other in combinations(values, 2):
        gaps = [a - b for a, b in zip(one, other, strict=True)]
        for (t, gap), (t_next, gap_next) in pairwise(zip(places, gaps, strict=True)):
            if gap * gap_next < 0:
                yield t + (t_next - t) * gap / (gap - gap_next)


def _straight(a: tuple[Number, Number], b: tuple[Number, Number], c: tuple[Number, Number]) -> bool:
    return (b[1] - a[1]) * (c[0] - b[0]) == (c[1] - b[1]) * (b[0] - a[0])


def _times(runs: Runs, times: int) -> Runs:
    return tuple((pair, number * times) for pair, number in runs)


def _matched(ours: tuple[Runs, ...], theirs: tuple[Runs, ...]) -> tuple[Runs, ...]:
    """Return runs of ours followed by runs of theirs, matched in order; the last of the shorter list is repeated."""
    if not ours or not theirs:
        return ()
    number = max(len(ours), len(theirs))
    return tuple(_joined(ours[min(at, len(ours) - 1)], theirs[min(at, len(theirs) - 1)]) for at in range(number))


def _joined(ours: Runs, theirs: Runs) -> Runs:
    counts = dict(ours)
    for pair, times in theirs:
        counts[pair] = counts.get(pair, 0) + times
    return tuple(counts.items())


def _single(runs: Runs) -> DominatingPair:
    """Return runs as one pair. Raises QueryError where it would be too large."""
    if len(runs) == 1 and runs[0][1] == 1:
        return runs[0][0]
    composed = compose_on_lattice(runs)
    if composed is None:
        raise QueryError("sampling was applied to a composition that is only enclosed", "sample first, then compose")
    return composed.pair


Pairs = Callable[[], Iterable[Pair]]


def pair_of(found: Profile) -> DominatingPair:
    """Return the least pair that dominates all pairs of a profile: one outcome per edge of the hull."""
    return pair_of_hull([(quotient(v.x, found.scale), quotient(v.y, found.scale)) for v in found.hull])


def direction_of(name: str, found: Profile, pairs: Pairs, single: Pairs) -> Direction | None:
    """Return the losses in one direction, given the profile of all its pairs of neighbours; None where there are none.

    A real pair whose own hull is that of all dominates, and the composition is then exact. `pairs` is iterated once
    more where none of those on the hull does, and where a direction has pairs with a single record. As they need not be
    among those that stand for all, `single` has some more.
    """
    envelope = pair_of(found)
    attaining = _by_share(found)
    if not attaining:
        return None
    real = [pair for pair in attaining if _own(pair) == envelope][:1]
    alone: list[DominatingPair] = []
    if name in ("remove", "add"):
        lonely = profile(pair for pair in pairs() if of_one(pair.x, pair.x_prime))
        alone = [_own(pair) for pair in _by_share(lonely)]
        if envelope not in alone:
            alone += [_own(pair) for pair in _by_share(profile(single()))]
        alone = [envelope] if envelope in alone else alone[: MOST_PAIRS // 2]
    if envelope in alone:
        return _direction(name, envelope, [envelope], alone)
    chosen: list[DominatingPair] = []
    if not real and len(attaining) > 1:
        for pair in pairs():
            own = _own(pair)
            if own == envelope:
                return _direction(name, envelope, [own], alone)
            if len(chosen) <= 2 * MOST_PAIRS and not any(own.below(each) for each in chosen):
                chosen = [*(each for each in chosen if not each.below(own)), own]
    if not 0 < len(chosen) <= MOST_PAIRS:
        return _direction(name, envelope, [_own(pair) for pair in real or attaining[: MOST_PAIRS // 2]], alone)
    return replace(_direction(name, envelope, chosen, alone), choices=((tuple(chosen), 1),))


def direction_below(name: str, found: Profile, bound: Number) -> Direction:
    """Return the losses where not all pairs were compared: no likelihood ratio exceeds `bound`, in either direction.

    Randomized response with this ratio dominates everything of the kind (Kairouz, Oh, Viswanath 2015, Theorem 3.3).
    """
    ours = bound / (1 + bound)
    dominating = merged([(ours, 1 - ours), (1 - ours, ours)])
    return _direction(
        name, dominating, [_own(pair) for pair in _by_share(found)[: MOST_PAIRS // 2]], [], attained=False
    )


def _direction(
    name: str,
    dominating: DominatingPair,
    real: list[DominatingPair],
    alone: list[DominatingPair],
    attained: bool = True,
) -> Direction:
    choices = (((dominating,), 1),) if dominating in real else ()
    return Direction(name, _once(dominating), tuple(map(_once, real)), tuple(map(_once, alone)), attained, choices)


def _once(pair: DominatingPair) -> Runs:
    return ((pair, 1),)


def _by_share(found: Profile) -> list[Pair]:
    pairs = {(vertex.pair.x, vertex.pair.x_prime): vertex.pair for vertex in found.hull if vertex.pair is not None}
    shares = Counter((vertex.pair.x, vertex.pair.x_prime) for vertex in found.hull if vertex.pair is not None)
    return [pairs[key] for key, _ in shares.most_common()]


def _own(pair: Pair) -> DominatingPair:
    return pair_of(profile([pair]))


def of_one(x: Dataset, x_prime: Dataset) -> bool:
    """Whether there is one record in both datasets together, which only one of them has."""
    return [moved.count(None) for moved in zip(x, x_prime, strict=True) if moved != (None, None)] == [1]
