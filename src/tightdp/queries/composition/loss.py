"""The privacy loss of a mechanism: a dominating pair for each direction of change, composed, and asked for δ and ε.

Add-remove neighbours are kept in two directions, since a sample in which a record may be missing treats them
differently (Zhu, Dong, Wang 2022, Theorem 11). Within one direction the upper end comes from a pair that dominates all
neighbours, the lower end from pairs of neighbours that are real; where the two are one, answers are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from tightdp.errors import QueryError
from tightdp.queries.composition.grid import above, below, grid_for
from tightdp.queries.composition.lattice import Composition, Runs, compose_on_lattice
from tightdp.queries.composition.pairs import DominatingPair

__all__ = ["Direction", "Losses", "Range"]

Watch = Callable[[], None]

PLACES = 1 << 16
"""About so many places of the grid hold the losses where the composition is enclosed."""


@dataclass(frozen=True)
class Range:
    """An exact number between two ends, or a number known exactly where the ends are equal."""

    lower: Fraction | float
    upper: Fraction | float

    @property
    def exact(self) -> bool:
        """Whether the ends are equal."""
        return self.lower == self.upper


@dataclass(frozen=True)
class Direction:
    """Runs in one direction of change: a dominating pair for each, and real pairs of neighbours below it."""

    name: str
    dominating: Runs
    real: tuple[Runs, ...]

    def repeated(self, times: int) -> Direction:
        """Return so many runs of all this."""
        return Direction(self.name, _times(self.dominating, times), tuple(_times(runs, times) for runs in self.real))

    def followed_by(self, other: Direction) -> Direction:
        """Return these runs and the other ones; real pairs are matched in their order."""
        number = max(len(self.real), len(other.real))
        ours, theirs = (
            [runs[min(at, len(runs) - 1)] for at in range(number)] if runs else [] for runs in (self.real, other.real)
        )
        joined = tuple(_joined(a, b) for a, b in zip(ours, theirs, strict=False))
        return Direction(self.name, _joined(self.dominating, other.dominating), joined)

    def sampled(self, rate: Fraction) -> Direction:
        """Return the direction after a Poisson sample of the records has been taken once, before all the runs."""
        if self.name not in ("remove", "add"):
            raise QueryError(
                "subsampling is analysed for neighbours that differ in the presence of one record",
                'bind the mechanism with neighbours="add-remove"',
            )
        dominating, *real = (((self._diluted(_single(runs), rate), 1),) for runs in (self.dominating, *self.real))
        return Direction(self.name, dominating, tuple(real))

    def _diluted(self, pair: DominatingPair, rate: Fraction) -> DominatingPair:
        """Mix the law without the record into the one that has it: P where it is removed, Q where it is added."""
        return pair.diluted(rate) if self.name == "remove" else pair.reversed().diluted(rate).reversed()


@dataclass(frozen=True)
class Losses:
    """Privacy losses in all directions of change."""

    directions: tuple[Direction, ...]
    watch: Watch = field(default=lambda: None, compare=False, repr=False)

    def delta(self, t: Fraction) -> Range:
        """Return the largest δ(t) over the directions, for rational t = e^ε >= 0."""
        return self._largest((composed.delta(t) for composed in side) for side in self._ends)

    def least(self, delta: Fraction) -> Range:
        """Return the least t >= 1 with δ(t) <= delta in all directions."""
        return self._largest((composed.least(delta) for composed in side) for side in self._ends)

    @property
    def exact(self) -> bool:
        """Whether all answers are exact."""
        lower, upper = self._ends
        return lower == upper

    @property
    def upper(self) -> tuple[Composition, ...]:
        """The compositions whose curves bound δ from above, one for each direction."""
        return self._ends[1]

    def repeated(self, times: int) -> Losses:
        """Return the losses of so many runs."""
        return Losses(tuple(direction.repeated(times) for direction in self.directions), self.watch)

    def followed_by(self, other: Losses) -> Losses:
        """Return the losses of both, one after the other."""
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
            exact = compose_on_lattice(direction.dominating, self.watch)
            upper.append(exact or above(direction.dominating, grid_for(direction.dominating, PLACES), self.watch))
            for runs in direction.real:
                if exact is not None and runs == direction.dominating:
                    lower.append(exact)
                else:
                    found = compose_on_lattice(runs, self.watch)
                    lower.append(found or below(runs, grid_for(runs, PLACES), self.watch))
        return tuple(lower), tuple(upper)

    @staticmethod
    def _largest(ends: Iterable[Iterable[Fraction | float]]) -> Range:
        lower, upper = (max(values, default=Fraction(0)) for values in ends)
        return Range(lower, upper)


def _times(runs: Runs, times: int) -> Runs:
    return tuple((pair, number * times) for pair, number in runs)


def _joined(ours: Runs, theirs: Runs) -> Runs:
    counts = dict(ours)
    for pair, times in theirs:
        counts[pair] = counts.get(pair, 0) + times
    return tuple(counts.items())


def _single(runs: Runs) -> DominatingPair:
    """Return runs as one pair. Raises QueryError where that is too large."""
    if len(runs) == 1 and runs[0][1] == 1:
        return runs[0][0]
    composed = compose_on_lattice(runs)
    if composed is None:
        raise QueryError("a sample was asked of a composition that is only enclosed", "sample first, then compose")
    return composed.pair
