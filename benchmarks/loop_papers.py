"""Ten loop programs from books and papers; `loops.py` has their values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightdp import flip, observe, randint

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def von_neumann(x: Any) -> Any:
    """Pairs of tosses until two differ: the first of them, and the number of pairs (von Neumann 1951)."""
    pairs = 0
    while True:
        first, second = flip(THIRD), flip(THIRD)
        pairs += 1
        if first != second:
            return first, pairs


def reflected(x: Any) -> Any:
    """The steps of a fair walk from 1 to 3 that 0 throws back."""
    at, steps = 1, 0
    while at < 3:
        at = 1 if at == 0 else at + (1 if flip(HALF) else -1)
        steps += 1
    return steps


def pascal(x: Any) -> Any:
    """Failures before the second success, one loop for each (Pascal's law)."""
    failures = 0
    for _ in range(2):
        while not flip(THIRD):
            failures += 1
    return failures


def five_of_coins(x: Any) -> Any:
    """A number below 5 from coins with the fewest tosses (Knuth and Yao 1976), and the tosses."""
    size, value, tosses = 1, 0, 0
    while True:
        size, value, tosses = 2 * size, 2 * value + flip(HALF), tosses + 1
        if size >= 5:
            if value < 5:
                return value, tosses
            size, value = size - 5, value - 5


def race(x: Any) -> Any:
    """The rounds until a hare that jumps one time in two is where a tortoise is (Chakarov, Sankaranarayanan 2013)."""
    tortoise, hare, rounds = 3, 0, 0
    while hare < tortoise:
        tortoise += 1
        if flip(HALF):
            hare += randint(1, 5)
        rounds += 1
        if rounds == 6:
            return -1
    return rounds


def alias(x: Any) -> Any:
    """The alias method for 1/2, 1/3, 1/6 (Walker 1977), until it is not the last one, and the rounds."""
    rounds = 0
    while True:
        rounds += 1
        column = randint(0, 2)
        keep = (Fraction(1), Fraction(1), HALF)[column]
        value = column if flip(keep) else 0
        if value < 2:
            return value, rounds


def fibonacci(x: Any) -> Any:
    """Tosses until two heads in a row: Fibonacci's numbers over 2^k."""
    tosses, last = 0, False
    while True:
        now = flip(HALF)
        tosses += 1
        if now and last:
            return tosses
        last = now


def polya(x: Any) -> Any:
    """The draws from an urn until the red ball, black ones put back with another one (Eggenberger and Polya 1923)."""
    black, draws = 1, 0
    while draws < 12:
        draws += 1
        if randint(1, black + 1) == 1:
            return draws
        black += 1
    return 0


def russian_roulette(x: Any) -> Any:
    """How many shots of a barrel with 6 chambers, spun anew each time, given that it is an even number."""
    shots = 0
    while True:
        shots += 1
        if randint(1, 6) == 1:
            break
    observe(shots % 2 == 0)
    return shots


def branching(x: Any) -> Any:
    """All descendants where each has two children with probability 1/3, else none (Galton and Watson 1875)."""
    alive, born = 1, 1
    while alive > 0:
        if flip(THIRD):
            alive, born = alive + 1, born + 2
        else:
            alive -= 1
    return born
