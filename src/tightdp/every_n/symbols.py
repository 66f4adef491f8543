"""Symbolic values of a program that is followed for every n: noise on all integers, sums over the records, n.

They are nodes of the core program whose values are not listed: arithmetic on them is kept as affine forms of unknown
integers, other functions of them as trees. Each unknown is an integer because of what it stands for: a draw of noise on
integers, a sum of integers, a number of records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, NoReturn, TypeAlias

from tightdp.core.nodes import Const, Expr

__all__ = [
    "SIZE",
    "Affine",
    "Bounds",
    "Symbol",
    "Terms",
    "Tree",
    "Unlisted",
    "fresh",
    "held",
    "leaves",
    "normal",
    "plus",
    "times",
    "tree_of",
]

Terms: TypeAlias = tuple[tuple[tuple[str, int], Fraction], ...]
"""Unknown integers with their coefficients, which are not 0, in a fixed order."""
Bounds: TypeAlias = dict[Terms, tuple[float, float]]
"""The least and the greatest value of combinations of unknown integers; they are integers or infinite."""
Tree: TypeAlias = Any
"""An affine form, or (operation, operands), whose operands are trees and plain values."""

SIZE: Terms = ((("size", 0), Fraction(1)),)
"""The number of records."""


class Affine(NamedTuple):
    """A combination of unknown integers, and a constant."""

    terms: Terms
    constant: Fraction

    def whole(self) -> bool:
        """Whether it is an integer whatever the unknown integers are."""
        return all(each.denominator == 1 for each in (self.constant, *(factor for _, factor in self.terms)))


def fresh(place: int) -> Terms:
    """Return the symbol of the noise with this number on a path, centred at 0."""
    return ((("fresh", place), Fraction(1)),)


def held(place: int) -> Terms:
    """Return the symbol of the value passed from one record to the next in this place."""
    return ((("held", place), Fraction(1)),)


class Unlisted(Sequence[Any]):
    """The values of a node that stands for infinitely many: whoever asks for them gets an error."""

    def __init__(self, refuse: Callable[[], NoReturn]) -> None:
        self._refuse = refuse

    def _refused(self, *asked: object) -> NoReturn:
        self._refuse()

    __len__ = __getitem__ = __iter__ = __contains__ = _refused


@dataclass(frozen=True, eq=False)
class Symbol(Expr):
    """A number that is not known."""

    tree: Tree

    @cached_property
    def numeric(self) -> bool:
        """It is a number."""
        return True

    @property
    def integral(self) -> bool:
        """Whether it is an integer for certain."""
        return isinstance(self.tree, Affine) and self.tree.whole()

    @property
    def boolean(self) -> bool:
        """It is no truth value: comparisons are decided one way, and then the other."""
        return False


def leaves(tree: Tree) -> Iterator[Any]:
    """Yield the affine forms and the names of lists in a tree."""
    if isinstance(tree, Affine) or not isinstance(tree, tuple):
        yield tree
    else:
        for part in tree[1:]:
            yield from leaves(part)


def tree_of(expr: Expr) -> Tree:
    """Return a node as a tree: numbers are affine forms, other constants plain values."""
    if isinstance(expr, Symbol):
        return expr.tree
    assert isinstance(expr, Const)
    value = expr.values[0]
    return Affine((), Fraction(value)) if isinstance(value, (int, Fraction)) else value


def plus(one: Affine, other: Affine, factor: Fraction | int = 1) -> Affine:
    """Return one + factor·other."""
    total = dict(one.terms)
    for symbol, times_ in other.terms:
        total[symbol] = total.get(symbol, Fraction(0)) + factor * times_
    terms = tuple(sorted((symbol, each) for symbol, each in total.items() if each))
    return Affine(terms, one.constant + factor * other.constant)


def times(form: Affine, factor: Fraction | int) -> Affine:
    """Return the form times a number."""
    return plus(Affine((), Fraction(0)), form, factor)


def normal(form: Affine, strictly: bool) -> tuple[Terms, int, bool]:
    """Return terms, an integer, and whether form >= 0 (or > 0) says that the terms are at least this, or below it.

    The terms have integer factors without a common divisor, the first of them positive.
    """
    below = math.lcm(*(factor.denominator for _, factor in form.terms))
    shared = Fraction(math.gcd(*(int(factor * below) for _, factor in form.terms)), below)
    edge = -form.constant / shared
    least = math.floor(edge) + 1 if strictly else math.ceil(edge)
    if form.terms[0][1] > 0:  # terms·v >= least
        return tuple((symbol, factor / shared) for symbol, factor in form.terms), least, True
    return tuple((symbol, -factor / shared) for symbol, factor in form.terms), 1 - least, False
