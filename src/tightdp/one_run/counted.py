"""A stage given as a table: the law of its outcomes for all counts of ones among interchangeable clients.

It serves programs that `observe` conditions, where every dataset has its own normalisation, and adaptive audits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, prod

from tightdp.exact.whole import Whole
from tightdp.one_run.functions import Functions
from tightdp.one_run.stage import Counts, Outcome, Stage, Table

__all__ = ["CountedStage", "function_of", "ways_of"]


class CountedStage(Stage):
    """Classes of interchangeable clients and the weights of outcomes by their counts of ones. There is one state, 0."""

    def __init__(self, classes: Sequence[tuple[int, ...]], bits: int, table: Table, total: Whole) -> None:
        self.classes = tuple(classes)
        self.bits = bits
        self._table, self._below = table, total
        self._sizes = [len(members) for members in self.classes]
        self.total = total << sum(self._sizes)
        self.outcomes: Mapping[int, tuple[Outcome, ...]] = {0: self._outcomes()}

    def _outcomes(self) -> tuple[Outcome, ...]:
        weights: dict[int, Whole] = {}
        ones: dict[int, list[Whole]] = {}
        for counts, outcomes in self._table.items():
            ways = ways_of(counts, self._sizes)
            shares = [ways * one // size for one, size in zip(counts, self._sizes, strict=True)]
            for code, weight in outcomes.items():
                weights[code] = weights.get(code, 0) + ways * weight
                present = ones.setdefault(code, [0] * len(shares))
                for at, share in enumerate(shares):
                    present[at] += share * weight
        return tuple(Outcome(code, 0, weights[code], tuple(ones[code])) for code in sorted(weights))

    def right(self, state: int, outcome: Outcome, guesses: Mapping[int, int]) -> list[Whole]:
        weights: list[Whole] = [0] * (len(guesses) + 1)
        patterns = [
            (sum(guesses.get(c) == 0 for c in members), sum(guesses.get(c) == 1 for c in members))
            for members in self.classes
        ]
        for counts, outcomes in self._table.items():
            given = outcomes.get(outcome.code, 0)
            if given:
                for number, ways in enumerate(self._matches(counts, patterns)):
                    weights[number] += ways * given
        return weights

    def _matches(self, counts: Counts, patterns: Sequence[tuple[int, int]]) -> list[int]:
        """Return how many bit vectors with these counts of ones agree with exactly 0, 1, 2, ... guesses."""
        result = [1]
        for ones, size, (zeros_guessed, ones_guessed) in zip(counts, self._sizes, patterns, strict=True):
            free = size - zeros_guessed - ones_guessed
            here = [0] * (zeros_guessed + ones_guessed + 1)
            for hit in range(min(ones, ones_guessed) + 1):
                for missed in range(min(ones - hit, zeros_guessed) + 1):
                    ways = comb(ones_guessed, hit) * comb(zeros_guessed, missed) * comb(free, ones - hit - missed)
                    here[hit + zeros_guessed - missed] += ways
            result = _times(result, here)
        return result

    def function(self, state: int, outcome: Outcome, functions: Functions, order: Sequence[int]) -> int:
        return function_of(self._table, outcome, functions, [self.class_of[client] for client in order])

    def table(self, state: int) -> tuple[Table, Whole]:
        return self._table, self._below


def function_of(table: Table, outcome: Outcome, functions: Functions, classes: Sequence[int]) -> int:
    """Return the weight of an outcome as a function of bits, the i-th of which is that of a client of classes[i]."""
    values = {counts: outcomes.get(outcome.code, 0) for counts, outcomes in table.items()}
    return functions.of_counts(classes, values, len(next(iter(table))))


def ways_of(counts: Counts, sizes: Sequence[int]) -> int:
    """Return the number of bit vectors with these counts of ones in classes of these sizes."""
    return prod(comb(size, ones) for ones, size in zip(counts, sizes, strict=True))


def _times(left: Sequence[int], right: Sequence[int]) -> list[int]:
    result = [0] * (len(left) + len(right) - 1)
    for at, one in enumerate(left):
        if one:
            for to, other in enumerate(right):
                result[at + to] += one * other
    return result
