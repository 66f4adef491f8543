"""Weighted Boolean formulas: what a compiled program is.

The formula holds for an assignment of input bits, coins and output bits exactly when the program, on that dataset and
with these coins, gives that output (and meets every `observe`). Coins carry exact weights; input and output bits are
fixed by a query.

Precondition of every count here: the two weights of a variable sum to 1. Then a variable that a path does not test
may be skipped. It is checked where coins are made (`Coin`), and holds for fixed bits, whose weights are 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tightdp.core.nodes import Input
from tightdp.core.operators import Value
from tightdp.core.outputs import ComponentCodes, Shape
from tightdp.exact.field import Number
from tightdp.exact.weights import may_be_positive, quotient
from tightdp.exact.whole import Whole
from tightdp.language.domains import Domain
from tightdp.language.program import Dataset, Output
from tightdp.logic.bdd import Diagram


@dataclass(frozen=True)
class Coin:
    """A coin: true with probability numerator/denominator, strictly between 0 and 1."""

    numerator: Whole
    denominator: Whole

    def __post_init__(self) -> None:
        if not (may_be_positive(self.numerator) and may_be_positive(self.denominator - self.numerator)):
            raise ValueError(f"a coin needs a probability strictly between 0 and 1, not {self.probability}")

    @property
    def probability(self) -> Number:
        """The weight of True; the weight of False is one minus that."""
        return quotient(self.numerator, self.denominator)


@dataclass(frozen=True)
class InputBit:
    """Bit number `bit` (from the most significant) of the code of a leaf of a record."""

    leaf: int
    bit: int


@dataclass(frozen=True)
class OutputBit:
    """Bit number `bit` (from the most significant) of the code of an output component."""

    component: int
    bit: int


Variable = Coin | InputBit | OutputBit


def code_length(size: int) -> int:
    """Return how many bits the code of one of `size` values has."""
    return (size - 1).bit_length()


@dataclass(frozen=True)
class WeightedFormula:
    """A compiled program: the diagram of its formula, its variables by level, and how codes are read.

    `owners` says, by level, which client a variable belongs to alone (`order.NO_CLIENT`: none).

    `inputs` are the symbolic leaves of the records (none where the dataset was fixed), `values[j]` the values of
    output component j, `shape` how an output is put together from them. `conditioned` says whether `observe` may
    reject runs. `nodes` counts the nodes of the diagram in its library, constants included.
    """

    diagram: Diagram
    variables: tuple[Variable, ...]
    owners: tuple[int, ...]
    inputs: tuple[Input, ...]
    values: tuple[Sequence[Value], ...]
    shape: Shape
    conditioned: bool
    nodes: int

    def evidence(self, x: Dataset, record: Domain) -> dict[int, bool]:
        """Return the value of every input bit, by level, for a dataset of records of a domain."""
        components = [record.split(item) for item in x]
        return self.evidence_of([components[leaf.client][leaf.leaf] for leaf in self.inputs])

    def evidence_of(self, values: Sequence[Value]) -> dict[int, bool]:
        """Return the value of every input bit, by level, for values of the input leaves."""
        codes = [leaf.index[value] for leaf, value in zip(self.inputs, values, strict=True)]
        lengths = [code_length(len(leaf.values)) for leaf in self.inputs]
        return {
            level: bool(codes[variable.leaf] >> (lengths[variable.leaf] - 1 - variable.bit) & 1)
            for level, variable in enumerate(self.variables)
            if isinstance(variable, InputBit)
        }

    @cached_property
    def output_bits(self) -> tuple[tuple[int, int], ...]:
        """(component, bit) of every output bit, from the top of the diagram to its bottom."""
        return tuple((v.component, v.bit) for v in self.variables if isinstance(v, OutputBit))

    @cached_property
    def codes(self) -> BitCodes:
        """What the output bits stand for, as one number, top level first."""
        return BitCodes(self.values, self.shape, self.output_bits)

    @cached_property
    def output_shifts(self) -> dict[int, int]:
        """How far to shift the output code for its bit at a level."""
        levels = [level for level, variable in enumerate(self.variables) if isinstance(variable, OutputBit)]
        return {level: len(levels) - 1 - at for at, level in enumerate(levels)}


class BitCodes(ComponentCodes):
    """Codes of output bits: (component, bit) of each, the most significant first."""

    def __init__(self, values: Sequence[Sequence[Value]], shape: Shape, output_bits: Sequence[tuple[int, int]]) -> None:
        super().__init__(values, shape)
        self._bits = output_bits

    @property
    def bits(self) -> int:
        return len(self._bits)

    def code(self, places: Sequence[int]) -> int:
        lengths = list(map(code_length, map(len, self.values)))
        result = 0
        for component, bit in self._bits:
            result = result << 1 | places[component] >> (lengths[component] - 1 - bit) & 1
        return result

    def component_values(self, code: int) -> list[Value]:
        return [values[_gathered(code, at)] for values, at in zip(self.values, self._positions, strict=True)]

    def decoded(self, codes: Sequence[int]) -> Sequence[Output]:
        """Return an output for each of some codes, component by component for all of them at once."""
        size = (self.bits + 7) // 8 or 1
        whole = b"".join([code.to_bytes(size, "little") for code in codes])
        # Many codes have few different bytes: a component is read once for every combination of the bytes it is in.
        bytes_at = [whole[at::size] for at in range(size)]
        columns: list[Sequence[object]] = []
        for values, positions in zip(self.values, self._positions, strict=True):
            places = sorted({shift // 8 for shift in positions})
            if len(places) == 1:
                keys: Sequence[Any] = bytes_at[places[0]]
                value_of = {key: values[_gathered(key << 8 * places[0], positions)] for key in set(keys)}
            else:
                keys = list(zip(*(bytes_at[place] for place in places), strict=True)) if places else [()] * len(codes)
                value_of = {key: values[_gathered(_code(key, places), positions)] for key in set(keys)}
            columns.append([*map(value_of.__getitem__, keys)])
        return self.shape.decode_rows(columns, len(codes))

    @cached_property
    def _positions(self) -> list[list[int]]:
        """For every component, how far to shift the code for each of its bits, most significant first."""
        positions: list[list[int]] = [[] for _ in self.values]
        for place, (component, _) in enumerate(self._bits):
            positions[component].append(self.bits - 1 - place)
        return positions


def _code(key: Sequence[int], places: Sequence[int]) -> int:
    """Return a code of which the bytes at some places are given."""
    return sum(byte << 8 * place for byte, place in zip(key, places, strict=True))


def _gathered(code: int, positions: Sequence[int]) -> int:
    """Return the bits at these positions of a code as one number."""
    index = 0
    for shift in positions:
        index = index << 1 | code >> shift & 1
    return index
