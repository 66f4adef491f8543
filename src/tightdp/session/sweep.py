"""One question over all combinations of ranges, and draws of outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from tightdp.errors import LimitError, ParameterError, QueryError
from tightdp.exact.parameters import as_parameter
from tightdp.exact.rationals import as_int
from tightdp.language.primitives import PseudoRandom
from tightdp.results.answers import Sample, Unknown
from tightdp.results.result import Result, Status, Subject
from tightdp.results.sweep import Sweep
from tightdp.session.arguments import read_count
from tightdp.session.auditing import audit
from tightdp.session.every_n import bound_for
from tightdp.session.instance import Instance
from tightdp.session.unknowns import unknown_of

__all__ = ["Question", "combinations", "fixed", "known", "sample", "status_of", "sweep"]

_MOST_ROWS = 10_000


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
    size: bool = False
    canaries: Any = None
    correct: Any = None

    def __post_init__(self) -> None:
        numbers = ("delta", "epsilon", "exp_epsilon", "alpha", "beta", "canaries")
        asked = [name for name in numbers if getattr(self, name) is not None]
        asked += ["efficacy"] * self.efficacy + ["size"] * self.size
        if len(asked) > 1:
            raise ParameterError(f"a sweep asks one question, not {' and '.join(asked)}", "give one of them")
        if self.pairs is not None and not self.efficacy:
            raise ParameterError("pairs belongs to efficacy", "ask for efficacy too")
        if self.guesses is not None and not self.efficacy and self.canaries is None:
            raise ParameterError("guesses belongs to efficacy", "ask for efficacy too, or give canaries and correct")
        if (self.canaries is None) != (self.correct is None) or (self.canaries is not None and self.guesses is None):
            raise ParameterError("an audit needs canaries, guesses and correct", "give all three")

    @property
    def name(self) -> str:
        """The query of a row."""
        if self.size or self.canaries is not None:
            return "show" if self.size else "audit"
        if self.efficacy:
            return "efficacy"
        return "privacy" if self.alpha is self.beta is None else "accuracy"

    def ask(self, instance: Instance) -> Result:
        """Return the answer of a row."""
        if self.size:
            return instance.show().size
        if self.canaries is not None:
            numbers = [read_count(name, getattr(self, name), least=0) for name in ("canaries", "guesses", "correct")]
            return audit(canaries=numbers[0], guesses=numbers[1], correct=numbers[2], tradeoff=instance)
        if self.efficacy:
            return instance.efficacy(self.guesses, self.pairs)
        if self.alpha is not None or self.beta is not None:
            return instance.accuracy(self.alpha, beta=self.beta, top=1)
        if self.epsilon is not None or self.exp_epsilon is not None:
            return instance.delta(epsilon=self.epsilon, exp_epsilon=self.exp_epsilon)
        return instance.privacy(delta=self.delta or 0)


def sweep(instance: Instance, over: Mapping[str, Iterable[Any]], question: Question) -> Sweep:
    """Ask a question for every combination of the values of n and parameters in `over`."""
    one = str, int, Fraction  # a single value is swept over as it is
    axes = {name: [values] if isinstance(values, one) else list(values) for name, values in over.items()}
    rows = []
    for values in combinations(axes):
        found = _with(instance, dict(zip(axes, values, strict=True)))
        try:
            rows.append(question.ask(found))
        except LimitError as error:
            row = Unknown(
                subject=found.subject, status="unresolved", reason=error.what, hint=error.hint, name=question.name
            )
            rows.append(row)
        found.forget()
    swept = tuple(name for name, values in axes.items() if len(values) > 1) or tuple(axes)
    subject = fixed(rows[0].subject, swept)
    return Sweep(subject=subject, status=status_of(rows), swept=swept, rows=tuple(rows))


def known(instance: Instance) -> Instance:
    """Return the instance of a row. Raises QueryError where a parameter is unknown."""
    name = unknown_of(dict(instance.bound.parameters))
    if name is not None:
        raise QueryError(
            f"{name} is unknown, and the rows of a sweep are numbers",
            f"list values, as in {name}=1/10,1/5, or ask privacy, delta or accuracy with {name}=?, one n at a time",
        )
    return instance


def sample(instance: Instance, x: Sequence[Any], size: Any, seed: Any) -> Sample:
    """Draw outputs on a dataset."""
    bound = instance.bound
    dataset = bound.check_dataset(x)
    number = None if seed is None else as_int(as_parameter(seed), "seed")
    source = PseudoRandom(number)
    outputs = tuple(bound.run(dataset, source) for _ in range(read_count("size", size)))
    return Sample(subject=instance.subject, x=dataset, seed=number, outputs=outputs)


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


def _with(instance: Instance, values: dict[str, Any]) -> Instance:
    """Return the instance with other values of n and parameters, under the same limits."""
    bound = instance.bound
    n = values.pop("n", "all" if instance.every_n else instance.n)
    kind, other = bound_for(bound.program, n, bound.neighbours, {**bound.parameters, **values})
    return known(
        kind(
            other,
            instance.backend,
            timeout=instance.timeout,
            max_nodes=instance.max_nodes,
            max_memory=instance.max_memory,
            method=instance.method,
            precision=instance.precision,
        )
    )
