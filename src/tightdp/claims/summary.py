"""Verdicts in short: lines for the terminal, an object for JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tightdp._version import __version__
from tightdp.claims.answers import Change, noticed_share
from tightdp.claims.instances import plain, shown_instance
from tightdp.claims.model import Claim, Paper, Statement
from tightdp.claims.run import Counterexample, Evidence, Outcome
from tightdp.exact.numbers import as_text, decimal_text
from tightdp.present.text import row_of

_WIDTH = 40


def heading(paper: Paper) -> str:
    """Return the line above the verdicts of a paper."""
    return f"{paper.name}: {paper.title}" if paper.title else paper.name


def lines(paper: Paper, top: Outcome) -> Iterator[str]:
    """Return the lines of a table for a claim and its parts."""
    names = max(len(item.id) for item in paper.items) + 2
    places = min(max(len(item.place) for item in paper.items), _WIDTH)
    for outcome, part in _with_parts(top):
        item = outcome.item
        place = item.place if len(item.place) <= _WIDTH else f"{item.place[: _WIDTH - 1]}…"
        name = f"  {item.id}" if part else item.id
        took = f"{outcome.seconds:.2f} s".rjust(8)
        yield "  " + row_of((name, place, outcome.verdict, took, _why(outcome)), (names, places, 9, 8, 0))
        if outcome.differs:
            yield f"      DIFFERS: {outcome.differs}"


def total(outcomes: list[Outcome]) -> str:
    """Return the line below the verdicts of a paper."""
    differing = sum(bool(outcome.differs) for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    return (
        f"  {many(len(outcomes), 'claim')}, {f'{differing} not' if differing else 'all'} as recorded, {seconds:.1f} s\n"
    )


def _why(outcome: Outcome) -> str:
    evidence, found = outcome.evidence, outcome.evidence.counterexample
    if outcome.parts:
        return ""
    if found is not None:
        return f"fails at {shown_instance(found.instance)}" if found.instance else "fails"
    if evidence.verdict == "open" and isinstance(outcome.item, Claim):
        return outcome.item.reason
    listed = f"{many(evidence.checked, 'instance')}: {evidence.where}" if evidence.checked else ""
    steps = many(len(evidence.steps), "step") if evidence.verdict == "proved" else ""
    return "; ".join(each for each in (steps, listed) if each)


def many(count: int, noun: str) -> str:
    """Write a number of things."""
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


def _with_parts(outcome: Outcome) -> Iterator[tuple[Outcome, bool]]:
    yield outcome, False
    yield from ((part, True) for part in outcome.parts)


def as_dict(found: list[tuple[Paper, list[Outcome]]], path: Any, quick: bool, complete: bool = True) -> dict[str, Any]:
    """Return the JSON object of the command; its status is "unresolved" where the run was interrupted."""
    claims = [
        _claim(paper, outcome, top if part else None)
        for paper, outcomes in found
        for top in outcomes
        for outcome, part in _with_parts(top)
    ]
    result = {"claims": claims, "as_recorded": not any(claim["differs"] for claim in claims)}
    return _answer({"path": str(path), "quick": quick}, "exact" if complete else "unresolved", result)


def mutation_line(found: list[Change]) -> str:
    """Return the line below a mutation run."""
    share = noticed_share(found)
    if share is None:
        return "nothing to change\n"
    noticed = sum(each.noticed for each in found)
    return f"  {noticed} of {len(found)} changes noticed, {decimal_text(share * 100, 3)} %\n"


def mutation_as_dict(found: list[Change], path: Any) -> dict[str, Any]:
    """Return the JSON object of a mutation run."""
    share = noticed_share(found)
    result = {
        "changes": len(found),
        "noticed": sum(each.noticed for each in found),
        "noticed_share": None if share is None else as_text(share),
        "unnoticed": [{"paper": each.paper, "id": each.id, "change": each.what} for each in found if not each.noticed],
    }
    return _answer({"path": str(path), "mutate": True}, "exact", result)


def _answer(parameters: dict[str, Any], status: str, result: dict[str, Any]) -> dict[str, Any]:
    return {
        "tightdp": __version__,
        "query": "claims",
        "parameters": parameters,
        "status": status,
        "result": result,
    }


def paper_json(paper: Paper, outcomes: list[Outcome]) -> str:
    """Return what stands beside the page of a paper: exact numbers, steps of proofs, all instances, a line each."""
    claims = [_in_full(outcome) for top in outcomes for outcome, _ in _with_parts(top)]
    lines = ",\n".join(json.dumps(claim, ensure_ascii=False) for claim in claims)
    return f'{{"paper": {json.dumps(paper.name)}, "claims": [\n{lines}\n]}}\n'


def _in_full(outcome: Outcome) -> dict[str, Any]:
    item = outcome.item
    found: dict[str, Any] = {
        "id": item.id,
        "place": item.place,
        "statement": item.statement,
        "verdict": outcome.verdict,
    }
    if not isinstance(item, Claim):
        return {**found, "parts": list(item.parts)}
    found |= {"counterexample": _counterexample(outcome.evidence.counterexample), **_everything(item, outcome.evidence)}
    if item.corrected is not None and outcome.corrected is not None:
        corrected = {"statement": item.corrected.statement, "verdict": outcome.corrected.verdict}
        found["corrected"] = corrected | _everything(item.corrected, outcome.corrected)
    return found


def _everything(statement: Statement, evidence: Evidence) -> dict[str, Any]:
    return {
        "near_miss": evidence.near or None,
        "steps": [{"what": step.what, "by": step.kind} for step in evidence.steps],
        "instances": [
            {name: plain(value) for name, value in instance.items()} for instance in statement.instances(quick=False)
        ],
    }


def _claim(paper: Paper, outcome: Outcome, row: Outcome | None) -> dict[str, Any]:
    item = outcome.item
    found: dict[str, Any] = {
        "id": item.id,
        "paper": paper.name,
        "place": item.place,
        "statement": item.statement,
        "verdict": outcome.verdict,
        "instances": _checked(outcome.evidence),
        "counterexample": _counterexample(outcome.evidence.counterexample),
        "corrected": None,
        "seconds": round(outcome.seconds, 3),
        "differs": outcome.differs or None,
    }
    if isinstance(item, Claim):
        found["recorded"] = item.verdict
        if item.corrected is not None and outcome.corrected is not None:
            found["corrected"] = {
                "statement": item.corrected.statement,
                "verdict": outcome.corrected.verdict,
                "instances": _checked(outcome.corrected),
            }
    if outcome.parts:
        found["parts"] = [part.id for part in outcome.parts]
    if row is not None:
        found["part_of"] = row.id
    return found


def _checked(evidence: Evidence) -> dict[str, Any]:
    found = {"checked": evidence.checked, "range": evidence.where, "steps": len(evidence.steps)}
    return {**found, "near_miss": evidence.near} if evidence.near else found


def _counterexample(found: Counterexample | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "instance": {name: plain(value) for name, value in found.instance.items()},
        "numbers": {name: plain(value) for name, value in found.numbers.items()},
        "in_words": found.why,
        "confirmed": found.confirmed,
        "reverify": found.command,
    }
