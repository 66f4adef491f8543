"""From words on the command line to Python: the mechanism of a file, parameters, datasets."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
import traceback
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from tightdp.cli.parser import UsageError
from tightdp.errors import TightdpError
from tightdp.session.mechanism import Mechanism

__all__ = ["load", "read_bindings", "read_dataset", "read_pairs", "read_value"]

_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}


def load(place: str) -> Mechanism:
    """Import FILE[:NAME] and return its mechanism. Raises UsageError where there is none, or not exactly one."""
    path, name = _split(place)
    found = _mechanisms(_import(path))
    if not found:
        raise UsageError(f"{path} defines no mechanism", "decorate a function with @mechanism(record=...)")
    if name:
        if name not in found:
            close = get_close_matches(name, found, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise UsageError(f"{path} has no mechanism {name}", f"{hint}it has {', '.join(found)}")
        return found[name]
    if len(found) > 1:
        raise UsageError(
            f"{path} has {len(found)} mechanisms: {', '.join(found)}", f"name one, as in {path}:{next(iter(found))}"
        )
    return next(iter(found.values()))


def read_bindings(bindings: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that KEY=VALUE words give."""
    values: dict[str, Any] = {}
    for binding in bindings:
        key, equals, text = binding.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"{binding!r} is not KEY=VALUE", "write n=8 lam=1/5, without spaces around =")
        if key in values:
            raise UsageError(f"{key} is given twice", "give every parameter once")
        values[key] = read_value(key, text)
    return values


def read_value(key: str, text: str) -> Any:
    """Return the value of a parameter: a JSON array, true, false, null, or the text itself."""
    if not text.strip():
        raise UsageError(f"{key} has no value", f"write {key}=VALUE")
    if text.lstrip()[0] in "[{":
        value = _json(f"{key}={text}", text)
        if not isinstance(value, list):
            raise UsageError(f"{key}={text} is a JSON object", "give an int, a rational, a word or a JSON array")
        return value
    return _WORDS.get(text, text)


def read_dataset(text: str) -> list[Any]:
    """Return the dataset that a JSON array gives; decimals stay exact."""
    value = _json(f"--input {text!r}", text)
    if not isinstance(value, list):
        raise UsageError(f"--input {text!r} is not a JSON array", "give one record per entry, as in --input '[0,1,1]'")
    return value


def read_pairs(text: str) -> list[Any]:
    """Return the pair vector that a JSON array gives."""
    hint = "give best, or a pair per client: '[[0,1],[0,1]]'"
    value = _json(f"--pairs {text!r}", text, hint)
    if not isinstance(value, list):
        raise UsageError(f"--pairs {text!r} is not a JSON array", hint)
    return value


def _json(where: str, text: str, hint: str = "write an array such as [0,1,1], and quote it") -> Any:
    try:
        return json.loads(text, parse_float=_decimal_text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON: {error}", hint) from None


def _decimal_text(text: str) -> Any:
    from decimal import Decimal

    return Decimal(text)


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number")


def _split(place: str) -> tuple[Path, str]:
    before, colon, after = place.rpartition(":")
    if colon and after.isidentifier() and not Path(place).exists():
        return Path(before), after
    return Path(place), ""


def _import(path: Path) -> ModuleType:
    """Import a file by its path, its directory first on the path meanwhile; it writes to stderr, leaves no files."""
    if not path.is_file():
        kind = "is not a file" if path.exists() else "does not exist"
        raise UsageError(f"{path} {kind}", "give the path of a Python file that defines a mechanism")
    name = f"tightdp_program_{path.stem}"
    loader = SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _importing(path.resolve().parent), contextlib.redirect_stdout(sys.stderr):
            loader.exec_module(module)
    except TightdpError:
        raise
    except SyntaxError as error:
        at = f"{error.filename}:{error.lineno}:{error.offset}"
        raise UsageError(f"{at}: {error.msg}", "correct the file so that Python can import it") from None
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"importing {_place(path, error)} fails with {_first_line(error)}",
            "correct the file, or install what it needs",
        ) from None
    return module


@contextlib.contextmanager
def _importing(directory: Path) -> Iterator[None]:
    written = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(directory))
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        with contextlib.suppress(ValueError):
            sys.path.remove(str(directory))


def _place(path: Path, error: BaseException) -> str:
    """Return the last place in the user's file that an error came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path}:{frames[-1].lineno}" if frames else str(path)


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}{f': {text[0]}' if text else ''}"


def _mechanisms(module: ModuleType) -> dict[str, Mechanism]:
    """Return the mechanisms that a file defines, by name; those that it imports only if it defines none."""
    found: dict[str, Mechanism] = {}
    for name, value in vars(module).items():
        if isinstance(value, Mechanism) and value not in found.values():
            found[name] = value
    own = {name: value for name, value in found.items() if value.program.function.__module__ == module.__name__}
    return own or found
