"""Linear forms in the weights above a block of a chain: which of them the others make superfluous."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole, gcd
from tightdp.methods.chain import Vector

__all__ = ["Form", "Steps", "distinct", "extreme", "prune"]

Steps = tuple[Any, ...]
"""Linked list of what the clients from here down do: ((record under x, record under x', output bits), rest)."""

Form = tuple[Vector, Steps]
"""A linear form in the weights from above, in lowest terms, and what the clients below do to get it."""


def distinct(forms: Iterable[Form]) -> list[Form]:
    """Return one of all forms that are positive multiples of each other, in lowest terms, without zero forms."""
    found: dict[object, Form] = {}
    for vector, steps in forms:
        reduced = {node: value for node, value in vector.items() if value}
        if reduced:
            shared = gcd(*reduced.values())
            if shared != 1:
                reduced = {node: value // shared for node, value in reduced.items()}
            found.setdefault(frozenset(reduced.items()), (reduced, steps))
    return list(found.values())


def extreme(forms: list[Form]) -> list[Form]:
    """Return the forms of which all others are sums with factors that are not negative, on up to three nodes.

    What is decided about a suffix is linear in it, so only the extreme ones matter.
    """
    nodes = sorted({node for vector, _ in forms for node in vector})
    if len(nodes) > 3 or len(forms) < 3:
        return forms
    triples = [
        (tuple([vector.get(node, 0) for node in nodes] + [0] * (3 - len(nodes))), form)
        for form in forms
        for vector in (form[0],)
    ]
    triples.sort(key=lambda entry: (quotient(entry[0][0], sum(entry[0])), quotient(entry[0][1], sum(entry[0]))))
    lower, upper = _half_hull(triples), _half_hull(triples[::-1])
    kept = {id(form): form for _, form in (*lower, *upper)}
    return list(kept.values())


def _half_hull(ordered: Sequence[tuple[tuple[Whole, ...], Form]]) -> list[tuple[tuple[Whole, ...], Form]]:
    hull: list[tuple[tuple[Whole, ...], Form]] = []
    for entry in ordered:
        while len(hull) >= 2 and _orientation(hull[-2][0], hull[-1][0], entry[0]) <= 0:
            hull.pop()
        hull.append(entry)
    return hull


def _orientation(a: Sequence[Whole], b: Sequence[Whole], c: Sequence[Whole]) -> Whole:
    """Return a number with the sign of the turn from a over b to c, seen in the plane of sum 1."""
    first = a[0] * (b[1] * sum(c) - sum(b) * c[1])
    second = a[1] * (b[0] * sum(c) - sum(b) * c[0])
    return first - second + sum(a) * (b[0] * c[1] - b[1] * c[0])


def prune(forms: Iterable[Form], watch: Callable[[], None] = lambda: None) -> list[Form]:
    """Drop forms that are nowhere positive, and those that another form beats wherever they are positive."""
    kept: list[Form] = []
    candidates = distinct(form for form in forms if any(value > 0 for value in form[0].values()))
    for form in sorted(candidates, key=lambda form: sum(value < 0 for value in form[0].values())):
        watch()
        if not any(_dominates(other, form[0]) for other, _ in kept):
            kept = [other for other in kept if not _dominates(form[0], other[0])]
            kept.append(form)
    return kept


def _dominates(strong: Vector, weak: Vector) -> bool:
    """Whether some positive multiple of `strong` is at least `weak` at every node.

    The factor must be at least weak/strong where weak is positive, and at most weak/strong where both are negative.
    """
    least_up: Whole = 0
    least_down: Whole = 1
    most_up: Whole = 1
    most_down: Whole = 0
    for node, value in weak.items():
        other = strong.get(node, 0)
        if value > 0:
            if other <= 0:
                return False
            if value * least_down > least_up * other:
                least_up, least_down = value, other
        elif other < 0 and -value * most_down < -other * most_up:
            most_up, most_down = -value, -other
    if any(other < 0 and node not in weak for node, other in strong.items()):
        return False
    return least_up * most_down <= most_up * least_down
