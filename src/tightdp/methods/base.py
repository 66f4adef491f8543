"""The protocol of a method: whether it applies to a program, and what it can answer.

A method is looked for with `Candidate.look`, which gives the method or a `Refusal` with the reason. Every question may
be refused too: then the next method is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from tightdp.errors import LimitError, QueryError
from tightdp.exact.field import ExpNumber
from tightdp.language.program import Dataset
from tightdp.methods.ratios import Named, Ratio
from tightdp.methods.symmetry import Symmetry
from tightdp.symmetry.sets import AccuracySet, PrivacySet, Table

if TYPE_CHECKING:
    from tightdp.methods.control import Control
    from tightdp.methods.program import Program

__all__ = ["Candidate", "Comparison", "Exact", "Known", "Method", "Pair", "Refusal", "Tight", "on_table"]

Exact = Fraction | ExpNumber | float
"""An exact number, or infinity."""

Known = Callable[[], Exact | None]
"""Gives the value that a search has so far, None before there is one."""


@dataclass(frozen=True)
class Refusal:
    """Why a method does not apply to a program, or does not answer a question: what follows "it does not apply:".

    Where no method answers, a `decisive` refusal is the one that is shown.
    """

    reason: str
    hint: str = "leave the method out: one that applies is found"
    decisive: bool = False

    @property
    def error(self) -> QueryError:
        """The same as an error."""
        return QueryError(self.reason, self.hint)


@dataclass(frozen=True, slots=True)
class Pair:
    """Neighbours to compare on a table of laws. They stand for `size` pairs, which ranked ratios count (0: unknown)."""

    x: Dataset
    x_prime: Dataset
    size: int
    table: Table


@dataclass(frozen=True)
class Comparison:
    """Pairs of neighbours on which every divergence is attained; `size` is their number where it is known.

    Where `incomplete` says why, they are only some of these pairs: what they show is a lower end, and no likelihood
    ratio exceeds `bound`.
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


class Method(Protocol):
    """A way to look at one program. What a method does not answer it refuses, as all of these do by default."""

    name: str
    program: Program

    def size(self) -> tuple[int, int]:
        """Return how many variables and nodes the diagrams have that it looked at so far."""
        return self.program.size

    def laws(self, control: Control) -> Table | Refusal:
        """Return the table of the laws of whole outputs on all datasets."""
        return Refusal(f"{self.name}: it does not give the laws of whole outputs")

    def tight(self, control: Control) -> Tight | Refusal:
        """Return the largest likelihood ratio, found without going through `comparison`."""
        return Refusal(f"{self.name}: it compares pairs of neighbours")

    def comparison(self, control: Control) -> Comparison | Refusal:
        """Return the pairs of neighbours to compare."""
        return Refusal(f"{self.name}: it gives the tight likelihood ratio only")

    def largest(self, control: Control) -> Comparison | Refusal:
        """Return pairs of neighbours among which are those that attain the largest likelihood ratio."""
        return self.comparison(control)

    def in_order(self, control: Control) -> Iterator[Pair] | Refusal:
        """Yield pairs of neighbours in the order of datasets, among them the first that attains any divergence."""
        return Refusal(f"{self.name}: it does not look at single pairs")

    def ratio_bound(self) -> Exact:
        """Return an upper bound on every likelihood ratio that needs no search; often infinite."""
        return math.inf

    def accuracy_set(self, control: Control) -> AccuracySet | Refusal:
        """Return the datasets on which to measure accuracy."""
        return Refusal(f"{self.name}: it does not say on which datasets to measure accuracy")

    def every_ratio(self, control: Control) -> Iterator[Named] | Refusal:
        """Yield every likelihood ratio over neighbours and outputs, with a triple that has it."""
        return Refusal(f"{self.name}: it does not list every ratio")

    def symmetry(self) -> Symmetry:
        """Return the symmetries that it makes use of, in words, and the sizes of the sets that are left."""
        return Symmetry(())


@dataclass(frozen=True)
class Candidate:
    """A method by name, and the function that looks whether it applies to a program."""

    name: str
    look: Callable[[Program, Control], Method | Refusal]
