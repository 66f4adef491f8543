"""From words on the command line to Python: parameters, datasets, pairs, and files that can be written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from decimal import Decimal
from errno import EACCES, EISDIR, ENOENT, ENOTDIR
from pathlib import Path
from typing import Any

from tightdp.errors import TightdpError
from tightdp.present import plot


class UsageError(TightdpError):
    """The command line is not understood."""


def writable_file(text: str) -> str:
    """Return the path of a file that can be written, or "-" for stdout. Raises UsageError for others."""
    if text != "-":
        _check(text, lambda path: EISDIR if path.is_dir() else _kept(path) if path.exists() else _folder(path.parent))
    return text


def writable_directory(text: str) -> str:
    """Return the path of a directory in which files can be made, if need be with its parents."""
    _check(text, lambda path: _folder(next(place for place in (path, *path.absolute().parents) if place.exists())))
    return text


def writable_picture(text: str) -> str:
    """Return the path of a picture that can be drawn and written."""
    suffix, known = Path(text).suffix.removeprefix(".").lower(), plot.formats()
    if suffix not in known:
        hint = f"give a path such as curve.png; the forms are {', '.join(sorted(known))}"
        raise UsageError(f"cannot write {text}: {suffix or 'a name without an ending'} is no form of picture", hint)
    return writable_file(text)


def _check(text: str, problem: Callable[[Path], int]) -> None:
    """Raise UsageError where there is a problem with a path, given as the number of an error of the system."""
    try:
        wrong = problem(Path(text))
    except OSError as error:  # a name that is too long, for instance
        wrong = error.errno or ENOENT
    if wrong:
        raise UsageError(f"cannot write {text}: {os.strerror(wrong)}", "give a path that can be written")


def _folder(place: Path) -> int:
    if not place.exists():
        return ENOENT
    return _kept(place) if place.is_dir() else ENOTDIR


def _kept(path: Path) -> int:
    return 0 if os.access(path, os.W_OK) else EACCES


_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_QUOTED = "write an array such as [0,1,1], and quote it"


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
        value = read_json(f"{key}={text}", text)
        if not isinstance(value, list):
            raise UsageError(f"{key}={text} is a JSON object", "give an int, a rational, a string or a JSON array")
        return value
    return _WORDS.get(text, text)


def read_dataset(text: str, option: str = "--input") -> list[Any]:
    """Return the dataset that a JSON array gives, with or without its brackets; decimals stay exact."""
    bare = text.strip() and text.lstrip()[0] not in "[{("
    hint = f"give one record per entry, as in {option} '[0,1,1]'"
    return _array(option, f"[{text}]" if bare else text, _QUOTED, hint, text)


def read_pairs(text: str) -> Any:
    """Return the pair vector that a JSON array gives, or "best"."""
    hint = "give best, or a pair per client: '[[0,1],[0,1]]'"
    return text if text == "best" else _array("--pairs", text, hint, hint)


def _array(option: str, text: str, hint: str, what: str, written: str | None = None) -> list[Any]:
    shown = f"{option} {(text if written is None else written)!r}"
    value = read_json(shown, text, hint)
    if not isinstance(value, list):
        raise UsageError(f"{shown} is not a JSON array", what)
    return value


def read_json(where: str, text: str, hint: str = _QUOTED) -> Any:
    """Return what JSON says; decimals stay exact."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON: {error}", hint) from None


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number")
