"""Choices whose weights are powers of sums over the records, as in the exponential mechanism, for every n."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from tightdp import ALL, Bit, Int, Values, choice, exp, flip, geometric, mechanism
from tightdp.every_n.upper import least_upper, readings
from tightdp.language.neighbours import relation_of


@mechanism(record=Values("red", "blue", "green"))
def exponential_mechanism(x):
    count = Counter(x)
    return choice(("blue", "green", "red"), weights=[2 ** count[colour] for colour in ("blue", "green", "red")])


@mechanism(record=Int(0, 2))
def median(x):
    apart = [abs(sum(v < k for v in x) - sum(v > k for v in x)) for k in range(3)]
    return choice(range(3), weights=[Fraction(1, 2) ** each for each in apart])


@mechanism(record=Bit)
def with_powers_of_e(x):
    count = [x.count(k) for k in (0, 1)]
    return choice((0, 1), weights=[exp((each - max(count)) / 2) for each in count])


@mechanism(record=Bit, neighbours="add-remove")
def one_is_added(x):
    return choice((0, 1), weights=[3 ** sum(v or 0 for v in x), 5])


@mechanism(record=Bit)
def cut(x):
    return choice((0, 1), weights=[2 ** min(sum(x), 2), 3])


@mechanism(record=Bit)
def and_noise(x):
    return choice((0, 1), weights=[2 ** sum(x), 2 ** len(x)]), geometric(sum(x), "1/3")


@mechanism(record=Bit)
def noise_where_chosen(x):
    total = sum(v ^ flip("1/4") for v in x)
    return geometric(total, "1/2") if choice((0, 1), weights=[2**total, 3]) else "none"


@mechanism(record=Bit)
def then_asked(x):
    which = choice((0, 1), weights=[2 ** sum(x), 1])
    return which, any(v == which and flip("1/2") for v in x) ^ flip("1/4")


ENOUGH = {
    exponential_mechanism: "4", median: "8", with_powers_of_e: "exp(1)", one_is_added: "3", cut: "2", and_noise: "6",
    noise_where_chosen: "13/7",
}  # fmt: skip


@pytest.mark.one_in(8)
@pytest.mark.parametrize("made", ENOUGH, ids=lambda made: made.name)
def test_weights_that_change_by_a_factor(made):
    one = made.bind(n=ALL)
    found = least_upper(readings(one.bound), Fraction(1))
    assert (str(found.value), found.proof) == (ENOUGH[made], "alignment")
    largest = max(made.bind(n).privacy().upper for n in (1, 2, 3))
    assert largest <= found.value
    assert found.approached is (made not in (cut, noise_where_chosen))


def test_a_claim_of_the_exponential_mechanism():
    every = exponential_mechanism.bind(n=ALL)
    assert every.verify(exp_epsilon=4).holds is True
    refuted = every.verify(exp_epsilon=3)
    assert (refuted.holds, refuted.found.n > 2) == (False, True)


def test_what_is_chosen_may_decide_what_is_asked_of_the_records():
    assert then_asked.bind(n=ALL).verify(exp_epsilon=1).holds is False
    found = least_upper(readings(then_asked.bind(n=ALL).bound), Fraction(1)).value
    assert all(then_asked.bind(n).privacy().upper <= found for n in (1, 2, 3))


@mechanism(record=Int(0, 2))
def drawn(x, bases, forms, factors):
    ones, total = x.count(1), sum(x)
    return choice(
        range(len(bases)),
        weights=[
            factor * Fraction(base) ** (a * ones + b * total + c * min(total, 3))
            for base, (a, b, c), factor in zip(bases, forms, factors)  # noqa: B905
        ],
    )


def _law(x, bases, forms, factors):
    """Return the law of what is chosen, written down anew."""
    ones, total = sum(v == 1 for v in x), sum(x)
    powers = (a * ones + b * total + c * min(total, 3) for a, b, c in forms)
    weights = [f * Fraction(base) ** each for f, base, each in zip(factors, bases, powers, strict=True)]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(24))
def test_no_ratio_is_larger_than_the_upper_end(seed):
    random = Random(seed)
    many = random.choice((2, 2, 3))
    bases = tuple(random.choice(("2", "2", "3", "1/2")) for _ in range(many))
    forms = tuple(tuple(random.choice((0, 0, 1, -1, 2)) for _ in range(3)) for _ in range(many))
    factors = tuple(random.randint(1, 3) for _ in range(many))
    given = {"bases": bases, "forms": forms, "factors": factors}
    steady = all(c == 0 for *_, c in forms)
    neighbours = random.choice(("replace-one", "unit-step", "unit-all") if steady else ("replace-one", "unit-step"))
    upper = least_upper(readings(drawn.bind(n=ALL, neighbours=neighbours, **given).bound), Fraction(1)).value
    assert upper < math.inf or neighbours == "unit-all" or not steady
    for n in (1, 2, 3, 4):
        relation = relation_of(drawn.bind(n, neighbours=neighbours, **given).bound)
        for x in product(range(3), repeat=n):
            for other in relation.neighbours(x):
                ours, theirs = (_law(each, bases, forms, factors) for each in (x, other))
                assert max(a / b for a, b in zip(ours, theirs, strict=True)) <= upper
