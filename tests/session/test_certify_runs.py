"""Certificates of runs that depend on each other: the δ is the exact one of randomized responses, by two other ways."""

from __future__ import annotations

import itertools
import json
import random
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest

from certificate_changes import changed_composition, instance_of
from certificate_oracle import is_true, number
from command_line import run
from conftest import FULL
from expectations import mechanisms
from tightdp import ALL, certify_composition
from tightdp.errors import ParameterError, QueryError
from tightdp.exact.field import exp
from tightdp.session.certify import WORK, load_checker

checker = load_checker()
F = Fraction


def responses(guarantees: list[list[Any]], bound: Fraction) -> Fraction:
    """The sum over all outputs of max(0, P - bound·Q) for randomized responses with these guarantees, one by one."""
    runs = [(number(t), number(delta)) for t, delta, often in guarantees for _ in range(often)]
    one = [
        ((d, F(0)), ((1 - d) * t / (1 + t), (1 - d) / (1 + t)), ((1 - d) / (1 + t), (1 - d) * t / (1 + t)), (F(0), d))
        for t, d in runs
    ]
    found = F(0)
    for outcome in itertools.product(*one):
        p = q = F(1)
        for a, b in outcome:
            p, q = p * a, q * b
        found += max(F(0), p - bound * q)
    return found


@pytest.mark.parametrize("bound", [F(1), F(3), F(12), F(200)])
def test_the_least_delta_is_that_of_randomized_responses(bound: Fraction) -> None:
    guarantees = [[2, "1/10", 1], [3, "1/20", 1], [1, "1/7", 1], ["5/2", 0, 2]]
    made = certify_composition(guarantees, bound)
    assert number(made.content["claim"]["delta"]) == responses(guarantees, bound)
    with pytest.raises(QueryError, match="lose more together"):
        certify_composition(guarantees, bound, responses(guarantees, bound) * F(999, 1000))


def test_many_runs_and_numbers_with_e() -> None:
    for t, k, bound in ((F(2), 300, F(2) ** 30), (exp(F(1, 2)), 9, exp(1))):
        tight = sum((comb(k, i) * max(F(0), t**i - bound * t ** (k - i)) for i in range(k + 1)), F(0)) / (1 + t) ** k
        claim = certify_composition([(t, 0, k)], bound).content["claim"]
        assert number(claim["delta"], exp(F(1, 2))) == tight


def test_runs_of_a_mechanism(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Randomized response loses as much as is proved: its own composition says the same."""
    one = instance_of("randomized_response", n=2, lam="1/3")
    content = dict(one.certify(runs=6, exp_epsilon=4).content)
    exact = one.privacy_loss().compose(6).delta(exp_epsilon=4)
    assert exact.status == "exact"
    assert number(content["claim"]["runs"][2]) == exact.delta
    assert is_true(content)
    count = instance_of("randomized_response_count", n=3, lam="1/5")
    proved = number(count.certify(runs=3, exp_epsilon=2).content["claim"]["runs"][2])
    assert proved >= count.privacy_loss().compose(3).delta(exp_epsilon=2).delta
    file = tmp_path / "answer.json"
    asked = ["randomized_response", "n=4", "lam=1/3", "--runs", "100", "--exp-epsilon", "2**98"]
    assert run(capsys, "certify", *asked, "--output", str(file))[0] == 0
    assert run(capsys, "check", str(file))[0] == 0
    with pytest.raises(ParameterError, match="of several runs"):
        one.certify(runs=2, exp_epsilon=2, curve=True)
    with pytest.raises(ParameterError, match="of several runs"):
        one.certify(runs=2)
    with pytest.raises(ParameterError, match="runs is 0"):
        one.certify(runs=0, exp_epsilon=2)
    with pytest.raises(QueryError, match="lose more together"):
        one.certify(runs=2, exp_epsilon=2, delta="1/1000")


@pytest.mark.slow(seconds=2)
def test_runs_for_every_n() -> None:
    one = mechanisms("xor_randomized_response")["xor_randomized_response"].bind(n=ALL, lam="1/5")
    for bound in (4, "exp(1/2)"):
        claim = one.certify(runs=5, exp_epsilon=bound).content["claim"]
        assert (claim["n"], claim["bound"], claim["runs"][0]) == ("all", 4, 5)
        most = number(claim["runs"][1], exp(F(1, 2)))
        tight = sum((comb(5, i) * max(F(0), F(4) ** i - most * 4 ** (5 - i)) for i in range(6)), F(0)) / 5**5
        assert number(claim["runs"][2], exp(F(1, 2))) == tight
    with pytest.raises(QueryError, match="lose more together"):
        one.certify(runs=5, exp_epsilon=4, delta="1/100")


def test_changed_compositions_are_refused_or_true() -> None:
    random_, accepted = random.Random(5), 0
    given = json.loads(certify_composition([(2, "1/100", 2), ("3/2", 0, 3)], 4).text)
    for _ in range(2_000 if FULL else 150):
        new = changed_composition(given, random_)
        try:
            checker.check(new, WORK)
        except (checker.Refused, TypeError, ValueError, AttributeError):
            continue
        accepted += 1
        claim = new["claim"]
        assert responses(claim["guarantees"], number(claim["bound"])) <= number(claim["delta"])
    assert accepted > 10
