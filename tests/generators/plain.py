"""What a drawn program means to CPython alone: the function itself, run once for every outcome of its draws.

Shares nothing with tightdp, neither its interpreter nor its laws: the primitives are written again here, and `/`
divides floats, whose quotients are then read as the fractions that they stand for (all denominators are small).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["Rejected", "namespace", "plain_law"]

_LARGEST_DENOMINATOR = 100_000
"""Every fraction that a drawn program computes by `/` has a smaller one."""

Law = dict[Any, Fraction]


class Rejected(Exception):
    """A run that `observe` rules out."""


class _Runs:
    """The draws of the run at hand: the first ones repeat what was decided, the next ones take the first outcome."""

    def __init__(self) -> None:
        self.decided: list[tuple[int, int]] = []
        """Which outcome every draw of a run takes, of how many."""
        self.at = 0
        self.mass = Fraction(1)

    def __iter__(self) -> Iterator[None]:
        """Go through all runs: what stands in the loop is one."""
        self.decided = []
        while True:
            self.at, self.mass = 0, Fraction(1)
            yield
            while self.decided and self.decided[-1][0] + 1 == self.decided[-1][1]:
                self.decided.pop()
            if not self.decided:
                return
            at, count = self.decided[-1]
            self.decided[-1] = at + 1, count

    def draw(self, outcomes: Sequence[tuple[Any, Fraction]]) -> Any:
        possible = [(value, mass) for value, mass in outcomes if mass]
        if sum(mass for _, mass in possible) != 1 or any(mass < 0 for _, mass in possible):
            raise ValueError("not a law")
        if self.at == len(self.decided):
            self.decided.append((0, len(possible)))
        value, mass = possible[self.decided[self.at][0]]
        self.at += 1
        self.mass *= mass
        return value


_runs = _Runs()


def plain_law(function: Callable[[tuple[Any, ...]], Any], x: tuple[Any, ...], most: int) -> Law | None:
    """The law of the output on a dataset; None where a run fails, or every run is ruled out.

    Raises OverflowError where there are more runs.
    """
    masses: Law = {}
    for at, _ in enumerate(_runs):
        if at > most:
            raise OverflowError
        try:
            output = _frozen(function(x))
        except Rejected:
            continue
        except Exception:
            return None
        masses[output] = masses.get(output, Fraction(0)) + _runs.mass
    total = sum(masses.values())
    return {output: mass / total for output, mass in masses.items()} if masses else None


def _frozen(output: Any) -> Any:
    """An output in the form in which tightdp compares it."""
    match output:
        case float():
            return _fraction(output)
        case tuple():
            return tuple(map(_frozen, output))
        case set() | frozenset():
            return tuple(sorted(map(_frozen, output)))
        case dict():
            return tuple(sorted((key, _frozen(value)) for key, value in output.items()))
        case list():
            raise TypeError("a list is no output")
    return output


def _fraction(value: Any) -> Fraction:
    if isinstance(value, float):
        return Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    return Fraction(value)


# the primitives


def flip(p: Any) -> bool:
    chance = _fraction(p)
    return bool(_runs.draw([(False, 1 - chance), (True, chance)]))


def randint(low: int, high: int) -> Any:
    values = range(low, high + 1)
    return choice(values)


def choice(values: Any, weights: Any = None) -> Any:
    values = tuple(values)
    if not values:
        raise ValueError("nothing to choose from")
    masses = [Fraction(1)] * len(values) if weights is None else [_fraction(weight) for weight in weights]
    if len(masses) != len(values) or not sum(masses):
        raise ValueError("no weights")
    return _runs.draw([(value, mass / sum(masses)) for value, mass in zip(values, masses, strict=True)])


def binomial(n: int, p: Any) -> Any:
    chance = _fraction(p)
    if n < 0 or not 0 <= chance <= 1:
        raise ValueError("no law")
    return _runs.draw([(k, math.comb(n, k) * chance**k * (1 - chance) ** (n - k)) for k in range(n + 1)])


def geometric(centre: int, ratio: Any, low: int, high: int) -> Any:
    """Two-sided geometric noise around `centre`, clamped to low..high."""
    r = _fraction(ratio)
    if low == high:
        return low

    def at_least(distance: int) -> Fraction:
        """P(noise >= distance)."""
        tail = r ** abs(distance) / (1 + r)
        return tail if distance > 0 else 1 - tail * r

    inside = [(z, r ** abs(z - centre) * (1 - r) / (1 + r)) for z in range(low + 1, high)]
    below = 1 - at_least(low + 1 - centre)
    return _runs.draw([(low, below), *inside, (high, at_least(high - centre))])


def shuffle(messages: Any) -> Any:
    orders = list(itertools.permutations(tuple(messages)))
    return _runs.draw([(order, Fraction(1, len(orders))) for order in orders])


def observe(condition: Any) -> None:
    if not condition:
        raise Rejected


def mechanism(**_: Any) -> Callable[[Any], Any]:
    """Leave the function as it is, with its parameters read as numbers."""

    def decorate(function: Any) -> Any:
        function.__defaults__ = tuple(
            Fraction(value) if isinstance(value, str) else value for value in function.__defaults__ or ()
        )
        return function

    return decorate


def namespace(source: str) -> dict[str, Any]:
    """The names of a module of this text, whose imports from tightdp find the primitives of this file."""
    names: dict[str, Any] = {name: globals()[name] for name in (
        "flip", "randint", "choice", "binomial", "geometric", "shuffle", "observe", "mechanism",
    )}  # fmt: skip
    domain = lambda *arguments: arguments  # noqa: E731
    names |= dict.fromkeys(("Bit", "Bits", "Int", "Tuple", "Values"), domain)
    exec(compile(source, "<drawn>", "exec"), names)
    return names
