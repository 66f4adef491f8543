"""Constants that a module computes with exp are exact, however Python computed them."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import pytest

from agreement import module_of
from tightdp.errors import ProgramError
from tightdp.exact.field import exp
from tightdp.language import interp
from tightdp.language.domains import Int
from tightdp.language.program import Program
from tightdp.methods.compiled import compile_dataset
from tightdp.symmetry.sets import DiagramTable

THIRD = 1 / (1 + exp(F(1, 2)))

WRITTEN = [
    ("Q = 1 / (1 + exp(1 / 2))", THIRD),
    ("Q = 1 / (1 + math.exp(0.5))", THIRD),
    ("E = 0.5\nQ = 1 / (1 + exp(E))", THIRD),
    ("E = Fraction(1, 2)\nR = exp(-E)\nQ = R / (R + 1)", THIRD),
    ("Q: float = exp(-1) ** 2", exp(-2)),
    ("Q = 1 / 8", F(1, 8)),
]


def both(module: Any, x: tuple[int, ...] = (0,)) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """The laws of the interpreter and of the compiler."""
    bound = Program(module.f, Int(0, 1)).bind(1)
    return interp.law(bound, x), DiagramTable(bound, compile_dataset(bound, x)).law(x)


@pytest.mark.parametrize(("source", "meant"), WRITTEN)
def test_constants_are_what_the_module_writes(source: str, meant: Any) -> None:
    with module_of(f"{source}\n\n\ndef f(x):\n    return flip(Q)\n") as module:
        for law in both(module):
            assert law[True] == meant


@pytest.mark.parametrize("extra", ["Q = 0.25", "Q += 0", "def g():\n    global Q\n"])
def test_a_constant_that_is_assigned_twice_is_the_float_that_it_is(extra: str) -> None:
    with module_of(f"Q = exp(-1)\n{extra}\n\n\ndef f(x):\n    return flip(Q)\n") as module:
        laws = both(module)
        assert laws[0] == laws[1]
        assert laws[0][True] == F(repr(module.Q))


def test_weights_in_a_list_and_defaults_of_parameters() -> None:
    source = (
        "W = [1.0, exp(-1)]\n\n\ndef f(x, lam=1 / (1 + exp(2))):\n    return choice((0, 1), weights=W), flip(lam)\n"
    )
    with module_of(source) as module:
        for law in both(module):
            assert law[0, True] == 1 / (1 + exp(-1)) / (1 + exp(2))


def test_run_as_python_exp_is_the_nearest_float() -> None:
    with module_of("Q = exp(1)\n\n\ndef f(x):\n    return x[0]\n") as module:
        assert type(module.Q) is float
        assert math.e == module.Q


@pytest.mark.parametrize(
    ("written", "message"), [("exp(exp(x[0]))", "no number with e"), ("exp(-20000 - x[0])", "out of reach")]
)
def test_exponentials_that_are_refused_name_the_place(written: str, message: str) -> None:
    with module_of(f"def f(x):\n    return flip({written})\n") as module:
        bound = Program(module.f, Int(1, 2)).bind(1)
        with pytest.raises(ProgramError, match=message) as caught:
            compile_dataset(bound, (1,))
        assert caught.value.span is not None
        assert "exp" in caught.value.span.text
        with pytest.raises(ProgramError, match=message):
            interp.law(bound, (1,))
