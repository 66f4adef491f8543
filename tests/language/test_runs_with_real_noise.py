"""Runs of mechanisms with real noise, as plain Python: they return floats, which no exact output is."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from command_line import run
from tightdp import Bit, LanguageError, flip, laplace, mechanism
from tightdp.errors import ProgramError


@mechanism(record=Bit)
def noisy_count(x):
    return laplace(sum(x), 2)


@mechanism(record=Bit)
def several(x):
    noisy = laplace(sum(x), 2)
    return "count", noisy, round(noisy), {"above": max(0, noisy)}, noisy > 1


@mechanism(record=Bit)
def in_an_array(x):
    return np.array([laplace(each, 1) for each in x])


def test_a_run_returns_what_was_drawn() -> None:
    outputs = noisy_count.sample((0, 1), size=4_000, seed=1)
    assert all(type(output) is float for output in [*outputs, noisy_count((0, 1))])
    assert abs(sum(abs(output - 1) for output in outputs) / 4_000 - 2) < 0.2


def test_floats_stand_beside_other_outputs() -> None:
    (name, noisy, rounded, (pair,), above) = several.sample((1, 1), seed=2)[0]
    assert (name, rounded, pair, above) == ("count", round(noisy), ("above", max(0, noisy)), noisy > 1)


@mechanism(record=Bit)
def without_noise(x: Any) -> Any:
    return float("inf") if flip("1/2") else 0


def test_other_floats_are_no_outputs() -> None:
    with pytest.raises(ProgramError, match="returned the float inf"):
        without_noise.sample((0,), size=20, seed=1)


def test_an_array_of_real_noise_is_drawn_and_not_analysed() -> None:
    assert len(in_an_array.sample((0, 1, 1), seed=1)[0]) == 3
    with pytest.raises(LanguageError, match="arrays of numpy hold no noise"):
        in_an_array.bind(n=1).privacy()


def test_the_command_prints_floats_as_numbers(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "noisy.py"
    file.write_text(
        "from tightdp import Bit, laplace, mechanism\n\n\n@mechanism(record=Bit)\ndef noisy(x):\n"
        "    return laplace(sum(x), 2), sum(x)\n"
    )
    status, out, _ = run(capsys, "sample", str(file), "n=2", "--input", "[0,1]", "--seed", "3", "--json")
    ((first, second),) = json.loads(out)["result"]["outputs"]
    assert (status, type(first), second) == (0, float, 1)
