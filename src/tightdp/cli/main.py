"""The entry point: exit status, errors on stderr, results on stdout."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence

from tightdp.cli.parser import command_module, parse
from tightdp.errors import LimitError, TightdpError

__all__ = ["main"]

BAD_INPUT, UNRESOLVED, INTERRUPTED = 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0 done (or holds), 1 refuted, 2 bad input, 3 a limit was reached before the question was decided, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status = _run(parse(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
        return status
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
    except MemoryError:
        _complain(LimitError("the memory was used up", "use fewer records, or bound the diagram with --max-nodes"))
        return UNRESOLVED


def _run(options: argparse.Namespace) -> int:
    status: int = command_module(options.command).run(options)
    return status


def _complain(error: TightdpError) -> None:
    sys.stderr.write(f"{error}\n")
