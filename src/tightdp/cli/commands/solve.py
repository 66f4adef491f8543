"""The command `solve`: the values of an unknown parameter for which claims hold."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli.answer import answer
from tightdp.cli.binding import add_limits, add_program, bind

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    claim = parser.add_mutually_exclusive_group()
    claim.add_argument("--epsilon", metavar="E", help="claim: (E, δ)-differentially private")
    claim.add_argument("--exp-epsilon", metavar="T", help="the same with e^ε = T")
    parser.add_argument("--delta", metavar="D", default="0", help="the δ of that claim (default 0)")
    parser.add_argument("--alpha", metavar="A", help="claim: the error is at most A ...")
    parser.add_argument("--beta", metavar="B", help="... except with probability B")
    parser.add_argument("--best", metavar="accuracy", help="also the value with the largest 1 - β at A")
    add_limits(parser)


def run(options: Namespace) -> int:
    """Answer, print, and return the exit status."""
    instance = bind(options)
    names = ("epsilon", "exp_epsilon", "delta", "alpha", "beta", "best")
    claims = {name: getattr(options, name) for name in names}
    return answer(instance, options, lambda: instance.solve(**claims))
