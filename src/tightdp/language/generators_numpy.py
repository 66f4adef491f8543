"""What stands for the generators of `numpy.random`, as `tightdp.language.generators` does for those of Python."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tightdp.errors import LanguageError
from tightdp.language.generators import double, maker, standing
from tightdp.language.primitives import (
    binomial,
    choice,
    exponential,
    laplace,
    one_sided_geometric,
    randint,
    shuffle,
    stop,
)

Size = Any


def shaped(draw: Callable[[], Any], size: Size) -> Any:
    """One draw, or an array of independent ones."""
    if size is None:
        return draw()
    if isinstance(size, tuple):
        number = 1
        for length in size:
            number = number * length
        return np.array([draw() for _ in range(number)]).reshape(size)
    return np.array([draw() for _ in range(size)])


def listed(a: Any) -> Any:
    """The items that a number or a sequence stands for."""
    return tuple(range(a)) if isinstance(a, int) else tuple(a)


class Legacy:
    """What stands for a `numpy.random.RandomState`, and what a `numpy.random.Generator` has of it."""

    stands_for: type = np.random.RandomState

    @property  # type: ignore[misc]  # what isinstance believes
    def __class__(self) -> type:
        """The class that it is an instance of, as far as it says."""
        return self.stands_for

    def random(self, size: Size = None) -> Any:
        """Numbers from 0 to 1."""
        return shaped(double, size)

    def random_sample(self, size: Size = None) -> Any:
        """Numbers from 0 to 1."""
        return shaped(double, size)

    def rand(self, *size: int) -> Any:
        """Numbers from 0 to 1."""
        return shaped(double, size) if len(size) > 0 else double()

    def randint(self, low: int, high: int | None = None, size: Size = None, dtype: Any = int) -> Any:
        """Integers below `low`, or from `low` to below `high`."""
        first, end = (0, low) if high is None else (low, high)
        return shaped(lambda: randint(first, end - 1), size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Size = None) -> Any:
        """Numbers from `low` to `high`."""
        return shaped(lambda: low + (high - low) * double(), size)

    def binomial(self, n: int, p: Any, size: Size = None) -> Any:
        """Numbers of successes."""
        return shaped(lambda: binomial(n, p), size)

    def geometric(self, p: Any, size: Size = None) -> Any:
        """Numbers of trials up to the first success."""
        return shaped(lambda: one_sided_geometric(1, 1 - p), size)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Real noise."""
        return shaped(lambda: laplace(loc, scale), size)

    def exponential(self, scale: Any = 1.0, size: Size = None) -> Any:
        """Real noise on one side."""
        return shaped(lambda: exponential(0, scale), size)

    def choice(self, a: Any, size: Size = None, replace: bool = True, p: Any = None) -> Any:
        """Items, put back or not."""
        items = listed(a)
        weights = None if p is None else tuple(p)
        if weights is not None and not abs(sum(weights) - 1) < Fraction(3, 2 * 10**8):
            raise ValueError("probabilities do not sum to 1")
        if size is not None and not replace:
            if not 0 <= size <= len(items):
                raise ValueError("a sample larger than what it is drawn from")
            if weights is None:
                return np.array(shuffle(items)[:size])
            left, found = list(range(len(items))), []
            for _ in range(size):
                found.append(choice(tuple(left), [weights[place] for place in left]))
                left.remove(found[-1])
            return np.array([items[place] for place in found])
        return shaped(lambda: choice(items, weights), size)

    def permutation(self, x: Any) -> Any:
        """The items in random order, as an array."""
        return np.array(shuffle(listed(x)))

    def shuffle(self, x: Any) -> None:
        """Bring a list or an array into random order."""
        drawn = shuffle(x)
        for i in range(len(drawn)):
            x[i] = drawn[i]

    def multinomial(self, n: int, pvals: Any, size: None = None) -> Any:
        """How many of n trials come out in each way."""
        left, rest, counts = n, 1, []
        for p in list(pvals)[:-1]:
            counts.append(binomial(left, p / rest) if rest > 0 else 0)
            left, rest = left - counts[-1], rest - p
        return np.array([*counts, left])


class Generator(Legacy):
    """What stands for a `numpy.random.Generator`."""

    stands_for = np.random.Generator

    def integers(
        self, low: int, high: int | None = None, size: Size = None, dtype: Any = int, endpoint: bool = False
    ) -> Any:
        """Integers below `low`, or from `low` to `high`, which is one of them if it says so."""
        first, end = (0, low) if high is None else (low, high)
        return shaped(lambda: randint(first, end if endpoint else end - 1), size)


_CLASSES = {np.random.RandomState: Legacy, np.random.Generator: Generator}


def stand_in(value: Any) -> Any:
    """What stands for a generator of numpy, or for what makes one; anything else as it is."""
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return standing(value, _CLASSES.get(type(value), Legacy))
    if value is np.random.default_rng:
        return maker(Generator)
    if isinstance(value, type) and value in _CLASSES:
        return maker(_CLASSES[value])
    if isinstance(value, type) and issubclass(value, np.random.BitGenerator):
        stop(LanguageError("a bit generator is not in the language", "make the generator with default_rng()"))
    return value
