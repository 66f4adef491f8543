"""The best mechanism that there is for a task, with the proof that none is better."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.results.recorded import Recorded
from tightdp.results.result import Result

Table: TypeAlias = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class BestMechanism(Recorded):
    """A mechanism as a table, and the multipliers with which it is proved that none is better.

    `table` has the probabilities of the outputs, a row for each of `datasets`, which stand for themselves in every
    order of the clients in one of `groups`, which makes no difference to the target. `neighbours` are pairs of their
    numbers: the law on the first is bounded by that on the second. `weights` are the weights of the datasets,
    `multipliers` entries (x, x', y, value) by the numbers of dataset, neighbour and output. Both ends follow from these
    alone: docs/optimum.md says how.
    """

    json = "datasets groups targets outputs neighbours lower_exp_epsilon upper_exp_epsilon table weights multipliers"
    datasets: tuple[tuple[Any, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    targets: tuple[Any, ...]
    outputs: tuple[Any, ...]
    neighbours: tuple[tuple[int, int], ...]
    lower_exp_epsilon: Fraction
    """The e^ε that the table keeps; less than `upper_exp_epsilon` only where e^ε is irrational."""
    upper_exp_epsilon: Fraction
    """The e^ε for which the multipliers prove their end."""
    table: Table
    weights: tuple[Fraction, ...]
    multipliers: tuple[tuple[int, int, int, Fraction], ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Optimum(Result):
    """The best worst-case value of a measure over all (ε, δ)-DP mechanisms with given datasets, neighbours and outputs.

    It lies from `lower` to `upper`, which are equal where the status is "exact". `best` is a mechanism that has one of
    these ends, the lower one of a probability and the upper one of an error, with the proof of the other.
    """

    query: ClassVar[str] = "optimum"
    sets = "inference_set accuracy_set"
    json = (
        "measure alpha? exp_epsilon epsilon? delta optimum *_ends own holds share post_processing_of_geometric_noise? "
        "post_processing? staircase? variables best"
    )
    measure: str
    """ "accuracy", "absolute error", "squared error" or "right answer"."""
    alpha: Number | None = None
    exp_epsilon: Number
    """e^ε of the mechanisms that are compared."""
    epsilon: Fraction | None = None
    delta: Number = Fraction(0)
    lower: Fraction
    upper: Fraction
    own: Exact | None = None
    """The worst-case value of the given mechanism, None where it is not known."""
    holds: bool | None = None
    """Whether the given mechanism is (ε, δ)-DP itself; None where that is not known."""
    line: bool = False
    """Whether datasets stand in a line, as counts do, δ is 0 and e^ε above 1: then there is geometric noise for it."""
    post_processing: Table | None = None
    """The stochastic matrix that geometric noise of this ε is followed by in `best`, None where there is none."""
    staircase: tuple[int, int] | None = None
    """The widths of both parts of a step of staircase noise that `best` is a post-processing of, where there is one."""
    variables: int = 0
    """The unknowns of the linear program, up to symmetry."""
    best: BestMechanism

    @property
    def least(self) -> bool:
        """Whether the best value is the least one, as with errors."""
        return self.measure.endswith("error")

    @property
    def optimum(self) -> Fraction:
        """The value that the mechanism `best` attains."""
        return self.upper if self.least else self.lower

    @property
    def share(self) -> Number | None:
        """How much of the optimum the given mechanism reaches, from 0 to 1; None where it is not (ε, δ)-DP itself.

        That is its value by the optimum, or for errors the optimum by its value.
        """
        if not self.holds or self.own is None or isinstance(self.own, float) or self.status != "exact":
            return None
        high, low = (self.own, self.optimum) if self.least else (self.optimum, self.own)
        return low / high if high else Fraction(1)

    @property
    def post_processing_of_geometric_noise(self) -> bool | None:
        """Whether `best` is geometric noise that is processed further; None where there is no such noise (`line`)."""
        return self.post_processing is not None if self.line else None

    @property
    def columns(self) -> dict[str, tuple[Exact, Exact]]:
        """Both ends of the optimum, the value of the given mechanism where it is known, and e^ε."""
        own = {} if self.own is None else {"own": (self.own, self.own)}
        return {"optimum": (self.lower, self.upper), **own, "exp_epsilon": (self.exp_epsilon, self.exp_epsilon)}
