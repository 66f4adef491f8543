"""What all results have in common: what they are about, their status, what they cost, their JSON, and who shows them.

Where the status is not "exact", the number that a result is named after is the safe end of an enclosure (an ε or δ is
never too small, an accuracy never too large), and `lower` and `upper` are its ends. Every class says once, as a list of
names in `json`, what its JSON has. A result knows no sentence: the public package says once, with `shown_by`, which
module shows results, and that is imported when one is first shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from typing import Any, ClassVar, Literal, TypedDict, TypeVar, cast

from tightdp._version import __version__
from tightdp.errors import QueryError
from tightdp.exact.numbers import Exact, brief
from tightdp.exact.weights import NUMBERS
from tightdp.language.analyst import Strategy
from tightdp.results.recorded import SCHEMA, ForEveryN, OfEveryN, Recorded, plain, record
from tightdp.results.table import Row, Table, answer_row

_module = ""


def shown_by(module: str) -> None:
    """Say which module is the presenter."""
    global _module
    _module = module


def presenter() -> Any:
    """Return the presenter, `tightdp.present.show`."""
    return import_module(_module)


def as_file(value: object, form: str) -> str:
    """Return a value as the text of a file: "csv", "dot", "svg" or "html"."""
    return str(presenter().as_file(value, form))


class Shown(Recorded):
    """A value that people see: in one line, printed as text, and in notebooks as HTML."""

    def __repr__(self) -> str:
        return str(presenter().as_line(self))

    def __str__(self) -> str:
        return str(presenter().as_text(self))

    def _repr_html_(self) -> str:
        return str(presenter().as_html(self))


class Drawn(Shown):
    """A value that there is a picture of."""

    line: ClassVar[str] = ""
    """What the picture shows where it is a line, which others of the kind may be drawn beside."""

    def plot(self, ax: Any = None, *, beside: Sequence[Any] = ()) -> Any:
        """Draw the value on the Matplotlib axes `ax` (new ones, unless given) and return them.

        `beside` are answers of the same kind about other mechanisms or parameters, which are drawn in the same picture.
        Raises QueryError where there is no such picture, TightdpError where Matplotlib is not installed.
        """
        return presenter().draw(self, ax, beside)


Status = Literal["exact", "bounded", "unresolved"]


class Counts(TypedDict, total=False):
    """How much there was of what a query went through."""

    variables: int
    nodes: int
    queries: int
    inference_set: int
    privacy_set: int
    accuracy_set: int


class Ends(TypedDict, total=False):
    """What encloses the number that an answer is named after."""

    lower: Exact
    upper: Exact


@dataclass(frozen=True)
class Stats(Recorded):
    """What a query cost: the size of the diagram, output laws counted, the sizes of the sets, and seconds.

    `inference_set` counts the (dataset, output) with positive probability that were looked at, `privacy_set` the
    triples (dataset, neighbour, output) that were compared, `accuracy_set` the datasets up to symmetry. JSON leaves out
    what is 0: a method that makes no diagram has no nodes.
    """

    json = "*_counts method? symmetries? seconds=_seconds"
    variables: int = 0
    nodes: int = 0
    queries: int = 0
    inference_set: int = 0
    privacy_set: int = 0
    compile: float = 0.0
    count: float = 0.0
    search: float = 0.0
    method: str = ""
    symmetries: tuple[str, ...] = ()
    accuracy_set: int | None = None

    def __add__(self, other: Stats) -> Stats:
        """Return what two queries of one diagram cost together."""
        added = ("queries", "inference_set", "privacy_set", "compile", "count", "search")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in added})

    @property
    def _counts(self) -> Counts:
        named = {name: getattr(self, name) for name in Counts.__annotations__}
        return cast("Counts", {name: number for name, number in named.items() if number})

    @property
    def _seconds(self) -> dict[str, float]:
        return {name: round(getattr(self, name), 6) for name in ("compile", "count", "search")}


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

    json = "x x_prime"
    x: tuple[Any, ...]
    x_prime: tuple[Any, ...]


@dataclass(frozen=True)
class TripleWitness(PairWitness):
    """Two neighbouring datasets, an output, and its probabilities on both."""

    json = "x x_prime output probability probability_prime"
    output: Any
    probability: Any
    probability_prime: Any


@dataclass(frozen=True)
class LimitWitness(PairWitness):
    """Two neighbouring datasets, and outputs whose likelihood ratios approach an answer that none of them has.

    They are `output` with k times `direction` added to its numbers (None where nothing is), for k = 0, 1, 2, ...
    `attained` is False where it is proved that no output has the ratio, else None.
    """

    json = "x x_prime output direction attained"
    output: Any
    direction: Any
    attained: bool | None = False


@dataclass(frozen=True)
class DensityWitness(PairWitness):
    """Two neighbouring datasets, and an output whose densities have the ratio of an answer.

    A density is defined but for sets of probability 0. So the ratio is `attained` where it is that of all outputs near
    this one. Else it is approached by those with `side`/k added to its numbers (None where nothing is), as k grows:
    False where it is proved that no set of outputs has it that is not null, else None.
    """

    json = "x x_prime output side attained"
    output: Any
    side: Any = None
    attained: bool | None = True


@dataclass(frozen=True)
class EventWitness(PairWitness):
    """Two neighbouring datasets, and the event (a set of outputs) that tells them apart best."""

    json = "x x_prime event"
    event: tuple[Any, ...]


@dataclass(frozen=True)
class StrategyWitness(EventWitness):
    """Two neighbouring datasets, and the strategy of an analyst who tells them apart best, with the event."""

    json = "x x_prime event strategy=strategy.written"
    strategy: Strategy


@dataclass(frozen=True)
class ConversationWitness(TripleWitness):
    """Two neighbouring datasets, an output, and its probabilities on both if the analyst keeps to a strategy.

    They are those of the whole conversation: of everything that the analyst is shown, and the output.
    """

    json = "x x_prime output probability probability_prime strategy=strategy.written"
    strategy: Strategy


@dataclass(frozen=True)
class CheckedWitness(PairWitness):
    """Two neighbouring datasets that show the lower end of an enclosure, and their exact δ at an e^ε."""

    json = "x x_prime exp_epsilon delta"
    exp_epsilon: Fraction
    delta: Fraction


class DatasetWitness(TypedDict):
    """A dataset that attains an answer."""

    x: tuple[Any, ...]


def written_witness(witness: PairWitness | tuple[Any, ...] | None) -> PairWitness | DatasetWitness | None:
    """Return a witness as JSON has it: two datasets, or one."""
    return {"x": witness} if isinstance(witness, tuple) else witness


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Table, Shown):
    """An answer, as an immutable value: iterating over it gives the rows of its table, often just one."""

    query: ClassVar[str]
    table = "_row"
    sets: ClassVar[str] = "inference_set privacy_set"
    """Which sets the question goes through, of those that its cost can name."""
    subject: Subject
    status: Status = "exact"
    stats: Stats = field(default=Stats(), compare=False)
    reason: str = field(default="", compare=False)
    """Which limit was reached before the answer was exact; empty where none was."""
    hint: str = field(default="", compare=False)
    """What to do about that limit."""
    for_every_n: ForEveryN | None = field(default=None, compare=False)
    """What is said of the ends where the answer is one for every n."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as `--json` prints it: what all answers have in common, and `result`, its own numbers."""
        return {
            "schema": SCHEMA,
            "tightdp": __version__,
            "query": self.query,
            "mechanism": self.mechanism,
            "parameters": plain(self.parameters),
            **({"runs": self.subject.runs} if self.subject.runs else {}),
            "neighbours": self.neighbours,
            "status": self.status,
            "result": record(self),
            **({"reason": self.reason} if self.reason else {}),
            **({"hint": self.hint} if self.hint else {}),
            **self._cost,
        }

    @property
    def _cost(self) -> dict[str, Any]:
        """The cost as JSON has it: nothing where none was measured, no set that the question does not go through."""
        if self.stats == Stats():
            return {}
        left_out = _SETS - set(self.sets.split())
        return {"stats": {key: value for key, value in self.stats.to_dict().items() if key not in left_out}}

    @property
    def _ends(self) -> Ends:
        if self.for_every_n is None and self.status == "exact":
            return {}
        ends = next(iter(self.columns.values())) if self.for_every_n else (getattr(self, name) for name in _ENDS)
        return cast("Ends", dict(zip(_ENDS, ends, strict=True)))

    @property
    def _proved(self) -> OfEveryN:
        return cast("OfEveryN", vars(self.for_every_n) if self.for_every_n else {})

    @property
    def not_known(self) -> frozenset[str]:
        """The upper end, and what follows from it, where it is infinite though no infinite value was found."""
        ends = [getattr(self, name, None) for name in _ENDS]
        return self.upper_keys() if self.status != "exact" and ends[0] != ends[1] == math.inf else frozenset()

    @classmethod
    def upper_keys(cls) -> frozenset[str]:
        return frozenset({"upper"})

    @property
    def columns(self) -> dict[str, tuple[Exact, Exact]]:
        """The ends of the numbers that a table of answers shows, equal where exact; none where none is known."""
        return {}

    def _attributes(self) -> dict[str, Any]:
        return {key: value for key, value in self.to_dict().items() if key not in ("result", "stats")}

    @property
    def _row(self) -> tuple[Row, ...]:
        return ({**self.parameters, **answer_row(self.columns, self.status)},)

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


class Enclosed(Result):
    """A result whose number, the attribute `number`, is an upper end where it is not exact."""

    number: ClassVar[str]
    lower: Any

    @property
    def upper(self) -> Any:
        """The upper end of what is known of the number."""
        return getattr(self, self.number)

    @classmethod
    def upper_keys(cls) -> frozenset[str]:
        return frozenset({"upper", cls.number, "epsilon"})

    @property
    def columns(self) -> dict[str, tuple[Exact, Exact]]:
        return {self.number: (self.upper if self.status == "exact" else self.lower, self.upper)}


R = TypeVar("R")
_ENDS = ("lower", "upper")
_SETS = {"inference_set", "privacy_set", "accuracy_set"}
_NOTHING = Fraction(1, 10**250)


def kept(answer: R, precision: Fraction | None) -> R:
    """Return an answer whose ends are as close as was asked for. Raises QueryError where they are not."""
    if isinstance(answer, Result) and not answer.within(precision):
        raise QueryError(
            "this answer is an enclosure, and it is not known to be as narrow as the precision that was asked for",
            "leave out the precision: the answer shows how wide it is",
        )
    return answer
