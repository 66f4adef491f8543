"""The columns of elimination in arrays: the values of a node by row, as codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tightdp.core.operators import NOTHING, Value
from tightdp.exact.lazily import lazily

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
else:
    np = lazily("numpy")

__all__ = ["MACHINE_BITS", "Column", "combinations", "distinct"]

MACHINE_BITS = 62
"""Integers of up to this many bits are kept in machine words."""
_SORTED = 8
"""Codes are made unique by sorting where there are more than this many possible codes per entry."""


class Column:
    """The values of a node by row: of row i, `values[codes[i]]`, and NOTHING where the code is their number.

    Codes are those of the places `base` of `table`, or `base` itself without a table: so functions of one column are
    computed on the table alone. Without `base` all rows have the one value.
    """

    __slots__ = ("_codes", "base", "table", "values")

    def __init__(self, values: Sequence[Value], base: Codes | None = None, table: Codes | None = None) -> None:
        self.values, self.base, self.table = values, base, table
        self._codes: Codes | None = None

    @property
    def constant(self) -> bool:
        """Whether all rows have the one value."""
        return self.base is None

    @property
    def codes(self) -> Codes:
        """The codes by row; a constant has the code 0 on every row."""
        if self._codes is None:
            if self.base is None:
                return np.array(0)
            self._codes = self.base if self.table is None else self.table.take(self.base)
        return self._codes

    @property
    def radix(self) -> int:
        """How many codes there are."""
        return len(self.values) + 1

    @property
    def places(self) -> int:
        """The size of the range of `base`."""
        return self.radix if self.table is None else len(self.table)

    def value(self, row: int) -> Value:
        """Return the value of a row."""
        code = int(self.codes[() if self.base is None else row])
        return self.values[code] if code < len(self.values) else NOTHING

    def at(self, rows: Codes) -> Column:
        """Return the column of some rows."""
        return self if self.base is None else Column(self.values, self.base[rows], self.table)


def combinations(columns: Sequence[Column], size: int) -> tuple[Sequence[Codes], Codes]:
    """Return the distinct combinations of codes over the rows, fewer than `size`, and the index of each row's own."""
    codes, radices = [column.codes for column in columns], [column.radix for column in columns]
    if size < 1 << MACHINE_BITS:
        used, _, inverse = distinct(np.ravel_multi_index(codes, radices), size)
        return np.unravel_index(used, radices), inverse
    together, inverse = np.unique(codes, axis=1, return_inverse=True)
    return list(together), inverse.reshape(-1)


def distinct(codes: Codes, number: int) -> tuple[Codes, Codes, Codes]:
    """Return the codes that occur, all less than `number`, the first place of each, and the index of every entry's."""
    if number > _SORTED * len(codes):
        used, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        return used, first, inverse
    first = np.full(number, -1)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    used = np.flatnonzero(first >= 0)
    place = np.empty(number, dtype=np.int64)
    place[used] = np.arange(len(used))
    return used, first[used], place[codes]
