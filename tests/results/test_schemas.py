"""The JSON Schemas that ship with the package: what the classes of answers list, and what real answers keep.

TIGHTDP_UPDATE_GOLDEN=1 writes the schemas anew: read the difference then, and whether SCHEMA has to grow.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import json_schemas
from answered import LEAK, RESPONSE, TOTAL, one_flip, response, stopped_after, total
from command_line import run
from tightdp import Instance, audit, canaries_needed, flip, laplace, mechanism, validity
from tightdp.cli.targets import UsageError
from tightdp.core.unmerged import Endless
from tightdp.errors import LanguageError, LimitError, ProgramError, Span
from tightdp.limits import Abandoned
from tightdp.results.answers import Unknown
from tightdp.session.files import builtin_schemas

SCHEMAS = json_schemas.schemas()
FOLDER = Path(json_schemas.tightdp.results.__path__[0]).parent / "schemas"


def strict(schema: Any) -> Any:
    """The schema without room for keys that are not listed."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(each) for key, each in schema.items()}
    return {"additionalProperties": False, **found} if "properties" in found else found


VALIDATORS = {name: Draft202012Validator(strict(schema)) for name, schema in SCHEMAS.items()}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_that_ship_say_what_the_classes_list(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    text = json.dumps(SCHEMAS[name], indent=1, ensure_ascii=False) + "\n"
    if "TIGHTDP_UPDATE_GOLDEN" in os.environ:
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
    assert builtin_schemas()[name].read_text(encoding="utf-8") == text


def test_every_schema_that_ships_is_of_a_query() -> None:
    assert set(builtin_schemas()) == set(SCHEMAS)


@mechanism(target=sum)
def chosen(x: Any, lam: Any, k: Any) -> Any:
    return x[0] ^ any(flip(lam) for _ in range(k))


@mechanism
def noisy(x: Any, scale: Any) -> Any:
    return laplace(x[0], scale) > 1


def slow() -> Instance:
    return stopped_after(response.bind(n=4, lam="1/5", neighbours=one_flip), 2)


def counted() -> Instance:
    return stopped_after(total.bind(n=8, lam="1/5", method="exhaustive"), 2)


UNKNOWN = total.bind(n=2, lam="?")
EVERY = total.bind(n="all", lam="1/5")

OF_EVERY_N: list[Callable[[Any], Any]] = [
    lambda every: every.privacy(delta="1/10"),
    lambda every: every.delta(exp_epsilon=2),
    lambda every: every.curve(),
    lambda every: every.tradeoff(),
    lambda every: every.renyi(2),
    lambda every: every.zcdp(),
    lambda every: every.verify(epsilon=1, delta="1/10"),
]

ANSWERS: list[Callable[[], Any]] = [
    lambda: RESPONSE.privacy(top=3),
    lambda: response.bind(n=1, lam=0).privacy(),
    lambda: slow().privacy(),
    lambda: slow().privacy(delta="1/10"),
    lambda: slow().delta(exp_epsilon=2),
    lambda: slow().curve(),
    lambda: slow().tradeoff(),
    lambda: slow().verify(exp_epsilon=4),
    lambda: counted().accuracy(beta="1/10"),
    lambda: counted().accuracy(1),
    lambda: LEAK.privacy(),
    lambda: LEAK.curve(),
    lambda: LEAK.likelihood((0, 0), (0, 1)),
    lambda: RESPONSE.delta(epsilon="0.1234567891234"),
    lambda: RESPONSE.tradeoff(),
    lambda: RESPONSE.renyi("3/2"),
    lambda: RESPONSE.renyi("inf"),
    lambda: RESPONSE.zcdp(),
    lambda: RESPONSE.privacy_loss().compose(2),
    lambda: RESPONSE.privacy_loss().compose(2).curve(),
    lambda: noisy.bind(n=1, scale=2).privacy(),
    lambda: TOTAL.accuracy(1, relative=True),
    lambda: TOTAL.utility(),
    lambda: TOTAL.optimum(epsilon=1, alpha=1),
    lambda: TOTAL.efficacy(adaptive=True),
    lambda: TOTAL.guessing(),
    lambda: TOTAL.guessing().reported("optimal"),
    lambda: canaries_needed(TOTAL, at_most=4),
    lambda: TOTAL.distribution((0,) * 8),
    lambda: RESPONSE.failure(),
    lambda: TOTAL.verify(epsilon=1, alpha=1, beta="1/10"),
    lambda: TOTAL.sweep({"n": [1, 2]}),
    lambda: RESPONSE.explain(epsilon=1),
    lambda: RESPONSE.explain(),
    lambda: RESPONSE.show(),
    lambda: RESPONSE.show().size,
    lambda: RESPONSE.sample((0, 1), seed=1),
    lambda: RESPONSE.report(),
    lambda: audit(canaries=9, guesses=9, correct=9, epsilon=1),
    lambda: validity("steinke", games=[(3, 2)]),
    lambda: UNKNOWN.privacy(),
    lambda: UNKNOWN.accuracy(1),
    lambda: UNKNOWN.distribution((0, 1)),
    lambda: UNKNOWN.efficacy(1),
    lambda: UNKNOWN.guessing(),
    lambda: UNKNOWN.solve(epsilon=1, alpha=1, best="accuracy"),
    lambda: UNKNOWN.solve(epsilon=1, best="utility"),
    lambda: total.bind(n=2, lam="?{1/5,1/4}").solve(epsilon=1, alpha=1, best="accuracy"),
    lambda: chosen.bind(n=1, lam="?[1/5,1/4]", k="?{1,2}").solve(best="utility"),
    lambda: EVERY.privacy(),
    lambda: EVERY.verify(exp_epsilon=5),
    *(lambda ask=ask: ask(EVERY) for ask in OF_EVERY_N),
    lambda: total.bind(n="all", lam="?[0,1/2]").privacy(),
    lambda: Unknown(subject=TOTAL.subject, status="unresolved", reason="it took too long", name="utility"),
]


@cache
def asked(number: int) -> Any:
    """One of the answers, which is found once."""
    return ANSWERS[number]()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("number", range(len(ANSWERS)))
def test_answers_keep_their_schemas(number: int) -> None:
    answer = json.loads(json.dumps(asked(number).to_dict(), allow_nan=False))
    VALIDATORS[answer["query"]].validate(answer)


def test_every_class_of_answers_is_asked_about() -> None:
    """So that a new one is asked about too."""
    seen = {type(asked(number)) for number in range(len(ANSWERS))}
    assert {kind for kinds in json_schemas.by_query().values() for kind in kinds} - seen == set()


def test_null_is_not_known_and_inf_is() -> None:
    cut = slow().privacy().to_dict()["result"]
    assert (cut["exp_epsilon"], cut["epsilon"], cut["upper"], cut["lower"]) == (None, None, None, "4")
    infinite = response.bind(n=1, lam=0).privacy().to_dict()
    assert (infinite["status"], infinite["result"]["exp_epsilon"], infinite["result"]["epsilon"]) == (
        "exact",
        "inf",
        "inf",
    )
    accuracy = counted().accuracy(beta="1/10").to_dict()["result"]
    assert accuracy["alpha"] is accuracy["upper"] is None or accuracy["alpha"] == accuracy["upper"]


@pytest.mark.parametrize("ask", OF_EVERY_N)
def test_answers_for_every_n_say_how_they_are_proved(ask: Callable[[Any], Any]) -> None:
    found = ask(EVERY).to_dict()["result"]
    assert found.keys() >= {"lower", "upper", "n", "attained", "proof"}
    assert (found["n"], found["proof"]) == (1, "one record")


def test_costs_are_those_of_the_question() -> None:
    assert "stats" not in RESPONSE.sample((0, 1)).to_dict()
    assert "accuracy_set" not in TOTAL.privacy().to_dict()["stats"]
    assert "accuracy_set" in TOTAL.accuracy(1).to_dict()["stats"]
    assert "privacy_set" not in TOTAL.accuracy(1).to_dict()["stats"]
    assert "nodes" not in RESPONSE.failure().to_dict()["stats"]


@pytest.mark.parametrize(
    "error",
    [
        LanguageError("what", "hint", Span("f.py", 3, 1, 4, "x = 1")),
        ProgramError("what", "hint", None, (0, 1)),
        LimitError("what", "hint"),
    ],
)
def test_errors_keep_their_schema(error: Any) -> None:
    VALIDATORS["error"].validate({"schema": 2, "tightdp": "0", "error": error.to_dict()})


MISTAKES = [
    ("privacy nowhere n=2", 2, "ParameterError"),
    ("privacy mechanism.py n=2 lam=1/5 --epsilonn 1", 2, "UsageError"),
    ("privacy mechanism.py n=2", 2, "ParameterError"),
    ("accuracy mechanism.py n=2 lam=1/5 --alpha 1", 2, "QueryError"),
    ("privacy mechanism.py:fails n=1", 2, "ProgramError"),
    ("audit --canaries 3", 2, "UsageError"),
    ("schema nothing", 2, ""),
]
FILE = """
from tightdp import flip, mechanism

@mechanism
def f(x, lam):
    return tuple(b ^ flip(lam) for b in x)

@mechanism
def fails(x):
    assert x[0]
    return 0
"""


@pytest.mark.parametrize(("words", "status", "kind"), MISTAKES)
def test_errors_are_json_where_an_answer_would_be(
    words: str,
    status: int,
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mechanism.py").write_text(FILE, encoding="utf-8")
    words = words.replace("mechanism.py n", "mechanism.py:f n")
    found, printed, said = run(capsys, *words.split(), *(["--json"] if kind else []))
    assert found == status
    assert said
    if kind:
        answer = json.loads(printed)
        VALIDATORS["error"].validate(answer)
        assert answer["error"]["kind"] == kind
        assert said.startswith(answer["error"]["what"]) or "place" in answer["error"]


def test_schemas_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "schema")[1].split() == sorted(SCHEMAS)
    assert json.loads(run(capsys, "schema", "privacy")[1]) == SCHEMAS["privacy"]
    assert "did you mean privacy?" in run(capsys, "schema", "privcy")[2]


def test_the_kind_of_an_error_is_a_class_that_users_know() -> None:
    assert [error("what").to_dict()["kind"] for error in (Abandoned, LimitError, UsageError)] == [
        "LimitError",
        "LimitError",
        "UsageError",
    ]
    assert Endless("what", "hint").to_dict()["kind"] == "LanguageError"
