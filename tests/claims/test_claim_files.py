"""Files and packages of claims, the command, and the line that repeats a counterexample."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from deciding import OAKLEY, ROOT

from tightdp.claims import ClaimsDifferError, Paper, check_file, run_claims
from tightdp.claims.page import paper_markdown
from tightdp.claims.run import run_paper
from tightdp.cli import main
from tightdp.errors import ParameterError

EXAMPLE = """
from fractions import Fraction
from tightdp import Bit, flip, mechanism
from tightdp.claims import Paper, grid

paper = Paper("mine")

@mechanism(record=Bit)
def answer(x, lam):
    return 1 - x[0] if flip(lam) else x[0]

@paper.claim("A1", "Thm 1", "`e^ε = (1 - λ)/λ`.", verdict=VERDICT, instances=grid(n=(1,), lam=("1/5", "1/3")))
def _(n, lam):
    return {"e^ε": answer.bind(n=n, lam=lam).privacy().exp_epsilon}
"""


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], Path]:
    def write(verdict: str) -> Path:
        path = tmp_path / verdict / "claims.py"
        path.parent.mkdir()
        path.write_text(EXAMPLE.replace("VERDICT", repr(verdict)), encoding="utf-8")
        return path

    return write


def test_a_file_of_a_users_own(example: Callable[[str], Path]) -> None:
    (found,) = check_file(example("holds on"))
    assert found.verdict == "holds on"
    with pytest.raises(ClaimsDifferError, match="A1: it is holds on, recorded as argued"):
        check_file(example("argued"))


def test_the_command(example: Callable[[str], Path], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = example("holds on")
    assert main(["claims", str(path), "--report", str(tmp_path / "page")]) == 0
    assert "1 claim, all as recorded" in capsys.readouterr().out
    assert "lambda" in (tmp_path / "page" / "report" / "mine.md").read_text(encoding="utf-8")
    assert main(["claims", str(example("argued")), "--json"]) == 1
    (claim,) = json.loads(capsys.readouterr().out)["result"]["claims"]
    assert claim["verdict"] == "holds on"
    assert claim["instances"] == {"checked": 2, "range": "n = 1; lam = 1/5, 1/3", "steps": 0}


@pytest.mark.parametrize(
    ("words", "says"), [(["/nowhere"], "does not exist"), ([str(OAKLEY), "--id", "Z9"], "no claim Z9")]
)
def test_bad_input(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", *words]) == 2
    assert says in capsys.readouterr().err


def test_json_of_a_refuted_and_of_a_split_claim(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", str(OAKLEY), "--quick", "--json", "--id", "O13", "--id", "O11"]) == 0
    claims = {claim["id"]: claim for claim in json.loads(capsys.readouterr().out)["result"]["claims"]}
    assert set(claims) == {"O11", "O11a", "O11b", "O13"}
    keys = {
        "id",
        "paper",
        "place",
        "statement",
        "verdict",
        "instances",
        "counterexample",
        "corrected",
        "seconds",
    }
    assert all(keys <= set(claim) for claim in claims.values())
    assert claims["O11"]["parts"] == ["O11a", "O11b"]
    assert claims["O13"]["counterexample"]["numbers"] == {"inputs": 4096}
    assert claims["O13"]["counterexample"]["confirmed"] is True
    assert claims["O13"]["corrected"]["verdict"] == "decided"


def test_the_line_that_a_reader_types() -> None:
    line = [sys.executable, "-m", "tightdp", "claims", "proofs/oakley2024", "--recheck", "O15c"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "it fails here, too" in done.stdout
    other = subprocess.run([*line, "n=1", "lam=1/5"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert other.returncode == 1
    assert "it holds here" in other.stdout


def test_a_recomputation_that_covers_one_instance_says_so() -> None:
    def by_hand(n: int) -> dict[str, int]:
        if n != 1:
            raise ValueError("by hand for n = 1")
        return {"x": 1}

    paper = Paper("test2026")
    claim = paper.claim("T1", "", "`x = 2`", verdict="refuted", instances=[{"n": 1}], check=by_hand, brute=by_hand)
    assert claim.recheck(["n=1"])
    with pytest.raises(ParameterError, match="does not cover n = 2: by hand for n = 1"):
        claim.recheck(["n=2"])


def test_the_page_keeps_lists_and_links() -> None:
    paper = Paper("test2026", title="<T>")
    texts = {"breaks": "at `a < b`\n\n- **one**\n- two", "notes": "a | b"}
    paper.claim("T1", "Thm 1", "a < b & c | d", verdict="open", **texts)
    found = (paper, list(run_paper(paper)))
    page = paper_markdown(*found)
    assert "$a < b$\n\n- **one**\n- two\n" in page
    assert "| [T1](#test2026-T1) | Thm 1 | **open** |" in page


@pytest.mark.slow(seconds=3)
def test_the_line_for_a_tuple(tmp_path: Path) -> None:
    path = tmp_path / "claims.py"
    path.write_text(
        "from tightdp.claims import Paper\n"
        "paper = Paper('mine')\n"
        "paper.claim('A1', 'Thm 1', '`length < 2`', verdict='refuted', "
        "check=lambda x, words: {'length': len(x), 'half': x[0] / 2}, "
        "brute=lambda x, words: {'length': sum(1 for _ in x), 'half': x[0] / 2}, "
        "at={'x': (0, 1), 'words': 'a'},\n"
        "            instances=[{'x': (1,), 'words': 'a'}, {'x': (1, '1/2'), 'words': 'two words'}])\n",
        encoding="utf-8",
    )
    ((_, found),) = run_claims(path)
    assert found.evidence.counterexample is not None
    command = found.evidence.counterexample.command
    assert command == """tightdp claims claims.py --recheck A1 'x=[1, "1/2"]' 'words=two words'"""
    words = [sys.executable, "-m", *shlex.split(command)]
    settings = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=settings)
    assert "half = 1/2" in done.stdout, done.stderr
    words[-2] = "x=[1,"
    broken = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=settings)
    assert broken.returncode == 2
    assert "is not an array" in broken.stderr
