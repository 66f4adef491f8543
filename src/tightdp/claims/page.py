"""The report page: per paper a table of verdicts, then every claim with its evidence. Markdown and HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tightdp._version import __version__
from tightdp.claims.blocks import (
    Block,
    bullets,
    code,
    heading,
    paragraph,
    render_html,
    render_markdown,
    table,
)
from tightdp.claims.instances import shown_instance, shown_value
from tightdp.claims.model import VERDICTS, Claim, Paper, Texts
from tightdp.claims.run import Evidence, Outcome

__all__ = ["html", "markdown"]

_INTRODUCTION = """\
Statements of papers, decided by exact computation. Every verdict was found again when this page was made.

- **proved**: for all values, by an exact symbolic or algebraic argument that is re-run
- **holds-on**: on all listed instances, exactly; that is not a proof
- **refuted**: there is an exact counterexample
- **corrected**: refuted as printed, and a statement that is true in its place has been confirmed
- **open**: not decided, with the reason

A counterexample is the first in the order of the instances, which go from small to large. Each was found a
second time by brute force that shares no code with the engine; the command beside it does that again."""

Found = list[tuple[Paper, list[Outcome]]]


def markdown(found: Found) -> str:
    """Return the report as Markdown."""
    return render_markdown(list(_page(found)))


def html(found: Found) -> str:
    """Return the report as one HTML page that needs nothing else."""
    return render_html("Claims, decided", list(_page(found)))


def _page(found: Found) -> Iterator[Block]:
    yield heading(1, "Claims, decided")
    yield paragraph(_INTRODUCTION)
    yield table(("paper", *VERDICTS), [_counts(paper, outcomes) for paper, outcomes in found])
    for paper, outcomes in found:
        yield from _paper(paper, outcomes)
    yield paragraph(f"Made by tightdp {__version__}.")


def _counts(paper: Paper, outcomes: list[Outcome]) -> tuple[str, ...]:
    count = Counter(outcome.verdict for outcome in outcomes)
    return (f"[{paper.name}](#{paper.name})", *(str(count[verdict] or "") for verdict in VERDICTS))


def _paper(paper: Paper, outcomes: list[Outcome]) -> Iterator[Block]:
    yield heading(2, f"{paper.name}: {paper.title}" if paper.title else paper.name, paper.name)
    rows = [_row(paper, outcome) for top in outcomes for outcome in (top, *top.parts)]
    yield table(("claim", "place", "statement", "verdict", "evidence", "s"), rows)
    if paper.stands:
        yield heading(3, "What still stands")
        yield paragraph(paper.stands)
    yield heading(3, "The claims one by one")
    for top in outcomes:
        for outcome in (top, *top.parts):
            yield from _claim(paper, outcome)


def _row(paper: Paper, outcome: Outcome) -> tuple[str, ...]:
    item = outcome.item
    name = f"[{item.id}](#{paper.name}-{item.id})"
    verdict = f"**{outcome.verdict}**" + (" (differs from the record)" if outcome.differs else "")
    return name, item.place, item.statement, verdict, _in_a_word(outcome), f"{outcome.seconds:.1f}"


def _in_a_word(outcome: Outcome) -> str:
    evidence = outcome.evidence
    if outcome.parts:
        return f"decided in {len(outcome.parts)} parts"
    if evidence.counterexample is not None:
        return (
            f"fails at {shown_instance(evidence.counterexample.instance)}"
            if evidence.counterexample.instance
            else "fails"
        )
    if evidence.steps:
        return f"proof, {_many(len(evidence.steps), 'checked step')}"
    return _many(evidence.checked, "instance") if evidence.checked else ""


def _claim(paper: Paper, outcome: Outcome) -> Iterator[Block]:
    item = outcome.item
    extra = ", besides the printed claim" if isinstance(item, Claim) and item.extra else ""
    yield heading(4, f"{item.id} ({item.place}): {outcome.verdict}{extra}", f"{paper.name}-{item.id}")
    yield paragraph(f"**Statement.** {item.statement}")
    if outcome.differs:
        yield paragraph(f"**Not as recorded.** {outcome.differs}")
    yield from _evidence(outcome.evidence, item if isinstance(item, Claim) else None)
    yield from _text("Where it breaks.", item.texts.breaks)
    if isinstance(item, Claim) and item.corrected is not None and outcome.corrected is not None:
        yield paragraph(f"**Corrected statement** ({outcome.corrected.verdict}). {item.corrected.statement}")
        yield from _evidence(outcome.corrected, None)
    if isinstance(item, Claim) and item.reason:
        yield paragraph(f"**Why it is open.** {item.reason}")
    yield from _texts(item.texts)


def _texts(texts: Texts) -> Iterator[Block]:
    yield from _text("What still stands.", texts.stands)
    yield from _text("Other readings.", texts.readings)
    yield from _text("Notes.", texts.notes)


def _text(label: str, text: str) -> Iterator[Block]:
    if text:
        yield paragraph(f"**{label}** {text}")


def _evidence(evidence: Evidence, claim: Claim | None) -> Iterator[Block]:
    found = evidence.counterexample
    if found is not None:
        at = f" at {shown_instance(found.instance)}" if found.instance else ""
        sense = f" (minimal: {claim.minimal})" if claim is not None and claim.disproof is None else ""
        yield paragraph(f"**Counterexample**{at}{sense}. {found.why}")
        numbers = [(name.replace("_", " "), shown_value(value)) for name, value in found.numbers.items()]
        if numbers:
            yield table(("number", "exact value"), numbers)
        if found.confirmed:
            yield paragraph("Confirmed by brute force that shares no code with the engine; to run it again:")
            yield code(found.command)
    elif evidence.where:
        yield paragraph(f"**Checked** on {_many(evidence.checked, 'instance')}: {evidence.where}.")
    if evidence.steps:
        yield paragraph(f"**{'Disproof' if found is not None else 'Proof'}.** {evidence.argument}")
        yield bullets([f"{step.what} ({step.kind})" for step in evidence.steps])


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count != 1 else ''}"
