"""The cells in which noise is drawn that is compared with numbers only: where they are cut, and what that tells."""

from __future__ import annotations

from collections.abc import Collection

from tightdp.core.between import Between, Cut, Kind, align, asked, cells_of
from tightdp.core.nodes import Expr
from tightdp.core.operators import Value
from tightdp.core.unmerged import Recut
from tightdp.language.laws import Exponentials, Law


class Cells:
    """The numbers at which draws of a kind are cut (`cuts`), and the further ones at which they are `wanted` to be."""

    def __init__(self) -> None:
        self.cuts: Collection[Cut] = ()
        self.wanted: set[Cut] = set()
        self.used = self.real = False

    def law(self, law: Exponentials, kind: Kind) -> Law:
        """Return a law as one of cells."""
        self.used, self.real = True, self.real or law.real
        return cells_of(law, sorted(at for each, at in self.cuts if each == kind), kind, self.wanted)

    def check(self, alike: bool = False) -> None:
        """Raise Recut where what was asked last has no answer with the cuts that there are."""
        if self.wanted:
            raise Recut(alike)

    def check_whole(self, *scalars: Value) -> None:
        """Raise Uncut where of a scalar, known or not, no more than a cell is known, and all of it is needed.

        Raises Recut where the cell has a few integers only.
        """
        for scalar in scalars if self.used else ():
            for value in scalar.values if isinstance(scalar, Expr) else (scalar,):
                for part in value if isinstance(value, tuple) else (value,):
                    if isinstance(part, Between):
                        part.single_out()
        self.check()

    def compare(self, expr: Expr, value: Value) -> None:
        """See to it that a node tells whether it is a number that is known. Raises Recut."""
        if self.used and not isinstance(value, Between):
            for cell in cells_in([expr]):
                asked("eq", cell, value)
            self.check()

    def align(self, nodes: Collection[Expr]) -> None:
        """See to it that cells tell which of some nodes is the largest, but for its place in the cell. Raises Recut."""
        if self.used and cells_in(nodes):
            align([node.values for node in nodes])
            self.check(alike=True)


def cells_in(nodes: Collection[Expr]) -> list[Between]:
    """Return the values of nodes of which no more than a cell is known."""
    return [
        value
        for node in nodes
        if not isinstance(node.values, range)
        for value in node.values
        if isinstance(value, Between)
    ]
