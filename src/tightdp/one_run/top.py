"""Guessing the bits whose posteriors are large enough, or the k largest, ties to the first clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from math import comb

from tightdp.exact.field import Number
from tightdp.exact.weights import Joint, add_into, times
from tightdp.exact.whole import Whole
from tightdp.one_run.law import AuditLaw, Group
from tightdp.one_run.stages import Outcome, Stage

State = tuple[int, int, int]
"""(node, how many posteriors exceed a value so far, how many attain it and are guessed)."""


def of_group(group: Group, least: Number) -> Joint:
    """Return the weights of (guesses, right) of one group if bits are guessed whose confidence is at least `least`."""

    def guessed(stage: Stage, state: int) -> Iterator[tuple[Outcome, Joint]]:
        for outcome in stage.outcomes[state]:
            guesses = stage.likelier(outcome, lambda confidence: confidence >= least)
            yield outcome, {len(guesses): stage.right(state, outcome, guesses)}

    return group.joint(guessed)


def right_of_top(law: AuditLaw, k: int) -> list[Whole] | None:
    """Return the weights of 0, 1, 2, ... right guesses, or None where the groups' clients interleave."""
    if len(law.distinct) == 1:
        ((group, number),) = law.distinct.items()
        if number == law.n:
            return _alike(group, number, k)
    return _ordered(law, k) if _in_order(law) else None


# independent clients that are alike


def _alike(group: Group, clients: int, k: int) -> list[Whole]:
    """Visit posteriors in descending order; `above[j]` are the weights right where j clients exceed the current one.

    Given all posteriors, the guesses for different clients are right independently of each other, so it does not
    matter which of the clients that attain the k-th largest posterior are guessed.
    """
    below = sum(map(sum, of_group(group, Fraction(1, 2)).values()))
    reached: list[Whole] = [0, 0]
    above: dict[int, list[Whole]] = {0: [1]}
    result: list[Whole] = []
    for value in sorted(group.confidences, reverse=True):
        before, reached = reached, of_group(group, value)[1]
        wrong, right = reached[0] - before[0], reached[1] - before[1]
        level, below = wrong + right, below - wrong - right
        guesses: list[list[Whole]] = [[1]]
        for _ in range(k):
            guesses.append(times(guesses[-1], [wrong, right]))
        after: dict[int, list[Whole]] = {}
        for taken, weights in above.items():
            left, room = clients - taken, k - taken
            enough = _at_least(left, room, level, below)
            add_into(result, [enough * weight for weight in times(weights, guesses[room])])
            for more in range(room) if below else ():
                ways = comb(left, more)
                step = [ways * weight for weight in times(weights, guesses[more])]
                add_into(after.setdefault(taken + more, []), step)
        above = after
    return result


def _at_least(clients: int, room: int, level: Whole, below: Whole) -> Whole:
    """Return the weight of at least `room` clients at a level and the rest below, less the first `room` factors."""
    total: Whole = 0
    power: Whole = 1
    for more in range(clients, room - 1, -1):
        total += comb(clients, more) * level ** (more - room) * power
        power *= below
    return total


# groups in ascending order of their clients


def _in_order(law: AuditLaw) -> bool:
    """Whether stage by stage, the clients come in ascending order, so that ties can be broken on the way."""
    clients = [
        [placed.clients[client] for client in stage.clients]
        for placed in law.groups
        for stage in placed.group.stages
        if stage.clients
    ]
    return all(before[-1] < after[0] for before, after in pairwise(clients))


def _ordered(law: AuditLaw, k: int) -> list[Whole]:
    """Sum over the value of the k-th largest posterior, and over how many are larger."""
    values = {value for group in law.distinct for value in group.confidences}
    right: list[Whole] = []
    for value in values:

        def larger_ones(stage: Stage, outcome: Outcome, value: Number = value) -> int:
            return len(stage.likelier(outcome, lambda confidence: confidence > value))

        most = sum(number * (len(group.numbers(larger_ones)) - 1) for group, number in law.distinct.items())
        for larger in range(min(k, most + 1)):
            add_into(right, _given(law, value, larger, k - larger))
    return right


def _given(law: AuditLaw, value: Number, larger: int, equal: int) -> list[Whole]:
    """Return the weights of right guesses if `larger` posteriors exceed a value and at least `equal` attain it."""
    reached: dict[State, list[Whole]] = {(0, 0, 0): [1]}
    for placed in law.groups:
        reached = _moved(reached, lambda _, start=placed.group.start: start)  # type: ignore[misc]
        for stage in placed.group.stages:
            after: dict[State, list[Whole]] = {}
            steps: dict[tuple[int, int], dict[State, list[Whole]]] = {}
            for (state, above, level), before in reached.items():
                key = state, equal - level
                if key not in steps:
                    steps[key] = _steps(stage, state, value, equal - level)
                for (state_after, more, taken), weights in steps[key].items():
                    if above + more <= larger:
                        found = state_after, above + more, level + taken
                        add_into(after.setdefault(found, []), times(before, weights))
            reached = after
        reached = _moved(reached, lambda _: 0)
    return reached.get((0, larger, equal), [])


def _moved(reached: dict[State, list[Whole]], to: Callable[[int], int]) -> dict[State, list[Whole]]:
    """Return the weights with every node replaced, merging equal states."""
    result: dict[State, list[Whole]] = {}
    for (state, above, level), weights in reached.items():
        add_into(result.setdefault((to(state), above, level), []), weights)
    return result


def _steps(stage: Stage, state: int, value: Number, room: int) -> dict[State, list[Whole]]:
    """Return, by (state after, how many exceed the value, how many attain it and are guessed), the weights right."""
    steps: dict[State, list[Whole]] = {}
    for outcome in stage.outcomes[state]:
        above = stage.likelier(outcome, lambda confidence: confidence > value)
        level = stage.likelier(outcome, lambda confidence: confidence == value)
        taken = {client: level[client] for client in sorted(level)[:room]}
        weights = stage.right(state, outcome, {**above, **taken})
        add_into(steps.setdefault((outcome.state, len(above), len(taken)), []), weights)
    return steps
