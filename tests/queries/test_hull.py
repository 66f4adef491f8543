"""The hull of likelihood-ratio tests beside one made of exact numbers alone, on laws with ties and long tails."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import pytest

from tightdp.exact.field import Number, exp
from tightdp.exact.weights import over_common, quotient
from tightdp.logic.count import Weights
from tightdp.queries.hull import ALL, NONE, events_of, upper_hull

Law = list[Number]
Points = list[tuple[Number, Number]]


def laws(draw: random.Random, root: Number) -> list[Law]:
    """Some laws on a few outputs: powers of a number, so that ratios are equal and tails are long, and plain ones."""
    outputs = draw.randint(1, 6)
    masses: list[Law] = []
    for _ in range(draw.randint(2, 4)):
        far = draw.choice((1, 1, 3, 300))
        weights: Law = [root ** (far * draw.randint(0, 3)) * draw.randint(0, 2) for _ in range(outputs)]
        weights[draw.randrange(outputs)] = Fraction(1)
        total = sum(weights, start=Fraction(0))
        masses.append([weight / total for weight in weights])
    return masses


def weights_of(law: Law) -> Weights:
    weights, total = over_common(law)
    return Weights({at: weight for at, weight in enumerate(weights) if weight}, total)


def exact_hull(pairs: list[tuple[Law, Law]]) -> Points:
    points: set[tuple[Number, Number]] = {(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))}
    for ours, theirs in pairs:
        certain = sum((p for p, q in zip(ours, theirs, strict=True) if not q), start=Fraction(0))
        x, y = Fraction(0), certain
        points.add((x, y))
        both = [(p, q) for p, q in zip(ours, theirs, strict=True) if p and q]
        for p, q in sorted(both, key=lambda entry: entry[0] / entry[1], reverse=True):
            x, y = x + q, y + p
            points.add((x, y))
    hull: Points = []
    for x, y in sorted(points, key=lambda point: (point[0], -point[1])):
        if hull and hull[-1][0] == x:
            continue
        while len(hull) > 1:
            (a, b), (c, d) = hull[-2:]
            if (c - a) * (y - b) < (d - b) * (x - a):
                break
            hull.pop()
        hull.append((x, y))
    return hull


@pytest.mark.parametrize("root", [Fraction(1, 3), exp(Fraction(-1, 2))], ids=["rational", "exp"])
def test_hull_is_that_of_exact_numbers(root: Number) -> None:
    draw = random.Random(7)
    corners = 0
    for _ in range(60):
        drawn = laws(draw, root)
        pairs = [*pairwise(drawn), *((b, a) for a, b in pairwise(drawn))]
        events = [event for a, b in pairs for event in events_of(weights_of(a), weights_of(b), None)]
        found = [
            (quotient(test.x, test.scale), quotient(test.y, test.scale)) for test in upper_hull([NONE, ALL, *events])
        ]
        assert found == exact_hull(pairs)
        corners += len(found)
    assert corners > 180
