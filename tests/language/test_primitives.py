"""The random primitives when a program runs as plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tightdp.errors import ParameterError
from tightdp.language.laws import Law
from tightdp.language.primitives import (
    PseudoRandom,
    Rejected,
    binomial,
    choice,
    current_source,
    flip,
    geometric,
    observe,
    randint,
    shuffle,
    using,
)


class Script:
    """A source that takes the listed outcomes in turn and keeps the laws it was asked for."""

    tells_equal_apart = True

    def __init__(self, *outcomes: int) -> None:
        self.outcomes = list(outcomes)
        self.laws: list[Law] = []

    def draw(self, law: Law) -> int:
        self.laws.append(law)
        return self.outcomes.pop(0)

    def observe(self, condition: bool) -> None:
        assert isinstance(condition, bool)
        self.outcomes.append(condition)


def test_each_primitive_asks_for_its_law() -> None:
    script = Script(True, 3, 1, 2, -1)
    with using(script):
        assert flip("1/5") is True
        assert randint(2, 4) == 3
        assert choice(["a", "b"], weights=[1, 3]) == "b"
        assert binomial(2, "1/2") == 2
        assert geometric(0, "1/2", -1, 1) == -1
        observe(1)
    assert script.outcomes == [True]
    assert dict(script.laws[0])[True] == Fraction(1, 5)
    assert [outcome for outcome, _ in script.laws[1]] == [2, 3, 4]
    assert dict(script.laws[2]) == {0: Fraction(1, 4), 1: Fraction(3, 4)}


def test_shuffle_is_fisher_yates() -> None:
    script = Script(0, 1)
    with using(script):
        assert shuffle("abc") == ("c", "b", "a")
    assert [len(law) for law in script.laws] == [3, 2]
    with using(Script()):
        assert shuffle([]) == ()
        assert shuffle([5]) == (5,)


def test_using_restores_the_source() -> None:
    before = current_source()
    with pytest.raises(KeyError), using(Script()):
        raise KeyError
    assert current_source() is before


def test_same_seed_same_draws() -> None:
    def draws(seed: int) -> list[int]:
        with using(PseudoRandom(seed)):
            return [geometric(0, "1/2", -9, 9) for _ in range(50)]

    assert draws(3) == draws(3) != draws(4)


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (lambda: flip("1/5"), {True: 0.2, False: 0.8}),
        (lambda: choice("ab", [1, 3]), {"a": 0.25, "b": 0.75}),
        (lambda: binomial(2, 0.5), {0: 0.25, 1: 0.5, 2: 0.25}),
        (lambda: geometric(0, "1/2", -1, 1), {-1: 1 / 3, 0: 1 / 3, 1: 1 / 3}),
        (lambda: shuffle((0, 1)), {(0, 1): 0.5, (1, 0): 0.5}),
    ],
)
def test_frequencies(draw: Callable[[], Any], expected: dict[Any, float]) -> None:
    size = 4000
    with using(PseudoRandom(11)):
        counts = Counter(draw() for _ in range(size))
    assert counts.keys() == expected.keys()
    assert all(abs(counts[outcome] / size - share) < 0.04 for outcome, share in expected.items())


def test_certain_and_impossible_outcomes() -> None:
    with using(PseudoRandom(1)):
        assert all(flip(1) and not flip(0) for _ in range(100))


def test_failures() -> None:
    with pytest.raises(ParameterError, match="3/2"):
        flip("3/2")
    with pytest.raises(Rejected):
        observe(False)
    observe([1])


def test_a_sampled_integer_is_no_truth_value() -> None:
    """Laws whose outcomes are equal are not one: which one was drawn from before does not tell."""
    assert flip(1) is True
    assert randint(1, 1) is not True
