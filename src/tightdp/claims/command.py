"""The command `claims`: runs claims, prints their verdicts as lines or as JSON, writes the report page."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from tightdp._version import __version__
from tightdp.claims.answers import Change, mutated, scores
from tightdp.claims.instances import many, shown_instance
from tightdp.claims.model import Claim, Paper
from tightdp.claims.page import counterexample_json, pages
from tightdp.claims.run import Evidence, Outcome, Several, load_papers, run_claims
from tightdp.errors import LimitError, ParameterError
from tightdp.exact.numbers import as_text, decimal_text
from tightdp.present.text import row_of
from tightdp.session.files import builtin_claims

DEFAULT = "proofs"
NOTICED = Fraction(80, 100)
"""The least share of the changes to what is decided that has to be noticed."""
AS_RECORDED, DIFFERS, UNRESOLVED, INTERRUPTED = 0, 1, 3, 130


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    what = f"a file, a package or a directory of claims (default {DEFAULT}, or those that ship with tightdp)"
    again = "measure a counterexample again by independent code, as recorded or at the instance given"
    parser.add_argument("path", metavar="PATH", nargs="?", default=DEFAULT, help=what)
    parser.add_argument("--id", metavar="ID", action="append", default=[], help="only this claim (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="the quick instances only")
    changed = "change the claims in one place at a time, and tell what is noticed, label by label"
    parser.add_argument("--mutate", action="store_true", help=changed)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--recheck", metavar=("ID", "KEY=VALUE"), nargs="+", help=again)
    parser.add_argument("--report", metavar="DIR", help="write the pages of a report there")


def run(options: Namespace, several: Several | None = None) -> int:
    """Run the claims that the options name; return 1 when a verdict is not the recorded one.

    `several` works on many claims at once; without it they are decided one after the other.

    Interrupted, or stopped by a limit, it prints and writes what is decided, and returns 130 or 3.
    """
    options.path = located(options.path)
    if options.recheck is not None:
        id, *words = options.recheck
        for paper in load_papers(Path(options.path)):
            if any(item.id == id for item in paper.items):
                return AS_RECORDED if paper.undivided(id).recheck(words) else DIFFERS
        raise ParameterError(f"there is no claim {id}", "tightdp claims lists them")
    if options.mutate:
        return _mutate(options)
    found: list[tuple[Paper, list[Outcome]]] = []
    status = AS_RECORDED
    try:
        _decide(options, found, several)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: the rest is not decided\n")
        status = INTERRUPTED
    except LimitError as error:
        sys.stderr.write(f"{error.what}: the rest is not decided\n  {error.hint}\n")
        status = UNRESOLVED
    if options.json:
        json.dump(as_dict(found, options.path, options.quick, status == AS_RECORDED), sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
    if options.report is not None:
        changes = [] if options.id else list(mutated([paper for paper, _ in found]))
        _write(Path(options.report), found, changes)
    if any(outcome.differs for _, outcomes in found for outcome in outcomes):
        return DIFFERS
    return status


def _mutate(options: Namespace) -> int:
    """Print the changes that survive, with reasons, and the score of every label; return 1 where *decided* is below."""
    found: list[Change] = []
    for change in mutated(load_papers(Path(options.path)), options.id):
        found.append(change)
        if not options.json and not change.killed:
            sys.stdout.write(
                f"  survives: {change.paper} {change.id} ({change.label}): {change.what}: {change.reason}\n"
            )
            sys.stdout.flush()
    decided = scores(found).get("decided")
    if options.json:
        json.dump(mutation_as_dict(found, options.path), sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(mutation_lines(found))
    return DIFFERS if decided is not None and decided[2] < NOTICED else AS_RECORDED


def located(path: str) -> str:
    """Return the path; for the default outside a clone that of the claims in the package."""
    shipped = builtin_claims()
    return str(shipped) if path == DEFAULT and not Path(path).exists() and shipped is not None else path


def _decide(options: Namespace, found: list[tuple[Paper, list[Outcome]]], several: Several | None) -> None:
    """Decide the claims one by one into `found`, and print each line when it is known."""

    def say(text: str) -> None:
        if not options.json:
            _tell()
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()

    def progress(id: str, done: int, of: int) -> None:
        _tell(f"{id}: instance {done + 1} of {of}")

    try:
        for paper, outcome in run_claims(options.path, options.quick, options.id, progress, several):
            if not found or found[-1][0] is not paper:
                if found:
                    say(total(found[-1][1]))
                found.append((paper, []))
                say(paper.heading)
            found[-1][1].append(outcome)
            for line in lines(paper, outcome):
                say(line)
    finally:
        if found:
            say(total(found[-1][1]))
        _tell()


def _tell(text: str = "") -> None:
    """Say on a terminal what is being decided, in place of what was said before."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def _write(directory: Path, found: list[tuple[Paper, list[Outcome]]], changes: list[Change]) -> None:
    try:
        for name, text in pages(found, changes).items():
            place = directory / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ParameterError(f"cannot write to {directory}: {error.strerror}", "give a directory") from None


# what is printed


_WIDTH = 40


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
    steps = many(len(evidence.steps), "step") if evidence.steps else ""
    return "; ".join(each for each in (evidence.how, steps, listed) if each)


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


def mutation_lines(found: list[Change]) -> str:
    """Return the lines below a mutation run: the score of every label."""
    lines = [
        f"  {label}: {noticed} of {many(changes, 'change')} noticed, {decimal_text(share * 100, 3)} %\n"
        for label, (changes, noticed, share) in scores(found).items()
    ]
    return "".join(lines) or "nothing to change\n"


def mutation_as_dict(found: list[Change], path: Any) -> dict[str, Any]:
    """Return the JSON object of a mutation run."""
    by_label = {
        label: {"changes": changes, "noticed": noticed, "share": as_text(share)}
        for label, (changes, noticed, share) in scores(found).items()
    }
    survivors = [
        {"paper": each.paper, "id": each.id, "label": each.label, "change": each.what, "reason": each.reason}
        for each in found
        if not each.killed
    ]
    return _answer({"path": str(path), "mutate": True}, "exact", {"scores": by_label, "survivors": survivors})


def _answer(parameters: dict[str, Any], status: str, result: dict[str, Any]) -> dict[str, Any]:
    return {
        "tightdp": __version__,
        "query": "claims",
        "parameters": parameters,
        "status": status,
        "result": result,
    }


def _claim(paper: Paper, outcome: Outcome, row: Outcome | None) -> dict[str, Any]:
    item, right = outcome.item, outcome.corrected
    corrected = item.corrected if isinstance(item, Claim) and right is not None else None
    return {
        "id": item.id,
        "paper": paper.name,
        "place": item.place,
        "statement": item.text,
        "verdict": outcome.verdict,
        "instances": _checked(outcome.evidence),
        "counterexample": counterexample_json(outcome.evidence.counterexample),
        "corrected": corrected
        and right
        and {"statement": corrected.text, "verdict": right.verdict, "instances": _checked(right)},
        "seconds": round(outcome.seconds, 3),
        "differs": outcome.differs or None,
        **({"recorded": item.verdict} if isinstance(item, Claim) else {}),
        **({"parts": [part.id for part in outcome.parts]} if outcome.parts else {}),
        **({"part_of": row.id} if row is not None else {}),
    }


def _checked(evidence: Evidence) -> dict[str, Any]:
    found = {"checked": evidence.checked, "range": evidence.where, "steps": len(evidence.steps)}
    return {**found, "covered": evidence.how} if evidence.how else found
