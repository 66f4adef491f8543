"""About one instance: where its loss comes from, how it is computed (a diagram, a plan), and everything on one page."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, TypedDict, cast

from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.logic.formula import Coin, InputBit, OutputBit, WeightedFormula
from tightdp.methods.base import Summary
from tightdp.methods.symmetry import Symmetry
from tightdp.results.answers import Accuracy, Likelihood
from tightdp.results.guessing import Efficacy
from tightdp.results.privacy import Curve, Privacy, Tradeoff
from tightdp.results.recorded import Recorded
from tightdp.results.result import EventWitness, PairWitness, Result, as_file


@dataclass(frozen=True)
class DrawLoss(Recorded):
    """One place where the source draws, on one pair of neighbours.

    `published` is e^ε of the pair when the outcomes drawn there are published besides the output, `fixed` when the most
    likely outcome is taken there every time.
    """

    json = "line text published fixed"
    line: int
    text: str
    published: Exact
    fixed: Exact


@dataclass(frozen=True)
class Remedy(Recorded):
    """A change of one line after which the claim holds (`holds`), or comes nearest to it.

    `loss` is e^ε after the change, or δ at the claimed e^ε where the claim has a δ; `moved` is the larger total
    variation distance by which the change moves the output laws of the worst pair, None where laws have tails.
    `adds_noise` and `restores` say whether the change adds a draw and uses a parameter that was not used, `exact` that
    the claim is met exactly.
    """

    json = "line before after loss holds moved"
    line: int
    before: str
    after: str
    loss: Exact
    holds: bool
    moved: Fraction | None
    adds_noise: bool = False
    restores: bool = False
    exact: bool = False


@dataclass(frozen=True)
class Smallest(Recorded):
    """The smallest n, domain and parameters found at which the claim still fails, with the smallest event."""

    json = "parameters=_parameters records loss witness"
    parameters: tuple[tuple[str, Any], ...]
    records: tuple[Any, ...]
    loss: Exact
    witness: EventWitness

    @property
    def _parameters(self) -> dict[str, Any]:
        return dict(self.parameters)


class Blamed(TypedDict, total=False):
    """The verdict on a claim, the line to blame, and what would make it hold."""

    claimed: Number
    delta: Number
    holds: bool | None
    line: int | None
    remedies: tuple[Remedy, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Explanation(Result):
    """Why an instance loses as much privacy as it does.

    Without a claim there are only the worst pair and its draws. `line` is the line to blame for a claim that fails: the
    one of the remedy that makes it hold and moves the output laws least. `source` has all lines of the file.
    """

    query: ClassVar[str] = "explain"
    json = "exp_epsilon witness? draws *_verdict smallest?"
    table = "draws"
    exp_epsilon: Exact
    witness: PairWitness | None
    draws: tuple[DrawLoss, ...]
    claimed: Number | None = None
    delta: Number = Fraction(0)
    holds: bool | None = None
    line: int | None = None
    remedies: tuple[Remedy, ...] = ()
    smallest: Smallest | None = None
    source: tuple[str, ...] = ()

    @property
    def cut_short(self) -> bool:
        """Whether a limit was reached first; a claim that is decided is explained, also where draws are left out."""
        return super().cut_short and (self.status != "exact" or self.claimed is None)

    @property
    def _verdict(self) -> Blamed:
        found = {} if self.claimed is None else {name: getattr(self, name) for name in Blamed.__annotations__}
        return cast("Blamed", found)


@dataclass(frozen=True, kw_only=True, repr=False)
class Structure(Result):
    """How the tight ε of a mechanism is found: the plan with estimated and actual work, the symmetries, the diagram.

    `formula` is None where the diagram on all datasets would be large and the plan does without it. `nodes` counts the
    nodes of the library, where an edge may be complemented, `expanded` those without such edges.
    """

    query: ClassVar[str] = "show"
    sets = "inference_set privacy_set accuracy_set"
    json = "*counts plan=_plan?"
    formula: WeightedFormula | None = field(compare=False)
    symmetry: Symmetry
    plan: tuple[Summary, ...] = field(default=(), compare=False)

    @property
    def _plan(self) -> tuple[dict[str, Any], ...]:
        return tuple(map(_written, self.plan))

    @property
    def counts(self) -> dict[str, int]:
        """How many variables of each kind and how many nodes there are; nothing where there is no diagram."""
        if self.formula is None:
            return {}
        variables, diagram = self.formula.variables, self.formula.diagram
        return {
            "variables": len(variables),
            "input_bits": sum(isinstance(variable, InputBit) for variable in variables),
            "coins": sum(isinstance(variable, Coin) for variable in variables),
            "output_bits": sum(isinstance(variable, OutputBit) for variable in variables),
            "nodes": self.formula.nodes,
            "expanded": len(diagram),
        }

    @property
    def columns(self) -> dict[str, tuple[Exact, Exact]]:
        return self.size.columns

    @property
    def size(self) -> DiagramSize:
        """The counts alone, without the diagram."""
        return DiagramSize(subject=self.subject, stats=self.stats, counts=tuple(self.counts.items()))

    def dot(self) -> str:
        """Return the diagram as Graphviz text; dashed edges are taken where a variable is false."""
        return as_file(self, "dot")

    def svg(self) -> str:
        """Return the diagram as SVG. Raises QueryError above 400 nodes."""
        return as_file(self, "svg")


def _written(step: Summary) -> dict[str, Any]:
    if step.refusal:
        return {"method": step.method, "refusal": step.refusal}
    steps = {"estimated_steps": step.estimated, "actual_steps": step.actual}
    return {"method": step.method, **steps, "parts": list(map(_written, step.parts))}


@dataclass(frozen=True, kw_only=True, repr=False)
class DiagramSize(Result):
    """How many variables of each kind and how many nodes a diagram has, as in `Structure.counts`."""

    query: ClassVar[str] = "show"
    json = "*counts"
    counts: tuple[tuple[str, int], ...]

    @property
    def columns(self) -> dict[str, tuple[Exact, Exact]]:
        return {name: (Fraction(count), Fraction(count)) for name, count in self.counts}


@dataclass(frozen=True)
class SourceText:
    """The lines of a function, and where it draws: (line, first column, column after the last), counted from 1."""

    name: str
    first_line: int
    lines: tuple[str, ...]
    marks: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Report(Result):
    """The answers to all questions about an instance; None where a question does not fit it or met a limit.

    `left_out` says why, as (question, reason).
    """

    query: ClassVar[str] = "report"
    json = "privacy likelihood? curve? tradeoff? accuracy? efficacy? structure? left_out=_left_out"
    documentation: str
    sources: tuple[SourceText, ...]
    privacy: Privacy
    likelihood: Likelihood | None
    curve: Curve | None
    tradeoff: Tradeoff | None
    accuracy: Accuracy | None
    efficacy: Efficacy | None
    structure: Structure | None
    left_out: tuple[tuple[str, str], ...]

    @property
    def columns(self) -> dict[str, tuple[Exact, Exact]]:
        return self.privacy.columns

    @property
    def _left_out(self) -> list[dict[str, str]]:
        return [{"question": name, "reason": reason} for name, reason in self.left_out]

    def html(self) -> str:
        """Return the report as one page of HTML that needs nothing else: no network, no script."""
        return as_file(self, "html")
