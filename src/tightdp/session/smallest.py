"""A claim that fails, and the smallest instances at which it still does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from tightdp.errors import TightdpError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.exact.rationals import Parameter
from tightdp.language.domains import Values
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import Output
from tightdp.language.program import Bound
from tightdp.limits.calibrated import FEW_VALUES
from tightdp.results.report import Smallest
from tightdp.results.result import EventWitness, PairWitness
from tightdp.session.asked import Asked

Answer: TypeAlias = "tuple[Exact, PairWitness | None]"
"""What is compared with a claim, and the pair that attains it."""


@dataclass(frozen=True)
class Claim:
    """The claim that a mechanism is (ln t, δ)-differentially private."""

    t: Number
    delta: Number

    def ask(self, instance: Asked) -> Answer:
        """Return what is compared with the claim, e^ε or δ at t, and the pair that attains it."""
        if self.delta:
            delta = instance.delta(exp_epsilon=self.t)
            return delta.delta, delta.witness
        privacy = instance.privacy()
        return privacy.exp_epsilon, privacy.witness

    def fails(self, loss: Exact) -> bool:
        """Say whether a loss breaks the claim."""
        return loss > (self.delta or self.t)


def fewest_records(instance: Asked, claim: Claim, answer: Answer) -> tuple[Asked, Answer]:
    """Return the instance with the least n, and all else the same, at which the claim fails, and the answer there.

    `answer` is that of the instance itself.
    """
    bound = instance.bound
    for n in range(1, instance.n):
        found = _bind(bound, n, bound.parameters)
        if found is not None and (fewer := _failing(smaller := instance.on(found), claim)):
            return smaller, fewer
    return instance, answer


def smallest(instance: Asked, claim: Claim, loss: Exact) -> Smallest:
    """Return the simplest parameters, then the fewest records found with which the claim fails, one after the other.

    `loss` is that of the instance.
    """
    found = instance
    for name in instance.bound.parameters:
        for value in _simpler(instance.bound.parameters[name]):
            bound = _bind(found.bound, instance.n, {**found.bound.parameters, name: value})
            if bound is not None and (less := _failing(simpler := instance.on(bound), claim)):
                found, loss = simpler, less[0]
                break
    relation = relation_of(instance.bound)
    if not relation.custom and relation.name != "add-remove":  # others may lead to any record
        for record in instance.bound.record.values:
            kept = [other for other in found.bound.record.values if other != record]
            if len(kept) < 2:
                continue
            fewer = instance.on(replace(found.bound, record=Values(*kept)))
            if less := _failing(fewer, claim):
                found, loss = fewer, less[0]
    return Smallest(
        (("n", found.n), *found.bound.parameters.items()),
        tuple(found.bound.record.values),
        loss,
        _event(found, claim),
    )


def _event(instance: Asked, claim: Claim) -> EventWitness:
    """Return the fewest outputs whose probabilities on a pair of neighbours break the claim."""
    found = instance.delta(exp_epsilon=claim.t).witness
    assert found is not None, "a claim that fails has a witness"
    ours, theirs = dict(instance.distribution(found.x).law), dict(instance.distribution(found.x_prime).law)
    excess = [(mass - claim.t * theirs.get(output, Fraction(0)), output) for output, mass in ours.items()]
    excess.sort(key=lambda entry: entry[0], reverse=True)
    event: list[Output] = []
    total = Fraction(0)
    for more, output in excess:
        event.append(output)
        total += more
        if total > claim.delta:
            break
    return EventWitness(found.x, found.x_prime, tuple(event))


def _failing(instance: Asked, claim: Claim) -> Answer | None:
    """Return the answer of an instance at which the claim fails; None for others."""
    try:
        answer = claim.ask(instance)
    except (TightdpError, RecursionError):
        return None
    return answer if claim.fails(answer[0]) else None


def _bind(bound: Bound, n: int, parameters: Mapping[str, Parameter]) -> Bound | None:
    try:
        return bound.program.bind(n, bound.neighbours, bound.strategy, **parameters)
    except TightdpError:
        return None


def _simpler(value: Parameter) -> Iterator[Parameter]:
    """Yield simpler values of the same kind, simplest first: smaller integers; fractions between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        return
    if isinstance(value, int):
        yield from range(min(max(value, 0), FEW_VALUES))
        return
    tried = 0
    for denominator in range(2, value.denominator):
        for numerator in range(1, denominator):
            simple = Fraction(numerator, denominator)
            if simple.denominator == denominator and tried < FEW_VALUES:
                tried += 1
                yield simple
