"""What is answered about noise on all integers that is published in more ways than one number with a bounded rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from agreement import module_of
from tightdp import Bit, discrete_laplace, geometric, mechanism
from tightdp.exact.field import exp
from tightdp.results.result import LimitWitness, TripleWitness
from tightdp.session.instance import Instance

HALF = Fraction(1, 2)


def of(body: str, n: int = 1, relation: str = "replace-one") -> Instance:
    source = "".join(f"    {line}\n" for line in body.split("\n"))
    with module_of(f'@mechanism(record=Bit, neighbours="{relation}", target=sum)\ndef f(x):\n{source}') as module:
        found: Instance = module.f.bind(n=n)
        found.bound.program.source  # noqa: B018 (read while the file is there)
        return found


DIFFERENCES = """\
t = geometric(0, 1/2)
q1, q2 = geometric(x[0], 1/2), geometric(1 - x[0], 1/2)
return (q1 - t, q2 - t)"""


@pytest.mark.parametrize(
    ("body", "exp_epsilon", "attained"),
    [
        (DIFFERENCES, 4, False),
        ("z = geometric(x[0], 1/2)\nreturn z - geometric(0, 1/2)", 2, False),
        ("z = geometric(x[0], 1/2)\nreturn z + geometric(0, 1/3)", 2, False),
        ("z = geometric(x[0], 1/2)\nreturn (z, z + x[0])", math.inf, True),
        ("z, w = geometric(x[0], 1/2), geometric(x[0], 1/2)\nreturn max(z, w)", 4, True),
        ("z = geometric(x[0], 1/2)\nreturn tuple(sorted([z, 1]))", 2, True),
        ("z = geometric(x[0], 1/2)\nreturn (z // 2, z % 2)", 2, True),
        ("z = geometric(x[0], 1/2)\nreturn z % 3", Fraction(3, 2), True),
        ("z = geometric(x[0], 1/2)\nreturn max(2 * z + 1, geometric(0, 1/2))", 2, True),
        ("z = geometric(x[0], 1/2)\nobserve(z > 0)\nreturn (z, z + geometric(0, 1/3))", 1, None),
        ("z = geometric(x[0], 1/2)\nreturn (z + geometric(0, 1/2), 2 * z)", 2, True),
    ],
)
def test_tight_ratios_over_infinitely_many_outputs(body: str, exp_epsilon: Any, attained: bool | None) -> None:
    found = of(body).privacy()
    assert (found.status, found.exp_epsilon, found.attained) == ("exact", exp_epsilon, attained)


def test_int_goes_towards_zero() -> None:
    found = of("return int(laplace(x[0], 1) - laplace(0, 1)) == 0").privacy()
    assert found.exp_epsilon == (1 - Fraction(3, 2) * exp(-1)) / (HALF - exp(-2))  # the density is (1 + |d|)e^-|d|/4


def test_keys_that_only_one_dataset_has_make_epsilon_infinite() -> None:
    answer = of(
        "d = {}\nfor b in x:\n    d[b] = d.get(b, 0) + 1\nreturn {k: c + geometric(0, 1/2) for k, c in d.items()}", 2
    )
    found = answer.privacy()
    assert (found.status, found.exp_epsilon) == ("exact", math.inf)


def test_a_ratio_that_is_approached_is_said_to_be() -> None:
    found = of(DIFFERENCES).privacy()
    assert isinstance(found.witness, LimitWitness)
    assert "approached, and not attained" in str(found)
    assert found.to_dict()["result"]["witness"]["attained"] is False
    instance, seen = of(DIFFERENCES), []
    for far in (0, 3, 20):
        output = tuple(
            start + far * step for start, step in zip(found.witness.output, found.witness.direction, strict=True)
        )
        p, q = (instance.probability(x, output) for x in (found.witness.x, found.witness.x_prime))
        seen.append(p / q)
    assert seen[0] < seen[1] < seen[2] < 4
    assert 4 - seen[2] < Fraction(1, 10**5)


def test_a_witness_has_the_probabilities_that_the_interpreter_bounds() -> None:
    found = of("z, w = geometric(x[0], 1/2), geometric(x[0], 1/2)\nreturn max(z, w)").privacy()
    assert isinstance(found.witness, TripleWitness)
    assert found.witness.probability == 4 * found.witness.probability_prime


def _mass(z: int, ratio: Fraction) -> Fraction:
    return (1 - ratio) / (1 + ratio) * ratio ** abs(z)


def test_delta_accuracy_and_errors_are_those_of_the_convolution() -> None:
    reach, third = 60, Fraction(1, 3)
    law: dict[int, Fraction] = {}
    for z in range(-reach, reach + 1):
        for w in range(-reach, reach + 1):
            law[z - w] = law.get(z - w, Fraction(0)) + _mass(z, HALF) * _mass(w, third)
    instance = of("return geometric(sum(x), 1/2) - geometric(0, 1/3)", n=3)
    slack = Fraction(1, 10**12)

    def near(value: Any, wanted: Fraction) -> bool:
        return abs(value - wanted) < slack

    t = Fraction(3, 2)
    delta = instance.delta(exp_epsilon=t)
    assert delta.status == "exact"
    assert near(delta.delta, sum((max(Fraction(0), p - t * law.get(o - 1, 0)) for o, p in law.items()), Fraction(0)))
    least = instance.privacy(delta=Fraction(1, 50))
    assert least.status == "exact"
    assert instance.delta(exp_epsilon=least.exp_epsilon).delta == Fraction(1, 50)
    assert near(instance.accuracy(alpha=2).one_minus_beta, sum(p for o, p in law.items() if abs(o) <= 2))
    alpha = instance.accuracy(beta=Fraction(1, 100)).alpha
    assert alpha == next(a for a in range(reach) if sum(p for o, p in law.items() if abs(o) <= a) >= Fraction(99, 100))
    errors = instance.utility()
    assert errors.status == "exact"
    assert near(errors.value("expected absolute error"), sum(abs(o) * p for o, p in law.items()))
    assert near(errors.value("expected squared error"), sum(o * o * p for o, p in law.items()))
    assert near(errors.value("right answer"), law[0])


def test_conditioned_sums_have_the_law_of_the_runs_that_are_left() -> None:
    instance = of("z = geometric(x[0], 1/2) + geometric(0, 1/2)\nobserve(z > 0)\nreturn z")
    law = {o: sum(_mass(z, HALF) * _mass(o - z, HALF) for z in range(-80, 81)) for o in range(1, 60)}
    wanted = law[2] / sum(law.values())
    assert abs(instance.probability((0,), 2) - wanted) < Fraction(1, 10**12)


@mechanism(record=Bit)
def differs(x: Any, r: Any) -> Any:
    return geometric(x[0], r) - geometric(0, r)


def test_epsilon_is_a_function_of_an_unknown_ratio() -> None:
    (piece,) = differs.bind(n=1, r="?").privacy().pieces
    assert str(piece.value) == "1/x"


@mechanism(record=Bit, neighbours="unit-all")
def gap_sparse_vector(x: Any, most: int = 1) -> Any:
    threshold = discrete_laplace(1, 2)
    out, found = [], 0
    for v in x:
        z = discrete_laplace(v, 4 * most)
        if z >= threshold:
            out.append(z - threshold)
            found += 1
            if found >= most:
                break
        else:
            out.append(None)
    return tuple(out)


@mechanism(record=Bit, neighbours="unit-all")
def bad_gap_sparse_vector(x: Any) -> Any:
    threshold = discrete_laplace(1, 2)
    out = []
    for v in x:
        z = discrete_laplace(v, 4)
        if z >= threshold:
            out.append(z)
            break
        out.append(None)
    return tuple(out)


@mechanism(record=Bit, neighbours="unit-all")
def adaptive_sparse_vector(x: Any) -> Any:
    threshold = discrete_laplace(1, 2)
    out, spent = [], 0
    for v in x:
        z, w = discrete_laplace(v, 8), discrete_laplace(v, 4)
        if z - threshold >= 2:
            out.append(z - threshold)
            spent += 1
        elif w >= threshold:
            out.append(w - threshold)
            spent += 2
        else:
            out.append(None)
        if spent >= 2:
            break
    return tuple(out)


@mechanism(record=Bit, neighbours="unit-all")
def value_of_noisy_max(x: Any) -> Any:
    best = None
    for v in x:
        z = discrete_laplace(v, 2)
        if best is None or z > best:
            best = z
    return best


@mechanism(record=Bit)
def smart_sum(x: Any, block: int = 2) -> Any:
    shown = inside = before = 0
    out = []
    for i, v in enumerate(x):
        inside += v
        if (i + 1) % block == 0:
            before += inside + discrete_laplace(0, 1)
            inside, shown = 0, before
        else:
            shown += v + discrete_laplace(0, 1)
        out.append(shown)
    return tuple(out)


def _at_most(exponent: Any) -> Callable[[Any], bool]:
    return lambda value: value <= exp(Fraction(exponent))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("program", "n", "holds"),
    [
        (gap_sparse_vector, 3, _at_most(1)),
        (bad_gap_sparse_vector, 3, lambda value: value == exp(Fraction(3, 4))),
        (adaptive_sparse_vector, 2, _at_most(1)),
        (value_of_noisy_max, 3, lambda value: value == exp(Fraction(3, 2))),
        (smart_sum, 5, lambda value: value == exp(Fraction(2))),
    ],
)
def test_programs_of_checkdp_have_a_tight_epsilon(program: Any, n: int, holds: Callable[[Any], bool]) -> None:
    found = program.bind(n=n).privacy()
    assert found.status == "exact"
    assert holds(found.exp_epsilon), found


@pytest.mark.parametrize("n", [1, 2, 3])
def test_sums_inside_a_loop_are_exact(n: int) -> None:
    body = """\
t, out = geometric(1, 1/2), []
for v in x:
    z = geometric(sum(x) - v, 1/4)
    if z >= t:
        out.append(z - t)
        break
    out.append(None)
return tuple(out)"""
    found = of(body, n=n, relation="unit-all").privacy()
    assert found.status == "exact"
    assert found.exp_epsilon == {1: 1, 2: Fraction(2512, 187), 3: 16}[n]


def test_what_is_outside_of_the_class_is_still_enclosed() -> None:
    found = of("z = geometric(x[0], 1/9)\nreturn z * z").privacy()
    assert found.status == "bounded"
