"""Claims on the command line: the options of commands that decide them, and what they say."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

__all__ = ["add_claims", "claims_of"]

_NAMES = ("epsilon", "exp_epsilon", "delta", "alpha", "beta")


def add_claims(parser: ArgumentParser) -> None:
    """Declare the options of a claim about privacy, and of one about accuracy."""
    claim = parser.add_mutually_exclusive_group()
    claim.add_argument("--epsilon", metavar="E", help="claim: (E, δ)-differentially private")
    claim.add_argument("--exp-epsilon", metavar="T", help="the same with e^ε = T")
    parser.add_argument("--delta", metavar="D", default="0", help="the δ of that claim (default 0)")
    parser.add_argument("--alpha", metavar="A", help="claim: the error is at most A ...")
    parser.add_argument("--beta", metavar="B", help="... except with probability B")


def claims_of(options: Namespace) -> dict[str, Any]:
    """Return the claims as arguments of `Instance.verify`, `certify` and `solve`."""
    return {name: getattr(options, name) for name in _NAMES}
