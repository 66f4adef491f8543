"""The table of options: what a command declares for its question is handed on, under the same names."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import pytest

from tightdp.cli.words import OPTIONS, declare, given

AROUND = {"help", "file", "bindings", "plot", "beside", "axis", "log_delta", "linear", "jobs", "dask"}
"""What stands around a question: the program, where the answer goes, who works on it."""
CODE = {"record", "of", "dataset", "source", "catch"}
"""How code is called that knows nothing of tightdp."""
LIMITS = CODE | {
    "neighbours",
    "strategy",
    "floats",
    "timeout",
    "max_memory",
    "max_nodes",
    "method",
    "precision",
    "backend",
    "with_rounds",
    "with_bits",
}
APART = {"audit", "certify_audit", "check", "programs", "claims", "figures", "schema"}


@pytest.mark.parametrize("command", sorted({*OPTIONS} - APART))
def test_no_option_gets_lost(command: str) -> None:
    parser = ArgumentParser()
    declare(parser, command)
    own = {action.dest for action in parser._actions} - AROUND - LIMITS
    options = Namespace(command=command, **dict.fromkeys(own | LIMITS, "given"))
    assert given(options) == dict.fromkeys(own, "given")


def test_what_excludes_each_other_is_needed_or_not() -> None:
    parser = ArgumentParser()
    declare(parser, "audit")
    assert [group.required for group in parser._mutually_exclusive_groups] == [True, False]
    assert {action.dest: action.default for action in parser._actions}["significance"] == "1/20"
