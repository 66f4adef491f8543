"""Linear forms in the weights above a block of a chain: which of them are redundant given the others."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from flint import arb, ctx

from tightdp.exact.enclosure import precisions
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole, ball_of, gcd
from tightdp.methods.chain import Vector

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["Form", "Steps", "distinct", "extreme", "logarithm", "positivity", "prune"]

Steps = tuple[Any, ...]
"""Linked list of what the clients from here down do: ((record under x, record under x', output bits), rest)."""

Form = tuple[Vector, Steps]
"""A linear form in the weights from above, in lowest terms, and what the clients below do to get it."""


_MANY = 64
"""More candidates than this are compared by logarithms first."""
_RECENT = 4
"""This many of the forms that last dominated others are tried first."""
_NO_MATTER, _NEVER = -1e30, -1e15
_ERROR = 1e-6
"""A tolerance: rounded logarithms of a dominating form may violate the comparison by this much."""


def distinct(forms: Iterable[Form]) -> list[Form]:
    """Return the forms in lowest terms, one of those that are positive multiples of each other, without zero forms."""
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
    """Return the forms that span the extreme rays of their cone, if they are on at most three nodes, else all forms.

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
    screen = _Screen(candidates) if len(candidates) > _MANY else None
    strong: deque[Vector] = deque(maxlen=_RECENT)
    for form in sorted(candidates, key=lambda form: sum(value < 0 for value in form[0].values())):
        watch()
        if screen is not None and any(_dominates(other, form[0]) for other in strong):
            continue
        rivals = range(len(kept)) if screen is None else screen.above(form[0])
        winner = next((kept[at][0] for at in rivals if _dominates(kept[at][0], form[0])), None)
        if winner is not None:
            strong.appendleft(winner)
            continue
        rivals = range(len(kept)) if screen is None else screen.below()
        beaten = {at for at in rivals if _dominates(form[0], kept[at][0])}
        kept = [*(other for at, other in enumerate(kept) if at not in beaten), form]
        if screen is not None:
            screen.replace(beaten)
    return kept


def positivity(form: Form) -> float:
    """Return the rounded logarithm of the positive share of a form's total absolute value."""
    up = sum(value for value in form[0].values() if value > 0)
    return logarithm(up) - logarithm(up + sum(-value for value in form[0].values() if value < 0)) if up else -math.inf


class _Screen:
    """Finds by logarithms which of the forms kept so far may dominate another one; integers then decide.

    `below` and `replace` refer to the form last passed to `above`. `_kept[0]` are the logarithms of the forms as those
    that are dominated, `_kept[1]` as those that dominate; [..., 0, :, :] of their positive entries by node, [..., 1, :,
    :] of their negative ones. A missing entry is stored as a number so far below all logarithms that comparisons come
    out right.
    """

    def __init__(self, candidates: Sequence[Form]) -> None:
        import numpy as np

        self._np = np
        nodes = sorted({node for vector, _ in candidates for node in vector})
        self._row = {node: at for at, node in enumerate(nodes)}
        self._kept = np.empty((2, 2, len(nodes), 0))
        self._size = 0
        self._last = np.empty((2, 2, len(nodes), 1))

    def above(self, vector: Vector) -> Sequence[int]:
        """Return the places of the kept forms that may dominate the given one."""
        last = self._last
        last[0, 0] = last[1, 1] = _NO_MATTER
        last[0, 1] = last[1, 0] = _NEVER
        for node, value in vector.items():
            last[:, 0 if value > 0 else 1, self._row[node]] = logarithm(value)
        return self._perhaps(last[0], self._kept[1, ..., : self._size])

    def below(self) -> Sequence[int]:
        """Return the places of the forms that the last one may dominate."""
        return self._perhaps(self._kept[0, ..., : self._size], self._last[1])

    def replace(self, beaten: set[int]) -> None:
        """Drop the beaten forms and append the last one."""
        np = self._np
        if beaten:
            stay = [at for at in range(self._size) if at not in beaten]
            self._kept[..., : len(stay)] = self._kept[..., stay]
            self._size = len(stay)
        if self._size == self._kept.shape[-1]:
            more = np.empty((*self._kept.shape[:-1], self._size + _MANY))
            self._kept = np.concatenate([self._kept, more], axis=-1)
        self._kept[..., self._size] = self._last[..., 0]
        self._size += 1

    def _perhaps(self, weak: NDArray[float64], strong: NDArray[float64]) -> Sequence[int]:
        least = (weak[0] - strong[0]).max(axis=0)
        most = (weak[1] - strong[1]).min(axis=0)
        possible = (least <= most + _ERROR) & (least < -_NEVER / 2)
        found: list[int] = self._np.flatnonzero(possible).tolist()
        return found


def logarithm(value: Whole) -> float:
    """Return log2 of the absolute value of a nonzero number, with an error far below `_ERROR`."""
    if isinstance(value, int):
        return math.log2(abs(value))
    for bits in precisions():
        with ctx.workprec(bits):
            found = abs(ball_of(value)).log() / arb(2).log()
            if found.rad() < _ERROR / 8:
                return float(found.mid())
    raise AssertionError("unreachable")


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
