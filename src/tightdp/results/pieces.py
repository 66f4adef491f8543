"""Answers with an unknown: piecewise functions with exact ends, and the values for which claims hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.exact.field import Number
from tightdp.exact.lines import parts_in_x
from tightdp.exact.numbers import Exact
from tightdp.exact.polynomials import Unknown, naming
from tightdp.results.guessing import Row
from tightdp.results.recorded import Recorded, plain
from tightdp.results.result import Drawn, PairWitness, Result, written_witness


@dataclass(frozen=True)
class End(Recorded):
    """An end of an interval of the unknown: exact, infinite, or the root of a polynomial between two rationals."""

    json = "polynomial low high"
    value: Exact | None
    polynomial: str = ""
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)

    @property
    def written(self) -> Exact | End:
        """The end as JSON has it within a piece: its value where that is exact."""
        return self if self.value is None else self.value

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
    least: Any = None
    """Where the answer is enclosed, a linear function that it is at least; it is at most another one, `value`."""

    def ends_at(self, value: Fraction) -> tuple[Number, Number]:
        """Return both ends of an answer that is enclosed, at a value of the unknown in the interval."""
        ends = (parts_in_x(each) for each in (self.least, self.value))
        least, most = (above.at(value) / below.at(value) for above, below in ends)
        return least, most


@dataclass(frozen=True, kw_only=True, repr=False)
class Pieces(Drawn, Result):
    """The tight e^ε as a function of the unknown, or δ at an e^ε; `what` says which ("exp_epsilon", "delta").

    δ of published real numbers, and e^ε at a δ, are enclosed between lines ("bounded").
    """

    query: ClassVar[str] = "privacy"
    json = "unknown=unknown.name *at pieces=_pieces"
    line = "function of an unknown"
    table = "_listed"
    unknown: Unknown
    what: str
    pieces: tuple[Part, ...]
    at: tuple[tuple[str, Exact], ...] = ()
    """What the question was asked at: e^ε for a δ, α for an accuracy."""

    @property
    def _pieces(self) -> list[dict[str, Any]]:
        with naming(self.unknown):
            return [plain(row) for row in self._listed]

    @property
    def _listed(self) -> list[dict[str, Any]]:
        return [self._written(part) for part in self.pieces]

    def _written(self, part: Part) -> dict[str, Any]:
        ends = {self.what: part.value} if part.least is None else {"lower": part.least, "upper": part.value}
        found = {"from": part.start.written, "to": part.stop.written, **ends}
        found |= {} if part.with_start else {"from_included": False}
        found |= {} if part.with_stop or part.stop.value == math.inf else {"to_included": False}
        return found if part.witness is None else {**found, "witness": written_witness(part.witness)}

    def part(self, value: Number) -> Part | None:
        """Return the part that holds at a value of the unknown, None where no part does."""
        return next((each for each in self.pieces if each.holds_at(value)), None)


@dataclass(frozen=True)
class AtN(Recorded):
    """The tight e^ε with n records as a function of the unknown: a lower end of what holds for every n."""

    json = "n pieces=_pieces"
    n: int
    found: Pieces

    @property
    def _pieces(self) -> list[dict[str, Any]]:
        return self.found._pieces


@dataclass(frozen=True, kw_only=True, repr=False)
class EveryNPieces(Pieces):
    """An upper end of e^ε for every n as a function of the unknown, and lower ends: the tight e^ε of a few n."""

    json = "unknown=unknown.name *at pieces=_pieces lower"
    lower: tuple[AtN, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class AccuracyPieces(Pieces):
    """The tight 1 - β at an error bound as a function of the unknown; see `Accuracy`."""

    query: ClassVar[str] = "accuracy"
    json = "unknown=unknown.name *at relative? pieces=_pieces"
    relative: bool = False


@dataclass(frozen=True, kw_only=True, repr=False)
class Distributions(Pieces):
    """The output law on one dataset as a function of the unknown."""

    query: ClassVar[str] = "distribution"
    line = ""
    json = "x unknown=unknown.name *at pieces=_pieces"
    x: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class EfficacyPieces(Pieces):
    """The efficacies of one-run auditing as functions of the unknown.

    The values of a part are ((guesses, name), number), with the names of the numbers of a `Row`.
    """

    query: ClassVar[str] = "efficacy"
    line = ""

    def rows(self, part: Part) -> tuple[Row, ...]:
        """Return the rows of a part."""
        numbers: dict[int, dict[str, Number]] = {}
        for (guesses, name), value in part.value:
            numbers.setdefault(guesses, {})[name] = value
        return tuple(
            Row(guesses, named["efficacy"], named["ac"], named["ddp"], named["dp"], named.get("adaptive"))
            for guesses, named in numbers.items()
        )

    def _written(self, part: Part) -> dict[str, Any]:
        return {**super()._written(part), "rows": self.rows(part)}


@dataclass(frozen=True, kw_only=True, repr=False)
class GuessingPieces(Pieces):
    """The law of (guesses, right guesses) of an audit as a function of the unknown."""

    query: ClassVar[str] = "guessing"
    line = ""


@dataclass(frozen=True)
class Holds(_Interval, Recorded):
    """An interval of the unknown on which all claims hold; a rational on the safe side of each end.

    `with_start` and `with_stop` say whether the claims hold at each end too.
    """

    json = (
        "from=start.written to=stop.written from_included=with_start to_included=with_stop "
        "safe_from=safe_start safe_to=safe_stop"
    )
    start: End
    stop: End
    safe_start: Fraction | None
    safe_stop: Fraction | None
    with_start: bool
    with_stop: bool


@dataclass(frozen=True)
class Best(Recorded):
    """Where a measure is best among the values that are allowed; `attained` unless it is only approached.

    The measure is "accuracy" (1 - β), "right answer", "absolute error" or "squared error"; where its value has no
    closed form, it is enclosed by two rationals.
    """

    json = "at=at.written *_value attained exp_epsilon?"
    measure: str
    at: End
    value: Number | tuple[Fraction, Fraction]
    attained: bool
    exp_epsilon: Exact | None = None

    @property
    def one_minus_beta(self) -> Number | tuple[Fraction, Fraction] | None:
        """The value of the measure "accuracy"; None for others."""
        return self.value if self.measure == "accuracy" else None

    @property
    def _value(self) -> dict[str, Any]:
        value = self.value
        shown = {"lower": value[0], "upper": value[1]} if isinstance(value, tuple) else value
        return {"one_minus_beta": shown} if self.measure == "accuracy" else {"measure": self.measure, "value": shown}


@dataclass(frozen=True, kw_only=True, repr=False)
class Solution(Result):
    """The exact set of values of the unknown for which claims hold, as intervals.

    For every n it is enclosed where it is not known: the claim is proved for the values in `holds`, and fails with `n`
    records for all that are not in `not_refuted`.
    """

    query: ClassVar[str] = "solve"
    json = "unknown=unknown.name claims holds not_refuted? n? best?"
    table = "holds"
    unknown: Unknown
    claims: tuple[str, ...]
    holds: tuple[Holds, ...]
    best: Best | None = None
    not_refuted: tuple[Holds, ...] | None = None
    n: int | None = None

    def holds_at(self, value: Number) -> bool:
        """Whether all claims hold at a value of the unknown."""
        return any(each.holds_at(value) for each in self.holds)
