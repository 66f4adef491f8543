"""A finite chain: what a program that treats all records alike does with each record, for every n at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from tightdp.language.domains import Record
from tightdp.language.program import Output

__all__ = ["Chain", "Letter", "Matrix", "Move", "Vector", "column", "product", "reached", "row", "transposed"]

Vector: TypeAlias = dict[int, Fraction]
"""The entries that are not 0."""
Matrix: TypeAlias = dict[int, Vector]
"""The rows that are not 0."""
Letter: TypeAlias = Output
"""What one record publishes."""
Move: TypeAlias = tuple[Record, Record]


@dataclass(frozen=True)
class Chain:
    """P(y_1, ..., y_n, o | x) = s·M_x1(y_1)···M_xn(y_n)·f_o, for all n, with the initial row s and final columns f.

    `steps[y][x]` is M_x(y). `moves` lists what a record may become. Where `all_at_once`, every record makes such a move
    (or none), else exactly one does. What the program returns is a function of (y_1, ..., y_n, o) and n; where the
    chain is `faithful`, the output determines all messages, one of every record (or there are none), and o.
    """

    size: int
    starts: tuple[Vector, ...]
    steps: dict[Letter, dict[Record, Matrix]]
    finals: tuple[Vector, ...]
    moves: tuple[Move, ...]
    all_at_once: bool
    faithful: bool = False

    def matrix(self, letter: Letter, record: Record) -> Matrix:
        """Return M_record(letter)."""
        return self.steps[letter].get(record, {})

    def matrices(self) -> list[Matrix]:
        """Return M_x(y) for all records and letters that have one."""
        return [matrix for by in self.steps.values() for matrix in by.values()]

    def reversed(self) -> Chain:
        """Return the chain that reads the records backwards, with the same probabilities."""
        steps = {y: {x: transposed(matrix) for x, matrix in by.items()} for y, by in self.steps.items()}
        return Chain(self.size, self.finals, steps, self.starts, self.moves, self.all_at_once, self.faithful)


def row(vector: Vector, matrix: Matrix) -> Vector:
    """Return vector·matrix."""
    result: Vector = {}
    for i, value in vector.items():
        for j, entry in matrix.get(i, {}).items():
            result[j] = result.get(j, Fraction(0)) + value * entry
    return result


def column(matrix: Matrix, vector: Vector) -> Vector:
    """Return matrix·vector."""
    result = {i: product(entries, vector) for i, entries in matrix.items()}
    return {i: value for i, value in result.items() if value}


def product(left: Vector, right: Vector) -> Fraction:
    """Return the inner product."""
    if len(right) < len(left):
        left, right = right, left
    return sum((value * right[i] for i, value in left.items() if i in right), Fraction(0))


def transposed(matrix: Matrix) -> Matrix:
    """Return the transposed matrix."""
    result: Matrix = {}
    for i, entries in matrix.items():
        for j, value in entries.items():
            result.setdefault(j, {})[i] = value
    return result


def reached(start: Vector, matrix: Matrix) -> set[int]:
    """Return the places at which a row, or its product with a power of a matrix, is nonzero."""
    known, pending = set(start), list(start)
    while pending:
        for j in matrix.get(pending.pop(), {}):
            if j not in known:
                known.add(j)
                pending.append(j)
    return known
