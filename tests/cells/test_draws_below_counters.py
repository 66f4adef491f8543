"""Coins that samplers make of integers drawn below a multiple of a counter: against runs that are enumerated."""

from __future__ import annotations

import math
import operator
import random
import secrets
from fractions import Fraction
from typing import Any

import pytest

from tightdp import Bit, Mechanism, flip, geometric, mechanism
from tightdp.cells.coins import Drawn, Quotient
from tightdp.cells.laws import CellLaws, cell_laws
from tightdp.cells.noise import Outside
from tightdp.exact.field import exp
from tightdp.language.interp import law_within
from tightdp.session.files import import_file


def laws_of(made: Mechanism) -> tuple[CellLaws, Any]:
    bound = made.bind(n=1).engine.program.bound
    return cell_laws(bound, lambda: None), bound


def bernoulli(p, rng):
    return 1 if rng.randrange(p.denominator) < p.numerator else 0


@mechanism(record=Bit)
def by_terms(x):
    """As in the program published with Canonne, Kamath and Steinke 2020: the generator is a module."""
    rng, k, p = random, 1, Fraction(1 + x[0], 2)
    while True:
        if bernoulli(p / k, rng) == 1:
            k = k + 1
        else:
            break
    return k % 2


class Sampler:
    def __init__(self, rng):
        self.rng = rng

    def coin(self, above, below):
        k = 1
        while self.rng.randrange(below * k) < above:
            k += 1
        return k % 2


@mechanism(record=Bit)
def of_an_object(x):
    """As in diffprivlib, with a generator that an object holds which the run has made."""
    return Sampler(random.SystemRandom()).coin(1 + x[0], 2)


@mechanism(record=Bit)
def of_two_objects(x):
    sampler, kept = Sampler(random.Random()), Sampler(x[0])
    first = sampler.coin(1, 2)
    kept.rng += sampler.coin(1, 3)
    return first + kept.rng


@mechanism(record=Bit)
def by_a_name(x):
    k, shown = 1, True
    while shown:
        shown = secrets.randbelow(k) < 1
        k = k + 1 if shown else k
    return k % 2 == x[0]


@mechanism(record=Bit)
def never_zero(x):
    k = 2 - x[0]
    while not random.randrange(k):
        k += 1
    return k % 2


@mechanism(record=Bit)
def between(x):
    k = 1
    while True:
        if random.randint(3, 2 * k + 2) >= 4 + x[0]:
            return k % 2
        k += 1


@mechanism(record=Bit)
def by_twos(x):
    k = 1
    while random.randrange(k + 1) < 1:
        k += 2
    return k % 4 + x[0]


@mechanism(record=Bit)
def beside_another(x):
    k, j = x[0], 2
    while flip(Fraction(1) / j):
        k, j = k + 1, j + 2
    return k % 2


@mechanism(record=Bit)
def by_threes(x):
    k = 3
    while flip(Fraction(1 + x[0]) / k):
        k += 3
    return k % 6


@mechanism(record=Bit)
def asked_for_kinds(x):
    k = 1
    while True:
        p = Fraction(1 + x[0], 2) / k
        u = random.randrange(2 * k)
        if not isinstance(u, int) or type(u) is not int or isinstance(p.numerator, float) or isinstance(k, str):
            return 2
        if isinstance(p, int) or not isinstance(p, (float, Fraction)) or not isinstance(k, (int, float)):
            return 3
        if u >= 1 + x[0]:
            return k % 2
        k += 1


@mechanism(record=Bit)
def asked_for_attributes(x):
    k = 1
    while flip(Fraction(1 + x[0], 2) / k):
        k += 1
    p = Fraction(1) / k
    return k.real % 2, k.real == k, p.__class__ is int


MADE = [by_terms, of_an_object, of_two_objects, by_a_name, never_zero, between, by_twos, beside_another, by_threes]
MADE += [asked_for_kinds, asked_for_attributes]


def check(made: Mechanism, draws: int = 8) -> None:
    laws, bound = laws_of(made)
    for x in ((0,), (1,)):
        masses, beyond = law_within(bound, x, draws=draws, reach=0)
        for output, mass in masses.items():
            found = laws.number(laws.probability(x, output))
            assert mass <= found <= mass + beyond, (x, output, float(found), float(mass), float(beyond))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_laws_are_those_of_runs(made: Mechanism) -> None:
    check(made, 6)


def test_the_coins_of_samplers_are_powers_of_e() -> None:
    for made in (by_terms, of_an_object):
        laws, _ = laws_of(made)
        for x in (0, 1):
            assert laws.number(laws.probability((x,), 1)) == exp(Fraction(-1 - x, 2))


def drawn(seed: int) -> str:
    choose = random.Random(seed)
    above, start = choose.randint(1, 2), choose.randint(1, 3)
    below, low = choose.randint(above, 3), choose.choice([0, 0, 1, -2])
    last = low + above - 1
    test = choose.choice([f"u < {last + 1}", f"u <= {last}", f"not u > {last}", f"{last + 1} > u", f"u - 1 < {last}"])
    moves = choose.choice([f"if not ({test}): break\n        k += 1", f"if {test}: k += 1\n        else: break"])
    high = f"{below} * k{low - 1:+d}"
    return (
        f"def made(x):\n    k = {start} + x[0]\n    while True:\n        u = random.randint({low}, {high})\n"
        f"        {moves}\n    return k % 2"
    )


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", range(24))
def test_drawn_ones(seed: int, tmp_path: Any) -> None:
    file = tmp_path / "made.py"
    head = "import random\nfrom fractions import Fraction\n\nfrom tightdp import Bit, mechanism\n\n\n"
    file.write_text(f"{head}@mechanism(record=Bit)\n{drawn(seed)}\n")
    check(import_file(file).made, 5)


@mechanism(record=Bit)
def published(x):
    k = 1
    while flip("1/2"):
        k += 1
    return random.randrange(k)


@mechanism(record=Bit)
def asked_for_its_remainder(x):
    k = 1
    while random.randrange(2 * k) % 2:
        k += 1
    return k % 2


@mechanism(record=Bit)
def by_no_multiples(x):
    k = 1
    while flip(Fraction(1) / k):
        k += 2
    return k % 4


@mechanism(record=Bit)
def compared_afterwards(x):
    k = 1
    while flip(Fraction(1 + x[0], 2) / k):
        k += 1
    return k == 2


@mechanism(record=Bit)
def a_bound_afterwards(x):
    k = 1
    while flip(Fraction(1 + x[0], 2) / k):
        k += 1
    return min(k, 3)


@mechanism(record=Bit)
def matched_by_its_class(x):
    k = geometric(x[0], "1/2")
    match k:
        case int():
            return k
    return 0.5


@mechanism(record=Bit)
def of_a_class_not_known(x):
    k = geometric(x[0], "1/2")
    return k if k.__class__ is int and hasattr(k, "bit_length") else 0.5


@mechanism(record=Bit)
def of_a_kind_not_known(x):
    k = geometric(x[0], "1/2")
    return k if isinstance(k, int) else 0.5


REFUSED = [published, asked_for_its_remainder, by_no_multiples, compared_afterwards]
REFUSED += [a_bound_afterwards, matched_by_its_class, of_a_class_not_known, of_a_kind_not_known]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("made", REFUSED, ids=lambda made: made.name)
def test_more_than_comparisons_is_refused(made: Mechanism) -> None:
    with pytest.raises(Outside):
        laws_of(made)


OPERATIONS = [int, float, str, hash, math.floor, math.trunc, round, abs, operator.pos, operator.neg, operator.invert]
OPERATIONS += [lambda number: number**2, lambda number: 2**number, lambda number: divmod(number, 2)]
OPERATIONS += [lambda number: divmod(2, number), lambda number: 2 // number, lambda number: number & 1]


@pytest.mark.parametrize("at", range(len(OPERATIONS)))
def test_no_operation_fails_as_one_of_another_class_would(at: int) -> None:
    """What is not known of these numbers is refused: a TypeError might be caught by the mechanism."""
    quotient = Quotient(Fraction(1), 2)
    for number in (quotient, quotient.denominator, Drawn([0, 1])):
        with pytest.raises(Outside):
            OPERATIONS[at](number)


def coin(p):
    """True with probability e^(-p), by the loop of Canonne, Kamath and Steinke 2020, for p from 0 to 1."""
    k = 1
    while flip(p / k):
        k += 1
    return k % 2 == 1


def magnitude(t, s):
    """Their Algorithm 2, but for the sign."""
    while True:
        u = random.randint(0, t - 1)
        if not coin(Fraction(u, t)):
            continue
        v = 0
        while coin(Fraction(1)):
            v += 1
        return (u + t * v) // s


@mechanism(record=Bit)
def with_noise_as_published(x, t, s):
    while True:
        y, negative = magnitude(t, s), flip("1/2")
        if not (negative and y == 0):
            return sum(x) - y if negative else sum(x) + y


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("t", "s"), [(3, 2), (5, 2), (2, 3), (4, 3), (7, 4)])
def test_loops_in_loops_of_samplers_are_asked_of_the_algebra_first(t: int, s: int) -> None:
    assert with_noise_as_published.bind(n=1, t=t, s=s).privacy().exp_epsilon == exp(Fraction(s, t))


def test_where_the_algebra_does_not_know_a_loop_it_is_cut_off() -> None:
    found = by_no_multiples.bind(n=1).distribution((0,))
    goes_on, law = Fraction(1), {1: Fraction(0), 3: Fraction(0)}
    for k in range(1, 60, 2):
        law[k % 4] += goes_on * (1 - Fraction(1, k))
        goes_on /= k
    assert found.status == "bounded"
    assert all(abs(mass - law[output]) < Fraction(1, 1 << 70) for output, mass in found.law)


@mechanism(record=Bit)
def compared_with_a_record(x):
    k = 1
    while flip(Fraction(1, 2) / k):
        k += 1
    return k % 3 == sum(x)


def test_a_comparison_with_a_record_has_two_outputs_where_a_loop_is_cut_off() -> None:
    found = compared_with_a_record.bind(n=1).privacy()
    goes_on, rest = Fraction(1), [Fraction(0)] * 3
    for k in range(1, 40):
        rest[k % 3] += goes_on * (1 - Fraction(1, 2) / k)
        goes_on *= Fraction(1, 2) / k
    ratio = max(rest[1] / rest[0], (1 - rest[0]) / (1 - rest[1]))
    assert found.lower - Fraction(1, 1 << 60) <= ratio <= found.upper + Fraction(1, 1 << 60)
    assert found.upper - found.lower < Fraction(1, 1 << 60)
