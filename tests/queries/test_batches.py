"""What is said of batches of a training run: one record is enough, and the worst order of the others."""

from __future__ import annotations

import sys
from fractions import Fraction as F
from itertools import product
from pathlib import Path

import pytest

from tightdp.session.files import import_file
from tightdp.session.mechanism import mechanisms_of

ROOT = Path(__file__).parents[2]
PROGRAMS = mechanisms_of(import_file(ROOT / "programs" / "batches.py"))
DELTAS = (F(1, 1000), F(1, 20))
sys.path.insert(0, str(ROOT / "benchmarks"))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("n", "batches"), [(1, 3), (2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("name", ["poisson", "bins"])
@pytest.mark.parametrize("ratio", ["1/4", "4/5"])
def test_one_record_is_enough(name: str, n: int, batches: int, ratio: str) -> None:
    whole = PROGRAMS[f"{name}_batches"].bind(n=n, batches=batches, ratio=ratio)
    one = PROGRAMS[f"one_in_{name}"].bind(n=1, batches=batches, ratio=ratio)
    for delta in DELTAS:
        assert whole.epsilon(delta=delta).exp_epsilon == one.epsilon(delta=delta).exp_epsilon


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("n", "batches"), [(2, 2), (4, 2), (3, 3)])
@pytest.mark.parametrize("ratio", ["1/4", "4/5"])
def test_the_worst_order_of_the_others(n: int, batches: int, ratio: str) -> None:
    whole = PROGRAMS["shuffled_batches"].bind(n=n, batches=batches, ratio=ratio)
    every = [
        PROGRAMS["one_inserted"].bind(n=1, others=others, ratio=ratio)
        for others in product((-1, 0, 1), repeat=batches - 1)
    ]
    for delta in DELTAS:
        worst = max(one.epsilon(delta=delta).exp_epsilon for one in every)
        assert whole.epsilon(delta=delta).exp_epsilon == worst


def test_the_table_is_computed() -> None:
    """The row of four batches in docs/batches.md."""
    benchmark = __import__("batch_samplers")
    text = (ROOT / "docs" / "batches.md").read_text(encoding="utf-8")
    rows = [benchmark.row(4, ratio, F(1, 1000)) for ratio in (F(1, 4), F(4, 5))]
    cells = " | ".join(f"{float(value):.4f}" for row in rows for value in row)
    assert f"| 4 | {cells} |" in text
    assert rows[0] == (F(2241, 256), F(27396, 6859), F(2043, 512))


@pytest.mark.slow(seconds=6)
def test_no_order_of_the_others_is_worse_than_its_windows() -> None:
    """Upper ends from windows hold for orders that are longer than these, and separate the worst ones."""
    benchmark = __import__("batch_samplers")
    known = benchmark.windows(F(1), F(25))
    short = {others: delta for others, delta in known.items() if len(others) < 2}
    for others in product((-1, 0, 1), repeat=3):
        assert known[others] <= benchmark.delta_above(others, short) * (1 + F(1, 1000))  # upper ends to 1e-3
    assert benchmark.delta_above((-1, -1, -1), short) < known[-1, -1, -1] * F(11, 10)
    assert known[-1, -1, -1] > F(1, 1000) > benchmark.delta_above((-1, -1, -1, 0, -1, -1, -1), known)
