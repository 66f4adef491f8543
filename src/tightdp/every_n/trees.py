"""Functions of unknown numbers that are no affine forms, as trees; constants that follow each other are one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightdp.core.operators import operation
from tightdp.every_n.paths import Affine, Tree, plus, times

_NEUTRAL = {"add": 0, "mul": 1, "bitor": 0, "bitxor": 0}
"""Operations in which the order does not count, and what changes nothing."""


def is_tree(tree: Tree) -> bool:
    """Whether a value is an operation with its operands."""
    return isinstance(tree, tuple) and not isinstance(tree, Affine)


def shorter(operator: str, *trees: Tree) -> Tree:
    """Return an operation as a tree, in which constants that follow each other are one.

    So a number to which many draws are added, one after the other, is written alike wherever it is the same.
    """
    if len(trees) != 2:
        return operator, *trees
    one, other = trees
    if operator == "sub" and _is_constant(other):
        operator, other = "add", times(other, -1)
    if operator in _NEUTRAL:
        if _is_constant(one):
            one, other = other, one
        if _is_constant(other):
            if is_tree(one) and one[0] == operator and _is_constant(one[2]):
                one, other = one[1], _constant(operation(operator)(_number(one[2]), _number(other)))
            if other.constant == _NEUTRAL[operator]:
                return one
            if operator == "add" and isinstance(one, Affine):
                return plus(one, other)
    if operator == "mod" and _is_constant(other) and other.constant.denominator == 1 and other.constant > 0:
        apart, added = (one[1], one[2]) if _is_sum(one) else (one, _constant(0))
        if is_tree(apart) and apart[0] == "mod" and apart[2] == other:
            return shorter("mod", shorter("add", apart[1], added), other)
        if isinstance(apart, Affine):
            one = apart._replace(constant=apart.constant % other.constant)
        elif _is_sum(one):
            one = shorter("add", apart, _constant(added.constant % other.constant))
    return operator, one, other


def _is_constant(tree: Tree) -> bool:
    return isinstance(tree, Affine) and not tree.terms


def _is_sum(tree: Tree) -> bool:
    return is_tree(tree) and tree[0] == "add" and _is_constant(tree[2])


def _constant(value: Any) -> Affine:
    return Affine((), Fraction(value))


def _number(tree: Affine) -> Any:
    value = tree.constant
    return value.numerator if value.denominator == 1 else value
