"""Certificates of noise on the reals that is published: of messages that it is drawn from, whatever the dataset."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from certificate_oracle import is_true, law
from tightdp import Bit, Int, flip, geometric, laplace, mechanism, uniform
from tightdp.errors import QueryError
from tightdp.session.against import compare

Density = Callable[[float], float]


def around(centre: float, scale: float) -> Density:
    """The density of noise around a centre."""
    return lambda y: math.exp(-abs(y - centre) / scale) / (2 * scale)


def of_message(message: Any, y: float) -> float:
    """The density of a number given what is told of it: a cell, one of its ends (-1, 1), and a rate."""
    low, high, side, rate = (None if each is None else float(each) for each in message)
    low, high = -math.inf if low is None else low, math.inf if high is None else high
    if not low < y < high:
        return 0.0
    if rate == 0:
        return 1 / (high - low)
    if side == 0:
        return rate * math.exp(-rate * (high - y if low == -math.inf else y - low))
    away = y - low if side == 1 else high - y
    return rate * math.sinh(rate * away) / (math.cosh(rate * (high - low)) - 1)


@mechanism(record=Bit)
def noisy_sum(x):
    return laplace(sum(x), 1)


@mechanism(record=Int(0, 2))
def scaled(x):
    return 3 - 2 * laplace(sum(x), "1/2")


@mechanism(record=Int(0, 2))
def size(x):
    return abs(laplace(x[0] - 1, 2))


@mechanism(record=Bit)
def clamped(x):
    return min(max(laplace(sum(x), 1), 0), Fraction(3, 2))


@mechanism(record=Bit)
def shifted(x):
    return laplace(sum(1 - b if flip("1/4") else b for b in x), 1) + flip("1/3")


@mechanism(record=Bit)
def above(x):
    z = laplace(2 * x[0], 1)
    return z if z > 1 else 0


@mechanism(record=Bit)
def mirrored(x):
    z = laplace(sum(x), 1)
    return z if flip("1/3") else -2 * z


def randomized(x: Any) -> Iterator[tuple[float, float]]:
    """The centres of `shifted`, with their probabilities."""
    for flips in product((0, 1), repeat=len(x) + 1):
        odds = math.prod((3, 1)[f] / 4 for f in flips[:-1]) * (2, 1)[flips[-1]] / 3
        yield odds, sum(b ^ f for b, f in zip(x, flips[:-1], strict=True)) + flips[-1]


TRUE: list[tuple[Any, Callable[[Any, float], float]]] = [
    (noisy_sum, lambda x, y: around(sum(x), 1)(y)),
    (scaled, lambda x, y: around(3 - 2 * sum(x), 1)(y)),
    (size, lambda x, y: (around(x[0] - 1, 2)(y) + around(x[0] - 1, 2)(-y)) * (y > 0)),
    (clamped, lambda x, y: around(sum(x), 1)(y) * (0 < y < 1.5)),
    (shifted, lambda x, y: sum(odds * around(centre, 1)(y) for odds, centre in randomized(x))),
    (above, lambda x, y: around(2 * x[0], 1)(y) * (y > 1)),
    (mirrored, lambda x, y: (around(sum(x), 1)(y) + around(sum(x), 1)(-y / 2)) / 3),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("mechanism_", "density"), TRUE, ids=[each.name for each, _ in TRUE])
def test_messages_from_which_the_output_is_drawn(mechanism_: Any, density: Callable[[Any, float], float]) -> None:
    """Their law, with the densities of the messages, gives the density of what is published; and e^ε is tight."""
    instance = mechanism_.bind(n=2)
    content = json.loads(instance.certify().text)
    claim, root = content["claim"], content["claim"]["root"]
    assert (claim["question"], claim["n"]) == ("privacy of messages", 2)
    power = math.exp(1 / root)
    bound = claim["bound"] if isinstance(claim["bound"], dict) else {"above": claim["bound"], "below": 1}
    ends = [c if isinstance(c, list) else [c] for c in (bound["above"], bound["below"])]
    above_, below = (sum(c * power**at for at, c in enumerate(each)) for each in ends)
    assert math.isclose(above_ / below, float(instance.privacy().exp_epsilon))
    for x in product([record[0] for record in claim["records"]], repeat=2):
        told = law(content["program"], tuple((record,) for record in x), power)
        assert math.isclose(sum(map(float, told.values())), 1)
        for y in (-3.7, -1.3, -0.6, 0.2, 0.9, 1.45, 1.7, 2.3, 4.1, 7.7):
            found = sum(float(p) * of_message(m, y) for ((m,), _), p in told.items() if isinstance(m, tuple))
            assert math.isclose(found, density(x, y), abs_tol=1e-12), (x, y)


@mechanism(record=Bit)
def histogram(x):
    return laplace(sum(x), 1), (laplace(len(x) - sum(x), "1/2"),), flip("1/3")


def test_several_numbers_and_claims() -> None:
    made = histogram.bind(n=2).certify()
    assert made.content["claim"]["bound"] == [0, 0, 0, 1]
    assert "for all that is computed from the messages (post-processing)" in made.establishes
    for claim in ({"exp_epsilon": 3}, {"epsilon": Fraction(11, 10)}, {"exp_epsilon": "exp(1)"}):
        content = json.loads(noisy_sum.bind(n=2).certify(**claim).text)
        assert is_true(content)
        assert content["claim"]["bound"] == (3 if claim == {"exp_epsilon": 3} else [0, 1])


@mechanism(record=Bit)
def twice(x):
    z = laplace(sum(x), 1)
    return z, 1 - z


@mechanism(record=Bit)
def largest(x):
    return max(laplace(sum(x), 1), laplace(x[0], 1))


@mechanism(record=Bit)
def two_scales(x):
    return laplace(sum(x), 1) if flip("1/3") else laplace(sum(x), 2)


@mechanism(record=Bit)
def moved(x):
    return uniform(sum(x), sum(x) + 2)


def test_what_has_no_such_messages() -> None:
    """A number that is published twice, the largest of two; of two laws messages say more: which of them it is."""
    for mechanism_, bound in ((twice, [0, 1]), (largest, [0, 0, 1])):
        found = mechanism_.bind(n=2).certify().content
        assert (found["claim"]["bound"], found["evidence"]["rule"]) == (bound, "alignment")
    with pytest.raises(QueryError, match="what is told of the noise says more than the numbers"):
        two_scales.bind(n=2).certify()
    with pytest.raises(QueryError, match="e\\^ε has no upper end that is known"):
        moved.bind(n=2).certify()
    with pytest.raises(QueryError, match="of noise on the reals that is published upper ends are certified"):
        noisy_sum.bind(n=2).certify(exp_epsilon=2)
    with pytest.raises(QueryError, match="real noise has no core program with finitely many outcomes"):
        noisy_sum.bind(n=2).certify(exp_epsilon=2, delta="1/5")


@mechanism(record=Int(0, 2), target=sum)
def whole_sum(x: Any) -> Any:
    """A sum with noise on all integers."""
    return sum(x) + geometric(0, "1/3")


def test_errors_of_noise_on_all_integers() -> None:
    """P(|noise| > alpha) is 2 r^(alpha+1) / (1 + r)."""
    for alpha in (0, 2, 4):
        tight = Fraction(2, 3 ** (alpha + 1)) / Fraction(4, 3)
        made = whole_sum.bind(2).certify(alpha=alpha, beta=tight)
        assert made.establishes.endswith("attained; by a theorem")
        assert compare(made.content, whole_sum.program).startswith("on all 9 datasets")
        assert whole_sum.bind(2).certify(alpha=alpha, beta=tight / 2).establishes.startswith("inaccuracy")
    with pytest.raises(QueryError, match="the witness does not show it"):
        whole_sum.bind(2).certify(alpha=30, beta="1/2")
