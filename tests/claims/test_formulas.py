"""Formulas of statements: what is printed is what is evaluated."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tightdp.claims import exp, log
from tightdp.claims.formula import failing, plain, read
from tightdp.claims.sentences import OutsideError, formulas, judged
from tightdp.errors import ParameterError

VALUES: dict[str, Any] = {
    "E_n": Fraction(3, 4),
    "e^ε": Fraction(3),
    "ε": log(3),
    "n": 4,
    "P(|O - c| <= α)": Fraction(1, 2),
    "δ": Fraction(1, 10),
}


def wrong(text: str, values: dict[str, Any]) -> tuple[str, Any, Any] | None:
    """The first relation of a text that does not hold."""
    return failing(read(text, frozenset(values)), values)


@pytest.mark.parametrize(
    "text",
    [
        "E_n = e^ε/(1 + e^ε)",
        "2n >= 8, 2(n+1) = 10",
        "P(|O - c| <= α) <= 1/2",
        "|n - 5| = |5 - n| = 1",
        "n^-1 = 1/4 < 0.26",
        "3n² - 2n = 40 ≠ 41",
        "sqrt(n) < 2.01",
        "n > ln(4/δ) > 3.68",
        "e^(2ε) < 9.001",
        "e^-1 < exp(0.001) < 1.01",
        "C(n, 2) = 6 = n!/(2! 2!)",
        "⌊n/3⌋ = 1, ⌈n/3⌉ = 2",
        "max(n, 5) - min(n, 5) = 1",
        "2^(n - 1) = 8",
        "2^sqrt(2) > 2.66",
        "log2(8) > 2.99",
        "1/∞ = 0 < ∞",
        "-n + 5 = 1",
        "n = 4 <=> E_n < 1, δ > 0",
        "n = 5 <=> E_n < 1, δ < 0",
    ],
)
def test_what_holds(text: str) -> None:
    assert wrong(text, VALUES) is None


@pytest.mark.parametrize(
    ("text", "relation", "left", "right"),
    [
        ("E_n = e^ε/(2 + e^ε)", "=", Fraction(3, 4), Fraction(3, 5)),
        ("1 < n < 4", "<", 4, 4),
        ("n = 4, n >= 5", ">=", 4, 5),
        ("1 - 2 - 3 = 2", "=", -4, 2),
        ("2/3·4 = 1/6", "=", Fraction(8, 3), Fraction(1, 6)),
        ("-2^2 = 4", "=", -4, 4),
        ("n = 4 <=> E_n > 1", "<=>", True, False),
        ("n < 4, δ > 0 <=> E_n < 1", "<=>", False, True),
    ],
)
def test_what_does_not(text: str, relation: str, left: Fraction, right: Fraction) -> None:
    assert wrong(text, VALUES) == (relation, left, right)


@pytest.mark.parametrize(
    "text", ["n", "n + = 2", "n = m", "(n = 4", "n = 4)", "n = ", "= 4", "|n - 5 = 1", "n 4 = ; 16"]
)
def test_what_is_no_formula(text: str) -> None:
    with pytest.raises(ParameterError):
        wrong(text, VALUES)


def test_a_name_is_not_found_inside_a_word() -> None:
    assert wrong("ln(n) > 1", VALUES) is None
    with pytest.raises(ParameterError, match="no known name"):
        wrong("np = 4", {**VALUES, "p": Fraction(1)})


def test_a_quantity_may_be_called_e() -> None:
    assert wrong("e = 1/4, e + e^ε = 13/4", {"e": Fraction(1, 4), "e^ε": Fraction(3)}) is None


def test_values_never_become_floats() -> None:
    assert wrong("1/3 + 1/6 = 1/2, 0.1 + 0.2 = 0.3, n/3 = 4/3", VALUES) is None
    assert wrong("e^ε < 3 + 10^-40", {"ε": log(3)}) is None
    assert wrong("x < 2.72", {"x": exp(1)}) is None


def test_a_formula_is_written_as_it_may_be_read() -> None:
    for text in ("2n >= (n - 1)^2·3/4", "max(n, -n) = |n|, C(n, 2) + ⌊n/2⌋ < e^(n + 1)", "n!/2 ≠ ∞"):
        formula = read(text, frozenset(["n"]))
        again = ", ".join(map(plain, formula))
        assert read(again, frozenset(["n"])) == formula


def test_conditions_and_assertions_of_a_statement() -> None:
    statement = "For `n >= 2` and every `m > 0`: `E = 1/n`, with `q = 1`; so `E < 1`."
    assert formulas(statement) == [
        (True, "n >= 2"),
        (False, "m > 0"),
        (False, "E = 1/n"),
        (True, "q = 1"),
        (False, "E < 1"),
    ]
    values = ({"E": Fraction(1, 3), "q": 1, "m": 1},)
    assert judged(statement, "", values, {"n": 3}) is None
    failed = judged(statement, "", values, {"n": 2})
    assert failed is not None
    assert failed[0] == "`E = 1/n` fails: 1/3 = 1/2 does not hold."
    with pytest.raises(OutsideError, match="lies outside"):
        judged(statement, "", values, {"n": 1})


def test_an_equivalence_stands_between_two_formulas() -> None:
    statement = "If `n > 0` then `E = 1` if and only if `n = 1`."
    assert formulas(statement) == [(True, "n > 0"), (False, "E = 1 <=> n = 1")]
    assert judged(statement, "", ({"E": 1},), {"n": 1}) is None
    assert judged(statement, "", ({"E": 2},), {"n": 3}) is None
    failed = judged(statement, "", ({"E": 1},), {"n": 3})
    assert failed is not None
    assert failed[0] == "`E = 1 if and only if n = 1` fails: the first holds, the other does not."


def test_greek_letters_of_the_instance() -> None:
    instance = {"lam": Fraction(1, 4), "t": Fraction(3), "delta": Fraction(0), "word": "x"}
    assert judged("`λ = 1/4, e^ε = 3, δ = 0`", "λ < 1; e^ε > 1", ({},), instance) is None
