"""Python and the command line offer the same: options have arguments, arguments have options, and answers agree."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest

import tightdp
from command_line import run
from expectations import mechanisms
from thinned import thinned
from tightdp.cli.main import COMMANDS, _parser
from tightdp.results.result import Result

Ask = Callable[[tightdp.Instance], Result]

ROWS: list[tuple[str, Ask]] = [
    ("privacy", lambda i: i.privacy()),
    ("privacy --delta 1/10", lambda i: i.privacy(delta="1/10")),
    ("privacy --top 2", lambda i: i.privacy(top=2)),
    ("privacy --epsilon 1", lambda i: i.delta(epsilon=1)),
    ("privacy --exp-epsilon 2", lambda i: i.delta(exp_epsilon=2)),
    ("privacy --curve", lambda i: i.curve()),
    ("privacy --tradeoff", lambda i: i.tradeoff()),
    ("privacy --renyi 2", lambda i: i.renyi(2)),
    ("privacy --zcdp", lambda i: i.zcdp()),
    ("privacy --runs 2", lambda i: i.privacy_loss().compose(2).epsilon()),
    ("accuracy --alpha 1", lambda i: i.accuracy(1)),
    ("accuracy --beta 1/10 --top 1", lambda i: i.accuracy(beta="1/10", top=1)),
    ("accuracy --alpha 1/2 --relative", lambda i: i.accuracy("1/2", relative=True)),
    ("utility", lambda i: i.utility()),
    ("optimum --exp-epsilon 4 --alpha 1", lambda i: i.optimum(exp_epsilon=4, alpha=1)),
    (
        "optimum --epsilon 1 --delta 1/9 --measure squared-error --target max",
        lambda i: i.optimum(epsilon=1, delta="1/9", measure="squared-error", target="max"),
    ),
    ("efficacy", lambda i: i.efficacy()),
    (
        "efficacy --guesses 1 --pairs [[0,1],[1,0]] --adaptive",
        lambda i: i.efficacy(1, [(0, 1), (1, 0)], adaptive=True),
    ),
    (
        "guessing --guesser certain --pairs [[0,1],[1,0]] --delta 1/9",
        lambda i: i.guessing("certain", pairs=[(0, 1), (1, 0)], delta="1/9"),
    ),
    ("guessing --pairs best", lambda i: i.guessing(pairs="best")),
    (
        "guessing --adaptive --order [1,0] --threshold 3/4 --delta 1/9",
        lambda i: i.adaptive_guessing("3/4", order=[1, 0], delta="1/9"),
    ),
    (
        "guessing --runs 2 --x [0,1] --x-prime [0,0]",
        lambda i: i.classic_guessing(2, x=(0, 1), x_prime=(0, 0)),
    ),
    (
        "canaries --rule steinke --share 1/3 --power 3/4 --significance 1/10 --guesser all --at-most 8",
        lambda i: tightdp.canaries_needed(
            i, "steinke", share="1/3", power="3/4", significance="1/10", guesser="all", at_most=8
        ),
    ),
    (
        "canaries --epsilon 1/9 --delta 1/99 --at-most 4 --pair [1,0]",
        lambda i: tightdp.canaries_needed(i, epsilon="1/9", delta="1/99", at_most=4, pairs=lambda n: [(1, 0)] * n),
    ),
    ("distribution --input [0,1]", lambda i: i.distribution((0, 1))),
    ("likelihood --x [0,1] --x-prime [1,1]", lambda i: i.likelihood((0, 1), (1, 1))),
    ("failure", lambda i: i.failure()),
    ("failure --input [0,1]", lambda i: i.failure((0, 1))),
    ("verify --epsilon 1", lambda i: i.verify(epsilon=1)),
    (
        "verify --exp-epsilon 2 --delta 1/9 --alpha 1 --beta 1/9",
        lambda i: i.verify(exp_epsilon=2, delta="1/9", alpha=1, beta="1/9"),
    ),
    (
        "solve lam=? --epsilon 1 --delta 1/9 --alpha 1 --beta 1/9",
        lambda i: i.solve(epsilon=1, delta="1/9", alpha=1, beta="1/9"),
    ),
    (
        "solve lam=? --exp-epsilon 2 --alpha 1 --best accuracy",
        lambda i: i.solve(exp_epsilon=2, alpha=1, best="accuracy"),
    ),
    (
        "solve lam=? --exp-epsilon 2 --best utility --measure squared-error",
        lambda i: i.solve(exp_epsilon=2, best="utility", measure="squared-error"),
    ),
    ("sweep n=1..2 --delta 1/9", lambda i: i.sweep({"n": [1, 2]}, delta="1/9")),
    ("sweep n=1..2 --exp-epsilon 2", lambda i: i.sweep({"n": [1, 2]}, exp_epsilon=2)),
    ("sweep n=1..2 --epsilon 2", lambda i: i.sweep({"n": [1, 2]}, epsilon=2)),
    ("sweep n=1..2 --alpha 1", lambda i: i.sweep({"n": [1, 2]}, alpha=1)),
    ("sweep n=1..2 --optimum --alpha 1", lambda i: i.sweep({"n": [1, 2]}, optimum=True, alpha=1)),
    (
        "sweep n=1..2 --optimum --measure squared-error",
        lambda i: i.sweep({"n": [1, 2]}, optimum=True, measure="squared-error"),
    ),
    ("sweep n=1..2 --beta 1/9", lambda i: i.sweep({"n": [1, 2]}, beta="1/9")),
    (
        "sweep lam=1/4,1/5 --efficacy --guesses 1 --pairs best",
        lambda i: i.sweep({"lam": ["1/4", "1/5"]}, efficacy=True, guesses=1, pairs="best"),
    ),
    ("explain --epsilon 1", lambda i: i.explain(epsilon=1)),
    ("explain --exp-epsilon 2 --delta 1/9", lambda i: i.explain(exp_epsilon=2, delta="1/9")),
    ("show", lambda i: i.show()),
    ("show --input [0,1]", lambda i: i.show((0, 1))),
    ("sample --input [0,1] --size 5 --seed 3", lambda i: i.sample((0, 1), size=5, seed=3)),
    ("report --alpha 2", lambda i: i.report(alpha=2)),
]

BINDING = {
    "--neighbours",
    "--strategy",
    "--floats",
    "--with-rounds",
    "--with-bits",
    "--timeout",
    "--max-nodes",
    "--max-memory",
    "--method",
    "--precision",
    "--backend",
}
"""Options that `bind` has as arguments."""
OTHERWISE = {
    "--help": "help(...)",
    "--record": "of(..., record=)",
    "--of": "of(..., arguments=)",
    "--dataset": "of(..., dataset=)",
    "--source": "of(..., source=)",
    "--catch": "of(..., catch=)",
    "--json": "to_dict()",
    "--output": "report().html(), certify().text",
    "--csv": "sweep(...).csv()",
    "--plot": "plot() of the result",
    "--beside": "plot(beside=)",
    "--x": "plot(x=), an argument of likelihood",
    "--linear": "plot(log_delta=False)",
    "--log-delta": "plot(log_delta=True)",
    "--jobs": "sweep(jobs=)",
    "--dask": "a Python program chooses its own processes",
    "--dot": "show().dot()",
    "--svg": "show().svg()",
    "--core": "core()",
    "--size": "show().size",
    "--canaries": "audit(canaries=, tradeoff=)",
    "--correct": "audit(correct=, tradeoff=)",
}
"""Options that are a method of the result, or of the instance."""
APART = {
    "certify": "tests/session/test_certify.py",
    "check": "a program of its own, proofs/checker.py",
    "audit": "tightdp.audit, tests/auditing/test_public.py",
    "schema": "files that ship with the package",
    "programs": "files that ship with the package",
    "claims": "no question about an instance",
    "figures": "no question about an instance",
}
PYTHON_ONLY = {
    "privacy_set": "sets are made by programs",
    "inference_set": "sets are made by programs",
    "accuracy_set": "sets are made by programs",
    "patience": "a program's own limit",
    "over": "KEY=RANGE",
    "claims": "the options of solve",
    "rule": "a name, or a function",
}
"""Arguments without an option of the name."""


def commands(words: str) -> list[str]:
    name, *rest = words.split()
    swept = {word.partition("=")[0] for word in rest if "=" in word}
    fixed = [f"{key}={value}" for key, value in (("n", "2"), ("lam", "1/5")) if key not in swept]
    if name in ("canaries", "distribution", "likelihood", "sample"):
        fixed = ["lam=1/5"]
    return [name, "randomized_response_count", *fixed, *rest, "--json"]


def without_cost(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {key: without_cost(value) for key, value in answer.items() if key not in ("stats", "seconds", "cost")}
    return [without_cost(value) for value in answer] if isinstance(answer, list) else answer


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("words", "ask"), thinned(ROWS, 2), ids=[words for words, _ in ROWS])
def test_the_answers_agree(words: str, ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    lam = "?" if "lam=?" in words else "1/5"
    instance = mechanisms("randomized_response_count")["randomized_response_count"].bind(n=2, lam=lam)
    status, out, err = run(capsys, *commands(words))
    assert status in (0, 1, 3), err
    asked = json.loads(json.dumps(ask(instance).to_dict()))
    answered = json.loads(out)
    if words.startswith(("canaries", "report")):  # n is found, not given; a page says what it cost
        asked.pop("parameters"), answered.pop("parameters")
    assert without_cost(answered) == without_cost(asked)


def test_a_table_of_sizes_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, *commands("sweep n=1..2 --size"))
    rows = json.loads(out)["result"]["rows"]
    assert (status, [row["result"]["input_bits"] for row in rows]) == (0, [1, 2])


def test_what_is_no_query_has_the_version_of_the_format_too(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "programs", "--json")
    listed = json.loads(out)
    assert (status, listed["schema"], listed["query"]) == (0, 2, "programs")
    assert {"name", "mechanisms", "summary"} == set(listed["programs"][0])


def options(command: str) -> set[str]:
    return {name for action in _parser(command)._actions for name in action.option_strings if name.startswith("--")}


@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in APART])
def test_every_option_of_the_command_line_is_in_python(command: str) -> None:
    used = {word for words, _ in ROWS if words.split()[0] == command for word in words.split() if word[:2] == "--"}
    assert any(words.split()[0] == command for words, _ in ROWS), f"no row asks {command}"
    assert options(command) - used - BINDING - set(OTHERWISE) == set()


def test_what_binds_is_the_same() -> None:
    names = {name.removeprefix("--").replace("-", "_") for name in BINDING}
    assert names <= set(inspect.signature(tightdp.Mechanism.bind).parameters)


def test_every_question_of_python_is_on_the_command_line() -> None:
    source = inspect.getsource(inspect.getmodule(test_the_answers_agree))  # type: ignore[arg-type]
    known = {name.removeprefix("--").replace("-", "_") for command in COMMANDS for name in options(command)}
    elsewhere = {"forget", "on", "epsilon", "probability", "certify", "core"}  # the same answers under another name
    for name, method in inspect.getmembers(tightdp.Instance, inspect.isfunction):
        if name.startswith("_") or name in elsewhere:
            continue
        assert f"i.{name}(" in source, f"no row asks Instance.{name}"
        for parameter in inspect.signature(method).parameters:
            asked = parameter in known or parameter in PYTHON_ONLY
            assert asked or parameter in ("self", "x", "order", "runs"), f"{name}({parameter}=...)"
