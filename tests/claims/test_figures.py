"""Figures and tables of papers: exact rows, beside what is printed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tightdp.auditing import expected_correct
from tightdp.claims import Paper, log
from tightdp.claims.figures import Figure, as_csv, exact_text, shown
from tightdp.claims.run import load_papers
from tightdp.cli import main

PROOFS = Path(__file__).parent.parent.parent / "proofs"

FILE = """
from fractions import Fraction
from tightdp.claims import Paper
paper = Paper("mine")

@paper.figure("Table 1", "halves", ("n", "half", "printed"), drawn=("half",))
def halves():
    for n in (1, 2):
        yield n, Fraction(n, 2), "0.5" if n == 1 else None
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "claims.py"
    path.write_text(FILE, encoding="utf-8")
    return str(path)


def test_cells() -> None:
    third = Fraction(10**9, 3 * 10**9 + 1)
    assert [shown(cell) for cell in (1, "a", None, Fraction(1, 3), third)] == ["1", "a", "", "1/3", "0.333333"]
    assert exact_text(third) == "1000000000/3000000001"
    assert shown(log(2)) == "0.693147"
    assert exact_text(log(2)).startswith("[0.693147180559945")


def test_the_command(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figures", file]) == 0
    assert capsys.readouterr().out == "mine, Table 1: halves\nn  half  printed\n1  1/2   0.5\n2  1\n\n"
    assert main(["figures", file, "--json", "--out", str(tmp_path / "out")]) == 0
    (figure,) = json.loads(capsys.readouterr().out)["result"]["figures"]
    assert figure["rows"] == [["1", "1/2", "0.5"], ["2", "1", ""]]
    assert (tmp_path / "out" / "mine-table-1.csv").read_text(encoding="utf-8") == "n,half,printed\n1,1/2,0.5\n2,1,\n"


def test_no_such_figure(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figures", file, "--id", "Table 7"]) == 2
    assert "has no such figure" in capsys.readouterr().err


def test_every_row_has_the_cells_of_the_header() -> None:
    figure = Figure("T", "", ("a", "b"), lambda: [(1,)])
    with pytest.raises(ValueError, match="number of cells"):
        figure.rows()


def columns(paper: Paper, name: str) -> dict[str, list[object]]:
    (figure,) = (each for each in paper.figures if each.name == name)
    rows = figure.rows()
    assert as_csv(figure, rows)
    return {word: [row[at] for row in rows] for at, word in enumerate(figure.header)}


def test_printed_numbers_of_oakley2024_are_found() -> None:
    (paper,) = load_papers(PROOFS / "oakley2024")
    three = columns(paper, "Table 3")
    assert three["printed"] == three["here"]
    one = columns(paper, "Table 1")
    assert one["printed at λ = 1/5"] == one["here"]
    two = columns(paper, "Table 2")
    for printed, here in (
        ("diagram printed", "one root per bit"),
        ("states printed", "states"),
        ("transitions printed", "transitions"),
    ):
        pairs = zip(two[printed], two[here], strict=True)
        compared = [(a, b) for a, b in pairs if a is not None and b is not None]
        assert compared
        assert all(a == b for a, b in compared)


def test_the_bound_of_xiang2025_is_below_what_mechanisms_attain() -> None:
    (paper,) = load_papers(PROOFS / "xiang2025")
    table = columns(paper, "Fig. 10, no error")
    names = ("Theorem 3", "independent channels", "all-or-nothing", "sharp bound")
    for bound, channels, together, sharp in list(zip(*(table[name] for name in names), strict=True))[1:]:
        assert bound < channels < together <= sharp  # type: ignore[operator]


@pytest.mark.slow(seconds=3)
def test_adaptive_audits_of_counts_in_sets() -> None:
    """Fig. 8 of keinan2025: with larger sets more is reported with adaptivity, and less without."""
    (paper,) = load_papers(PROOFS / "keinan2025")
    table = columns(paper, "Fig. 8")
    alone, adaptive = ([float(str(value)) for value in table[name]] for name in ("bound", "adaptive bound"))
    assert alone[0] == adaptive[0] == 3.492  # -ln(20^(1/100) - 1): 100 right guesses
    assert alone == sorted(alone, reverse=True)
    assert adaptive == sorted(adaptive)


@pytest.mark.slow(seconds=4)
def test_more_elements_per_dimension_help_until_they_interfere() -> None:
    """Fig. 2 of keinan2025 in its idealised form; one element per dimension is the Gaussian channel alone."""
    (paper,) = load_papers(PROOFS / "keinan2025")
    table = columns(paper, "Fig. 2, 5, 7")
    rows = [
        Fraction(str(share)) for mu, share in zip(table["1/σ"], table["efficacy"], strict=True) if mu == Fraction(1, 2)
    ]
    assert rows[0] < rows[2] > rows[-1]
    alone = expected_correct(canaries=1000, guesses=100, tradeoff="gaussian:1/2")
    assert abs(rows[0] - alone.lower / 100) < Fraction(1, 1000)


@pytest.mark.slow(seconds=6)
def test_reported_bounds_of_mahloujifar2024_stay_below_the_mechanism() -> None:
    (paper,) = load_papers(PROOFS / "mahloujifar2024")
    table = columns(paper, "Fig. 3")
    bounds = [float(str(value)) for value in table["f-DP, Algorithm 3"]]
    assert all(bound < float(str(true)) for bound, true in zip(bounds, table["mechanism"], strict=True))
    assert bounds == sorted(bounds)
