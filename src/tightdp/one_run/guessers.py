"""Guessers of one-run audits, and the exact joint law of how many bits they guess and how many they get right.

A guesser sees the output and gives, for every client, 0, 1 or None (no guess). All built-in ones guess the likelier
value of a bit (maximum likelihood, the prior being uniform) and 0, that is record a_i, where both are equally likely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any, TypeAlias

from tightdp.errors import ParameterError
from tightdp.exact.field import Number
from tightdp.exact.parameters import as_number
from tightdp.exact.rationals import as_int
from tightdp.exact.weights import Joint, add_into, joint_power, joint_times, quotient, times
from tightdp.exact.whole import Whole, gcd, lcm
from tightdp.language.outputs import Output
from tightdp.one_run.law import AuditLaw, Group
from tightdp.one_run.stages import Outcome, Stage


@dataclass(frozen=True)
class Threshold:
    """Guess every bit whose larger posterior is at least `least`; 1/2: never abstain, 1: guess only when certain.

    Raises ParameterError unless `least` is a number from 1/2 to 1.
    """

    least: Number = Fraction(1, 2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "least", as_number(self.least))
        if not Fraction(1, 2) <= self.least <= 1:
            raise ParameterError(f"the threshold is {self.least}", "give a posterior between 1/2 and 1")


@dataclass(frozen=True)
class Top:
    """Guess the `k` bits with the largest posteriors; among equals those of the first clients."""

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", as_int(self.k, "the number of guesses"))


@dataclass(frozen=True)
class Function:
    """A function of the output that returns 0, 1 or None for every client."""

    function: Callable[[Output], Sequence[int | None]]


Guesser: TypeAlias = Threshold | Top | Function

certain = Threshold(Fraction(1))
"""Guess only bits that the output determines."""


@dataclass(frozen=True)
class JointLaw:
    """The law of (number of guesses, number of right guesses) among n secret bits: (r, v, probability), ascending."""

    n: int
    entries: tuple[tuple[int, int, Number], ...]

    @property
    def guesses(self) -> Number:
        """The expected number of guesses."""
        return sum((r * p for r, _, p in self.entries), Fraction(0))

    @property
    def right(self) -> Number:
        """The expected number of right guesses."""
        return sum((v * p for _, v, p in self.entries), Fraction(0))

    @property
    def share(self) -> Number | None:
        """The expected share of right guesses among those made, given that one is made; None if none ever is."""
        made = sum((p for r, _, p in self.entries if r), Fraction(0))
        return sum((Fraction(v, r) * p for r, v, p in self.entries if r), Fraction(0)) / made if made else None

    def to_dict(self) -> dict[tuple[int, int], Number]:
        """Return the law as a dictionary."""
        return {(r, v): p for r, v, p in self.entries}


def as_joint_law(n: int, joint: Mapping[int, Sequence[Whole]]) -> JointLaw:
    """Return the law whose weights are given by number of guesses, then by number right."""
    total = sum(map(sum, joint.values()))
    shared = gcd(total, *(weight for weights in joint.values() for weight in weights))
    total //= shared
    return JointLaw(
        n,
        tuple(
            (r, v, quotient(weight // shared, total))
            for r in sorted(joint)
            for v, weight in enumerate(joint[r])
            if weight
        ),
    )


def joint_law(law: AuditLaw, guesser: Guesser) -> JointLaw:
    """Return the exact joint law of the numbers of guesses and of right guesses."""
    match guesser:
        case Threshold(least):
            return _by_threshold(law, least)
        case Top(k):
            if not 1 <= k <= law.n:
                raise ParameterError(f"the number of guesses is {k}", f"give a number from 1 to {law.n}")
            steps = k * sum(len(group.confidences) for group in law.distinct)  # of a search that lists no outputs
            right = right_of_top(law, k) if law.outputs > steps else None
            if right is not None:
                return as_joint_law(law.n, {k: right})
            return _by_output(law, lambda _, known: _top_of(known, k))
        case Function(function):
            return _by_output(law, lambda output, _: _checked(function(output), law.n))


def _by_threshold(law: AuditLaw, least: Number) -> JointLaw:
    joint: Joint = {0: [1]}
    for group, number in law.distinct.items():
        joint = joint_times(joint, joint_power(of_group(group, least), number))
    return as_joint_law(law.n, joint)


def _top_of(known: Sequence[tuple[Number, int]], k: int) -> list[int | None]:
    """Return the guesses for the k largest posteriors; `known` are (larger posterior, likelier bit) by client."""
    chosen = set(sorted(range(len(known)), key=lambda client: (-known[client][0], client))[:k])
    return [bit if client in chosen else None for client, (_, bit) in enumerate(known)]


def _by_output(law: AuditLaw, rule: Callable[[Output, Sequence[tuple[Number, int]]], Sequence[int | None]]) -> JointLaw:
    """Enumerate the outputs; `rule` receives each one with (larger posterior, likelier bit) by client."""
    joint: Joint = {}
    for taken in law.every_output():
        output = law.output([[outcome.code for _, _, outcome in steps] for steps in taken])
        known: list[tuple[Number, int]] = [(Fraction(1, 2), 0)] * law.n
        placed_steps = [
            (placed.clients, *step) for placed, steps in zip(law.groups, taken, strict=True) for step in steps
        ]
        for clients, stage, _, outcome in placed_steps:
            for client, at in stage.class_of.items():
                known[clients[client]] = outcome.confidence(at), outcome.likelier(at)
        guesses = rule(output, known)
        weights: list[Whole] = [1]
        for clients, stage, state, outcome in placed_steps:
            mine = {c: bit for c in stage.clients if (bit := guesses[clients[c]]) is not None}
            weights = times(weights, stage.right(state, outcome, mine))
        add_into(joint.setdefault(sum(bit is not None for bit in guesses), []), weights)
    return as_joint_law(law.n, joint)


def _checked(guesses: Any, n: int) -> list[int | None]:
    """Return the guesses of a user's guesser. Raises ParameterError where it is not one of 0, 1, None per client."""
    if isinstance(guesses, str) or not isinstance(guesses, Sequence) or len(guesses) != n:
        raise ParameterError(f"the guesser returned {guesses!r}", f"return a sequence of {n} guesses: 0, 1 or None")
    result: list[int | None] = []
    for client, guess in enumerate(guesses):
        if guess is not None and guess not in (0, 1):
            raise ParameterError(f"the guess for client {client + 1} is {guess!r}", "guess 0, 1 or None")
        result.append(None if guess is None else int(guess))
    return result


# classic audits


def classic_law(law: Mapping[Output, Number], law_prime: Mapping[Output, Number], runs: int, least: Number) -> JointLaw:
    """Return the law of an audit of many runs, each on x or x' with probability 1/2 (keinan2025, Alg. 2).

    A run is guessed where the larger posterior of x or x' given its output is at least `least`; ties are guessed x.
    """
    below = 2 * lcm(*(p.denominator for p in (*law.values(), *law_prime.values())))
    passed: Whole = 0
    wrong: Whole = 0
    right: Whole = 0
    for output in law.keys() | law_prime.keys():
        chances = [other.get(output, Fraction(0)) for other in (law, law_prime)]
        masses = [p.numerator * (below // p.denominator) for p in chances]
        if max(masses) * least.denominator >= sum(masses) * least.numerator:
            right, wrong = right + max(masses), wrong + min(masses)
        else:
            passed += sum(masses)
    return as_joint_law(runs, joint_power({0: [passed], 1: [wrong, right]}, runs))


# the k largest posteriors


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
