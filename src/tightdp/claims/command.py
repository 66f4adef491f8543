"""The command `claims`: runs claims, prints their verdicts, writes the report page."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from tightdp.claims.answers import Change, mutated, noticed_share
from tightdp.claims.files import load_papers
from tightdp.claims.model import Claim, Paper
from tightdp.claims.page import pages
from tightdp.claims.run import Outcome, Several, run_claims
from tightdp.claims.summary import as_dict, heading, lines, mutation_as_dict, mutation_line, total
from tightdp.errors import LimitError, ParameterError
from tightdp.session.builtin import builtin_claims

DEFAULT = "proofs"
NOTICED = Fraction(95, 100)
"""The least share of changes that has to be noticed."""
AS_RECORDED, DIFFERS, UNRESOLVED, INTERRUPTED = 0, 1, 3, 130


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    what = f"a file, a package or a directory of claims (default {DEFAULT}, or those that ship with tightdp)"
    again = "repeat a counterexample by brute force alone, as recorded or at the instance given"
    parser.add_argument("path", metavar="PATH", nargs="?", default=DEFAULT, help=what)
    parser.add_argument("--id", metavar="ID", action="append", default=[], help="only this claim (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="the quick instances only")
    changed = "change constants and relations of the claims one at a time, and tell what is noticed"
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
        return AS_RECORDED if _claim(load_papers(Path(options.path)), id).recheck(words) else DIFFERS
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


def _claim(papers: Sequence[Paper], id: str) -> Claim:
    for paper in papers:
        if any(item.id == id for item in paper.items):
            return paper.undivided(id)
    raise ParameterError(f"there is no claim {id}", "tightdp claims lists them")


def _mutate(options: Namespace) -> int:
    """Print the changes that no instance notices, and the share of those that are; return 1 below the bar."""
    found: list[Change] = []
    for change in mutated(load_papers(Path(options.path)), options.id):
        found.append(change)
        if not options.json and not change.noticed:
            sys.stdout.write(f"  not noticed: {change.paper} {change.id}: {change.what}\n")
            sys.stdout.flush()
    share = noticed_share(found)
    if options.json:
        json.dump(mutation_as_dict(found, options.path), sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(mutation_line(found))
    return DIFFERS if share is not None and share < NOTICED else AS_RECORDED


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
                say(heading(paper))
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
