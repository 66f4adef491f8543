"""The schemes of DiPC with three and five queries: verdicts for all ε, and the function beside numbers at some ε."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sympy import sympify

from tightdp import Bit, Int, Mechanism, mechanism
from tightdp.exact.field import ExpNumber
from tightdp.exact.polynomials import naming

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import dipc

HOLD = {"svt1", "svt2", "svt7", "nmax5", "nmax6", "nmax9", "rr_correct"}
QUICK = {"svt5-3", "nmax6-3", "nmax7-5", "nmax8-5", "nmax9-5", "nmax10-5", "rr-5", "rr_correct-5"}
CASES = [
    pytest.param(
        scheme.function, n, id=f"{scheme.function.__name__}-{n}",
        marks=() if f"{scheme.function.__name__}-{n}" in QUICK else pytest.mark.slow(seconds=15 if n == 5 else 5),
    )
    for scheme in dipc.ROWS
    for n in (3, 5)
]  # fmt: skip


def made_of(function: Any, n: int) -> Mechanism:
    name = function.__name__
    alone = name in ("nmax9", "nmax10", "rr", "rr_correct")
    record = Bit if n == 5 or name.startswith("rr") else Int(-1, 1)
    return mechanism(record=record, neighbours="unit-step" if alone else "unit-all")(function)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("function", "n"), CASES)
def test_every_scheme_is_decided(function: Any, n: int) -> None:
    name, made = function.__name__, made_of(function, n)
    points = [Fraction(1, 3), Fraction(3, 4)] + ([] if name == "rr" else [Fraction(2), Fraction(5)])
    instance = made.bind(n=n, eps="?[0,1]" if name == "rr" else "?")
    found = instance.privacy()
    assert found.status == "exact"
    assert instance.verify(epsilon="eps").holds == (name in HOLD)
    for eps in points:
        value = found.part(eps).value
        with naming(found.unknown):
            at = float(sympify(str(value)).subs("eps", eps).evalf(20)) if isinstance(value, ExpNumber) else float(value)
        known = made.bind(n=n, eps=eps).privacy()
        assert known.status == "exact"
        assert float(known.exp_epsilon) == pytest.approx(at, rel=1e-9)
        if name in HOLD:
            assert at <= math.exp(eps) * (1 + 1e-9)
