"""The command `accuracy`: the tight 1 - β, or the least α."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli.answer import add_plot, answer
from tightdp.cli.binding import add_limits, add_program, bind

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    query = parser.add_mutually_exclusive_group(required=True)
    query.add_argument("--alpha", metavar="A", help="the error bound: the tight 1 - β")
    query.add_argument("--beta", metavar="B", help="the failure probability: the least α")
    parser.add_argument("--top", metavar="K", default="5", help="rank the K worst classes of datasets (default 5)")
    parser.add_argument("--relative", action="store_true", help="the error is |output - target| / max(1, |target|)")
    add_plot(parser)
    add_limits(parser)


def run(options: Namespace) -> int:
    """Answer, print, and return the exit status."""
    instance = bind(options)
    given = {"beta": options.beta, "top": options.top, "relative": options.relative}
    return answer(instance, options, lambda: instance.accuracy(options.alpha, **given))
