"""Everything about one instance at once: what `Instance.report` gathers for one page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tightdp.results.answers import Accuracy, Likelihood
from tightdp.results.diagram import Structure
from tightdp.results.efficacy import Efficacy
from tightdp.results.privacy import Curve, Privacy, Tradeoff
from tightdp.results.result import Result
from tightdp.results.shown import as_file

__all__ = ["Report", "SourceText"]


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
    def _left_out(self) -> list[dict[str, str]]:
        return [{"question": name, "reason": reason} for name, reason in self.left_out]

    def html(self) -> str:
        """Return the report as one page of HTML that needs nothing else: no network, no script."""
        return as_file(self, "html")
