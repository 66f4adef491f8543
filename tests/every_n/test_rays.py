"""Limits along rays of datasets: rates against laws that are summed up anew, and answers of whole programs."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tightdp import ALL, Bit, Int, Values, choice, exp, geometric, laplace, mechanism, one_sided_geometric
from tightdp.errors import LanguageError
from tightdp.every_n.rays import _COPIES, _Rays, approaches
from tightdp.every_n.upper import least_upper, readings


@mechanism(record=Int(0, 2))
def drawn(x, forms, asked, one_sided):
    ones, twos = x.count(1), x.count(2)
    (a, b, r), (c, d, s) = forms
    noisy = geometric(a * ones + b * twos, r)
    other = one_sided_geometric(0, s) + c * ones + d * twos if one_sided else geometric(c * ones + d * twos, s)
    return tuple(e * noisy + f * other > g for e, f, g in asked)


_FAR = 400
_NOISE = np.arange(-_FAR, _FAR + 1)


def _law(word, times, forms, asked, one_sided):
    """Return how likely every output is, in doubles: of sums of positive numbers."""
    ones, twos = (times * word.count(v) for v in (1, 2))
    (a, b, r), (c, d, s) = forms
    noisy, other = (p * ones + q * twos + _NOISE for p, q in ((a, b), (c, d)))
    masses = np.outer(
        float(Fraction(r)) ** abs(_NOISE), float(Fraction(s)) ** abs(_NOISE) * (1 - one_sided * (_NOISE < 0))
    )
    told = [e * noisy[:, None] + f * other[None, :] > g for e, f, g in asked]
    return {
        letter: masses[np.logical_and.reduce([one == bool(bit) for one, bit in zip(told, letter, strict=True)])].sum()
        for letter in np.ndindex((2,) * len(asked))
    }


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(12))
def test_rates_are_those_of_the_laws(seed):
    """Where a probability falls like a rate to the power of m, a fourth step divides it by that, but for m^2."""
    random = Random(seed)
    coefficients = [tuple(random.choice((-1, 0, 1, 1, 2)) for _ in range(2)) for _ in range(2)]
    forms = tuple((*each, random.choice(("1/2", "1/2", "1/3", "2/3"))) for each in coefficients)
    asked = tuple(
        (random.choice((1, 1, 2)), random.choice((-2, -1, 0, 1)), random.randint(-2, 2))
        for _ in range(random.choice((1, 2)))
    )
    one_sided = random.random() < 0.3
    given = {"forms": forms, "asked": asked, "one_sided": one_sided}
    (paths,) = (each for each in readings(drawn.bind(n=ALL, **given).bound) if each.faithful)
    rays = _Rays(paths)
    compared = 0
    for word in ((1,), (2,), random.choice(((0, 1), (0, 2), (1, 2), (0, 1, 2)))):
        some, found = rays._rates(word)
        less, more = (_law(word, times * _COPIES, forms, asked, one_sided) for times in (1, 2))
        for letter, mass in less.items():
            rate = found.get((letter, ()))
            if rate is None:
                assert mass == 0
                continue
            power = sum(float(exponent) * math.log(base) for base, exponent in rate)
            has = rays._has(some, (letter, ()), found)
            if mass > 1e-80 and more[letter] > 1e-80:
                compared += 1
                grown = math.log(more[letter] / mass)
                assert power - 0.2 <= grown if has else True
                assert grown <= power + 2.2
    assert compared


@mechanism(record=Values("a", "b"))
def largest(x):
    noisy = [geometric(x.count(k), "1/2") for k in "ab"]
    return noisy.index(max(noisy))


@mechanism
def real_noise(x):
    return laplace(sum(x), 1) > laplace(len(x) - sum(x), 2)


@mechanism(record=Values("a", "b"))
def mode(x):
    count = Counter(x)
    return choice("ab", weights=[exp(count["a"] / 2), exp(count["b"] / 2)])


@mechanism(record=Bit)
def numbers(x):
    return geometric(sum(x), "1/3"), choice((0, 1), weights=[2 ** sum(x), 2 ** len(x)])


@mechanism(record=Bit)
def in_order(x):
    """Of two records that come by turns only every first one counts."""
    first = sum(v for i, v in enumerate(x) if i % 2 == 0)
    return geometric(first, "1/2") > 2


@mechanism(record=Bit)
def different_noise(x):
    return geometric(sum(x), "1/2") > geometric(3, "1/3")


APPROACHED = {largest: "4", real_noise: "exp(1)", mode: "exp(1)", numbers: "6", in_order: "2", different_noise: "2"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", APPROACHED, ids=lambda made: made.name)
def test_the_answer(made):
    every = made.bind(n=ALL)
    found = least_upper(readings(every.bound), Fraction(1))
    assert (str(found.value), found.approached) == (APPROACHED[made], True)
    assert all(made.bind(n).privacy().upper <= found.value for n in (1, 2))
    with pytest.raises(LanguageError, match="contradicts"):
        any(approaches(each, found.value - Fraction(1, 100)) for each in readings(every.bound))


def test_all_records_may_change():
    """The ratio is multiplied with each of them."""
    every = different_noise.bind(n=ALL, neighbours="unit-all").privacy()
    assert (every.status, every.upper, every.attained, every.proof) == ("exact", math.inf, False, "growth")


@mechanism(record=Int(0, 2), neighbours="unit-all")
def always(x):
    """What records add depends on n, and is never below 0."""
    total = sum(v if v < 2 else len(x) - 1 for v in x)
    return total + one_sided_geometric(0, "1/2") > -3


def test_what_records_add_may_depend_on_n():
    assert always.bind(3).privacy().upper == 1
    assert not any(approaches(each, math.inf) for each in readings(always.bind(n=ALL).bound))
