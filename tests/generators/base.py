"""What the parts of the writer share: decisions, the budget of random runs, and the pool of names.

Every function that is written begins by binding all its names, so that a name can be read and assigned anywhere, and
two names often hold the same list.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

TAB = "    "


@dataclass
class Scope:
    """The names that a function may use, by what they hold."""

    numbers: list[str] = field(default_factory=list)
    truths: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    """Lists of lists of numbers."""
    tables: list[str] = field(default_factory=list)
    """Dictionaries of numbers; where there are any, there are sets, and the dictionary of lists `shelf`."""
    sets: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)
    """Numbers that are read and never assigned: variables of comprehensions, parameters of lambdas."""
    assigned: bool = True
    """Whether names may be assigned here at all: not by `:=` inside a lambda or a comprehension's source."""


class Base:
    """Writes lines, decides, and keeps account of random runs."""

    def __init__(self, rng: random.Random, bits: float, statements: int) -> None:
        self.rng = rng
        self.bits = bits
        """How many more bits of randomness a run may draw."""
        self.left = statements
        """How many more statements may be written."""
        self.lines: list[str] = []
        self.depth = 0
        self.repeats = 1
        """How often what is written now may be executed in one run."""
        self.loops = 0
        self.spent = 0.0
        self.scope = Scope()
        self.functions: dict[str, tuple[int, float]] = {}
        """The local functions: how many arguments they take, and the bits that a call may draw."""
        self.main = True

    # decisions

    def one(self, *options: T) -> T:
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def pick(self, weighted: Sequence[tuple[int, Callable[[], str]]]) -> str:
        """The text of one of the alternatives, by weight."""
        at = self.rng.randrange(sum(weight for weight, _ in weighted))
        for weight, write in weighted:
            at -= weight
            if at < 0:
                return write()
        raise AssertionError

    # randomness

    def afford(self, outcomes: float) -> bool:
        """Whether one more draw of so many outcomes fits the budget here; it is then taken from it."""
        return self.pay(math.log2(outcomes))

    def pay(self, bits: float) -> bool:
        cost = bits * self.repeats
        if cost > self.bits:
            return False
        self.bits -= cost
        self.spent += cost
        return True

    @contextmanager
    def repeated(self, times: int) -> Iterator[None]:
        self.repeats *= times
        yield
        self.repeats //= times

    # text

    def write(self, line: str) -> None:
        self.lines.append(TAB * self.depth + line)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """A block; never empty."""
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.write("pass")
        self.depth -= 1
