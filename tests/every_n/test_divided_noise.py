"""Answers for every n where noise is looked at modulo a number only."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tightdp import ALL, Bit, Int, flip, geometric, mechanism, one_sided_geometric
from tightdp.every_n.deciding import Manner, Untraceable, rests
from tightdp.every_n.states import explore
from tightdp.exact.field import exp
from tightdp.language.laws import TwoSided


@mechanism(record=Bit)
def parity(x):
    return (sum(x) + geometric(0, "1/2")) % 2


@mechanism(record=Bit)
def is_even(x):
    z = sum(1 - v for v in x) + geometric(0, "1/3")
    return "even" if z % 2 == 0 else "odd"


@mechanism(record=Int(0, 2))
def secure_sum(x):
    total = 0
    for v in x:
        total = (total + v + geometric(0, "1/2")) % 3
    return total


@mechanism(record=Bit)
def masked_messages(x):
    return sum((v + geometric(0, "1/2")) % 3 for v in x) % 3


@mechanism(record=Int(0, 2))
def drawn_before(x):
    a, b = geometric(0, "1/2"), geometric(0, "1/3")
    if flip("1/3"):
        a = -a
    return (sum(x) + a - b) % 3, (sum(x) + 2 * b) % 3


@mechanism(record=Bit)
def several_numbers(x):
    z = geometric(sum(x), "1/2")
    return z % 2, z % 3


@mechanism(record=Int(0, 2))
def told(x):
    return tuple(geometric(v, "1/2") % 4 for v in x)


@pytest.mark.parametrize(
    "program",
    [
        parity,
        is_even,
        pytest.param(secure_sum, marks=pytest.mark.slow),
        masked_messages,
        drawn_before,
        several_numbers,
        pytest.param(told, marks=pytest.mark.slow),
    ],
)
def test_the_upper_end_is_what_some_n_has(program):
    found = program.bind(n=ALL).privacy()
    assert (found.status, found.upper) == ("exact", max(program.bind(n=n).privacy().exp_epsilon for n in (1, 2)))


@mechanism(record=Bit)
def seen_as_well(x):
    z = geometric(sum(x), "1/2")
    return z % 2, z >= 1


@mechanism(record=Bit)
def published_before(x):
    z, sent = geometric(0, "1/2"), []
    for v in x:
        sent.append(geometric(v, "1/2") >= z)
    return (sum(x) + z) % 2, tuple(sent)


@mechanism(record=Bit)
def divided_with_rest(x):
    z = geometric(sum(x), "1/2")
    return z % 2, z // 2


@mechanism(record=Bit)
def of_another_law(x):
    return (sum(x) + one_sided_geometric(0, "1/2")) % 2


@pytest.mark.parametrize("program", [seen_as_well, published_before, divided_with_rest, of_another_law])
def test_noise_that_is_looked_at_is_not_taken_modulo_a_number(program):
    with pytest.raises(Untraceable):
        explore(program.bind(n=1).bound, manner=Manner(sums=True, modulo=2))
    if program is not published_before:
        assert program.bind(n=ALL).privacy().upper >= program.bind(n=3).privacy().exp_epsilon


@pytest.mark.parametrize("ratio", [Fraction(1, 2), Fraction(9, 10), exp(Fraction(-1, 2))])
@pytest.mark.parametrize("modulus", [1, 2, 3, 7])
def test_rests_have_the_masses_of_all_integers_that_leave_them(ratio, modulus):
    law, far = TwoSided(0, ratio), 20 * modulus
    found = rests(law, modulus)
    assert sum(found, Fraction(0)) == 1
    for rest, mass in enumerate(found):
        near = sum((law.mass(z) for z in range(-far, far + 1) if z % modulus == rest), Fraction(0))
        assert near < mass <= near + 2 * law.at_least(far + 1)
