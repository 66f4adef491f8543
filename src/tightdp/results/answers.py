"""Results about everything but privacy: accuracy, output laws, verdicts, samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.exact.numbers import Exact
from tightdp.present import plot
from tightdp.present.view import Grid, View
from tightdp.present.words import brief, in_full, plain, shown, shown_number
from tightdp.queries.accuracy import AccuracyClass
from tightdp.results.result import PairWitness, Result, enclosure, unresolved_remark

__all__ = ["Accuracy", "Claim", "Distribution", "Sample", "Unknown", "Verification"]

_MOST_ROWS = 40


@dataclass(frozen=True, kw_only=True, repr=False)
class Accuracy(Result):
    """1 - β = least P(|M(x) - V(x)| <= α) over datasets x, for the target V; or the least α for a β.

    Asked with α, `one_minus_beta` is exact and `top` ranks the datasets by it, worst first. Asked with β, `alpha` is
    the least α that all datasets keep with probability 1 - β, and `one_minus_beta` is None.
    """

    query: ClassVar[str] = "accuracy"
    alpha: Exact
    beta: Fraction
    one_minus_beta: Fraction | None = None
    x: tuple[Any, ...] | None = None
    top: tuple[AccuracyClass, ...] = ()
    lower: Exact = Fraction(0)
    upper: Exact = Fraction(1)

    def _answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"alpha": plain(self.alpha)}
        if self.one_minus_beta is not None:
            answer["one_minus_beta"] = plain(self.one_minus_beta)
        answer["beta"] = plain(self.beta)
        answer |= enclosure(self.status, self.lower, self.upper)
        if self.x is not None:
            answer["witness"] = {"x": plain(self.x)}
        if self.top:
            answer["top"] = [
                {"x": plain(row.x), "one_minus_beta": plain(row.one_minus_beta), "inputs": row.inputs}
                for row in self.top
            ]
        return answer

    def view(self) -> View:
        """Return what a person sees."""
        grid = None
        if self.one_minus_beta is None:
            facts = [("β", shown_number(self.beta)), *self._facts("least α", self.alpha)]
        else:
            facts = [("α", shown_number(self.alpha)), *self._facts("tight 1 - β", self.one_minus_beta)]
            facts += [("tight β", shown_number(self.beta))] if self.status == "exact" else []
        if self.top:
            rows = tuple((shown_number(row.one_minus_beta), brief(row.x, 60), f"{row.inputs:,}") for row in self.top)
            grid = Grid(("1 - β", "dataset, for example", "datasets alike"), rows)
        sentences = [*unresolved_remark(self, "not all datasets were looked at")]
        if self.x is not None:
            so_far = "" if self.status == "exact" else " so far"
            sentences.append(f"The worst dataset{so_far} is x = {brief(self.x)}.")
        if self.one_minus_beta is not None:
            sentences += in_full(self.one_minus_beta)
        return View(self._heading, tuple(facts), grid, tuple(sentences))

    def _facts(self, label: str, value: Exact) -> list[tuple[str, str]]:
        if self.status == "exact":
            return [(label, shown_number(value))]
        name = label.split(" ", 1)[1]
        return [(f"{name} at least", shown_number(self.lower)), (f"{name} at most", shown_number(self.upper))]


@dataclass(frozen=True, kw_only=True, repr=False)
class Distribution(Result):
    """The exact output law on one dataset: (output, probability), in the order of the outputs."""

    query: ClassVar[str] = "distribution"
    x: tuple[Any, ...]
    law: tuple[tuple[Any, Fraction], ...]

    def probability(self, output: Any) -> Fraction:
        """Return the probability of one output, 0 for one that is never given."""
        return next((mass for value, mass in self.law if value == output), Fraction(0))

    def _answer(self) -> dict[str, Any]:
        return {"law": plain(self.law)}

    def view(self) -> View:
        """Return what a person sees."""
        shown_law = self.law[:_MOST_ROWS]
        rows = tuple((brief(output, 60), shown_number(mass)) for output, mass in shown_law)
        grid = Grid(("output", "probability"), rows, len(self.law) - len(rows))
        return View(self._heading, (("x", brief(self.x)),), grid)

    def plot(self, ax: Any = None) -> Any:
        """Draw the law as bars on the axes `ax` (new ones, unless given), and return them."""
        outputs, masses = [shown(output) for output, _ in self.law], [mass for _, mass in self.law]
        return plot.bars(ax, outputs, masses, "probability", f"{self.subject} on {brief(self.x, 40)}")


@dataclass(frozen=True)
class Claim:
    """One claim and its verdict: `holds` is None where a limit was reached first.

    `tight` is the best value that the mechanism has, in the units of `claimed`; a float is a rounded logarithm.
    """

    claim: str
    claimed: Fraction
    tight: Exact | None
    holds: bool | None
    witness: PairWitness | tuple[Any, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON has it."""
        answer = {"claim": self.claim, "claimed": plain(self.claimed)}
        if self.tight is not None:
            answer["tight"] = plain(self.tight)
        answer["holds"] = self.holds
        if isinstance(self.witness, PairWitness):
            answer["witness"] = self.witness.to_dict()
        elif self.witness is not None:
            answer["witness"] = {"x": plain(self.witness)}
        return answer

    @property
    def verdict(self) -> str:
        """The verdict in a word."""
        return "unresolved" if self.holds is None else "holds" if self.holds else "refuted"

    @property
    def sentence(self) -> str:
        """What the witness shows, in words; empty without one."""
        if self.witness is None:
            return ""
        if isinstance(self.witness, PairWitness):
            attained = "The largest value so far" if self.tight is None else "The tight value"
            return self.witness.sentence(f"{attained} is attained")
        return f"The worst dataset{' so far' if self.tight is None else ''} is x = {brief(self.witness)}."


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

    def _answer(self) -> dict[str, Any]:
        return {"holds": self.holds, "claims": [claim.to_dict() for claim in self.claims]}

    def view(self) -> View:
        """Return what a person sees."""
        rows = tuple(
            (claim.claim, shown_number(claim.claimed), _shown_tight(claim.tight), claim.verdict)
            for claim in self.claims
        )
        grid = Grid(("claim", "claimed", "tight", "verdict"), rows)
        sentences = tuple(claim.sentence for claim in self.claims if claim.sentence)
        undecided = "the claim is not decided" if len(self.claims) == 1 else "not all claims are decided"
        return View(self._heading, (), grid, (*unresolved_remark(self, undecided), *sentences))


@dataclass(frozen=True, kw_only=True, repr=False)
class Sample(Result):
    """Outputs drawn on one dataset."""

    query: ClassVar[str] = "sample"
    x: tuple[Any, ...]
    seed: int | None
    outputs: tuple[Any, ...]

    def _answer(self) -> dict[str, Any]:
        seed = {} if self.seed is None else {"seed": self.seed}
        return {"x": plain(self.x), **seed, "outputs": plain(self.outputs)}

    def view(self) -> View:
        """Return what a person sees: one output a line."""
        return View(f"{self.subject} on x = {brief(self.x)}", (), None, tuple(shown(output) for output in self.outputs))


@dataclass(frozen=True, kw_only=True, repr=False)
class Unknown(Result):
    """A query that reached a limit before anything was known; `name` says which query, `hint` what to do about it."""

    query: ClassVar[str] = "unknown"
    name: str
    hint: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as `--json` prints it."""
        return {**super().to_dict(), "query": self.name}

    def _answer(self) -> dict[str, Any]:
        return {}

    def view(self) -> View:
        """Return what a person sees."""
        hint = (f"  {self.hint}",) if self.hint else ()
        return View(self._heading, (), None, (*unresolved_remark(self, "nothing is known yet"), *hint))


def _shown_tight(value: Exact | None) -> str:
    if value is None:
        return "?"
    if isinstance(value, Fraction):
        return shown_number(value)
    return f"≈ {value!r}" if math.isfinite(value) else "inf"
