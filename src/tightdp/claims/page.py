"""The report: a summary, and a page for every paper with its claims, the facts found on the way, and its proofs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from tightdp.claims.blocks import Block, bullets, code, heading, paragraph, render_html, render_markdown, table
from tightdp.claims.model import VERDICTS, Claim, Correction, Paper, Proof, Texts
from tightdp.claims.mutate import Change
from tightdp.claims.numbered import NumberedProof, numbered
from tightdp.claims.run import Evidence, Outcome
from tightdp.claims.summary import paper_json
from tightdp.claims.words import at, ranges, short
from tightdp.exact.numbers import decimal_text

__all__ = ["Found", "html", "markdown", "pages", "paper_markdown"]

_INTRODUCTION = """\
Statements of papers, decided by exact computation. Every verdict is found again by `tightdp claims`; nothing that is
written down beforehand is believed. A printed claim with several parts has the verdict of its weakest part. The pages
of the papers have every claim with its evidence, the facts found on the way, and every proof once, with a number; exact
numbers, the steps of the proofs and the lists of instances stand in JSON beside them.

- **proved**: for all values, by an argument in words whose steps are checked by machine
- **holds-on**: on all listed instances, exactly; that is not a proof
- **refuted**: there is an exact counterexample, found a second time by brute force that shares no code with the check
- **corrected**: refuted as printed, and the statement given in its place has been confirmed
- **open**: not decided, with the reason

Formulas in `this type` are what is checked: their numbers are measured at every instance, and then the formula decides.
Every statement that is held to be true has a near miss, a false statement close to it, which the instances refute."""

_BREAK = "\n\n"
"""A list begins after an empty line."""

Found = list[tuple[Paper, list[Outcome]]]


def pages(found: Found, changes: Sequence[Change] = ()) -> dict[str, str]:
    """Return all files of the report by name: the summary, a page and a JSON file for every paper, one HTML page."""
    files = {"report.md": markdown(found, changes), "report.html": html(found, changes)}
    for paper, outcomes in found:
        files[f"{_folder(paper)}.md"] = paper_markdown(paper, outcomes)
        files[f"{_folder(paper)}.json"] = paper_json(paper, outcomes)
    return files


def _folder(paper: Paper) -> str:
    """Return where the page of a paper stands, seen from the summary, without its ending."""
    return f"report/{paper.name}"


def markdown(found: Found, changes: Sequence[Change] = ()) -> str:
    """Return the summary as Markdown."""
    return render_markdown(list(_summary(found, changes)))


def paper_markdown(paper: Paper, outcomes: list[Outcome]) -> str:
    """Return the page of a paper as Markdown."""
    return render_markdown(list(_paper(paper, outcomes)))


def html(found: Found, changes: Sequence[Change] = ()) -> str:
    """Return the summary and all pages as one HTML page that needs nothing else."""
    blocks = list(_summary(found, changes))
    for paper, outcomes in found:
        blocks += _paper(paper, outcomes)
    return render_html("Claims, decided", blocks)


# the summary


def _summary(found: Found, changes: Sequence[Change]) -> Iterator[Block]:
    yield heading(1, "Claims, decided")
    yield paragraph(_INTRODUCTION)
    if changes:
        noticed = sum(change.noticed for change in changes)
        yield paragraph(
            f"Changed one at a time, {noticed} of the {len(changes)} constants and relations of these statements are "
            f"noticed: {decimal_text(Fraction(100 * noticed, len(changes)), 3)} % (`tightdp claims --mutate`)."
        )
    yield table(("paper", *VERDICTS), [_counts(paper, outcomes) for paper, outcomes in found])
    for paper, outcomes in found:
        yield heading(2, f"{paper.name}: {paper.title}" if paper.title else paper.name)
        yield paragraph(f"[All claims, facts and proofs]({_folder(paper)}.md#{paper.name})")
        if paper.stands:
            yield paragraph(paper.stands)
        false = [_false(paper, each) for each in _every(outcomes) if _is_false(each)]
        if false:
            yield paragraph(f"**False as printed.**{_BREAK}" + "\n".join(f"- {each}" for each in false))


def _every(outcomes: list[Outcome]) -> Iterator[Outcome]:
    for top in outcomes:
        yield top
        yield from top.parts


def _is_false(outcome: Outcome) -> bool:
    """Whether a claim of the paper itself is refuted; stronger readings and asides are facts."""
    return outcome.evidence.counterexample is not None and not _is_aside(outcome)


def _is_aside(outcome: Outcome) -> bool:
    return isinstance(outcome.item, Claim) and (outcome.item.extra or outcome.item.unclaimed)


def _counts(paper: Paper, outcomes: list[Outcome]) -> tuple[str, ...]:
    count = Counter(outcome.verdict for outcome in outcomes)
    return (f"[{paper.name}]({_folder(paper)}.md#{paper.name})", *(str(count[verdict] or "") for verdict in VERDICTS))


def _false(paper: Paper, outcome: Outcome) -> str:
    item, example = outcome.item, outcome.evidence.counterexample
    said = item.texts.brief
    if not said and example is not None:
        instead = item.corrected.statement if isinstance(item, Claim) and item.corrected is not None else ""
        said = f"{item.statement} But: {short(example.why) or _fails(paper, outcome)}"
        said += f" Instead: {instead}" if instead else ""
    verdict = f" ({outcome.corrected.verdict})" if outcome.corrected is not None else ""
    return f"[{item.id}]({_folder(paper)}.md#{paper.name}-{item.id}) {item.place}: {said}{verdict}"


def _fails(paper: Paper, outcome: Outcome) -> str:
    example = outcome.evidence.counterexample
    return (
        f"it fails at {at(example.instance, paper.words)}." if example is not None and example.instance else "it fails."
    )


# the page of a paper


def _paper(paper: Paper, outcomes: list[Outcome]) -> Iterator[Block]:
    proofs = {each.proof: each for each in numbered(paper)}
    yield heading(1, f"{paper.name}: {paper.title}" if paper.title else paper.name, paper.name)
    if paper.stands:
        yield paragraph(paper.stands)
    yield table(("claim", "place", "verdict", "evidence"), [_line(paper, each) for each in _every(outcomes)])
    yield heading(2, "The claims")
    for top in outcomes:
        for outcome in (top, *top.parts):
            if not _is_aside(outcome):
                yield from _claim(paper, outcome, "" if outcome is top else top.item.statement, proofs)
    asides = [each for each in _every(outcomes) if _is_aside(each)]
    if asides:
        yield heading(2, "Facts found")
        yield paragraph(
            "Steps of printed proofs, stronger readings, and what came to light; none of it is a claim of its own."
        )
        for outcome in asides:
            yield from _claim(paper, outcome, "", proofs)
    if paper.left_out:
        yield heading(2, "What is not here, and why")
        yield bullets(f"{item}: {why}" for item, why in paper.left_out.items())
    if paper.unsettled:
        yield heading(2, "Open")
        yield bullets(f"{question}: {known}" for question, known in paper.unsettled.items())
    if proofs:
        yield heading(2, "Proofs")
        for each in proofs.values():
            yield from _proof(paper, each)


def _line(paper: Paper, outcome: Outcome) -> tuple[str, ...]:
    item = outcome.item
    verdict = f"**{outcome.verdict}**" + (" (differs from the record)" if outcome.differs else "")
    aside = " (a fact found)" if _is_aside(outcome) else ""
    return f"[{item.id}](#{paper.name}-{item.id}){aside}", item.place, verdict, _in_a_word(paper, outcome)


def _in_a_word(paper: Paper, outcome: Outcome) -> str:
    evidence = outcome.evidence
    if outcome.parts:
        return f"decided in {len(outcome.parts)} parts"
    if evidence.counterexample is not None:
        return _fails(paper, outcome).removeprefix("it ").rstrip(".")
    if evidence.steps:
        return f"proof, {_many(len(evidence.steps), 'checked step')}"
    return _many(evidence.checked, "instance") if evidence.checked else ""


def _claim(paper: Paper, outcome: Outcome, above: str, proofs: dict[Proof, NumberedProof]) -> Iterator[Block]:
    """Write a claim with its evidence; `above` is the statement of the row that it is a part of."""
    item = outcome.item
    yield heading(3, f"{item.id} ({item.place}): {outcome.verdict}", f"{paper.name}-{item.id}")
    if item.statement != above:
        yield paragraph(item.statement)
    if outcome.parts:
        listed = ", ".join(f"[{part.id}](#{paper.name}-{part.id}) {part.verdict}" for part in outcome.parts)
        yield paragraph(f"Decided in parts: {listed}.")
    if outcome.differs:
        yield paragraph(f"**Not as recorded.** {outcome.differs}")
    if isinstance(item, Claim):
        yield from _evidence(paper, outcome.evidence, item, item.disproof or item.proof, proofs)
    yield from _text("Where it breaks.", item.texts.breaks)
    if isinstance(item, Claim) and item.corrected is not None and outcome.corrected is not None:
        yield paragraph(f"**Instead** ({item.corrected.verdict}). {item.corrected.statement}")
        yield from _evidence(paper, outcome.corrected, item.corrected, item.corrected.proof, proofs)
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


def _evidence(
    paper: Paper, evidence: Evidence, item: Claim | Correction, proof: Proof | None, proofs: dict[Proof, NumberedProof]
) -> Iterator[Block]:
    example = evidence.counterexample
    if example is not None:
        where = f" at {at(example.instance, paper.words)}" if example.instance else ""
        sense = f" ({item.minimal})" if isinstance(item, Claim) and item.disproof is None else ""
        yield paragraph(f"**But**{where}{sense}: {short(example.why) or 'it fails.'}")
        if example.confirmed:
            yield code(example.command)
    parts = []
    if evidence.steps and proof in proofs:
        number = proofs[proof].number
        steps = _many(len(evidence.steps), "step")
        parts.append(f"[Proof {number}](#{paper.name}-proof-{number}), {steps} checked by machine.")
    if evidence.where and example is None:
        listed = "" if evidence.steps else f": {ranges(evidence.where, paper.words)}"  # a proof needs no list
        parts.append(f"Checked on {_many(evidence.checked, 'instance')}{listed}.")
    if evidence.near:
        parts.append(f"Near miss: {_near(evidence.near)}.")
    if parts:
        yield paragraph(" ".join(parts))


def _near(text: str) -> str:
    """Leave the place out: it is in the JSON."""
    return text.rsplit(" (refuted at", 1)[0].rstrip(".") + ", which is refuted"


def _proof(paper: Paper, proof: NumberedProof) -> Iterator[Block]:
    serves = ", ".join(f"[{id}](#{paper.name}-{id})" for id in proof.serves)
    yield heading(3, f"Proof {proof.number}", f"{paper.name}-proof-{proof.number}")
    uses = ", ".join(f"[Proof {number}](#{paper.name}-proof-{number})" for number in proof.uses)
    about = [f"Of {serves}." if serves else "A lemma.", f"It uses {uses}." if uses else ""]
    yield paragraph(" ".join(each for each in about if each))
    yield paragraph(proof.argument)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count != 1 else ''}"
