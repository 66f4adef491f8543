"""Deciding claims again: instances from small to large, proofs, corrections, and what was recorded; files of claims."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from shlex import quote
from typing import Any

from tightdp.claims.answers import Answers, says_something
from tightdp.claims.brute import shared_code
from tightdp.claims.instances import Instance, as_argument, shown_instance, shown_instances
from tightdp.claims.model import Claim, Paper, Row, Statement, Verdict
from tightdp.claims.proof import Step, run_proof
from tightdp.claims.sentences import shown
from tightdp.errors import LimitError, ParameterError
from tightdp.exact.reals import Real
from tightdp.limits import requested
from tightdp.session.files import import_file
from tightdp.session.mechanism import Mechanism, mechanisms_of

Several = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[tuple[int, Any]]]
"""Works on many tasks at once, by a function of a module, and yields the place and the answer of each as it comes."""
Progress = Callable[[str, int, int], None]
"""Called with the id of a claim, how many of its instances were checked, and how many there are."""


@dataclass(frozen=True)
class Counterexample:
    """An instance on which a claim fails, the exact numbers, and whether independent code found them again."""

    instance: Instance
    numbers: dict[str, Any]
    why: str
    confirmed: bool
    command: str


@dataclass(frozen=True)
class Evidence:
    """What a run found about a statement."""

    verdict: Verdict
    checked: int = 0
    where: str = ""
    how: str = ""
    steps: tuple[Step, ...] = ()
    counterexample: Counterexample | None = None
    error: str = ""


@dataclass(frozen=True)
class Outcome:
    """A claim or row with the verdict of this run. `differs` says how it is not as recorded, if so."""

    item: Claim | Row
    verdict: Verdict
    evidence: Evidence
    corrected: Evidence | None
    parts: tuple[Outcome, ...]
    seconds: float
    differs: str

    @property
    def id(self) -> str:
        """The id of the claim."""
        return self.item.id


class ClaimsDifferError(AssertionError):
    """Verdicts are not as recorded."""


def check_file(path: str | Path, *, quick: bool = False, ids: Iterable[str] = ()) -> list[Outcome]:
    """Decide the claims of a file, for a test. Raises ClaimsDifferError unless all are as recorded."""
    outcomes = [outcome for _, outcome in run_claims(path, quick=quick, ids=ids)]
    differing = [f"{each.id}: {each.differs}" for top in outcomes for each in (top, *top.parts) if each.differs]
    if differing:
        raise ClaimsDifferError("\n".join(differing))
    return outcomes


def run_claims(
    path: str | Path,
    quick: bool = False,
    ids: Iterable[str] = (),
    progress: Progress | None = None,
    several: Several | None = None,
) -> Iterator[tuple[Paper, Outcome]]:
    """Decide the claims of a file or directory, one after the other or `several` at once; `ids` picks some."""
    papers = load_papers(Path(path))
    wanted = set(ids)
    known = {item.id for paper in papers for item in paper.items}
    if wanted - known:
        what = f"there is no claim {', '.join(sorted(wanted - known))}"
        raise ParameterError(what, f"there are {_listed(known)}")
    asked = [(at, paper, item) for at, paper in enumerate(papers) for item in _chosen(paper, wanted)]
    if several is None:
        for _, paper, item in asked:
            yield paper, _run(item, quick, progress)
        return
    tasks = [(str(Path(path).resolve()), at, item.id, quick) for at, _, item in asked]
    decided: dict[int, Outcome] = {}
    shown = 0
    stopped: BaseException = KeyboardInterrupt()
    try:
        for place, found in several(_elsewhere, tasks):
            decided[place] = found
            while shown in decided:  # in their order, as soon as they are known
                yield asked[shown][1], _with_item(decided.pop(shown), asked[shown][2])
                shown += 1
    except (KeyboardInterrupt, LimitError) as error:
        stopped = error
    for place in sorted(decided):
        yield asked[place][1], _with_item(decided.pop(place), asked[place][2])
        shown += 1
    if shown < len(asked):
        raise stopped


def run_paper(
    paper: Paper, *, quick: bool = False, ids: Iterable[str] = (), progress: Progress | None = None
) -> Iterator[Outcome]:
    """Decide the claims of one paper, in order. A part may be picked by its own id, or with its row."""
    return (_run(item, quick, progress) for item in _chosen(paper, set(ids)))


def _chosen(paper: Paper, wanted: set[str]) -> list[Claim | Row]:
    parts = {part for item in paper.items if isinstance(item, Row) for part in item.parts}
    return [item for item in paper.items if (item.id in wanted if wanted else item.id not in parts)]


def _run(item: Claim | Row, quick: bool, progress: Progress | None) -> Outcome:
    return _run_row(item, quick, progress) if isinstance(item, Row) else _run_claim(item, quick, progress)


def _elsewhere(task: tuple[str, int, str, bool]) -> Outcome:
    """Decide one claim in another process, which loads the claims itself; what it sends back has no functions."""
    path, at, id, quick = task
    item = next(item for item in _loaded(path)[at].items if item.id == id)
    return _with_item(_run(item, quick, None), None)


@lru_cache(maxsize=1)
def _loaded(path: str) -> list[Paper]:
    """Return the papers of a path; loaded once by every process."""
    return load_papers(Path(path))


def _with_item(outcome: Outcome, item: Claim | Row | None) -> Outcome:
    """Return an outcome with another item, and its parts with the parts of that."""
    parts: Sequence[Claim | None] = item.paper.parts(item) if isinstance(item, Row) else [None] * len(outcome.parts)
    inner = tuple(_with_item(each, part) for each, part in zip(outcome.parts, parts, strict=True))
    return replace(outcome, item=item, parts=inner)  # type: ignore[arg-type]


def _run_row(row: Row, quick: bool, progress: Progress | None) -> Outcome:
    outcomes = tuple(_run_claim(part, quick, progress) for part in row.paper.parts(row))
    counted = [outcome.verdict for outcome in outcomes if not _is_extra(outcome)]
    order: tuple[Verdict, ...] = ("refuted", "corrected", "open", "holds on", "argued", "decided")
    verdict = next(each for each in order if each in counted) if counted else "open"
    differing = ", ".join(outcome.id for outcome in outcomes if outcome.differs)
    return Outcome(
        row,
        verdict,
        Evidence(verdict, sum(outcome.evidence.checked for outcome in outcomes)),
        None,
        outcomes,
        sum(outcome.seconds for outcome in outcomes),
        f"see {differing}" if differing else "",
    )


def _is_extra(outcome: Outcome) -> bool:
    return isinstance(outcome.item, Claim) and outcome.item.extra


def _run_claim(claim: Claim, quick: bool, progress: Progress | None) -> Outcome:
    start = time.perf_counter()
    evidence = _decide(claim, quick, progress, claim.id)
    corrected = None
    if claim.corrected is not None and not evidence.error:
        corrected = _decide(claim.corrected, quick, progress, claim.id)
    verdict = evidence.verdict
    if verdict == "refuted" and corrected is not None and corrected.verdict in ("decided", "argued", "holds on"):
        verdict = "corrected"
    differs = _difference(claim, verdict, evidence, corrected)
    return Outcome(claim, verdict, evidence, corrected, (), time.perf_counter() - start, differs)


def _difference(claim: Claim, verdict: Verdict, evidence: Evidence, corrected: Evidence | None) -> str:
    """Say how a claim is not as recorded."""
    if evidence.error:
        return evidence.error
    if corrected is not None and corrected.error:
        return f"its correction: {corrected.error}"
    if claim.corrected is not None and corrected is not None and corrected.verdict != claim.corrected.verdict:
        return f"its correction is {corrected.verdict}, recorded as {claim.corrected.verdict}"
    if claim.verdict in ("refuted", "corrected") and (claim.brute is None or claim.at is None):
        return f"it is recorded as {claim.verdict} without `brute` and `at` that confirm it"
    if verdict != claim.verdict:
        found = evidence.counterexample
        why = f": it fails at {shown_instance(found.instance)}" if found is not None and found.instance else ""
        return f"it is {verdict}, recorded as {claim.verdict}{why}"
    if evidence.counterexample is not None and claim.at is not None and evidence.counterexample.instance != claim.at:
        found_at = shown_instance(evidence.counterexample.instance)
        return f"the counterexample is {found_at}, recorded as {shown_instance(claim.at)}"
    return ""


def _decide(statement: Statement, quick: bool, progress: Progress | None, name: str) -> Evidence:
    """Decide a statement as it stands, or check its instances and its proof; what goes wrong becomes an error."""
    try:
        if statement.exact is not None:
            return _decide_exactly(statement)
        return _check(statement, quick, progress, name)
    except Exception as error:
        if isinstance(error, LimitError) and requested() is not None:
            raise  # a limit on all claims says nothing of this one
        return Evidence("open", error=f"{type(error).__name__}: {error}")


def _decide_exactly(statement: Statement) -> Evidence:
    assert statement.exact is not None
    found = statement.exact.decide()
    if found.holds is None:
        what = f"it is not decided{f' at {found.where}' if found.where else ''}"
        raise ParameterError(what, "state less, or label it argued, with a proof")
    if found.holds:
        return Evidence("decided", how=found.how)
    where = f" at {found.where}" if found.where else ""
    return Evidence("refuted", counterexample=Counterexample({}, {}, f"It fails{where}.", False, ""))


def _check(statement: Statement, quick: bool, progress: Progress | None, name: str) -> Evidence:
    instances = statement.instances(quick)
    found = Evidence("holds on" if instances else "open", len(instances), shown_instances(instances))
    if statement.check is not None and not instances:
        raise ParameterError("it has a check and no instances", "give the instances, at least one")
    answers = Answers(statement)
    for at, instance in enumerate(instances):
        if progress is not None:
            progress(name, at, len(instances))
        failure = answers.failure(instance)
        if failure is not None:
            example = _confirmed(statement, instance, *failure)
            return replace(found, verdict="refuted", checked=at + 1, counterexample=example)
    if isinstance(statement, Claim) and statement.disproof is not None:
        steps = run_proof(statement.disproof)
        recomputed = statement.recomputed()
        example = Counterexample(statement.at or {}, recomputed[1] if recomputed else {}, "", True, statement.command)
        return replace(found, verdict="refuted", steps=steps, counterexample=example)
    if not instances:
        if statement.proof is not None:
            raise ParameterError("a proof without instances", "give a check and instances that its formulas decide")
        return found
    if not says_something(statement, answers):
        what = "its formulas hold whatever the check measures: they say nothing"
        raise ParameterError(what, "measure what the formulas name")
    if statement.proof is not None:
        found = replace(found, verdict="argued", steps=run_proof(statement.proof))
    return found


def _confirmed(statement: Statement, instance: Instance, why: str, numbers: dict[str, Any]) -> Counterexample:
    """Have independent code measure at the counterexample again; it must find the same numbers, and fail the
    formula."""
    if not isinstance(statement, Claim) or statement.brute is None or statement.check is None:
        return Counterexample(instance, _kept(numbers), why, False, "")
    again = statement.recomputed(instance)
    if again is None:
        raise ParameterError(
            f"independent code does not confirm the counterexample {shown_instance(instance)}",
            "correct the check or the recomputation",
        )
    for name, value in numbers.items():
        other = again[1].get(name, value)
        if isinstance(value, (int, Fraction)) and isinstance(other, (int, Fraction)) and other != value:
            what = f"independent code finds {name} = {other}, the check {value}"
            raise ParameterError(what, "correct the check or the recomputation")
    _, both = shared_code(statement.check, statement.brute, instance)
    if both:
        what = f"the check and its recomputation share code: {', '.join(both)}"
        raise ParameterError(what, "write the recomputation anew")
    command = statement.command
    if statement.at is not None and statement.at != instance:
        command += "".join(f" {quote(f'{name}={as_argument(value)}')}" for name, value in instance.items())
    return Counterexample(instance, _kept({**numbers, **again[1]}), why, True, command)


def _kept(numbers: dict[str, Any]) -> dict[str, Any]:
    """Return numbers with certified reals as texts, which may be sent to another process."""
    return {name: shown(value) if isinstance(value, (Real, Fraction)) else value for name, value in numbers.items()}


def _listed(ids: set[str]) -> str:
    return ", ".join(sorted(ids, key=lambda id: (id.rstrip("0123456789abcdefgh"), len(id), id)))


# files of claims


_HINT = "give a file or package with claims, or a directory of such"


def program(place: str) -> Mechanism:
    """Return a mechanism by "file", "file:name" or a path.

    A file without directory is looked for in `programs/` beside the claims file or in a directory above it.
    """
    name, _, wanted = place.partition(":")
    path = _find(Path(name), Path(sys._getframe(1).f_globals.get("__file__", ".")).resolve().parent)
    found = mechanisms_of(import_file(path))
    if not wanted and len(found) == 1:
        return next(iter(found.values()))
    if wanted not in found:
        raise ParameterError(f"{path.name} has no single mechanism {wanted}".rstrip(), f"it has {', '.join(found)}")
    return found[wanted]


def _find(path: Path, start: Path) -> Path:
    file = path if path.suffix == ".py" else path.with_name(f"{path.name}.py")
    tries = [start / file, *(above / "programs" / file for above in (start, *start.parents))]
    for found in tries:
        if found.is_file():
            return found
    raise ParameterError(f"there is no program {path}", "name a file of programs/, or give its path")


def claim_files(path: Path) -> list[Path]:
    """Return what a path names: a file, a package (a directory with `__init__.py`), or those of a directory."""
    if path.is_file() or _is_package(path):
        return [path]
    if path.is_dir():
        found = [each for each in path.iterdir() if each.suffix == ".py" or _is_package(each)]
        if found := sorted(each for each in found if not each.name.startswith(("_", "."))):
            return found
        raise ParameterError(f"{path} has no files of claims", _HINT)
    raise ParameterError(f"{path} does not exist", _HINT)


def load_papers(path: Path) -> list[Paper]:
    """Return the papers of a file, package or directory of claims; the files are imported."""
    papers: list[Paper] = []
    for file in claim_files(path):
        found = [value for value in vars(import_file(file)).values() if isinstance(value, Paper)]
        if not found and file == path:
            raise ParameterError(f"{file} has no claims", 'make one: paper = Paper("name"), then paper.claim(...)')
        papers += [paper for paper in found if paper not in papers]
    return papers


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").is_file()
