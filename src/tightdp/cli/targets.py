"""What answers are written to: paths that are checked before anything is asked."""

from __future__ import annotations

import os
from collections.abc import Callable
from errno import EACCES, EISDIR, ENOENT, ENOTDIR
from pathlib import Path

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
