"""The command `likelihood`: the likelihood ratios of one pair of datasets."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli.answer import answer
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.cli.words import read_dataset

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    parser.add_argument("--x", metavar="X", required=True, help="the dataset as JSON: --x '[0,1,1]'")
    parser.add_argument("--x-prime", metavar="X", required=True, help="the dataset that it is compared with")
    add_limits(parser)


def run(options: Namespace) -> int:
    """Answer, print, and return the exit status."""
    x, x_prime = read_dataset(options.x, "--x"), read_dataset(options.x_prime, "--x-prime")
    instance = bind(options, len(x))
    return answer(instance, options, lambda: instance.likelihood(x, x_prime))
