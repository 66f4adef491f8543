"""The command `verify`: the verdict on claims; the exit status tells it too."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli.answer import answer
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.cli.claimed import add_claims, claims_of

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    add_claims(parser)
    add_limits(parser)


def run(options: Namespace) -> int:
    """Answer, print, and return the exit status."""
    instance = bind(options)
    return answer(instance, options, lambda: instance.verify(**claims_of(options)))
