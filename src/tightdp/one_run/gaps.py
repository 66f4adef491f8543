"""The efficacy of one-run auditing and its gaps (keinan2025, Sec. 5 and App. C, D), exactly.

DP is the largest posterior of a bit given the output and all other bits. A bit changes the law of its own group only,
so that it is a question about the privacy of the groups, as programs of their secret bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import accumulate

from tightdp.core.nodes import Inexact
from tightdp.errors import LimitError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import power, quotient, times
from tightdp.exact.whole import Whole
from tightdp.methods import questions
from tightdp.methods.base import Control
from tightdp.one_run.law import AuditLaw, Group
from tightdp.one_run.stages import Outcome, Stage
from tightdp.queries.laws import kind_of, largest
from tightdp.queries.privacy import Ends, LeastRatio, Question, TwoLaws


@dataclass(frozen=True)
class Leak:
    """The largest posterior of a secret bit over outputs and clients, and where it occurs.

    `output` is an output that attains it, on which the bit of `client` is `bit` with probability `confidence`.
    """

    confidence: Number
    client: int
    bit: int
    output: object


@dataclass(frozen=True)
class RestrictedRatio:
    """The largest likelihood ratio of datasets that differ in one secret bit: between `lower` and `upper`.

    They are equal unless a search was cut short by a limit, the `reason`.
    """

    lower: Exact
    upper: Exact
    reason: LimitError | None = None


def efficacies(law: AuditLaw) -> tuple[Number, ...]:
    """Return E_1, ..., E_n: E_k is the expected mean of the k largest posteriors of the likelier values."""
    groups = law.distinct
    if len(groups) == 1 and all(number == 1 and len(group.stages) == 1 for group, number in groups.items()):
        (group,) = groups
        sums = _single(group.stages[0], group.start)
    else:
        sums = _sums(groups, law.n)
    return tuple(value / k for k, value in enumerate(sums, 1))


def _single(stage: Stage, state: int) -> list[Number]:
    """Return the expected sums of the 1, 2, ... largest confidences where there is a single stage."""
    sums: list[Whole] = [0] * len(stage.clients)
    for outcome in stage.outcomes[state]:
        best = [value for value, members in zip(outcome.best, stage.classes, strict=True) for _ in members]
        for at, value in enumerate(accumulate(sorted(best, reverse=True))):
            sums[at] += value
    return [quotient(value, stage.total) for value in sums]


def _sums(groups: dict[Group, int], n: int) -> list[Number]:
    """Return the expected sums of the 1, 2, ... largest confidences over independent groups.

    With the confidences v_1 > v_2 > ... and N_j of them at least v_j, the sum of the k largest is
    sum over j of (v_j - v_(j+1)) min(k, N_j), and E min(k, N) = P(N >= 1) + ... + P(N >= k).
    """
    values = sorted({value for group in groups for value in group.confidences}, reverse=True)
    sums: list[Number] = [Fraction(0)] * n
    for value, following in zip(values, [*values[1:], Fraction(0)], strict=True):
        weights: list[Whole] = [1]
        for group, number in groups.items():
            weights = times(weights, power(group.numbers(partial(_at_least, value)), number))
        total = sum(weights)
        weights += [0] * (n + 1 - len(weights))
        tails = list(accumulate(reversed(weights)))[::-1]
        for at, reached in enumerate(accumulate(tails[1:])):
            sums[at] += (value - following) * quotient(reached, total)
    return sums


def _at_least(value: Number, stage: Stage, outcome: Outcome) -> int:
    """Return how many clients have a confidence of at least `value`."""
    needed, below = value.numerator * outcome.weight, value.denominator
    return sum(
        len(members) for best, members in zip(outcome.best, stage.classes, strict=True) if best * below >= needed
    )


def distributional_privacy(law: AuditLaw) -> Leak:
    """Return the distributional privacy (DDP): the largest posterior over outputs of positive probability."""
    best: tuple[Number, int, int, int, Outcome] | None = None
    seen: set[Group] = set()
    for number, placed in enumerate(law.groups):
        if placed.group in seen:
            continue
        seen.add(placed.group)
        for step, stage in enumerate(placed.group.stages):
            for outcome in (outcome for outcomes in stage.outcomes.values() for outcome in outcomes):
                for at, members in enumerate(stage.classes):
                    value = outcome.confidence(at)
                    if best is None or value > best[0]:
                        best = value, number, step, members[0], outcome
    assert best is not None
    value, number, step, client, outcome = best
    placed = law.groups[number]
    stage = placed.group.stages[step]
    codes = [_codes(other.group) for other in law.groups]
    codes[number] = _codes(placed.group, step, outcome)
    return Leak(value, placed.clients[client], outcome.likelier(stage.class_of[client]), law.output(codes))


def _codes(group: Group, step: int = -1, wanted: Outcome | None = None) -> list[int]:
    """Return the codes, by stage, of some possible output of a group, with a wanted outcome at one step."""
    ways: dict[int, list[int]] = {group.start: []}
    for at, stage in enumerate(group.stages):
        after: dict[int, list[int]] = {}
        for state, way in ways.items():
            for outcome in stage.outcomes[state]:
                if at != step or outcome is wanted:
                    after.setdefault(outcome.state, [*way, outcome.code])
        ways = after
    return next(iter(ways.values()))


# differential privacy


def as_posterior(exp_epsilon: Exact) -> Number:
    """Return r / (1 + r) for the ratio r, the largest posterior of a bit given all others; 1 for infinity."""
    return Fraction(1) if isinstance(exp_epsilon, float) else exp_epsilon / (1 + exp_epsilon)


def restricted_ratio(
    law: AuditLaw,
    watch: Callable[[int], None] = lambda nodes: None,
    reached: Callable[[int, Exact], None] = lambda groups, lower: None,
) -> RestrictedRatio:
    """Return the tight ratio over pairs of datasets that differ in one secret bit, and outputs.

    `reached` is called after each group with the number done and the lower end so far.
    """
    lower: Exact = Fraction(1)
    upper: Exact = Fraction(1)
    reason: LimitError | None = None
    for number, group in enumerate(law.distinct, 1):
        try:
            found = questions.tight(group.program, Control(watch))[1]
            ends, why = (found.lower, found.upper), found.reason
        except (LimitError, QueryError) as error:
            ends, why = (Fraction(1), math.inf), LimitError(error.what, error.hint)
        lower, upper, reason = max(lower, ends[0]), max(upper, ends[1]), reason or why
        reached(number, lower)
        if lower == math.inf:
            break
    return RestrictedRatio(lower, upper, None if lower == upper else reason)


def restricted_least(
    law: AuditLaw, delta: Number, error: Inexact | None = None, watch: Callable[[int], None] = lambda nodes: None
) -> Ends:
    """Return both ends of the least t >= 1 with δ(t) <= delta over datasets that differ in one secret bit.

    Raises LimitError where a group has too many datasets.
    """
    least: Ends = (Fraction(1), Fraction(1))
    question: Question[TwoLaws] = LeastRatio(delta)
    for group in law.distinct:
        try:
            pairs = questions.comparison(group.program, Control(watch))[1]
        except QueryError as refusal:
            raise LimitError(refusal.what, refusal.hint) from refusal
        if pairs.incomplete is not None:
            raise pairs.incomplete
        found = largest(pairs, question, kind_of(error))
        least = max(least[0], found.lower), max(least[1], found.upper)
    return least
