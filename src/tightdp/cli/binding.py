"""From the options of a command to an instance: the mechanism of FILE[:NAME], its parameters, its limits."""

from __future__ import annotations

import re
from argparse import Namespace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tightdp.cli.words import UsageError, read_bindings
from tightdp.session.arguments import read_count
from tightdp.session.builtin import builtin_program, nearest_program
from tightdp.session.every_n import bound_to
from tightdp.session.files import import_file
from tightdp.session.instance import Instance
from tightdp.session.mechanism import Mechanism, mechanisms_of

_LIMITS = ("backend", "timeout", "max_nodes", "max_memory", "method", "precision")


def load(place: str) -> Mechanism:
    """Import FILE[:NAME] and return its mechanism. Raises UsageError where there is none, or not exactly one."""
    path, name = _split(place)
    module = import_file(_located(path))
    found = mechanisms_of(module)
    if not found:
        raise UsageError(f"{path} defines no mechanism", "decorate a function with @mechanism(record=...)")
    if name:
        other_name = getattr(module, name, None)
        if isinstance(other_name, Mechanism) and name not in found:
            return other_name  # as in `mended = meant`
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


def bind(options: Namespace) -> Instance:
    """Load the mechanism and bind what the command line says; n is that of a dataset where one is given."""
    return bind_to(load(options.file), read_bindings(options.bindings), options)


def bind_to(mechanism: Mechanism, parameters: dict[str, Any], options: Namespace) -> Instance:
    """Bind a mechanism to parameters under the options' neighbours and limits. Raises UsageError where n is missing."""
    limits = {name: value for name, value in vars(options).items() if name in _LIMITS}
    if limits.get("max_nodes") is not None:
        limits["max_nodes"] = read_count("--max-nodes", limits["max_nodes"])
    named = {"n": _size(options), **parameters}
    size = named.pop("n")
    if size is None:
        raise UsageError("n, the number of records, is missing", "give it, as in n=8")
    if isinstance(size, str) and re.search(r"\.\.|,", size):
        raise UsageError(f"n={size} is a range", f"tightdp sweep asks over ranges: tightdp sweep FILE n={size} ...")
    for name in ("neighbours", "self"):
        if name in named:
            hint = "use the option --neighbours" if name == "neighbours" else "leave it out"
            raise UsageError(f"{name} is not a parameter of {mechanism.name}", hint)
    return bound_to(mechanism.program, getattr(options, "neighbours", None), size, named, **limits)


def _size(options: Namespace) -> int | None:
    """Return the number of records that the options tell: that of a dataset, or 1, from where `canaries` goes up."""
    if getattr(options, "x", None) is not None:
        return len(options.x)
    return 1 if getattr(options, "command", "") == "canaries" else None


def _located(path: Path) -> Path:
    """Return the path, or that of the program in the package that has this name, where there is no such path."""
    if path.exists() or path.is_absolute():
        return path
    name = path.as_posix()
    built_in = builtin_program(name)
    if built_in is not None:
        return built_in.path
    close = nearest_program(name.removesuffix(".py").removeprefix("programs/"))
    if path.suffix or not close:
        return path  # the loader complains
    raise UsageError(f"there is no file or program {name}", f"did you mean {close}? tightdp programs lists them")


def _split(place: str) -> tuple[Path, str]:
    before, colon, after = place.rpartition(":")
    if colon and after.isidentifier() and not Path(place).exists():
        return Path(before), after
    return Path(place), ""
