"""Signs of functions on simplices: seen term by term, or by a tangent with a remainder; and where to cut further."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from tightdp.cells.simplices import Function, Length, Simplex, Vector, cut, grown, scaled, split, standard
from tightdp.cells.sums import taken
from tightdp.exact.enclosure import as_fmpq
from tightdp.exact.field import as_ball

_FAR = fmpq(4)
"""Where rays are cut in proofs: the slowest exponential is e^-4 there."""


def enclosed(function: Function) -> Function:
    """Return a function with coefficients that are enclosed."""
    return {key: as_ball(c) for key, c in function.items()}


def covered(function: Function, bounded: int) -> bool:
    """Whether negative terms are at most shares of positive ones, term by term."""

    def most(key: Sequence[Length], other: Sequence[Length]) -> Any:
        """Return an upper end of term/other for all lengths, None where none is known."""
        exponent, far, times = fmpq(0), fmpq(0), fmpq(1)
        for at, ((rate, degree), (over, power)) in enumerate(zip(key, other, strict=True)):
            more = degree - power
            if more < 0:
                return None
            if at < bounded:
                exponent = max(exponent, rate - over)
            elif rate > over or (rate == over and more):
                return None
            elif more:
                times *= (more / (over - rate)) ** more
                far -= more
        return grown(scaled(one, times), exponent + far)

    one: Any = arb(1) if any(isinstance(c, arb) for c in function.values()) else Fraction(1)
    left = {key: c for key, c in function.items() if c > 0}
    return all(c > 0 or taken(left, key, -c, most) for key, c in function.items())


def sign_of(function: Function, bounded: int, tangent: Tangent | None) -> int | None:
    """Return the sign of a function whose coefficients are enclosed, None where it is not seen."""
    if tangent is not None:
        least, most = tangent.least, tangent.most
        if least > tangent.rest:
            return 1
        if most < -tangent.rest:
            return -1
        if least < -tangent.rest and most > tangent.rest:
            return None
    if covered(function, bounded):
        return 1
    return -1 if covered({key: -c for key, c in function.items()}, bounded) else None


def tangent_of(function: Function, bounded: int) -> Tangent | None:
    """Return the tangent of a function on a simplex without rays."""
    return Tangent.of(function, bounded) if bounded == len(next(iter(function))) else None


@dataclass(frozen=True)
class Tangent:
    """A linear function, normal·lengths - bound, that is so close to another one on a simplex without rays."""

    normal: Vector
    bound: fmpq
    rest: arb

    @classmethod
    def of(cls, function: Function, bounded: int) -> Tangent:
        """Return the tangent in the middle of a function that is enclosed, divided by its main exponential."""
        middle = fmpq(1, bounded + 1)
        main = _main(function, bounded)
        function = _divided(function, main)
        value, slopes, rest = arb(0), [arb(0)] * bounded, arb(0)
        for key, c in function.items():
            here = grown(scaled(c, middle ** sum(k for _, k in key)), middle * sum(rate for rate, _ in key))
            value += here
            for i, (rate, degree) in enumerate(key):
                slopes[i] += scaled(here, rate + degree / middle)
            far = [*(rate for rate, _ in key), fmpq(0)]
            wide, many = max(abs(rate - sum(far) * middle) for rate in far), sum(degree for _, degree in key)
            bend = wide**2 + 2 * wide * many + many * (many - 1)
            rest += scaled(grown(abs(c), max(far)), bend / 2)
        level = value - sum((scaled(slope, middle) for slope in slopes), arb(0))
        normal, bound = tuple(_near(slope) for slope in slopes), -_near(level)
        rest += abs(level + bound) + sum((abs(s - n) for s, n in zip(slopes, normal, strict=True)), arb(0))
        return cls(normal, bound, rest)

    @property
    def least(self) -> arb:
        """Its smallest value."""
        return arb(min(fmpq(0), *self.normal) - self.bound)

    @property
    def most(self) -> arb:
        """Its largest value."""
        return arb(max(fmpq(0), *self.normal) - self.bound)


def _main(function: Function, bounded: int) -> Vector:
    """Return the rates of the largest term in the middle."""
    middle = fmpq(1, bounded + 1)
    sizes = {key: grown(abs(c), middle * sum(rate for rate, _ in key[:bounded])) for key, c in function.items()}
    return tuple(rate for rate, _ in max(sizes, key=lambda key: float(sizes[key].mid())))


def _divided(function: Function, rates: Vector) -> Function:
    """Return a function divided by an exponential."""
    return {
        tuple((rate - less, degree) for (rate, degree), less in zip(key, rates, strict=True)): c
        for key, c in function.items()
    }


def _near(value: arb) -> fmpq:
    return as_fmpq(float(value.mid()))


def halves(function: Function, bounded: int, far: fmpq = _FAR) -> list[Simplex]:
    """Cut the simplex of all lengths far out along its rays, else where a function changes most."""
    count = len(next(iter(function)))
    simplex = standard(bounded, count)
    if bounded < count:
        slowest = [
            min((abs(key[j][0]) for key in function if key[j][0]), default=fmpq(1)) for j in range(bounded, count)
        ]
        return [part for side in cut(simplex, (*[fmpq(0)] * bounded, *slowest), far) for part in side]

    function = _divided(function, _main(function, bounded))

    def change(i: int, j: int) -> float:
        return sum(
            abs(float(c.mid())) * float((key[j - 1][0] - (key[i - 1][0] if i else 0)) ** 2 + key[j - 1][1])
            for key, c in function.items()
        )

    edges = [(i, j) for j in range(1, bounded + 1) for i in range(j)]
    return split(simplex, *max(edges, key=lambda edge: change(*edge)))
