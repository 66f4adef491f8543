"""Every interactive program has the answers and strategies recorded beside it, and every strategy was tried."""

from __future__ import annotations

import ast
import importlib.util
import math
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from expectations import number
from strategies_oracle import excess, largest, questions, ratio
from tightdp import Mechanism
from tightdp.session.instance import Instance

PROGRAMS = Path(__file__).parent.parent / "programs" / "interactive"
FEW, SOME = 27, 512
"""So many strategies are tried in a quick test, and in a long one; each is a run of the interpreter per dataset."""


@cache
def program(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"interactive_{name}", PROGRAMS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))
RECORDED = [(name, expected) for name in NAMES for expected in program(name).EXPECTED]
LABELS = [f"{expected['mechanism']}-n={expected['parameters']['n']}" for _, expected in RECORDED]


def instance(name: str, expected: dict[str, Any], **more: Any) -> Instance:
    made: Mechanism = getattr(program(name), expected["mechanism"])
    return made.bind(**expected["parameters"], **more)


def moves(witness: Any) -> list[tuple[Any, Any]]:
    return [(move.history, move.answer) for first in witness.strategy.moves for _, move in first.with_depth()]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "expected"), RECORDED, ids=LABELS)
def test_answers_and_strategies(name: str, expected: dict[str, Any]) -> None:
    asked = instance(name, expected)
    tight, at = asked.privacy(), asked.delta(exp_epsilon=2)
    value = math.inf if expected["exp_epsilon"] == "inf" else Fraction(expected["exp_epsilon"])
    assert (tight.status, tight.exp_epsilon) == ("exact", value)
    assert number(asked.certify().content["claim"]["bound"]) == value
    assert moves(tight.witness) == expected["strategy"]
    assert at.delta == Fraction(expected["delta"])
    assert (moves(at.witness) if at.witness else []) == expected["strategy_at_2"]
    played = instance(name, expected, strategy=tight.witness.strategy)  # type: ignore[union-attr]
    assert played.privacy().exp_epsilon == tight.exp_epsilon


@pytest.mark.slow(seconds=90)
@pytest.mark.parametrize(("name", "expected"), RECORDED, ids=LABELS)
def test_every_strategy(name: str, expected: dict[str, Any]) -> None:
    bound = instance(name, expected).bound
    if bound.n > 1 or math.prod(questions(bound).values()) > SOME:
        pytest.skip("too many strategies and runs to try one by one")
    assert_largest(name, expected)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "private_multiplicative_weights"])
def test_every_strategy_of_the_smallest(name: str) -> None:
    expected = program(name).EXPECTED[0]
    if math.prod(questions(instance(name, expected).bound).values()) > FEW:
        pytest.skip("tried in the long test")
    assert_largest(name, expected)


def assert_largest(name: str, expected: dict[str, Any]) -> None:
    bound = instance(name, expected).bound
    wanted = expected["exp_epsilon"]
    assert largest(bound, ratio) == (math.inf if wanted == "inf" else Fraction(wanted))
    assert largest(bound, excess(Fraction(2))) == Fraction(expected["delta"])


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_plain_and_runs(name: str) -> None:
    tree = ast.parse((PROGRAMS / f"{name}.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert all(isinstance(node, ast.ImportFrom) and node.module in ("tightdp", "fractions") for node in imports)
    assert "Source:" in (ast.get_docstring(tree) or "")
    assert "Parameters:" in (ast.get_docstring(tree) or "")
    for expected in program(name).EXPECTED:
        asked = instance(name, expected)
        x = (asked.bound.record.values[-1],) * asked.n
        own = instance(name, expected, strategy=asked.bound.program.strategy)
        law = dict(own.distribution(x).law)
        assert set(asked.sample(x, size=20, seed=3).outputs) <= law.keys()


def test_the_table_lists_every_program() -> None:
    table = (PROGRAMS.parent / "README.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"(interactive/{name}.py)" not in table] == []
