"""Guessers of one-run audits, and the exact joint law of how many bits they guess and how many they get right.

A guesser sees the output and gives, for every client, 0, 1 or None (no guess). All built-in ones guess the likelier
value of a bit (maximum likelihood, the prior being uniform) and 0, that is record a_i, where both are equally likely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, TypeAlias

from tightdp.errors import LimitError, ParameterError
from tightdp.exact.expressions import as_number
from tightdp.exact.field import Number
from tightdp.exact.polynomial import Joint, add_into, joint_power, joint_times, times
from tightdp.exact.rationals import as_int
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole, gcd
from tightdp.language.program import Output
from tightdp.one_run.law import AuditLaw, Group
from tightdp.one_run.stage import Outcome, Stage
from tightdp.one_run.top import right_of_top

__all__ = ["Function", "Guesser", "JointLaw", "Threshold", "Top", "as_joint_law", "certain", "joint_law"]

MAX_OUTPUTS = 1 << 16
"""How many outputs a guesser that looks at whole outputs may be asked about."""

FEW_OUTPUTS = 1024
"""Up to how many outputs the k largest posteriors are found output by output."""


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
            return _top(law, k)
        case Function(function):
            return _by_output(law, lambda output, _: _checked(function(output), law.n))


# rules that decide on every client by itself


def _by_threshold(law: AuditLaw, least: Number) -> JointLaw:
    joint: Joint = {0: [1]}
    for group, number in law.distinct.items():
        joint = joint_times(joint, joint_power(_group_joint(group, least), number))
    return as_joint_law(law.n, joint)


def _group_joint(group: Group, least: Number) -> Joint:
    """Return the weights of (guesses, right) of one group."""
    reached: dict[int, Joint] = {group.start: {0: [1]}}
    for stage in group.stages:
        after: dict[int, Joint] = {}
        for state, before in reached.items():
            for state_after, step in _stage_joint(stage, state, least).items():
                target = after.setdefault(state_after, {})
                for r, weights in joint_times(before, step).items():
                    add_into(target.setdefault(r, []), weights)
        reached = after
    result: Joint = {}
    for joint in reached.values():
        for r, weights in joint.items():
            add_into(result.setdefault(r, []), weights)
    return result


def _stage_joint(stage: Stage, state: int, least: Number) -> dict[int, Joint]:
    """Return, by the state after a stage, the weights of (guesses, right)."""
    found: dict[int, Joint] = {}
    for outcome in stage.outcomes[state]:
        guesses = stage.likelier(outcome, lambda confidence: confidence >= least)
        weights = stage.right(state, outcome, guesses)
        add_into(found.setdefault(outcome.state, {}).setdefault(len(guesses), []), weights)
    return found


# the k largest posteriors


def _top(law: AuditLaw, k: int) -> JointLaw:
    """Enumerate the outputs where they are few, or where ties cannot be broken group by group. Raises LimitError."""
    if _outputs(law) > FEW_OUTPUTS:
        right = right_of_top(law, k)
        if right is not None:
            return as_joint_law(law.n, {k: right})
    return _by_output(law, lambda _, known: _top_of(known, k))


def _outputs(law: AuditLaw) -> int:
    """Return how many outputs there are."""
    return prod(_ways(placed.group) for placed in law.groups)


def _ways(group: Group) -> int:
    ways = {group.start: 1}
    for stage in group.stages:
        after: dict[int, int] = {}
        for state, number in ways.items():
            for outcome in stage.outcomes[state]:
                after[outcome.state] = after.get(outcome.state, 0) + number
        ways = after
    return sum(ways.values())


def _top_of(known: Sequence[tuple[Number, int]], k: int) -> list[int | None]:
    """Return the guesses for the k largest posteriors; `known` are (larger posterior, likelier bit) by client."""
    chosen = set(sorted(range(len(known)), key=lambda client: (-known[client][0], client))[:k])
    return [bit if client in chosen else None for client, (_, bit) in enumerate(known)]


# rules that look at whole outputs


def _by_output(law: AuditLaw, rule: Callable[[Output, Sequence[tuple[Number, int]]], Sequence[int | None]]) -> JointLaw:
    """Enumerate the outputs; `rule` receives each one with (larger posterior, likelier bit) by client."""
    joint: Joint = {}
    for taken in _every_output(law):
        output = law.output([[outcome.code for _, _, outcome in steps] for steps in taken])
        known: list[tuple[Number, int]] = [(Fraction(1, 2), 0)] * law.n
        for placed, steps in zip(law.groups, taken, strict=True):
            for stage, _, outcome in steps:
                for client, at in stage.class_of.items():
                    known[placed.clients[client]] = outcome.confidence(at), outcome.likelier(at)
        guesses = rule(output, known)
        weights: list[Whole] = [1]
        for placed, steps in zip(law.groups, taken, strict=True):
            for stage, state, outcome in steps:
                mine = {c: bit for c in stage.clients if (bit := guesses[placed.clients[c]]) is not None}
                weights = times(weights, stage.right(state, outcome, mine))
        made = sum(bit is not None for bit in guesses)
        add_into(joint.setdefault(made, []), weights)
    return as_joint_law(law.n, joint)


Step: TypeAlias = tuple[Stage, int, Outcome]
"""A stage, the state before it, and its outcome."""


def _every_output(law: AuditLaw) -> Iterator[list[list[Step]]]:
    """Yield every output as the steps that each group takes. Raises LimitError where they are too many."""
    number = _outputs(law)
    if number > MAX_OUTPUTS:
        raise LimitError(
            f"there are {number:,} outputs, too many to ask a guesser about each",
            "use fewer records, or a guesser that is a threshold",
        )
    yield from map(list, product(*(_every_way(placed.group) for placed in law.groups)))


def _every_way(group: Group) -> Iterator[list[Step]]:
    ways: list[tuple[int, list[Step]]] = [(group.start, [])]
    for stage in group.stages:
        ways = [
            (outcome.state, [*steps, (stage, state, outcome)])
            for state, steps in ways
            for outcome in stage.outcomes[state]
        ]
    return (steps for _, steps in ways)


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
