"""Noise that loops make, for every n: as with the primitive, and never less than one n attains."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tightdp import ALL, Bit, flip, geometric, mechanism, one_sided_geometric
from tightdp.cells.alone import law_of
from tightdp.cells.masses import Masses, Part
from tightdp.errors import LanguageError
from tightdp.every_n.upper import readings
from tightdp.language.laws import TwoSided


def _failures(q: Any) -> int:
    z = 0
    while flip(q):
        z += 1
    return z


def _two_sided(q: Any) -> int:
    while True:
        negative, size = flip("1/2"), _failures(q)
        if not negative or size:
            return -size if negative else size


class _Sampler:
    def __init__(self, q: Any) -> None:
        self.q = q

    def draw(self) -> int:
        k = 0
        while True:
            if not flip(self.q):
                return k
            k += 1


@mechanism(record=Bit)
def differing(x: Any) -> Any:
    z = sum(x)
    while flip("1/3"):
        z += 1
    w = 0
    while flip("1/3"):
        w += 1
    return z - w


@mechanism(record=Bit)
def signed(x: Any) -> Any:
    z = 0
    while flip("1/2"):
        z += 1
    return min(5, max(0, sum(x) + (z if flip("1/2") else -z)))


@mechanism(record=Bit)
def rejecting(x: Any) -> Any:
    return min(4, max(0, sum(x) + _two_sided("1/2")))


@mechanism(record=Bit)
def of_an_object(x: Any) -> Any:
    sampler = _Sampler("1/2")
    return sum(x) + sampler.draw() - sampler.draw()


@mechanism(record=Bit)
def tossed_before(x: Any) -> Any:
    z = 0
    while flip("1/3"):
        z += 1
    z = -1 - z if flip("1/2") else z
    return sum(x) + z >= 2


@mechanism(record=Bit)
def by_record(x: Any) -> Any:
    told = []
    for v in x:
        z = 0
        while flip("1/2"):
            z += 1
        told.append(v - z if flip("1/2") else v + z)
    return tuple(told)


@mechanism(record=Bit)
def with_the_primitive(x: Any) -> Any:
    return sum(x) + one_sided_geometric(0, "1/3") - one_sided_geometric(0, "1/3")


@mechanism(record=Bit)
def clamped_primitive(x: Any) -> Any:
    return min(4, max(0, geometric(sum(x), "1/2")))


@pytest.mark.parametrize(
    ("mechanism_", "exp_epsilon"),
    [
        (differing, 3),
        (signed, 4),
        (rejecting, 2),
        (of_an_object, 2),
        (tossed_before, 3),
        pytest.param(by_record, 4, marks=pytest.mark.slow),
    ],
)
def test_noise_of_a_loop_has_the_tight_epsilon_of_every_n(mechanism_: Any, exp_epsilon: int) -> None:
    found = mechanism_.bind(n=ALL).privacy()
    assert (found.status, found.upper, found.proof) == ("exact", exp_epsilon, "alignment")
    assert mechanism_.bind(n=2).privacy().exp_epsilon == exp_epsilon


@pytest.mark.parametrize(("loop", "primitive"), [(differing, with_the_primitive), (rejecting, clamped_primitive)])
def test_a_loop_is_as_the_primitive(loop: Any, primitive: Any) -> None:
    ours, theirs = (each.bind(n=ALL).privacy() for each in (loop, primitive))
    assert (ours.status, ours.upper, ours.attained) == (theirs.status, theirs.upper, theirs.attained)


def test_a_loop_without_a_closed_form_is_refused_by_name() -> None:
    @mechanism(record=Bit)
    def by_ones_and_twos(x: Any) -> Any:
        z = 0
        while flip("1/2"):
            z += 2 if flip("1/3") else 1
        return sum(x) + z >= 2

    with pytest.raises(LanguageError, match="noise that this loop makes"):
        readings(by_ones_and_twos.program.bind(1))


# laws in closed form


def _second_failure(_: Any) -> int:
    z = failures = 0
    while failures < 2:
        z += 1
        if flip("1/2"):
            failures += 1
    return z


def _even(_: Any) -> int:
    z = parity = 0
    while parity or flip("2/3"):
        if not flip("1/2"):
            z = parity = 0
        z, parity = z + 1, 1 - parity
    return z


def test_support_ends_where_masses_are_positive() -> None:
    ((_, total, law),) = law_of(_second_failure, ("",), lambda: None)
    assert law is not None
    assert total == 1
    assert law.whole
    assert law.ends == (2, float("inf"))
    assert (law.largest(1), law.largest(-1)) == (1, 2)
    touching_zero = Masses.of(Part(0, None, Fraction(1, 2), at, Fraction(c)) for at, c in enumerate((9, -6, 1)))
    assert touching_zero.mass(3) == 0
    assert not touching_zero.whole


def test_results_that_no_run_has_are_left_out() -> None:
    assert sorted(total for _, total, _ in law_of(_even, ("",), lambda: None)) == [0, 1]


_GEOMETRIC = [Part(0, None, Fraction(1, 2), 0, Fraction(1, 2))]
_TWICE = [Part(0, None, Fraction(1, 2), at, Fraction(1, 4)) for at in (0, 1)]
_TENT = [Part(0, 3, Fraction(2), 0, Fraction(1, 30)), Part(4, None, Fraction(1, 3), 0, Fraction(27))]


@pytest.mark.parametrize("parts", [_GEOMETRIC, _TWICE, _TENT])
@pytest.mark.parametrize(("sign", "moved"), [(1, 0), (-1, 0), (1, 3), (-1, -2)])
def test_laws_are_turned_and_moved(parts: list[Part], sign: int, moved: int) -> None:
    law = Masses.of(parts)
    other = Masses.of(law.parts(Fraction(1, 3), sign, moved))
    assert all(other.mass(sign * z + moved) == law.mass(z) / 3 for z in range(-9, 12))
    assert other.total() == law.total() / 3


@pytest.mark.parametrize("parts", [_GEOMETRIC, _TWICE, _TENT])
def test_the_largest_ratio_of_shifted_masses_is_that_of_an_enumeration(parts: list[Part]) -> None:
    law = Masses.of(parts)
    for d in range(-3, 4):
        near = max(law.mass(z + d) / law.mass(z) for z in range(80) if z + d >= 0)
        assert near <= law.largest(d) <= near * Fraction(21, 20)


def test_two_sided_noise_is_known_again() -> None:
    parts = [
        *Masses.of_noise(TwoSided(0, Fraction(1, 3))).parts(moved=2),
    ]
    assert Masses.of(parts).plain() == TwoSided(2, Fraction(1, 3))
    half = Masses.of([*Masses.of_noise(TwoSided(0, Fraction(1, 3))).parts(Fraction(1, 2))])
    assert half.total() == Fraction(1, 2)
