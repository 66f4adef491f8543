"""Results about everything but privacy: accuracy, output laws, verdicts, samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.language.program import as_output, order_of
from tightdp.language.tails import share_of
from tightdp.queries.accuracy import AccuracyClass
from tightdp.queries.nearness import AccuracyAt, LeastError
from tightdp.results.result import PairWitness, Result, Subject
from tightdp.results.shown import Drawn, Recorded

__all__ = ["Accuracy", "Claim", "Distribution", "Sample", "Unknown", "Verification", "in_order"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Accuracy(Result):
    """1 - β = least P(|M(x) - V(x)| <= α) over datasets x, for the target V; or the least α for a β.

    Asked with α, `one_minus_beta` is exact and `top` ranks the datasets by it, worst first. Asked with β, `alpha` is
    the least α that all datasets keep with probability 1 - β, and `one_minus_beta` is None.
    """

    query: ClassVar[str] = "accuracy"
    alpha: Exact
    beta: Number
    one_minus_beta: Number | None = None
    x: tuple[Any, ...] | None = None
    top: tuple[AccuracyClass, ...] = ()
    lower: Exact = Fraction(0)
    upper: Exact = Fraction(1)
    relative: bool = False
    """Whether the error is |M(x) - V(x)| / max(1, |V(x)|)."""

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
        return cls(
            subject=subject,
            alpha=question.alpha,
            one_minus_beta=lower,
            beta=1 - lower,
            x=x,
            top=top,
            lower=lower,
            upper=upper,
            relative=question.relative,
        )

    @classmethod
    def least(
        cls, subject: Subject, question: LeastError, lower: Exact, upper: Exact, x: tuple[Any, ...] | None
    ) -> Accuracy:
        """Return what is known of the least α for a β: it is at most `upper`, and at least `lower` on the dataset x."""
        return cls(
            subject=subject,
            alpha=upper,
            beta=question.beta,
            x=x,
            lower=lower,
            upper=upper,
            relative=question.relative,
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Distribution(Drawn, Result):
    """The exact output law on one dataset: (output, probability), in the order of the outputs.

    Where it is enclosed, `law` has lower ends, and `upper` the upper ends of the same outputs.
    """

    query: ClassVar[str] = "distribution"
    x: tuple[Any, ...]
    law: tuple[tuple[Any, Number], ...]
    upper: tuple[tuple[Any, Number], ...] = ()

    def probability(self, output: Any) -> Number:
        """Return the probability of one output, 0 for one that is never given; it may be one within a listed tail."""
        return sum((mass * share_of(value, output) for value, mass in self.law), start=Fraction(0))


@dataclass(frozen=True)
class Claim(Recorded):
    """One claim and its verdict: `holds` is None where a limit was reached first.

    `tight` is the best value that the mechanism has, in the units of `claimed`; a float is a rounded logarithm.
    """

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
    def verdict(self) -> str:
        """The verdict in a word."""
        return "unresolved" if self.holds is None else "holds" if self.holds else "refuted"


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Result):
    """The verdict on one or more claims about an instance; `bool()` of it is True when all hold."""

    query: ClassVar[str] = "verify"
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
    x: tuple[Any, ...]
    seed: int | None
    outputs: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Unknown(Result):
    """A query that reached a limit before anything was known; `name` says which query."""

    query: ClassVar[str] = "unknown"
    name: str


def in_order(law: Mapping[Any, Number]) -> tuple[tuple[Any, Number], ...]:
    """Return an output law in the order of its outputs: None, numbers, strings, then tuples, entry by entry."""
    entries = {as_output(output): probability for output, probability in law.items()}.items()
    try:
        return tuple(sorted(entries))
    except TypeError:  # outputs of different kinds
        return tuple(sorted(entries, key=lambda entry: order_of(entry[0])))
