"""How many outputs a program has at least, seen on the program: a joint law of too many is refused before any work."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tightdp.core.nodes import Apply, Case, Const, CoreProgram, Draw, Expr, Nary, reachable
from tightdp.errors import QueryError
from tightdp.methods.pieces import plain

__all__ = ["MOST_LISTED", "check_listable", "least_outputs"]

MOST_LISTED = 1 << 22
"""A law of more outputs is not listed."""
_INJECTIVE = ("not", "neg")
"""Operations that tell all values of their operand apart (`not` that of a truth value)."""
_INJECTIVE_IN_EACH = ("sum", "xor", "bitxor", "add", "sub")
"""Operations that tell all values of any operand apart where the others are given."""


def least_outputs(program: CoreProgram) -> int:
    """Return a number of outputs that the program has on every dataset on which it can be run, often just 1.

    A component that is a draw takes several values whatever was drawn before it. Components count here whose draws
    no component that was counted before depends on: then all their combinations occur.
    """
    if program.evidence or not plain(program.shape):
        return 1
    found, taken = [], set[int]()
    for component in sorted(set(program.components), key=lambda expr: expr.serial):
        own: set[int] = set()
        others: set[int] = set()
        values = _least_values(component, own, others)
        if values > 1 and own.isdisjoint(taken | others):
            found.append(values)
            taken |= _draws(component)
    return prod(found)


def _draws(expr: Expr) -> set[int]:
    return {below.serial for below in reachable([expr]) if isinstance(below, Draw)}


def _least_values(expr: Expr, own: set[int], others: set[int]) -> int:
    """Return how many values a node takes at least over its own draws alone; what it selects by is given.

    The own draws, and those that it selects by, are noted.
    """
    match expr:
        case Draw():
            own.add(expr.serial)
            return min(sum(1 for _, mass in law if mass) for law in expr.laws if law is not None)
        case Case() if _renames(expr):
            return _least_values(expr.selector, own, others)
        case Case():
            others |= _draws(expr.selector)
            return min(_least_values(branch, own, others) for branch in expr.branches)
        case Nary() | Apply(operands=(_, _)) if expr.operator in _INJECTIVE_IN_EACH:
            return _least_of_operands(expr.operands, own, others)
        case Apply(operands=(operand,)) if expr.operator in _INJECTIVE and len(expr.values) == len(operand.values):
            return _least_values(operand, own, others)
        case Apply(operands=(operand, Const())) if expr.operator == "eq" and len(operand.values) == 2:
            return _least_values(operand, own, others)
    return 1


def _least_of_operands(operands: Sequence[Expr], own: set[int], others: set[int]) -> int:
    """Return the same for an operation that is injective in each operand: one varies, and the others are given."""
    best, best_own, best_others = 1, set[int](), set[int]()
    for operand in operands:
        varied, given = set[int](), set[int]()
        values = _least_values(operand, varied, given)
        given |= {serial for other in operands if other is not operand for serial in _draws(other)}
        if values > best and varied.isdisjoint(given):
            best, best_own, best_others = values, varied, given
    own |= best_own
    others |= best_others
    return best


def _renames(expr: Case) -> bool:
    """Whether the branches are constants, all different."""
    return len({branch.values[0] for branch in expr.branches if isinstance(branch, Const)}) == len(expr.branches)


def check_listable(program: CoreProgram) -> None:
    """Raise QueryError where a law certainly has too many outputs to list."""
    outputs = least_outputs(program)
    if outputs > MOST_LISTED:
        raise QueryError(
            f"the output has at least {outputs:,} values, too many to list (at most {MOST_LISTED:,} are)",
            "ask for the probability of one output, probability(x, y), or return a part of the output: "
            "its law is the marginal",
        )
