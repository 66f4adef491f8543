"""Elimination on one dataset after another; work that they share is done once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tightdp.core.nodes import Input
from tightdp.core.operators import Value
from tightdp.methods.elimination import Elimination, Part, Waiting, Weight
from tightdp.methods.elimination_plan import Row

__all__ = ["Walk"]

_State = tuple[Waiting, dict[int, Weight]]
"""The rows that wait for each step, and the weights of what failed."""


class Walk:
    """Elimination on one dataset after another. What was done before the first input that differs is kept."""

    def __init__(self, elimination: Elimination) -> None:
        self.elimination = elimination
        steps, nodes = elimination.plan.steps, elimination.plan.nodes
        self._stops = [at for at, step in enumerate(steps) if step.kind == "input"]
        self._ranks = [nodes.rank[steps[at].node] for at in self._stops]
        self.leaves = [leaf for at in self._stops if isinstance(leaf := nodes.nodes[steps[at].node].expr, Input)]
        self._values: list[Value] = []
        self._kept: list[_State] = []

    def end(self, values: Sequence[Value]) -> tuple[Part, dict[int, Weight]]:
        """Return the rows at the end, where the inputs have these values, and the weights of what failed."""
        elimination, ends = self.elimination, [*self._stops, len(self.elimination.plan.steps)]
        if not self._kept:
            self._kept.append(self._advanced((elimination.start(), {}), 0, ends[0]))
        same = 0
        while same < min(len(self._values), len(values)) and self._values[same] == values[same]:
            same += 1
        del self._values[same:], self._kept[same + 1 :]
        for depth in range(same, len(values)):
            elimination.learn(self._ranks[depth], values[depth])
            self._kept.append(self._advanced(self._kept[depth], ends[depth], ends[depth + 1]))
            self._values.append(values[depth])
        waiting, failed = self._kept[-1]
        return elimination.merged(waiting.get(ends[-1]) or [Part({}, 1)]), failed

    def _advanced(
        self, state: tuple[Waiting, dict[int, Weight]], start: int, end: int
    ) -> tuple[Waiting, dict[int, Weight]]:
        waiting, failed = {at: list(parts) for at, parts in state[0].items()}, dict(state[1])
        self.elimination.advance(waiting, start, end, failed)
        return waiting, failed

    def rows(self, part: Part) -> Iterator[tuple[Row, Weight]]:
        """Yield the values of the components, with their weights, of the rows that `observe` accepts."""
        plan, known = self.elimination.plan, self.elimination.known
        place = {column: at for at, column in enumerate(plan.layout)}
        evidence = plan.nodes.evidence
        if evidence is not None and evidence not in place and known[evidence] is not True:
            return
        holds = place.get(-1 if evidence is None else evidence)
        for row, weight in part.rows.items():
            if holds is None or row[holds] is True:
                yield tuple([row[place[at]] if at in place else known[at] for at in plan.nodes.components]), weight
