"""The command `certify audit`: the bound of an audit as a file that an independent checker accepts."""

from __future__ import annotations

import argparse

from tightdp.cli.answer import DONE
from tightdp.cli.commands import audit
from tightdp.cli.commands.certify import add_output, write
from tightdp.session.certify_audit import certify_audit

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command accepts."""
    audit.add_arguments(parser)
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Write the certificate, and return the exit status."""
    write(certify_audit(audit.asked(options)), options.output)
    return DONE
