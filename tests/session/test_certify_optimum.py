"""Certificates of optima: accepted as they are written, and refused where they claim more than a solver finds."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import tightdp
from certificate_changes import changed_optimum, optima
from command_line import run
from optimum_oracle import every_pair, replace_one, unit_all, whole_program
from tightdp import Int, geometric, mechanism
from tightdp.session.certify import load_checker

checker = load_checker()
NEAR = {"replace-one": replace_one, "unit-all": unit_all}


def accepted(content: dict[str, Any]) -> bool:
    """Whether the checker accepts."""
    try:
        load_checker().check(content)
    except (checker.Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False
    return True


def best(claim: dict[str, Any], t: Fraction) -> float:
    """The optimum of a claim in floats, from all datasets and all pairs of neighbours."""
    records = [record[0] for record in claim["records"]]
    datasets = list(product(records, repeat=claim["n"]))
    target = {sorted_in(claim, [record[0] for record in x]): Fraction(value) for x, value in claim["targets"]}
    values = [
        [value_of(claim, Fraction(output), target[sorted_in(claim, x)]) for output in claim["outputs"]]
        for x in datasets
    ]
    pairs = list(every_pair(datasets, NEAR[claim["neighbours"]]))
    return whole_program(values, pairs, float(t), float(Fraction(claim.get("delta", 0))), "error" in claim["measure"])


def sorted_in(claim: dict[str, Any], x: Any) -> Any:
    return tuple(tuple(sorted(x[client] for client in group)) for group in claim["groups"])


def value_of(claim: dict[str, Any], output: Fraction, target: Fraction) -> Fraction:
    if claim["measure"] == "right answer":
        return Fraction(output == target)
    away = abs(output - target)
    if claim["measure"] == "accuracy":
        return Fraction(away <= Fraction(claim["alpha"]))
    return away ** (1 + (claim["measure"] == "squared error"))


def test_what_is_written_is_accepted_and_true() -> None:
    for content in optima():
        assert accepted(content)
        claim = content["claim"]
        assert claim["keeps"] == claim["allows"]
        assert abs(best(claim, Fraction(claim["keeps"])) - float(Fraction(claim["least"]))) < 1e-8
        more = json.loads(json.dumps(content))
        more["claim"]["most"] = str(Fraction(claim["most"]) - Fraction(1, 10**9 + 7))
        assert not accepted(more)


@pytest.mark.slow(seconds=2)
def test_changed_certificates_are_refused_or_true() -> None:
    rng, bases, still = random.Random(3), list(optima()), 0
    for _ in range(250):
        content = json.loads(json.dumps(rng.choice(bases)))
        for _ in range(rng.choice([1, 1, 2])):
            changed_optimum(content, rng)
        if not accepted(content):
            continue
        still += 1
        claim = content["claim"]
        ours, theirs = (best(claim, Fraction(claim[name])) for name in ("keeps", "allows"))
        low, high = (theirs, ours) if "error" in claim["measure"] else (ours, theirs)
        assert Fraction(claim["least"]) <= low + 1e-8, content
        assert high <= Fraction(claim["most"]) + Fraction(1, 10**8), content
    assert still > 20


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "optimum.json"
    words = ["geometric_count", "n=8", "ratio=1/4", "--target", "sum", "--alpha", "2", "--output", str(path)]
    assert run(capsys, "certify", "optimum", *words)[0] == 0
    status, out, _ = run(capsys, "check", str(path))
    assert (status, out.partition(":")[0]) == (0, "accepted")
    assert 'keeps 4, allows 4, least "79/80", most "79/80", alpha 2' in out
    path.write_text(path.read_text(encoding="ascii").replace('"most": "79/80"', '"most": "78/80"'), encoding="ascii")
    assert run(capsys, "check", str(path))[0] == 1


def test_listed_neighbours_and_irrational_bounds(tmp_path: Path) -> None:
    listed = mechanism(record=Int(0, 1), target=sum, neighbours=lambda x: [(1 - x[0], *x[1:])])(_two)
    found = listed.bind(n=2).optimum(epsilon=1)
    content = tightdp.certify_optimum(found).to_dict()
    assert len(content["claim"]["neighbours"]) == 4
    assert content["claim"]["keeps"] != content["claim"]["allows"]
    assert accepted(json.loads(json.dumps(content)))


def _two(x):
    """Noise on the first bit."""
    return min(max(geometric(sum(x), "1/2"), 0), 2)
