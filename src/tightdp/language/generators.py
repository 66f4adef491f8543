"""What stands for the generators of `random` and `secrets`: independent draws with the laws that are documented.

It is written in the language: the interpreter runs it, and the compiler reads it as it reads any class.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tightdp.errors import LanguageError
from tightdp.language.doubles import BITS
from tightdp.language.primitives import choice, current_source, randint, shuffle, stop, uniform

Items = Sequence[Any]


def double() -> Any:
    """What `random()` gives: k / 2^bits, each k below 2^bits with the same probability.

    Where numbers mean what is written, it is a real number from 0 to 1.
    """
    bits = BITS.get()
    return current_source().draw_bits(bits) / 2.0**bits if bits else uniform(0, 1)


class Random:
    """What stands for a `random.Random`."""

    stands_for: type = random.Random

    @property  # type: ignore[misc]  # what isinstance believes
    def __class__(self) -> type:
        """The class that it is an instance of, as far as it says."""
        return self.stands_for

    def random(self) -> Any:
        """A number from 0 to 1."""
        return double()

    def uniform(self, a: Any, b: Any) -> Any:
        """A number from a to b."""
        return a + (b - a) * double()

    def getrandbits(self, k: int) -> int:
        """A number below 2^k."""
        return randint(0, 2**k - 1)

    def randint(self, a: int, b: int) -> int:
        """A number from a to b."""
        return randint(a, b)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """An item of a range."""
        first, end = (0, start) if stop is None else (start, stop)
        return first + step * randint(0, (end - first if step == 1 else len(range(first, end, step))) - 1)

    def choice(self, seq: Items) -> Any:
        """An item of a sequence."""
        if len(seq) == 0:
            raise IndexError("Cannot choose from an empty sequence")
        return seq[randint(0, len(seq) - 1)]

    def choices(
        self, population: Items, weights: Items | None = None, *, cum_weights: Items | None = None, k: int = 1
    ) -> list[Any]:
        """Items that are drawn one by one, and put back."""
        if len(population) == 0 and (k > 0 or weights is not None or cum_weights is not None):
            raise IndexError("list index out of range")
        if cum_weights is not None:
            if weights is not None:
                raise TypeError("Cannot specify both weights and cumulative weights")
            weights = [cum_weights[i] - (cum_weights[i - 1] if i > 0 else 0) for i in range(len(cum_weights))]
        return [choice(tuple(population), weights) for _ in range(k)]

    def sample(self, population: Items, k: int, *, counts: Items | None = None) -> list[Any]:
        """Items that are drawn one by one, and not put back."""
        if isinstance(population, (set, frozenset, dict)):
            raise TypeError("Population must be a sequence.  For dicts or sets, use sorted(d).")
        if counts is not None:
            population = [item for item, count in zip(population, counts, strict=True) for _ in range(count)]
        left, found = list(population), []
        if not 0 <= k <= len(left):
            raise ValueError("a sample larger than the population")
        for _ in range(k):
            found.append(left.pop(randint(0, len(left) - 1)))
        return found

    def shuffle(self, x: list[Any]) -> None:
        """Bring a list into random order."""
        drawn = shuffle(x)
        for i in range(len(drawn)):
            x[i] = drawn[i]


class SystemRandom(Random):
    """What stands for a `random.SystemRandom`, which is also that of `secrets`."""

    stands_for = random.SystemRandom


def randbelow(exclusive_upper_bound: int) -> int:
    """A number below a bound: `secrets.randbelow`."""
    return randint(0, exclusive_upper_bound - 1)


@lru_cache(1024)
def standing(value: object, kind: type) -> Any:
    """Return what stands for one generator, the same whenever it is asked for."""
    return kind()


@lru_cache
def maker(kind: type) -> Maker:
    """Return what stands for the class of a generator."""
    return Maker(kind)


class Maker:
    """What stands for the class of a generator: called, it makes one; `isinstance` knows its instances."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.__name__ = kind.__name__

    def __call__(self, seed: Any = None) -> Any:
        """A generator, which no seed makes predictable."""
        if isinstance(seed, self.kind.stands_for):
            return seed
        if seed is not None:
            stop(LanguageError(*SEEDED))
        return self.kind()

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, self.kind.stands_for)


SEEDED = "a generator made from a seed makes the same draws in every run", "make it without a seed"
