"""The efficacy of one-run auditing and its gaps (keinan2025, Sec. 5 and App. C, D), exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from tightdp.exact.field import Number
from tightdp.exact.polynomial import add_into, power, times
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.one_run.law import AuditLaw, Group
from tightdp.one_run.stage import Outcome, Stage

__all__ = ["Leak", "confidences", "distributional_privacy", "efficacies"]


@dataclass(frozen=True)
class Leak:
    """The largest posterior of a secret bit over outputs and clients, and where it occurs.

    `output` is an output that attains it, on which the bit of `client` is `bit` with probability `confidence`.
    """

    confidence: Number
    client: int
    bit: int
    output: object


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
    values = sorted({value for group in groups for value in confidences(group)}, reverse=True)
    sums: list[Number] = [Fraction(0)] * n
    for value, following in zip(values, [*values[1:], Fraction(0)], strict=True):
        weights: list[Whole] = [1]
        total: Whole = 1
        for group, number in groups.items():
            here, below = _numbers(group, value)
            weights, total = times(weights, power(here, number)), total * below**number
        weights += [0] * (n + 1 - len(weights))
        tails = list(accumulate(reversed(weights)))[::-1]
        for at, reached in enumerate(accumulate(tails[1:])):
            sums[at] += (value - following) * quotient(reached, total)
    return sums


def confidences(group: Group) -> set[Number]:
    """Return every confidence that some client of a group can have."""
    return {
        outcome.confidence(at)
        for stage in group.stages
        for outcomes in stage.outcomes.values()
        for outcome in outcomes
        for at in range(len(stage.classes))
    }


def _numbers(group: Group, value: Number) -> tuple[list[Whole], Whole]:
    """Return the weights of the numbers of clients of a group whose confidence is at least `value`, and the total."""
    reached: dict[int, list[Whole]] = {group.start: [1]}
    total: Whole = 1
    for stage in group.stages:
        after: dict[int, list[Whole]] = {}
        for state, before in reached.items():
            steps: dict[int, list[Whole]] = {}
            for outcome in stage.outcomes[state]:
                number = _at_least(stage, outcome, value)
                add_into(steps.setdefault(outcome.state, []), [0] * number + [outcome.weight])
            for state_after, step in steps.items():
                add_into(after.setdefault(state_after, []), times(before, step))
        reached, total = after, total * stage.total
    result: list[Whole] = []
    for weights in reached.values():
        add_into(result, weights)
    return result, total


def _at_least(stage: Stage, outcome: Outcome, value: Number) -> int:
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
    codes = [_some_codes(other.group) for other in law.groups]
    codes[number] = _codes_with(placed.group, step, outcome)
    return Leak(value, placed.clients[client], outcome.likelier(stage.class_of[client]), law.output(codes))


def _some_codes(group: Group) -> list[int]:
    """Return the codes, by stage, of some possible output of a group."""
    return _codes_from(group.stages, group.start)


def _codes_from(stages: Sequence[Stage], state: int) -> list[int]:
    codes = []
    for stage in stages:
        outcome = stage.outcomes[state][0]
        codes.append(outcome.code)
        state = outcome.state
    return codes


def _codes_with(group: Group, step: int, wanted: Outcome) -> list[int]:
    """Return the codes of an output of a group with a given outcome at one stage."""
    stage = group.stages[step]
    (entry,) = (state for state, outcomes in stage.outcomes.items() if any(o is wanted for o in outcomes))
    before = _way(group, step, entry)
    return [*before, wanted.code, *_codes_from(group.stages[step + 1 :], wanted.state)]


def _way(group: Group, step: int, entry: int) -> list[int]:
    """Return codes of the stages before `step` that lead from the start to a state."""
    ways: dict[int, list[int]] = {group.start: []}
    for stage in group.stages[:step]:
        ways = {o.state: [*way, o.code] for state, way in ways.items() for o in stage.outcomes[state]}
    return ways[entry]
