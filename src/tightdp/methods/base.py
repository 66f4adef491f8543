"""The answers of methods: pairs of neighbours to compare, the ends of the tight ratio, a refusal with its reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tightdp.errors import LimitError, QueryError
from tightdp.exact.weights import quotient
from tightdp.language.program import Dataset
from tightdp.methods.ratios import Exact, Named, Ratio
from tightdp.symmetry.sets import PrivacySet, Table

__all__ = ["Comparison", "Exact", "Known", "Pair", "Refusal", "Tight", "on_table", "ratios_of_pairs"]

Known = Callable[[], Exact | None]
"""Gives the value that a search has so far, None before there is one."""


@dataclass(frozen=True)
class Refusal:
    """Why a method does not apply to a program, or does not answer a question: what follows "it does not apply:".

    Where no method answers, a `decisive` refusal is the one that is shown.
    """

    reason: str
    hint: str = "leave the method out, and one that applies is found"
    decisive: bool = False

    @property
    def error(self) -> QueryError:
        """The refusal as an error to raise."""
        return QueryError(self.reason, self.hint)


@dataclass(frozen=True, slots=True)
class Pair:
    """Neighbours to compare on a table of laws.

    Each output of the table stands for `size` triples of neighbours and a whole output, which ranked ratios count (0:
    their number is not known).
    """

    x: Dataset
    x_prime: Dataset
    size: int
    table: Table


@dataclass(frozen=True)
class Comparison:
    """Pairs of neighbours on which every divergence is attained; `size` is their number where it is known.

    Where `incomplete` is given, as the reason, they are only some of these pairs: they show a lower bound, and no
    likelihood ratio exceeds `bound`.
    """

    pairs: Callable[[], Iterable[Pair]]
    size: int | None = None
    incomplete: LimitError | None = None
    bound: Exact = math.inf

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs())


def on_table(table: Table, privacy_set: PrivacySet, watch: Callable[[], None]) -> Comparison:
    """Return the pairs of a privacy set, compared on one table; `watch` is called before each."""

    def pairs() -> Iterator[Pair]:
        for x, x_prime, size in privacy_set:
            watch()
            yield Pair(x, x_prime, size, table)

    return Comparison(pairs, privacy_set.size)


def ratios_of_pairs(pairs: Iterable[Pair]) -> Iterator[Named]:
    """Yield the ratio P(y|x)/P(y|x') of all pairs with all outputs that one of the two gives."""
    for pair in pairs:
        ours, theirs = pair.table.weights(pair.x), pair.table.weights(pair.x_prime)
        for code in sorted(ours.by_code.keys() | theirs.by_code.keys()):
            up, down = ours.by_code.get(code, 0) * theirs.total, theirs.by_code.get(code, 0) * ours.total
            yield quotient(up, down) if down else math.inf, pair.x, pair.x_prime, pair.table.codes.first(code)


@dataclass(frozen=True)
class Tight:
    """What is known of the largest likelihood ratio: at least `lower`, which the witness attains, at most `upper`.

    Without a witness the lower end is 1. `reason` says why the ends differ, and is None where they are equal;
    `gave_up` that the method itself stopped and another one may know more.
    """

    lower: Exact
    upper: Exact
    witness: Ratio | None
    reason: LimitError | None = None
    gave_up: bool = False
