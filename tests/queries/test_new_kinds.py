"""A question and a kind of number that the package does not have: adding one touches no part of the other.

The question is the squared Hellinger distance, 1 - Σ_y √(P(y)·Q(y)), asked of every kind of law that there is. The
numbers are a + b·√2; everything that is asked of two laws works with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from tightdp import Bit, Instance, QueryError, discrete_gaussian, exp, flip, geometric, mechanism
from tightdp.language.neighbours import relation_of
from tightdp.logic.count import Weights
from tightdp.queries import curves, hull
from tightdp.queries.laws import ExactLaws
from tightdp.queries.privacy import Ends, Question, TwoLaws
from tightdp.session import search

# a question


@dataclass(frozen=True)
class Hellinger(Question[TwoLaws]):
    """The squared Hellinger distance, from 0 to 1."""

    side = "H² ≥"
    least = F(0)
    most = F(1)

    def ends(self, laws: TwoLaws) -> Ends:
        low, high = laws.power_sum(F(1, 2))
        return max(1 - high, F(0)) if high < math.inf else F(0), 1 - low


def response(x: Any, lam: Any) -> Any:
    return tuple(1 - b if flip(lam) else b for b in x)


def clamped(x: Any, sigma_squared: Any) -> Any:
    return max(0, min(discrete_gaussian(sum(x), sigma_squared), 2))


def published(x: Any, sigma_squared: Any) -> Any:
    return discrete_gaussian(sum(x), sigma_squared)


def compared(x: Any, sigma_squared: Any) -> Any:
    """Two draws that meet: noise is cut off."""
    return discrete_gaussian(x[0], sigma_squared) >= discrete_gaussian(0, sigma_squared)


def noisy(x: Any, eps: Any) -> Any:
    return geometric(sum(x), exp(-eps), 0, len(x))


def endless(x: Any, ratio: Any) -> Any:
    return geometric(sum(x), ratio)


KINDS: list[tuple[Any, int, dict[str, Any]]] = [
    (response, 2, {"lam": "1/5"}),
    (noisy, 2, {"eps": "1/2"}),
    (clamped, 2, {"sigma_squared": 2}),
    (compared, 1, {"sigma_squared": 1}),
    (endless, 2, {"ratio": "1/2"}),
]


def brute(instance: Instance) -> float:
    """The largest distance of neighbours, in doubles, from printed laws."""
    laws = {}
    for x in product(instance.bound.record.values, repeat=instance.n):
        found = instance.distribution(x)
        laws[x] = {output: float(mass) for output, mass in found.law}
    neighbours = relation_of(instance.bound).neighbours
    return max(
        1 - sum(math.sqrt(mass * laws[other].get(output, 0)) for output, mass in laws[x].items())
        for x in laws
        for other in neighbours(x)
    )


@pytest.mark.parametrize(("program", "n", "parameters"), KINDS, ids=lambda value: getattr(value, "__name__", None))
def test_a_new_question_is_answered_for_every_kind_of_number(program: Any, n: int, parameters: dict[str, Any]) -> None:
    instance = mechanism(record=Bit)(program).bind(n=n, **parameters)
    low, high, witness, outcome = search.largest(instance.engine, Hellinger())
    assert float(low) == pytest.approx(brute(instance), abs=1e-9)
    assert 0 <= high - low <= 1e-20
    assert outcome.status in ("exact", "bounded")
    assert witness is not None
    assert sum(witness.x) != sum(witness.x_prime)


def test_published_gaussian_noise_has_both_ends() -> None:
    """Neighbouring centres: Σ √(g(y)·g(y - 1)) = e^(-1/(8σ²)) times a sum around a half, over that around 0."""
    low, high, _, _ = search.largest(mechanism(record=Bit)(published).bind(n=3, sigma_squared=2).engine, Hellinger())
    with ctx.workprec(200):
        around = [sum(((-((arb(k) - c) ** 2)) / 4).exp() for k in range(-60, 60)) for c in (arb(0), arb(1) / 2)]
        wanted = 1 - (arb(-1) / 16).exp() * around[1] / around[0]
        assert arb(fmpq(F(low).numerator, F(low).denominator)) <= wanted + arb("1e-38")
        assert arb(fmpq(F(high).numerator, F(high).denominator)) >= wanted - arb("1e-38")
    assert high - low < F(1, 10**30)


@pytest.mark.parametrize(("n", "lam"), [("all", "1/5"), (2, "?")])
def test_where_it_has_no_answer_it_is_refused_with_a_reason(n: Any, lam: str) -> None:
    instance = mechanism(record=Bit)(response).bind(n=n, lam=lam)
    with pytest.raises(QueryError, match="no answer"):
        search.largest(instance.engine, Hellinger())


# a kind of number


@dataclass(frozen=True)
class Root:
    """a + b·√2 for rationals a and b."""

    a: F
    b: F

    @staticmethod
    def of(value: Any) -> Root:
        return value if isinstance(value, Root) else Root(F(value), F(0))

    def __add__(self, other: Any) -> Root:
        other = Root.of(other)
        return Root(self.a + other.a, self.b + other.b)

    def __neg__(self) -> Root:
        return Root(-self.a, -self.b)

    def __sub__(self, other: Any) -> Root:
        return self + -Root.of(other)

    def __rsub__(self, other: Any) -> Root:
        return Root.of(other) - self

    def __mul__(self, other: Any) -> Root:
        other = Root.of(other)
        return Root(self.a * other.a + 2 * self.b * other.b, self.a * other.b + self.b * other.a)

    def __truediv__(self, other: Any) -> Root:
        other = Root.of(other)
        norm = other.a**2 - 2 * other.b**2
        return self * Root(other.a / norm, -other.b / norm)

    def __rtruediv__(self, other: Any) -> Root:
        return Root.of(other) / self

    def __floordiv__(self, other: Any) -> Root:
        return self / other

    def __pow__(self, power: int) -> Root:
        return math.prod([self] * power, start=Root.of(1))

    __radd__, __rmul__ = __add__, __mul__

    def sign(self) -> int:
        if (self.a >= 0 and self.b >= 0) or (self.a <= 0 and self.b <= 0):
            return (self.a > 0 or self.b > 0) - (self.a < 0 or self.b < 0)
        larger = self.a if self.a**2 > 2 * self.b**2 else self.b
        return 1 if larger > 0 else -1

    def __eq__(self, other: object) -> bool:
        return other != math.inf and not (self - other).sign()

    def __hash__(self) -> int:
        return hash((self.a, self.b)) if self.b else hash(self.a)

    def __bool__(self) -> bool:
        return bool(self.sign())

    def __lt__(self, other: Any) -> bool:
        return other == math.inf or (self - other).sign() < 0

    def __gt__(self, other: Any) -> bool:
        return other != math.inf and (self - other).sign() > 0

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def ball(self) -> arb:
        a, b = (arb(value.numerator) / value.denominator for value in (self.a, self.b))
        return a + b * arb(2).sqrt()

    quick = ball

    def __float__(self) -> float:
        return float(self.a) + float(self.b) * math.sqrt(2)


def law(*weights: Any) -> Weights:
    return Weights(dict(enumerate(weights)), sum(weights))


HALF = Root(F(0), F(1, 2))
"""Half of √2."""
OURS, THEIRS = law(HALF, Root.of(1), 2 - HALF), law(2 - HALF, Root.of(1), HALF)


def masses(weights: Weights) -> list[float]:
    return [float(weight) / float(weights.total) for weight in weights.by_code.values()]  # type: ignore[arg-type]


def test_a_new_kind_of_number_is_asked_everything() -> None:
    p, q = masses(OURS), masses(THEIRS)
    for t in (F(1, 2), F(1), F(3, 2), F(2)):
        wanted = sum(max(0, a - float(t) * b) for a, b in zip(p, q, strict=True))
        assert float(curves.delta_of(OURS, THEIRS, t)) == pytest.approx(wanted)
    least = curves.least_of(OURS, THEIRS, F(1, 10))
    assert (
        curves.delta_of(OURS, THEIRS, F(float(least) - 1e-9))
        > F(1, 10)
        > curves.delta_of(OURS, THEIRS, F(float(least) + 1e-9))
    )
    corners = hull.upper_hull(hull.events_of(OURS, THEIRS, None))
    found = [float(event.y) / float(event.scale) for event in corners]  # type: ignore[arg-type]
    assert found == pytest.approx([p[2], p[2] + p[1], 1])
    for order in (F(2), F(3), F(3, 2), F(1, 2)):
        wanted = sum(a ** float(order) * b ** (1 - float(order)) for a, b in zip(p, q, strict=True))
        low, high = ExactLaws(OURS, THEIRS).power_sum(order)
        assert float(low) <= wanted + 1e-12
        assert float(high) >= wanted - 1e-12
    low, high = Hellinger().ends(ExactLaws(OURS, THEIRS))
    assert float(low) == pytest.approx(1 - sum(math.sqrt(a * b) for a, b in zip(p, q, strict=True)))
