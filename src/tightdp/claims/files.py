"""Files of claims, and the mechanisms they speak of."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tightdp.claims.model import Paper
from tightdp.errors import LimitError, ParameterError
from tightdp.language import interp
from tightdp.language.program import Bound
from tightdp.session.files import import_file
from tightdp.session.mechanism import Mechanism, mechanisms_of

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


def recorded_questions(
    directory: Path, queries: Sequence[str], most: int
) -> dict[tuple[str, int], tuple[Mechanism, dict[str, Any], dict[str, Any]]]:
    """Return the questions in the EXPECTED lists of the programs of a directory, by file and number.

    Each is a mechanism, the question, and what to bind (n, parameters, neighbours). Only those of the given
    queries are kept, without those that expect an error, with at most so many datasets and finitely many runs.
    """
    found: dict[tuple[str, int], tuple[Mechanism, dict[str, Any], dict[str, Any]]] = {}
    for path in sorted(directory.glob("*.py")):
        module = import_file(path)
        mechanisms = mechanisms_of(module)
        expected = getattr(module, "EXPECTED", [])
        kept = [each for each in expected if each["query"] in queries and "error" not in each]
        questions = []
        for each in kept:
            mechanism = mechanisms[each.get("mechanism", path.stem)]
            extra = {"neighbours": each["neighbours"]} if "neighbours" in each else {}
            given = {**each["parameters"], **extra}
            bound = mechanism.bind(**given).bound
            if bound.record.size ** given["n"] <= most and _has_ends(bound):
                questions.append((mechanism, each, given))
        found |= {(path.stem, number): question for number, question in enumerate(questions)}
    return found


def _has_ends(bound: Bound) -> bool:
    """Whether the runs can be enumerated: no noise on all integers."""
    try:
        next(interp.runs(bound, (bound.record.values[0],) * bound.n))
    except LimitError:
        return False
    return True


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
