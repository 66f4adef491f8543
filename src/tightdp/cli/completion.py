"""What shells complete by argcomplete (the extra `completion`).

Commands, options and programs; the mechanisms of a file after `FILE:`, the parameters of a mechanism after FILE, and
the names that an option takes. Files of users are read for that, and never imported.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tightdp.session.files import builtin_program, builtin_programs, builtin_schemas, mechanisms_in

Declare = Callable[[argparse.ArgumentParser, str], None]

_NAMES = {
    "neighbours": "tightdp.language.program:NEIGHBOURS",
    "method": "tightdp.methods.choose:NAMES",
    "backend": "tightdp.logic.bdd:BACKENDS",
    "rule": "tightdp.auditing.question:METHODS",
}
"""Options that take a name, and where the names are listed; no list is imported before it is asked for."""
_AUDITED = {"method": "tightdp.auditing.question:METHODS"}
"""The same for `audit`."""


def complete(commands: Mapping[str, str], declare: Declare) -> None:
    """Print the completions of the command line, and exit; options are among them once a hyphen is typed."""
    import_module("argcomplete").autocomplete(whole_parser(commands, declare), always_complete_options=False)


def whole_parser(commands: Mapping[str, str], declare: Declare) -> argparse.ArgumentParser:
    """Return one parser of all commands, given what they are for and what declares what they accept."""
    parser = argparse.ArgumentParser(prog="tightdp")
    parsers = parser.add_subparsers()
    for name, what in commands.items():
        command = parsers.add_parser(name, help=what)
        declare(command, name)
        for action in command._actions:
            completer = _completer(name, action)
            if completer is not None:
                action.completer = completer  # type: ignore[attr-defined]
    return parser


def _completer(command: str, action: argparse.Action) -> Any:
    """Return what completes the values of an argument, None where argcomplete is left to complete files."""
    if action.option_strings:
        listed = {**_NAMES, **(_AUDITED if command == "audit" else {})}.get(action.dest)
        return None if listed is None else partial(_listed, listed)
    if command == "schema":
        return partial(_beginning, tuple(builtin_schemas()))
    if action.dest == "bindings":
        return parameters
    return programs if action.dest == "name" or (action.dest == "file" and command != "check") else None


def _beginning(words: Iterable[str], prefix: str, **_: object) -> list[str]:
    return [word for word in words if word.startswith(prefix)]


def _listed(place: str, prefix: str, **_: object) -> list[str]:
    """Return the names of a list, given as module:NAME, that begin with a prefix; they are typed with hyphens."""
    module, _colon, name = place.partition(":")
    return _beginning((each.replace(" ", "-") for each in getattr(import_module(module), name)), prefix)


def programs(prefix: str, **_: object) -> list[str]:
    """Return the programs of the package, and the files, that begin with a prefix; after `FILE:` its mechanisms."""
    place, colon, _name = prefix.rpartition(":")
    if colon:
        return _beginning((f"{place}:{each}" for each in _mechanisms(place)), prefix)
    folder = os.path.dirname(prefix)  # noqa: PTH120 (what is typed is completed as it is typed)
    try:
        files = [os.path.join(folder, each) for each in os.listdir(folder or ".") if each.endswith(".py")]  # noqa: PTH118, PTH208
    except OSError:
        files = []
    return _beginning((*(each.name for each in builtin_programs()), *files), prefix)


def parameters(prefix: str, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """Return the parameters of the mechanism that is named before, and not given yet, with = behind them."""
    if "=" in prefix:
        return []
    file = getattr(parsed_args, "file", None) or getattr(parsed_args, "tradeoff", None) or ""
    found = _mechanisms(file)
    if not found:
        place, _colon, name = file.rpartition(":")
        found = {each: names for each, names in _mechanisms(place).items() if each == name}
    given = {binding.partition("=")[0] for binding in getattr(parsed_args, "bindings", None) or ()}
    names = dict.fromkeys(name for each in found.values() for name in each if name not in given)
    return [f"{name}=" for name in names if name.startswith(prefix)]


def _mechanisms(place: str) -> dict[str, tuple[str, ...]]:
    """Return the mechanisms of a file, or a program of the package, with their parameters; none where it has none."""
    program = None if Path(place).exists() else builtin_program(place)
    try:
        return mechanisms_in(program.path if program else Path(place))
    except (OSError, SyntaxError, ValueError):
        return {}
