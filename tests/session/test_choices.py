"""Parameters that are one of several values: against single questions, code of its own, and grids."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import split_oracle
from command_line import run
from conftest import FULL
from tightdp import Bit, Instance, Int, Mechanism, ParameterError, QueryError, exp, flip, geometric, mechanism
from tightdp.results.choices import Choice

PAGE = Path(__file__).parents[2] / "docs" / "splits.md"


@mechanism(record=Bit, target=sum)
def counted(x: Any, ratio: Any, order: Any) -> Any:
    """A count with noise at the end, or of noisy bits."""
    if order == "last":
        return geometric(sum(x), ratio, 0, len(x))
    return sum(1 - b if flip(ratio) else b for b in x)


@mechanism(record=lambda k: Int(0, k), target=max)
def largest(x: Any, k: Any, ratio: Any, steps: Any) -> Any:
    """The largest record, with noise of one of several strengths, on a domain that is chosen, too."""
    return geometric(max(x), ratio ** steps[0], 0, k)


@mechanism(record=Bit, target=sum)
def promised(x: Any, eps: Any, share: Any) -> Any:
    """Two noisy counts, of which the mean is published, with shares of what is promised."""
    first, second = (geometric(sum(x), exp(-eps * part), 0, len(x)) for part in (share, 1 - share))
    return (first + second) / 2


def asked(program: Mechanism, question: dict[str, Any], **parameters: Any) -> Any:
    return program.bind(**parameters).solve(**question)


def test_every_choice_is_asked() -> None:
    """Values are those of the single questions, the frontier is what its definition says."""
    found = asked(counted, {"best": "accuracy", "alpha": 1}, n=3, ratio="?{1/4,1/3,1/5}", order="?{first,last}")
    assert isinstance(found, Choice)
    points = []
    for option in found.options:
        one = counted.bind(n=3, **dict(option.values))
        assert option.exp_epsilon == one.privacy().exp_epsilon
        assert option.value == one.accuracy(1).one_minus_beta
        points.append((option.exp_epsilon, option.value, option))
    for t, value, option in points:
        beaten = [other for s, v, other in points if s <= t and v >= value and (s, v) != (t, value)]
        assert option.frontier is (not beaten)
    assert [dict(option.values)["ratio"] for option in found.frontier] == [F(1, 3), F(1, 3), F(1, 4), F(1, 5)]
    assert found.best == ()


def test_claims_decide_who_is_best() -> None:
    question = {"best": "utility", "measure": "absolute-error", "exp_epsilon": 4}
    found = asked(counted, question, n=3, ratio="?{1/4,1/3,1/5}", order="?{first,last}")
    assert [option.holds for option in found.options] == [True, True, True, True, True, False]
    (best,) = found.best
    assert dict(best.values) == {"ratio": F(1, 4), "order": "last"}
    values = [option.value for option in found.options if option.holds]
    assert best.value == min(values)
    assert asked(counted, {"exp_epsilon": "6/5"}, n=2, ratio="?{1/4,1/3}", order="last").best == ()


def test_values_of_all_kinds() -> None:
    """Domains may depend on what is chosen, and arrays and numbers with e^q may be chosen."""
    found = asked(
        largest, {"best": "accuracy", "alpha": 0}, n=2, k="?{1,2}", ratio="?{1/2,exp(-1)}", steps="?{[1,2],[2]}"
    )
    assert len(found.options) == 8
    assert {dict(option.values)["steps"] for option in found.options} == {(1, 2), (2,)}
    for option in found.options:
        assert option.exp_epsilon == largest.bind(n=2, **dict(option.values)).privacy().exp_epsilon


def test_an_unknown_besides() -> None:
    """For every choice the best value of the unknown, as the question with one unknown has it, and the best of all."""
    question = {"exp_epsilon": 4, "best": "utility", "measure": "squared error"}
    found = asked(counted, question, n=2, ratio="?[1/100,1/2]", order="?{first,last}")
    for option in found.options:
        alone = counted.bind(n=2, ratio="?[1/100,1/2]", order=dict(option.values)["order"]).solve(**question)
        assert (option.holds, option.best) == (alone.holds, alone.best)
        start = alone.holds[0].start.value
        error = max(
            worst.value
            for worst in counted.bind(n=2, ratio=start, order=dict(option.values)["order"]).utility().measures
            if worst.measure == "expected squared error"
        )
        assert (alone.best.at.value, option.value) == (start, error)
    assert [dict(option.values) for option in found.best] == [{"order": "last"}]


@pytest.mark.parametrize(("measure", "sign"), [(None, 1), ("absolute-error", -1)])
def test_the_best_choice_as_a_function_of_the_unknown(measure: str | None, sign: int) -> None:
    """On a grid, the piece has the largest of the values of all choices."""
    shares = ["1/8", "1/4", "1/2"]
    question = {"best": "utility", "measure": measure}
    found = asked(promised, question, n=1, eps="?[1/2,6]", share="?{" + ",".join(shares) + "}")
    assert found.pieces[0].start.value == F(1, 2)
    assert found.pieces[-1].stop.value == 6
    for eps in (F(1, 2), F(3, 2), F(3), F(11, 2), F(6)):
        part = found.part(eps)
        assert part is not None
        name = "right answer" if measure is None else "expected absolute error"
        values = {share: promised.bind(n=1, eps=eps, share=share).utility().value(name) for share in shares}
        best = max(sign * float(value) for value in values.values())
        assert sign * float(values[str(dict(found.chosen(part))["share"])]) == pytest.approx(best)


SPLITS: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    ("above_threshold", {"n": 2, "threshold": 1}, {"base": "9/10", "parts": 10}, 5),
    ("sparse_vector", {"n": 3, "threshold": 1, "cutoff": 2}, {"base": "9/10", "parts": 7}, 2),
    ("numeric_above_threshold", {"n": 2, "threshold": 1}, {"base": "9/10", "parts": 9}, 8),
    ("select_and_count", {"n": 3}, {"base": "4/5", "parts": 8}, 4),
    ("two_levels", {"n": 4}, {"base": "4/5", "parts": 9}, 4),
]
"""Mechanisms with parameters, and the share of the first step that was published."""


@pytest.mark.parametrize("split", SPLITS if FULL else SPLITS[:1], ids=lambda split: split[0])
def test_published_splits(split: tuple[str, dict[str, Any], dict[str, Any], int]) -> None:
    """Every value is that of code that shares nothing, and the page has the published split beside the best one."""
    name, size, budget, published = split
    program = getattr(import_module("programs.splits"), name)
    shares = range(1, budget["parts"])
    found = asked(program, {"best": "utility"}, **size, **budget, share="?{" + ",".join(map(str, shares)) + "}")
    for option in found.options:
        share = dict(option.values)["share"]
        ratio, value = split_oracle.both(name, size["n"], float(F(budget["base"])), share, budget["parts"])
        assert float(option.exp_epsilon) == pytest.approx(ratio, rel=1e-7)
        assert float(option.value) == pytest.approx(value, rel=1e-7)
    ours = found.options[published - 1]
    best = max(found.options, key=lambda option: option.value)
    numbers = [f"{float(each):.4f}" for option in (ours, best) for each in (option.exp_epsilon, option.value)]
    parts, other = budget["parts"], dict(best.values)["share"]
    cells = [f"{published}/{parts}", *numbers[:2], f"{other}/{parts}", *numbers[2:]]
    assert f"| {' | '.join(cells)} |" in PAGE.read_text(encoding="utf-8")


SAME_COST = [(4, 9), (4, 6), (16, 5), (16, 1), (4, 3)]
"""For the same mechanisms a tight e^ε, and the best share at that."""


def at_cost(name: str, n: int, share: int, parts: int, ratio: float) -> tuple[float, float]:
    """The base at which a mechanism has a tight e^ε, which falls with it, and the value there."""
    low, high = 0.05, 0.999
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if split_oracle.both(name, n, middle, share, parts)[0] > ratio else (low, middle)
    return high, split_oracle.both(name, n, high, share, parts)[1]


@pytest.mark.slow(seconds=27)
@pytest.mark.parametrize("at", range(len(SPLITS)), ids=lambda at: SPLITS[at][0])
def test_published_splits_at_the_same_cost(at: int) -> None:
    """The second table of the page, found by bisection in floats alone: the best share is the best of all."""
    (name, size, budget, published), (ratio, best) = SPLITS[at], SAME_COST[at]
    parts = budget["parts"]
    values = {share: at_cost(name, size["n"], share, parts, ratio)[1] for share in range(1, parts)}
    assert max(values, key=lambda share: values[share]) == best
    ours, theirs = (f"{each}/{parts} | {values[each]:.4f}" for each in (published, best))
    assert f" | {ratio} | {ours} | {theirs} |" in PAGE.read_text(encoding="utf-8")


def test_a_split_at_the_same_cost() -> None:
    """The same by the exact question, for a tree of two bits."""
    found = asked(import_module("programs.splits").two_levels, {"best": "utility", "exp_epsilon": 4}, **TREE)
    for option in found.options:
        share = dict(option.values)["share"]
        base, value = at_cost("two_levels", 2, share, 3, 4)
        assert float(option.holds[0].start) == pytest.approx(base, abs=1e-8)
        assert float(option.value[0]) == pytest.approx(value, abs=1e-7)
    assert [dict(option.values)["share"] for option in found.best] == [2]


TREE: dict[str, Any] = {"n": 2, "base": "?", "parts": 3, "share": "?{1,2}"}


def test_bad_questions() -> None:
    instance = counted.bind(n=2, ratio="?{1/4,1/3}", order="last")
    with pytest.raises(ParameterError, match="neither a claim nor what is best"):
        instance.solve()
    with pytest.raises(ParameterError, match="there is no measure 'median'"):
        instance.solve(best="utility", measure="median")
    with pytest.raises(ParameterError, match="without an alpha"):
        instance.solve(best="accuracy")
    for question in ("privacy", "utility", "report", "sweep", "explain", "curve"):
        with pytest.raises(QueryError, match="while ratio is to be chosen"):
            getattr(instance, question)(*[{"n": [1]}] * (question == "sweep"))
    for wrong, match in (
        ("?{1}", "not a choice between several"),
        ("?{1,?}", "not a choice"),
        ("?{1,2", "not a choice"),
        (f"?{{[{'1' * 5000}],2}}", "not an array"),
    ):
        with pytest.raises(ParameterError, match=match):
            counted.bind(n=2, ratio=wrong, order="last")
    with pytest.raises(QueryError, match="n = all with ratio to be chosen"):
        counted.bind(n="all", ratio="?{1/4,1/3}", order="last")
    with pytest.raises(ParameterError, match="2 parameters are unknown"):
        promised.bind(n=2, eps="?", share="?")
    numbers = ",".join(f"1/{k}" for k in range(2, 1200))
    many = counted.bind(n=1, ratio="?{" + numbers + "}", order="last")
    with pytest.raises(ParameterError, match="ways to choose"):
        many.solve(exp_epsilon=2)


def test_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = [
        "solve",
        "programs/splits.py:two_levels",
        "n=2",
        "base=1/2",
        "parts=3",
        "share=?{1,2}",
        "--best",
        "utility",
    ]
    status, out, _ = run(capsys, *words, "--exp-epsilon", "8", "--json")
    assert status == 0
    result = json.loads(out)["result"]
    assert [option["holds"] for option in result["options"]] == [True, True]
    assert result["best"] == [{"share": 2}]
    status, out, _ = run(capsys, *words[:-2], "--exp-epsilon", "2")
    assert (status, out.count(" no ")) == (0, 2)
    words[2:6] = ["n=8", "base=1/2", "parts=9", "share=?{1,2,3,4,5,6}"]
    status, out, _ = run(capsys, *words, "--timeout", "0.01")
    assert status == 3


def test_a_claim_that_is_not_decided_makes_no_choice_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is known to hold is chosen from."""
    verify = Instance.verify

    def cautious(self: Instance, **claims: Any) -> Any:
        found = verify(self, **claims)
        undecided = tuple(replace(each, holds=None) for each in found.claims)
        return replace(found, claims=undecided) if self.bound.parameters["ratio"] == F(1, 4) else found

    monkeypatch.setattr(Instance, "verify", cautious)
    question = {"best": "accuracy", "alpha": 0, "exp_epsilon": 4}
    found = asked(counted, question, n=1, ratio="?{1/4,1/3}", order="last")
    assert [option.holds for option in found.options] == [None, True]
    assert [dict(option.values)["ratio"] for option in found.best] == [F(1, 3)]
