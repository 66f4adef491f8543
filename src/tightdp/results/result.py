"""What all results have in common: whom they are about, their status, what they cost, and how they are shown.

Where the status is not "exact", the number that a result is named after is the safe end of an enclosure (an ε or δ is
never too small, an accuracy never too large), and `lower` and `upper` are its ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from tightdp._version import __version__
from tightdp.exact.numbers import Exact
from tightdp.present.html import as_html
from tightdp.present.text import as_text_of, terminal_width
from tightdp.present.view import View
from tightdp.present.words import brief, plain, shortened, shown, shown_probability

__all__ = [
    "EventWitness",
    "PairWitness",
    "Result",
    "Stats",
    "Status",
    "Subject",
    "TripleWitness",
    "enclosure",
    "unresolved_remark",
]

Status = Literal["exact", "bounded", "unresolved"]


@dataclass(frozen=True)
class Stats:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON has them."""
        return {
            "variables": self.variables,
            "nodes": self.nodes,
            "queries": self.queries,
            "inference_set": self.inference_set,
            "privacy_set": self.privacy_set,
            **({} if self.accuracy_set is None else {"accuracy_set": self.accuracy_set}),
            "method": self.method,
            "symmetries": list(self.symmetries),
            "seconds": {
                "compile": round(self.compile, 6),
                "count": round(self.count, 6),
                "search": round(self.search, 6),
            },
        }


@dataclass(frozen=True)
class Subject:
    """Whom an answer is about: the mechanism, n and its parameters, and who counts as a neighbour."""

    mechanism: str
    parameters: tuple[tuple[str, Any], ...]
    neighbours: str

    def __str__(self) -> str:
        listed = ", ".join(f"{name}={_shown_parameter(value)}" for name, value in self.parameters)
        return f"{self.mechanism}({listed})" if listed else self.mechanism


@dataclass(frozen=True)
class PairWitness:
    """Two neighbouring datasets that attain an answer."""

    x: tuple[Any, ...]
    x_prime: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the witness as JSON has it."""
        return {"x": plain(self.x), "x_prime": plain(self.x_prime)}

    def sentence(self, said: str = "It is attained") -> str:
        """Say in words what the witness shows; `said` is what it does there."""
        return f"{said} on {self._pair()}."

    def _pair(self) -> str:
        return f"x = {brief(self.x)} and its neighbour x' = {brief(self.x_prime)}"


@dataclass(frozen=True)
class TripleWitness(PairWitness):
    """Two neighbouring datasets, an output, and its probabilities on both."""

    output: Any
    probability: Any
    probability_prime: Any

    def to_dict(self) -> dict[str, Any]:
        """Return the witness as JSON has it."""
        return {
            **super().to_dict(),
            "output": plain(self.output),
            "probability": plain(self.probability),
            "probability_prime": plain(self.probability_prime),
        }

    def sentence(self, said: str = "It is attained") -> str:
        """Say in words what the witness shows, whatever it attains."""
        odds = f"{shown_probability(self.probability)} against {shown_probability(self.probability_prime)}"
        return f"On {self._pair()} the output {brief(self.output)} has probability {odds}."


@dataclass(frozen=True)
class EventWitness(PairWitness):
    """Two neighbouring datasets, and the event (a set of outputs) that tells them apart best."""

    event: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the witness as JSON has it."""
        return {**super().to_dict(), "event": plain(self.event)}

    def sentence(self, said: str = "It is attained") -> str:
        """Say in words what the witness shows; `said` is what it does there."""
        outputs = shortened(", ".join(shown(output) for output in self.event[:100]))
        among = "" if len(self.event) == 1 else "one of "
        return f"{said} on {self._pair()} by the event that the output is {among}{outputs}."


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(ABC):
    """An answer, as an immutable value."""

    query: ClassVar[str]
    subject: Subject
    status: Status = "exact"
    stats: Stats = field(default=Stats(), compare=False)
    reason: str = field(default="", compare=False)
    """Which limit was reached before the answer was exact; empty where none was."""

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

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as `--json` prints it."""
        return {
            "tightdp": __version__,
            "query": self.query,
            "mechanism": self.mechanism,
            "parameters": {name: plain(value) for name, value in self.subject.parameters},
            "neighbours": self.neighbours,
            "status": self.status,
            "result": self._answer(),
            "stats": self.stats.to_dict(),
        }

    @abstractmethod
    def _answer(self) -> dict[str, Any]:
        """Return the part of the JSON that is particular to the query."""

    @abstractmethod
    def view(self) -> View:
        """Return what a person sees."""

    @property
    def cut_short(self) -> bool:
        """Whether a limit was reached first; not so for an exact answer, nor for an enclosure by nature."""
        return self.status == "unresolved" or bool(self.reason)

    @property
    def _heading(self) -> str:
        return f"{self.subject}, neighbours: {self.neighbours}, status: {self.status}"

    def __repr__(self) -> str:
        return as_text_of(self.view(), terminal_width())

    def _repr_html_(self) -> str:
        return as_html(self.view())


def enclosure(status: Status, lower: Exact | None, upper: Exact | None) -> dict[str, Any]:
    """Return the ends of an enclosure as JSON has them; nothing where the answer is exact."""
    return {} if status == "exact" else {"lower": plain(lower), "upper": plain(upper)}


def unresolved_remark(result: Result, remark: str) -> tuple[str, ...]:
    """Say why a result is not exact and what is known; nothing where it is, or where an enclosure was asked for."""
    if result.status == "exact" or not result.cut_short:
        return ()
    return (f"{result.status.capitalize()}: {result.reason or 'a limit was reached'}; {remark}.",)


def _shown_parameter(value: Any) -> str:
    return value if isinstance(value, str) else shown(value)
