"""What tests of the command line share: how to run it, where its transcripts are, and a slow program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tightdp
from tightdp.cli import main

GOLDEN = Path(__file__).parent / "cli" / "golden"

SLOW = """
import sys
import time

from tightdp import Bit, flip, mechanism


def slowly(x):
    print("working", file=sys.stderr, flush=True)
    time.sleep(0.05)
    yield (1 - x[0], *x[1:])


@mechanism(record=Bit, neighbours=slowly)
def f(x):
    return x[0] ^ flip("1/5")
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit status, stdout and stderr of one command."""
    try:
        status = main(arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def environment() -> dict[str, str]:
    """The environment, with the package to be found as it is found here."""
    assert tightdp.__file__ is not None
    return {**os.environ, "PYTHONPATH": str(Path(tightdp.__file__).parent.parent)}
