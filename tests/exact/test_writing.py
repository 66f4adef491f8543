"""Values as people read them: nothing is cut inside an entry, equal entries in a row are counted."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from tightdp import Bit, Int, flip, laplace, mechanism
from tightdp.exact.numbers import brief, listed, shortened
from tightdp.present.words import shown_epsilon, shown_number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((0, 1), "(0, 1)"),
        ((0,) * 30, "(0 × 30)"),
        ((1, *(0,) * 38, 1, 1), "(1, 0 × 38, 1, 1)"),
        (((0,) * 30, (1,) * 30, (1,) * 30, (1,) * 30), "((0 × 30), (1 × 30) × 3)"),
        ((Fraction(1, 2),) * 20, "(1/2 × 20)"),
        (("word",), "('word',)"),
        ("word", "'word'"),
    ],
)
def test_values_are_written_briefly(value: object, text: str) -> None:
    assert brief(value) == text


@pytest.mark.parametrize("longest", [20, 40, 60, 160])
def test_no_entry_is_cut(longest: int) -> None:
    value = tuple(range(100, 400))
    text = brief(value, longest)
    assert len(text) <= longest
    assert re.fullmatch(r"\((\d{3}, )+\.\.\.(, \d{3})+\)", text)
    assert brief((value, 5), 160).endswith("), 5)")


def test_lists_and_texts_are_cut_between_words() -> None:
    assert listed(["ab", "cd"], 3) == "ab, cd"
    assert listed([str(n) for n in range(100)], 30).startswith("0, 1, 2")
    assert shortened("one two three four five six seven eight nine ten", 30) == "one two ... nine ten"


def test_what_is_exact_is_not_called_about() -> None:
    assert shown_number(Fraction(10) ** 50) == "1e50"
    assert shown_number(Fraction(1, 3)) == "1/3 ≈ 0.333333"
    assert shown_epsilon(Fraction(1)) == "0"
    assert shown_epsilon(Fraction(2)).startswith("≈ 0.69")


def test_factors_begin_with_what_is_added() -> None:
    @mechanism(record=Bit, target=sum)
    def total(x, lam):
        return sum(1 - b if flip(lam) else b for b in x)

    assert "(1 - lam)^2" in str(total.bind(n=2, lam="?").accuracy(0))
    assert "(1 - lam)^3" in str(total.bind(n=3, lam="?").accuracy(0))


def test_powers_of_exponentials_are_exponentials() -> None:
    @mechanism(record=Int(-1, 1))
    def noisy_max(x, eps):
        noisy = [laplace(query, 2 / eps) for query in x]
        return noisy.index(max(noisy))

    found = str(noisy_max.bind(n=4, eps="?").privacy())
    assert "e^(3*eps)" in found
    assert "e^eps^" not in found
