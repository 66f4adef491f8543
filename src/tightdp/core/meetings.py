"""What noise on all integers meets in a program, and the windows that are wide enough for it.

Where the argument is written down: docs/unbounded-noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any, TypeAlias

from tightdp.core.nodes import Apply, Case, Const, CoreProgram, Draw, Expr, Nary, Shuffled, reachable
from tightdp.core.operators import is_number, symbol_of
from tightdp.core.unmerged import outside
from tightdp.core.windows import Place, Window, is_far, tail_nodes
from tightdp.errors import LanguageError
from tightdp.exact.field import Number
from tightdp.language.laws import Gaussian, Law, OnIntegers, TwoSided
from tightdp.limits.calibrated import FEW_VALUES, LOOP_ROUNDS, NOISE_FARTHEST

Terms: TypeAlias = frozenset[tuple[int, Any]]
"""Draws with their coefficients."""
Rest: TypeAlias = tuple[Any, Any]
"""The least and the greatest value of what is added to the draws."""

_ALONE: Terms = frozenset()


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
            below = [] if not is_far(node) else [child for child in node.children if child.serial not in self._known]
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
            finite = (Fraction(value) if isinstance(value, float) else value for value in ends if not _infinite(value))
            numbers = [value for value in finite if is_number(value)]
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
            case "pos" | "fraction" if len(forms) == 1:
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
                    if len(other.values) <= FEW_VALUES and all(isinstance(value, int) for value in other.values):
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


def _infinite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _united(forms: Iterable[dict[Terms, Rest]]) -> dict[Terms, Rest]:
    result: dict[Terms, Rest] = {}
    for form in forms:
        for terms, rest in form.items():
            _add(result, terms, rest)
    return result


def _add(result: dict[Terms, Rest], terms: Terms, rest: Rest) -> None:
    low, high = result.get(terms, rest)
    result[terms] = (min(low, rest[0]), max(high, rest[1]))
    if max(abs(end) for end in result[terms]) >= NOISE_FARTHEST:
        raise outside(f"meets the number {Fraction(max(result[terms], key=abs))}", "keep numbers below 2^24 here")


_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "min", "max"})


class Meetings:
    """What the draws on all integers of a program are compared with: bounded values, and one another.

    `operations` are all operations on their values, also those that were folded. Raises LanguageError where a value is
    used otherwise, or more than two draws meet in one comparison.
    """

    def __init__(
        self,
        noises: Sequence[tuple[Expr, tuple[Law | OnIntegers | None, ...]]],
        operations: Iterable[tuple[str, tuple[Expr, ...], Place | None]],
        periodic: bool = False,
    ) -> None:
        self.forms = Forms((draw for draw, _ in noises), periodic)
        self.laws = [[law for law in laws if isinstance(law, OnIntegers)] for _, laws in noises]
        self._pure = [all(law is None or isinstance(law, OnIntegers) for law in laws) for _, laws in noises]
        self.bounds = [max(abs(law.centre) for law in laws) for laws in self.laws]
        for place, (_, laws) in enumerate(noises):
            sure = [abs(z) for law in laws if law and not isinstance(law, OnIntegers) for z, _ in law]
            self.bounds[place] = max([self.bounds[place], *sure])
        self.partners: list[dict[int, int]] = [{} for _ in noises]
        self.summed = False
        self.gaussian = [any(isinstance(law, Gaussian) for law in laws) for laws in self.laws]
        for operator, operands, where in operations:
            try:
                self._operation(operator, operands)
            except LanguageError as error:
                if where is not None:
                    error.span = where[0].span(where[1])
                raise

    def _operation(self, operator: str, operands: tuple[Expr, ...]) -> None:
        forms = [self.forms.of(operand) for operand in operands]
        if operator in _COMPARISONS:
            for at, right in enumerate(forms):
                for left in forms[:at]:
                    self._compared(sum_of(left, scaled(right, -1)))
        elif operator in ("not", "bool", "abs") or (operator == "int" and not _all_integers(operands[0])):
            self._compared(forms[0])
            if operator == "int":
                self.forms.applied(operator, operands)
        else:  # a value that is so small that nothing is noted of its own use may come of it
            self.forms.applied(operator, operands)

    def _compared(self, difference: dict[Terms, Rest]) -> None:
        for terms, rest in difference.items():
            bound = ceil(max(abs(end) for end in rest))
            if len(terms) == 1:
                ((draw, times),) = terms
                self.bounds[draw] = max(self.bounds[draw], ceil(bound / abs(Fraction(times))))
            elif len(terms) == 2:
                (one, c), (other, d) = terms
                if abs(c) != abs(d):
                    raise outside("is compared with a multiple of other such noise", "compare multiples of one number")
                if not self.forms.periodic and (self.gaussian[one] or self.gaussian[other]):
                    hint = "clamp one of them, or use discrete Laplace noise there"
                    raise outside("is compared with other such noise, and one of them is Gaussian", hint)
                bound = ceil(bound / abs(Fraction(c)))
                self.summed |= c == d
                for ours, theirs in ((one, other), (other, one)):
                    self.partners[ours][theirs] = max(self.partners[ours].get(theirs, 0), bound)
            elif terms:
                hint = "compare two noisy values at a time, or clamp the noise"
                raise outside("meets in a comparison of more than two draws", hint)

    def pure(self, draw: int) -> bool:
        """Whether a draw has noise on every run."""
        return self._pure[draw]

    def check(self, program: CoreProgram) -> None:
        """Check that values with noise on all integers have no other use in a program. Raises LanguageError."""
        for expr in reachable(program.roots):
            if isinstance(expr, Case) and is_far(expr.selector):
                raise outside("picks one of several values")
            if isinstance(expr, Draw) and is_far(expr.selector):
                raise outside("is an argument of another draw")
            if isinstance(expr, Nary) and expr.operator in ("and", "or", "xor") and any(map(is_far, expr.children)):
                raise outside(f"is an operand of {symbol_of(expr.operator)}")

    @property
    def reach(self) -> int:
        """The distance within which every possible joint outcome of the comparisons occurs.

        Given the remainders of the draws by the period, what the comparisons demand of a run are bounds on single draws
        and on sums and differences of two: draws that satisfy them can be taken so small (docs/unbounded-noise.md).
        """
        slack = max((bound for each in self.partners for bound in each.values()), default=-1)
        hub = max(range(len(self.bounds)), key=lambda draw: len(self.partners[draw]))
        others = set(range(len(self.bounds))) - {hub}
        steps = min(len(self.bounds), 2 * self._farthest(hub, {hub, *others}) + 1)  # of a way that visits the hub once
        centre = max(abs(law.centre) for laws in self.laws for law in laws)  # from where reaches are counted
        found = max(self.bounds) + centre + 1 + (steps + 1) * (slack + 1) + (2 * steps + 1) * (self.forms.period - 1)
        return 2 * found if self.summed else found

    def windows(self, farthest: int = 0) -> tuple[Window, ...]:
        """Return windows that are wide enough: docs/unbounded-noise.md says why.

        Those of Gaussian noise reach to `farthest` at least.
        """
        order = sorted(range(len(self.laws)), key=lambda draw: (-len(self.partners[draw]), draw))
        found: dict[int, Window] = {}
        last: dict[int, int] = {}
        for at, draw in enumerate(order):
            later = self._later(draw, set(order[at + 1 :]))
            bases = self._bases(later)
            group = {draw, *later}
            slack = max((bound for one in group for bound in self.partners[one].values()), default=0)
            earlier = [last[one] for member in group for one in self.partners[member] if one in last]
            bound = max([*earlier, *(self.bounds[one] for one in group)])
            reach = bound + (1 + self._farthest(draw, group)) * slack + 1
            reach = max(reach, farthest) if self.gaussian[draw] else reach
            points = [tail_nodes(law.ratio, bases) for law in self.laws[draw] if isinstance(law, TwoSided)]
            last[draw] = reach + max((z for law in points for z, _ in law), default=-1)
            found[draw] = Window(reach, bases)
        if not found:
            return ()
        if farthest:
            widest = max(found[draw].reach for draw in found if self.gaussian[draw])
            found |= {draw: Window(widest) for draw in found if self.gaussian[draw]}
            last |= {draw: widest - 1 for draw in found if self.gaussian[draw]}
        rank = {draw: len(order) - at for at, draw in enumerate(order)}
        return tuple(
            Window(found[draw].reach, found[draw].bases, rank[draw] if self.partners[draw] else 0)
            for draw in range(len(self.laws))
        )

    def _farthest(self, draw: int, group: set[int]) -> int:
        """Return an upper bound on the length of a path from a draw through a group, each draw once."""
        left = group - {draw}
        parts = []
        while left:
            first = min(left)
            part = {first, *self._later(first, left - {first})}
            parts.append(len(part))
            left -= part
        return max(parts, default=0)

    def _later(self, draw: int, left: set[int]) -> list[int]:
        """Return the draws that a draw meets, directly or by way of others, among those that are left."""
        found: list[int] = []
        stack = [draw]
        while stack:
            for other in self.partners[stack.pop()]:
                if other in left:
                    left.discard(other)
                    found.append(other)
                    stack.append(other)
        return sorted(found)

    def _bases(self, draws: Sequence[int]) -> tuple[Number, ...]:
        """Return all products of ratios of these draws, each taken once at most, without the empty product."""
        bases: set[Number] = {Fraction(1)}
        for draw in draws:
            ratios = {law.ratio for law in self.laws[draw] if isinstance(law, TwoSided)}
            bases |= {base * ratio for base, ratio in product(bases, ratios)}
            if len(bases) > LOOP_ROUNDS:
                raise outside("meets too many draws of different ratios", "use the same ratio in more of them")
        return tuple(sorted(bases - {Fraction(1)}, reverse=True))


def _all_integers(expr: Expr) -> bool:
    """Whether all finite values of a node are integers."""
    return not any(isinstance(value, Fraction) and value.denominator > 1 for value in expr.values)
