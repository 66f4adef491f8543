# ruff: noqa: E501
"""Numbers in doubles: `random()` of few bits is enumerated by the interpreter; of 53 bits halving says the same."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from agreement import assert_agreement, module_of
from tightdp import Bit, Int, discrete_laplace, flip, mechanism, observe
from tightdp.core.doubles import Double, Raised, Tape
from tightdp.errors import LanguageError, ParameterError, ProgramError, QueryError
from tightdp.language.program import Program

K = Double(0)
HEAD = "import math\nimport random\nimport numpy as np\n"

PROGRAMS = {
    "coin": "return x[0] ^ (random.random() < 0.3)",
    "two-cuts": "u = random.random()\n    return 0 if u < 0.3 else 1 if u < 0.1 * (x[0] + 5) else 2",
    "scaled": "u = random.random() * (math.exp(1.0) + 1)\n    return x[0] if u <= math.exp(1.0) else 1 - x[0]",
    "numpy-scaled": "u = random.random() * (np.exp(1.0) + 1)\n    return 1 - x[0] if u > np.exp(1.0) + 0.0 else x[0]",
    "cumulative": "c = np.cumsum(np.array([0.1, 0.2 + x[0] * 0.1, 0.7 - x[0] * 0.1]))\n    u = random.random()\n    return int(np.argmax(u <= c)) if np.any(u <= c) else 3",
    "softmax": "s = np.array([x[0], 1, 2])\n    p = np.exp(0.5 * (s - max(s)))\n    p /= p.sum()\n    return int(np.argmax(random.random() <= np.cumsum(p)))",
    "in-turn": "u, a = random.random(), 0.0\n    for i, p in enumerate([0.1, 0.2 + x[0] * 0.1, 0.7]):\n        a += p\n        if u < a:\n            return i\n    return 3",
    "geometric": "u = (random.random() - 0.5) * (1 + math.exp(-0.7))\n    s = -1 if u < 0 else 1\n    return 'zero' if u == 0 else int(x[0] + s * math.floor(math.log(s * u) / -0.7))",
    "laplace": "u = random.random() - 0.5\n    return 0.0 if u == -0.5 else x[0] - math.copysign(1.0, u) * math.log(1 - 2 * abs(u))",
    "laplace-of-numpy": "u = random.random() - 0.5\n    return x[0] - np.sign(u) * np.log(1 - 2 * np.abs(u))",
    "rounded": "u = random.random() - 0.5\n    return round(x[0] + 3 * math.copysign(1.0, u) * math.log1p(-1.9 * abs(u)))",
    "two-draws": "return (random.random() < 0.3) + (random.random() < 0.7) + x[0]",
    "of-two-draws": "s = 1 if random.random() < 0.5 else -1\n    return x[0] + s * math.log(1 - random.random())",
    "many": "u = random.random()\n    return u + x[0] / 3 > 0.5, math.sin(3 * u) > 0.5, abs(u - 0.5) < 0.1, u ** 2 < 0.3, 1 / (u + 1) < 0.7",
    "more": "u = random.random()\n    return int(u * 4), (u * 10) % 3 < 1, math.sqrt(u) < 0.3, u // 0.3, math.cos(u) < 0.9, -u > -0.2, bool(u), u == 0.25",
    "unordered": "u = random.random()\n    return int(u * 8) ^ 5, (int(u * 4) & 1) * x[0]",
    "close": "return bool(np.isclose(random.random(), 0.5)), np.isclose(0.1 + 0.2, 0.3)",
    "both-sides": "u = random.random()\n    y = u if x[0] else 1 - u\n    return y < 0.3, (y if u < 0.5 else 2.0) < 0.4",
    "arrays": "a = np.array([random.random() for _ in range(2)])\n    return (a < 0.3).sum(), np.where(a < 0.5, 1, x[0])",
    "lists": "a = [random.random(), random.random()]\n    return sum(v < 0.4 for v in a), [5, 6, 7][int(3 * a[0])]",
    "plain": "return 0.1 + 0.2, 0.1 + 0.2 == 0.3, sum([0.1] * 3), x[0] / 3, 7 // 2.0, 2 ** -1, math.sqrt(2), float(x[0]), (0.1 + 0.2) * 10 % 1",
    "numpy-plain": "a = np.array([0.1, 0.2, 0.3])\n    return a.sum(), a.mean(), np.log(a), a.var(), np.ones(10).sum() * 0.1, a @ [1, 2, 3] if 0 else a / 3, np.sqrt(a[0]), a.std()",
    "infinite": "return np.log(np.float64(0.0)), np.exp(np.array([800.0])), -math.inf if x[0] else 1.0",
    "records": "return random.random() < (x[0] + 1) / 7, x[0] * 0.1 + x[0] * 0.2",
}  # fmt: skip


def _module(body: str) -> Any:
    return module_of(f"{HEAD}def f(x):\n    {body}\n")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_small_grid_has_the_law_that_all_its_points_have(name: str) -> None:
    with _module(PROGRAMS[name]) as module:
        bound = Program(module.f, Bit, floats=5).bind(1)
        assert assert_agreement(bound, ("cudd",)).failing == 0


FAILING = {
    "log-of-0": ("return math.log(random.random())", 2),
    "divided": ("return 1 / (random.random() - 0.5) + x[0]", 2),
    "guarded": ("u = random.random()\n    return (math.log(u) if u > 0 else 0.0) < -x[0]", 0),
    "infinite-int": ("return int(np.log(random.random()))", 2),
    "overflow": ("return math.exp(1000.0 * x[0])", 1),
    "on-one-side": ("u = random.random()\n    return math.sqrt(u - 0.5 * x[0]) < 0.5", 1),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_number_that_cannot_be_computed_is_a_run_that_fails(name: str) -> None:
    body, failing = FAILING[name]
    with _module(body) as module:
        assert assert_agreement(Program(module.f, Bit, floats=5).bind(1), ("cudd",)).failing == failing


def _count(condition: Any, first: int, last: int) -> int:
    """How many k have a property that holds up to some k and no further, by halving over k alone."""
    low, high = first, last
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if condition(middle) else (low, middle - 1)
    return low + 1


@mechanism(record=Bit)
def warner(x, p=0.3):
    return 1 - x[0] if random.random() < p else x[0]


def test_with_53_bits_the_probability_is_a_count_of_k() -> None:
    below = _count(lambda k: k * 2.0**-53 < 0.3, 0, 2**53 - 1)
    assert abs(below - Fraction(3, 10) * 2**53) < 2
    found = warner.bind(n=1, floats=True).privacy()
    assert found.status == "exact"
    assert found.exp_epsilon == Fraction(2**53 - below, below) != Fraction(7, 3)


@mechanism(record=Int(0, 2))
def steps(x):
    u = random.random()
    return "zero" if u == 0 else math.floor(math.log(u) / -0.7) + x[0]


def test_steps_of_a_logarithm_are_counted_with_53_bits() -> None:
    law = dict(steps.bind(n=1, floats=True).distribution((0,)).law)
    assert sum(law.values()) == 1
    assert law["zero"] == Fraction(1, 2**53)
    for step in (0, 1, 7, 30, 52):
        least = _count(lambda k, step=step: k == 0 or math.floor(math.log(k * 2.0**-53) / -0.7) > step, 0, 2**53 - 1)
        most = _count(lambda k, step=step: k == 0 or math.floor(math.log(k * 2.0**-53) / -0.7) >= step, 0, 2**53 - 1)
        assert law[step] == Fraction(most - least, 2**53)


@mechanism(record=Bit)
def textbook_laplace(x, scale=1.0):
    u = random.random() - 0.5
    return x[0] - scale * np.sign(u) * np.log(1 - 2 * np.abs(u))


def test_mironovs_hole_is_an_output_that_one_of_two_neighbours_reaches() -> None:
    found = textbook_laplace.bind(n=1, floats=True).privacy()
    assert (found.exp_epsilon, found.status) == (math.inf, "exact")
    witness = found.witness
    output = float(witness.output)
    one, other = witness.x[0], witness.x_prime[0]
    assert witness.probability_prime == 0
    scale = 2**53

    def reached(record: int) -> int:
        """How many k give the output, near the two where it would be, by trying all of 2,000 around each."""
        count = 0
        for sign in (-1, 1):
            u = sign * (1 - math.exp(-sign * (output - record))) / 2 + 0.5
            middle = min(max(round(u * scale), 0), scale - 1)
            for k in range(max(0, middle - 1000), min(scale, middle + 1000)):
                v = k / scale - 0.5
                if record - 1.0 * np.sign(v) * np.log(1 - 2 * np.abs(v)) == output:
                    count += 1
        return count

    assert reached(other) == 0
    assert Fraction(reached(one), scale) == witness.probability > 0


def test_what_is_kept_of_an_output_is_a_lower_end_only() -> None:
    instance = textbook_laplace.bind(n=1, floats=True)
    delta = instance.delta(epsilon=1)
    assert (delta.status, delta.delta) == ("bounded", 1)
    assert 0 < delta.lower < Fraction(1, 2**40)
    with pytest.raises(QueryError, match="doubles"):
        instance.tradeoff()


REFUSED = {
    "two": ("return random.random() < random.random()", "two draws"),
    "no-hole": ("return random.random() * 0.5", "more values"),
    "undecided": ("u = random.random()\n    return (u * 1e6) % 1.0 < 0.5", "too many values"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_decided_is_refused_at_its_place(name: str) -> None:
    body, what = REFUSED[name]
    with _module(body) as module, pytest.raises(LanguageError, match=what) as caught:
        mechanism(record=Bit)(module.f).bind(n=1, floats=True).privacy()
    assert caught.value.span is not None
    assert caught.value.hint


def test_what_floats_may_be() -> None:
    with pytest.raises(ParameterError, match="floats"):
        warner.bind(n=1, floats=54)
    with pytest.raises(QueryError, match="doubles"):
        warner.bind(n="all", floats=True)
    assert warner.bind(n=1).privacy().exp_epsilon == Fraction(7, 3)  # random() is a real number without floats


def test_a_retry_loop_ends_with_probability_one() -> None:
    with _module("k = 1\n    while random.random() >= 0.75:\n        k = 3 - k\n    return k ^ x[0]") as module:
        law = dict(mechanism(record=Bit)(module.f).bind(n=1, floats=True).distribution((0,)).law)
    assert law == {1: Fraction(4, 5), 2: Fraction(1, 5)}


def test_a_run_that_fails_with_53_bits_is_found() -> None:
    with _module("return math.log(random.random()) < -1") as module, pytest.raises(ProgramError, match="math domain"):
        mechanism(record=Bit)(module.f).bind(n=1, floats=True).privacy()


TREES = {
    "sum": ("float add", K, 0.1),
    "product": ("float mul", K, -3.7),
    "quotient": ("float div", 1.0, Double(0, "float add", (K, 1.0))),
    "logarithm": ("math log", Double(0, "float add", (K, 0.25))),
    "power": ("float pow", Double(0, "float add", (K, 0.5)), 1.7),
    "numpy-exp": ("numpy exp d", Double(0, "float mul", (K, 5.0))),
    "wave": ("math sin", Double(0, "float mul", (K, 9.0))),
    "distance": ("abs", Double(0, "float sub", (K, 0.4))),
    "remainder": ("float mod", Double(0, "float mul", (K, 3.0)), 0.7),
    "rounded": ("round", Double(0, "float mul", (K, 9.0))),
    "square": ("numpy square d", Double(0, "float sub", (K, 0.4))),
    "copied": ("math copysign", 2.0, Double(0, "float sub", (K, 0.4))),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", TREES)
def test_the_ends_on_a_range_hold_every_value_on_it(name: str) -> None:
    operation, *operands = TREES[name]
    tape = Tape(Double(0, operation, tuple(operands)), 12)
    generator = random.Random(7)
    for _ in range(200):
        first = generator.randrange(1 << 12)
        last = min((1 << 12) - 1, first + generator.choice([0, 1, 5, 100, 2000]))
        ends = tape.over(first, last, ())
        values = [tape.at(k, ()) for k in range(first, last + 1)]
        if ends is None or isinstance(ends, Raised):
            assert ends is None or all(isinstance(value, Raised) for value in values)
        else:
            assert all(ends[0] <= value <= ends[1] for value in values)


@mechanism(record=Bit)
def meet(x):
    z, w = discrete_laplace(sum(x), 1), discrete_laplace(0, 1)
    return z - w == 0.0, z - w > 2.5, z > -3.5, max(z, 1.5) == 1.5


def test_noise_on_all_integers_meets_doubles_as_it_meets_the_same_fractions() -> None:
    exactly, in_doubles = (meet.bind(n=1, floats=floats).distribution((0,)) for floats in (False, True))
    assert exactly.status == in_doubles.status == "exact"
    assert exactly.law == in_doubles.law


@mechanism(record=Bit)
def signed_by_a_coin(x):
    z, step = sum(x), 1 if flip("1/2") else -1
    while flip("1/2"):
        z += step
        observe(flip("3/4"))
    return z


@mechanism(record=Bit)
def in_halves(x):
    z = 0
    while flip("1/2"):
        z += 1
    return (sum(x) + z) / 2, (sum(x) + z) / 3 > 0.5


@pytest.mark.slow(seconds=4)
def test_loops_that_count_in_integers_have_the_same_law_with_floats() -> None:
    """What a noisy integer gives in doubles is no part of that: quotients are rounded."""
    exactly, in_doubles = (signed_by_a_coin.bind(n=1, floats=floats).privacy() for floats in (False, True))
    assert (in_doubles.status, in_doubles.exp_epsilon) == (exactly.status, exactly.exp_epsilon)
    assert exactly.exp_epsilon == Fraction(16, 3)
    assert in_halves.bind(n=1, floats=True).privacy().status == "bounded"
