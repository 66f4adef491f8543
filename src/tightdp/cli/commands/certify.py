"""The command `certify`: a file that an independent checker accepts."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli.answer import DONE, write_text
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.session.certify import Certificate, as_json

__all__ = ["add_arguments", "add_output", "run", "write"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    claim = parser.add_mutually_exclusive_group()
    claim.add_argument("--epsilon", metavar="E", help="claim: (E, δ)-differentially private")
    claim.add_argument("--exp-epsilon", metavar="T", help="the same with e^ε = T")
    parser.add_argument("--delta", metavar="D", default="0", help="the δ (default 0)")
    parser.add_argument("--alpha", metavar="A", help="claim: the error is at most A ...")
    parser.add_argument("--beta", metavar="B", help="... except with probability B")
    add_output(parser)
    add_limits(parser)


def add_output(parser: ArgumentParser) -> None:
    """Declare where the certificate goes."""
    parser.add_argument("--output", metavar="FILE", default="-", help="where to write it (default: to stdout)")


def run(options: Namespace) -> int:
    """Write the certificate, and return the exit status."""
    instance = bind(options)
    claims = {name: getattr(options, name) for name in ("epsilon", "exp_epsilon", "delta", "alpha", "beta")}
    write(instance.certify(**claims), options.output)
    return DONE


def write(found: Certificate, output: str) -> None:
    """Write a certificate, and where it went to a file, what it establishes."""
    write_text(output, as_json(found))
    if output != "-":
        write_text("-", f"{output}: {found.establishes}\n")
