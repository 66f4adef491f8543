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

from tightdp.core.nodes import Choice, Input, Leaf, Shape, TupleOf
from tightdp.core.operators import Value
from tightdp.exact.field import Number
from tightdp.exact.weights import may_be_positive, quotient
from tightdp.exact.whole import Whole
from tightdp.language.domains import Domain
from tightdp.language.program import Dataset, Output
from tightdp.logic.bdd import Diagram

__all__ = ["Coin", "InputBit", "OutputBit", "Variable", "WeightedFormula"]


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

    def output_code(self, output: Output) -> int | None:
        """Return the output bits of an output as one number, top level first; None where it is never given."""
        codes: dict[int, int] = {}
        if not self._components(self.shape, output, codes):
            return None
        result = 0
        for component, bit in self.output_bits:
            length = code_length(len(self.values[component]))
            result = result << 1 | codes.get(component, 0) >> (length - 1 - bit) & 1
        return result

    def _components(self, shape: Shape, output: Output, codes: dict[int, int]) -> bool:
        match shape:
            case Leaf(component):
                if isinstance(output, tuple):
                    return False
                values = self.values[component]
                found = next((at for at, value in enumerate(values) if value == output), None)
                codes[component] = found or 0
                return found is not None
            case TupleOf(items):
                return (
                    isinstance(output, tuple)
                    and len(output) == len(items)
                    and all(self._components(item, part, codes) for item, part in zip(items, output, strict=True))
                )
            case Choice(component, alternatives):
                for at, alternative in enumerate(alternatives):
                    trial: dict[int, int] = {}
                    if self._components(alternative, output, trial):
                        codes.update(trial)
                        codes[component] = at
                        return True
        return False

    @cached_property
    def output_shifts(self) -> dict[int, int]:
        """How far to shift the output code for its bit at a level."""
        levels = [level for level, variable in enumerate(self.variables) if isinstance(variable, OutputBit)]
        return {level: len(levels) - 1 - at for at, level in enumerate(levels)}

    @cached_property
    def _positions(self) -> list[list[int]]:
        """For every component, how far to shift the output code for each of its bits, most significant first."""
        positions: list[list[int]] = [[] for _ in self.values]
        total = len(self.output_bits)
        for place, (component, _) in enumerate(self.output_bits):
            positions[component].append(total - 1 - place)
        return positions

    def output(self, code: int) -> Output:
        """Return the output that a code of output bits stands for."""
        return self.shape.decode(self.component_values(code))

    def outputs(self, codes: Sequence[int]) -> Sequence[object]:
        """Return the outputs that codes stand for, decoded component by component for all of them at once."""
        size = (len(self.output_bits) + 7) // 8 or 1
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

    def component_values(self, code: int) -> list[Value]:
        """Return the values of the output components that a code of output bits stands for."""
        chosen = []
        for values, positions in zip(self.values, self._positions, strict=True):
            chosen.append(values[_gathered(code, positions)])
        return chosen


def _code(key: Sequence[int], places: Sequence[int]) -> int:
    """Return a code of which the bytes at some places are given."""
    return sum(byte << 8 * place for byte, place in zip(key, places, strict=True))


def _gathered(code: int, positions: Sequence[int]) -> int:
    """Return the bits at these positions of a code as one number."""
    index = 0
    for shift in positions:
        index = index << 1 | code >> shift & 1
    return index
