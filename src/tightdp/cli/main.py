"""The entry point: exit status, errors on stderr, results on stdout."""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import time
import warnings
from collections.abc import Sequence

from tightdp.cli.parser import command_module, complete, completing, parse
from tightdp.errors import LimitError, TightdpError
from tightdp.limits import Command, Limits, age, default_memory, interruption, read_memory
from tightdp.session.arguments import read_seconds

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
        complete()
    warnings.formatwarning = _as_one_line  # what is said of a mechanism names its place by itself
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        command = _command(options, began)
    except TightdpError as error:
        _complain(error)
        return BAD_INPUT
    except KeyboardInterrupt:
        _complain(interruption())
        return INTERRUPTED
    status = _run(command, options)
    return INTERRUPTED if command.interrupted and status == UNRESOLVED else status


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
        _complain(error)
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
        _complain(error)
    return UNRESOLVED if status is None else status


def _as_one_line(message: Warning | str, *_: object, **__: object) -> str:
    return f"warning: {message}\n"


def _complain(error: TightdpError) -> None:
    sys.stderr.write(f"{error}\n")
