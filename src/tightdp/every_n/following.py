"""A builder that follows one run of a program: draws are made, and what is symbolic is compared both ways in turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from typing import NoReturn

from tightdp.core.builder import Builder
from tightdp.core.nodes import Const, Expr
from tightdp.core.operators import operation
from tightdp.every_n.counters import Ranges, cut_off, positive, refuse_cut_off
from tightdp.every_n.deciding import TURN, Run, Untraceable, of_size
from tightdp.every_n.paths import (
    SIZE,
    Affine,
    Symbol,
    Tree,
    Unlisted,
    leaves,
    plus,
    refusal,
    times,
    tree_of,
)
from tightdp.every_n.trees import is_power, is_tree, shorter
from tightdp.language.laws import Law, OnIntegers, TwoSided

_MOST_ARRANGED = 6
_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")
_SAFE = ("add", "sub", "mul", "neg", "pos", "abs", "floor", "ceil", "round", "int", "bitand", "bitor", "bitxor")
_DIVIDING = ("floordiv", "mod", "div")


class FollowingBuilder(Builder):
    """Makes constants of everything but symbolic values; `run` makes the draws and decides comparisons."""

    def __init__(self, watch: Callable[[], None]) -> None:
        super().__init__(watch)
        self.run: Run
        self.refuse: Callable[[], NoReturn]
        self.residue: Callable[[int, int], int | None]
        self.ranges: Ranges = {}
        self.counted: Callable[[Affine], Affine]
        self.unlisted = lambda law: self.symbol(self.run.noise(law))

    def symbol(self, tree: Tree) -> Expr:
        """Return a symbolic value, or a constant where nothing in it is unknown."""
        if isinstance(tree, Affine) and not tree.terms:
            value = tree.constant
            return self.const(value.numerator if value.denominator == 1 else value)
        return Symbol(self._next(), Unlisted(lambda: self._beyond(tree)), tree)

    def draw(
        self, name: str, selector: Expr, laws: Sequence[Law | OnIntegers | None], active: Expr | None = None
    ) -> Expr:
        assert isinstance(selector, Const)
        (law,) = laws
        assert law is not None
        if not isinstance(law, OnIntegers):
            return self.const(self.run.draw(law))
        if not isinstance(law, TwoSided):
            raise Untraceable
        return self.symbol(self.run.noise(law))

    def shuffled(self, items: Sequence[Expr]) -> tuple[Expr, ...]:
        if len(items) > _MOST_ARRANGED:
            raise refusal("it shuffles too many values at once", "ask for one n")
        orders = tuple(dict.fromkeys(permutations(items)))
        return orders[self.run.draw(tuple((at, Fraction(1, len(orders))) for at in range(len(orders))))]

    def add(self, left: Expr, right: Expr) -> Expr:
        if isinstance(left, Symbol) or isinstance(right, Symbol):
            return self._operated("add", left, right)
        return super().add(left, right)

    def sum(self, operands: Sequence[Expr]) -> Expr:
        total = self.const(0)
        for operand in operands:
            total = self.add(total, operand)
        return total

    def extremum(self, operator: str, operands: Sequence[Expr]) -> Expr:
        best = operands[0]
        for operand in operands[1:]:
            better = self.compared("lt", *((operand, best) if operator == "min" else (best, operand)))
            best = operand if better else best
        return best

    def equals(self, expr: Expr, value: object) -> Expr:
        if isinstance(expr, Symbol):
            return self.const(self.compared("eq", expr, self.const(value)))
        return super().equals(expr, value)

    def apply(self, operator: str, *operands: Expr) -> tuple[Expr | None, Expr | None]:
        if not any(isinstance(operand, Symbol) for operand in operands):
            return super().apply(operator, *operands)
        if operator in _COMPARED:
            return self.const(self.compared(operator, *operands)), None
        if operator == "bool":
            return self.const(self.compared("ne", operands[0], self.const(0))), None
        return self._operated(operator, *operands), None

    def _beyond(self, *trees: Tree) -> NoReturn:
        """Refuse what is not followed; what grows with the records is taken as it is instead."""
        for leaf in (leaf for tree in trees for leaf in leaves(tree)):
            if isinstance(leaf, Affine):
                self.run.check(leaf.terms)
                if leaf.terms and of_size(leaf.terms):
                    raise refusal("n decides what happens here", "ask for one n, or publish n only")
        self.refuse()

    def compared(self, operator: str, left: Expr, right: Expr) -> bool:
        """Decide a comparison."""
        if isinstance(left, Const) and isinstance(right, Const):
            return bool(operation(operator)(left.values[0], right.values[0]))
        ours, theirs = tree_of(left), tree_of(right)
        if operator in ("eq", "ne"):
            return self._same(ours, theirs) == (operator == "eq")
        if operator in ("lt", "gt"):
            return self._above(theirs, ours, True) if operator == "lt" else self._above(ours, theirs, True)
        return self._above(theirs, ours, False) if operator == "le" else self._above(ours, theirs, False)

    def _same(self, ours: Tree, theirs: Tree) -> bool:
        if not (isinstance(ours, Affine) or isinstance(theirs, Affine)) or is_tree(ours) or is_tree(theirs):
            return self.run.answer(("eq", ours, theirs))
        if isinstance(ours, str) or isinstance(theirs, str) or ours is None or theirs is None:
            return False
        return self._above(ours, theirs, False) and not self._above(ours, theirs, True)

    def _above(self, ours: Tree, theirs: Tree, strictly: bool) -> bool:
        """Decide ours >= theirs, or >."""
        if isinstance(ours, Affine) and isinstance(theirs, Affine):
            form = self.counted(plus(ours, theirs, -1)) if self.run.inside else plus(ours, theirs, -1)
            if not form.terms:
                return form.constant > 0 if strictly else form.constant >= 0
            if cut_off(form):
                return positive(form, self.ranges)
            if self.run.clean(form):
                return self.run.at_least(form, strictly)
            return self.run.answer(("gt" if strictly else "ge", form))
        for each in (ours, theirs):
            if isinstance(each, str) or each is None:
                self._beyond(ours, theirs)
        return self.run.answer(("gt" if strictly else "ge", ours, theirs))

    def _operated(self, operator: str, *operands: Expr) -> Expr:
        trees = [tree_of(operand) for operand in operands]
        forms = [tree for tree in trees if isinstance(tree, Affine)]
        if len(forms) == len(trees) and (made := self._affine(operator, *forms)) is not None:
            return self.symbol(made)
        refuse_cut_off(*forms)
        divisor = trees[-1]
        safe = operator in _SAFE or (operator in _DIVIDING and isinstance(divisor, Affine) and _is_not_zero(divisor))
        safe = safe or is_power(operator, trees)
        if not safe or any(isinstance(tree, str) or tree is None for tree in trees):
            self._beyond(*trees)
        return self.symbol(shorter(operator, *trees))

    def _affine(self, operator: str, one: Affine, other: Affine | None = None) -> Affine | None:
        """Return what an operation makes of affine forms, where that is one."""
        match operator:
            case "pos":
                return one
            case "neg":
                return times(one, -1)
            case "abs" if self.run.clean(one):
                return one if self._above(one, Affine((), Fraction(0)), False) else times(one, -1)
            case "int" | "floor" | "ceil" | "round" | "fraction" if other is None and one.whole():
                return one
            case "int" | "floor" | "ceil" | "round" if other is None and (rest := self.rest(one, 2)) is not None:
                down = operator == "int" and self._above(one, Affine((), Fraction(0)), False)
                name = "floor" if down else "ceil" if operator == "int" else operator
                return plus(one, Affine((), Fraction(operation(name)(rest.constant)) - rest.constant))
            case "add" | "sub" if other is not None:
                return plus(one, other, 1 if operator == "add" else -1)
            case "mul" if other is not None and not other.terms:
                return times(one, other.constant)
            case "mul" if other is not None and not one.terms:
                return times(other, one.constant)
            case "div" | "fraction" if other is not None and not other.terms and other.constant:
                return times(one, 1 / other.constant)
            case "mod" | "floordiv" if other is not None and not other.terms and other.constant.denominator == 1:
                rest = self.rest(one, int(other.constant))
                if rest is not None:
                    return rest if operator == "mod" else times(plus(one, rest, -1), 1 / other.constant)
        return None

    def rest(self, form: Affine, divisor: int) -> Affine | None:
        """Return what is left of sums, and of the index of a record, modulo a number; None where that is not known."""
        if not divisor:
            return None
        below = math.lcm(form.constant.denominator, *(factor.denominator for _, factor in form.terms))
        total, modulus = int(form.constant * below), divisor * below
        for (kind, token), factor in form.terms:
            if factor * below % modulus:
                divided = self.run.inside if kind == "index" else kind == "sum" and self.run.clean(form)
                of = TURN if kind == "index" else token
                rest = self.residue(of, abs(modulus)) if divided else self.run.rest((kind, token), abs(modulus))
                if rest is None:
                    return None
                total += int(factor * below) * rest
        return Affine((), Fraction(total % modulus, below))


def _is_not_zero(divisor: Affine) -> bool:
    return divisor.constant != 0 if not divisor.terms else divisor == Affine(SIZE, Fraction(0))
