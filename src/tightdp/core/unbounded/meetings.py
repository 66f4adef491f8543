"""What noise on all integers meets in a program, and the windows that are wide enough for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import ceil

from tightdp.core.nodes import Case, CoreProgram, Draw, Expr, Nary, children, reachable
from tightdp.core.operators import symbol_of
from tightdp.core.unbounded.forms import Forms, Rest, Terms, outside, scaled, sum_of
from tightdp.core.unbounded.quadrature import tail_nodes
from tightdp.core.unbounded.windows import Place, Window, is_far
from tightdp.errors import LanguageError
from tightdp.exact.field import Number
from tightdp.language.laws import Gaussian, Law, OnIntegers, TwoSided

__all__ = ["Meetings"]

_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "min", "max"})
_MOST_BASES = 400
"""How many different powers the tail of one draw may have to be right for."""


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
            if isinstance(expr, Nary) and expr.operator in ("and", "or", "xor") and any(map(is_far, children(expr))):
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
            if len(bases) > _MOST_BASES:
                raise outside("meets too many draws of different ratios", "use the same ratio in more of them")
        return tuple(sorted(bases - {Fraction(1)}, reverse=True))


def _all_integers(expr: Expr) -> bool:
    """Whether all finite values of a node are integers."""
    return not any(isinstance(value, Fraction) and value.denominator > 1 for value in expr.values)
