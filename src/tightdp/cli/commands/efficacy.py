"""The command `efficacy`: what one-run auditing can see, and its gaps."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli.answer import add_plot, answer
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.cli.words import read_pairs

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    parser.add_argument("--guesses", metavar="K", help="the efficacy with K guesses only (default: all K up to n)")
    parser.add_argument(
        "--pairs",
        metavar="Z",
        help="a pair of records per client as JSON, or best (default: the first that neighbours may differ in)",
    )
    parser.add_argument(
        "--adaptive", action="store_true", help="also the optimum when bits are revealed once decided on (small n)"
    )
    add_plot(parser)
    add_limits(parser, method=False)


def run(options: Namespace) -> int:
    """Answer, print, and return the exit status."""
    pairs = options.pairs if options.pairs in (None, "best") else read_pairs(options.pairs)
    instance = bind(options)
    return answer(instance, options, lambda: instance.efficacy(options.guesses, pairs, adaptive=options.adaptive))
