"""The plan of a question: which methods were looked at, why not, and the work of those that answer."""

from __future__ import annotations

from typing import Any

import pytest

from tightdp import Bit, Int, LimitError, flip, geometric, mechanism
from tightdp.methods import questions
from tightdp.methods.base import Summary
from tightdp.methods.by_aggregates import Aggregates


def responses(x: Any) -> Any:
    return tuple(1 - b if flip("1/5") else b for b in x)


def counted(x: Any) -> Any:
    return sum(1 - b if flip("1/5") else b for b in x)


def compared(x: Any) -> Any:
    noise = geometric(0, "1/2", -2, 2)
    return tuple(v + noise > w for v, w in zip(x, (*x[1:], x[0]), strict=True))


def plan_of(program: Any, n: int, **options: Any) -> list[Summary]:
    return list(mechanism(record=Bit)(program).bind(n=n, **options).show().plan)


def test_a_program_in_parts_is_split_and_a_part_is_answered_by_another_method() -> None:
    (step,) = [step for step in plan_of(responses, 6) if not step.refusal]
    assert step.method == "independent clients"
    (part,) = [part for part in step.parts if not part.refusal]
    assert part.actual > 0
    assert part.estimated > 0


def test_what_does_not_apply_comes_first_with_its_reason() -> None:
    steps = plan_of(counted, 9)
    assert [step.method for step in steps if not step.refusal] == ["aggregate"]
    assert 0 < steps[-1].actual <= steps[-1].estimated
    assert all(step.refusal and step.method not in step.refusal for step in steps[:-1])


@pytest.mark.parametrize("method", ["exhaustive", "elimination", "chain", "runs"])
def test_a_forced_plan_has_one_method_and_the_same_answer(method: str) -> None:
    instance = mechanism(record=Int(0, 1))(compared).bind(n=3, method=method)
    assert {step.method for step in instance.show().plan} == {method}
    assert instance.privacy().exp_epsilon == mechanism(record=Int(0, 1))(compared).bind(n=3).privacy().exp_epsilon


def test_the_work_of_elimination_is_estimated_in_the_unit_in_which_it_is_done() -> None:
    (step,) = plan_of(compared, 3, method="elimination")
    assert 0 < step.actual <= 4 * step.estimated


def test_the_plan_is_there_where_a_limit_is_met(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made after it, and what a method that is at work would give, is left out."""

    def late(*_: Any) -> Any:
        raise LimitError("the query took more than 1 s", "allow more")

    instance = mechanism(record=Bit)(counted).bind(n=3)
    monkeypatch.setattr(questions, "every_symmetry", late)
    found = instance.show()
    assert (found.status, found.formula) == ("exact", None)
    assert [step.method for step in found.plan if not step.refusal] == ["aggregate"]
    monkeypatch.setattr(Aggregates, "tight", late)
    found = mechanism(record=Bit)(counted).bind(n=3).show()
    assert (found.status, found.reason) == ("unresolved", "the query took more than 1 s")
    assert [(step.method, step.refusal) for step in found.plan][-1] == (
        "aggregate",
        "it was not done when a limit was met",
    )
    assert "Unresolved: the query took more than 1 s; the methods that were looked at are listed." in str(found)


def test_a_bound_on_all_ratios_is_worked_out_only_where_a_search_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    def unasked(*_: Any) -> Any:
        raise AssertionError("the answer is known without it")

    monkeypatch.setattr(questions, "ratio_bound", unasked)
    instance = mechanism(record=Bit)(compared).bind(n=3)
    assert instance.delta(exp_epsilon=2).status == instance.curve().status == "exact"
