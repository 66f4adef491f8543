"""The command `failure`: how often a run fails."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli.answer import answer
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.cli.words import read_dataset

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    parser.add_argument("--input", metavar="X", help="the dataset as JSON; default: the one on which runs fail most")
    add_limits(parser)


def run(options: Namespace) -> int:
    """Answer, print, and return the exit status."""
    x = None if options.input is None else read_dataset(options.input)
    instance = bind(options, None if x is None else len(x))
    return answer(instance, options, lambda: instance.failure(x))
