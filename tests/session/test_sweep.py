"""Sweeps over numbers with e^q, against the interpreter's laws, and with an unknown, which are refused."""

from __future__ import annotations

import csv
import io
from fractions import Fraction as F
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from agreement import datasets
from command_line import run
from expectations import mechanisms
from optimum_oracle import simplex
from small_mechanisms import count, response
from tightdp import ParameterError, QueryError
from tightdp.exact.field import exp
from tightdp.language import interp
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound

FLIPS = ["1/(1+exp(1))", "1/4", "exp(-1/2)/3"]
MECHANISM = """
from tightdp import Bit, flip, mechanism


@mechanism(record=Bit, target=sum)
def f(x, lam):
    return sum(1 - b if flip(lam) else b for b in x)
"""


def excess(bound: Bound, t: Any) -> Any:
    """δ at e^ε = t, by brute force."""
    laws = {x: interp.law(bound, x) for x in datasets(bound)}
    return max(
        sum((max(F(0), p - t * laws[other].get(y, F(0))) for y, p in law.items()), F(0))
        for x, law in laws.items()
        for other in relation_of(bound).neighbours(x)
    )


def within(bound: Bound, alpha: int) -> Any:
    """1 - β at an α, by brute force."""
    return min(
        sum((p for y, p in interp.law(bound, x).items() if abs(y - sum(x)) <= alpha), F(0)) for x in datasets(bound)
    )


def test_rows_with_e_to_a_power() -> None:
    over: dict[str, Any] = {"n": [1, 2, 3], "lam": FLIPS}
    instance = count.bind(n=1, lam="1/4")
    cases = list(product(over["n"], FLIPS))
    bounds = [count.bind(n=n, lam=lam).bound for n, lam in cases]
    assert [row.delta for row in instance.sweep(over, exp_epsilon=2).rows] == [excess(bound, 2) for bound in bounds]
    e = exp(F(1, 2))
    assert [row.delta for row in instance.sweep(over, epsilon="1/2").rows] == [excess(bound, e) for bound in bounds]
    found = instance.sweep(over, alpha=1)
    assert [row.one_minus_beta for row in found.rows] == [within(bound, 1) for bound in bounds]
    assert found.status == "exact"


def test_the_table_of_randomized_response() -> None:
    found = response.bind(n=2, lam="1/4").sweep({"lam": FLIPS})
    assert [row.exp_epsilon for row in found.rows] == [exp(1), 3, 3 * exp(F(1, 2)) - 1]
    seen = response.bind(n=2, lam="1/4").sweep({"lam": FLIPS}, efficacy=True, guesses=1)
    assert [row.row(1).efficacy for row in seen.rows] == [exp(1) / (1 + exp(1)), F(3, 4), 1 - exp(F(-1, 2)) / 3]
    written = list(csv.DictReader(io.StringIO(found.csv())))
    assert [row["lam"] for row in written] == ["1/(1 + exp(1))", "1/4", "exp(-1/2)/3"]
    assert [row["exp_epsilon"] for row in written] == ["exp(1)", "3", "-1 + 3*exp(1/2)"]


def best_within(n: int, alpha: int, t: F) -> F:
    """The best 1 - β of counts of n bits, by the simplex method on the counts."""
    gain = [[F(abs(y - count) <= alpha) for y in range(n + 1)] for count in range(n + 1)]
    return simplex(gain, [(i, j) for i in range(n + 1) for j in (i - 1, i + 1) if 0 <= j <= n], t)


def test_the_frontier() -> None:
    over: dict[str, Any] = {"n": [2, 3], "lam": ["1/5", "1/4", "1/3"]}
    found = count.bind(n=1, lam="1/4").sweep(over, optimum=True, alpha=1)
    for row, (n, lam) in zip(found, product(over["n"], over["lam"]), strict=True):
        t = 1 / F(lam) - 1
        assert (row["n"], row["lam"], row["exp_epsilon"], row["status"]) == (n, F(lam), t, "exact")
        assert row["optimum"] == best_within(n, 1, t)
        assert row["own"] == within(count.bind(n=n, lam=lam).bound, 1)
    with pytest.raises(ParameterError, match="not beta and optimum"):
        count.bind(n=1, lam="1/4").sweep(over, optimum=True, beta="1/5")
    with pytest.raises(ParameterError, match="measure belongs to optimum"):
        count.bind(n=1, lam="1/4").sweep(over, measure="squared-error")


@pytest.mark.extra("plot")
def test_the_frontier_is_drawn() -> None:
    over: dict[str, Any] = {"n": [2, 3], "lam": ["1/5", "1/4", "1/3"]}
    lines = count.bind(n=1, lam="1/4").sweep(over, optimum=True, alpha=1).plot().get_lines()
    assert [line.get_label() for line in lines] == [
        "the best of all, n=2", "count, n=2", "the best of all, n=3", "count, n=3",
    ]  # fmt: skip
    assert [len(line.get_xdata()) for line in lines] == [3] * 4
    irrational = count.bind(n=2, lam="1/4").sweep({"lam": FLIPS}, optimum=True)
    assert irrational.status == "bounded"
    assert len(irrational.plot().get_lines()) == 2


@pytest.mark.parametrize("unknown", ["?", "?[0,1/2]"])
def test_an_unknown_is_refused(
    unknown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(QueryError, match="lam is unknown, and the rows of a sweep are numbers") as caught:
        response.bind(n=2, lam=unknown).sweep({"n": [2, 3]})
    assert "lam=1/10,1/5" in caught.value.hint
    with pytest.raises(QueryError, match="lam is unknown"):
        response.bind(n=2, lam="1/4").sweep({"lam": ["1/4", unknown]})
    monkeypatch.chdir(tmp_path)
    Path("f.py").write_text(MECHANISM, encoding="utf-8")
    status, out, err = run(capsys, "sweep", "f.py", "n=2..3", f"lam={unknown}", "--csv", "f.csv")
    assert status == 2
    assert not out
    assert "lam is unknown" in err
    assert not Path("f.csv").exists()


def test_a_single_value_is_swept_over_as_it_is() -> None:
    instance = mechanisms("randomized_response_count")["randomized_response_count"].bind(n=1, lam="1/5")
    rows = instance.sweep({"n": 2, "lam": ["1/5", "1/4"]}).rows
    assert [row.parameters["n"] for row in rows] == [2, 2]


def test_rows_for_every_n(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "sweep", "randomized_response", "n=all", "lam=1/5,1/4", "--csv")
    assert status == 0
    shown = [(row["lam"], row["exp_epsilon"], row["status"]) for row in csv.DictReader(io.StringIO(out))]
    assert shown == [("1/5", "4", "exact"), ("1/4", "3", "exact")]
