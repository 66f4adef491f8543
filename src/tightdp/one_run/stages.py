"""What one output reveals of secret bits, in stages that are independent given the output before them.

A stage leads from a state to a state, emits a piece of the output and concerns some clients. Its state is a function of
the output so far, so that the posterior of a client depends on nothing but the outcome of its own stage.

P(outcome | bits) is a function of bits, a multi-terminal decision diagram in a variable order of our choice.
Interchangeable clients, whatever makes them so, leave it small: a function of the number of ones among n bits has at
most n(n+1)/2 nodes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, prod

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.exact.weights import add_into, quotient, times
from tightdp.exact.whole import Whole
from tightdp.limits.calibrated import AUDIT_STATES

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


# functions of secret bits


class Functions:
    """Functions of variables 0, 1, ..., n-1, hash-consed; a function is represented by its number.

    `variable[f]` is the first variable that f depends on (n where f is constant), `low[f]` and `high[f]` are f where
    that variable is 0 and 1, `value[f]` is the value of a constant.
    """

    def __init__(self, variables: int) -> None:
        self.variables = variables
        self.variable: list[int] = []
        self.low: list[int] = []
        self.high: list[int] = []
        self.value: list[Whole] = []
        self._nodes: dict[tuple[int, Whole] | tuple[int, int, int], int] = {}
        self._combined: dict[tuple[int, Whole, int, Whole], int] = {}
        self._totals: dict[int, Whole] = {}

    def constant(self, value: Whole) -> int:
        return self._make((self.variables, value), 0, 0, value)

    def choose(self, variable: int, low: int, high: int) -> int:
        """Return the function that is `low` where a variable is 0, else `high`; both depend on later ones only."""
        return low if low == high else self._make((variable, low, high), low, high, 0)

    def _make(self, key: tuple[int, Whole] | tuple[int, int, int], low: int, high: int, value: Whole) -> int:
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = len(self.variable)
            if found > AUDIT_STATES:
                raise LimitError(
                    f"the probability of an output as a function of the secret bits has more than {AUDIT_STATES:,} "
                    "nodes",
                    "use fewer records",
                )
            self.variable.append(key[0])
            self.low.append(low)
            self.high.append(high)
            self.value.append(value)
        return found

    def split(self, f: int, variable: int) -> tuple[int, int]:
        """Return f where a variable is 0 and where it is 1; f depends on no earlier one."""
        return (self.low[f], self.high[f]) if self.variable[f] == variable else (f, f)

    def sum(self, f: int, times: Whole, g: int, others: Whole) -> int:
        """Return times·f + others·g."""
        if f > g:
            f, times, g, others = g, others, f, times
        key = (f, times, g, others)
        found = self._combined.get(key)
        if found is None:
            at = min(self.variable[f], self.variable[g])
            if at == self.variables:
                found = self.constant(times * self.value[f] + others * self.value[g])
            else:
                (f0, f1), (g0, g1) = self.split(f, at), self.split(g, at)
                found = self.choose(at, self.sum(f0, times, g0, others), self.sum(f1, times, g1, others))
            self._combined[key] = found
        return found

    def where(self, variable: int, low: int, high: int) -> int:
        """Return the function that is `low` where a variable is 0 and `high` where it is 1; both are any functions."""
        at = min(self.variable[low], self.variable[high])
        if variable < at:
            return self.choose(variable, low, high)
        (low0, low1), (high0, high1) = self.split(low, at), self.split(high, at)
        if variable == at:
            return self.choose(variable, low0, high1)
        return self.choose(at, self.where(variable, low0, high0), self.where(variable, low1, high1))

    def total(self, f: int, variable: int = 0) -> Whole:
        """Return the sum of f over all values of the variables from `variable` on; f depends on no earlier one."""
        found = self._totals.get(f)
        if found is None:
            at = self.variable[f]
            if at == self.variables:
                found = self.value[f]
            else:
                found = self.total(self.low[f], at + 1) + self.total(self.high[f], at + 1)
            self._totals[f] = found
        return found << (self.variable[f] - variable)

    def of_counts(self, classes: Sequence[int], values: dict[tuple[int, ...], Whole], kinds: int) -> int:
        """Return the function of how many variables of each class are 1; `classes[i]` is the class of variable i."""
        known: dict[tuple[int, tuple[int, ...]], int] = {}

        def at(variable: int, counts: tuple[int, ...]) -> int:
            if variable == self.variables:
                return self.constant(values.get(counts, 0))
            if (variable, counts) not in known:
                kind = classes[variable]
                more = (*counts[:kind], counts[kind] + 1, *counts[kind + 1 :])
                known[variable, counts] = self.choose(variable, at(variable + 1, counts), at(variable + 1, more))
            return known[variable, counts]

        return at(0, (0,) * kinds)
