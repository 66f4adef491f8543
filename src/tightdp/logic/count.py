"""Weighted model counting: one pass over the diagram, from its root down.

Weight flows from the root: a coin splits it, an input bit sends it one way, an output bit is written down. What
arrives at True is the law. A level that a path skips needs no factor (see the precondition in `formula`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any, TypeVar

from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.logic.arithmetic import SCALED_INTEGERS, Arithmetic
from tightdp.logic.formula import Coin, OutputBit, WeightedFormula

__all__ = ["TooManyOutputs", "Weights", "flow", "output_weights", "raw_weights"]

C = TypeVar("C")

_BETWEEN_LOOKS = 2
"""So many nodes are passed between two looks at the limits; a node may carry the weights of many outputs."""


class TooManyOutputs(Exception):
    """A law has more outputs than were asked for, or takes too much to find out."""


@dataclass(frozen=True)
class Weights:
    """An output law as integers: `by_code[c] / total` is the probability of the output with code c.

    Where `observe` rejects every run, `by_code` is empty and `total` is 0.
    """

    by_code: Mapping[int, Whole]
    total: Whole

    @property
    def written(self) -> Hashable:
        """A key: two laws have the same one exactly when they are the same integers for the same codes."""
        return self.total, tuple(self.by_code), tuple(self.by_code.values())

    def probability(self, code: int | None) -> Number:
        """Return the probability of the output with a code (None: an output that is never given)."""
        return Fraction(0) if code is None else quotient(self.by_code.get(code, 0), self.total)


def output_weights(
    formula: WeightedFormula,
    inputs: Mapping[int, bool],
    output: int | None = None,
    arithmetic: Arithmetic[Any] = SCALED_INTEGERS,
    watch: Callable[[], None] = lambda: None,
    most: int | None = None,
) -> Weights:
    """Return the law of all outputs for the dataset whose input bits (by level) are given.

    With `output`, the code of one output, only the runs that give it are followed; the total is then that of the
    whole law, which is 1 unless runs are rejected by `observe`. `watch` is called now and then, and may raise. Raises
    TooManyOutputs where the nodes that are passed carry the weights of more than `most` outputs in all.
    """
    weights, denominator = raw_weights(formula, inputs, output, arithmetic, watch, most)
    if not formula.conditioned:
        if output is None and sum(weights.values()) != denominator:
            raise AssertionError("the output law does not sum to 1: a defect of the encoding")
        return Weights(weights, denominator)
    if output is None:
        return Weights(weights, sum(weights.values()))
    whole, below = raw_weights(formula, inputs, None, arithmetic, watch)
    return Weights({code: weight * below for code, weight in weights.items()}, sum(whole.values()) * denominator)


def raw_weights(
    formula: WeightedFormula,
    inputs: Mapping[int, bool],
    output: int | None = None,
    arithmetic: Arithmetic[Any] = SCALED_INTEGERS,
    watch: Callable[[], None] = lambda: None,
    most: int | None = None,
) -> tuple[Mapping[int, Whole], Whole]:
    """Return the weight of every output (or of one), not divided by that of all runs `observe` accepts."""
    passed = carried = 0

    def look(count: object) -> None:
        nonlocal passed, carried
        passed += 1
        if not passed % _BETWEEN_LOOKS:
            watch()
        if most is not None:
            carried += len(arithmetic.weights(count)[0])
            if carried > most:
                raise TooManyOutputs

    arrived = flow(formula, formula.diagram.root, len(formula.variables), inputs, output, arithmetic, look)
    return arithmetic.weights(arrived[TRUE]) if TRUE in arrived else ({}, 1)


TRUE = 1
"""The node of the formula that is always true."""


def flow(
    formula: WeightedFormula,
    start: int,
    end: int,
    inputs: Mapping[int, bool],
    output: int | None,
    arithmetic: Arithmetic[C],
    look: Callable[[C], None],
) -> dict[int, C]:
    """Return what weight 1 at the node `start` sends to each node at or below the level `end`.

    `look` is called with the count at every node that is passed, and may raise.
    """
    diagram, variables = formula.diagram, formula.variables
    low, high = diagram.low, diagram.high
    arrived: dict[int, C] = {}
    counts = {start: arithmetic.one()}
    reached = [-start]  # children come before their parents in a diagram, so the largest number is next

    def send(node: int, count: C) -> None:
        if node in counts:
            counts[node] = arithmetic.merge(counts[node], count)
        elif node:
            counts[node] = count
            heappush(reached, -node)

    while reached:
        node = -heappop(reached)
        count = counts.pop(node)
        if node <= TRUE or (level := diagram.level[node]) >= end:
            arrived[node] = count
            continue
        look(count)
        variable = variables[level]
        if isinstance(variable, Coin):
            below, above = arithmetic.split(count, variable)
            send(low[node], below)
            send(high[node], above)
        elif isinstance(variable, OutputBit):
            wanted = None if output is None else output >> formula.output_shifts[level] & 1
            for bit, child in enumerate((low[node], high[node])):
                if child and wanted in (None, bit):
                    send(child, arithmetic.append(count, bit))
        else:
            send(high[node] if inputs[level] else low[node], count)
    return arrived
