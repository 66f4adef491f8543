"""The entry point, and what the command line accepts: exit status, errors on stderr, results on stdout.

Every mistake becomes a UsageError: one line of what, one of how to correct it. What shells complete is in
`completion.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import NoReturn

from tightdp._version import __version__
from tightdp.cli.targets import UsageError
from tightdp.cli.words import declare
from tightdp.errors import LimitError, TightdpError
from tightdp.limits import Command, Limits, age, default_memory, interruption, read_memory
from tightdp.results.recorded import SCHEMA
from tightdp.session.arguments import read_seconds

COMMANDS = {
    "privacy": "the tight ε with its witness, δ at an ε, the privacy curve, the trade-off function",
    "accuracy": "the tight 1 - β at an error bound α, and the worst datasets",
    "utility": "expected errors and the probability of the right answer, on the worst datasets",
    "optimum": "the best that any mechanism with the same privacy, datasets and outputs can do",
    "efficacy": "one-run auditing: the efficacy for k guesses and its gaps",
    "distribution": "the exact output law on one dataset",
    "likelihood": "the likelihood ratios of one pair of datasets, output by output",
    "failure": "how often a run fails (assert, an index out of range), on the worst dataset",
    "verify": "check claims: exit status 0 holds, 1 refuted, 3 unresolved",
    "solve": "the values of an unknown parameter, written lam=?, for which claims hold",
    "certify": "write a certificate for readers who do not trust this program",
    "check": "check a certificate: exit status 0 accepted, 1 refused",
    "guessing": "one-run auditing: the exact law of the guesses and the right ones",
    "canaries": "one-run auditing: how many canaries it takes to report a share of ε",
    "audit": "what guesses in one run rule out: a lower bound on ε, a p-value",
    "sweep": "a table of privacy, accuracy or efficacy over ranges of parameters",
    "explain": "where the loss comes from: each draw, the line that breaks a claim, the smallest case",
    "report": "one page of HTML about a mechanism: source, ε, curves, accuracy, cost",
    "show": "the plan with its estimated and actual work, the symmetries, the diagram (Graphviz text, a picture)",
    "sample": "draw outputs",
    "schema": "the JSON Schema of what --json prints, by command",
    "programs": "the mechanisms that ship with tightdp, to be named in place of a file",
    "claims": "the claims of papers, decided again: exit status 1 when a verdict is not the recorded one",
    "figures": "figures and tables of papers, computed exactly beside what is printed",
}

_EXAMPLES = """\
FILE is a Python file that defines mechanisms; it is imported. One mechanism in it needs no NAME.
It may also be one of the names that `tightdp programs` lists.
VALUE is an int, a rational (1/5), a decimal (0.2), a word, or a JSON array.

examples:
  tightdp privacy randomized_response n=8 lam=1/5
  tightdp verify randomized_response n=8 lam=1/5 --epsilon 1.4
  tightdp distribution randomized_response lam=1/5 --input '[0,1,1]'
  tightdp audit --canaries 1000 --guesses 100 --correct 75 --delta 1e-4

exit status: 0 done (or holds), 1 refuted, 2 bad input, 3 a limit was reached before the question was decided,
130 interrupted (what is known is printed)
`tightdp COMMAND --help` lists the options of a command.
"""

_OF_DECORATOR = {"--target": "@mechanism(target=sum)", "--record": "@mechanism(record=Int(0, 2))"}
"""What the decorator says and no option does, with an example."""
_NEGATIVE = re.compile(r"-[\d.]")


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        found = sys.exc_info()[1]
        if isinstance(found, argparse.ArgumentError) and isinstance(found.__context__, TightdpError):
            raise found.__context__ from None  # what our own reader of a value says of it
        raise UsageError(f"{self.prog}: {message.removesuffix(', KEY=VALUE')}", self._hint(message))

    def _hint(self, message: str) -> str:
        if message.startswith("the following arguments are required"):
            if "--" in message:
                return f"give them; see {self.prog} --help"
            return f"give the file of a mechanism; see {self.prog} --help"
        if message.startswith("one of the arguments") or "not allowed with argument" in message:
            return f"give one of them; see {self.prog} --help"
        if not message.startswith("unrecognized"):
            return f"see {self.prog} --help"
        known = [option for action in self._actions for option in action.option_strings]
        unknown = re.search(r"(?<!\S)(--?([\w-]+))(?:[= ]([^\s=-][^\s=]*)(?!\S))?", message)
        if unknown and unknown[1] in _OF_DECORATOR:
            return f"it belongs to the mechanism: {_OF_DECORATOR[unknown[1]]} in its file"
        close = _nearest(unknown[1], known) if unknown and unknown[2] != "n" else ""
        if close:
            return f"did you mean {close}? see {self.prog} --help"
        example = f"{unknown[2]}={unknown[3]}" if unknown and unknown[3] and unknown[2].isidentifier() else "lam=1/5"
        dashes = f"n and the mechanism's own parameters are written without dashes, as in {example}"
        return f"see {self.prog} --help; {dashes}"


def _nearest(unknown: str, known: Sequence[str]) -> str:
    """Return the option that an unknown one begins, or else the most similar one; empty where none is near."""
    begun = [option for option in known if option.startswith(unknown)] if unknown.startswith("--") else []
    close = begun or get_close_matches(unknown.replace("_", "-"), known, n=1, cutoff=0.7)
    return close[0] if close else ""


def overview() -> str:
    """Return the text of `tightdp --help`."""
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name.ljust(width)}  {what}" for name, what in COMMANDS.items())
    return (
        "usage: tightdp COMMAND FILE[:NAME] [KEY=VALUE ...] [options]\n\n"
        "Exact privacy and accuracy of mechanisms that are Python functions.\n\n"
        f"commands:\n{commands}\n\n{_EXAMPLES}"
    )


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the parsed arguments, with `command`. Raises UsageError; --help and --version print and exit."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        sys.stdout.write(overview())
        raise SystemExit(0)
    if arguments[0] == "--version":
        sys.stdout.write(f"tightdp {__version__}\n")
        raise SystemExit(0)
    command, rest = arguments[0], list(arguments[1:])
    if f"{command}_{''.join(rest[:1])}" in CERTIFIED:
        command, rest = f"{command}_{rest[0]}", rest[1:]
    if command not in {*COMMANDS, *CERTIFIED}:
        close = get_close_matches(command, COMMANDS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"the commands are {', '.join(COMMANDS)}"
        raise UsageError(f"tightdp: there is no command {command!r}", hint)
    parser = _parser(command)
    options = parser.parse_intermixed_args(_attached(parser, rest))
    options.command = command
    return options


def _attached(parser: argparse.ArgumentParser, arguments: list[str]) -> list[str]:
    """Attach values that look like negative numbers to their options; argparse takes -1/2 for an option."""
    takes_value = {option for action in parser._actions if action.nargs is None for option in action.option_strings}
    result: list[str] = []
    for argument in arguments:
        if _NEGATIVE.match(argument) and result and result[-1] in takes_value:
            result[-1] += f"={argument}"
        else:
            result.append(argument)
    return result


def command_module(command: str) -> ModuleType:
    """Import the module of a command; no other command's is imported."""
    return import_module(f"tightdp.cli.commands.{_APART.get(command, 'question')}")


def declare_all(parser: argparse.ArgumentParser, command: str) -> None:
    """Declare what a command accepts."""
    if command == "claims":
        import_module("tightdp.claims.command").add_arguments(parser)
    declare(parser, command)


def _parser(command: str) -> _Parser:
    first = command.partition("_")[0]
    parser = _Parser(
        prog=f"tightdp {command.replace('_', ' ')}",
        description=f"{COMMANDS[first][0].upper()}{COMMANDS[first][1:]}.",
        usage=f"tightdp {command.replace('_', ' ')} {_USAGE.get(command, 'FILE[:NAME] [KEY=VALUE ...]')} [options]",
        allow_abbrev=False,
        epilog=_EXTRA.get(command),
    )
    declare_all(parser, command)
    if first not in ("claims", "certify", "check", "schema"):
        parser.add_argument("--json", action="store_true", help="print one JSON object, all numbers exact")
    return parser


CERTIFIED = ("certify_audit", "certify_optimum")
"""Answers that are certified by a second word, as in `certify audit`."""
_APART = {
    **dict.fromkeys(("audit", "certify", *CERTIFIED, "check"), "audit"),
    **dict.fromkeys(("claims", "figures", "programs", "schema"), "claims"),
    "sweep": "sweep",
}
"""Commands that ask no instance one question, and the modules that they have."""
_USAGE = {
    "claims": "[PATH]",
    "figures": "[PATH]",
    "check": "ANSWER.json",
    "programs": "[NAME]",
    "schema": "[NAME]",
    "audit": "--canaries M --guesses R --correct V",
    "certify_audit": "--canaries M --guesses R --correct V",
}
_EXTRA = {
    "sweep": "A range is n=2..20; several values are lam=1/10,1/5. With --alpha or --beta it asks accuracy, with "
    "--efficacy efficacy, otherwise privacy.",
}


def completing() -> bool:
    """Say whether a shell asks for completions, and argcomplete is there to give them."""
    return "_ARGCOMPLETE" in os.environ and find_spec("argcomplete") is not None


BAD_INPUT, UNRESOLVED, INTERRUPTED = 2, 3, 130
_LOADING = 0.4
"""Seconds that do not count while tightdp and a program are loaded."""
_LONGEST_START = 3.0
"""At most so many seconds before the command count: the process may have done other things."""
_BETWEEN_COLLECTIONS = 200_000
"""Objects made between two searches for cycles, which long laws of many tuples do not have."""
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Set to 1 where nobody has set them: threads that share the product of small matrices mostly wait for each other."""
_CLEAR_LINE = "\r\x1b[2K\x1b[?25h"
"""Takes away the progress bar that a query has left behind, and shows the cursor again."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0 done (or holds), 1 refuted, 2 bad input, 3 a limit was reached before the question was decided, 130 interrupted.
    """
    began = time.monotonic() - (0 if arguments is not None else min(age(), _LONGEST_START))
    gc.set_threshold(_BETWEEN_COLLECTIONS)
    for name in _THREADS:
        os.environ.setdefault(name, "1")
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if completing():
        import_module("tightdp.cli.completion").complete(COMMANDS, CERTIFIED, declare_all)
    warnings.formatwarning = _as_one_line  # what is said of a mechanism names its place by itself
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        command = _command(options, began)
    except TightdpError as error:
        _complain(error, "--json" in (sys.argv if arguments is None else arguments))
        return BAD_INPUT
    except KeyboardInterrupt:
        _complain(interruption())
        return INTERRUPTED
    status = _run(command, options)
    return INTERRUPTED if command.interrupts and status in (UNRESOLVED, BAD_INPUT) else status


def _run(command: Command, options: argparse.Namespace) -> int:
    try:
        status = command.run()
        sys.stdout.flush()
        return status
    except LimitError as error:
        return _stopped(error, command, options)
    except KeyboardInterrupt:
        _stopped(interruption(), command, options)
        return INTERRUPTED
    except RecursionError:
        deep = LimitError("the program nests too deeply", "use fewer records or shorter loops")
        return _stopped(deep, command, options)
    except TightdpError as error:
        if command.interrupts:
            sys.stderr.write(f"{interruption().what}; before that:\n")
        _complain(error, getattr(options, "json", False) and not command.printed)
        return BAD_INPUT
    except BrokenPipeError:
        # The reader went away: keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNRESOLVED


def _command(options: argparse.Namespace, began: float) -> Command:
    """Return the command as it is run: within its limits, in a process that can be ended.

    The limit on time is one of each row of a sweep. Of other commands it is one of the query, whose clock starts when
    the program is loaded, but at most `_LOADING` seconds after the process began.
    """
    timeout = None if options.command == "sweep" else getattr(options, "timeout", None)
    memory = read_memory(getattr(options, "max_memory", None)) or default_memory()
    limits = Limits(read_seconds("timeout", timeout), max_memory=memory, start=began + _LOADING)
    run = command_module(options.command).run
    return Command(lambda: int(run(options)), limits, gentle=options.command != "claims")


def _stopped(error: LimitError, command: Command, options: argparse.Namespace) -> int:
    """Print what was known of a query that had to be ended, unless something of the answer is printed already."""
    from tightdp.cli.answer import stopped

    if sys.stderr.isatty():
        sys.stderr.write(_CLEAR_LINE)
    status = None if command.printed else stopped(command, error, options)
    if status is None:
        _complain(error, getattr(options, "json", False) and not command.printed)
    return UNRESOLVED if status is None else status


def _as_one_line(message: Warning | str, *_: object, **__: object) -> str:
    return f"warning: {message}\n"


def _complain(error: TightdpError, in_json: bool = False) -> None:
    """Say what is wrong on stderr, and on stdout too where an object of JSON is expected there."""
    sys.stderr.write(f"{error}\n")
    if in_json:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(f"{json.dumps({'schema': SCHEMA, 'tightdp': __version__, 'error': error.to_dict()})}\n")
            sys.stdout.flush()
