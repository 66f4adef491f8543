"""What one output reveals of secret bits, in stages that are independent given the output before them.

A stage leads from a state to a state, emits a piece of the output and concerns some clients. Its state is a function of
the output so far, so that the posterior of a client depends on nothing but the outcome of its own stage.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.one_run.functions import Functions

__all__ = ["Counts", "Outcome", "Stage", "Table"]

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

    @abstractmethod
    def right(self, state: int, outcome: Outcome, guesses: Mapping[int, int]) -> list[Whole]:
        """Return the weights of an outcome jointly with exactly 0, 1, 2, ... of some guesses being right."""

    @abstractmethod
    def table(self, state: int) -> tuple[Table, Whole]:
        """Return the weight of every outcome given the bits, and the total. Raises LimitError where it is too large."""

    @abstractmethod
    def function(self, state: int, outcome: Outcome, functions: Functions, order: Sequence[int]) -> int:
        """Return the weight of an outcome given the bits of the clients in some order, over `total` / 2^clients."""
