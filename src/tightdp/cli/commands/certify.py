"""The commands `certify`, `certify audit` and `check`: files that an independent checker accepts."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from tightdp.cli.answer import DONE, write_text
from tightdp.cli.binding import bind
from tightdp.cli.commands import audit
from tightdp.cli.errors import UsageError
from tightdp.cli.options import given
from tightdp.errors import LimitError
from tightdp.session.certify import Certificate, as_json, check_file
from tightdp.session.certify_audit import certify_audit

__all__ = ["run"]


def run(options: Namespace) -> int:
    """Write the certificate, and what it establishes where it went to a file; or check one."""
    if options.command == "check":
        return _check(options)
    found = certify_audit(audit.asked(options)) if options.command == "certify_audit" else _certified(options)
    write_text(options.output, as_json(found))
    if options.output != "-":
        write_text("-", f"{options.output}: {found.establishes}\n")
    return DONE


def _certified(options: Namespace) -> Certificate:
    instance = bind(options)
    claims = {name: value for name, value in given(options).items() if name != "output"}
    try:
        return instance.certify(**claims)
    except LimitError as error:
        raise LimitError(f"no certificate was made: {error.what}", error.hint) from None


def _check(options: Namespace) -> int:
    if not Path(options.file).is_file():
        raise UsageError(f"there is no file {options.file}", "give a certificate that `tightdp certify --output` wrote")
    return check_file(options.file, options.work)
