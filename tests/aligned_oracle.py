"""What the trees of a certificate by alignment tell, run by run: shares no code with the checker, nor with the writer.

Noise on all integers is followed as far as a reach from 0; how much probability is beyond that is told.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from certificate_oracle import number

REACH, CLOSE = 6, Fraction(1, 10**9)
"""So far noise is followed; so near are powers of e taken."""


class NoLaw(Exception):
    """A tree has real noise, or does what no program does."""


def laws(certificate: dict[str, Any], n: int) -> dict[tuple[int, ...], tuple[Counter[Any], Fraction]]:
    """The laws of what is told, on all datasets of n records by number, and how much is beyond the reach."""
    records = range(len(certificate["claim"]["records"]))
    power = Fraction(math.exp(1 / certificate["claim"].get("root", 1)))
    return {x: law(certificate["program"], x, power) for x in product(records, repeat=n)}


def law(program: dict[str, Any], x: tuple[int, ...], power: Fraction) -> tuple[Counter[Any], Fraction]:
    """The least probabilities of what is told on a dataset, and by how much they may be larger in all."""
    found: Counter[Any] = Counter()
    beyond = Fraction(0)
    now: dict[Any, Fraction] = {((), None, (), Fraction(0)): Fraction(1)}
    steps = [lambda _: program["before"], *(lambda state, r=r: program["steps"][state][r] for r in x)]
    for tree_of in [*steps, lambda state: program["after"][state]]:
        before, now = now, {}
        for (told, state, values, lost), mass in before.items():
            tree = program["trees"][tree_of(state)]
            for seen, after, left, odds, away in runs(
                tree, (Fraction(1), Fraction(len(x)), *values), Fraction(0), power
            ):
                key = (*told, seen), after, left, lost + away
                now[key] = now.get(key, Fraction(0)) + mass * odds
    for (told, _, _, lost), mass in now.items():
        found[told] += mass
        beyond = max(beyond, lost)
    return found, beyond


def runs(tree: Any, values: tuple[Fraction, ...], lost: Fraction, power: Fraction) -> Iterator[Any]:
    """What is told, the state and its values, the probability, and how much noise may be farther out."""
    if tree is None:
        return
    kind, *rest = tree

    def at(form: list[Any]) -> Fraction:
        return sum((Fraction(factor) * value for factor, value in zip(form, values, strict=True)), Fraction(0))

    if kind == "ends":
        told, numbers, *after = rest
        state, left = after or (None, [])
        yield (repr(told), *map(at, numbers)), state, tuple(map(at, left)), Fraction(1), lost
    elif kind == "test":
        yield from runs(rest[1 if at(rest[0]) >= 0 else 2], values, lost, power)
    elif kind == "guess":
        for each in rest[0]:
            yield from runs(each, values, lost, power)
    elif kind == "draw":
        weights = [number(odds, power) for odds, _ in rest[0]]
        for odds, (_, each) in zip(weights, rest[0], strict=True):
            for *found, p, away in runs(each, values, lost, power):
                yield *found, p * odds / sum(weights), away
    else:
        (real, base, step, half), after = rest
        if real or step != 1:
            raise NoLaw
        ratio = 1 / number(base, power)
        first, tail = (
            (1 - ratio, ratio ** (REACH + 1))
            if half
            else ((1 - ratio) / (1 + ratio), 2 * ratio ** (REACH + 1) / (1 + ratio))
        )
        for y in range(0 if half else -REACH, REACH + 1):
            for *found, p, away in runs(after, (*values, Fraction(y)), lost + tail, power):
                yield *found, p * first * ratio ** abs(y), away


def is_near(certificate: dict[str, Any], n: int) -> bool:
    """Whether nothing within the reach contradicts the claim for n records, and probabilities add up to 1."""
    claim = certificate["claim"]
    bound = number(claim["bound"], Fraction(math.exp(1 / claim.get("root", 1)))) + CLOSE
    found, records = laws(certificate, n), claim["records"]
    if any(not 1 - beyond - CLOSE <= sum(masses.values()) <= 1 + CLOSE for masses, beyond in found.values()):
        return False
    for (x, (ours, _)), (y, (theirs, beyond)) in product(found.items(), repeat=2):
        if x != y and near(claim["neighbours"], [(records[a], records[b]) for a, b in zip(x, y, strict=True)]):
            for told, mass in ours.items():
                if mass > bound * (theirs[told] + beyond):
                    return False
    return True


def near(relation: Any, pairs: list[tuple[Any, Any]]) -> bool:
    """Whether datasets with these records are neighbours."""
    different = [pair for pair in pairs if pair[0] != pair[1]]
    if isinstance(relation, list):
        return all([*pair] in relation for pair in different)
    if relation == "replace-one":
        return len(different) == 1
    if relation == "add-remove":
        return len(different) == 1 and (different[0][0] == [None]) != (different[0][1] == [None])
    return all(abs(a[0] - b[0]) <= 1 for a, b in different) and (relation == "unit-all" or len(different) == 1)
