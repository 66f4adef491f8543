"""Ends of ranges of numbers: exact, or infinite."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias, TypeGuard

Edge: TypeAlias = "Fraction | float"
"""An end of a range: exact, or infinite."""


def finite(edge: Edge) -> TypeGuard[Fraction]:
    """Whether an end is a number: a float is infinite, and cannot be put together with fractions beyond its range."""
    return not isinstance(edge, float)


def total(edge: Edge, *others: tuple[Fraction | int, Edge]) -> Edge:
    """Return an end plus multiples of others, of which not two are infinite on opposite sides."""
    for factor, other in others:
        if finite(edge):
            edge = edge + factor * other if finite(other) else other if factor > 0 else -other
    return edge
