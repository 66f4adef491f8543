"""Laws of some pieces of an output, where the pieces are independent given the dataset.

Neighbours between which only some pieces differ are compared on these: every divergence between their output laws is
that between the laws of these pieces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

from tightdp.core.outputs import Codes, Leaf, Shape, TupleOf
from tightdp.errors import ProgramError
from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.language.outputs import Output, order_of
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import TABLE_ENTRIES
from tightdp.logic.count import Weights
from tightdp.methods.base import Pair
from tightdp.symmetry.sets import Table

ELSEWHERE = "*"
"""Stands, in an output, for what the other pieces contribute."""

MAX_IN_FULL = 128
"""Up to this many outputs, an event is listed in full, not piece by piece."""


@dataclass(frozen=True)
class Piece:
    """Some components of an output, and the table of their laws, whose outputs are tuples of their values.

    Client j of the table is client `clients[j]` of the mechanism.
    """

    components: tuple[int, ...]
    clients: tuple[int, ...]
    table: Table

    def weights(self, x: Dataset) -> Weights:
        """Return the law of the piece on a dataset of the mechanism."""
        return self.table.weights(self._seen(x))

    def chance(self, x: Dataset, code: int) -> Number:
        """Return the probability of a code of the piece."""
        return self.table.chance(self._seen(x), code)

    def _seen(self, x: Dataset) -> Dataset:
        return tuple(x[client] for client in self.clients)

    def reaches(self, x: Dataset, most: int) -> bool:
        """Whether that law is known, or takes little work (`Table.reaches`)."""
        return self.table.reaches(self._seen(x), most)

    def outputs_of(self, law: Weights) -> int:
        """Return how many outputs of positive probability a law of the piece has."""
        return sum(map(self.table.codes.number, law.by_code))

    def least(self, x: Dataset) -> int:
        """Return the code of the first output in order on a dataset of the mechanism."""
        return min(self.weights(x).by_code, key=lambda code: order_of(self.table.codes.first(code)))


class PieceCodes(Codes):
    """The codes of pieces, one after the other: each stands for any outputs of its pieces."""

    def __init__(self, shape: Shape, pieces: Sequence[Piece], size: int) -> None:
        self._shape, self._pieces, self._size = shape, pieces, size

    @property
    def bits(self) -> int:
        return sum(piece.table.codes.bits for piece in self._pieces)

    @property
    def several(self) -> bool:
        return any(piece.table.codes.several for piece in self._pieces)

    def join(self, codes: Iterable[int]) -> int:
        """Return the code of the pieces' codes."""
        joined = 0
        for piece, code in zip(self._pieces, codes, strict=True):
            joined = joined << piece.table.codes.bits | code
        return joined

    def split(self, code: int) -> list[int]:
        """Return the codes of the pieces."""
        codes = []
        for piece in reversed(self._pieces):
            bits = piece.table.codes.bits
            codes.append(code & (1 << bits) - 1)
            code >>= bits
        return codes[::-1]

    def _own(self, code: int) -> Iterator[tuple[Codes, int]]:
        return zip((piece.table.codes for piece in self._pieces), self.split(code), strict=True)

    def number(self, code: int) -> int:
        return prod(codes.number(own) for codes, own in self._own(code)) if self.several else 1

    def first(self, code: int) -> Output:
        return self._put_together([codes.first(own) for codes, own in self._own(code)])

    def every(self, code: int) -> Iterator[Output]:
        return map(self._put_together, product(*(codes.every(own) for codes, own in self._own(code))))

    def _put_together(self, outputs: Sequence[Output]) -> Output:
        """Return the output with these values of pieces, and `ELSEWHERE` for the others."""
        values: list[Output] = [ELSEWHERE] * self._size
        for piece, output in zip(self._pieces, outputs, strict=True):
            for component, value in zip(piece.components, output, strict=True):
                values[component] = value
        return self._shape.decode(values)

    def find(self, output: Output) -> tuple[int, Number] | None:
        values: dict[int, Output] = {}
        share = self._shape.read(output, lambda component, part: (part, Fraction(1)), values)
        own = []
        for piece in self._pieces if share else ():
            # A component that no output shows, as where it is (), is true.
            found = piece.table.codes.find(tuple(values.get(component, True) for component in piece.components))
            if found is None:
                return None
            own.append(found[0])
            share *= found[1]
        return (self.join(own), share) if share else None


class PieceTable(Table):
    """The joint laws of the pieces `shown`; `others` are the rest of the output, of `size` components in all.

    The others are asked for where the rest of the output is: an iterator may make their tables then.
    """

    codes: PieceCodes

    def __init__(self, bound: Bound, shape: Shape, shown: Sequence[Piece], others: Iterable[Piece], size: int) -> None:
        super().__init__(bound, PieceCodes(shape, shown, size))
        self.shape = shape
        self.shown = tuple(shown)
        self._elsewhere, self._size = others, size

    @cached_property
    def others(self) -> tuple[Piece, ...]:
        """The pieces that are not shown."""
        return tuple(self._elsewhere)

    def weights(self, x: Dataset) -> Weights:
        try:
            return self.shown[0].weights(x) if len(self.shown) == 1 else super().weights(x)
        except ProgramError:
            raise self.bound.contradiction(x, "is false in every run") from None

    def _reached(self, x: Dataset, most: int) -> bool:
        return all(piece.reaches(x, most) for piece in self.shown) and most >= prod(
            len(piece.weights(x).by_code) for piece in self.shown
        )

    def _counted(self, x: Dataset) -> Weights:
        by_code: dict[int, Whole] = {0: 1}
        total: Whole = 1
        for piece in self.shown:
            law, bits = piece.weights(x), piece.table.codes.bits
            total *= law.total
            by_code = {
                code << bits | own: weight * share
                for code, weight in by_code.items()
                for own, share in law.by_code.items()
            }
        found = Weights(by_code, total)
        return found.lowest if isinstance(total, int) and total.bit_length() > TABLE_ENTRIES else found

    def chance(self, x: Dataset, code: int) -> Number:
        """Return the probability of a code from those of the pieces."""
        try:
            masses = [piece.chance(x, own) for piece, own in zip(self.shown, self.codes.split(code), strict=True)]
        except ProgramError:
            raise self.bound.contradiction(x, "is false in every run") from None
        return quotient(prod(mass.numerator for mass in masses), prod(mass.denominator for mass in masses))

    @cached_property
    def _whole(self) -> PieceTable:
        if not self.others:
            return self
        return PieceTable(self.bound, self.shape, (*self.shown, *self.others), (), self._size)

    def completed(self, codes: Sequence[int], x: Dataset) -> tuple[Table, Sequence[int]]:
        least = [piece.least(x) for piece in self.others]
        return self._whole, [self._whole.codes.join((*self.codes.split(code), *least)) for code in codes]

    def in_full(self, codes: Sequence[int], x: Dataset) -> tuple[Table, Sequence[int]]:
        number = sum(map(self.codes.number, codes))
        laws = []
        for piece in self.others:
            laws.append(piece.weights(x).by_code)
            number *= sum(map(piece.table.codes.number, laws[-1]))
            if number > MAX_IN_FULL:
                return self, codes
        whole = self._whole.codes
        return self._whole, [whole.join((*self.codes.split(code), *own)) for code in codes for own in product(*laws)]


Changed = tuple[Dataset, Dataset, Sequence[tuple[int, int, int]], int]
"""Neighbours; the numbers of pieces that the change reaches, each with numbers of its two laws; how many pairs."""


class Pieces:
    """All pieces of an output, and the tables of some of them."""

    def __init__(self, bound: Bound, shape: Shape, every: Sequence[Piece]) -> None:
        self._bound, self._shape, self.every = bound, shape, tuple(every)
        self._tables: dict[tuple[int, ...], PieceTable] = {}

    def table(self, shown: tuple[int, ...]) -> PieceTable:
        """Return the table of the pieces with these numbers; where there are none, of the first."""
        shown = shown or (0,)
        if shown not in self._tables:
            others = [piece for at, piece in enumerate(self.every) if at not in shown]
            own = [self.every[at] for at in shown]
            size = sum(len(piece.components) for piece in self.every)
            self._tables[shown] = PieceTable(self._bound, self._shape, own, others, size)
        return self._tables[shown]

    def pairs(self, changes: Iterable[Changed], outputs: Callable[[int], Collection[int]]) -> Iterator[Pair]:
        """Yield one pair of neighbours for every way in which the laws of the pieces change.

        `outputs` gives the numbers of outputs that a piece has on the datasets, when all changes were seen.
        """
        merged: dict[object, tuple[Dataset, Dataset, tuple[int, ...], Counter[tuple[int, ...]]]] = {}
        unreached = Counter[tuple[int, ...]]()
        first: tuple[Dataset, Dataset] | None = None
        for x, x_prime, laws, times in changes:
            if not laws:
                first = first or (x, x_prime)
                unreached[()] += times
                continue
            compared = [entry for entry in laws if entry[1] != entry[2]] or laws[:1]  # with the same law, one is shown
            shown = tuple(at for at, *_ in compared)
            key = tuple(sorted((ours, theirs) for _, ours, theirs in compared))
            merged.setdefault(key, (x, x_prime, shown, Counter()))[-1][shown] += times
        numbers = [outputs(at) for at in range(len(self.every))] if merged or first else []
        for x, x_prime, shown, pairs in merged.values():
            yield Pair(x, x_prime, _triples(pairs, numbers), self.table(shown))
        if first is not None:  # the table shows the first piece; where its outputs are not as many everywhere, 0
            size = _triples(Counter({(0,): unreached[()]}), numbers) if len(numbers[0]) == 1 else 0
            yield Pair(*first, size, self.table(()))


def _triples(pairs: Counter[tuple[int, ...]], outputs: Sequence[Collection[int]]) -> int:
    """Return how many triples there are for each output of the pieces shown; 0 where that depends on the dataset.

    `pairs` are pairs of neighbours by the pieces that tell them apart.
    """
    total = 0
    for shown, number in pairs.items():
        elsewhere = [numbers for at, numbers in enumerate(outputs) if at not in shown]
        if any(len(numbers) != 1 for numbers in elsewhere):
            return 0
        total += number * prod(next(iter(numbers)) for numbers in elsewhere)
    return total


def plain(shape: Shape, parts: tuple[type[Shape], ...] = (Leaf,)) -> bool:
    """Whether a shape is of tuples and such parts alone; every output has each leaf then, at one place."""
    return isinstance(shape, parts) or (isinstance(shape, TupleOf) and all(plain(item, parts) for item in shape.items))
