"""What one output reveals of secret bits, in stages that are independent given the output before them.

A stage leads from a state to a state, emits a piece of the output and concerns some clients. Its state is a function of
the output so far, so that the posterior of a client depends on nothing but the outcome of its own stage.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, prod

from tightdp.exact.field import Number
from tightdp.exact.weights import add_into, quotient, times
from tightdp.exact.whole import Whole
from tightdp.one_run.functions import Functions

Counts = tuple[int, ...]
"""For every class of clients, how many have the secret bit 1."""

Table = dict[Counts, dict[int, Whole]]
"""By counts, the weight of every outcome given them, by its code."""


@dataclass(frozen=True)
class Outcome:
    """One outcome of a stage: its piece of the output as a number, the state after it, and its weight.

    `ones[k]` is the part of the weight on which the bit of a client of class k is 1: its posterior is ones[k]/weight.
    """

    code: int
    state: int
    weight: Whole
    ones: tuple[Whole, ...]

    @cached_property
    def best(self) -> tuple[Whole, ...]:
        """The weight on which the likelier value of the bit is right, by class: the confidence times `weight`."""
        return tuple(max(one, self.weight - one) for one in self.ones)

    def confidence(self, at: int) -> Number:
        """Return the larger posterior of the bit of a client of class `at`."""
        return quotient(self.best[at], self.weight)

    def likelier(self, at: int) -> int:
        """Return the likelier bit of a client of class `at`; 0 where both are equally likely."""
        return int(2 * self.ones[at] > self.weight)


class Stage(ABC):
    """Clients, in classes that share every posterior, and the outcomes from every state before the stage.

    Weights are over `total`, which the outcomes from any one state add up to. `bits` is how many bits a code has.
    """

    classes: tuple[tuple[int, ...], ...]
    bits: int
    total: Whole
    outcomes: Mapping[int, tuple[Outcome, ...]]

    @cached_property
    def clients(self) -> tuple[int, ...]:
        """The clients of the stage, ascending."""
        return tuple(sorted(client for members in self.classes for client in members))

    @cached_property
    def class_of(self) -> dict[int, int]:
        """The class of every client."""
        return {client: at for at, members in enumerate(self.classes) for client in members}

    def likelier(self, outcome: Outcome, chosen: Callable[[Number], bool]) -> dict[int, int]:
        """Return the likelier bit of every client whose confidence, given an outcome, satisfies `chosen`."""
        return {
            client: outcome.likelier(at)
            for at, members in enumerate(self.classes)
            if chosen(outcome.confidence(at))
            for client in members
        }

    def guessed(self, guesses: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
        """Return, for every class, how many clients are guessed to have the bit 0, and how many 1."""
        found = ([guesses.get(client) for client in members] for members in self.classes)
        return tuple((bits.count(0), bits.count(1)) for bits in found)

    @abstractmethod
    def right(self, state: int, outcome: Outcome, guesses: Mapping[int, int]) -> list[Whole]:
        """Return the weights of an outcome jointly with exactly 0, 1, 2, ... of some guesses being right."""

    @abstractmethod
    def table(self, state: int) -> Table:
        """Return the weight of every outcome given the bits. Raises LimitError where that is too large."""

    def function(self, state: int, outcome: Outcome, functions: Functions, order: Sequence[int]) -> int:
        """Return the weight of an outcome given the bits of the clients in some order, over `total` / 2^clients."""
        values = {counts: outcomes.get(outcome.code, 0) for counts, outcomes in self.table(state).items()}
        return functions.of_counts([self.class_of[client] for client in order], values, len(self.classes))


def classes_of(kinds: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the clients of every kind, kinds in the order of their first clients."""
    return tuple(tuple(c for c, other in enumerate(kinds) if other == kind) for kind in dict.fromkeys(kinds))


class CountedStage(Stage):
    """A stage given as a table: classes of interchangeable clients and the weights of outcomes by their counts of ones.

    It serves programs that `observe` conditions, where every dataset has its own normalisation. There is one state, 0.
    """

    def __init__(self, classes: Sequence[tuple[int, ...]], bits: int, table: Table, total: Whole) -> None:
        self.classes = tuple(classes)
        self.bits = bits
        self._table = table
        self._sizes = [len(members) for members in self.classes]
        self.total = total << sum(self._sizes)
        self.outcomes: Mapping[int, tuple[Outcome, ...]] = {0: self._outcomes()}

    def _outcomes(self) -> tuple[Outcome, ...]:
        weights: dict[int, Whole] = {}
        ones: dict[int, list[Whole]] = {}
        for counts, outcomes in self._table.items():
            ways = prod(comb(size, one) for one, size in zip(counts, self._sizes, strict=True))
            shares = [ways * one // size for one, size in zip(counts, self._sizes, strict=True)]
            for code, weight in outcomes.items():
                weights[code] = weights.get(code, 0) + ways * weight
                add_into(ones.setdefault(code, []), [share * weight for share in shares])
        return tuple(Outcome(code, 0, weights[code], tuple(ones[code])) for code in sorted(weights))

    def right(self, state: int, outcome: Outcome, guesses: Mapping[int, int]) -> list[Whole]:
        weights: list[Whole] = [0] * (len(guesses) + 1)
        patterns = self.guessed(guesses)
        for counts, outcomes in self._table.items():
            if given := outcomes.get(outcome.code, 0):
                add_into(weights, [ways * given for ways in self._matches(counts, patterns)])
        return weights

    def _matches(self, counts: Counts, patterns: Sequence[tuple[int, int]]) -> list[Whole]:
        """Return how many bit vectors with these counts of ones agree with exactly 0, 1, 2, ... guesses."""
        result: list[Whole] = [1]
        for ones, size, (zeros_guessed, ones_guessed) in zip(counts, self._sizes, patterns, strict=True):
            free = size - zeros_guessed - ones_guessed
            here = [0] * (zeros_guessed + ones_guessed + 1)
            for hit in range(min(ones, ones_guessed) + 1):
                for missed in range(min(ones - hit, zeros_guessed) + 1):
                    ways = comb(ones_guessed, hit) * comb(zeros_guessed, missed) * comb(free, ones - hit - missed)
                    here[hit + zeros_guessed - missed] += ways
            result = times(result, here)
        return result

    def table(self, state: int) -> Table:
        return self._table
