"""The tight e^ε of a mechanism restricted to the datasets that a pair vector can pick."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.logic.encode import encode
from tightdp.methods.chain import make_chain
from tightdp.methods.chain_search import largest_ratio
from tightdp.one_run.functions import Functions
from tightdp.one_run.law import AuditLaw, Group
from tightdp.one_run.stage import Counts, Stage, Table
from tightdp.one_run.traced import TracedStage

__all__ = ["RestrictedRatio", "as_posterior", "restricted_ratio"]

_FEW = 6
"""With at most this many secret bits, all their values are enumerated."""


@dataclass(frozen=True)
class RestrictedRatio:
    """The largest likelihood ratio of datasets that differ in one secret bit: between `lower` and `upper`.

    They are equal unless a search was cut short by a limit, the `reason`.
    """

    lower: Exact
    upper: Exact
    reason: LimitError | None = None


def as_posterior(exp_epsilon: Exact) -> Number:
    """Return r / (1 + r) for the ratio r, the largest posterior of a bit given all others; 1 for infinity."""
    return Fraction(1) if isinstance(exp_epsilon, float) else exp_epsilon / (1 + exp_epsilon)


def restricted_ratio(
    law: AuditLaw,
    backend: str,
    watch: Callable[[int], None] = lambda nodes: None,
    reached: Callable[[int, Exact], None] = lambda groups, lower: None,
) -> RestrictedRatio:
    """Return the tight ratio over pairs of datasets that differ in one secret bit, and outputs.

    A bit changes the law of its own stage only, so the largest ratio of any stage is that of the mechanism. `reached`
    is called after each group with the number done and the lower end so far.
    """
    lower: Exact = Fraction(1)
    upper: Exact = Fraction(1)
    reason: LimitError | None = None
    for number, group in enumerate(law.distinct, 1):
        found = _of_group(group, backend, watch)
        lower, upper = max(lower, found.lower), max(upper, found.upper)
        reason = reason or found.reason
        reached(number, lower)
        if lower == math.inf:
            break
    return RestrictedRatio(lower, upper, None if lower == upper else reason)


def _of_group(group: Group, backend: str, watch: Callable[[int], None]) -> RestrictedRatio:
    ratio: Exact = Fraction(1)
    try:
        for stage in group.stages:
            for state in stage.outcomes if stage.classes else ():
                watch(0)
                ratio = max(ratio, _of_stage(stage, state))
                if ratio == math.inf:
                    break
        return RestrictedRatio(ratio, ratio)
    except LimitError as error:
        watch(0)
        return _of_chain(group, backend, watch) or RestrictedRatio(Fraction(1), math.inf, error)


def _of_chain(group: Group, backend: str, watch: Callable[[int], None]) -> RestrictedRatio | None:
    """Return what a search along the diagram of the group finds, or None where it is not a chain."""
    formula = group.formula if group.aggregate is None else encode(group.program, backend, watch)
    chain = make_chain(formula, group.bound.record)
    if chain is None:
        return None
    found = largest_ratio(chain, group.bound, lambda: watch(0))
    return RestrictedRatio(found.lower, found.upper, found.reason)


def _of_stage(stage: Stage, state: int) -> Exact:
    if not isinstance(stage, TracedStage) or len(stage.classes) <= _FEW:
        return _of_table(stage.table(state)[0], [len(members) for members in stage.classes])
    functions = Functions(len(stage.clients))
    ratio: Exact = Fraction(1)
    for outcome in stage.outcomes[state]:
        ratio = max(ratio, functions.largest_change(stage.function(state, outcome, functions, stage.clients)))
    return ratio


def _of_table(table: Table, sizes: list[int]) -> Exact:
    """Return the largest ratio of the weights of an outcome for counts that differ in one bit."""
    up: Whole = 1
    down: Whole = 1
    for counts, other in _neighbours(table, sizes):
        ours, theirs = table[counts], table[other]
        for code in ours.keys() | theirs.keys():
            less, more = sorted((ours.get(code, 0), theirs.get(code, 0)))
            if not less:
                return math.inf
            if more * down > up * less:
                up, down = more, less
    return quotient(up, down)


def _neighbours(table: Table, sizes: list[int]) -> Iterator[tuple[Counts, Counts]]:
    for counts in table:
        for at, ones in enumerate(counts):
            if ones < sizes[at]:
                yield counts, (*counts[:at], ones + 1, *counts[at + 1 :])
