"""Files that users write, imported by their path: the one loader of mechanisms and of claims."""

from __future__ import annotations

import contextlib
import importlib.util
import linecache
import sys
import traceback
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from tightdp.errors import ParameterError, TightdpError
from tightdp.session.mechanism import Mechanism

__all__ = ["import_file", "mechanisms_of"]


def import_file(path: Path, expected: str = "a Python file that defines a mechanism") -> ModuleType:
    """Import a file anew, whatever was imported from it before, and return its module.

    Its directory is the first place where it finds other modules meanwhile; what it prints goes to stderr, and no
    bytecode is left behind. Raises ParameterError, which names the line, where there is no file or its import fails.
    """
    if not path.is_file():
        kind = "is not a file" if path.exists() else "does not exist"
        raise ParameterError(f"{path} {kind}", f"give the path of {expected}")
    name = f"tightdp_file_{path.resolve().parent.name}_{path.stem}"
    linecache.checkcache(str(path))
    loader = SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _importing(path.resolve().parent), contextlib.redirect_stdout(sys.stderr):
            loader.exec_module(module)
    except (TightdpError, KeyboardInterrupt):
        del sys.modules[name]
        raise
    except SyntaxError as error:
        del sys.modules[name]
        at = f"{error.filename}:{error.lineno}:{error.offset}"
        raise ParameterError(f"{at}: {error.msg}", "correct the file so that Python can import it") from error
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ParameterError(
            f"importing {_place(path, error)} fails with {_first_line(error)}",
            "correct the file, or install what it needs",
        ) from error
    return module


def mechanisms_of(module: ModuleType) -> dict[str, Mechanism]:
    """Return the mechanisms that a file defines, by name; those that it imports only if it defines none."""
    found: dict[str, Mechanism] = {}
    for name, value in vars(module).items():
        if isinstance(value, Mechanism) and value not in found.values():
            found[name] = value
    own = {name: value for name, value in found.items() if value.program.function.__module__ == module.__name__}
    return own or found


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
