"""Which outputs the codes of laws stand for: every view of a law reads its codes here, and nowhere else.

Laws are kept by code, a number. A code stands for one output, or for several that are equally likely given the code, as
the orders of shuffled messages are; and an output may be one of the integers that a code for a tail stands for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod

from tightdp.core.nodes import Shape
from tightdp.core.operators import Value
from tightdp.core.valuesets import index_of
from tightdp.exact.field import Number
from tightdp.language.program import Output
from tightdp.language.tails import shown_by

__all__ = ["Codes", "ComponentCodes", "PlaceCodes"]


class Codes(ABC):
    """What codes stand for."""

    @property
    @abstractmethod
    def bits(self) -> int:
        """How many bits the codes have."""

    @property
    @abstractmethod
    def several(self) -> bool:
        """Whether a code may stand for several outputs."""

    @abstractmethod
    def number(self, code: int) -> int:
        """Return how many equally likely outputs a code stands for; a tail of the integers counts as one."""

    @abstractmethod
    def first(self, code: int) -> Output:
        """Return an output that a code stands for, the only one where it stands for one."""

    @abstractmethod
    def every(self, code: int) -> Iterator[Output]:
        """Yield all outputs that a code stands for."""

    def decoded(self, codes: Sequence[int]) -> Sequence[Output]:
        """Return an output for each of some codes."""
        return [self.first(code) for code in codes]

    @abstractmethod
    def find(self, output: Output) -> tuple[int, Number] | None:
        """Return the code that stands for an output, and the output's share of its probability.

        None for an output that is never given.
        """


class ComponentCodes(Codes):
    """Codes of the values of the components of an output, which a shape puts together."""

    def __init__(self, values: Sequence[Sequence[Value]], shape: Shape) -> None:
        self.values = values
        self.shape = shape

    @cached_property
    def index(self) -> list[Mapping[Value, int]]:
        """The place of every value of every component."""
        return list(map(index_of, self.values))

    @abstractmethod
    def component_values(self, code: int) -> list[Value]:
        """Return the values of the components that a code stands for."""

    @abstractmethod
    def code(self, places: Sequence[int]) -> int:
        """Return the code of the values at these places of their components."""

    @property
    def several(self) -> bool:
        return self.shape.several

    def number(self, code: int) -> int:
        return self.shape.number(self.component_values(code)) if self.several else 1

    def first(self, code: int) -> Output:
        return self.shape.decode(self.component_values(code))

    def every(self, code: int) -> Iterator[Output]:
        return self.shape.every(self.component_values(code))

    def find(self, output: Output) -> tuple[int, Number] | None:
        found: dict[int, Value] = {}
        share = self.shape.read(output, lambda component, part: shown_by(part, self.index[component]), found)
        if not share:
            return None
        return self.code([index[found[at]] if at in found else 0 for at, index in enumerate(self.index)]), share


class PlaceCodes(ComponentCodes):
    """Codes whose digits are the places of the components' values."""

    @cached_property
    def bits(self) -> int:
        return (prod(map(len, self.values)) - 1).bit_length()

    def code(self, places: Sequence[int]) -> int:
        code = 0
        for values, place in zip(self.values, places, strict=True):
            code = code * len(values) + place
        return code

    def component_values(self, code: int) -> list[Value]:
        chosen = []
        for values in reversed(self.values):
            code, place = divmod(code, len(values))
            chosen.append(values[place])
        return chosen[::-1]
