"""Laws of some pieces of an output, where the pieces are independent given the dataset.

Neighbours between which only some pieces differ are compared on these: every divergence between their output laws is
that between the laws of these pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from tightdp.core.nodes import Leaf, Shape, TupleOf
from tightdp.errors import ProgramError
from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole, gcd
from tightdp.language.program import Bound, Dataset, Output, order_of
from tightdp.logic.count import Weights
from tightdp.symmetry.sets import MAX_LISTED, Table

__all__ = ["ELSEWHERE", "Piece", "PieceTable", "plain"]

ELSEWHERE = "*"
"""Stands, in an output, for what the other pieces contribute."""

_LONG = 4096
"""Denominators of laws with more bits than this are brought to lowest terms."""
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
        return self.table.weights(tuple(x[client] for client in self.clients))

    def reaches(self, x: Dataset, most: int) -> bool:
        """Whether that law is known, or takes little work (`Table.reaches`)."""
        return self.table.reaches(tuple(x[client] for client in self.clients), most)

    def least(self, x: Dataset) -> tuple[int, Weights]:
        """Return the code of the first output in order on a dataset, and the law."""
        law = self.weights(x)
        return min(law.by_code, key=lambda code: order_of(self.table.output(code))), law


class PieceTable(Table):
    """The joint laws of the pieces `shown`; `others` are the rest of the output."""

    def __init__(self, bound: Bound, shape: Shape, shown: Sequence[Piece], others: Sequence[Piece]) -> None:
        self.bound = bound
        self.watch = lambda: None
        self._laws: dict[Dataset, Weights] = {}
        self._kept = 0
        self.shape = shape
        self.shown = tuple(shown)
        self.others = tuple(others)
        self._size = sum(len(piece.components) for piece in (*shown, *others))

    @property
    def code_bits(self) -> int:
        """How many bits the codes of the shown pieces have."""
        return sum(piece.table.code_bits for piece in self.shown)

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
            law, bits = piece.weights(x), piece.table.code_bits
            total *= law.total
            by_code = {
                code << bits | own: weight * share
                for code, weight in by_code.items()
                for own, share in law.by_code.items()
            }
        if isinstance(total, int) and total.bit_length() > _LONG:
            shared = gcd(total, *by_code.values())
            total, by_code = total // shared, {code: weight // shared for code, weight in by_code.items()}
        return Weights(by_code, total)

    def output(self, code: int) -> Output:
        return self._put_together(zip(self.shown, self._first(code), strict=True))

    def _codes(self, code: int) -> list[int]:
        """Return the codes of the shown pieces."""
        if len(self.shown) == 1:
            return [code]
        codes = []
        for piece in reversed(self.shown):
            codes.append(code & (1 << piece.table.code_bits) - 1)
            code >>= piece.table.code_bits
        return codes[::-1]

    def _first(self, code: int) -> list[Output]:
        return [piece.table.output(own) for piece, own in zip(self.shown, self._codes(code), strict=True)]

    def _put_together(self, given: Iterable[tuple[Piece, Output]]) -> Output:
        """Return the output with these values of pieces, and `ELSEWHERE` for the others."""
        values: list[Output] = [ELSEWHERE] * self._size
        for piece, output in given:
            for component, value in zip(piece.components, output, strict=True):
                values[component] = value
        return self.shape.decode(values)

    def multiplicity(self, code: int) -> int:
        codes = self._codes(code)
        return prod(piece.table.multiplicity(own) for piece, own in zip(self.shown, codes, strict=True))

    def named(self, code: int, x: Dataset, x_prime: Dataset) -> tuple[Output, Number, Number]:
        """Return a whole output, the other pieces being the first in order, with its probabilities on two datasets."""
        shown = [value for output in self._first(code) for value in output]
        copies = self.multiplicity(code)
        p, q = (self.weights(dataset).probability(code) / copies for dataset in (x, x_prime))
        return self.joined(tuple(shown), p, q, x)

    def joined(self, output: Output, p: Number, q: Number, x: Dataset) -> tuple[Output, Number, Number]:
        """Return a whole output and its probabilities, given those of the shown pieces on x and a neighbour."""
        values = iter(output)
        given = [(piece, tuple(next(values) for _ in piece.components)) for piece in self.shown]
        up: Whole = 1
        total: Whole = 1
        for piece in self.others:
            least, law = piece.least(x)
            given.append((piece, piece.table.output(least)))
            up, total = up * law.by_code[least], total * law.total * piece.table.multiplicity(least)
        shared = quotient(up, total)
        return self._put_together(given), p * shared, q * shared

    def event(self, codes: Sequence[int], x: Dataset) -> tuple[Output, ...]:
        """Return the outputs of some codes on a dataset: whole ones if few, else with `ELSEWHERE` for the others."""
        others = [list(piece.weights(x).by_code) for piece in self.others]
        ways = [
            sum(piece.table.multiplicity(own) for own in law) for piece, law in zip(self.others, others, strict=True)
        ]
        number = sum(map(self.multiplicity, codes))
        if number * prod(ways) > MAX_IN_FULL:
            others = []
            if number > MAX_LISTED:
                return ()
        pieces = (*self.shown, *(self.others if others else ()))
        found = []
        for code in codes:
            for chosen in product(*others):
                own = (*self._codes(code), *chosen)
                orders = [piece.table.outputs(one) for piece, one in zip(pieces, own, strict=True)]
                found += [self._put_together(zip(pieces, some, strict=True)) for some in product(*orders)]
        return tuple(found)

    def probability(self, x: Dataset, output: Output) -> Number:
        """Return P(output | x), of all pieces together."""
        values: dict[int, Output] = {}
        if self.others or not _take_apart(self.shape, output, values):
            return Fraction(0)
        result: Number = Fraction(1)
        for piece in self.shown:
            own = tuple(x[client] for client in piece.clients)
            result *= piece.table.probability(own, tuple(values[component] for component in piece.components))
        return result


def _take_apart(shape: Shape, output: Output, values: dict[int, Output]) -> bool:
    """Note the values of the components of an output; False where a plain shape has no such output."""
    if isinstance(shape, Leaf):
        values[shape.component] = output
        return not isinstance(output, tuple)
    return (
        isinstance(shape, TupleOf)
        and isinstance(output, tuple)
        and len(output) == len(shape.items)
        and all(_take_apart(item, part, values) for item, part in zip(shape.items, output, strict=True))
    )


def plain(shape: Shape) -> bool:
    """Whether every component of a shape is there in every output, at one place."""
    return isinstance(shape, Leaf) or (isinstance(shape, TupleOf) and all(map(plain, shape.items)))
