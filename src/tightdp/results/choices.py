"""What is known of every way to choose among finitely many values of parameters, and which ways are best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.results.pieces import Best, Holds, Part, Pieces
from tightdp.results.recorded import Recorded
from tightdp.results.result import Drawn, Result

Chosen: TypeAlias = tuple[tuple[str, Any], ...]
"""Names of parameters and the values that were chosen for them."""
Value: TypeAlias = Number | tuple[Fraction, Fraction]
"""The value of a measure, or two rationals around it."""


@dataclass(frozen=True)
class Option(Recorded):
    """One choice of values, and what it leads to.

    `holds` says whether the claims hold: for a parameter that is unknown besides, the intervals on which they do; None
    where there are no claims. `value` is that of the measure on the worst dataset, at the best value of the unknown
    where there is one (`best`); where it has no closed form, two rationals around it. `exp_epsilon` is the tight e^ε
    there. On the `frontier` no other choice has at most this e^ε and at least as good a value, one of them better.
    """

    json = "values=_values *_verdicts exp_epsilon? value=_value? best?"
    values: Chosen
    holds: bool | tuple[Holds, ...] | None = None
    exp_epsilon: Exact | None = None
    value: Value | None = None
    best: Best | None = None
    frontier: bool | None = None

    @property
    def _values(self) -> dict[str, Any]:
        return dict(self.values)

    @property
    def _verdicts(self) -> dict[str, Any]:
        found = {"holds": self.holds, "frontier": self.frontier}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def _value(self) -> Any:
        value = self.value
        return {"lower": value[0], "upper": value[1]} if isinstance(value, tuple) else value


@dataclass(frozen=True, kw_only=True, repr=False)
class Choice(Drawn, Result):
    """All ways to choose, in the order in which values were given; `best` are those with the best value."""

    query: ClassVar[str] = "solve"
    json = "claims measure? alpha? options best=_best?"
    claims: tuple[str, ...]
    measure: str | None = None
    """What is best: "accuracy" (1 - β at `alpha`), "right answer", "absolute error" or "squared error"."""
    alpha: Number | None = None
    unknown: str | None = None
    """The name of the parameter that is unknown besides."""
    options: tuple[Option, ...]
    best: tuple[Option, ...] = ()
    """With claims: more than one where they are equally good, or so near that no digit tells them apart."""

    @property
    def _best(self) -> list[dict[str, Any]] | None:
        return None if self.measure is None or not self.claims else [dict(option.values) for option in self.best]

    @property
    def frontier(self) -> tuple[Option, ...]:
        """The choices on the frontier of privacy and the measure, from the most private on."""
        found = [option for option in self.options if option.frontier]
        return tuple(sorted(found, key=lambda option: option.exp_epsilon or 0))


@dataclass(frozen=True, kw_only=True, repr=False)
class BestChoices(Pieces):
    """Which choice is best, and the value of its measure, as a function of an unknown; choices are the witnesses."""

    query: ClassVar[str] = "solve"
    json = "unknown=unknown.name measure *at pieces=_pieces"
    line = ""
    measure: str

    def chosen(self, part: Part) -> Chosen:
        """Return the choice that is best on a part."""
        assert isinstance(part.witness, tuple)
        return part.witness

    def _written(self, part: Part) -> dict[str, Any]:
        return {**super()._written(replace(part, witness=None)), "values": dict(self.chosen(part))}
