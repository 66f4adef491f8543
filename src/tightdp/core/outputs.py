"""What an output is made of: its shape over the values of components, and the codes by which laws keep outputs.

Laws are kept by code, a number, and every view of a law reads its codes here. A code stands for one output, or for
several that are equally likely given the code, as the orders of shuffled messages are; and an output may be one of the
integers that a code for a tail stands for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import factorial, prod
from typing import Any

from tightdp.core.operators import Value
from tightdp.core.valuesets import index_of
from tightdp.exact.field import Number
from tightdp.language.outputs import Output
from tightdp.language.tails import shown_by

Reader = Callable[[int, Output], tuple[Value, Number] | None]
"""Gives the value by which a component (by number) shows part of an output, and what share of its probability that
part has; None where it never shows it."""


@dataclass(frozen=True)
class Shape:
    """How an output is put together from the values of components, and found again from an output."""

    @property
    def several(self) -> bool:
        """Whether values of the components may stand for several outputs, equally likely given these values."""
        return False

    def decode(self, values: Sequence[Value]) -> Output:
        """Return the output whose components have these values, the first one where they stand for several."""
        raise NotImplementedError

    def decode_rows(self, columns: Sequence[Sequence[object]], rows: int) -> Sequence[object]:
        """Return the outputs of so many rows; a column holds the values of one component."""
        return [self.decode([column[row] for column in columns]) for row in range(rows)]

    def every(self, values: Sequence[Value]) -> Iterator[Output]:
        """Yield all outputs for which these values stand."""
        yield self.decode(values)

    def number(self, values: Sequence[Value]) -> int:
        """Return how many outputs that are."""
        return 1

    def read(self, output: Output, reader: Reader, found: dict[int, Value]) -> Number:
        """Note the values of components that give an output; return its share of their probability, 0 for none."""
        raise NotImplementedError

    def rest(self, found: dict[int, Value]) -> None:
        """Note the values that the components have where another shape is taken."""


@dataclass(frozen=True)
class Leaf(Shape):
    """A scalar: the value of one component, which is `unused` where another shape is taken."""

    component: int
    unused: Value = None

    def decode(self, values: Sequence[Value]) -> Output:
        return values[self.component]

    def decode_rows(self, columns: Sequence[Sequence[object]], rows: int) -> Sequence[object]:
        return columns[self.component]

    def read(self, output: Output, reader: Reader, found: dict[int, Value]) -> Number:
        if isinstance(output, tuple) or (known := reader(self.component, output)) is None:
            return Fraction(0)
        found[self.component], share = known
        return share

    def rest(self, found: dict[int, Value]) -> None:
        found[self.component] = self.unused


@dataclass(frozen=True)
class TupleOf(Shape):
    """A tuple."""

    items: tuple[Shape, ...]

    @cached_property
    def several(self) -> bool:
        return any(item.several for item in self.items)

    def decode(self, values: Sequence[Value]) -> Output:
        return tuple(item.decode(values) for item in self.items)

    def decode_rows(self, columns: Sequence[Sequence[object]], rows: int) -> Sequence[object]:
        parts = [item.decode_rows(columns, rows) for item in self.items]
        return list(zip(*parts, strict=True)) if parts else [()] * rows

    def every(self, values: Sequence[Value]) -> Iterator[Output]:
        return product(*(item.every(values) for item in self.items)) if self.several else super().every(values)

    def number(self, values: Sequence[Value]) -> int:
        return prod(item.number(values) for item in self.items) if self.several else 1

    def read(self, output: Output, reader: Reader, found: dict[int, Value]) -> Number:
        share: Number = Fraction(isinstance(output, tuple) and len(output) == len(self.items))
        for item, part in zip(self.items, output, strict=True) if share else ():
            share = share and share * item.read(part, reader, found)
        return share

    def rest(self, found: dict[int, Value]) -> None:
        for item in self.items:
            item.rest(found)


@dataclass(frozen=True)
class Choice(Shape):
    """One of several shapes; the component says which, and is `unused` where another shape is taken.

    No output has two of them: it would have two codes.
    """

    component: int
    alternatives: tuple[Shape, ...]
    unused: Value = None

    def __post_init__(self) -> None:
        forms = {len(each.items) if isinstance(each, TupleOf) else type(each) for each in self.alternatives}
        assert len(forms) == len(self.alternatives)

    def decode(self, values: Sequence[Value]) -> Output:
        return self.alternatives[values[self.component]].decode(values)

    def read(self, output: Output, reader: Reader, found: dict[int, Value]) -> Number:
        for at, alternative in enumerate(self.alternatives):
            trial: dict[int, Value] = {}
            if reader(self.component, at) is not None and (share := alternative.read(output, reader, trial)):
                self.rest(found)
                found.update({**trial, self.component: at})
                return share
        return Fraction(0)

    def rest(self, found: dict[int, Value]) -> None:
        found[self.component] = self.unused
        for alternative in self.alternatives:
            alternative.rest(found)


@dataclass(frozen=True)
class Arrangement(Shape):
    """A tuple that is one of all arrangements of a multiset, each equally likely given the counts.

    Components `first`, `first + 1`, ... count the values; what is left over of `length` are copies of the last value.
    """

    first: int
    values: tuple[Any, ...]
    length: int

    @property
    def several(self) -> bool:
        return True

    def counts(self, components: Sequence[Value]) -> list[int]:
        """Return how often each value occurs."""
        known = [components[self.first + at] for at in range(len(self.values) - 1)]
        return [*known, self.length - sum(known)]

    def decode(self, values: Sequence[Value]) -> Output:
        counts = self.counts(values)
        return tuple(value for value, count in zip(self.values, counts, strict=True) for _ in range(count))

    def every(self, values: Sequence[Value]) -> Iterator[tuple[Value, ...]]:
        """Yield all outputs with these counts, in the order of the values."""
        left = self.counts(values)

        def arrange(done: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
            if len(done) == self.length:
                yield done
            for at, value in enumerate(self.values):
                if left[at]:
                    left[at] -= 1
                    yield from arrange((*done, value))
                    left[at] += 1

        return arrange(())

    def number(self, values: Sequence[Value]) -> int:
        return factorial(self.length) // prod(map(factorial, self.counts(values)))

    def read(self, output: Output, reader: Reader, found: dict[int, Value]) -> Number:
        if not isinstance(output, tuple) or len(output) != self.length:
            return Fraction(0)
        shown = [shown_by(item, self.values) for item in output]
        items = [known[0] for known in shown if known]
        counts = list(map(items.count, self.values))
        if None in shown or any(reader(self.first + at, count) is None for at, count in enumerate(counts[:-1])):
            return Fraction(0)
        found.update((self.first + at, count) for at, count in enumerate(counts[:-1]))
        share = prod((known[1] for known in shown if known), start=Fraction(1))
        return share * Fraction(prod(map(factorial, counts)), factorial(self.length))


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
