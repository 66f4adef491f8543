"""What ships with the package besides code: mechanisms and claims; in a wheel in its folder, else in the clone."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

__all__ = ["BuiltIn", "builtin_claims", "builtin_program", "builtin_programs", "nearest_program"]

_PLACES = (Path(__file__).parent.parent / "programs", Path(__file__).parents[3] / "programs")


@dataclass(frozen=True)
class BuiltIn:
    """A program that ships with the package: its name, file, mechanisms, and what it is in one line."""

    name: str
    path: Path
    mechanisms: tuple[str, ...]
    summary: str


@cache
def builtin_programs() -> tuple[BuiltIn, ...]:
    """Return the programs that ship with the package, by name; none is imported."""
    place = next((place for place in _PLACES if (place / "randomized_response.py").is_file()), None)
    if place is None:
        return ()
    files = sorted(place.glob("*.py")) + sorted(place.glob("gallery/*.py"))
    return tuple(_read(path, path.relative_to(place).with_suffix("").as_posix()) for path in files)


def builtin_program(name: str) -> BuiltIn | None:
    """Return the program of a name such as `randomized_response` or `gallery/floating_point`."""
    return next((program for program in builtin_programs() if program.name == name), None)


def builtin_claims() -> Path | None:
    """Return the directory of the claims that ship with the package, None where they are left out."""
    return next((place.parent / "proofs" for place in _PLACES if (place.parent / "proofs").is_dir()), None)


def nearest_program(name: str) -> str:
    """Return the most similar name, empty where none is near."""
    close = get_close_matches(name, [program.name for program in builtin_programs()], n=1)
    return close[0] if close else ""


def _read(path: Path, name: str) -> BuiltIn:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    summary = (ast.get_docstring(tree) or "").partition("\n")[0].rstrip(".")
    defined = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    mechanisms = tuple(node.name for node in defined if any(map(_declares, node.decorator_list)))
    return BuiltIn(name, path, mechanisms, summary)


def _declares(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(function, ast.Name) and function.id == "mechanism"
