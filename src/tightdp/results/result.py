"""What all results have in common: what they are about, their status, and what they cost.

Where the status is not "exact", the number that a result is named after is the safe end of an enclosure (an ε or δ is
never too small, an accuracy never too large), and `lower` and `upper` are its ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeVar

from tightdp.errors import QueryError
from tightdp.exact.weights import NUMBERS
from tightdp.exact.writing import brief
from tightdp.results.shown import Recorded, Shown

__all__ = [
    "CheckedWitness",
    "EventWitness",
    "LimitWitness",
    "PairWitness",
    "Result",
    "Stats",
    "Status",
    "Subject",
    "TripleWitness",
    "kept",
]

Status = Literal["exact", "bounded", "unresolved"]


@dataclass(frozen=True)
class Stats(Recorded):
    """What a query cost: the size of the diagram, output laws counted, the sizes of the sets, and seconds.

    `inference_set` counts the (dataset, output) with positive probability that were looked at, `privacy_set` the
    triples (dataset, neighbour, output) that were compared.
    """

    variables: int = 0
    nodes: int = 0
    queries: int = 0
    inference_set: int = 0
    privacy_set: int = 0
    compile: float = 0.0
    count: float = 0.0
    search: float = 0.0
    method: str = "exhaustive"
    symmetries: tuple[str, ...] = ()
    accuracy_set: int | None = None

    def __add__(self, other: Stats) -> Stats:
        """Return what two queries of one diagram cost together."""
        return Stats(
            self.variables,
            self.nodes,
            self.queries + other.queries,
            self.inference_set + other.inference_set,
            self.privacy_set + other.privacy_set,
            self.compile + other.compile,
            self.count + other.count,
            self.search + other.search,
            self.method,
            self.symmetries,
            self.accuracy_set,
        )


@dataclass(frozen=True)
class Subject:
    """What an answer is about: the mechanism, n and its parameters, and the neighbour relation.

    `runs` says how it is run where that is not once on the dataset as it is, such as "100 runs".
    """

    mechanism: str
    parameters: tuple[tuple[str, Any], ...]
    neighbours: str
    runs: str = ""

    def __str__(self) -> str:
        listed = ", ".join(f"{name}={brief(value, 80, quoted=False)}" for name, value in self.parameters)
        once = f"{self.mechanism}({listed})" if listed else self.mechanism
        return f"{self.runs} of {once}" if self.runs else once


@dataclass(frozen=True)
class PairWitness(Recorded):
    """Two neighbouring datasets that attain an answer."""

    x: tuple[Any, ...]
    x_prime: tuple[Any, ...]


@dataclass(frozen=True)
class TripleWitness(PairWitness):
    """Two neighbouring datasets, an output, and its probabilities on both."""

    output: Any
    probability: Any
    probability_prime: Any


@dataclass(frozen=True)
class LimitWitness(PairWitness):
    """Two neighbouring datasets, and outputs whose likelihood ratios approach an answer that none of them has.

    They are `output` with k times `direction` added to its numbers (None where nothing is), for k = 0, 1, 2, ...
    """

    output: Any
    direction: Any


@dataclass(frozen=True)
class EventWitness(PairWitness):
    """Two neighbouring datasets, and the event (a set of outputs) that tells them apart best."""

    event: tuple[Any, ...]


@dataclass(frozen=True)
class CheckedWitness(PairWitness):
    """Two neighbouring datasets that show the lower end of an enclosure, and their exact δ at an e^ε."""

    exp_epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Shown):
    """An answer, as an immutable value."""

    query: ClassVar[str]
    subject: Subject
    status: Status = "exact"
    stats: Stats = field(default=Stats(), compare=False)
    reason: str = field(default="", compare=False)
    """Which limit was reached before the answer was exact; empty where none was."""
    hint: str = field(default="", compare=False)
    """What to do about that limit."""

    @property
    def mechanism(self) -> str:
        """The name of the mechanism."""
        return self.subject.mechanism

    @property
    def parameters(self) -> dict[str, Any]:
        """n and the parameters."""
        return dict(self.subject.parameters)

    @property
    def neighbours(self) -> str:
        """The name of the neighbour relation."""
        return self.subject.neighbours

    @property
    def cut_short(self) -> bool:
        """Whether a limit was reached first; false for an exact answer, and for an enclosure that no limit caused."""
        return self.status == "unresolved" or bool(self.reason)

    def within(self, precision: Fraction | None) -> bool:
        """Whether it is a number whose ends are that close, relatively; None is any width.

        An answer that a limit cut short is as wide as its reason says. Below 1e-250 no width matters.
        """
        if precision is None or self.status != "bounded" or self.reason:
            return True
        lower, upper = getattr(self, "lower", None), getattr(self, "upper", None)
        if not isinstance(lower, NUMBERS) or not isinstance(upper, NUMBERS):
            return False
        return upper - lower <= precision * upper or upper < _NOTHING


R = TypeVar("R")
_NOTHING = Fraction(1, 10**250)


def kept(answer: R, precision: Fraction | None) -> R:
    """Return an answer whose ends are as close as was asked for. Raises QueryError where they are not."""
    if isinstance(answer, Result) and not answer.within(precision):
        raise QueryError(
            "this answer is an enclosure, and it is not known to be as narrow as the precision that was asked for",
            "leave out the precision: the answer shows how wide it is",
        )
    return answer
