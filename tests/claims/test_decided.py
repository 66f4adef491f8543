"""What is decided covers every quantifier; what is not covered is not decided."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from deciding import outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from tightdp.claims import Exactly, Places, columns, every, largest, least, some, whole
from tightdp.errors import ParameterError

BITS = {"x": (0, 1), "y": (0, 1)}


def decided(*parts: Any, **rest: Any) -> bool | None:
    return Exactly(*parts, **rest).decide().holds


@pytest.mark.parametrize(
    ("statement", "holds"),
    [
        (Exactly(every("0 < x < 1/2"), says=["x/(1 - x) < (1 - x)/x"]), True),
        (Exactly(every("0 < x <= 1/2"), says=["x/(1 - x) < (1 - x)/x"]), False),
        (Exactly(every("x > 0"), every("y > 0"), says=["x² + y² >= 2x y"]), True),
        (Exactly(every("x > 0"), every("y > 0"), says=["x² + y² > 2x y"]), False),
        (Exactly(every("x"), says=["|x| = max(x, -x)"]), True),
        (Exactly(every("x"), says=["max(x, 0) + min(x, 0) = x"]), True),
        (Exactly(every("x"), says=["x/x = 1"]), None),  # it divides by 0
        (Exactly(every("x < 1"), says=["1/(1 - x) > 0"]), True),
        (Exactly(every("x < 1"), every("y"), given=["y <= x"], says=["y < 1"]), True),
        (Exactly(every("p", among=(1, 2, 3)), says=["p² <= 9"]), True),
        (Exactly(every("p", among=(1, 2, 3)), says=["p² < 9"]), False),
        (Exactly(every("p", among=(1, 2)), some("q", among=(1, 4)), says=["q = p²"]), True),
        (Exactly(some("q", among=(1, 4)), every("p", among=(1, 2)), says=["q = p²"]), False),
        (Exactly(every("p", among=(1, 2)), given=["p > 5"], says=["p = 0"]), None),  # no case at all
        (Exactly(every("x"), given=["x > 1", "x < 0"], says=["x = 7"]), None),  # nor here
        (Exactly(every("0 < x <= 1"), says=[largest("x(1 - x)", "1/4", over="x", x="1/2")]), True),
        (Exactly(every("0 < x <= 1"), says=[largest("x(1 - x)", "1/3", over="x", x="1/2")]), False),
        (Exactly(every("0 < x <= 1/4"), says=[largest("x(1 - x)", "1/4", over="x", x="1/2")]), False),
        (Exactly(every("p", among=(3, 1, 2)), says=[least("p", "1", over="p")]), True),
        (Exactly(whole("n >= 1"), says=["n² >= n"]), True),
        (Exactly(every("x"), says=["x·x^(-1) = 1"]), None),  # not defined at 0
        (Exactly(every("x >= 0"), every("y"), says=["x^y·x^(-y) = 1"]), None),
        (Exactly(every("x > 0"), every("y"), says=["x^y·x^(-y) = 1"]), True),
        (Exactly(every("x"), every("y"), says=["(x²)^y = x^(2y)"]), None),
        (Exactly(every("x"), says=["sqrt(x)² = x"]), None),
        (Exactly(every("x >= 0"), says=["sqrt(x)² = x"]), True),
        (Exactly(every("x"), says=["exp(ln(x)) = x"]), None),
        (Exactly(whole("n"), says=["n! = n·(n - 1)!"]), None),
        (Exactly(every("0 < x < 3"), says=["⌊x⌋ = x"]), False),
        (Exactly(whole("n >= 1"), says=["⌊n⌋ + ⌈n⌉ = 2n"]), True),
        (Exactly(every("x > 0"), says=["log2(x²) = ln(x²)/ln(2)"]), True),
        (Exactly(every("x"), says=["log2(x) = log2(x)"]), None),
        (Exactly(every("0 <= x <= 1"), some("c", among=(0, 1)), says=["|x - c| <= 1/2"]), None),  # c depends on x
        (Exactly(some("c", among=(0, 1)), every("0 <= x <= 1"), says=["|x - c| <= 1/2"]), False),
    ],
)
def test_what_is_decided(statement: Exactly, holds: bool | None) -> None:
    assert statement.decide().holds is holds


def test_datasets_of_every_size_are_counted_by_their_columns() -> None:
    distance = ("the distance", Places(lambda x, y: int(x != y)))
    chance = ("the chance", Places(lambda x, y: "λ" if x != y else "1 - λ", product=True))
    where = {"d": distance, "p": chance}
    assert decided(every("λ"), columns(BITS), says=["p = λ^d·(1 - λ)^(n - d)"], where=where) is True
    assert decided(every("λ"), columns(BITS), says=["p = λ^d·(1 - λ)^d"], where=where) is not True
    assert decided(columns(BITS), says=["0 <= d <= n"], where={"d": distance}) is True
    assert decided(columns(BITS), says=["d < n"], where={"d": distance}) is False
    near = columns({"x": (0, 1), "z": (0, 1), "y": (0, 1)}, neighbours=("x", "z"))
    both = {"d": distance, "c": ("that of z", Places(lambda z, y: int(z != y)))}
    assert decided(near, says=["|d - c| = 1"], where=both) is True
    assert decided(near, says=["d - c = 1"], where=both) is False


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(-3, 3), min_size=4, max_size=4),
    st.sampled_from(["<=", "<", ">=", ">"]),
    st.tuples(st.integers(0, 2), st.integers(1, 3)),
)
def test_signs_agree_with_a_fine_grid(coefficients: list[int], relation: str, ends: tuple[int, int]) -> None:
    low, high = ends[0], ends[0] + ends[1]
    a, b, c, d = coefficients
    found = decided(every(f"{low} <= x <= {high}"), says=[f"({a})x³ + ({b})x² + ({c})x + ({d}) {relation} 0"])
    points = [low + Fraction(at * (high - low), 64) for at in range(65)]
    values = [a * x**3 + b * x**2 + c * x + d for x in points]
    holds = {"<=": max(values) <= 0, "<": max(values) < 0, ">=": min(values) >= 0, ">": min(values) > 0}[relation]
    assert found is not True or holds
    assert found is not False or not holds or min(map(abs, values)) < 1


@pytest.mark.slow(seconds=3)
@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-2, 2), min_size=6, max_size=6), st.booleans())
def test_nothing_false_is_decided_on_two_variables(coefficients: list[int], strict: bool) -> None:
    a, b, c, d, e, f = coefficients
    text = f"({a})x² + ({b})x y + ({c})y² + ({d})x + ({e})y + ({f}) {'>' if strict else '>='} 0"
    if decided(every("0 <= x <= 1"), every("y >= 0"), given=["y <= x + 1"], says=[text]) is True:
        for x, y in product([Fraction(k, 8) for k in range(9)], [Fraction(k, 4) for k in range(9)]):
            value = a * x * x + b * x * y + c * y * y + d * x + e * y + f
            assert y > x + 1 or value > 0 or (value == 0 and not strict)


def test_the_sentence_is_made_of_what_is_decided() -> None:
    statement = Exactly(
        every("0 < λ < 1/2"),
        every("x", among=(0, 1), words="in {0,1}"),
        given=["x >= 0"],
        says=["p <= 1"],
        where={"p": ("the chance", lambda lam, x: lam * x)},
    )
    assert statement.sentence == (
        "For every `0 < λ < 1/2`, every `x` in {0,1}, if `x >= 0`: `p <= 1`. Here `p` is the chance."
    )
    found = outcome(statement, verdict="decided")
    assert (found.verdict, found.differs) == ("decided", "")
    assert found.evidence.how == "2 cases listed; in 2 of them relations of functions, by identities and signs on cells"


@pytest.mark.parametrize(
    ("statement", "verdict", "says"),
    [
        (Exactly(every("x"), says=["x² >= 1/100"]), "refuted", "recorded as decided"),
        (Exactly(every("x > 0"), says=["2^x > 1"]), "open", "it is not decided"),
        (Exactly(every("x > 0"), says=["sqrt(x) < x + 1"]), "open", "it is not decided"),
    ],
)
def test_what_is_false_or_out_of_reach_is_not_decided(statement: Exactly, verdict: str, says: str) -> None:
    found = outcome(statement, verdict="decided")
    assert found.verdict == verdict
    assert says in found.differs


def test_a_set_is_written_as_what_it_is() -> None:
    bits, less = tuple(product((0, 1), repeat=2)), ((0, 0), (0, 1), (1, 1))
    assert Exactly(every("x", among=bits), says=["1 = 1"]).sentence.startswith("For every `x` in {0,1}^2:")
    assert Exactly(every("x", among=less), says=["1 = 1"]).sentence.startswith(
        "For every `x` of (0, 0), (0, 1), (1, 1)"
    )


def test_wrong_parts_are_refused() -> None:
    with pytest.raises(ParameterError, match="is no range"):
        every("0 < x <")
    with pytest.raises(ParameterError, match="no known name"):
        Exactly(every("x > 0"), says=["y > 0"])
    with pytest.raises(ParameterError, match="both directions"):
        Exactly(every("x > 0"), says=["x > 1 <=> x² > 1"])
    with pytest.raises(ParameterError, match="not whole"):
        decided(every("0 <= x <= 3"), says=["C(x, 1) = x"])
    with pytest.raises(ParameterError, match="not finite"):
        decided(every("0 < x < 1"), says=[largest("x", "1", over="x")])
