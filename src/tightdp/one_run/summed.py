"""The stage of a program that sees its clients only through aggregates: no dataset is ever listed.

The law of the aggregates is that of independent contributions, each an equal mixture of what the client adds with bit 0
and with bit 1. Clients of one kind share their posterior; it takes the law of all clients but one of that kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any

from tightdp.errors import LimitError
from tightdp.exact.whole import Whole, divides, lcm
from tightdp.limits.calibrated import AUDIT_TABLE
from tightdp.logic.count import raw_weights
from tightdp.logic.formula import WeightedFormula
from tightdp.methods.aggregate import Aggregate, Contribution
from tightdp.methods.mixture import StateLaw, every_law, one_state
from tightdp.one_run.stages import Counts, Outcome, Stage, Table, classes_of

Given = tuple[Mapping[int, Whole], Whole]
"""The weights of outputs by code, and their total."""

Pattern = tuple[tuple[int, int], ...]
"""For every class, how many clients are guessed to have the bit 0, and how many 1."""


class SummedStage(Stage):
    """All clients of a program cut at its aggregates. There is one state, 0, before and after."""

    def __init__(self, aggregate: Aggregate, rest: WeightedFormula) -> None:
        self.aggregate, self.rest = aggregate, rest
        self.classes = classes_of(aggregate.kinds)
        self._tables = tuple(aggregate.tables[kind] for kind in dict.fromkeys(aggregate.kinds))
        self.bits = len(rest.output_bits)
        self._start = one_state(aggregate.operators, aggregate.tables, len(aggregate.kinds))
        self._outputs: dict[tuple[Any, ...], Given] = {}
        self._patterns: dict[Pattern, dict[int, list[Whole]]] = {}

    @cached_property
    def _laws(self) -> list[tuple[Given, Given]]:
        """By class: the output weights together with bit 0, and with bit 1, of one of its clients."""
        found: list[tuple[Given, Given]] = [(({}, 1), ({}, 1))] * len(self.classes)
        for at, others in self._all_but_one(self._start, range(len(self.classes)), True):
            zero, one = (self._through(others.add(self._tables[at][bit])) for bit in (0, 1))
            found[at] = zero, one
        return found

    def _all_but_one(self, law: StateLaw, classes: Sequence[int], lacking: bool) -> Iterator[tuple[int, StateLaw]]:
        """Yield the law of all clients but one, for one client of each class, by halving the classes."""
        if lacking:
            for at in classes:
                law = law.add(_mixture(self._tables[at]), len(self.classes[at]) - 1)
        if len(classes) == 1:
            yield classes[0], law
            return
        half = len(classes) // 2
        for mine, others in ((classes[:half], classes[half:]), (classes[half:], classes[:half])):
            below = law
            for at in others:
                below = below.add(_mixture(self._tables[at]))
            yield from self._all_but_one(below, mine, False)

    def _through(self, law: StateLaw) -> Given:
        """Return the output weights for a law of the aggregates."""
        entries = [(self._given(state), weight) for state, weight in law.items()]
        common = lcm(*(below for (_, below), _ in entries))
        weights: dict[int, Whole] = {}
        for (outputs, below), weight in entries:
            for code, share in outputs.items():
                weights[code] = weights.get(code, 0) + weight * (common // below) * share
        return weights, law.denominator * common

    def _given(self, state: tuple[Any, ...]) -> Given:
        found = self._outputs.get(state)
        if found is None:
            found = self._outputs[state] = raw_weights(self.rest, self.rest.evidence_of(state))
        return found

    @cached_property
    def _half(self) -> Whole:
        return lcm(*(below for pair in self._laws for _, below in pair))

    @cached_property
    def total(self) -> Whole:  # type: ignore[override]
        return 2 * self._half

    @cached_property
    def outcomes(self) -> Mapping[int, tuple[Outcome, ...]]:  # type: ignore[override]
        scaled = [[_scaled(given, self._half) for given in pair] for pair in self._laws]
        codes = sorted({code for zero, one in scaled for code in (*zero, *one)})
        return {0: tuple(self._outcome(code, scaled) for code in codes)}

    @staticmethod
    def _outcome(code: int, scaled: Sequence[Sequence[dict[int, Whole]]]) -> Outcome:
        weights = {zero.get(code, 0) + one.get(code, 0) for zero, one in scaled}
        if len(weights) != 1:
            raise AssertionError("the output law depends on which client was left out: a defect of the cut")
        return Outcome(code, 0, weights.pop(), tuple(one.get(code, 0) for _, one in scaled))

    def right(self, state: int, outcome: Outcome, guesses: Mapping[int, int]) -> list[Whole]:
        pattern = self.guessed(guesses)
        if pattern not in self._patterns:
            self._patterns[pattern] = self._right(pattern)
        return self._patterns[pattern][outcome.code]

    def _right(self, pattern: Pattern) -> dict[int, list[Whole]]:
        """Return, by output code, the weights of the numbers of right guesses, counted as one more aggregate."""
        operators = (*self.aggregate.operators, "sum")
        law: StateLaw = one_state(
            operators,
            [[_marked(entry, 0) for entry in table] for table in self._tables],
            sum(map(len, self.classes)),
        )
        for members, table, (zeros, ones) in zip(self.classes, self._tables, pattern, strict=True):
            guessed = ((0, zeros), (1, ones), (None, len(members) - zeros - ones))
            for guess, number in guessed:
                added = _mixture([_marked(entry, int(guess == bit)) for bit, entry in enumerate(table)])
                law = law.add(added, number)
        most = sum(zeros + ones for zeros, ones in pattern)
        by_right: dict[int, dict[tuple[Any, ...], Whole]] = {}
        for (*values, right), weight in law.items():
            by_right.setdefault(right or 0, {})[tuple(values)] = weight
        if not divides(law.denominator, self.total):
            raise AssertionError("the total is no multiple of what the clients contribute: a defect of the count")
        factor = self.total // law.denominator
        weights: dict[int, list[Whole]] = {}
        for right, states in by_right.items():
            for state, weight in states.items():
                outputs, below = self._given(state)
                for code, share in outputs.items():
                    weights.setdefault(code, [0] * (most + 1))[right] += weight * (factor // below) * share
        return weights

    def table(self, state: int) -> Table:
        return self._table

    @cached_property
    def _table(self) -> Table:
        ways = prod(len(members) + 1 for members in self.classes)
        if ways > AUDIT_TABLE:
            raise LimitError(
                f"there are {ways:,} ways to count out the secret bits of all kinds of clients, too many",
                "use fewer records",
            )
        sizes = [len(members) for members in self.classes]
        found: dict[Counts, Given] = {
            tuple(ones for _, ones in letters): self._through(law)
            for letters, law in every_law(self._start, self._tables, sizes)
        }
        total = lcm(*(below for _, below in found.values()))
        return {counts: _scaled(given, total) for counts, given in found.items()}


def _scaled(given: Given, total: Whole) -> dict[int, Whole]:
    weights, below = given
    return {code: weight * (total // below) for code, weight in weights.items()}


def _mixture(table: Sequence[Contribution]) -> Contribution:
    """Return the equal mixture of what a client contributes with bit 0 and with bit 1, in canonical order."""
    zero, one = table
    common = lcm(zero.denominator, one.denominator)
    weights: dict[tuple[Any, ...], Whole] = {}
    for entry in table:
        for values, weight in entry.weights:
            weights[values] = weights.get(values, 0) + weight * (common // entry.denominator)
    ordered = sorted(weights.items(), key=lambda item: [(value is not None, value or 0) for value in item[0]])
    return Contribution(tuple(ordered), 2 * common)


def _marked(entry: Contribution, right: int) -> Contribution:
    """Return a contribution extended by one more aggregate, to which it adds `right`."""
    return Contribution(tuple(((*values, right), weight) for values, weight in entry.weights), entry.denominator)
