"""Which noise on all integers the values of a node consist of: sums and differences of draws, with a bounded rest."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from tightdp.core.nodes import Apply, Case, Const, Expr, Nary, Shuffled, children
from tightdp.core.operators import is_number, symbol_of
from tightdp.core.unbounded.windows import FARTHEST, is_far
from tightdp.errors import LanguageError

__all__ = ["Forms", "Rest", "Terms", "Unmerged", "outside", "scaled", "sum_of"]

Terms: TypeAlias = frozenset[tuple[int, Any]]
"""Draws with their coefficients."""
Rest: TypeAlias = tuple[Any, Any]
"""The least and the greatest value of what is added to the draws."""

_MOST_FACTORS = 16
_ALONE: Terms = frozenset()


class Unmerged(LanguageError):
    """A use of noise on all integers that has no exact finite form here."""


def outside(what: str, hint: str = "clamp it first, as in max(lo, min(value, hi))") -> Unmerged:
    """Return the error for such a use."""
    return Unmerged(f"noise on all integers {what}", hint)


class Forms:
    """The forms of nodes, each computed once. Raises LanguageError where a value is none of these forms.

    With `periodic`, quotients and remainders by constants are taken for what they are but for a part that is bounded,
    and `period` is a multiple of all these constants.
    """

    def __init__(self, draws: Iterable[Expr], periodic: bool = False) -> None:
        self.periodic, self.period = periodic, 1
        self._place = {draw.serial: place for place, draw in enumerate(draws)}
        self._known: dict[int, dict[Terms, Rest]] = {}

    def of(self, expr: Expr) -> dict[Terms, Rest]:
        """Return what a node may be, with the range of the rest of each; nothing where it is no number."""
        stack = [expr]
        while stack:
            node = stack[-1]
            below = [] if not is_far(node) else [child for child in children(node) if child.serial not in self._known]
            if below and node.serial not in self._place:
                stack.extend(below)
                continue
            stack.pop()
            if node.serial not in self._known:
                self._known[node.serial] = self._forms(node)
        return self._known[expr.serial]

    def _forms(self, expr: Expr) -> dict[Terms, Rest]:
        if expr.serial in self._place:
            return {frozenset([(self._place[expr.serial], 1)]): (0, 0)}
        if not is_far(expr):
            ends = (expr.values[0], expr.values[-1]) if expr.numeric else expr.values
            numbers = [value for value in ends if is_number(value)]
            return {_ALONE: (min(numbers), max(numbers))} if numbers else {}
        match expr:
            case Case():
                if is_far(expr.selector):
                    raise outside("picks one of several values")
                return _united([self.of(branch) for branch in expr.branches])
            case Nary(operator="sum"):
                total: dict[Terms, Rest] = {_ALONE: (0, 0)}
                for operand in expr.operands:
                    total = sum_of(total, self.of(operand))
                return total
            case Nary(operator="min" | "max"):
                return _united([self.of(operand) for operand in expr.operands])
            case Shuffled():
                return _united([self.of(item) for item in expr.items])
            case Apply():
                return self.applied(expr.operator, expr.operands)
            case Const():
                raise outside("is taken value by value")
        raise outside("is used in a way that is not known to be exact")

    def applied(self, operator: str, operands: Sequence[Expr]) -> dict[Terms, Rest]:
        """Return what an operation on nodes gives. Raises LanguageError where that is none of these forms."""
        forms = [self.of(operand) for operand in operands]
        match operator:
            case "add":
                return sum_of(*forms)
            case "sub":
                return sum_of(forms[0], scaled(forms[1], -1))
            case "neg":
                return scaled(forms[0], -1)
            case "abs":
                return _united([forms[0], scaled(forms[0], -1)])
            case "min" | "max":
                return _united(forms)
            case "pos" | "fraction":
                return forms[0]
            case "int" | "floor" | "ceil" | "round" if len(forms) == 1:
                self._check_rounding(operator, operands[0], forms[0])
                return {terms: (low - 1, high + 1) for terms, (low, high) in forms[0].items()}
            case "div" if isinstance(operands[1], Const) and isinstance(by := operands[1].values[0], (int, Fraction)):
                return scaled(forms[0], 1 / Fraction(by)) if by else forms[0]
            case "mod" | "floordiv" if self.periodic and isinstance(operands[1], Const):
                (by,) = operands[1].values
                if isinstance(by, int) and by > 0:
                    parts = (Fraction(times).denominator for terms in forms[0] for _, times in terms)
                    self.period = math.lcm(self.period, by * math.lcm(*parts))  # so that (z // 2) % 2 asks for z % 4
                    if operator == "mod":
                        return {_ALONE: (0, by)}
                    return {terms: (low - 1, high) for terms, (low, high) in scaled(forms[0], Fraction(1, by)).items()}
            case "mul":
                for form, other in ((forms[0], operands[1]), (forms[1], operands[0])):
                    if is_far(other):
                        continue
                    if len(other.values) <= _MOST_FACTORS and all(isinstance(value, int) for value in other.values):
                        return _united([scaled(form, factor) for factor in other.values])
        raise outside(f"is an operand of {symbol_of(operator)}")

    def _check_rounding(self, operator: str, operand: Expr, form: dict[Terms, Rest]) -> None:
        """Rounding moves what is added to an integer, unless the integer says to which side."""
        parts = {Fraction(times).denominator for terms in form for _, times in terms}
        if self.periodic:
            self.period = math.lcm(self.period, 2 * math.lcm(*parts))
            return
        finite = [Fraction(value) for value in operand.values if isinstance(value, (int, Fraction))]
        sides = {"int": any(value.denominator > 1 for value in finite)}
        sides["round"] = any(value.denominator == 2 for value in finite)
        if parts - {1} or sides.get(operator):
            raise outside(f"is an operand of {symbol_of(operator)}")


def scaled(form: dict[Terms, Rest], factor: int | Fraction) -> dict[Terms, Rest]:
    """Return the forms of a multiple."""
    result: dict[Terms, Rest] = {}
    for terms, rest in form.items():
        low, high = sorted(factor * end for end in rest)
        _add(result, frozenset((draw, times * factor) for draw, times in terms if factor), (low, high))
    return result


def sum_of(left: dict[Terms, Rest], right: dict[Terms, Rest]) -> dict[Terms, Rest]:
    """Return the forms of a sum."""
    result: dict[Terms, Rest] = {}
    for (ours, (low, high)), (theirs, (least, most)) in product(left.items(), right.items()):
        times: dict[int, Any] = dict(ours)
        for draw, coefficient in theirs:
            times[draw] = times.get(draw, 0) + coefficient
        _add(result, frozenset((draw, c) for draw, c in times.items() if c), (low + least, high + most))
    return result


def _united(forms: Iterable[dict[Terms, Rest]]) -> dict[Terms, Rest]:
    result: dict[Terms, Rest] = {}
    for form in forms:
        for terms, rest in form.items():
            _add(result, terms, rest)
    return result


def _add(result: dict[Terms, Rest], terms: Terms, rest: Rest) -> None:
    low, high = result.get(terms, rest)
    result[terms] = (min(low, rest[0]), max(high, rest[1]))
    if max(abs(end) for end in result[terms]) >= FARTHEST:
        raise outside(f"meets the number {Fraction(max(result[terms], key=abs))}", "keep numbers below 2^24 here")
