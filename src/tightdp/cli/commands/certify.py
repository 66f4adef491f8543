"""The command `certify`: a file that an independent checker accepts."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tightdp.cli import targets
from tightdp.cli.answer import DONE, write_text
from tightdp.cli.binding import add_limits, add_program, bind
from tightdp.cli.claimed import add_claims, claims_of
from tightdp.errors import LimitError
from tightdp.session.certify import Certificate, as_json

__all__ = ["add_arguments", "add_output", "run", "write"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    add_claims(parser)
    add_output(parser)
    add_limits(parser)


def add_output(parser: ArgumentParser) -> None:
    """Declare where the certificate goes."""
    where = "where to write it (default: to stdout)"
    parser.add_argument("--output", metavar="FILE", default="-", type=targets.file, help=where)


def run(options: Namespace) -> int:
    """Write the certificate, and return the exit status."""
    instance = bind(options)
    try:
        found = instance.certify(**claims_of(options))
    except LimitError as error:
        raise LimitError(f"no certificate was made: {error.what}", error.hint) from None
    write(found, options.output)
    return DONE


def write(found: Certificate, output: str) -> None:
    """Write a certificate, and where it went to a file, what it establishes."""
    write_text(output, as_json(found))
    if output != "-":
        write_text("-", f"{output}: {found.establishes}\n")
