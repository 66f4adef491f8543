"""What is known where a limit cuts a question short: never more than the truth, and there even if it is abandoned."""

from __future__ import annotations

import json
from fractions import Fraction
from inspect import unwrap
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from thinned import thinned
from tightdp import Bit, Int, Values, flip, geometric, mechanism, observe, randint, shuffle
from tightdp.errors import LimitError
from tightdp.limits import can_fork
from tightdp.methods import by_pairs
from tightdp.methods.program import Program
from tightdp.one_run.pairs import every_pair
from tightdp.present.show import view
from tightdp.present.text import text_of
from tightdp.results.answers import Unknown
from tightdp.session import known
from tightdp.session.instance import Instance

pytestmark = pytest.mark.skipif(not can_fork(), reason="there are no child processes")


@mechanism(record=Bit, target=sum)
def counted(x):  # type: ignore[no-untyped-def]
    return geometric(sum(x), "1/2", 0, len(x))


@mechanism(record=Int(0, 2))
def shuffled(x):  # type: ignore[no-untyped-def]
    return shuffle([v if flip("1/2") else randint(0, 2) for v in x])


@mechanism(record=Values(-1, 1), neighbours="add-remove")
def pairs(x):  # type: ignore[no-untyped-def]
    return tuple(geometric(0 if v is None else v, "1/3", -1, 1) for v in x)


@mechanism(record=Bit)
def named(x):  # type: ignore[no-untyped-def]
    return x[randint(0, len(x) - 1)] if flip("1/4") else None


@mechanism(record=Bit)
def arranged(x):  # type: ignore[no-untyped-def]
    """Only where the last record is a 1 an output stands for several orders."""
    return shuffle([flip("1/3") for _ in range(3)]) if x[-1] and flip("1/2") else x[0] ^ flip("1/3")


@mechanism(record=Bit)
def filtered(x):  # type: ignore[no-untyped-def]
    return tuple(b for b in x if flip("1/3"))


@mechanism(record=Int(0, 3), neighbours="unit-step", target=max)
def observed(x):  # type: ignore[no-untyped-def]
    noise = randint(0, 3)
    observe(noise != x[0])
    return max(noise, *x)


ASKED: dict[str, dict[str, Any]] = {
    "privacy": {},
    "delta": {"exp_epsilon": "3/2"},
    "renyi": {"order": 2},
    "zcdp": {},
    "curve": {},
}


def sent_by_few(instance: Instance, query: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a few pairs show of a query, in order."""
    sent: list[Any] = []
    monkeypatch.setattr(known, "snapshot", sent.append)
    known.partial_answers(instance, unwrap(getattr(Instance, query)), (), options)
    return sent


def end_of(result: Any) -> Any:
    return result.points[0][1] if result.__class__.__name__ == "Curve" else result.lower


def test_pairs_whose_outputs_stand_for_several_orders_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = arranged.bind(n=2)
    sent = sent_by_few(instance, "delta", {"exp_epsilon": "3/2"}, monkeypatch)
    assert 0 < sent[-1].lower <= instance.delta(exp_epsilon="3/2").delta


@pytest.mark.one_in(3)
@pytest.mark.parametrize("budget", thinned([20, 400_000, 0], 3))
@pytest.mark.parametrize("program", [counted, shuffled, pairs, named, filtered, observed], ids=lambda one: one.name)
def test_a_few_pairs_show_no_more_than_the_truth(program: Any, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_pairs, "_BUDGET", budget)
    instance = program.bind(n=2)
    for query, options in ASKED.items():
        sent = sent_by_few(instance, query, options, monkeypatch)
        exact = getattr(instance, query)(**options)
        ends = [end_of(result) for result in sent]
        assert ends == sorted(ends), (query, ends)
        assert all(end <= (end_of(exact) if query != "zcdp" else exact.rho) for end in ends), (query, ends)
        for result in sent:
            witness = getattr(result, "witness", None)
            if query == "privacy" and witness is not None and hasattr(witness, "output"):
                p, q = (instance.probability(x, witness.output) for x in (witness.x, witness.x_prime))
                assert (p, q) == (witness.probability, witness.probability_prime)
                assert result.lower == (p / q if q else float("inf"))
        if budget > 100:
            assert end_of(sent[-1]) == end_of(exact), query


def test_the_records_of_a_few_pairs_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every dataset is lowered for itself, so a pair of a million records would take minutes."""
    read: list[int] = []
    core_of = Program.core_of

    def counting(self: Program, x: Any, control: Any) -> Any:
        read.append(len(x))
        return core_of(self, x, control)

    monkeypatch.setattr(by_pairs, "LITTLE_WORK", 15)
    monkeypatch.setattr(Program, "core_of", counting)
    assert sent_by_few(counted.bind(n=3), "privacy", {}, monkeypatch)
    assert 0 < sum(read) <= 15
    read.clear()
    assert sent_by_few(counted.bind(n=1_000_000), "privacy", {}, monkeypatch) == []
    assert not read


@pytest.mark.parametrize("program", [counted, observed], ids=lambda one: one.name)
def test_a_few_datasets_show_no_less_error_than_there_is(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = program.bind(n=2)
    sent = sent_by_few(instance, "accuracy", {"alpha": 0}, monkeypatch)
    exact = instance.accuracy(0)
    assert sent
    assert all(result.status == "unresolved" and result.upper >= exact.one_minus_beta for result in sent)


@pytest.mark.parametrize("program", [counted, shuffled, pairs, named, observed], ids=lambda one: one.name)
def test_an_audit_knows_of_e_to_epsilon_no_more_than_the_truth(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = program.bind(n=2)
    vectors = [None, [every_pair(instance.bound)[-1]] * 2]
    for vector in vectors:
        sent: list[Any] = []
        monkeypatch.setattr(known, "snapshot", sent.append)
        known.partial_efficacies(instance, vector)
        exact = instance.efficacy(pairs=vector)
        assert 1 <= sent[-1].lower == exact.exp_epsilon
        assert (sent[-1].rows, sent[-1].status, sent[-1].pairs) == ((), "unresolved", exact.pairs)
        shown = text_of(view(known.stopped_by(sent[-1], LimitError("too long", ""))))
        assert "Unresolved: too long; no efficacy is known." in shown
        assert "DDP" not in shown


def test_a_claim_that_a_pair_refutes_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = sent_by_few(shuffled.bind(n=3), "verify", {"exp_epsilon": 2}, monkeypatch)
    assert (sent[-1].holds, sent[-1].status) == (False, "exact")
    assert known.stopped_by(sent[-1], LimitError("too long", "")).reason == ""


def test_the_better_end_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = counted.bind(n=2).subject
    (few, *_), exact = sent_by_few(counted.bind(n=2), "privacy", {}, monkeypatch), counted.bind(n=2).privacy()
    unknown = Unknown(subject=subject, status="unresolved", name="privacy", reason="late")
    assert known.joined(None, few) is few
    assert known.joined(unknown, few) is few
    assert known.joined(Unknown(subject=subject, name="explain"), few) != few
    assert known.joined(exact, few) is exact
    less: Any = type(few)(subject=subject, exp_epsilon=Fraction(9), lower=Fraction(1), status="bounded", reason="late")
    more: Any = known.joined(less, few)
    assert (more.lower, more.upper, more.status, more.reason) == (few.lower, 9, "bounded", "late")
    assert more.witness == few.witness


SLOW = """
from tightdp import Int, flip, mechanism, randint, shuffle

@mechanism(record=Int(0, 3))
def reports(x):
    return shuffle([v if flip("1/2") else randint(0, 3) for v in x])
"""


@pytest.mark.slow
def test_a_command_says_what_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.py").write_text(SLOW, encoding="utf-8")
    status, out, _ = run(capsys, "privacy", str(tmp_path / "m.py"), "n=120", "--timeout", "20", "--json")
    found = json.loads(out)
    assert (status, found["status"], found["result"]["lower"]) == (3, "unresolved", "5")
