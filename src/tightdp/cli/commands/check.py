"""The command `check`: `proofs/checker.py` on one file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tightdp.cli.errors import UsageError
from tightdp.session.certify import check_file

__all__ = ["add_arguments", "run"]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what the command accepts."""
    parser.add_argument("file", metavar="ANSWER.json", help="a certificate that `tightdp certify` wrote")
    parser.add_argument("--work", metavar="N", type=int, default=1, help="allow N times the usual work (default: 1)")


def run(options: Namespace) -> int:
    """Check, print one line, and return the exit status."""
    if not Path(options.file).is_file():
        raise UsageError(f"there is no file {options.file}", "give a certificate that `tightdp certify --output` wrote")
    return check_file(options.file, options.work)
