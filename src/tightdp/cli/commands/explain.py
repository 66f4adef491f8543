"""The command `explain`: where the privacy loss comes from, and which line breaks a claim."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli.answer import answer
from tightdp.cli.binding import add_limits, add_program, bind

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    claim = parser.add_mutually_exclusive_group()
    claim.add_argument("--exp-epsilon", metavar="T", help="the claim to explain: e^ε = T")
    claim.add_argument("--epsilon", metavar="E", help="the same with ε")
    parser.add_argument("--delta", metavar="D", default="0", help="the δ of that claim (default 0)")
    add_limits(parser)


def run(options: Namespace) -> int:
    """Explain, print, and return the exit status."""
    instance = bind(options)
    claim = {"exp_epsilon": options.exp_epsilon, "epsilon": options.epsilon, "delta": options.delta}
    return answer(instance, options, lambda: instance.explain(**claim))
