"""Files of claims, and the mechanisms they speak of."""

from __future__ import annotations

import importlib.util
import linecache
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from tightdp.claims.model import Paper
from tightdp.errors import ParameterError, TightdpError
from tightdp.session.mechanism import Mechanism

__all__ = ["claim_files", "load_papers", "program", "recorded_questions"]

_HINT = "give a file or package with claims, or a directory of such"


def program(place: str) -> Mechanism:
    """Return a mechanism by "file", "file:name" or a path.

    A file without directory is looked for in `programs/` beside the claims file or in a directory above it.
    """
    name, _, wanted = place.partition(":")
    path = _find(Path(name), Path(sys._getframe(1).f_globals.get("__file__", ".")).resolve().parent)
    found = {key: value for key, value in vars(_import(path)).items() if isinstance(value, Mechanism)}
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
    queries are kept, without those that expect an error, and with at most so many datasets.
    """
    found: dict[tuple[str, int], tuple[Mechanism, dict[str, Any], dict[str, Any]]] = {}
    for path in sorted(directory.glob("*.py")):
        module = vars(_import(path))
        mechanisms = {key: value for key, value in module.items() if isinstance(value, Mechanism)}
        kept = [each for each in module.get("EXPECTED", []) if each["query"] in queries and "error" not in each]
        questions = []
        for each in kept:
            mechanism = mechanisms[each.get("mechanism", path.stem)]
            extra = {"neighbours": each["neighbours"]} if "neighbours" in each else {}
            given = {**each["parameters"], **extra}
            if mechanism.bind(**given).bound.record.size ** given["n"] <= most:
                questions.append((mechanism, each, given))
        found |= {(path.stem, number): question for number, question in enumerate(questions)}
    return found


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
        found = [value for value in vars(_import(file)).values() if isinstance(value, Paper)]
        if not found and file == path:
            raise ParameterError(f"{file} has no claims", 'make one: paper = Paper("name"), then paper.claim(...)')
        papers += [paper for paper in found if paper not in papers]
    return papers


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").is_file()


def _import(path: Path) -> ModuleType:
    """Import a file or package anew, so that what was edited meanwhile counts; no bytecode is left behind."""
    file = (path / "__init__.py" if _is_package(path) else path).resolve()
    name = f"tightdp_file_{path.resolve().parent.name}_{path.stem}"
    linecache.checkcache()
    spec = importlib.util.spec_from_file_location(
        name,
        file,
        loader=SourceFileLoader(name, str(file)),
        submodule_search_locations=[str(file.parent)] if _is_package(path) else None,
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _forget(name)
    sys.modules[name] = module
    try:
        with _importing(file.parent.parent if _is_package(path) else file.parent):
            spec.loader.exec_module(module)
    except TightdpError:
        _forget(name)
        raise
    except (Exception, SystemExit) as error:
        _forget(name)
        what = f"importing {path} fails with {type(error).__name__}: {error}"
        raise ParameterError(what, "correct the file so that Python can import it") from error
    return module


def _forget(name: str) -> None:
    """Take a module and the modules of its package out of Python's list."""
    for known in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
        del sys.modules[known]


@contextmanager
def _importing(directory: Path) -> Iterator[None]:
    written = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(directory))
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        if str(directory) in sys.path:
            sys.path.remove(str(directory))
