"""From the options of a command to an instance: the mechanism of FILE[:NAME], its parameters, its limits."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from tightdp.cli.errors import UsageError
from tightdp.cli.words import read_bindings
from tightdp.language.program import Bound
from tightdp.session.arguments import read_count
from tightdp.session.builtin import builtin_program, nearest_program
from tightdp.session.every_n import bound_for, bound_to
from tightdp.session.files import import_file
from tightdp.session.instance import Instance
from tightdp.session.mechanism import Mechanism, mechanisms_of

__all__ = ["add_limits", "add_program", "add_time_and_memory", "bind", "bind_program", "bind_to", "load"]


def add_program(parser: ArgumentParser) -> None:
    """Declare the mechanism and its parameters."""
    parser.add_argument("file", metavar="FILE[:NAME]", help="a Python file, and which of its mechanisms")
    parser.add_argument("bindings", metavar="KEY=VALUE", nargs="*", help="n and the parameters of the mechanism")


def add_limits(parser: ArgumentParser, method: bool = True) -> None:
    """Declare the neighbours and the limits of a query, and the choice of a method where there is one."""
    limits = parser.add_argument_group("neighbours and limits")
    limits.add_argument("--neighbours", metavar="NAME", help="replace-one, unit-step, unit-all or add-remove")
    add_time_and_memory(limits)
    limits.add_argument("--max-nodes", metavar="N", help="give up when the diagram has more nodes")
    if method:
        limits.add_argument("--method", metavar="NAME", help="ask one method only, such as exhaustive or chain")
    limits.add_argument("--precision", metavar="W", help="an enclosure of relative width W is enough, such as 1e-9")
    limits.add_argument("--backend", metavar="NAME", default="cudd", help="the library of diagrams: cudd or autoref")


class _Adder(Protocol):
    def add_argument(self, *names: str, metavar: str, help: str) -> object:
        """Declare an option."""


def add_time_and_memory(parser: _Adder) -> None:
    """Declare how much time and memory a command may take."""
    parser.add_argument("--timeout", metavar="S", help="give up after S seconds (also 10s, 2m, 1h)")
    parser.add_argument("--max-memory", metavar="SIZE", help="give up beyond, as in 4G (default: 80%% of what is free)")


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


def bind(options: Namespace, n: int | None = None) -> Instance:
    """Load the mechanism and bind what the command line says; `n` is the number of records, if known otherwise."""
    return bind_to(load(options.file), read_bindings(options.bindings), options, n)


def bind_to(mechanism: Mechanism, parameters: dict[str, Any], options: Namespace, n: int | None = None) -> Instance:
    """Bind a mechanism to parameters under the options' neighbours and limits."""
    most = None if options.max_nodes is None else read_count("--max-nodes", options.max_nodes)
    return bound_to(
        mechanism.program,
        options.neighbours,
        *_checked(mechanism, parameters, n),
        backend=options.backend,
        timeout=options.timeout,
        max_nodes=most,
        max_memory=options.max_memory,
        method=getattr(options, "method", None),
        precision=getattr(options, "precision", None),
    )


def bind_program(
    mechanism: Mechanism, given: dict[str, Any], neighbours: str | None = None, n: int | None = None
) -> Bound:
    """Bind a mechanism to n and its parameters. Raises UsageError where n is missing."""
    size, parameters = _checked(mechanism, given, n)
    return bound_for(mechanism.program, size, neighbours, parameters)[1]


def _checked(mechanism: Mechanism, given: dict[str, Any], n: int | None) -> tuple[Any, dict[str, Any]]:
    """Return n, which may be all, and the parameters."""
    parameters = {name: value for name, value in given.items() if name != "n"}
    size = given.get("n", n)
    if size is None:
        raise UsageError("n, the number of records, is missing", "give it, as in n=8")
    if isinstance(size, str) and re.search(r"\.\.|,", size):
        raise UsageError(f"n={size} is a range", f"tightdp sweep asks over ranges: tightdp sweep FILE n={size} ...")
    for name in ("neighbours", "self"):
        if name in parameters:
            hint = "use the option --neighbours" if name == "neighbours" else "leave it out"
            raise UsageError(f"{name} is not a parameter of {mechanism.name}", hint)
    return size, parameters


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
