"""The command `distribution`: the output law on one dataset."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli.answer import add_plot, answer
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.cli.words import read_dataset

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    parser.add_argument("--input", metavar="X", required=True, help="the dataset as JSON: --input '[0,1,1]'")
    add_plot(parser)
    add_limits(parser)


def run(options: Namespace) -> int:
    """Answer, print, and return the exit status."""
    x = read_dataset(options.input)
    instance = bind(options, len(x))
    return answer(instance, options, lambda: instance.distribution(x))
