"""The note on the sharp one-run bound: its tables are those that the script computes, its lines run."""

from __future__ import annotations

import doctest
import os
import re
from pathlib import Path

import pytest

from tightdp.claims.figures import Figure, shown
from tightdp.claims.run import load_papers

NOTE = Path(__file__).parent.parent.parent / "proofs" / "one_run_bound.md"
(FOUND,) = load_papers(NOTE.parent / "found")


def table(figure: Figure) -> str:
    """A figure as the note has it."""
    lines = [figure.header, ("---",) * len(figure.header), *([shown(cell) for cell in row] for row in figure.rows())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@pytest.mark.parametrize("place", range(2))
def test_its_tables_are_computed(place: int) -> None:
    computed, text = table(FOUND.figures[place]), NOTE.read_text(encoding="utf-8")
    written = re.findall(r"^\|.*\|$(?:\n^\|.*\|$)*", text, re.MULTILINE)
    if "TIGHTDP_UPDATE_GOLDEN" in os.environ:
        NOTE.write_text(text.replace(written[place], computed), encoding="utf-8")
    else:
        assert written[place] == computed


def test_its_lines_run() -> None:
    failed, tried = doctest.testfile(str(NOTE), module_relative=False)
    assert (failed, tried) == (0, 8)
