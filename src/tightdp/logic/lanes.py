"""Weighted model counting for many datasets at once: one pass over the diagram, with arrays.

A *lane* is one choice of values for all input leaves, as a dataset gives it. A row stands for the runs of a group of
lanes, those that agree on the inputs met so far, that have reached one node with one output. Coins between two inputs
are counted once for every node at which rows meet them (`flow`), whatever the number of lanes; rows that have become
equal are added up. So there are never more rows than lanes times nodes of one level times outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any

from tightdp.core.operators import Value
from tightdp.exact.arrays import Flags, Integers, Objects, np
from tightdp.exact.whole import Whole, gcd, lcm
from tightdp.limits import pay
from tightdp.limits.calibrated import LISTED_MASSES, ROWS_IN_ONE
from tightdp.logic.count import TRUE, flow
from tightdp.logic.formula import Coin, InputBit, WeightedFormula, code_length

Law = tuple[Mapping[int, Whole], Whole]
"""The weights of outputs by code, and their denominator."""


class _TooManyRows(Exception):
    """There are too many rows at a time for all of these lanes."""


def weights_of_all(
    formula: WeightedFormula, lanes: Sequence[Sequence[Value]], watch: Callable[[], None] = lambda: None
) -> Iterator[Law]:
    """Yield what `raw_weights` returns for many values of the input leaves, one after the other."""
    waiting, counts = [lanes], _Transitions(formula, watch)
    while waiting:
        some = waiting.pop()
        try:
            found = _Pass(formula, some, counts, watch).run()
        except _TooManyRows:
            waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
        else:
            yield from found


class _Transitions:
    """What coins send from a node to the nodes at or below a level, kept for all passes."""

    def __init__(self, formula: WeightedFormula, watch: Callable[[], None]) -> None:
        self.formula, self.watch = formula, watch
        self._known: dict[tuple[int, int], tuple[list[int], list[Whole], Whole]] = {}

    def __call__(self, node: int, end: int) -> tuple[list[int], list[Whole], Whole]:
        """Return the nodes that are reached, their weights, and the denominator of these."""
        found = self._known.get((node, end))
        if found is None:
            sent = flow(self.formula, node, end, {}, None, lambda count: self.watch())
            below = lcm(*(denominator for _, denominator in sent.values()))
            weights = [weights[0] * (below // denominator) for weights, denominator in sent.values()]
            shared = gcd(below, *weights)
            found = list(sent), [weight // shared for weight in weights], below // shared
            self._known[node, end] = found
        return found


class _Pass:
    """One pass over the diagram, from its root down, for some lanes."""

    def __init__(
        self,
        formula: WeightedFormula,
        lanes: Sequence[Sequence[Value]],
        transitions: _Transitions,
        watch: Callable[[], None],
    ) -> None:
        self.formula, self.transitions, self.watch = formula, transitions, watch
        diagram = formula.diagram
        self.low, self.high, self.level = (
            np.array(each, dtype=np.int64) for each in (diagram.low, diagram.high, diagram.level)
        )
        self.level[: TRUE + 1] = len(formula.variables)
        self.bits = self._bits(lanes)
        self.learned = 0
        """How many of the columns of `bits` are known to differ between groups."""
        self.group_of: Integers = np.zeros(len(lanes), dtype=np.int64)
        """By lane, the number of the lanes that agree on what was learned."""
        self.group: Integers = np.zeros(1, dtype=np.int64)
        self.node: Integers = np.array([diagram.root], dtype=np.int64)
        short = _fits(1 << len(formula.output_bits))
        self.code: Objects = np.zeros(1, dtype=np.int64 if short else object)
        self.weight: Objects = np.ones(1, dtype=np.int64)
        self.below: list[Whole] = [1]
        """By group, what its weights are over."""

    def _bits(self, lanes: Sequence[Sequence[Value]]) -> Flags:
        """Return the input bits of every lane, from the top of the diagram to its bottom."""
        inputs, columns = self.formula.inputs, zip(*lanes, strict=True)
        codes = [list(map(leaf.index.__getitem__, values)) for leaf, values in zip(inputs, columns, strict=False)]
        lengths = [code_length(len(leaf.values)) for leaf in inputs]
        places = [variable for variable in self.formula.variables if isinstance(variable, InputBit)]
        found = np.zeros((len(lanes), len(places)), dtype=bool)
        for column, place in enumerate(places):
            shift = lengths[place.leaf] - 1 - place.bit
            found[:, column] = np.array(codes[place.leaf], dtype=np.int64) >> shift & 1
        return found

    def run(self) -> list[Law]:
        """Return the law of every lane."""
        runs = groupby(enumerate(self.formula.variables), lambda entry: type(entry[1]))
        for kind, entries in runs:
            levels = [level for level, _ in entries]
            pay(self.watch, len(self.node) * len(levels) / ROWS_IN_ONE)
            if kind is Coin:
                self._toss(levels[-1] + 1)
            elif kind is InputBit:
                self._learn(levels)
            else:
                for level in levels:
                    self._write(level)
            self._merge()
        return self._laws()

    def _learn(self, levels: Sequence[int]) -> None:
        """Split the rows of lanes that differ in the next inputs, and follow these."""
        before = self.group_of
        seen = self.bits[:, self.learned : self.learned + len(levels)]
        self.learned += len(levels)
        found, self.group_of = np.unique(np.column_stack([before, seen]), axis=0, return_inverse=True)
        self.group_of = self.group_of.reshape(-1)
        parents = found[:, 0]  # sorted: the children of a group follow each other
        starts = np.searchsorted(parents, self.group)
        many = np.searchsorted(parents, self.group, side="right") - starts
        self.below = [self.below[parent] for parent in parents.tolist()]
        places = self._repeated(many)
        self.group = starts[places] + self._within(many)
        for at, level in enumerate(levels, start=1):
            here = np.flatnonzero(self.level[self.node] == level)
            node, up = self.node[here], found[self.group[here], at] == 1
            self.node[here] = np.where(up, self.high[node], self.low[node])

    def _write(self, level: int) -> None:
        """Write down an output bit: of the two nodes below, mostly one is False."""
        here = self.level[self.node] == level
        node = self.node[here]
        many = np.ones(len(here), dtype=np.int64)
        many[here] = (self.low[node] != 0) + (self.high[node] != 0).astype(np.int64)
        places = self._repeated(many)
        second = self._within(many) == 1
        here = here[places]
        node = self.node[here]
        up = second[here] | (self.low[node] == 0)
        self.node[here] = np.where(up, self.high[node], self.low[node])
        self.code[here] = self.code[here] * 2 + up

    def _toss(self, end: int) -> None:
        """Follow coins: what they send from a node is the same for all rows that are at it."""
        nodes, kind = np.unique(self.node, return_inverse=True)
        kind = kind.reshape(-1)
        sent = [self.transitions(node, end) if self.level[node] < end else ([node], [1], 1) for node in nodes.tolist()]
        below = [denominator for _, _, denominator in sent]
        if any(denominator != 1 for denominator in below):
            common = self._over_common(kind, below)
            self.weight = self.weight * common
        lengths = np.array([len(reached) for reached, _, _ in sent], dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        many = lengths[kind]
        first = starts[kind]
        places = self._repeated(many)
        which = first[places] + self._within(many)
        self.node = np.array(list(chain.from_iterable(reached for reached, _, _ in sent)), dtype=np.int64)[which]
        factors = list(chain.from_iterable(weights for _, weights, _ in sent))
        self.weight = self.weight * np.array(factors, dtype=self.weight.dtype)[which]

    def _over_common(self, kind: Integers, below: Sequence[Whole]) -> Objects:
        """Bring every group over one denominator; return by what the weights of rows are to be multiplied for that."""
        met: dict[int, set[int]] = {}
        for pair in np.unique(self.group * len(below) + kind).tolist():
            group, at = divmod(pair, len(below))
            met.setdefault(group, set()).add(at)
        common = {group: lcm(*{below[at] for at in kinds}) for group, kinds in met.items()}
        for group, factor in common.items():
            self.below[group] = self.below[group] * factor
        if self.weight.dtype != object and not all(map(_fits, self.below)):
            self.weight = self.weight.astype(object)
        factors = [common[group] // below[at] for group, at in zip(self.group.tolist(), kind.tolist(), strict=True)]
        return np.array(factors, dtype=self.weight.dtype)

    def _repeated(self, many: Integers) -> Integers:
        """Repeat, or drop, every row; return the place of each where it was before."""
        places = np.repeat(np.arange(len(many)), many)
        if len(places) > LISTED_MASSES and len(self.bits) > 1:
            raise _TooManyRows
        self.group, self.node, self.code, self.weight = (
            each[places] for each in (self.group, self.node, self.code, self.weight)
        )
        return places

    @staticmethod
    def _within(many: Integers) -> Integers:
        """Return the number of each copy of a row, from 0, for rows that were repeated."""
        ends = np.cumsum(many)
        return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - many, many)

    def _merge(self) -> None:
        """Add up rows that are equal, and drop those that `observe` rejects."""
        self._take(np.flatnonzero(self.node))
        codes, code = np.unique(self.code, return_inverse=True)
        key = (self.group * len(codes) + code.reshape(-1)) * len(self.level) + self.node
        used, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        if len(used) < len(key):
            total: Any = np.zeros(len(used), dtype=self.weight.dtype)
            np.add.at(total, inverse.reshape(-1), self.weight)
            self._take(first)
            self.weight = total

    def _take(self, rows: Integers) -> None:
        if len(rows) < len(self.node):
            self.group, self.node, self.code, self.weight = (
                each[rows] for each in (self.group, self.node, self.code, self.weight)
            )

    def _laws(self) -> list[Law]:
        found: list[dict[int, Whole]] = [{} for _ in self.below]
        for group, code, weight in zip(self.group.tolist(), self.code.tolist(), self.weight.tolist(), strict=True):
            found[group][code] = weight
        return [(found[group], self.below[group]) for group in self.group_of.tolist()]


def _fits(number: Whole) -> bool:
    """Whether numbers up to this one are kept in machine words."""
    return isinstance(number, int) and number <= np.iinfo(np.int64).max
