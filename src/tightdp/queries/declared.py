"""Inference, privacy and accuracy sets that a user declares by hand, and whether they are sound.

Oakley2024, Definitions 4 and 5: every neighbouring triple (x, x', y) must have the ratio of some triple of a privacy
set, every dataset the accuracy of some dataset of an accuracy set; an inference set must have every (x, y) whose
probability is needed. All triples and datasets are checked, up to verified symmetries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from tightdp.errors import QueryError
from tightdp.exact.numbers import Exact
from tightdp.exact.rationals import as_value
from tightdp.exact.weights import quotient
from tightdp.language.domains import Record
from tightdp.language.interp import target_of
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import Output
from tightdp.language.program import Bound, Dataset
from tightdp.language.tails import Tail
from tightdp.methods.base import Pair, Ratio
from tightdp.queries.accuracy import AccuracyClass, number_or_tail
from tightdp.queries.measures import AccuracyAt
from tightdp.symmetry.sets import AccuracySet, Table

T = TypeVar("T")

Point = tuple[Dataset, Output]


@dataclass(frozen=True)
class Triple:
    """A declared triple (x, x', y)."""

    x: Dataset
    x_prime: Dataset
    output: Output

    def __str__(self) -> str:
        return f"({self.x}, {self.x_prime}, {self.output!r})"


# reading


def read_triples(bound: Bound, declared: Iterable[object]) -> tuple[Triple, ...]:
    """Return the triples of a privacy set. Raises QueryError where an entry is not neighbours with an output."""
    triples = []
    for entry in _entries("privacy set", declared):
        x, x_prime, output = _parts("privacy set", entry, ("x", "x'", "y"))
        triple = Triple(bound.check_dataset(x), bound.check_dataset(x_prime), as_value(output))
        if not relation_of(bound).relates(triple.x, triple.x_prime):
            raise QueryError(f"the privacy set has {triple}, and x, x' are not neighbours", "declare neighbours only")
        triples.append(triple)
    return tuple(dict.fromkeys(triples))


def read_points(bound: Bound, declared: Iterable[object]) -> frozenset[Point]:
    """Return the (x, y) of an inference set. Raises QueryError where an entry is not a dataset and an output."""
    entries = (_parts("inference set", entry, ("x", "y")) for entry in _entries("inference set", declared))
    return frozenset((bound.check_dataset(x), as_value(output)) for x, output in entries)


def read_datasets(bound: Bound, declared: Iterable[Sequence[Record]]) -> tuple[Dataset, ...]:
    """Return the datasets of an accuracy set."""
    return tuple(dict.fromkeys(bound.check_dataset(x) for x in _entries("accuracy set", declared)))


def as_accuracy_set(datasets: Sequence[Dataset]) -> AccuracySet:
    """Return declared datasets as an accuracy set, each standing for itself."""
    return AccuracySet(lambda: ((x, 1) for x in datasets), len(datasets))


def _entries(name: str, declared: Iterable[T]) -> list[T]:
    if isinstance(declared, (str, bytes)) or not isinstance(declared, Iterable):
        raise QueryError(f"the {name} is {declared!r}", "give a list")
    return list(declared)


def _parts(name: str, entry: object, names: Sequence[str]) -> tuple[Any, ...]:
    if not isinstance(entry, (tuple, list)) or len(entry) != len(names):
        raise QueryError(f"the {name} has the entry {entry!r}", f"give tuples ({', '.join(names)})")
    return tuple(entry)


# checking


def ranked(table: Table, triples: Iterable[Triple], watch: Callable[[], None]) -> list[Ratio]:
    """Return the distinct ratios of declared triples, largest first, each with how many attain it; 0/0 is left out."""
    found: dict[Exact, list[Any]] = {}
    for triple in triples:
        watch()
        p, q = (table.probability(x, triple.output) for x in (triple.x, triple.x_prime))
        if p or q:
            entry = found.setdefault(p / q if q else math.inf, [triple, p, q, 0])
            entry[-1] += 1
    return [
        Ratio(value, triple.x, triple.x_prime, triple.output, p, q, tally)
        for value, (triple, p, q, tally) in sorted(found.items(), reverse=True)
    ]


def check_privacy_set(declared: Collection[Ratio], pairs: Iterable[Pair]) -> None:
    """Raise QueryError naming a triple of neighbours to compare whose ratio no declared triple has."""
    known = {ratio.exp_epsilon for ratio in declared}
    ratio = cache(lambda up, down: quotient(up, down) if down else math.inf)  # pairs have many in common
    for pair in pairs:
        ours, theirs = pair.table.weights(pair.x), pair.table.weights(pair.x_prime)
        for code in sorted(ours.by_code.keys() | theirs.by_code.keys()):
            up, down = ours.by_code.get(code, 0) * theirs.total, theirs.by_code.get(code, 0) * ours.total
            value = ratio(up, down)
            if value not in known:
                triple = Triple(pair.x, pair.x_prime, pair.table.named(code, pair.x, pair.x_prime)[0])
                raise QueryError(
                    f"the privacy set misses the triple {triple}: its ratio is "
                    f"{'infinite' if value == math.inf else value}, which no triple of the set has",
                    "add it, or leave the privacy set out",
                )


def check_accuracy_set(
    declared: Sequence[AccuracyClass], every: Iterable[AccuracyClass], question: AccuracyAt
) -> tuple[AccuracyClass, ...]:
    """Return the declared classes with the sizes of the exhaustive ones.

    Raises QueryError naming a dataset whose accuracy no declared dataset has.
    """
    known = {entry.one_minus_beta: entry.x for entry in declared}
    result = []
    for entry in every:
        if entry.one_minus_beta not in known:
            raise QueryError(
                f"the accuracy set misses the dataset {entry.x}: its 1 - β at alpha = {question.alpha} is "
                f"{entry.one_minus_beta}, which no dataset of the set has",
                "add it, or leave the accuracy set out",
            )
        result.append(AccuracyClass(known[entry.one_minus_beta], entry.one_minus_beta, entry.inputs))
    return tuple(result)


def points_of(table: Table, datasets: Iterable[Dataset], question: AccuracyAt) -> Iterator[Point]:
    """Yield the (x, y) that the accuracy of datasets needs: the outputs near the target."""
    for x in datasets:
        low, high = question.within(target_of(table.bound, x))
        for code in table.weights(x).by_code:
            output: Any = number_or_tail(table, x, code)
            if isinstance(output, Tail):
                yield from ((x, value) for value in output.within(low, high))
            elif low <= output <= high:
                yield x, output


def check_inference_set(declared: Collection[Point], needed: Iterable[Point]) -> None:
    """Raise QueryError naming an (x, y) that is needed and not declared."""
    for x, output in needed:
        if (x, output) not in declared:
            raise QueryError(
                f"the inference set misses ({x}, {output!r}), whose probability is needed",
                "add it, or leave the inference set out",
            )
