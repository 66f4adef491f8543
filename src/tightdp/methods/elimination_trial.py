"""The plan that takes the fewest rows, found by trial: bounds on rows are far too high where few draws are made."""

from __future__ import annotations

from collections.abc import Sequence

from tightdp.core.nodes import CoreProgram, Input
from tightdp.exact.field import Number
from tightdp.methods.elimination import Elimination, Part, TooMuchWork
from tightdp.methods.elimination_plan import Plan, plans

__all__ = ["make_plan"]

_BUDGETS = (2_000, 10_000, 50_000)
"""How many rows a plan may make in each round of trials; wider plans get proportionally fewer."""


class _Ones:
    """Weights that do not matter."""

    one = 1

    def masses(self, law: Sequence[Number]) -> tuple[list[int], int]:
        return [1] * len(law), 1

    def reduced(self, part: Part) -> Part:
        return part


def make_plan(program: CoreProgram) -> Plan:
    """Return the best of the plans that some orders of the leaves give. Raises TooWide.

    All are tried on one dataset, with more and more rows; if none finishes, the one with the least bound is returned.
    """
    found = plans(program)
    if len(found) > 1:
        widths = [1 + sum(len(step.layout) for step in plan.steps) for plan in found]
        for budget in _BUDGETS:
            for plan, width in zip(found, widths, strict=True):
                if _ends(plan, budget * min(widths) // width):
                    return plan
    return min(found, key=lambda plan: plan.logarithm)


def _ends(plan: Plan, budget: int) -> bool:
    """Whether a plan takes at most `budget` rows where all inputs have the middle one of their values."""
    try:
        elimination = Elimination(plan, _Ones(), budget=budget, failures=True)
        waiting, start = elimination.start(), 0
        for at, step in enumerate(plan.steps):
            expr = plan.nodes.nodes[step.node].expr
            if step.kind == "input" and isinstance(expr, Input):
                elimination.advance(waiting, start, at, {})
                elimination.learn(plan.nodes.rank[step.node], expr.values[len(expr.values) // 2])
                start = at
        elimination.advance(waiting, start, len(plan.steps), {})
    except TooMuchWork:
        return False
    return True
