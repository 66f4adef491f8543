"""Weighted model counting: one pass over the diagram, from its root down.

Weight flows from the root: a coin splits it, an input bit sends it one way, an output bit is written down. What
arrives at True is the law. A level that a path skips needs no factor (see the precondition in `formula`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.exact.whole import ExpInteger, Whole, gcd, lcm
from tightdp.limits import IN_A_CALL
from tightdp.limits.calibrated import NOISE_BITS
from tightdp.logic.formula import Coin, OutputBit, WeightedFormula

Scaled = tuple[dict[int, Whole], Whole]
"""For one node of a diagram, the weight that reaches it: integers by the output bits decided on the way (its *prefix*),
and their common denominator, which is never reduced."""


def split(count: Scaled, coin: Coin) -> tuple[Scaled, Scaled]:
    """Return the parts that go where the coin is false and where it is true."""
    weights, denominator = count
    below = coin.denominator
    if (isinstance(below, ExpInteger) or below >> NOISE_BITS) and (shared := gcd(below, *weights.values())) != 1:
        # A draw is decided by coins in turn: what divides here is what the coin before it multiplied by.
        weights = {prefix: weight // shared for prefix, weight in weights.items()}
        below //= shared
    denominator *= below
    high, low = coin.numerator, coin.denominator - coin.numerator
    under = weights if low == 1 else {prefix: weight * low for prefix, weight in weights.items()}
    above = weights if high == 1 else {prefix: weight * high for prefix, weight in weights.items()}
    return (under, denominator), (above, denominator)


def merge(left: Scaled, right: Scaled) -> Scaled:
    """Return the sum of two counts."""
    (ours, ours_below), (theirs, theirs_below) = left, right
    if ours_below != theirs_below:
        common = lcm(ours_below, theirs_below)
        ours = {prefix: weight * (common // ours_below) for prefix, weight in ours.items()}
        theirs = {prefix: weight * (common // theirs_below) for prefix, weight in theirs.items()}
        ours_below = common
    if len(ours) < len(theirs):
        ours, theirs = theirs, ours
    if ours.keys().isdisjoint(theirs):
        return ours | theirs, ours_below
    merged = dict(ours)
    for prefix, weight in theirs.items():
        merged[prefix] = merged.get(prefix, 0) + weight
    return merged, ours_below


_BETWEEN_LOOKS = 2
"""So many nodes are passed between two looks at the limits; one that carries the weights of many outputs is several."""


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

    @property
    def lowest(self) -> Weights:
        """The same law in lowest terms, whose integers are those of all equal laws."""
        shared = gcd(self.total, *self.by_code.values()) or 1
        return Weights({code: weight // shared for code, weight in self.by_code.items()}, self.total // shared)

    def probability(self, code: int | None) -> Number:
        """Return the probability of the output with a code (None: an output that is never given)."""
        return Fraction(0) if code is None else quotient(self.by_code.get(code, 0), self.total)


def output_weights(
    formula: WeightedFormula,
    inputs: Mapping[int, bool],
    output: int | None = None,
    watch: Callable[[], None] = lambda: None,
    most: int | None = None,
) -> Weights:
    """Return the law of all outputs for the dataset whose input bits (by level) are given.

    With `output`, the code of one output, only the runs that give it are followed; the total is then that of the
    whole law, which is 1 unless runs are rejected by `observe`. `watch` is called now and then, and may raise. Raises
    TooManyOutputs where the nodes that are passed carry the weights of more than `most` outputs in all.
    """
    weights, denominator = raw_weights(formula, inputs, output, watch, most)
    if not formula.conditioned:
        if output is None and sum(weights.values()) != denominator:
            raise AssertionError("the output law does not sum to 1: a defect of the encoding")
        return Weights(weights, denominator)
    if output is None:
        return Weights(weights, sum(weights.values()))
    whole, below = raw_weights(formula, inputs, None, watch)
    return Weights({code: weight * below for code, weight in weights.items()}, sum(whole.values()) * denominator)


def raw_weights(
    formula: WeightedFormula,
    inputs: Mapping[int, bool],
    output: int | None = None,
    watch: Callable[[], None] = lambda: None,
    most: int | None = None,
) -> tuple[Mapping[int, Whole], Whole]:
    """Return the weight of every output (or of one), not divided by that of all runs `observe` accepts."""
    passed = carried = 0

    def look(count: Scaled) -> None:
        nonlocal passed, carried
        passed += 1 + len(count[0]) // IN_A_CALL
        while passed >= _BETWEEN_LOOKS:
            passed -= _BETWEEN_LOOKS
            watch()
        if most is not None:
            carried += len(count[0])
            if carried > most:
                raise TooManyOutputs

    arrived = flow(formula, formula.diagram.root, len(formula.variables), inputs, output, look)
    return arrived.get(TRUE, ({}, 1))


TRUE = 1
"""The node of the formula that is always true."""


def flow(
    formula: WeightedFormula,
    start: int,
    end: int,
    inputs: Mapping[int, bool],
    output: int | None,
    look: Callable[[Scaled], None],
) -> dict[int, Scaled]:
    """Return what weight 1 at the node `start` sends to each node at or below the level `end`.

    `look` is called with the count at every node that is passed, and may raise.
    """
    diagram, variables = formula.diagram, formula.variables
    low, high = diagram.low, diagram.high
    arrived: dict[int, Scaled] = {}
    counts: dict[int, Scaled] = {start: ({0: 1}, 1)}
    reached = [-start]  # children come before their parents in a diagram, so the largest number is next

    def send(node: int, count: Scaled) -> None:
        if node in counts:
            counts[node] = merge(counts[node], count)
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
            below, above = split(count, variable)
            send(low[node], below)
            send(high[node], above)
        elif isinstance(variable, OutputBit):
            wanted = None if output is None else output >> formula.output_shifts[level] & 1
            for bit, child in enumerate((low[node], high[node])):
                if child and wanted in (None, bit):
                    send(child, ({prefix << 1 | bit: weight for prefix, weight in count[0].items()}, count[1]))
        else:
            send(high[node] if inputs[level] else low[node], count)
    return arrived
