"""Mechanisms by their place, `FILE` or `FILE:NAME`, in files of users and among the programs of the package."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from tightdp.errors import ParameterError
from tightdp.session.files import builtin_program, import_file, nearest_program
from tightdp.session.mechanism import Mechanism, mechanisms_of

_OTHER_CODE = "code without @mechanism needs --record DOMAIN (in Python tightdp.of)"


def load(place: str | Path) -> Mechanism:
    """Import a file and return its mechanism, as the command line does.

    `place` is `FILE` or `FILE:NAME`; the file may be one that ships with tightdp, by its name in `tightdp programs`.
    Raises ParameterError where there is no mechanism, or several and no name.
    """
    path, name = _split(str(place))
    others = "" if path.suffix == ".py" else f"; {_OTHER_CODE}"
    module = import_file(_located(path), f"a Python file that defines a mechanism{others}")
    found = mechanisms_of(module)
    if not found:
        hint = f"decorate a function with @mechanism(record=...); {_OTHER_CODE}"
        raise ParameterError(f"{path} defines no mechanism", hint)
    if name:
        other_name = getattr(module, name, None)
        if isinstance(other_name, Mechanism) and name not in found:
            return other_name  # as in `mended = meant`
        if name not in found:
            close = get_close_matches(name, found, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            others = f"; {_OTHER_CODE}" if other_name is not None else ""
            raise ParameterError(f"{path} has no mechanism {name}", f"{hint}it has {', '.join(found)}{others}")
        return found[name]
    if len(found) > 1:
        raise ParameterError(
            f"{path} has {len(found)} mechanisms: {', '.join(found)}", f"name one, as in {path}:{next(iter(found))}"
        )
    return next(iter(found.values()))


def _located(path: Path) -> Path:
    """Return the path, or that of the program in the package that has this name, where there is no such path."""
    if path.exists() or path.is_absolute():
        return path
    name = path.as_posix()
    built_in = builtin_program(name)
    if built_in is not None:
        return built_in.path
    close = nearest_program(name.removesuffix(".py").removeprefix("programs/"))
    if Path(f"{name}.py").is_file():
        raise ParameterError(f"{name} does not exist", f"did you mean {name}.py?")
    if path.suffix or not close:
        return path  # the loader complains
    raise ParameterError(f"there is no file or program {name}", f"did you mean {close}? tightdp programs lists them")


def _split(place: str) -> tuple[Path, str]:
    before, colon, after = place.rpartition(":")
    if colon and after.isidentifier() and not Path(place).exists():
        return Path(before), after
    return Path(place), ""
