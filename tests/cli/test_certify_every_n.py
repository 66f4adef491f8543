"""`tightdp certify` with n=all: a file that `tightdp check` accepts, and a limit without one."""

from __future__ import annotations

import json

import pytest

from tightdp.cli import main

PROGRAM = """
from tightdp import flip, geometric, mechanism

@mechanism(target=sum)
def sent(x, lam):
    return sum(v ^ flip(lam) for v in x)

@mechanism
def above(x, r):
    threshold, count = geometric(0, r), 0
    for v in x:
        if geometric(v, r) > threshold:
            count, threshold = count + 1, geometric(0, r)
        if count == 2:
            return count
    return count
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "p.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)


def test_a_certificate_for_every_n_is_written_and_accepted(tmp_path, capsys):
    assert main(["certify", "p.py:sent", "n=all", "lam=1/5", "--output", "c.json"]) == 0
    claim = json.loads((tmp_path / "c.json").read_text())["claim"]
    assert (claim["question"], claim["n"], claim["bound"]) == ("privacy of messages", "all", 4)
    assert main(["check", "c.json"]) == 0
    assert "accepted" in capsys.readouterr().out


def test_a_limit_is_an_error_and_no_answer_of_another_kind(tmp_path, capsys):
    assert main(["certify", "p.py:above", "n=all", "r=1/2", "--output", "c.json", "--timeout", "0.01"]) == 3
    assert "the query took more than 0.01 s\n  allow more with --timeout\n" in capsys.readouterr().err
    assert not (tmp_path / "c.json").exists()
