"""One question over all combinations of ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, TypeVar

from tightdp.errors import LimitError, ParameterError, QueryError
from tightdp.limits import cores
from tightdp.results.answers import Sweep, Unknown
from tightdp.results.result import Result, Status, Subject
from tightdp.session.arguments import read_count, unknown_of
from tightdp.session.asked import Asked
from tightdp.session.auditing import audit
from tightdp.session.processes import in_order

_MOST_ROWS = 10_000

K = TypeVar("K", bound=Asked)


@dataclass(frozen=True)
class Question:
    """What is asked in every row: the tight ε unless something else is given."""

    delta: Any = None
    epsilon: Any = None
    exp_epsilon: Any = None
    alpha: Any = None
    beta: Any = None
    efficacy: bool = False
    guesses: Any = None
    pairs: Any = None
    optimum: bool = False
    measure: Any = None
    size: bool = False
    canaries: Any = None
    correct: Any = None

    def __post_init__(self) -> None:
        numbers = ("delta", "epsilon", "exp_epsilon", "alpha", "beta", "canaries")
        asked = [name for name in numbers if getattr(self, name) is not None]
        asked += ["efficacy"] * self.efficacy + ["size"] * self.size
        asked += ["optimum"] * (self.optimum and asked != ["alpha"])
        if len(asked) > 1:
            raise ParameterError(f"a sweep asks one question, not {' and '.join(asked)}", "give one of them")
        if self.pairs is not None and not self.efficacy:
            raise ParameterError("pairs belongs to efficacy", "ask for efficacy too")
        if self.measure is not None and not self.optimum:
            raise ParameterError("measure belongs to optimum", "ask for optimum too")
        if self.guesses is not None and not self.efficacy and self.canaries is None:
            raise ParameterError("guesses belongs to efficacy", "ask for efficacy too, or give canaries and correct")
        if (self.canaries is None) != (self.correct is None) or (self.canaries is not None and self.guesses is None):
            raise ParameterError("an audit needs canaries, guesses and correct", "give all three")

    @property
    def name(self) -> str:
        """The query of a row."""
        if self.size or self.canaries is not None:
            return "show" if self.size else "audit"
        if self.efficacy or self.optimum:
            return "efficacy" if self.efficacy else "optimum"
        return "privacy" if self.alpha is self.beta is None else "accuracy"

    def ask(self, instance: Asked) -> Result:
        """Return the answer of a row."""
        if self.size:
            return instance.show().size
        if self.canaries is not None:
            numbers = [read_count(name, getattr(self, name), least=0) for name in ("canaries", "guesses", "correct")]
            return audit(canaries=numbers[0], guesses=numbers[1], correct=numbers[2], tradeoff=instance)
        if self.efficacy:
            return instance.efficacy(self.guesses, self.pairs)
        if self.optimum:
            return instance.optimum(alpha=self.alpha, measure=self.measure)
        if self.alpha is not None or self.beta is not None:
            return instance.accuracy(self.alpha, beta=self.beta, top=1)
        if self.epsilon is not None or self.exp_epsilon is not None:
            return instance.delta(epsilon=self.epsilon, exp_epsilon=self.exp_epsilon)
        return instance.privacy(delta=self.delta or 0)


def sweep(instance: Asked, over: Mapping[str, Iterable[Any]], question: Question, jobs: int | None = 1) -> Sweep:
    """Ask a question for every combination of the values of n and parameters in `over`, on so many processes."""
    one = str, int, Fraction  # a single value is swept over as it is
    axes = {name: [values] if isinstance(values, one) else list(values) for name, values in over.items()}
    number = cores() if jobs is None else read_count("jobs", jobs)
    tasks = [dict(zip(axes, values, strict=True)) for values in combinations(axes)]
    rows = in_order(partial(_row, instance, question), tasks, number)
    swept = tuple(name for name, values in axes.items() if len(values) > 1) or tuple(axes)
    subject = fixed(rows[0].subject, swept)
    return Sweep(subject=subject, status=status_of(rows), swept=swept, rows=tuple(rows))


def _row(instance: Asked, question: Question, values: dict[str, Any]) -> Result:
    """Return the answer for one combination; `Unknown` where a limit came before anything was known."""
    found = _with(instance, dict(values))
    try:
        return question.ask(found)
    except LimitError as error:
        about, name = found.subject, question.name
        return Unknown(subject=about, status="unresolved", reason=error.what, hint=error.hint, name=name)
    finally:
        found.forget()


def known(instance: K) -> K:
    """Return the instance of a row. Raises QueryError where a parameter is unknown."""
    name = unknown_of(dict(instance.bound.parameters))
    if name is not None:
        raise QueryError(
            f"{name} is unknown, and the rows of a sweep are numbers",
            f"list values, as in {name}=1/10,1/5, or ask privacy, delta or accuracy with {name}=?, one n at a time",
        )
    return instance


def combinations(axes: Mapping[str, Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Return all combinations of values, the last name's changing first. Raises ParameterError where there are none."""
    size = 1
    for name, values in axes.items():
        if not len(values):
            raise ParameterError(f"{name} has no values to sweep over", f"give some, as in {name}=[1, 2, 3]")
        size *= len(values)
    if not axes:
        raise ParameterError("there is no range to sweep over", 'give one, as in {"n": range(2, 21)}')
    if size > _MOST_ROWS:
        raise ParameterError(f"the ranges have {size:,} combinations", f"sweep over at most {_MOST_ROWS:,}")
    return list(product(*axes.values()))


def fixed(whole: Subject, swept: tuple[str, ...]) -> Subject:
    """Return the subject with the parameters that stay the same."""
    kept = tuple((name, value) for name, value in whole.parameters if name not in swept)
    return Subject(whole.mechanism, kept, whole.neighbours)


def status_of(rows: Sequence[Result], stopped: bool = False) -> Status:
    """Return the status of a table: exact where every row is."""
    if stopped or any(row.cut_short for row in rows):
        return "unresolved"
    return "bounded" if any(row.status == "bounded" for row in rows) else "exact"


def _with(instance: Asked, values: dict[str, Any]) -> Asked:
    """Return the instance with other values of n and parameters, under the same limits."""
    n = values.pop("n", "all" if instance.every_n else instance.n)
    return known(instance.rebind(n, {**instance.bound.parameters, **values}, **instance.limits))
