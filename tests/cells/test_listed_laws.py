"""Output laws in closed form: against truncated runs, integrals by quadrature, and probabilities of single outputs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from scipy import integrate

from tightdp import Bit, Mechanism, choice, flip, geometric, laplace, mechanism, one_sided_geometric, uniform
from tightdp.errors import QueryError
from tightdp.language.interp import law_within
from tightdp.language.tails import Interval, Tail

X = (0, 1)


def bits(function: Any) -> Mechanism:
    return mechanism(record=Bit)(function)


@bits
def counted(x):
    z = 0
    while flip("1/2"):
        z += 1
    return sum(x) + z


@bits
def one_sided(x):
    return one_sided_geometric(sum(x), "1/2")


@bits
def signed(x):
    z = 0
    while flip("1/3"):
        z += 1
    return sum(x) + z * choice([-1, 1])


@bits
def difference(x):
    return geometric(sum(x), "1/2") - geometric(0, "1/3")


@bits
def equal_ratios(x):
    return geometric(sum(x), "1/2") + geometric(0, "1/2")


@bits
def beside_a_bit(x):
    return (x[0], 5 - 3 * one_sided_geometric(sum(x), "1/4"))


@bits
def now_and_then(x):
    z = geometric(sum(x), "1/2") - geometric(x[0], "1/2")
    return "none" if z > 3 else z // 2


@bits
def two_numbers(x):
    return (geometric(sum(x), "1/2") - geometric(0, "1/3"), x[0])


INTEGERS = [counted, one_sided, signed, difference, equal_ratios, beside_a_bit, now_and_then, two_numbers]


ONE_SIDED = [one_sided, beside_a_bit]
"""Runs of one-sided draws are not truncated."""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("one", [one for one in INTEGERS if one not in ONE_SIDED], ids=lambda one: one.name)
def test_laws_are_those_of_truncated_runs(one):
    here = one.bind(n=2)
    found = here.distribution(X)
    assert found.status == "exact"
    assert sum(mass for _, mass in found.law) == 1
    masses, beyond = law_within(here.bound, X, 14, draws=30)
    assert len(masses) > 8
    for output, mass in masses.items():
        exact = found.probability(output)
        assert mass <= exact <= mass + beyond
    assert beyond < Fraction(1, 1000)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("one", INTEGERS, ids=lambda one: one.name)
def test_probabilities_of_outputs_agree_far_out(one):
    here = one.bind(n=2)
    found = here.distribution(X)
    tails = [output for output, _ in found.law if isinstance(output, Tail)]
    numbers = [tail.number(k) for tail in tails for k in (0, 1, 2, 5, 30)]
    for number in numbers:
        assert found.probability(number) == here.probability(X, number) > 0


def test_one_sided_laws_are_those_of_their_definition():
    found = one_sided.bind(n=2).distribution(X)
    assert found.status == "exact"
    assert all(found.probability(1 + k) == Fraction(1, 2) ** (k + 1) for k in range(20))
    found = beside_a_bit.bind(n=2).distribution(X)
    assert found.status == "exact"
    assert all(found.probability((0, 2 - 3 * k)) == Fraction(3, 4) / 4**k for k in range(20))
    assert found.probability((0, 3)) == found.probability((0, 1)) == found.probability((1, 2)) == 0


def test_a_tail_of_one_ratio_has_its_closed_form():
    result = counted.bind(n=2).distribution(X).to_dict()["result"]
    assert result["law"][:3] == [[1, "1/2"], [2, "1/4"], [3, "1/8"]]
    (tail,) = result["tails"]
    assert tail["direction"] == 1
    assert (Fraction(tail["first"]), tail["ratio"]) == (Fraction(1, 2 ** tail["from"]), "1/2")


def test_a_tail_with_a_polynomial_has_terms():
    result = equal_ratios.bind(n=2).distribution((0, 0)).to_dict()["result"]
    up = result["tails"][1]
    for k in range(4):
        # Σ_a r^|a| r^|m - a| (1 - r)²/(1 + r)² at m >= 0
        m, r = up["from"] + k, Fraction(1, 2)
        convolution = ((1 - r) / (1 + r)) ** 2 * r**m * (m + 1 + 2 * r**2 / (1 - r**2))
        terms = (Fraction(t["factor"]) * k ** t["power"] * Fraction(t["ratio"]) ** k for t in up["terms"])
        assert sum(terms) == convolution


def test_answers_do_not_depend_on_what_was_asked_before():
    one = difference.bind(n=2)
    before = one.distribution(X)
    one.likelihood(X, (1, 1))
    assert one.distribution(X).law == before.law


def test_likelihood_ratios_are_exact_where_tails_have_one_ratio():
    here = signed.bind(n=2)
    found = here.likelihood(X, (1, 1))
    assert found.status == "exact"
    assert found.largest == here.privacy().exp_epsilon
    ours, theirs = here.distribution(X), here.distribution((1, 1))
    for row in found.rows:
        if not isinstance(row.output, Tail):
            assert row.probability == ours.probability(row.output)
            assert row.probability_prime == theirs.probability(row.output)
    assert {row.output.direction for row in found.rows if isinstance(row.output, Tail)} == {1, -1}


def test_likelihood_ratios_that_change_within_a_tail_are_enclosed():
    found = difference.bind(n=2).likelihood(X, (1, 1))
    assert found.status == "bounded"


def test_laws_with_an_unknown_ratio():
    @bits
    def unknown(x, r):
        return one_sided_geometric(sum(x), r)

    (piece,) = unknown.bind(n=1, r="?").distribution((1,)).pieces
    at_a_third = dict(unknown.bind(n=1, r="1/3").distribution((1,)).law)
    assert [str(output) for output, _ in piece.value] == list(map(str, at_a_third))


@bits
def laplace_count(x):
    return laplace(sum(x), 2)


@bits
def clamped(x):
    return max(0, min(2, laplace(sum(x), 2)))


@bits
def two_draws(x):
    return 2 * laplace(sum(x), 1) - laplace(0, 2) + 1


@bits
def uniform_sum(x):
    return uniform(0, 1) + 3 * uniform(0, 1) + sum(x)


@bits
def mixed_kinds(x):
    return (sum(x), -2 * laplace(x[1], 1)) if flip("1/3") else "nothing"


REALS = [laplace_count, clamped, two_draws, uniform_sum, mixed_kinds]


def near(each: Interval, y: float) -> float:
    away = abs(y - float(each.origin))
    return sum(float(f) * away**power * math.exp(float(rate) * away) for f, power, rate in each.terms)


def intervals(law: Any) -> list[tuple[Interval, Any]]:
    inside = ((output[1] if isinstance(output, tuple) else output, mass) for output, mass in law)
    return [(each, mass) for each, mass in inside if isinstance(each, Interval)]


@pytest.mark.parametrize("one", REALS, ids=lambda one: one.name)
def test_densities_have_the_probabilities_of_their_intervals(one):
    found = one.bind(n=2).distribution(X)
    assert found.status == "exact"
    assert sum(mass for _, mass in found.law) == 1
    assert intervals(found.law)
    for each, mass in intervals(found.law):
        low = -math.inf if each.low is None else float(each.low)
        high = math.inf if each.high is None else float(each.high)
        area, _ = integrate.quad(lambda y, each=each: near(each, y), low, high)
        assert area == pytest.approx(float(mass), abs=1e-7)


def density(law: Any, y: Fraction) -> float:
    return float(sum(each.density(y) for each, _ in intervals(law)))


def test_densities_are_the_known_ones():
    law = laplace_count.bind(n=2).distribution(X).law
    assert density(law, Fraction(5, 2)) == pytest.approx(math.exp(-0.75) / 4)
    law = clamped.bind(n=2).distribution(X).law
    assert dict(law)[0] == dict(law)[2]
    assert float(dict(law)[0]) == pytest.approx(math.exp(-0.5) / 2)
    assert density(law, Fraction(1, 2)) == pytest.approx(math.exp(-0.25) / 4)
    assert density(law, Fraction(5, 2)) == 0
    law = mixed_kinds.bind(n=2).distribution(X).law
    assert dict(law)["nothing"] == Fraction(2, 3)
    assert density(law, Fraction(-3)) == pytest.approx(math.exp(-0.5) / 12)


def test_a_density_of_two_draws_is_their_convolution():
    law = two_draws.bind(n=2).distribution(X).law

    def at(y: float) -> float:
        return integrate.quad(
            lambda u: math.exp(-abs(u - 3) / 2) / 4 * math.exp(-abs(y - u) / 2) / 4, -60, 60, points=[3, y]
        )[0]

    for y in (Fraction(-4), Fraction(1, 3), Fraction(7, 2), Fraction(12)):
        assert density(law, y) == pytest.approx(at(float(y)), rel=1e-6)


def test_what_has_no_list_says_so():
    @bits
    def sums(x):
        noise = laplace(sum(x), 1)
        return noise, laplace(0, 1)

    here = sums.bind(n=1)
    with pytest.raises(QueryError, match="several numbers"):
        here.distribution((1,))
    with pytest.raises(QueryError, match="densities"):
        laplace_count.bind(n=1).likelihood((0,), (1,))


def test_closed_forms_are_shown():
    assert "P(y) = 1/1024·(1/2)^(y - 10)" in str(counted.bind(n=2).distribution(X))
    assert "f(y) = 1/4·e^(-1/2·(y - 1))" in str(laplace_count.bind(n=2).distribution(X))
    assert "(y - 9)·(1/2)^(y - 9)" in str(equal_ratios.bind(n=2).distribution(X))


def test_a_law_needs_no_laws_on_other_datasets():
    here = difference.bind(n=40)
    x = (1,) * 40
    assert here.distribution(x).probability(45) == difference.bind(n=1).distribution((0,)).probability(5)
