"""The question `failure`: how often runs fail, beside brute force over all outcomes of the draws."""

from __future__ import annotations

import json
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest

from command_line import run
from tightdp import Bit, Int, flip, mechanism, observe, randint


@mechanism(record=Bit)
def retries(x: Any) -> int:
    """Asks each client up to three times whether it is there, and gives up with an error."""
    total = 0
    for b in x:
        for _ in range(3):
            if flip("1/2" if b else "1/4"):
                total += 1
                break
        else:
            raise RuntimeError("a client did not answer")
    return total


@mechanism(record=Int(0, 2))
def looked_up(x: Any) -> int:
    place = sum(x) + randint(0, 1)
    return (5, 6, 7, 8)[place]


@mechanism(record=Bit)
def checked(x: Any) -> bool:
    """An observation before the check, another one behind it."""
    coin, other = flip("1/3"), flip("1/5")
    observe(coin or x[0])
    assert not (other and coin), "both"
    observe(not other)
    return coin


@mechanism(record=Bit)
def safe(x: Any) -> tuple[bool, ...]:
    return tuple(b ^ flip("1/5") for b in x)


@pytest.mark.parametrize("x", list(product((0, 1), repeat=2)))
def test_runs_that_give_up(x: tuple[int, ...]) -> None:
    answered = F(1)
    for b in x:
        answered *= 1 - (F(1, 2) if b else F(3, 4)) ** 3
    found = retries.bind(n=2).failure(x)
    assert (found.x, found.probability, found.worst) == (x, 1 - answered, False)


def test_the_worst_dataset_is_found() -> None:
    found = retries.bind(n=3).failure()
    assert (found.x, found.worst) == ((0, 0, 0), True)
    assert found.probability == 1 - (1 - F(27, 64)) ** 3
    assert found.error is not None
    assert "did not answer" in found.error
    assert found.place is not None
    assert found.place.endswith("test_failure.py:26:13")


@pytest.mark.parametrize(("x", "probability"), [((0, 0), F(0)), ((1, 2), F(1, 2)), ((2, 2), F(1))])
def test_an_index_out_of_range(x: tuple[int, ...], probability: F) -> None:
    assert looked_up.bind(n=2).failure(x).probability == probability


def test_rejected_runs_do_not_count() -> None:
    """Given that coin holds (x = 0), the check fails with other: one in five, before the later observation."""
    assert checked.bind(n=1).failure((0,)).probability == F(1, 15) / (F(1, 15) + F(4, 15))
    assert checked.bind(n=1).failure((1,)).probability == F(1, 15) / (F(1, 15) + F(4, 5))


def test_nothing_fails() -> None:
    found = safe.bind(n=3).failure()
    assert (found.probability, found.error, found.place) == (0, None, None)
    assert "No run fails on any dataset." in str(found)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    file = tmp_path / "fragile.py"
    file.write_text(
        "from tightdp import Bit, flip, mechanism\n\n@mechanism(record=Bit)\ndef fragile(x):\n"
        '    assert not (x[0] and flip("1/4")), "unlucky"\n    return 0\n'
    )
    status, out, _ = run(capsys, "failure", str(file), "n=2", "--json")
    answer = json.loads(out)["result"]
    assert status == 0
    assert (answer["x"], answer["probability"], answer["worst"]) == ([1, 0], "1/4", True)
    assert answer["place"] == f"{file}:5:5"
    status, out, _ = run(capsys, "failure", str(file), "--input", "[0, 1]")
    assert status == 0
    assert "a run fails with probability  0" in out
