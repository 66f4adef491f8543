"""Values that differ by lane, in a row of array elimination that stands for all lanes together.

Such values are shared where they are the same on all lanes, so that rows become equal as they do on a single lane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tightdp.core.operators import NOTHING, Value
from tightdp.exact.lazily import lazily
from tightdp.methods.elimination_columns import MACHINE_BITS, distinct
from tightdp.methods.elimination_nodes import Node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]
else:
    np = lazily("numpy")

__all__ = ["Lanes", "SharedValues", "every", "lanes_with"]


class Lanes:
    """A value that lanes do not agree on: `values[places[i]]` on lane i. There is one object for equal ones."""

    __slots__ = ("places", "values")

    def __init__(self, values: tuple[Value, ...], places: Places) -> None:
        self.values = values
        self.places = places


class SharedValues:
    """Makes values that differ by lane, and computes with them."""

    def __init__(self) -> None:
        self._made: dict[Value, Lanes] = {}

    def shared(self, values: Sequence[Value], places: Places) -> Value:
        """Return the value that is `values[places[i]]` on lane i; a plain value where all lanes have the same."""
        used, first, inverse = distinct(places, len(values))
        number: dict[tuple[type, Value], int] = {}
        of_used = np.empty(len(used), dtype=np.int64)
        for at in np.argsort(first):
            value = values[used[at]]
            of_used[at] = number.setdefault((type(value), value), len(number))
        if len(number) == 1:
            return values[used[0]]
        renamed = of_used[inverse]
        key = tuple(number), renamed.tobytes()
        if key not in self._made:
            self._made[key] = Lanes(tuple(value for _, value in number), renamed)
        return self._made[key]

    def value(self, node: Node, given: Sequence[Value]) -> Value:
        """Return the value of a node from those of its operands."""
        if node.kind == "case" and type(given[0]) is Lanes:
            return self._case(node, given)
        return node.value(given) if node.kind == "case" else self._each(node.value, given)

    def _each(self, function: Callable[[Sequence[Value]], Value], given: Sequence[Value]) -> Value:
        """Return the value of a function on each lane."""
        several = [at for at, value in enumerate(given) if type(value) is Lanes]
        if not several:
            return function(given)
        code, codes = np.zeros_like(given[several[0]].places), 1
        for at in several:
            if codes * len(given[at].values) >= 1 << MACHINE_BITS:
                used, _, code = distinct(code, codes)
                codes = len(used)
            code, codes = code * len(given[at].values) + given[at].places, codes * len(given[at].values)
        _, first, inverse = distinct(code, codes)
        values, arguments = [], list(given)
        for lane in first:
            for at in several:
                arguments[at] = given[at].values[given[at].places[lane]]
            values.append(function(arguments))
        return self.shared(values, inverse)

    def _case(self, node: Node, given: Sequence[Value]) -> Value:
        selector = given[0]
        values: list[Value] = []
        places = selector.places * 0
        for at, selected in enumerate(selector.values):
            taken = node.branch(selected)
            branch = NOTHING if taken is None else given[taken]
            own = selector.places == at
            if type(branch) is Lanes:
                places[own] = branch.places[own] + len(values)
                values += branch.values
            else:
                places[own] = len(values)
                values.append(branch)
        return self.shared(values, places)


def every(value: Value) -> tuple[Value, ...]:
    """Return the values that some lane has."""
    return value.values if type(value) is Lanes else (value,)


def lanes_with(value: Value, wanted: Sequence[Value] | frozenset[Value]) -> Flags:
    """Return which lanes have one of the wanted values; a single flag where all lanes agree."""
    if type(value) is not Lanes:
        return np.asarray(value in wanted)
    return np.array([one in wanted for one in value.values])[value.places]
