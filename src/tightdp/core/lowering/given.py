"""Draws of a round that are given, outcome by outcome, where a loop in the round depends on too much at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any

from tightdp.core.builder import Builder
from tightdp.core.nodes import Expr
from tightdp.core.published import above
from tightdp.exact.field import Number
from tightdp.language.laws import Law, OnIntegers
from tightdp.limits.calibrated import LONG_LOOP, NOISE_BITS


@dataclass
class Given:
    """The draws of a round by their order: outcomes that are given, with their probabilities, and where others are.

    So many have been `made`; laws that follow need to be known up to 2 to the power of minus `bits`.
    """

    bits: int
    outcomes: dict[int, tuple[Any, Number]] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    made: int = 0

    def weight(self, most: int | None = None) -> Number:
        """Return the probability of the outcomes that are given, or of those of the first `most` draws."""
        masses = [mass for at, (_, mass) in self.outcomes.items() if most is None or at < most]
        return prod(masses, start=Fraction(1))


def drawn(
    given: Given | None,
    builder: Builder,
    name: str,
    selector: Expr,
    laws: Sequence[Law | OnIntegers | None],
    active: Expr,
) -> Expr:
    """Return a draw whose law is picked by the selector, or its outcome where that is given."""
    if given is None or any(isinstance(law, OnIntegers) for law in laws):
        return builder.draw(name, selector, laws, active)
    at = given.made
    given.made += 1
    if at in given.outcomes:
        return builder.const(given.outcomes[at][0])
    found = builder.draw(name, selector, laws, active)
    given.places[found.serial] = at
    return found


def bits_of(given: Given | None, share: Fraction = Fraction(1)) -> int:
    """Return how closely loops are to be followed after what is given: up to 2 to the power of minus this.

    They begin as they do with at most that `share` of what is given.
    """
    bits = NOISE_BITS if given is None else given.bits
    if given is not None:
        share = share * above(given.weight(given.made))
    spared = (share.denominator // share.numerator).bit_length() - 1
    return bits - min(spared, bits - LONG_LOOP) // LONG_LOOP * LONG_LOOP  # few: laws are kept by them
