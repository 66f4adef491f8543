"""Noise on all integers: compiled laws against runs within a reach, refusals, and published guarantees."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import tightdp.core.lowering as lowering
from agreement import bind, module_of
from tightdp import discrete_laplace, geometric, mechanism
from tightdp.core.windows import tail_nodes
from tightdp.errors import LanguageError, LimitError, ParameterError
from tightdp.exact.field import exp
from tightdp.language import interp
from tightdp.language.domains import Bit, Int
from tightdp.language.tails import Tail
from tightdp.session.instance import Instance


@pytest.mark.parametrize("ratio", [Fraction(1, 2), Fraction(4, 5)])
@pytest.mark.parametrize("bases", [(), ("1/2",), ("1/2", "1/4", "1/8"), ("9/10", "3/4", "1/5")])
def test_points_of_a_tail_have_its_means_and_positive_weights(ratio: Fraction, bases: tuple[str, ...]) -> None:
    exact = tuple(map(Fraction, bases))
    points = tail_nodes(ratio, exact)
    assert all(weight > 0 for _, weight in points)
    assert sum(weight for _, weight in points) < 1
    for base in exact:
        assert sum(weight * base**z for z, weight in points) == (1 - ratio) / (1 - ratio * base)


PROGRAMS = {
    "clamped": "def f(x):\n    return max(0, min(geometric(sum(x), 1/9), 3))",
    "a-distant-number": "def f(x):\n    z = geometric(x[0], 1/9)\n    return (z == 6, 3 <= z < 5)",
    "several-uses": """
def f(x):
    z = geometric(x[0], 1/9)
    return (abs(z) > 3, 2 * z + x[1] >= 5, -z >= 1, z != 1)
""",
    "published": "def f(x):\n    return geometric(sum(x), 1/9)",
    "published-beside": """
def f(x):
    a = geometric(x[0], 1/9)
    b = geometric(x[1] + (1 if a > 1 else 0), 1/7)
    return (a, b, b > 4 and flip(1/3))
""",
    "published-shifted": """
def f(x):
    z = geometric(x[0], 1/9)
    return (z if flip(1/4) else 3 - z) + randint(0, 2)
""",
    "threshold": """
def f(x):
    t = geometric(1, 1/9)
    return tuple(geometric(v, 1/8) >= t for v in x)
""",
    "order": """
def f(x):
    a, b = geometric(x[0], 1/9), geometric(x[1], 1/9)
    return (a - b == 1, a + b >= 3, -a < b, a > 2)
""",
    "observed": """
def f(x):
    a, b = geometric(x[0], 1/9), geometric(x[1], 1/9)
    observe(a >= b)
    return (a > 0, b > 1)
""",
    "largest": "def f(x):\n    return max(-1, min(max(geometric(x[0], 1/9), geometric(x[1], 1/8) + 1), 4))",
    "no-noise-sometimes": "def f(x):\n    return geometric(2 * x[0], x[1] / 9) >= 3",
    "words-instead": """
def f(x):
    if geometric(x[0], 1/9) < 1:
        return None
    return geometric(sum(x), 1/8) if flip((1 + x[1]) / 4) else "some"
""",
    "a-word-where-it-is-large": """
def f(x):
    z = geometric(sum(x), 1/9)
    return (None if z > 3 else 2 - z, "one" if z == 1 else False)
""",
    "loop": """
def f(x):
    best = geometric(0, 1/9)
    at = -1
    for i, v in enumerate(x):
        z = geometric(v, 1/12)
        if z > best:
            best, at = z, i
    return at
""",
}


def _in(output: Any, value: Any) -> bool:
    """Whether an output stands for a value."""
    if isinstance(output, Tail):
        return isinstance(value, int) and (value - output.first) * output.direction >= 0
    if isinstance(output, tuple):
        return all(_in(part, item) for part, item in zip(output, value, strict=True))
    return bool(output == value)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_laws_lie_between_the_ends_that_runs_within_a_reach_give(name: str) -> None:
    with module_of(PROGRAMS[name] + "\n") as module:
        bound = bind(module, Int(0, 2), 2)
        for x in ((0, 2), (1, 0)):
            law = Instance(bound).distribution(x).law
            assert sum(mass for _, mass in law) == 1
            masses, beyond = interp.law_within(bound, x, 4 if name in ("loop", "threshold") else 9)
            met = sum(masses.values())
            for output, mass in law:
                inside = sum(inner for value, inner in masses.items() if _in(output, value))
                assert inside / (met + beyond) <= mass <= (inside + beyond) / met, (x, output)
            assert all(sum(_in(output, value) for output, _ in law) == 1 for value in masses)


@pytest.mark.parametrize("ratio", ["1/2", "4/5"])
def test_wider_windows_change_nothing(ratio: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = PROGRAMS["loop"].replace("1/9", ratio).replace("1/12", "2/3")
    with module_of(source + "\n") as module:
        bound = bind(module, Int(0, 2), 2)
        law = Instance(bound).distribution((0, 2)).law
        before = lowering.Meetings.__init__

        def wider(self: Any, *arguments: Any) -> None:
            before(self, *arguments)
            self.bounds = [bound + 3 + place for place, bound in enumerate(self.bounds)]

        monkeypatch.setattr(lowering.Meetings, "__init__", wider)
        assert Instance(bound).distribution((0, 2)).law == law


OUTSIDE = {
    "argument of geometric": "def f(x):\n    return geometric(geometric(x[0], 1/2), 1/2)",
    "argument of randint": "def f(x):\n    return randint(0, geometric(x[0], 1/2))",
    "argument of binomial": "def f(x):\n    return binomial(geometric(x[0], 1/2), 1/2)",
    "how often": "def f(x):\n    t = 0\n    for i in range(geometric(x[0], 1/2)):\n        t = i\n    return t > 2",
    "how many": "def f(x):\n    return len([0] * geometric(x[0], 1/2))",
}


@pytest.mark.parametrize("what", OUTSIDE)
def test_other_uses_are_refused(what: str) -> None:
    with module_of(OUTSIDE[what] + "\n") as module:
        with pytest.raises(LanguageError, match=what) as caught:
            Instance(bind(module, Int(0, 2), 2)).privacy()
        assert caught.value.span is not None
        assert caught.value.hint


@mechanism(record=Bit)
def noisy_count(x: Any, ratio: Any) -> int:
    return geometric(sum(x), ratio)


@pytest.mark.parametrize("n", [1, 4, 9])
def test_a_count_with_unbounded_noise_has_the_ratio_as_its_guarantee(n: int) -> None:
    instance = noisy_count.bind(n=n, ratio="1/3")
    assert instance.privacy().exp_epsilon == 3
    # δ at ε = 0 of a shift by one: the mass of the peak less that of its neighbour, summed, (1 - r) / (1 + r).
    assert instance.delta(epsilon=0).delta == Fraction(1, 2)


def noisy_bit(x: Any, scale: Any) -> int:
    return discrete_laplace(sum(x), scale)


def test_the_discrete_laplace_law_has_the_privacy_of_its_scale() -> None:
    small = mechanism(record=Bit)(noisy_bit)
    answer = small.bind(n=2, scale="3/2").privacy()
    assert answer.exp_epsilon == exp(Fraction(2, 3))
    assert set(small.sample((1, 1), size=200, seed=1, scale=1)) >= {1, 2, 3}
    with pytest.raises(ParameterError, match="scale"):
        discrete_laplace(0, 0)


def test_tails_of_a_law_as_json() -> None:
    answer = noisy_count.bind(n=1, ratio="1/3").distribution((1,)).to_dict()["result"]
    above = next(tail for tail in answer["tails"] if tail["direction"] == 1)
    assert Fraction(above["first"]) == Fraction(1, 2) * Fraction(1, 3) ** (above["from"] - 1)
    assert above["ratio"] == "1/3"


def test_the_interpreter_goes_through_runs_within_a_reach_only() -> None:
    bound = noisy_count.bind(n=2, ratio="1/3").bound
    with pytest.raises(LimitError, match="infinitely many"):
        interp.law(bound, (0, 1))
    masses, beyond = interp.law_within(bound, (0, 1), 2)
    assert sum(masses.values()) + beyond == 1
    assert masses[1] == Fraction(1, 2)


def test_samples_have_no_ends_and_the_law_of_the_core() -> None:
    values = noisy_count.sample((1, 1), size=3000, seed=1, ratio="1/2")
    assert min(values) < -4
    assert max(values) > 8
    assert abs(values.count(2) / 3000 - 1 / 3) < 0.05


@mechanism(record=Int(0, 2), neighbours="unit-all")
def above(x: Any) -> tuple[int, ...]:
    noisy_threshold = geometric(1, "1/2")
    answers = []
    for v in x:
        if geometric(v, "1/4") >= noisy_threshold:
            answers.append(1)
            break
        answers.append(0)
    return tuple(answers)


@mechanism(record=Int(0, 2), neighbours="unit-all")
def largest(x: Any) -> int:
    noisy = [geometric(v, "1/2") for v in x]
    best = 0
    for i in range(1, len(noisy)):
        if noisy[i] > noisy[best]:
            best = i
    return best


def test_published_guarantees_hold_where_clamped_noise_breaks_them() -> None:
    """Dwork and Roth 2014, Theorem 3.23 (one answer above) and Claim 3.9: e^ε is 2·4^2 and 4."""
    for n in (1, 2, 3):
        assert above.bind(n=n).privacy().exp_epsilon < 32
    found = [largest.bind(n=n).privacy().exp_epsilon for n in (2, 3)]
    assert found == sorted(found)
    assert found[-1] < 4


@mechanism(record=Bit, target=sum)
def estimate(x: Any, ratio: Any) -> int:
    return geometric(sum(x), ratio)


@pytest.mark.parametrize("ratio", ["1/2", "2/3"])
def test_accuracy_counts_the_integers_of_tails(ratio: str) -> None:
    """P(|z| > a) = 2·r^(a + 1)/(1 + r) on every dataset, within the core and beyond."""
    instance, r = estimate.bind(n=3, ratio=ratio), Fraction(ratio)
    for alpha in (0, 1, Fraction(5, 2), 4, 30):
        worst, *others = instance.accuracy(alpha).top
        assert 1 - worst.one_minus_beta == 2 * r ** (int(alpha) + 1) / (1 + r)
        assert not others
    for beta in (Fraction(1, 3), Fraction(1, 100), Fraction(1, 10**6)):
        alpha = int(instance.accuracy(beta=beta).alpha)
        assert 2 * r ** (alpha + 1) / (1 + r) <= beta < 2 * r**alpha / (1 + r)
