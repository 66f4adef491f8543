"""The report page: per paper a table of verdicts, then every claim with its evidence. Markdown and HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tightdp.claims.blocks import (
    Block,
    bullets,
    code,
    details,
    heading,
    paragraph,
    render_html,
    render_markdown,
    table,
)
from tightdp.claims.instances import shown_instance, shown_value
from tightdp.claims.model import VERDICTS, Claim, Paper, Row, Texts
from tightdp.claims.run import Evidence, Outcome

__all__ = ["html", "markdown"]

_INTRODUCTION = """\
Statements of papers, decided by exact computation. Every verdict was found again when this page was made, by
`tightdp claims --report DIR`; it decides everything anew, and nothing that is written down beforehand is believed.

- **proved**: for all values, by an argument in words whose steps (identities, signs, limits, finite cases) are checked
  by machine
- **holds-on**: on all listed instances, exactly; that is not a proof
- **refuted**: there is an exact counterexample
- **corrected**: refuted as printed, and the statement given in its place has been confirmed
- **open**: not decided, with the reason

A counterexample is the first in the order of the instances, which go from small to large. Each was found a second time
by brute force that shares no code with the engine; the command beside it does that again. A printed claim with several
parts has the verdict of its weakest part; parts marked (aside) are steps of proofs, other readings and facts found on
the way, and do not count. The table counts printed claims."""

_BREAK = "\n\n"
"""A list begins after an empty line."""

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


def _counts(paper: Paper, outcomes: list[Outcome]) -> tuple[str, ...]:
    count = Counter(outcome.verdict for outcome in outcomes)
    return (f"[{paper.name}](#{paper.name})", *(str(count[verdict] or "") for verdict in VERDICTS))


def _paper(paper: Paper, outcomes: list[Outcome]) -> Iterator[Block]:
    yield heading(2, f"{paper.name}: {paper.title}" if paper.title else paper.name, paper.name)
    if paper.stands:
        yield heading(3, "In short, and what still stands")
        yield paragraph(paper.stands)
    false = [_false(paper, each) for top in outcomes for each in (top, *top.parts) if each.evidence.counterexample]
    if false:
        yield heading(3, "False as printed")
        yield table(("claim", "place", "printed", "but", "instead"), false)
    yield heading(3, "All verdicts")
    rows = [row for top in outcomes for row in _rows(paper, top)]
    yield table(("claim", "place", "statement", "verdict", "evidence"), rows)
    yield heading(3, "The claims one by one")
    for top in outcomes:
        yield from _claim(paper, top, "")
        for part in top.parts:
            yield from _claim(paper, part, top.item.statement)


def _false(paper: Paper, outcome: Outcome) -> tuple[str, ...]:
    item, found = outcome.item, outcome.evidence.counterexample
    why = "" if found is None else found.why or _in_a_word(outcome)
    instead = item.corrected if isinstance(item, Claim) else None
    verdict = outcome.corrected.verdict if outcome.corrected is not None else ""
    return (
        f"[{item.id}](#{paper.name}-{item.id}){_besides(item)}",
        item.place,
        item.statement,
        why,
        f"{instead.statement} ({verdict})" if instead is not None else "",
    )


def _besides(item: Claim | Row) -> str:
    """Mark what is not a printed claim of its own: a step of a proof, another reading, a fact found on the way."""
    return " (aside)" if isinstance(item, Claim) and item.extra else ""


def _rows(paper: Paper, top: Outcome) -> Iterator[tuple[str, ...]]:
    for outcome in (top, *top.parts):
        item = outcome.item
        same = outcome is not top and item.statement == top.item.statement
        verdict = f"**{outcome.verdict}**" + (" (differs from the record)" if outcome.differs else "")
        yield (
            f"{'' if outcome is top else '– '}[{item.id}](#{paper.name}-{item.id}){_besides(item)}",
            item.place,
            "the same" if same else item.statement,
            verdict,
            _in_a_word(outcome),
        )


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


def _claim(paper: Paper, outcome: Outcome, above: str) -> Iterator[Block]:
    """Write a claim with its evidence; `above` is the statement of the row that it is a part of."""
    item = outcome.item
    yield heading(4, f"{item.id} ({item.place}): {outcome.verdict}{_besides(item)}", f"{paper.name}-{item.id}")
    if item.statement != above:
        yield paragraph(f"**Statement.** {item.statement}")
    if outcome.parts:
        listed = ", ".join(f"[{part.id}](#{paper.name}-{part.id}) {part.verdict}" for part in outcome.parts)
        yield paragraph(f"**Decided in parts.** {listed}.")
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
        yield paragraph(f"**{label}**{_BREAK if text.startswith('- ') else ' '}{text}")


def _evidence(evidence: Evidence, claim: Claim | None) -> Iterator[Block]:
    found = evidence.counterexample
    if found is not None:
        at = f" at {shown_instance(found.instance)}" if found.instance else ""
        sense = f" (minimal: {claim.minimal})" if claim is not None and claim.disproof is None else ""
        yield paragraph(f"**Counterexample**{at}{sense}. {found.why}".strip())
        numbers = [(name.replace("_", " "), shown_value(value)) for name, value in found.numbers.items()]
        if numbers:
            yield table(("number", "exact value"), numbers)
        if found.confirmed:
            yield paragraph("Found again by brute force that shares no code with the engine:")
            yield code(found.command)
    elif evidence.where:
        yield paragraph(f"**Checked** on {_many(evidence.checked, 'instance')}: {evidence.where}.")
    if evidence.steps:
        yield paragraph(f"**{'Disproof' if found is not None else 'Proof'}.** {evidence.argument}")
        steps = bullets([f"{step.what} ({step.kind})" for step in evidence.steps])
        yield details(f"{_many(len(evidence.steps), 'step')} checked by machine", steps)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count != 1 else ''}"
