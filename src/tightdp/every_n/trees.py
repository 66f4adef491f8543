"""Functions of unknown numbers that are no affine forms, as trees; constants that follow each other are one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.core.operators import operation
from tightdp.every_n.paths import Affine, Odds, Tree, plus, power, times
from tightdp.exact.field import ExpNumber, Number, exp

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


# powers, as the weights of a choice

_Product: TypeAlias = tuple[Number, dict[Number, Affine]]
"""A factor, and bases with exponents."""


def is_power(operator: str, trees: Sequence[Tree]) -> bool:
    """Whether an operation is a power of a positive number that is known, with an exponent of integers that are not."""
    *base, exponent = trees
    if not isinstance(exponent, Affine) or exponent.real():
        return False
    return operator == "exp" or (operator == "pow" and exponent.whole() and (_positive(base[0]) or 0) > 0)


def odds_of(weights: Sequence[Tree]) -> dict[int, tuple[Odds, ...]]:
    """Return for each outcome that is possible by how much others are likelier; none for weights of another kind."""
    found = [_product(weight) for weight in weights]
    products = {at: each for at, each in enumerate(found) if each is not None and each[0]}
    if None in found:
        return {}
    return {
        at: tuple(_odds(_times(other, mine, -1)) for n, other in products.items() if n != at)
        for at, mine in products.items()
    }


def _odds(product: _Product) -> Odds:
    factor, powers = product
    exponents = sorted(((form.terms, base) for base, form in powers.items()), key=lambda each: each[0])
    return Odds(factor, tuple((base, terms) for terms, base in exponents)).put(lambda form: form)


def _product(tree: Tree) -> _Product | None:
    """Return a tree that is positive, or 0, as a product of powers; None for others."""
    known = _positive(tree)
    if known is not None:
        return known, {}
    match tree:
        case ("exp", Affine() as exponent):
            return power(exp(1), exponent.constant), {exp(1): Affine(exponent.terms, Fraction(0))}
        case ("pow", base, Affine() as exponent) if known_base := _positive(base):
            return power(known_base, exponent.constant), {known_base: Affine(exponent.terms, Fraction(0))}
        case ("mul" | "div", one, other):
            ours, theirs = _product(one), _product(other)
            if ours is not None and theirs is not None and (tree[0] == "mul" or theirs[0]):
                return _times(ours, theirs, 1 if tree[0] == "mul" else -1)
    return None


def _times(one: _Product, other: _Product, sign: int) -> _Product:
    """Return the product, or the quotient."""
    factor = one[0] * other[0] if sign > 0 else one[0] / other[0]
    powers = dict(one[1])
    for base, exponent in other[1].items():
        powers[base] = plus(powers.get(base, Affine((), Fraction(0))), exponent, sign)
    return factor, powers


def _positive(tree: Tree) -> Number | None:
    """Return a number that is known and not below 0; None for others."""
    value = tree.constant if _is_constant(tree) else tree
    return value if isinstance(value, (Fraction, ExpNumber)) and value >= 0 else None


def _is_constant(tree: Tree) -> bool:
    return isinstance(tree, Affine) and not tree.terms


def _is_sum(tree: Tree) -> bool:
    return is_tree(tree) and tree[0] == "add" and _is_constant(tree[2])


def _constant(value: Any) -> Affine:
    return Affine((), Fraction(value))


def _number(tree: Affine) -> Any:
    value = tree.constant
    return value.numerator if value.denominator == 1 else value
