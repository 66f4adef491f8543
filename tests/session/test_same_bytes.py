"""An answer is a function of the question: a busy machine, and another order of hashes, give the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
QUESTIONS = {
    "hidden state": "privacy hidden.py n=all lam=1/3 wrong=1/4",
    "grows": "privacy programs/sparse_vector.py:sparse_vector_no_cutoff n=all k=1 threshold=1 margin=1 "
    "ratio_threshold=1/2 ratio_query=1/2",
    "approached": "privacy programs/above_threshold.py n=all k=2 threshold=2 ratio_threshold=1/2 ratio_query=1/2",
    "one n": "privacy programs/xor_randomized_response.py n=9 lam=1/5",
    "delta": "privacy programs/shuffled_randomized_response.py n=7 lam=1/2 --delta 1/100",
    "report": "report programs/randomized_response_count.py n=4 lam=1/5",
}
HIDDEN = """
from tightdp import flip, mechanism


@mechanism
def remembers_or(x, lam, wrong):
    sent, seen = [], 0
    for v in x:
        seen = (seen or v) ^ flip(wrong)
        sent.append(seen ^ flip(lam))
    return tuple(sent)
"""


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep the processor busy with so many processes."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def answer(question: str, folder: Path, seed: str) -> str:
    """The answer of a command in JSON, without how long it took."""
    (folder / "hidden.py").write_text(HIDDEN, encoding="utf-8")
    words = [word.replace("programs/", f"{ROOT}/programs/") for word in question.split()]
    command = [sys.executable, "-m", "tightdp", *words, "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": seed}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.dumps(_timeless(json.loads(done.stdout)))


def _timeless(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _timeless(value) for key, value in found.items() if key != "seconds"}
    return [_timeless(each) for each in found] if isinstance(found, list) else found


LONG = {"grows", "hidden state", "approached", "report"}
CASES = [pytest.param(name, marks=pytest.mark.slow(seconds=9) if name in LONG else ()) for name in QUESTIONS]


@pytest.mark.parametrize("name", CASES)
def test_a_busy_machine_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    alone = answer(QUESTIONS[name], tmp_path, "1")
    with busy(2):
        assert answer(QUESTIONS[name], tmp_path, "2") == alone
