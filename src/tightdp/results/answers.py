"""Accuracy, utility, output laws, likelihood ratios, failures, verdicts, samples, and tables of answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.language.outputs import as_output, order_of
from tightdp.language.tails import Interval, Tail, parts_of, share_of
from tightdp.results.recorded import Recorded, plain
from tightdp.results.result import (
    DatasetWitness,
    Drawn,
    Enclosed,
    Ends,
    PairWitness,
    Result,
    Subject,
    as_file,
    written_witness,
)
from tightdp.results.table import Row, answer_row, beside

if TYPE_CHECKING:  # takes time to import, which a mistake on the command line need not
    from tightdp.queries.accuracy import AccuracyClass
    from tightdp.queries.curves import LikelihoodRow
    from tightdp.queries.measures import AccuracyAt, LeastError


@dataclass(frozen=True, kw_only=True, repr=False)
class Accuracy(Drawn, Result):
    """1 - β = least P(|M(x) - V(x)| <= α) over datasets x, for the target V; or the least α for a β.

    Asked with α, `one_minus_beta` is exact and `top` ranks the datasets by it, worst first. Asked with β, `alpha` is
    the least α that all datasets keep with probability 1 - β, and `one_minus_beta` is None.
    """

    query: ClassVar[str] = "accuracy"
    json = "alpha one_minus_beta? beta relative? *_ends *_proved witness=_witness? top?"
    table = "_listed"
    alpha: Exact
    beta: Number
    one_minus_beta: Number | None = None
    x: tuple[Any, ...] | None = None
    top: tuple[AccuracyClass, ...] = ()
    lower: Exact = Fraction(0)
    upper: Exact = Fraction(1)
    relative: bool = False
    """Whether the error is |M(x) - V(x)| / max(1, |V(x)|)."""

    sets = "inference_set accuracy_set"

    @classmethod
    def upper_keys(cls) -> frozenset[str]:
        return frozenset({"upper", "alpha"})

    @property
    def columns(self) -> dict[str, tuple[Exact, Exact]]:
        name = "alpha" if self.one_minus_beta is None else "one_minus_beta"
        return {name: (getattr(self, name),) * 2 if self.status == "exact" else (self.lower, self.upper)}

    @property
    def _witness(self) -> DatasetWitness | None:
        return None if self.x is None else {"x": self.x}

    @property
    def _listed(self) -> tuple[Any, ...]:
        return self.top or self._row

    @classmethod
    def between(
        cls,
        subject: Subject,
        question: AccuracyAt,
        lower: Number,
        upper: Number,
        x: tuple[Any, ...] | None,
        top: tuple[AccuracyClass, ...] = (),
    ) -> Accuracy:
        """Return what is known of 1 - β at α: it is at least `lower`, and at most `upper` on the dataset x."""
        alpha, relative = question.alpha, question.relative
        return cls(
            subject=subject,
            alpha=alpha,
            one_minus_beta=lower,
            beta=1 - lower,
            x=x,
            top=top,
            lower=lower,
            upper=upper,
            relative=relative,
        )

    @classmethod
    def least(
        cls, subject: Subject, question: LeastError, lower: Exact, upper: Exact, x: tuple[Any, ...] | None
    ) -> Accuracy:
        """Return what is known of the least α for a β: it is at most `upper`, and at least `lower` on the dataset x."""
        beta, relative = question.beta, question.relative
        return cls(subject=subject, alpha=upper, beta=beta, x=x, lower=lower, upper=upper, relative=relative)


@dataclass(frozen=True, kw_only=True, repr=False)
class Distribution(Drawn, Result):
    """The exact output law on one dataset: (output, probability), in the order of the outputs.

    A tail of infinitely many integers, or an interval of real numbers, stands there as one output, which says how its
    probability is spread. Where it is enclosed, `law` has lower ends, and `upper` the upper ends of the same outputs.
    """

    query: ClassVar[str] = "distribution"
    sets = "inference_set"
    json = "law=_law upper? tails=_tails? densities=_densities?"
    table = "_listed"
    x: tuple[Any, ...]
    law: tuple[tuple[Any, Number], ...]
    upper: tuple[tuple[Any, Number], ...] = ()

    @property
    def _law(self) -> list[tuple[Any, Any]]:
        # Long laws share few numbers: each is written once.
        masses = {key: plain(mass) for key, mass in {id(mass): mass for _, mass in self.law}.items()}
        return [(output, masses[id(mass)]) for output, mass in self.law]

    @property
    def _listed(self) -> tuple[Row, ...]:
        return beside(self.law, self.upper, "output probability", "upper")

    @property
    def _tails(self) -> tuple[dict[str, Any], ...]:
        return tuple(tail.as_json(mass) for tail, mass in self.law if isinstance(tail, Tail))

    @property
    def _densities(self) -> tuple[dict[str, Any], ...]:
        parts = ((output, each) for output, _ in self.law for each in parts_of(output))
        return tuple({"output": output, **each.as_json()} for output, each in parts if isinstance(each, Interval))

    def probability(self, output: Any) -> Number:
        """Return the probability of one output, 0 for one that is never given; it may be one within a listed tail."""
        return sum((mass * share_of(value, output) for value, mass in self.law), start=Fraction(0))


@dataclass(frozen=True, kw_only=True, repr=False)
class Likelihood(Drawn, Result):
    """Every output with its exact probabilities on x and on x', and their ratio, largest first.

    Where they are enclosed a row has lower ends, and the upper ones beside them. Published Gaussian noise beyond a
    reach is then one output; the ratios of its integers differ, and may be unbounded.

    `are_neighbours` says whether x' is a neighbour of x: the ratios of other pairs may exceed the tight e^ε.
    """

    query: ClassVar[str] = "likelihood"
    sets = "inference_set"
    json = "x x_prime are_neighbours rows=_rows upper=_upper?"
    table = "_listed"
    x: tuple[Any, ...]
    x_prime: tuple[Any, ...]
    rows: tuple[LikelihoodRow, ...]
    are_neighbours: bool

    @property
    def _rows(self) -> list[tuple[Any, ...]]:
        return [(row.output, row.probability, row.probability_prime, row.ratio) for row in self.rows]

    @property
    def _listed(self) -> tuple[Row, ...]:
        return beside(self._rows, self._upper, "output probability probability_prime ratio", "upper")

    @property
    def _upper(self) -> tuple[tuple[Any, ...], ...]:
        return tuple((row.output, *row.above, row.ratio_above) for row in self.rows if row.above is not None)

    @property
    def largest(self) -> Exact:
        """The largest P(y | x) / P(y | x') over outputs y, infinite where only x can give an output; a lower end
        where they are enclosed."""
        return self.rows[0].ratio

    @property
    def smallest(self) -> Exact:
        """The smallest such ratio, 0 where only x' can give an output; an upper end where they are enclosed."""
        return self.rows[-1].ratio_above


@dataclass(frozen=True, kw_only=True, repr=False)
class Failure(Enclosed):
    """The probability that a run on dataset x ends in a Python exception, such as a failed `assert`.

    `error` says which error is the likeliest, `place` (file:line:column) where it is raised; None where no run fails.
    With `worst`, no other dataset has a larger probability. Runs that `observe` rejects before they fail do not count.
    Where it is enclosed, `probability` is the upper end, and `lower` the other one.
    """

    query: ClassVar[str] = "failure"
    sets = "inference_set"
    number = "probability"
    json = "x probability *_ends worst error place"
    x: tuple[Any, ...]
    probability: Number
    error: str | None = None
    place: str | None = None
    worst: bool = False
    lower: Number | None = None

    @property
    def _ends(self) -> Ends:
        return {} if self.lower is None else super()._ends

    def __float__(self) -> float:
        return float(self.probability)


@dataclass(frozen=True)
class Worst(Recorded):
    """A measure of utility, its worst value over all datasets, and a dataset that attains it.

    Where it is enclosed, `value` is the end that is worse, and `better` the other one.
    """

    json = "measure value x *_ends"
    measure: str
    value: Number | Fraction
    x: tuple[Any, ...]
    better: Number | Fraction | None = None

    @property
    def _ends(self) -> Ends:
        ends = sorted((self.value, self.value if self.better is None else self.better))
        return {} if self.better is None else {"lower": ends[0], "upper": ends[1]}


@dataclass(frozen=True, kw_only=True, repr=False)
class Utility(Result):
    """The utility of a mechanism on its worst dataset, by several measures; targets are compared exactly.

    Numbers have the expected absolute and squared error; tuples of numbers the expected absolute error of each
    coordinate and of the largest one; all have the least probability that the output equals the target.
    """

    query: ClassVar[str] = "utility"
    sets = "inference_set"
    json = "measures"
    table = "measures"
    measures: tuple[Worst, ...]

    def value(self, measure: str) -> Number | Fraction:
        """Return the worst value of a measure. Raises QueryError where it is not one of `measures`."""
        for worst in self.measures:
            if worst.measure == measure:
                return worst.value
        raise QueryError(
            f"there is no measure {measure!r}", f"use {', '.join(worst.measure for worst in self.measures)}"
        )


@dataclass(frozen=True)
class Claim(Recorded):
    """One claim and its verdict: `holds` is None where a limit was reached first.

    `tight` is the best value that the mechanism has, in the units of `claimed`; a float is a rounded logarithm.
    """

    json = "claim claimed tight? *_between holds witness=_witness?"
    claim: str
    claimed: Number | str
    tight: Exact | None
    holds: bool | None
    witness: PairWitness | tuple[Any, ...] | None = None
    exponent: Fraction | None = None
    """The tight ε where it is rational."""
    ends: tuple[Exact, Exact] | None = None
    """What the tight value lies between where it is not known, in the units of `claimed`; of ε, floats."""

    @property
    def _between(self) -> Ends:
        return {} if self.ends is None else {"lower": self.ends[0], "upper": self.ends[1]}

    @classmethod
    def upper_keys(cls) -> frozenset[str]:
        return frozenset({"upper"})

    @property
    def not_known(self) -> frozenset[str]:
        open_ = self.ends is not None and self.ends[0] != self.ends[1] == math.inf
        return self.upper_keys() if open_ else frozenset()

    @property
    def _witness(self) -> PairWitness | DatasetWitness | None:
        return written_witness(self.witness)

    @property
    def verdict(self) -> str:
        """The verdict in a word."""
        return "unresolved" if self.holds is None else "holds" if self.holds else "refuted"


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Result):
    """The verdict on one or more claims about an instance; `bool()` of it is True when all hold."""

    query: ClassVar[str] = "verify"
    json = "holds claims *_proved"
    table = "claims"
    claims: tuple[Claim, ...]

    @property
    def holds(self) -> bool | None:
        """True when all claims hold, False when one is refuted, None when neither is known."""
        verdicts = [claim.holds for claim in self.claims]
        return False if False in verdicts else None if None in verdicts else True

    def __bool__(self) -> bool:
        return self.holds is True


@dataclass(frozen=True, kw_only=True, repr=False)
class Sample(Result):
    """Outputs drawn on one dataset."""

    query: ClassVar[str] = "sample"
    json = "x seed? outputs"
    table = "_listed"
    x: tuple[Any, ...]
    seed: int | None
    outputs: tuple[Any, ...]

    @property
    def _listed(self) -> tuple[Row, ...]:
        return tuple({"output": output} for output in self.outputs)


@dataclass(frozen=True, kw_only=True, repr=False)
class Unknown(Result):
    """A query that reached a limit before anything was known; `name` says which query."""

    query: ClassVar[str] = "unknown"
    name: str

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as `--json` prints it."""
        return {**super().to_dict(), "query": self.name}


def in_order(law: Mapping[Any, Number]) -> tuple[tuple[Any, Number], ...]:
    """Return an output law in the order of its outputs: None, numbers, strings, then tuples, entry by entry."""
    entries = {as_output(output): probability for output, probability in law.items()}.items()
    try:
        return tuple(sorted(entries))
    except TypeError:  # outputs of different kinds
        return tuple(sorted(entries, key=lambda entry: order_of(entry[0])))


@dataclass(frozen=True, kw_only=True, repr=False)
class Sweep(Drawn, Result):
    """One answer for every combination of the swept parameters, whose names are `swept`."""

    query: ClassVar[str] = "sweep"
    json = "rows=_rows"
    line = "table"
    table = "_listed"
    swept: tuple[str, ...]
    rows: tuple[Result, ...]

    @property
    def _rows(self) -> list[dict[str, Any]]:
        names = ("query", "parameters", "status", "result", "reason", "hint", "stats")
        wholes = [row.to_dict() for row in self.rows]
        return [{name: whole[name] for name in names if name in whole} for whole in wholes]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that have the numbers of the answers."""
        return tuple(next((row.columns for row in self.rows if row.columns), {"answer": 0}))

    @property
    def _listed(self) -> tuple[Row, ...]:
        return tuple(
            {**{name: row.parameters[name] for name in self.swept}, **answer_row(row.columns, row.status, self.names)}
            for row in self.rows
        )

    def csv(self) -> str:
        """Return the table as CSV; numbers are exact (p/q), ε is a float.

        A number that is not known is left empty; `lower` and `upper` enclose the first one in every row.
        """
        return as_file(self, "csv")
