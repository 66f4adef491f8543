"""What an audit says when a limit cuts its search short: what was rejected so far."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tightdp import audit
from tightdp.auditing import AuditAnswer, ask, checked, fdp, optimal, order_statistics
from tightdp.cli import main
from tightdp.errors import LimitError
from tightdp.present.show import view
from tightdp.present.text import text_of

GAME = {"canaries": 300, "guesses": 200, "correct": 140}


def stopping_after(calls: int, function: Callable[..., Any]) -> Callable[..., Any]:
    made = 0

    def limited(*arguments: Any, **options: Any) -> Any:
        nonlocal made
        made += 1
        if made > calls:
            raise LimitError("the query took more than 5 s", "allow more with --timeout")
        return function(*arguments, **options)

    return limited


@pytest.mark.parametrize("calls", [5, 9, 20])
def test_what_was_rejected_so_far_holds(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = audit(**GAME).exp_epsilon_lower
    monkeypatch.setattr(optimal, "enclose", stopping_after(calls, optimal.enclose))
    found = audit(**GAME)
    assert found.exp_epsilon_lower is not None
    assert whole is not None
    assert 1 < found.exp_epsilon_lower <= whole
    assert (found.status, found.cut_short) == ("bounded", True)
    shown = text_of(view(found))
    assert "larger ε may be rejected, too" in shown
    assert "allow more with --timeout" in shown


def test_the_p_value_is_enclosed_by_what_was_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimal, "p_value", stopping_after(0, optimal.p_value))
    refuted, open_ = (audit(**GAME, exp_epsilon=t) for t in (Fraction(3, 2), 5))
    assert refuted.p_value is not None
    assert open_.p_value is not None
    assert tuple(refuted.p_value) == (0, Fraction(1, 20))
    assert tuple(open_.p_value) == (0, 1)


def test_nothing_is_known_before_anything_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimal, "enclose", stopping_after(0, optimal.enclose))
    with pytest.raises(LimitError):
        audit(**GAME)


def test_a_rough_place_is_decided_first(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = audit(**GAME, delta="1/1000", method="order-statistics").exp_epsilon_lower
    monkeypatch.setattr(order_statistics, "estimate", stopping_after(6, order_statistics.estimate))
    found = audit(**GAME, delta="1/1000", method="order-statistics")
    assert found.exp_epsilon_lower is not None
    assert whole is not None
    assert 1 < found.exp_epsilon_lower < whole
    assert found.cut_short


@pytest.mark.one_in(2)
@pytest.mark.parametrize("calls", [4, 12])
def test_a_family_has_the_scale_that_was_rejected_so_far(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {**GAME, "delta": "1/1000", "method": "fdp", "tradeoff": "gaussian"}
    whole = audit(**asked).exp_epsilon_lower
    monkeypatch.setattr(fdp, "rejects", stopping_after(calls, fdp.rejects))
    found = audit(**asked)
    assert found.exp_epsilon_lower is not None
    assert whole is not None
    assert 1 < found.exp_epsilon_lower <= whole
    assert found.cut_short


def test_what_is_known_is_told_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "_BETWEEN_TOLD", 0.0)
    told: list[AuditAnswer] = []
    whole = ask.audit(checked(**GAME), told.append)
    assert whole.exp_epsilon_lower is not None
    lower = [answer.exp_epsilon_lower for answer in told if answer.exp_epsilon_lower is not None]
    assert len(lower) > 5
    assert lower == sorted(lower)
    assert lower[-1] <= whole.exp_epsilon_lower


def test_the_command_says_that_nothing_is_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimal, "enclose", stopping_after(0, optimal.enclose))
    assert main(["audit", "--canaries", "300", "--guesses", "200", "--correct", "140"]) == 3
    assert "Unresolved: the query took more than 5 s; nothing is known yet." in capsys.readouterr().out
