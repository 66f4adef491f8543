"""The mechanisms of programs/timing written anew, with their rounds and bits counted by hand; nothing of the package.

Each is a function of a dataset, its parameters, and a coin: `coin(a, k)` is true with probability a / 2^k.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

Coin = Callable[[int, int], bool]
Told = tuple[Any, int, int]
"""What is returned, how many rounds loops go in all that may differ from run to run, how many bits are drawn."""


class TooDeep(Exception):
    """A run draws more than is followed."""


def law(run: Callable[[Any, Coin], Told], x: Any, most: int) -> tuple[dict[Told, Fraction], Fraction]:
    """The probability of everything that runs with at most so many coins tell, and what they leave."""
    found: dict[Told, Fraction] = {}
    pending: list[list[bool]] = [[]]
    while pending:
        past, mass, at = pending.pop(), Fraction(1), 0

        def coin(a: int, k: int, past: list[bool] = past) -> bool:
            nonlocal mass, at
            if at == most:
                raise TooDeep
            if at == len(past):
                pending.append([*past, False])
                past.append(True)
            at += 1
            mass *= Fraction(a, 2**k) if past[at - 1] else 1 - Fraction(a, 2**k)
            return past[at - 1]

        try:
            told = run(x, coin)
        except TooDeep:
            continue
        if mass:
            found[told] = found.get(told, Fraction(0)) + mass
    return found, 1 - sum(found.values())


def any_record(x: Any, coin: Coin, stops: bool) -> Told:
    rounds = (*x, 1).index(1) + (1 in x) if stops else 0
    return (1 in x) ^ coin(1, 2), rounds, 2


def long_records(x: Any, coin: Coin, padded: bool, steps: int) -> Told:
    return (2 * sum(x) > len(x)) ^ coin(1, 2), 0 if padded else steps * sum(x), 2


def delayed(x: Any, coin: Coin) -> Told:
    extra = 0
    while coin(7, 3):
        extra += 1
    return (2 * sum(x) > len(x)) ^ coin(1, 2), sum(x) + extra, 3 * (extra + 1) + 2


def count(x: Any, coin: Coin, padded: bool) -> Told:
    flips = [coin(1, 1) for _ in x] if padded else []
    z = (*flips, False).index(False) if padded else 0
    while not padded and coin(1, 1):
        z += 1
    noisy = sum(x) + z if coin(1, 1) else sum(x) - 1 - z
    return min(max(noisy, 0), len(x)), 0 if padded else z, len(x) + 1 if padded else z + 2


def answers(x: Any, coin: Coin, lazy: bool, a: int, k: int) -> Told:
    said, rounds, bits = [], 0, 0
    for v in x:
        digits, number = f"{a:0{k}b}", ""
        while len(number) < k and not (lazy and number and number[-1] != digits[len(number) - 1]):
            number += str(int(coin(1, 1)))
        lie = number < digits[: len(number)]
        rounds, bits = rounds + len(number) * lazy, bits + len(number)
        said.append(v ^ lie)
    return tuple(said), rounds, bits


def k_ary(x: Any, coin: Coin, k: int) -> Told:
    said, rounds = [], 0
    for v in x:
        number = k + 2
        while number >= k + 2:
            number = 4 * coin(1, 1) + 2 * coin(1, 1) + coin(1, 1)
            rounds += 1
        said.append((v + (number - 2 if number > 2 else 0)) % k)
    return tuple(said), rounds, 3 * rounds


RUNS: dict[str, Callable[[Any, Coin], Told]] = {
    "any_record": lambda x, coin: any_record(x, coin, True),
    "any_record_padded": lambda x, coin: any_record(x, coin, False),
    "long_records": lambda x, coin: long_records(x, coin, False, 5),
    "long_records_padded": lambda x, coin: long_records(x, coin, True, 5),
    "delayed": delayed,
    "count_by_trials": lambda x, coin: count(x, coin, False),
    "count_padded": lambda x, coin: count(x, coin, True),
    "answers_lazily": lambda x, coin: answers(x, coin, True, 3, 4),
    "answers_at_once": lambda x, coin: answers(x, coin, False, 3, 4),
    "k_ary_by_rejection": lambda x, coin: k_ary(x, coin, 3),
}


def largest(name: str, n: int, values: int, seen: Callable[[Told], Any], most: int) -> tuple[Any, Fraction]:
    """The largest ratio between neighbours of what is seen of a run, and the largest rest of a law."""
    laws: dict[Any, dict[Any, Fraction]] = {}
    left = Fraction(0)
    for x in product(range(values), repeat=n):
        found, rest = law(RUNS[name], x, most)
        left = max(left, rest)
        for told, mass in found.items():
            laws.setdefault(x, {})
            laws[x][seen(told)] = laws[x].get(seen(told), Fraction(0)) + mass
    best: Any = Fraction(1)
    for x, other in product(laws, repeat=2):
        if sum(a != b for a, b in zip(x, other, strict=True)) == 1:
            for y, mass in laws[x].items():
                best = max(best, mass / laws[other][y] if y in laws[other] else float("inf"))
    return best, left
