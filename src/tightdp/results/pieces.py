"""Answers with an unknown: piecewise functions with exact ends, and the values for which claims hold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.exact.field import Number
from tightdp.exact.generators import Unknown
from tightdp.exact.numbers import Exact
from tightdp.results.efficacy import Row
from tightdp.results.result import PairWitness, Result
from tightdp.results.shown import Drawn, Recorded

__all__ = [
    "AccuracyPieces",
    "Best",
    "Distributions",
    "EfficacyPieces",
    "End",
    "GuessingPieces",
    "Holds",
    "Part",
    "Pieces",
    "Solution",
]


@dataclass(frozen=True)
class End(Recorded):
    """An end of an interval of the unknown: exact, infinite, or the root of a polynomial between two rationals."""

    value: Exact | None
    polynomial: str = ""
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)

    def __float__(self) -> float:
        return float((self.low + self.high) / 2 if self.value is None else self.value)


class _Interval:
    """The values of the unknown between two ends, which belong to them or not."""

    start: End
    stop: End
    with_start: bool
    with_stop: bool

    def holds_at(self, value: Number) -> bool:
        """Whether a value of the unknown belongs to it."""
        if self.start.value == value == self.stop.value:
            return True
        after = self.start.high <= value if self.start.value is None else self.start.value < value
        before = self.stop.low >= value if self.stop.value is None else self.stop.value > value
        at_end = (self.with_start and self.start.value == value) or (self.with_stop and self.stop.value == value)
        return (after and before) or at_end


@dataclass(frozen=True)
class Part(_Interval, Recorded):
    """On an interval of the unknown, one rational function of it, and a witness that is worst there.

    `value` is a Fraction, a number with the unknown in it (`to_sympy` of the result's `expression`), or infinite; for
    output laws a tuple of (output, probability). A point at which the answer is not continuous is a part of its own.
    """

    start: End
    stop: End
    value: Any
    witness: PairWitness | tuple[Any, ...] | None = None
    with_start: bool = True
    with_stop: bool = True
    """Whether each end belongs to it: not where the program does not run there, or the answer is discontinuous."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Pieces(Drawn, Result):
    """The tight e^ε as a function of the unknown, or δ at an e^ε; `what` says which ("exp_epsilon", "delta")."""

    query: ClassVar[str] = "privacy"
    unknown: Unknown
    what: str
    pieces: tuple[Part, ...]
    at: tuple[tuple[str, Exact], ...] = ()
    """What the question was asked at: e^ε for a δ, α for an accuracy."""

    def part(self, value: Number) -> Part | None:
        """Return the part that holds at a value of the unknown, None where no part does."""
        return next((each for each in self.pieces if each.holds_at(value)), None)


@dataclass(frozen=True, kw_only=True, repr=False)
class AccuracyPieces(Pieces):
    """The tight 1 - β at an error bound as a function of the unknown; see `Accuracy`."""

    query: ClassVar[str] = "accuracy"
    relative: bool = False


@dataclass(frozen=True, kw_only=True, repr=False)
class Distributions(Pieces):
    """The output law on one dataset as a function of the unknown."""

    query: ClassVar[str] = "distribution"
    x: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class EfficacyPieces(Pieces):
    """The efficacies of one-run auditing as functions of the unknown.

    The values of a part are ((guesses, name), number), with the names of the numbers of a `Row`.
    """

    query: ClassVar[str] = "efficacy"

    def rows(self, part: Part) -> tuple[Row, ...]:
        """Return the rows of a part."""
        numbers: dict[int, dict[str, Number]] = {}
        for (guesses, name), value in part.value:
            numbers.setdefault(guesses, {})[name] = value
        return tuple(
            Row(guesses, named["efficacy"], named["ac"], named["ddp"], named["dp"], named.get("adaptive"))
            for guesses, named in numbers.items()
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class GuessingPieces(Pieces):
    """The law of (guesses, right guesses) of an audit as a function of the unknown."""

    query: ClassVar[str] = "guessing"


@dataclass(frozen=True)
class Holds(_Interval, Recorded):
    """An interval of the unknown on which all claims hold; a rational on the safe side of each end.

    `with_start` and `with_stop` say whether the claims hold at each end too.
    """

    start: End
    stop: End
    safe_start: Fraction | None
    safe_stop: Fraction | None
    with_start: bool
    with_stop: bool


@dataclass(frozen=True)
class Best(Recorded):
    """Where the accuracy is largest among the values that are allowed; `attained` unless it is only approached."""

    at: End
    one_minus_beta: Number | tuple[Fraction, Fraction]
    attained: bool
    exp_epsilon: Exact | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Solution(Result):
    """The exact set of values of the unknown for which claims hold, as intervals."""

    query: ClassVar[str] = "solve"
    unknown: Unknown
    claims: tuple[str, ...]
    holds: tuple[Holds, ...]
    best: Best | None = None

    def holds_at(self, value: Number) -> bool:
        """Whether all claims hold at a value of the unknown."""
        return any(each.holds_at(value) for each in self.holds)
