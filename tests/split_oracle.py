"""The mechanisms of programs/splits.py written anew as sums over a long window, in floats; nothing of the package."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

REACH = 250
Law = dict[Any, float]


def mass(ratio: float, z: int) -> float:
    """P(noise = z) for two-sided geometric noise."""
    return (1 - ratio) / (1 + ratio) * ratio ** abs(z)


def at_least(ratio: float, z: int) -> float:
    """P(noise >= z)."""
    return ratio**z / (1 + ratio) if z > 0 else 1 - ratio ** (1 - z) / (1 + ratio)


def clamped(centre: int, ratio: float, low: int, high: int) -> Law:
    """A number with noise, clamped."""
    found = {y: mass(ratio, y - centre) for y in range(low, high + 1)}
    found[high] = at_least(ratio, high - centre)
    found[low] = at_least(ratio, centre - low)
    return found


def comparisons(x: Any, threshold: int, ratio: float, query: float, cutoff: int) -> Law:
    """Which answers are above a noisy threshold, until so many are."""
    found: Law = {}
    for t in range(threshold - REACH, threshold + REACH + 1):
        pending: list[tuple[tuple[int, ...], float]] = [((), mass(ratio, t - threshold))]
        for v in x:
            above = at_least(query, t - v)
            pending = [
                (seen if done else (*seen, bit), share if done else share * (above if bit else 1 - above))
                for seen, share in pending
                for done in [sum(seen) >= cutoff]
                for bit in ([0] if done else [0, 1])
            ]
        for seen, share in pending:
            found[seen] = found.get(seen, 0.0) + share
    return found


def above_threshold(x: Any, base: float, share: int, parts: int) -> Law:
    law = comparisons(x, 1, base ** (2 * share), base ** (parts - share), 1)
    return {len(seen) - 1 if 1 in seen else len(x): value for seen, value in law.items()}


def sparse_vector(x: Any, base: float, share: int, parts: int) -> Law:
    return comparisons(x, 1, base ** (4 * share), base ** (parts - share), 2)


def numeric_above_threshold(x: Any, base: float, share: int, parts: int) -> Law:
    law = comparisons(x, 1, base ** (2 * share), base**share, 1)
    found = {(len(x), 0): value for seen, value in law.items() if 1 not in seen}
    for seen, value in law.items():
        if 1 in seen:
            at = len(seen) - 1
            found |= {(at, y): value * p for y, p in clamped(x[at], base ** (4 * (parts - share)), 0, 2).items()}
    return found


def select_and_count(x: Any, base: float, share: int, parts: int) -> Law:
    first, second = (sum(record[i] for record in x) for i in range(2))
    ratio = base**share
    later = sum(mass(ratio, z - first) * at_least(ratio, z + 1 - second) for z in range(first - REACH, first + REACH))
    found: Law = {}
    for place, chance, count in ((0, 1 - later, first), (1, later, second)):
        law = clamped(count, base ** (2 * (parts - share)), 0, len(x))
        found |= {(place, y): chance * p for y, p in law.items()}
    return found


def two_levels(x: Any, base: float, share: int, parts: int) -> Law:
    half = len(x) // 2
    sums = ((sum(x), share, len(x)), (sum(x[:half]), parts - share, half), (sum(x[half:]), parts - share, half))
    laws = [clamped(total, base**power, 0, most) for total, power, most in sums]
    return {
        tuple(y for y, _ in each): math.prod(p for _, p in each) for each in product(*(law.items() for law in laws))
    }


def right(name: str, x: Any) -> Any:
    """The right answer."""
    above = [i for i, v in enumerate(x) if name[-9:] == "threshold" and v >= 1]
    if name == "above_threshold":
        return above[0] if above else len(x)
    if name == "numeric_above_threshold":
        return (above[0], x[above[0]]) if above else (len(x), 0)
    if name == "sparse_vector":
        seen: tuple[int, ...] = ()
        for v in x:
            seen = seen if sum(seen) == 2 else (*seen, int(v >= 1))
        return seen
    if name == "two_levels":
        return sum(x), sum(x[: len(x) // 2]), sum(x[len(x) // 2 :])
    counts = [sum(record[i] for record in x) for i in range(2)]
    return counts.index(max(counts)), max(counts)


RECORDS: dict[str, tuple[Any, ...]] = {
    "above_threshold": (0, 1, 2),
    "sparse_vector": (0, 1),
    "numeric_above_threshold": (0, 1, 2),
    "select_and_count": ((0, 0), (0, 1), (1, 0), (1, 1)),
    "two_levels": (0, 1),
}


def neighbours(name: str, x: Any) -> Iterator[Any]:
    """All neighbours of a dataset."""
    for other in product(RECORDS[name], repeat=len(x)):
        if other == x:
            continue
        if name.endswith("threshold") or name == "sparse_vector":
            if all(abs(a - b) <= 1 for a, b in zip(x, other, strict=True)):
                yield other
        elif sum(a != b for a, b in zip(x, other, strict=True)) == 1:
            yield other


def both(name: str, n: int, base: float, share: int, parts: int) -> tuple[float, float]:
    """The tight e^ε, and the least probability of the right answer."""
    law_of: Callable[..., Law] = globals()[name]
    laws = {x: law_of(x, base, share, parts) for x in product(RECORDS[name], repeat=n)}
    ratio = max(law[y] / laws[other][y] for x, law in laws.items() for other in neighbours(name, x) for y in law)
    return ratio, min(law[right(name, x)] for x, law in laws.items())
