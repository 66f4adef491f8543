"""The inference, privacy and accuracy sets, and the table of output laws (oakley2024, Sec. 4, Algorithms 1-3).

The sets say what has to be examined: which probabilities are computed (`InferenceSet`), which neighbouring triples are
compared (`PrivacySet`), and on which datasets accuracy is measured (`AccuracySet`). The algorithms take them as
arguments. Here they are exhaustive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate, product
from math import comb, prod
from typing import Generic, TypeAlias, TypeVar

from tightdp.core.outputs import Codes
from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import Output
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import LISTED_MASSES, MAX_DATASETS
from tightdp.logic.count import TooManyOutputs, Weights, output_weights
from tightdp.logic.formula import WeightedFormula

_FEW = 16
"""Up to this many records are counted one by one."""

Counts = tuple[tuple[int, ...], ...]
"""For every class of clients, how many of them have each letter."""


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all compositions of `total` into `parts` numbers (0 allowed), first part descending."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total, -1, -1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def count_compositions(sizes: Sequence[tuple[int, int]]) -> int:
    """Return how many counts there are for classes of (clients, letters); every client needs a letter."""
    return prod(comb(clients + letters - 1, clients) if letters else int(not clients) for clients, letters in sizes)


def every_counts(sizes: Sequence[tuple[int, int]]) -> Iterator[Counts]:
    """Yield all choices of one composition for every (total, parts), lazily."""
    if not sizes:
        yield ()
        return
    for first in compositions(*sizes[0]):
        for rest in every_counts(sizes[1:]):
            yield (first, *rest)


def arrangements(numbers: Sequence[int]) -> int:
    """Return the multinomial coefficient: the orders of things of which `numbers[i]` are of sort i."""
    return prod(map(comb, accumulate(numbers), numbers))


def in_a_row(clients: tuple[int, ...]) -> Sequence[int]:
    """Return clients as a range, of which parts are taken faster, where they follow each other."""
    row = range(clients[0], clients[0] + len(clients))
    return row if tuple(row) == clients else clients


def contents_of(
    x: Sequence[Record], columns: Sequence[Sequence[int]], records: Sequence[Record]
) -> Iterable[tuple[tuple[Record, ...], int]]:
    """Return the contents of blocks of clients in a dataset, each with its number of blocks, which may be 0.

    `columns` are the first clients of all blocks, the second ones, and so on.
    """
    parts = [
        x[clients.start : clients.stop] if isinstance(clients, range) else tuple(map(x.__getitem__, clients))
        for clients in columns
    ]
    if len(parts) == 1 and len(records) <= _FEW:
        return [((record,), parts[0].count(record)) for record in records]
    return Counter(zip(*parts, strict=True)).items()


_MANY_RECORDS = 16
"""With at least this many records, those that make no difference are looked for."""

SHORT_BITS = 17
"""Laws of outputs with codes of this many bits are short."""

MAX_LISTED = 10_000
"""Events of more outputs are not listed."""


T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Entries(Generic[T_co]):
    """What is gone through, perhaps several times; `size` is None where counting would mean listing."""

    entries: Callable[[], Iterable[T_co]]
    size: int | None = None

    def __iter__(self) -> Iterator[T_co]:
        return iter(self.entries())

    def watched(self, watch: Callable[[], None]) -> Entries[T_co]:
        """Return the same; `watch` is called before each entry, and may raise."""

        def one_by_one() -> Iterator[T_co]:
            for entry in self:
                watch()
                yield entry

        return Entries(one_by_one, self.size)


InferenceSet: TypeAlias = Entries[Dataset]
"""Datasets whose output laws are computed."""
PrivacySet: TypeAlias = Entries[tuple[Dataset, Dataset, int]]
"""Ordered pairs of neighbouring datasets that are compared on every output, each with how many it stands for."""
AccuracySet: TypeAlias = Entries[tuple[Dataset, int]]
"""Datasets on which accuracy is measured, each with the number of datasets that it stands for."""


def every_dataset(bound: Bound) -> InferenceSet:
    """Return all datasets, in the order of the record domain. Raises QueryError where they are too many."""
    size = bound.record.size**bound.n
    if size > MAX_DATASETS:
        raise QueryError(
            f"there are {bound.record.size}^{bound.n} = {size:,} datasets, too many to go through one by one",
            f"use fewer records or a smaller record domain (at most {MAX_DATASETS:,} datasets)",
        )
    return InferenceSet(lambda: product(bound.record.values, repeat=bound.n), size)


def every_neighbouring_pair(bound: Bound) -> PrivacySet:
    """Return all ordered pairs of neighbours."""
    datasets, neighbours = every_dataset(bound), relation_of(bound).neighbours
    return PrivacySet(lambda: ((x, other, 1) for x in datasets for other in neighbours(x)))


def every_told_apart(bound: Bound, laws: Callable[[Dataset], Weights]) -> PrivacySet:
    """Return all ordered pairs of neighbours; where records are many, one of those with the same laws.

    These have the same two laws and differ in the same client, while the records of all others agree.
    """
    if bound.record.size < _MANY_RECORDS or relation_of(bound).name != "replace-one":
        return every_neighbouring_pair(bound)
    datasets, numbers = every_dataset(bound), dict[Hashable, int]()

    @cache
    def alike(at: int, others: Dataset) -> dict[Record, list[Record]]:
        found: dict[int, list[Record]] = {}
        for record in bound.record.values:
            written = laws((*others[:at], record, *others[at:])).written
            found.setdefault(numbers.setdefault(written, len(numbers)), []).append(record)
        return {records[0]: records for records in found.values()}

    def pairs() -> Iterator[tuple[Dataset, Dataset, int]]:
        for x in datasets:
            for at, record in enumerate(x):
                found = alike(at, x[:at] + x[at + 1 :])
                for new, records in found.items() if record in found else ():
                    size = len(found[record]) * (len(records) - (new == record))
                    if size:
                        yield x, (*x[:at], records[new == record], *x[at + 1 :]), size

    return PrivacySet(pairs)


def every_input(bound: Bound) -> AccuracySet:
    """Return all datasets, each standing for itself."""
    datasets = every_dataset(bound)
    return AccuracySet(lambda: ((x, 1) for x in datasets), datasets.size)


class Table:
    """The output laws of a mechanism, by dataset and code, and all that is seen of them (Algorithm 1).

    What a code stands for is read in `codes`, and nowhere else. A subclass says how a law is found: `_counted`, or
    `weights`; and how the probability of one code, `chance`, where that is less work.
    """

    nodes = 1
    """How many nodes are visited for the law of a dataset."""

    def __init__(self, bound: Bound, codes: Codes) -> None:
        self.bound = bound
        self.codes = codes
        self._laws: dict[Dataset, Weights] = {}
        self._kept = 0
        self.watch: Callable[[], None] = lambda: None

    @property
    def work(self) -> int:
        """The work done for the laws so far, besides visiting nodes."""
        return 0

    def weights(self, x: Dataset) -> Weights:
        """Return the output law of a dataset as integers, outputs in the order of their codes.

        Raises ProgramError where `observe` rejects every run.
        """
        found = self._laws.get(x)
        return self._noted(x, self._counted(x)) if found is None else found

    def reaches(self, x: Dataset, most: int) -> bool:
        """Whether the law of a dataset is short, or known, or found by computing about `most` probabilities."""
        return self.codes.bits <= SHORT_BITS or self.knows(x) or self._reached(x, most)

    def _reached(self, x: Dataset, most: int) -> bool:
        self.weights(x)
        return True

    def _noted(self, x: Dataset, found: Weights) -> Weights:
        self._kept += len(found.by_code)
        if self._kept > LISTED_MASSES:
            self._laws, self._kept = {}, len(found.by_code)
        self._laws[x] = found
        return found

    def knows(self, x: Dataset) -> bool:
        """Whether the law of a dataset is already known."""
        return x in self._laws

    def length(self, x: Dataset) -> int:
        """Return how many codes of a dataset have a positive probability."""
        return len(self.weights(x).by_code)

    def _counted(self, x: Dataset) -> Weights:
        raise NotImplementedError

    def chance(self, x: Dataset, code: int) -> Number:
        """Return the probability of a code."""
        return self.weights(x).probability(code)

    def completed(self, codes: Sequence[int], x: Dataset) -> tuple[Table, Sequence[int]]:
        """Return a table of whole outputs, and the codes there of the first output of each of these codes on x."""
        return self, codes

    def in_full(self, codes: Sequence[int], x: Dataset) -> tuple[Table, Sequence[int]]:
        """Return a table of whole outputs and all its codes for these on x; where those are many, this table."""
        return self, codes

    # what is seen of the laws

    def probability(self, x: Dataset, output: Output) -> Number:
        """Return P(output | x), without computing the rest of the law where that is less work."""
        found = self.codes.find(output)
        return Fraction(0) if found is None else self.chance(x, found[0]) * found[1]

    def named(self, code: int, x: Dataset, x_prime: Dataset) -> tuple[Output, Number, Number]:
        """Return an output that a code stands for, with its probabilities on two datasets."""
        table, (whole,) = self.completed([code], x)
        p, q = (table.chance(dataset, whole) / table.codes.number(whole) for dataset in (x, x_prime))
        return table.codes.first(whole), p, q

    def event(self, codes: Sequence[int], x: Dataset) -> tuple[Output, ...]:
        """Return the outputs that some codes stand for on x, or () where there are more than `MAX_LISTED`."""
        table, whole = self.in_full(codes, x)
        if sum(map(table.codes.number, whole)) > MAX_LISTED:
            return ()
        return tuple(output for code in whole for output in table.codes.every(code))

    def law(self, x: Dataset) -> dict[Output, Number]:
        weights, codes = self.weights(x), self.codes
        # Long laws tend to have few different probabilities.
        masses = {weight: quotient(weight, weights.total) for weight in set(weights.by_code.values())}
        if not codes.several:
            outputs = codes.decoded(list(weights.by_code))
            return dict(zip(outputs, map(masses.__getitem__, weights.by_code.values()), strict=True))
        law: dict[Output, Number] = {}
        for code, weight in weights.by_code.items():
            law.update(dict.fromkeys(codes.every(code), masses[weight] / codes.number(code)))
        return law


class DiagramTable(Table):
    """Output laws counted on the diagram of a compiled mechanism."""

    def __init__(self, bound: Bound, formula: WeightedFormula) -> None:
        super().__init__(bound, formula.codes)
        self.formula = formula
        self.nodes = formula.nodes

    def evidence(self, x: Dataset) -> dict[int, bool]:
        """Return the input bits of a dataset, by level."""
        return self.formula.evidence(x, self.bound.record)

    def _reached(self, x: Dataset, most: int) -> bool:
        try:
            self._noted(x, self._counted(x, most))
        except TooManyOutputs:
            return False
        return True

    def _counted(self, x: Dataset, most: int | None = None) -> Weights:
        """Return a law. Raises TooManyOutputs where it takes more than `most` probabilities."""
        found = output_weights(self.formula, self.evidence(x), watch=self.watch, most=most)
        return Weights(dict(sorted(found.by_code.items())), self._total(x, found))

    def chance(self, x: Dataset, code: int) -> Number:
        if x in self._laws:
            return self._laws[x].probability(code)
        found = output_weights(self.formula, self.evidence(x), code)
        self._total(x, found)
        return found.probability(code)

    def _total(self, x: Dataset, weights: Weights) -> Whole:
        if not weights.total:
            raise self.bound.contradiction(x, "is false in every run")
        return weights.total
