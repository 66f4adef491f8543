"""The report: a summary, and a page for every paper with its claims, the facts found on the way, and its proofs.

A page is a list of blocks of Markdown.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tightdp.claims.answers import Change, scores
from tightdp.claims.instances import at, many, plain, ranges, short
from tightdp.claims.model import VERDICTS, Claim, Correction, Paper, Proof, Statement
from tightdp.claims.proof import NumberedProof, Step, numbered
from tightdp.claims.run import Counterexample, Evidence, Outcome
from tightdp.claims.sentences import shown
from tightdp.claims.typeset import typeset
from tightdp.exact.numbers import decimal_text

_INTRODUCTION = """\
Statements of papers, decided by exact computation. Every label is found again by `tightdp claims`; nothing that is
written down beforehand is believed. A printed claim with several parts has the label of its weakest part. The pages
of the papers have every claim with its evidence, the facts found on the way, and every argument once, with a number;
exact numbers and the lists of instances stand in JSON beside them.

- **decided**: code covers every quantifier of the statement: finite domains are listed in full, relations of functions
  are decided by identities and signs on cells. The sentence is generated from the object that is decided; that the
  words after *Here* describe what is computed stays with the reader
- **argued**: a written proof; its computable steps are checked by machine, each listed with what it establishes, and
  after them what stays with the reader
- **holds on**: on the listed instances, exactly; that says nothing of others
- **refuted**: there is a counterexample inside all hypotheses, measured a second time by code that shares no function
  with the first (the run watches that), or, where a limit is claimed, an argument
- **corrected**: refuted as printed, and the statement given in its place has a label of its own
- **open**: not decided, with the reason"""

_BREAK = "\n\n"
"""A list begins after an empty line."""

Found = list[tuple[Paper, list[Outcome]]]


def pages(found: Found, changes: Sequence[Change] = ()) -> dict[str, str]:
    """Return all files of the report by name: the summary, a page and a JSON file for every paper."""
    files = {"report.md": markdown(found, changes)}
    for paper, outcomes in found:
        files[f"{_folder(paper)}.md"] = paper_markdown(paper, outcomes)
        files[f"{_folder(paper)}.json"] = paper_json(paper, outcomes)
    return files


def _folder(paper: Paper) -> str:
    """Return where the page of a paper stands, seen from the summary, without its ending."""
    return f"report/{paper.name}"


def markdown(found: Found, changes: Sequence[Change] = ()) -> str:
    """Return the summary as Markdown."""
    return _joined(_summary(found, changes))


def paper_markdown(paper: Paper, outcomes: list[Outcome]) -> str:
    """Return the page of a paper as Markdown."""
    return _joined(_paper(paper, outcomes))


def _joined(blocks: Iterable[str]) -> str:
    return _BREAK.join(block if block.startswith(("#", "<", "```")) else typeset(block) for block in blocks) + "\n"


# blocks of Markdown


def _heading(level: int, text: str, anchor: str = "") -> str:
    return (f'<a id="{anchor}"></a>{_BREAK}' if anchor else "") + f"{'#' * level} {text}"


def _bullets(items: Iterable[str]) -> str:
    return unwrapped("\n".join(f"- {item}" for item in items))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    cells = ([cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def unwrapped(text: str) -> str:
    """Return Markdown with a line for each paragraph and list item, however its source was wrapped.

    A list stands in a paragraph of its own: a line of other text that begins with a minus sign is no item.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        listed = line.startswith("- ") and bool(lines) and lines[-1].startswith("- ")
        if lines and lines[-1] and line.strip() and not listed:
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line.rstrip())
    return "\n".join(lines)


# the summary


def _summary(found: Found, changes: Sequence[Change]) -> Iterator[str]:
    yield _heading(1, "Claims, decided")
    yield unwrapped(_INTRODUCTION)
    if changes:
        yield unwrapped(
            "Changed in one place at a time (constants by small steps either way, signs, exponents, strictness, "
            "conditions "
            "dropped or moved, ranges, the order of quantifiers), these statements are noticed to be changed "
            "(`tightdp claims --mutate` lists every change that is not, with the reason):"
        )
        rows = [
            (label, str(number), str(noticed), f"{decimal_text(share * 100, 3)} %")
            for label, (number, noticed, share) in scores(changes).items()
        ]
        yield _table(("label", "changes", "noticed", "share"), rows)
    yield _table(("paper", *VERDICTS), [_counts(paper, outcomes) for paper, outcomes in found])
    for paper, outcomes in found:
        yield _heading(2, paper.heading)
        yield unwrapped(f"[All claims, facts and proofs]({_folder(paper)}.md#{paper.name})")
        if paper.stands:
            yield unwrapped(paper.stands)
        false = [
            _false(paper, each)
            for each in _every(outcomes)
            if each.evidence.counterexample is not None and not _is_aside(each)
        ]
        if false:
            yield unwrapped(f"**False as printed.**{_BREAK}" + "\n".join(f"- {each}" for each in false))


def _every(outcomes: list[Outcome]) -> Iterator[Outcome]:
    for top in outcomes:
        yield top
        yield from top.parts


def _is_aside(outcome: Outcome) -> bool:
    """Whether it is a stronger reading or an aside: its refutation is a fact, none of a claim of the paper."""
    return isinstance(outcome.item, Claim) and (outcome.item.extra or outcome.item.unclaimed)


def _counts(paper: Paper, outcomes: list[Outcome]) -> tuple[str, ...]:
    count = Counter(outcome.verdict for outcome in outcomes)
    return (f"[{paper.name}]({_folder(paper)}.md#{paper.name})", *(str(count[verdict] or "") for verdict in VERDICTS))


def _false(paper: Paper, outcome: Outcome) -> str:
    item, example = outcome.item, outcome.evidence.counterexample
    said = item.texts.brief
    if not said and example is not None:
        instead = item.corrected.text if isinstance(item, Claim) and item.corrected is not None else ""
        said = f"{item.text} But: {short(example.why) or _fails(paper, outcome)}"
        said += f" Instead: {instead}" if instead else ""
    verdict = f" ({outcome.corrected.verdict})" if outcome.corrected is not None else ""
    return f"[{item.id}]({_folder(paper)}.md#{paper.name}-{item.id}) {item.place}: {said}{verdict}"


def _fails(paper: Paper, outcome: Outcome) -> str:
    example = outcome.evidence.counterexample
    return f"it fails at {at(example.instance, paper.words)}." if example and example.instance else "it fails."


# the page of a paper


def _paper(paper: Paper, outcomes: list[Outcome]) -> Iterator[str]:
    proofs = {each.proof: each for each in numbered(paper)}
    yield _heading(1, paper.heading, paper.name)
    if paper.stands:
        yield unwrapped(paper.stands)
    yield _table(("claim", "place", "verdict", "evidence"), [_line(paper, each) for each in _every(outcomes)])
    yield _heading(2, "The claims")
    for top in outcomes:
        for outcome in (top, *top.parts):
            if not _is_aside(outcome):
                yield from _claim(paper, outcome, "" if outcome is top else top.item.text, proofs)
    asides = [each for each in _every(outcomes) if _is_aside(each)]
    if asides:
        yield _heading(2, "Facts found")
        yield unwrapped(
            "Steps of printed proofs, stronger readings, and what came to light; none of it is a claim of its own."
        )
        for outcome in asides:
            yield from _claim(paper, outcome, "", proofs)
    if paper.left_out:
        yield _heading(2, "What is not here, and why")
        yield _bullets(f"{item}: {why}" for item, why in paper.left_out.items())
    if paper.unsettled:
        yield _heading(2, "Open")
        yield _bullets(f"{question}: {known}" for question, known in paper.unsettled.items())
    if proofs:
        yield _heading(2, "Arguments")
        steps = _own_steps(outcomes)
        for each in proofs.values():
            yield from _proof(paper, each, steps.get(each.proof.__name__, []))


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
    if evidence.how:
        return evidence.how
    if evidence.steps:
        return f"an argument with {many(len(evidence.steps), 'checked step')}"
    return many(evidence.checked, "instance") if evidence.checked else ""


def _claim(paper: Paper, outcome: Outcome, above: str, proofs: dict[Proof, NumberedProof]) -> Iterator[str]:
    """Write a claim with its evidence; `above` is the statement of the row that it is a part of."""
    item = outcome.item
    yield _heading(3, f"{item.id} ({item.place}): {outcome.verdict}", f"{paper.name}-{item.id}")
    if item.text != above:
        yield unwrapped(item.text)
    instead = item.corrected.text if isinstance(item, Claim) and item.corrected is not None else ""
    meant = [f"`{each}` is {what}" for each, what in paper.symbols.items() if _occurs(each, f"{item.text} {instead}")]
    if meant and not outcome.parts:
        yield f"**Symbols.** {'; '.join(meant)}."
    if outcome.parts:
        listed = ", ".join(f"[{part.id}](#{paper.name}-{part.id}) {part.verdict}" for part in outcome.parts)
        yield unwrapped(f"Decided in parts: {listed}.")
    if outcome.differs:
        yield unwrapped(f"**Not as recorded.** {outcome.differs}")
    if isinstance(item, Claim):
        yield from _evidence(paper, outcome.evidence, item, item.disproof or item.proof, proofs)
    yield from _text("Where it breaks.", item.texts.breaks)
    if isinstance(item, Claim) and item.corrected is not None and outcome.corrected is not None:
        yield unwrapped(f"**Instead** ({outcome.corrected.verdict}). {item.corrected.text}")
        yield from _evidence(paper, outcome.corrected, item.corrected, item.corrected.proof, proofs)
    if isinstance(item, Claim) and item.reason:
        yield unwrapped(f"**Why it is open.** {item.reason}")
    for label, text in (("What still stands.", item.texts.stands), ("Other readings.", item.texts.readings)):
        yield from _text(label, text)
    yield from _text("Notes.", item.texts.notes)


def _occurs(symbol: str, text: str) -> bool:
    return re.search(rf"(?<![\w'-]){re.escape(symbol)}(?![\w'-])", text) is not None


def _text(label: str, text: str) -> Iterator[str]:
    if text:
        yield unwrapped(f"**{label}**{_BREAK if text.startswith('- ') else ' '}{text}")


def _evidence(
    paper: Paper, evidence: Evidence, item: Claim | Correction, proof: Proof | None, proofs: dict[Proof, NumberedProof]
) -> Iterator[str]:
    example = evidence.counterexample
    if example is not None:
        where = f" at {at(example.instance, paper.words)}" if example.instance else ""
        sense = f" ({item.minimal})" if isinstance(item, Claim) and item.disproof is None else ""
        numbers = ", ".join(f"{name} = {short(shown(value))}" for name, value in example.numbers.items())
        yield unwrapped(f"**But**{where}{sense}: {short(example.why) or numbers}")
        if example.confirmed:
            yield f"```\n{example.command}\n```"
    parts = []
    if evidence.steps and proof in proofs:
        number = proofs[proof].number
        steps = many(len(evidence.steps), "step")
        parts.append(f"[Argument {number}](#{paper.name}-proof-{number}), {steps} checked by machine.")
    if evidence.how:
        parts.append(f"Covered: {evidence.how}.")
    if evidence.where and example is None:
        listed = "" if evidence.steps else f": {ranges(evidence.where, paper.words)}"  # an argument needs no list
        parts.append(f"Checked on {many(evidence.checked, 'instance')}{listed}.")
    if parts:
        yield unwrapped(" ".join(parts))


def _proof(paper: Paper, proof: NumberedProof, steps: Sequence[Step]) -> Iterator[str]:
    serves = ", ".join(f"[{id}](#{paper.name}-{id})" for id in proof.serves)
    yield _heading(3, f"Argument {proof.number}", f"{paper.name}-proof-{proof.number}")
    uses = ", ".join(f"[Argument {number}](#{paper.name}-proof-{number})" for number in proof.uses)
    about = [f"Of {serves}." if serves else "A lemma.", f"It uses {uses}." if uses else ""]
    yield unwrapped(" ".join(each for each in about if each))
    yield unwrapped(proof.argument)
    if steps:
        yield "Checked by machine:"
        yield _bullets(f"{step.what} ({step.kind}{f': ${step.formula}$' if step.formula else ''})" for step in steps)
    yield unwrapped(f"**Left to the reader:** {proof.reader}")


def _own_steps(outcomes: list[Outcome]) -> dict[str, list[Step]]:
    """Return the checked steps of every argument by its name, each once."""
    found: dict[str, list[Step]] = {}
    for outcome in _every(outcomes):
        for evidence in (outcome.evidence, outcome.corrected):
            for step in evidence.steps if evidence is not None else ():
                known = found.setdefault(step.proof, [])
                if step not in known:
                    known.append(step)
    return found


# what stands beside a page


def paper_json(paper: Paper, outcomes: list[Outcome]) -> str:
    """Return what stands beside the page of a paper: exact numbers, steps of proofs, all instances, a line each."""
    claims = [_in_full(outcome) for top in outcomes for outcome in (top, *top.parts)]
    lines = ",\n".join(json.dumps(claim, ensure_ascii=False) for claim in claims)
    return f'{{"paper": {json.dumps(paper.name)}, "claims": [\n{lines}\n]}}\n'


def _in_full(outcome: Outcome) -> dict[str, Any]:
    item = outcome.item
    found = {"id": item.id, "place": item.place, "statement": item.text, "verdict": outcome.verdict}
    if not isinstance(item, Claim):
        return {**found, "parts": list(item.parts)}
    example = counterexample_json(outcome.evidence.counterexample)
    whole: dict[str, Any] = {**found, "counterexample": example, **_everything(item, outcome.evidence)}
    if item.corrected is not None and outcome.corrected is not None:
        corrected = {"statement": item.corrected.text, "verdict": outcome.corrected.verdict}
        whole["corrected"] = corrected | _everything(item.corrected, outcome.corrected)
    return whole


def _everything(statement: Statement, evidence: Evidence) -> dict[str, Any]:
    return {
        "covered": evidence.how or None,
        "steps": [{"what": step.what, "by": step.kind} for step in evidence.steps],
        "instances": [
            {name: plain(value) for name, value in instance.items()} for instance in statement.instances(quick=False)
        ],
    }


def counterexample_json(found: Counterexample | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "instance": {name: plain(value) for name, value in found.instance.items()},
        "numbers": {name: plain(value) for name, value in found.numbers.items()},
        "in_words": found.why,
        "confirmed": found.confirmed,
        "reverify": found.command,
    }
