"""Small mechanisms on which audit rules are tried: each hides its records in another way.

All have a finite ε at the δ that they are made for: on others no rule can report too much.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightdp.language.domains import Bit
from tightdp.language.primitives import choice, flip, geometric
from tightdp.session.instance import Instance
from tightdp.session.mechanism import mechanism

__all__ = ["default_programs"]


@mechanism(record=Bit)
def randomized_response(x: Any, lam: Any) -> Any:
    """Every bit, flipped with probability lam."""
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit)
def randomized_response_delta(x: Any, leak: Any, lam: Any) -> Any:
    """Every bit is given away with probability `leak`, else flipped with probability lam."""
    return tuple(2 + b if flip(leak) else (1 - b if flip(lam) else b) for b in x)


@mechanism(record=Bit)
def all_or_nothing(x: Any, p: Any) -> Any:
    """All records with probability p, else nothing."""
    return x if flip(p) else None


@mechanism(record=Bit)
def all_or_noise(x: Any, p: Any, lam: Any) -> Any:
    """All records with probability p, else randomized response; nothing says which."""
    noisy = tuple(1 - b if flip(lam) else b for b in x)
    return x if flip(p) else noisy


@mechanism(record=Bit)
def name_or_nothing(x: Any, p: Any) -> Any:
    """One record, uniformly chosen, with its place, with probability p, else nothing."""
    place = choice(tuple(range(len(x))))
    return (place, x[place]) if flip(p) else None


@mechanism(record=Bit)
def noisy_count(x: Any, ratio: Any) -> Any:
    """The number of ones with two-sided geometric noise, clamped."""
    return geometric(sum(x), ratio, 0, len(x))


@mechanism(record=Bit)
def noisy_differences(x: Any, lam: Any) -> Any:
    """Whether neighbouring records differ, each with probability lam the opposite: one record unlocks the others."""
    return tuple((a ^ b) ^ flip(lam) for a, b in zip(x, x[1:] + x[:1], strict=True))


def default_programs(delta: Fraction) -> tuple[Instance, ...]:
    """Return the instances that a rule is tried on by default; the larger δ, the more they give away."""
    pure = (
        randomized_response.bind(n=6, lam="1/4"),
        randomized_response.bind(n=8, lam="1/10"),
        randomized_response.bind(n=8, lam="1/2"),
        noisy_count.bind(n=6, ratio="1/2"),
        noisy_differences.bind(n=4, lam="1/4"),
    )
    if not delta:
        return pure
    each = min(Fraction(1), 6 * delta)
    return (
        *pure,
        all_or_nothing.bind(n=5, p=delta),
        all_or_nothing.bind(n=8, p=delta),
        all_or_noise.bind(n=5, p=delta, lam="1/4"),
        randomized_response_delta.bind(n=6, leak=delta, lam="1/4"),
        name_or_nothing.bind(n=6, p=each),
    )
