"""The exact privacy loss of a few runs where no pair of neighbours is the worst at every ε.

The supremum over adversaries that choose the neighbours of each run by the outputs so far is attained:

    δ_k(t) = max over pairs (P, Q) of Σ_y P(y)·δ_{k-1}(t·Q(y)/P(y)),    δ_0(t) = max(0, 1 - t),

by induction on the first run: given its output y, the remaining choices maximize P(E | y)·P(y) - t·P'(E | y)·Q(y). The
number of distinct t grows with every run, so this is for few runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from tightdp.exact.field import Number
from tightdp.queries.composition.pairs import DominatingPair

__all__ = ["MOST_PAIRS", "Choices", "optimum", "optimum_least"]

MOST_PAIRS = 8
"""There may be at most this many pairs of neighbours with different losses to choose from."""
_MOST_STATES = 6_000
_MOST_RUNS = 100

Choices = tuple[tuple[tuple[DominatingPair, ...], int], ...]
"""The pairs that a run chooses from, and how many such runs there are, in order."""
Watch = Callable[[], None]


class _TooMany(Exception):
    """There are too many likelihood ratios."""


class _Runs:
    def __init__(self, choices: Choices, watch: Watch) -> None:
        self.runs: Sequence[tuple[DominatingPair, ...]] = [pairs for pairs, times in choices for _ in range(times)]
        self.watch = watch
        self.known: dict[tuple[int, Number], tuple[Number, Number]] = {}

    def value(self, done: int, t: Number) -> tuple[Number, Number]:
        """Return δ(t) of the runs after the first `done`, and a slope of it at t."""
        if done == len(self.runs):
            return (1 - t, Fraction(-1)) if t < 1 else (Fraction(0), Fraction(0))
        if t == 0:
            return Fraction(1), Fraction(-1)
        found = self.known.get((done, t))
        if found is None:
            if len(self.known) >= _MOST_STATES:
                raise _TooMany
            self.watch()
            found = self.known[done, t] = max(self._of_pair(pair, done, t) for pair in self.runs[done])
        return found

    def _of_pair(self, pair: DominatingPair, done: int, t: Number) -> tuple[Number, Number]:
        value: Number = Fraction(0)
        slope: Number = Fraction(0)
        for p, q in pair.outcomes:
            if p:
                rest, change = self.value(done + 1, t * q / p)
                value, slope = value + p * rest, slope + q * change
        return value, slope


def optimum(choices: Choices, t: Number, watch: Watch) -> Number | None:
    """Return δ(t) for the best choice of neighbours in every run; None where that takes too much work."""
    if not _few(choices):
        return None
    try:
        return _Runs(choices, watch).value(0, t)[0]
    except _TooMany:
        return None


def optimum_least(choices: Choices, delta: Number, start: Number, watch: Watch) -> Number | None:
    """Return the least t >= 1 with δ(t) <= delta, from a `start` that is not above it.

    Tangents of a convex function lie below it: their zeros increase, and reach that of a piecewise linear one.
    """
    if not _few(choices):
        return None
    t = start
    for _ in range(_MOST_STATES):
        try:
            value, slope = _Runs(choices, watch).value(0, t)
        except _TooMany:
            return None
        if value <= delta:
            return t
        if not slope:
            return None
        t += (value - delta) / -slope
    return None


def _few(choices: Choices) -> bool:
    """Whether all runs but one have few combinations of likelihood ratios, up to order."""
    runs = sum(times for _, times in choices)
    outcomes = max((sum(len(pair.outcomes) for pair in pairs) for pairs, _ in choices), default=0)
    return 0 < runs <= _MOST_RUNS and math.comb(outcomes + runs - 2, runs - 1) <= _MOST_STATES
