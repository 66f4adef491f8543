"""Numbers of a state that go on growing: all beyond what they are compared with make one state.

A number in a variable is cut off beyond a limit, above it and below minus it: every value farther out is one symbol, of
which nothing is known but that. What the code of a record does with the symbol it does for each of these values: where
a comparison is not decided by the limit, that is raised, and where more is asked the number is taken as it is. So from
every value beyond the limit the same follows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.every_n.edges import total
from tightdp.every_n.paths import Affine, Tree, leaves
from tightdp.limits.calibrated import PROOF_STATES

BEYOND = "beyond"
"""A kind of symbols: integers above a limit. So many parts of 1, or minus so many, are a number that is cut off."""
MANY = 16
"""A number with more values is cut off; limits that are larger are at least doubled."""

Ranges: TypeAlias = dict[int, tuple[int, int]]
"""By the token of a number that is cut off: its limit as a number of parts, and how many these are of 1."""


class Many(Exception):
    """The number in a place may be cut off: it has many values, or those of another number that is."""

    def __init__(self, place: tuple[Any, ...], parts: int = 1) -> None:
        super().__init__()
        self.place, self.parts = place, parts


class Farther(Exception):
    """A number that is cut off is compared with one that is farther out; without one, it is needed as it is."""

    def __init__(self, token: int, edge: Fraction | None = None) -> None:
        super().__init__()
        self.token, self.edge = token, edge


@dataclass
class Limits:
    """Beyond which limits numbers are cut off, and of how many parts of 1 they are made; None for no limit."""

    known: dict[tuple[Any, ...], tuple[int, int] | None] = field(default_factory=dict)

    def of(self, place: tuple[Any, ...]) -> tuple[int, int]:
        """Return the limit of a number, the least where it has none yet."""
        return self.known.get(place) or (0, 1)

    def cut(self, many: Many) -> None:
        """Cut off a number."""
        limit, parts = self.of(many.place)
        self._set(many.place, limit, math.lcm(parts, many.parts))

    def move(self, place: tuple[Any, ...], edge: Fraction | None) -> None:
        """Learn what a number that is cut off is compared with."""
        limit, parts = self.of(place)
        least = limit + 1 if limit < MANY else 2 * limit
        self._set(place, math.inf if edge is None else max(least, math.ceil(edge)), parts)

    def _set(self, place: tuple[Any, ...], limit: float, parts: int) -> None:
        self.known[place] = (int(limit), parts) if max(limit, parts) <= PROOF_STATES else None


def cut_off(tree: Tree) -> list[int]:
    """Return the tokens of the numbers in a tree that are cut off."""
    return [at for leaf in leaves(tree) if isinstance(leaf, Affine) for (kind, at), _ in leaf.terms if kind == BEYOND]


def refuse_cut_off(*trees: Tree) -> None:
    """Raise Farther where a number that is cut off is needed as it is."""
    for token in (token for tree in trees for token in cut_off(tree)):
        raise Farther(token)


def positive(form: Affine, ranges: Ranges) -> bool:
    """Whether a form is above 0, else it is below. Raises Farther where that is not known of all that it may be."""
    low: Fraction | float = form.constant
    high: Fraction | float = form.constant
    for (kind, at), factor in form.terms:
        if kind != BEYOND:
            raise Farther(cut_off(form)[0])
        edge = factor * ranges[at][0]
        low, high = (total(low, (1, edge)), math.inf) if factor > 0 else (-math.inf, total(high, (1, edge)))
    if low >= 0 or high <= 0:
        return low >= 0
    (_, token), factor = form.terms[0]
    raise Farther(token, abs(form.constant / factor) / ranges[token][1])
