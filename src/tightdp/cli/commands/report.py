"""The command `report`: one page about a mechanism, for people."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from tightdp.cli import targets
from tightdp.cli.answer import ask, emit, write_text
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.results.report import Report

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    where = "write the page there (- or nothing: to stdout)"
    parser.add_argument("--output", metavar="FILE", type=targets.file, help=where)
    parser.add_argument("--alpha", metavar="A", default="1", help="the error bound of the accuracy (default 1)")
    add_limits(parser)


def run(options: Namespace) -> int:
    """Gather, write the page, and return the exit status."""
    instance = bind(options)
    asked = ask(instance, options, lambda: instance.report(alpha=options.alpha))
    if not isinstance(asked.result, Report) or options.json:
        emit(asked.result, options)
    else:
        write_text(options.output or "-", asked.result.html())
        if options.output not in (None, "-"):
            sys.stdout.write(f"wrote {options.output}\n")
    return asked.exit_status
