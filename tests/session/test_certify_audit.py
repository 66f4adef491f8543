"""Certificates of audits: accepted where the bound is true, refused where a mechanism does better."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tightdp
from certificate_changes import changed_audit
from tightdp.auditing import optimal
from tightdp.auditing.certificate import Game
from tightdp.cli.main import main
from tightdp.core.sections import written_value
from tightdp.errors import QueryError
from tightdp.session.certify import load_checker

checker = load_checker()
ASKED: list[dict[str, Any]] = [
    {"canaries": 1000, "guesses": 100, "correct": 75, "delta": "1/10000"},
    {"canaries": 100, "guesses": 60, "correct": 41, "delta": "1/1000", "epsilon": 1},
    {"canaries": 10, "guesses": 4, "correct": 4, "exp_epsilon": 2, "options": 3},
    {"canaries": 6, "guesses": 6, "correct": 1, "exp_epsilon": 1, "delta": "1/50"},
    {"canaries": 30, "guesses": 12, "correct": 10, "tradeoff": [[1, "1/10"], [3, 0]]},
    {"canaries": 40, "guesses": 40, "correct": 30, "tradeoff": "gaussian:1"},
]


def accepted(content: dict[str, Any]) -> bool:
    """Whether the checker accepts."""
    try:
        checker.check(content)
    except (checker.Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False
    return True


def copied(content: Any) -> dict[str, Any]:
    """A copy that may be changed."""
    found: dict[str, Any] = json.loads(json.dumps(content))
    return found


@pytest.mark.parametrize("asked", ASKED)
def test_bounds_are_certified_and_smaller_ones_refused(asked: dict[str, Any]) -> None:
    answer = tightdp.audit(**asked)
    content = copied(tightdp.certify_audit(answer).content)
    claim = content["claim"]
    bound, worst = Fraction(claim["bound"]), answer.answer.mechanism
    assert worst is not None
    least = worst.at_least(claim["correct"])
    near = Fraction(1, 50) if asked.get("tradeoff") == "gaussian:1" else Fraction(1, 10**6)  # its tangents are weaker
    assert least <= bound <= least * (1 + near)
    if answer.answer.p_value is None:
        assert bound <= answer.answer.significance
    claim["bound"] = written_value(least - Fraction(1, 10**30))
    assert not accepted(content)


def test_changed_certificates_are_refused_or_true() -> None:
    """A true claim bounds the exact optimum, which another file has in closed form."""
    random_, still = random.Random(5), 0
    bases = [tightdp.certify_audit(tightdp.audit(**asked)).content for asked in ASKED[2:4]]
    for _ in range(600):
        new = changed_audit(random_.choice(bases), random_)
        claim = new["claim"]
        if accepted(new):
            still += 1
            (t, delta), bound = map(Fraction, claim["guarantee"][0]), Fraction(claim["bound"])
            game = Game(*(claim[name] for name in ("canaries", "guesses", "correct", "options")))
            assert optimal.p_value(game, t, delta).lower <= bound, new
    assert still > 20


def test_the_command_writes_what_the_checker_accepts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "audit.json"
    words = ["--canaries", "1000", "--guesses", "100", "--correct", "75", "--delta", "1e-4", "--output", str(path)]
    assert main(["certify", "audit", *words]) == 0
    assert "audit: canaries 1000, guesses 100, correct 75" in capsys.readouterr().out
    assert main(["check", str(path)]) == 0


def test_what_has_no_dual_point_is_not_certified() -> None:
    for more in ({"method": "steinke", "correct": 3}, {"correct": 0}):
        with pytest.raises(QueryError, match="no rule of evidence fits"):
            tightdp.certify_audit(tightdp.audit(canaries=10, guesses=4, **more))
