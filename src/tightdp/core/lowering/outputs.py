"""How an output is put together from scalars: nested tuples of them, in one shape or several."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from tightdp.core.between import Cut
from tightdp.core.cells import cells_in
from tightdp.core.doubles import Double
from tightdp.core.lowering.dictionaries import sorted_output
from tightdp.core.lowering.machine import Machine
from tightdp.core.lowering.published_doubles import OTHERS, published, refused
from tightdp.core.lowering.values import (
    Closure,
    Infinity,
    Reference,
    Union,
    Value,
    inner,
    is_scalar,
    name_of,
    parts_of,
)
from tightdp.core.nodes import Check, Const, Expr
from tightdp.core.outputs import Choice, Leaf, Shape, TupleOf
from tightdp.core.published import NO_ENDS, Ends, cut_output, finite_output, multiple_of
from tightdp.core.unmerged import Unmerged
from tightdp.core.windows import Window, is_far
from tightdp.errors import LanguageError, LimitError, Span
from tightdp.language.laws import Gaussian
from tightdp.language.program import Dataset
from tightdp.language.source import FunctionSource
from tightdp.limits.calibrated import TABLE_ENTRIES

_MAX_COMPONENTS = 16 * TABLE_ENTRIES
"""How many scalars an output may consist of, over all its shapes."""


@dataclass(frozen=True)
class Plan:
    """How noise on all integers is made finite: a window per draw, and where the tails of outputs begin.

    Or all of it is cut off, so far out at least, and so are these `loops`. Other draws are told apart between `cuts`;
    that they are may be all that is `told` of what is published.
    """

    windows: tuple[Window, ...] = ()
    ends: Ends = NO_ENDS
    cut: int = 0
    cuts: frozenset[Cut] = frozenset()
    loops: frozenset[ast.AST] = frozenset()
    told: bool = False


@dataclass
class Plans:
    """How noise on all integers was made finite for all datasets of one mechanism, once these were lowered."""

    whole: Plan = Plan()
    picks: list[tuple[float, ...]] = field(default_factory=list)
    """Which values are kept of numbers in doubles that have too many, in the order in which they are published."""
    refused: dict[Any, Unmerged] = field(default_factory=dict)
    """Why lowering with a plan, for a dataset or for all, was given up."""
    loops: dict[Any, Any] = field(default_factory=dict)
    """How loops end, by what they begin with where that is plain."""
    early: bool = False
    """Whether loops that draw below what they count are given up before they are unrolled for long: no enclosure will
    do then."""


class Outputs(Machine):
    """A machine that notes the scalars of an output."""

    source: FunctionSource
    fixed: Dataset | None
    plan: Plan
    components: list[Expr]
    published: list[tuple[Expr, Span]]
    picks: list[tuple[float, ...]] | None
    told_apart: int

    def sorted_output(self, value: Value) -> Value:
        """Return an output with dictionaries and sets as sorted tuples."""
        return sorted_output(self, value)

    def _shape(self, value: Value, active: Expr) -> Shape:
        """Return how an output is put together, where `active` holds."""
        if isinstance(value, Double):
            value = self._published(value)
        if is_scalar(value):
            expr = self.expr(value)
            return Leaf(*self._component(self.builder.total("exactly", expr) if self.floats else expr, active))
        if isinstance(value, tuple):
            return TupleOf(tuple(self._shape(item, active) for item in value))
        if not isinstance(value, Union):
            hint = "return tuple(...) of it" if isinstance(value, Reference) else "return a number, string or tuple"
            what = "function" if isinstance(value, Closure) else name_of(value)
            raise LanguageError(f"an output cannot be a {what}", hint, self._returned(value))
        options = [option for option in value.alternatives if not self._infinite(*option, active)]
        tag: Value = len(options) - 1
        for at in range(len(options) - 2, -1, -1):
            tag = self.merge(options[at][0], at, tag)
        component, unused = self._component(self.expr(tag), active)
        shapes = tuple(self._shape(item, self.conj(active, guard)) for guard, item in options)
        return Choice(component, shapes, unused)

    def _infinite(self, guard: Expr, value: Value, active: Expr) -> bool:
        """Whether a form of an output is an infinite number, which no run may return."""
        if not isinstance(value, Infinity):
            return False
        condition = self.conj(self.alive, active, guard)
        hint = "return a number, or None, where there is none"
        if condition is not self.builder.false:
            self.checks.append(Check(condition, "an output cannot be infinite", hint, self._returned(value)))
        return True

    def _published(self, tree: Double) -> Expr:
        """Return a number that is computed in doubles as a node."""
        expr = published(self, tree, self.picks, self.told_apart, self.fixed is None)
        if expr is None:
            raise refused(self._returned(tree))
        self.told_apart += any(value == OTHERS for value in expr.values)
        return expr

    def _returned(self, part: Value) -> Span:
        """Return the place of the `return` that gives a value, as a whole or inside."""
        found = (node for node, value in self.results if _holds(value, part))
        return self.source.span(next(found, None))

    def _component(self, expr: Expr, active: Expr) -> tuple[int, Value]:
        """Add a component of the output; return its number, and its value where `active` does not hold."""
        self.watch()
        if len(self.components) >= _MAX_COMPONENTS:
            raise LimitError(
                f"an output may have more than {_MAX_COMPONENTS:,} parts, over all the shapes that it can take",
                "return a summary of it, or values of fewer shapes",
            )
        if self.plan.told and cells_in([expr]):
            expr = self.builder.case(expr, tuple(map(self.builder.const, self.builder.cells.shown_by(expr))))
        self.builder.cells.check_whole(expr)
        expr = self._ended(expr)
        unused = None
        if active is not self.builder.true:
            unused = expr.values[0]
            expr = self.builder.case(active, (self.builder.const(unused), expr))
        self.components.append(expr)
        return len(self.components) - 1, unused

    def _ended(self, expr: Expr) -> Expr:
        """Return a component of an output with finitely many values."""
        if not self.builder.noises or isinstance(expr, Const) or not is_far(expr):
            return expr
        place = self._returned(expr)
        if self.plan.cut:
            self.published.append((expr, place))
            return cut_output(self.builder, expr)
        gaussian = any(isinstance(law, Gaussian) for _, laws in self.builder.noises for law in laws)
        expr, times, plus = (expr, 1, 0) if gaussian else multiple_of(expr)
        again = any(expr is other for other, _ in self.published)
        if not again:
            self.published.append((expr, place))
        return finite_output(self.builder, expr, self.plan.ends, times, plus, again)


def _holds(value: Value, part: Value) -> bool:
    """Whether a value is another one, or has it inside."""
    return any(each is part or (not inner(each) and each == part) for each in parts_of(value))
