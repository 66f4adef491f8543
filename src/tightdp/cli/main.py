"""The entry point: exit status, errors on stderr, results on stdout."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from tightdp.cli.parser import command_module, parse
from tightdp.errors import LimitError, TightdpError
from tightdp.limits import Abandoned, Command, Limits, default_memory, read_memory
from tightdp.session.arguments import read_seconds

__all__ = ["main"]

BAD_INPUT, UNRESOLVED, INTERRUPTED = 2, 3, 130
_CLEAR_LINE = "\r\x1b[2K\x1b[?25h"
"""Takes away the progress bar that a query has left behind, and shows the cursor again."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0 done (or holds), 1 refuted, 2 bad input, 3 a limit was reached before the question was decided, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        command = _command(options)
    except TightdpError as error:
        _complain(error)
        return BAD_INPUT
    status = _run(command, options)
    return INTERRUPTED if command.interrupted and status == UNRESOLVED else status


def _run(command: Command, options: argparse.Namespace) -> int:
    try:
        status = command.run()
        sys.stdout.flush()
        return status
    except Abandoned as error:
        return _abandoned(error, options)
    except LimitError as error:
        _complain(error)
        return UNRESOLVED
    except TightdpError as error:
        _complain(error)
        return BAD_INPUT
    except KeyboardInterrupt:
        sys.stderr.write("interrupted before anything was known\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader went away: keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNRESOLVED
    except RecursionError:
        _complain(LimitError("the program nests too deeply", "use fewer records or shorter loops"))
        return UNRESOLVED


def _command(options: argparse.Namespace) -> Command:
    """Return the command as it is run: within its limits, in a process that can be ended.

    The limit on time is one of each row of a sweep, of the whole command otherwise.
    """
    timeout = None if options.command == "sweep" else getattr(options, "timeout", None)
    memory = read_memory(getattr(options, "max_memory", None)) or default_memory()
    limits = Limits(read_seconds("timeout", timeout), max_memory=memory)
    run = command_module(options.command).run
    return Command(lambda: int(run(options)), limits, gentle=options.command != "claims")


def _abandoned(error: Abandoned, options: argparse.Namespace) -> int:
    """Print what was known of a query that had to be ended."""
    from tightdp.cli.answer import emit

    if sys.stderr.isatty():
        sys.stderr.write(_CLEAR_LINE)
    if error.snapshot is None:
        _complain(error)
    else:
        emit(replace(error.snapshot, reason=error.what, hint=error.hint), options)
    return UNRESOLVED


def _complain(error: TightdpError) -> None:
    sys.stderr.write(f"{error}\n")
