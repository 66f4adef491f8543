"""Smaller instances of a mechanism at which a claim still fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from tightdp.errors import TightdpError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.exact.rationals import Parameter
from tightdp.language.domains import Values
from tightdp.language.program import Bound, Output
from tightdp.results.report import Smallest
from tightdp.results.result import EventWitness
from tightdp.session.asked import Asked

__all__ = ["Claim", "fewest_records", "smallest"]

_TRIED = 40
"""Values that are tried for one parameter."""


@dataclass(frozen=True)
class Claim:
    """The claim that a mechanism is (ln t, δ)-differentially private."""

    t: Number
    delta: Number

    def loss(self, instance: Asked) -> Exact:
        """Return what is compared with the claim: e^ε, or δ at t."""
        return instance.delta(exp_epsilon=self.t).delta if self.delta else instance.privacy().exp_epsilon

    def fails(self, loss: Exact) -> bool:
        """Say whether a loss breaks the claim."""
        return loss > (self.delta or self.t)


def fewest_records(instance: Asked, claim: Claim) -> Asked:
    """Return the instance with the least n, and all else the same, at which the claim fails."""
    bound = instance.bound
    for n in range(1, instance.n):
        try:
            found = instance.on(bound.program.bind(n, neighbours=bound.neighbours, **bound.parameters))
        except TightdpError:
            continue
        if _fails(found, claim):
            return found
    return instance


def smallest(instance: Asked, claim: Claim) -> Smallest:
    """Return the smallest n, then parameters, then records found at which the claim fails, one after the other."""
    bound = fewest_records(instance, claim).bound
    for name in bound.parameters:
        for value in _simpler(bound.parameters[name]):
            found = _bind(bound, {**bound.parameters, name: value})
            if found is not None and _fails(instance.on(found), claim):
                bound = found
                break
    if bound.neighbours != "add-remove":
        for record in bound.record.values:
            kept = [other for other in bound.record.values if other != record]
            if len(kept) >= 2:
                fewer = replace(bound, record=Values(*kept))
                if _fails(instance.on(fewer), claim):
                    bound = fewer
    final = instance.on(bound)
    return Smallest(
        (("n", bound.n), *bound.parameters.items()),
        tuple(bound.record.values),
        claim.loss(final),
        _event(final, claim),
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


def _fails(instance: Asked, claim: Claim) -> bool:
    try:
        return claim.fails(claim.loss(instance))
    except (TightdpError, RecursionError):
        return False


def _bind(bound: Bound, parameters: dict[str, Parameter]) -> Bound | None:
    try:
        return bound.program.bind(bound.n, neighbours=bound.neighbours, **parameters)
    except TightdpError:
        return None


def _simpler(value: Parameter) -> Iterator[Parameter]:
    """Yield simpler values of the same kind, simplest first: smaller integers; fractions between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        return
    if isinstance(value, int):
        yield from range(min(max(value, 0), _TRIED))
        return
    tried = 0
    for denominator in range(2, value.denominator):
        for numerator in range(1, denominator):
            simple = Fraction(numerator, denominator)
            if simple.denominator == denominator and tried < _TRIED:
                tried += 1
                yield simple
