"""What shells complete by argcomplete (the extra `completion`).

Commands, options and programs; the mechanisms of a file after `FILE:`, the parameters of a mechanism after FILE, and
the names that an option takes. Files of users are read for that, and never imported.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tightdp.session.files import builtin_program, builtin_programs, builtin_schemas, functions_in, mechanisms_in

Declare = Callable[[argparse.ArgumentParser, str], None]

_NAMES: dict[str, str | tuple[str, ...]] = {
    "neighbours": "tightdp.language.program:NEIGHBOURS",
    "method": "tightdp.methods.choose:NAMES",
    "backend": "tightdp.logic.bdd:BACKENDS",
    "rule": "tightdp.auditing.question:METHODS",
    "variant": ("listing", "code", "published", "exact"),
    "best": ("accuracy", "utility"),
    "measure": ("right-answer", "absolute-error", "squared-error"),
    "guesser": ("all", "certain"),
    "axis": ("epsilon", "exp-epsilon"),
}
"""Options that take a name: the names, or where they are listed; no list is imported before it is asked for."""
_AUDITED = {"method": "tightdp.auditing.question:METHODS"}
"""The same for `audit`."""
_FUNCTIONS = {"strategy": (), "target": ("sum", "max", "min", "tuple")}
"""Options that take a function of the file, and what else they take."""


class _Intermixed(argparse.ArgumentParser):
    """A parser for completion that finds arguments before and behind options, as `parse_intermixed_args` does.

    Of `first words` it makes one command where there are such, as in `certify audit`.
    """

    pairs: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse options first, then arguments; an option whose value is to be completed comes last."""
        words = list(args)
        if "_".join(words[:2]) in self.pairs:
            words[:2] = ["_".join(words[:2])]
        return super().parse_known_args(words if self.pairs else self._options_first(words), namespace)

    def _options_first(self, words: list[str]) -> list[str]:
        """Return the words with options and their values before the others, unless the last option has no value yet."""
        options: list[str] = []
        others: list[str] = []
        rest = iter(words)
        for word in rest:
            action = self._option_string_actions.get(word)
            (options if word.startswith("-") else others).append(word)
            if action is not None and action.nargs != 0:
                value = next(rest, None)
                if value is None:
                    return [*options[:-1], *others, word]
                options.append(value)
        return options + others


def complete(commands: Mapping[str, str], certified: Sequence[str], declare: Declare) -> None:
    """Print the completions of the command line, and exit; options are among them once a hyphen is typed."""
    parser = whole_parser(commands, certified, declare)
    import_module("argcomplete").autocomplete(parser, always_complete_options=False, exclude=certified)


def whole_parser(commands: Mapping[str, str], certified: Sequence[str], declare: Declare) -> argparse.ArgumentParser:
    """Return one parser of all commands, given what they are for, those of two words, and what declares arguments."""
    parser = _Intermixed(prog="tightdp")
    parser.pairs = certified
    parsers = parser.add_subparsers()
    for name in (*commands, *certified):
        command = parsers.add_parser(name, help=commands.get(name))
        declare(command, name)
        for action in command._actions:
            completer = _completer(name, action)
            if completer is not None:
                action.completer = completer  # type: ignore[attr-defined]
        if name == "certify":
            second = [pair.partition("_")[2] for pair in certified]
            command._actions[1].completer = partial(programs, besides=second)  # type: ignore[attr-defined]
    return parser


def _completer(command: str, action: argparse.Action) -> Any:
    """Return what completes the values of an argument, None where argcomplete is left to complete files."""
    if action.option_strings:
        if action.dest in _FUNCTIONS:
            return partial(functions, besides=_FUNCTIONS[action.dest])
        listed = {**_NAMES, **(_AUDITED if "audit" in command else {})}.get(action.dest)
        return None if listed is None else partial(_listed, listed)
    if command == "schema":
        return partial(_beginning, tuple(builtin_schemas()))
    if action.dest == "bindings":
        return parameters
    return programs if action.dest == "name" or (action.dest == "file" and command != "check") else None


def _beginning(words: Iterable[str], prefix: str, **_: object) -> list[str]:
    return [word for word in words if word.startswith(prefix)]


def _listed(listed: str | tuple[str, ...], prefix: str, **_: object) -> list[str]:
    """Return the names of a list, or of one that is given as module:NAME, that begin with a prefix, with hyphens."""
    if isinstance(listed, str):
        module, _colon, name = listed.partition(":")
        listed = getattr(import_module(module), name)
    return _beginning((each.replace(" ", "-") for each in listed), prefix)


def programs(prefix: str, besides: Iterable[str] = (), **_: object) -> list[str]:
    """Return the programs of the package, and the files, that begin with a prefix; after `FILE:` its mechanisms."""
    place, colon, _name = prefix.rpartition(":")
    if colon:
        return _beginning((f"{place}:{each}" for each in _read(mechanisms_in, place)), prefix)
    folder = os.path.dirname(prefix)  # noqa: PTH120 (what is typed is completed as it is typed)
    try:
        files = [os.path.join(folder, each) for each in os.listdir(folder or ".") if each.endswith(".py")]  # noqa: PTH118, PTH208
    except OSError:
        files = []
    return _beginning((*besides, *(each.name for each in builtin_programs()), *files), prefix)


def functions(prefix: str, parsed_args: argparse.Namespace, besides: Iterable[str] = (), **_: object) -> list[str]:
    """Return the functions of the file that is named before, mechanisms left out, that begin with a prefix."""
    file = getattr(parsed_args, "file", None) or ""
    found = _read(functions_in, file) or _read(functions_in, file.rpartition(":")[0])
    return _beginning((*found, *besides), prefix)


def parameters(prefix: str, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """Return the parameters of the mechanism that is named before, and not given yet, with = behind them."""
    if "=" in prefix:
        return []
    file = getattr(parsed_args, "file", None) or getattr(parsed_args, "tradeoff", None) or ""
    found = _read(mechanisms_in, file)
    if not found:
        place, _colon, name = file.rpartition(":")
        found = {each: names for each, names in _read(mechanisms_in, place).items() if each == name}
    given = {binding.partition("=")[0] for binding in getattr(parsed_args, "bindings", None) or ()}
    names = dict.fromkeys(name for each in found.values() for name in each if name not in given)
    return [f"{name}=" for name in names if name.startswith(prefix)]


def _read(reader: Callable[[Path], Any], place: str) -> Any:
    """Return what is read from a file, or a program of the package; nothing where it has none."""
    program = None if Path(place).exists() else builtin_program(place)
    try:
        return reader(program.path if program else Path(place))
    except (OSError, SyntaxError, ValueError):
        return {}
