"""The error of an output, which is output minus target, as a node for the text of a core program."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from tightdp.core.nodes import Apply, Const, Expr, Nary

__all__ = ["difference"]


def difference(output: Expr, goal: Expr) -> tuple[Sequence[Expr], Sequence[Expr], list[Expr]]:
    """Return the nodes needed of an output and of its target, and new nodes, the last of which is the difference.

    Of two sums that is one sum, so that a pass over the terms remembers one number. New nodes list no values.
    """
    numbers = count(1 + max(output.serial, goal.serial))
    if not isinstance(output, Nary) or not isinstance(goal, Nary) or {output.operator, goal.operator} != {"sum"}:
        return (output,), (goal,), [Apply(next(numbers), (), "sub", (output, goal))]
    less: list[Expr] = [
        Const(next(numbers), (-term.values[0],))
        if isinstance(term, Const)
        else Apply(next(numbers), (), "neg", (term,))
        for term in goal.operands
    ]
    joined = Nary(next(numbers), (), "sum", (*output.operands, *less))
    return output.operands, goal.operands, [*less, joined]
