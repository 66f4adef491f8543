"""A builder that follows one run of a program: draws are made, and what is symbolic is compared both ways in turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any, NoReturn, Protocol

from tightdp.core.builder import Builder
from tightdp.core.nodes import Const, Expr
from tightdp.core.operators import operation
from tightdp.every_n.counters import Ranges, cut_off, positive, refuse_cut_off
from tightdp.every_n.edges import finite
from tightdp.every_n.paths import (
    REAL,
    SIZE,
    Affine,
    Bounds,
    Noise,
    Symbol,
    Terms,
    Tree,
    Unlisted,
    leaves,
    normal,
    plus,
    refusal,
    support,
    times,
    tree_of,
)
from tightdp.every_n.trees import is_tree, shorter
from tightdp.exact.field import Number
from tightdp.language.laws import Exponentials, Law, OnIntegers, TwoSided
from tightdp.limits.calibrated import FEW_VALUES

_MOST_DRAWS = 200
_MOST_ARRANGED = 6
EITHER_WAY: Law = ((0, Fraction(1)), (1, Fraction(1)))
_EITHER: Law = ((0, Fraction(1, 2)), (1, Fraction(1, 2)))
_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")
_SAFE = ("add", "sub", "mul", "neg", "pos", "abs", "floor", "ceil", "round", "int", "bitand", "bitor", "bitxor")
_DIVIDING = ("floordiv", "mod", "div")
_TOLD = ("told", "sum")
TURN = -1
"""The token of the index of the record at hand."""
MARKED, PASSED = "marked", "passed"
"""Kinds of symbols: the index of an earlier record with a mark, and of one without."""
_INDEXES = ("index", MARKED, PASSED)
PLACED = ("told", *_INDEXES)


class Untraceable(Exception):
    """Noise is used in a way that is not followed for all integers at once."""


class Touched(Exception):
    """More is asked of something that grows with the records than what is added to it."""

    def __init__(self, token: int, asked: str = "", modulus: int = 0) -> None:
        super().__init__()
        self.token, self.asked, self.modulus = token, asked, modulus


class Met(Exception):
    """A run comes to where an earlier one was: what follows is known."""


class Meets(Protocol):
    """Where runs meet."""

    def reached(self, choices: Choices, key_of: Callable[[], Any], gate: bool = False) -> None:
        """Note where a run is. Raises Met where an earlier one was there."""
        ...


class Choices:
    """The choices of a run in order: those that are given, then the first of every law."""

    def __init__(self, past: Sequence[tuple[Law, int]] = (), meeting: Meets | None = None) -> None:
        self._past, self.meeting = past, meeting
        self.made: list[tuple[Law, int]] = []
        self.node, self.looked = 0, 0
        """Where the run was last, and how many choices it had made there."""
        self.weight: Number = Fraction(1)
        """How likely what was drawn since then is."""

    def choose(self, law: Law) -> int:
        """Return the place of the outcome."""
        at = len(self.made)
        self.made.append(self._past[at] if at < len(self._past) else (law, 0))
        if len(self.made) > _MOST_DRAWS:
            raise refusal("one run makes too many draws for one record", "bound the loops, or ask for one n")
        return self.made[-1][1]

    def next(self) -> list[tuple[Law, int]] | None:
        """Return the choices of the next run; None after the last."""
        past = list(self.made)
        while past and past[-1][1] + 1 == len(past[-1][0]):
            past.pop()
        if past:
            past[-1] = past[-1][0], past[-1][1] + 1
        return past or None


class Run:
    """What happens on one run of a part of the program: before the records, at one of them, or after them.

    `kind` names the noise of this part; `open_` says whether sums over the records may be compared in it.
    """

    def __init__(
        self, kind: str, choices: Choices, inside: bool, sums: bool, opened: frozenset[int] = frozenset()
    ) -> None:
        self.kind, self.choices, self.inside, self.sums = kind, choices, inside, sums
        self._opened = opened
        """The sums that are compared while records are gone through."""
        self.probability: Number = Fraction(1)
        """How likely its draws are, once all runs are known."""
        self.noises: list[Noise] = []
        self.bounds: Bounds = {}
        self.asked: list[tuple[Tree, bool]] = []
        self._ways = 0

    def draw(self, law: Law) -> Any:
        """Return an outcome of a finite law."""
        if len(law) == 1:
            return law[0][0]
        outcome, probability = law[self.choices.choose(law)]
        self.choices.weight = self.choices.weight * probability
        return outcome

    def noise(self, law: Noise) -> Affine:
        """Return symbolic noise."""
        kind = REAL * (isinstance(law, Exponentials) and law.real) + self.kind
        terms: Terms = (((kind, len(self.noises)), Fraction(1)),)
        low, high = support(law)
        if finite(low) or finite(high):
            self.bounds[terms] = low, high
        self.noises.append(replace(law, centre=0))
        return Affine(terms, Fraction(law.centre))

    def clean(self, form: Affine) -> bool:
        """Whether comparisons of a form are followed, for all integers that it may be."""
        return not any(kind in PLACED or (kind == "sum" and not self.sums) for (kind, _), _ in form.terms)

    def at_least(self, form: Affine, strictly: bool) -> bool:
        """Decide form >= 0, or > 0: as earlier comparisons on this run imply, or else both ways in turn."""
        terms, value, upward = normal(form, strictly)
        self.check(terms)
        below = value if form.real() else value - 1
        low, high = self.bounds.get(terms, (1 if terms == SIZE else -math.inf, math.inf))
        if low >= value or high <= below:
            return (low >= value) == upward
        if form.real() and not self._spread(terms):
            raise Untraceable
        if _of_size(terms):
            yes = self._of_n(("ge", Affine(terms, Fraction(-value))))
            self.bounds[terms] = (value, high) if yes else (low, below)
            return yes == upward
        self._ways += 1
        if self._ways > FEW_VALUES:
            raise Untraceable
        if self.choices.choose(EITHER_WAY):
            self.bounds[terms] = value, high
            return upward
        self.bounds[terms] = low, below
        return not upward

    def _spread(self, terms: Terms) -> bool:
        """Whether a combination with real numbers has any one value with probability 0, as densities have.

        It has where noise is in it that only this run has, or nothing but what was drawn before the records, or nothing
        but what one pass holds (which has a density; see `Freezer`).
        """
        reals = {
            (kind, at // 1000 if kind == REAL + "slot" else -1) for (kind, at), _ in terms if kind.startswith(REAL)
        }
        return any(kind == REAL + self.kind for kind, _ in reals) or len(reals) == 1

    def check(self, terms: Terms) -> None:
        """Refuse to look at what grows, or at the place of a record, while records are gone through."""
        refuse_cut_off(Affine(terms, Fraction(0)))
        for (kind, at), _ in terms:
            if kind in ("stale", *_INDEXES) and (self.inside or kind == "stale"):
                raise refusal("the index of a record decides what happens here", "publish the index only")
            if self.inside and kind in _TOLD and not (kind == "sum" and at in self._opened):
                raise Touched(at)

    def answer(self, tree: Tree) -> bool:
        """Decide what is a function of something published: both ways in turn, and that is published too."""
        kinds = set()
        for leaf in leaves(tree):
            if isinstance(leaf, Affine):
                self.check(leaf.terms)
                kinds |= {kind for (kind, _), _ in leaf.terms}
            elif self.inside and isinstance(leaf, int):
                raise Touched(leaf)
            else:
                kinds.add("told")
        for known, answer in self.asked:
            if known == tree:
                return answer
        return self._of_n(tree) if kinds <= {"size"} else self.either(tree)

    def _of_n(self, tree: Tree) -> bool:
        """Decide what n says, after the records: neighbours have as many, so that the answer may be published."""
        if self.kind != "post":
            raise refusal("n decides what happens here", "ask for one n, or decide it after the records")
        return self.either(tree)

    def either(self, tree: Tree) -> bool:
        """Go both ways in turn, each with probability 1/2, and publish which."""
        answer = bool(self.choices.choose(_EITHER))
        self.choices.weight = self.choices.weight / 2
        self.asked.append((tree, answer))
        return answer


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
                if leaf.terms and _of_size(leaf.terms):
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
            case "add" | "sub" if other is not None:
                return plus(one, other, 1 if operator == "add" else -1)
            case "mul" if other is not None and not other.terms:
                return times(one, other.constant)
            case "mul" if other is not None and not one.terms:
                return times(other, one.constant)
            case "div" if other is not None and not other.terms and other.constant:
                return times(one, 1 / other.constant)
            case "mod" | "floordiv" if other is not None and not other.terms and other.constant.denominator == 1:
                rest = self._rest(one, int(other.constant))
                if rest is not None:
                    return rest if operator == "mod" else times(plus(one, rest, -1), 1 / other.constant)
        return None

    def _rest(self, form: Affine, divisor: int) -> Affine | None:
        """Return what is left of sums, and of the index of a record, modulo a number; None where that is not known."""
        if not divisor:
            return None
        below = math.lcm(form.constant.denominator, *(factor.denominator for _, factor in form.terms))
        total, modulus = int(form.constant * below), divisor * below
        for (kind, token), factor in form.terms:
            if factor * below % modulus:
                token = TURN if kind == "index" else token
                divided = self.run.inside if kind == "index" else kind == "sum" and self.run.clean(form)
                rest = self.residue(token, abs(modulus)) if divided else None
                if rest is None:
                    return None
                total += int(factor * below) * rest
        return Affine((), Fraction(total % modulus, below))


def _is_not_zero(divisor: Affine) -> bool:
    return divisor.constant != 0 if not divisor.terms else divisor == Affine(SIZE, Fraction(0))


def _of_size(terms: Terms) -> bool:
    return all(kind == "size" for (kind, _), _ in terms)
