"""The command line: parse, call, print."""

from tightdp.cli.main import main

__all__ = ["main"]
