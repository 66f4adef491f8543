"""The cells in which noise is drawn that is compared with numbers only: where they are cut, and what that tells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from tightdp.core.between import Between, Cut, Kind, align, asked, cells_of, told_apart, uncut
from tightdp.core.nodes import Draw, Expr
from tightdp.core.operators import Value
from tightdp.core.unmerged import Recut
from tightdp.language.laws import Exponentials, Law


class Cells:
    """The numbers at which draws of a kind are cut (`cuts`), and the further ones at which they are `wanted` to be."""

    def __init__(self) -> None:
        self.cuts: Collection[Cut] = ()
        self.wanted: set[Cut] = set()
        self.used = self.real = self.told = False
        self.shown: set[Expr] = set()
        self.ends: dict[Kind, set[Fraction]] = {}

    def law(self, law: Exponentials, kind: Kind) -> Law:
        """Return a law as one of cells; where that is all that is told of published noise (`told`), of their ends."""
        self.used, self.real = True, self.real or law.real
        cuts = sorted(at for each, at in self.cuts if each == kind)
        if not (self.told and law.real):
            return cells_of(law, cuts, kind, self.wanted)
        ends = {Fraction(law.centre + end) for low, high, _ in law.pieces for end in (low, high) if end is not None}
        self.ends.setdefault(kind, set()).update(ends)
        self.wanted |= {(kind, end) for end in ends.difference(cuts)}
        return told_apart(law, cuts, kind, self.wanted)

    def shown_by(self, expr: Expr) -> Sequence[Value]:
        """Return the values of a scalar that is published, with what is told of noise in place of it.

        Then the number is drawn anew by those who read that: so noise is published once. Raises Uncut, and Recut.
        """
        cells, waiting = cells_in([expr]), [expr]
        for end in {cell.times * end + cell.plus for cell in cells for end in self.ends.get(cell.kind, ())}:
            for cell in cells:  # so that all that is published is told apart at the same numbers
                cell.below(end)
        seen: set[Expr] = set()
        while waiting:
            node = waiting.pop()
            if isinstance(node, Draw) and node in self.shown:
                raise uncut(self.real)
            seen.add(node)
            waiting += [child for child in node.children if child not in seen and cells_in([child])]
        self.shown |= seen
        self.check()
        return [value.shown if isinstance(value, Between) and not value.whole else value for value in expr.values]

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
            if self.told and sum(bool(cells_in([node])) for node in nodes) > 1:
                raise uncut(self.real)
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
