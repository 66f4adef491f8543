"""Files of mechanisms and claims: what users write, imported by its path, and what ships with the package."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import linecache
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from tightdp.errors import ParameterError, TightdpError


def import_file(path: Path, expected: str = "a Python file that defines a mechanism") -> ModuleType:
    """Import a file or a package (a directory with `__init__.py`) anew, and return its module.

    What was imported from it before is forgotten. Meanwhile its directory comes first on the module search path; what
    it prints goes to stderr, and no bytecode is left behind. Raises ParameterError, which names the line, where there
    is no file or its import fails.
    """
    package = (path / "__init__.py").is_file()
    if not package and not path.is_file():
        kind = "is not a file" if path.exists() else "does not exist"
        raise ParameterError(f"{path} {kind}", f"give the path of {expected}")
    file = path / "__init__.py" if package else path
    name = f"tightdp_file_{path.resolve().parent.name}_{path.stem}"
    linecache.checkcache()
    spec = importlib.util.spec_from_file_location(
        name,
        file,
        loader=SourceFileLoader(name, str(file)),
        submodule_search_locations=[str(path.resolve())] if package else None,
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _forget(name)
    sys.modules[name] = module
    try:
        with importing(path.resolve().parent), contextlib.redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except BaseException as error:
        _forget(name)
        if isinstance(error, (TightdpError, KeyboardInterrupt)):
            raise
        raise _complaint(path, error) from error
    return module


@contextlib.contextmanager
def importing(directory: Path) -> Iterator[None]:
    """Let a directory come first on the module search path in the block, and leave no bytecode behind."""
    written = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(directory))
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        with contextlib.suppress(ValueError):
            sys.path.remove(str(directory))


def _forget(name: str) -> None:
    """Take a module and the modules of its package out of Python's list."""
    for known in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
        del sys.modules[known]


def _complaint(path: Path, error: BaseException) -> ParameterError:
    """Return the error to raise where the import of a file fails."""
    if isinstance(error, SyntaxError):
        at = f"{error.filename}:{error.lineno}:{error.offset}"
        return ParameterError(f"{at}: {error.msg}", "correct the file so that Python can import it")
    hint = "correct the file, or install what it needs"
    tightdp = import_module("tightdp")
    if (isinstance(error, ImportError) and error.name == "tightdp") or getattr(error, "obj", None) is tightdp:
        hint = f"tightdp has {', '.join(name for name in tightdp.__all__ if not name.endswith(('Error', '__')))}"
    return ParameterError(f"importing {_place(path, error)} fails with {_first_line(error)}", hint)


def _place(path: Path, error: BaseException) -> str:
    """Return the last place in the user's file that an error came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path}:{frames[-1].lineno}" if frames else str(path)


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}{f': {text[0]}' if text else ''}"


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
    files = sorted(place.glob("*.py")) + sorted(place.glob("*/*.py"))
    return tuple(_read(path, path.relative_to(place).with_suffix("").as_posix()) for path in files)


def builtin_program(name: str) -> BuiltIn | None:
    """Return the program of a name such as `randomized_response` or `gallery/floating_point`."""
    return next((program for program in builtin_programs() if program.name == name), None)


def builtin_claims() -> Path | None:
    """Return the directory of the claims that ship with the package, None where they are left out."""
    return next((place.parent / "proofs" for place in _PLACES if (place.parent / "proofs").is_dir()), None)


def builtin_schemas() -> dict[str, Path]:
    """Return the files with the JSON Schemas of answers, by the command that prints them, and of errors."""
    return {path.stem: path for path in sorted((Path(__file__).parent.parent / "schemas").glob("*.json"))}


def nearest_program(name: str) -> str:
    """Return the most similar name, empty where none is near."""
    close = get_close_matches(name, [program.name for program in builtin_programs()], n=1)
    return close[0] if close else ""


def _read(path: Path, name: str) -> BuiltIn:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    summary = (ast.get_docstring(tree) or "").partition("\n")[0].rstrip(".")
    return BuiltIn(name, path, tuple(_mechanisms(tree)), summary)


def mechanisms_in(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the mechanisms that a file defines, by all names, and their parameters; it is read, not imported.

    Raises OSError where there is no such file, SyntaxError or ValueError where it is not Python.
    """
    return _mechanisms(ast.parse(path.read_bytes()))


def functions_in(path: Path) -> list[str]:
    """Return the names of the functions of a file that are no mechanisms; as `mechanisms_in`."""
    tree = ast.parse(path.read_bytes())
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name not in _mechanisms(tree)]


def _mechanisms(tree: ast.Module) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    functions: dict[str, ast.arguments] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = node.args
            if any(map(_declares, node.decorator_list)):
                found[node.name] = _parameters(node.args)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            made = _made(node.value, functions, found)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if made is not None:
                found |= dict.fromkeys((target.id for target in targets if isinstance(target, ast.Name)), made)
    return found


def _made(
    value: ast.expr | None, functions: dict[str, ast.arguments], found: dict[str, tuple[str, ...]]
) -> tuple[str, ...] | None:
    """Return the parameters of the mechanism that a name is given, as in `name = mechanism(...)(f)`; None for others.

    Of a function that does not stand above in the file only n is known.
    """
    if isinstance(value, ast.Name):
        return found.get(value.id)
    if not isinstance(value, ast.Call) or not value.args or not _declares(value.func):
        return None
    function = value.args[0]
    if isinstance(function, ast.Lambda):
        return _parameters(function.args)
    known = functions.get(function.id) if isinstance(function, ast.Name) else None
    return ("n",) if known is None else _parameters(known)


def _parameters(arguments: ast.arguments) -> tuple[str, ...]:
    """Return the names after that of the dataset; n comes first, and is one of them always."""
    named = [each.arg for each in (*arguments.posonlyargs, *arguments.args)][1:]
    return tuple(dict.fromkeys(("n", *named, *(each.arg for each in arguments.kwonlyargs))))


def _declares(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return "mechanism" in (getattr(function, "id", ""), getattr(function, "attr", ""))
