"""Completion of commands, options and programs in shells, by argcomplete (the extra `completion`)."""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from importlib.util import find_spec

from tightdp.cli.parser import COMMANDS, declare_all
from tightdp.session.builtin import builtin_programs

__all__ = ["complete", "completing", "whole_parser"]


def completing() -> bool:
    """Say whether a shell asks for completions, and argcomplete is there to give them."""
    return "_ARGCOMPLETE" in os.environ and find_spec("argcomplete") is not None


def complete() -> None:
    """Print the completions of the command line, and exit."""
    import_module("argcomplete").autocomplete(whole_parser())


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser of all commands."""
    parser = argparse.ArgumentParser(prog="tightdp")
    commands = parser.add_subparsers()
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, help=what)
        declare_all(command, name)
        for action in command._actions:
            if action.dest in ("file", "name") and not action.option_strings:
                action.completer = programs  # type: ignore[attr-defined]
    return parser


def programs(prefix: str, **_: object) -> list[str]:
    """Return the programs of the package, and the files, that begin with a prefix."""
    folder = os.path.dirname(prefix)  # noqa: PTH120 (what is typed is completed as it is typed)
    try:
        files = [os.path.join(folder, each) for each in os.listdir(folder or ".") if each.endswith(".py")]  # noqa: PTH118, PTH208
    except OSError:
        files = []
    return [name for name in (*(each.name for each in builtin_programs()), *files) if name.startswith(prefix)]
