"""Guessers of one-run audits, and the exact joint law of how many bits they guess and how many they get right.

A guesser sees the output and gives, for every client, 0, 1 or None (no guess). All built-in ones guess the likelier
value of a bit (maximum likelihood, the prior being uniform) and 0, that is record a_i, where both are equally likely.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.errors import ParameterError
from tightdp.exact.field import Number
from tightdp.exact.parameters import as_number
from tightdp.exact.rationals import as_int
from tightdp.exact.weights import Joint, add_into, joint_power, joint_times, quotient, times
from tightdp.exact.whole import Whole, gcd, lcm
from tightdp.language.program import Output
from tightdp.one_run.law import AuditLaw
from tightdp.one_run.top import of_group, right_of_top


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
