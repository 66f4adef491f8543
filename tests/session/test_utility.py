"""Expected errors and the probability of the right answer, against the interpreter on every dataset."""

from __future__ import annotations

from fractions import Fraction

import pytest

from command_line import run
from expectations import Oracle, mechanisms
from tightdp import Bit, Instance, Int, QueryError, flip, geometric, mechanism


@mechanism(record=Bit, target=lambda x: tuple(x))
def vector(x, lam="1/4"):
    return tuple(b ^ flip(lam) for b in x)


@mechanism(record=Int(0, 2), target=lambda x: "many" if sum(x) > 1 else "few")
def word(x):
    said = "many" if geometric(sum(x), "1/2", 0, 4) > 1 else "few"
    return said if flip("9/10") else None


@mechanism(record=Int(0, 2), target=max)
def largest(x):
    return geometric(max(x), "1/3", 0, 2)


def laws(instance: Instance) -> list[tuple[tuple[int, ...], dict[object, Fraction]]]:
    oracle = Oracle(instance.bound)
    return [(x, oracle.law(x)) for x in oracle.datasets]


def test_numbers() -> None:
    for instance in (largest.bind(n=2), mechanisms("geometric_count")["geometric_count"].bind(n=3, ratio="2/5")):
        found = instance.utility()
        target = instance.bound.program.target
        absolute = max(sum(p * abs(y - target(x)) for y, p in law.items()) for x, law in laws(instance))
        squared = max(sum(p * (y - target(x)) ** 2 for y, p in law.items()) for x, law in laws(instance))
        right = min(law.get(target(x), Fraction(0)) for x, law in laws(instance))
        assert found.value("expected absolute error") == absolute
        assert found.value("expected squared error") == squared
        assert found.value("right answer") == right
        for worst in found.measures:
            assert worst.x in [x for x, _ in laws(instance)]


def test_vectors() -> None:
    instance = vector.bind(n=3)
    found = instance.utility()
    assert found.value("expected absolute error, coordinate 2") == Fraction(1, 4)
    assert found.value("expected largest error") == 1 - Fraction(3, 4) ** 3
    with pytest.raises(QueryError, match="no measure 'median error'"):
        found.value("median error")
    assert found.value("right answer") == Fraction(3, 4) ** 3


def test_words() -> None:
    instance = word.bind(n=2)
    found = instance.utility()
    target = instance.bound.program.target
    right = {x: law.get(target(x), Fraction(0)) for x, law in laws(instance)}
    assert [worst.measure for worst in found.measures] == ["right answer"]
    assert found.value("right answer") == min(right.values())
    assert right[found.measures[0].x] == min(right.values())


def test_no_target() -> None:
    with pytest.raises(QueryError, match="has no target"):
        mechanisms("randomized_response")["randomized_response"].bind(n=2, lam="1/5").utility()


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "utility", "geometric_count", "n=2", "ratio=1/2")
    assert status == 0
    assert "expected squared error" in out
    assert "right answer" in out
