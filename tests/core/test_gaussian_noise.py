"""Discrete Gaussian noise: enclosures against runs within a reach, closed forms, published accountants, samples."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from agreement import bind, module_of
from tightdp import discrete_gaussian, flip, mechanism
from tightdp.errors import LimitError, ParameterError
from tightdp.exact import theta
from tightdp.exact.field import exp
from tightdp.language import interp
from tightdp.language.domains import Bit, Int
from tightdp.language.tails import GaussianTail
from tightdp.methods.base import Control, Pair
from tightdp.methods.choose import program_of
from tightdp.queries.measures import AccuracyAt, LeastError
from tightdp.queries.privacy import DeltaAt, LeastRatio
from tightdp.results.privacy import Privacy
from tightdp.session import moments, search
from tightdp.session.instance import Instance
from tightdp.session.widened import around_ratio

NARROW = Fraction(1, 10**12)


@mechanism(record=Bit, target=sum)
def count(x: Any, s: Any) -> Any:
    return discrete_gaussian(sum(x), s)


@mechanism(record=Bit)
def by_a_coin(x: Any) -> Any:
    return discrete_gaussian(sum(x) if flip(Fraction(1, 2)) else 0, 4)


def _masses(variance: Fraction, reach: int) -> dict[int, arb]:
    """The law by its definition, all of the sums written out."""
    terms = {k: (-arb(fmpq(k * k * variance.denominator, 2 * variance.numerator))).exp() for k in range(reach + 1)}
    total = terms[0] + 2 * sum((terms[k] for k in range(1, reach + 1)), arb(0))
    return {k: terms[abs(k)] / total for k in range(-reach, reach + 1)}


def _in(value: Any, low: Any, high: Any) -> bool:
    """Whether a ball meets an interval, which is narrow."""
    ends = [arb(fmpq(Fraction(end).numerator, Fraction(end).denominator)) for end in (low, high)]
    assert Fraction(high) - Fraction(low) <= NARROW * Fraction(high)
    return bool(ends[0].union(ends[1]).overlaps(value + arb(0, arb(10) ** -60 * abs(value))))


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(1), Fraction(25, 2), Fraction(400)])
def test_masses_and_tails_are_those_of_the_definition(variance: Fraction) -> None:
    with ctx.workprec(400):
        law = _masses(variance, 40 * (math.isqrt(int(variance)) + 1))
        for k in (0, 1, 2, 5, 11):
            beyond = sum((law[z] for z in law if z >= k), arb(0))
            for found, wanted in ((theta.mass(variance, k), law[k]), (theta.beyond(variance, k), beyond)):
                error = abs(arb(fmpq(found.numerator, found.denominator)) / wanted - 1)
                assert error < arb(2) ** -255
    assert theta.beyond(variance, -3) == 1 - theta.beyond(variance, 4)
    assert theta.beyond(variance, theta.reach_of(variance)) < Fraction(1, 1 << 200)


PROGRAMS = {
    "clamped": "def f(x):\n    return max(0, min(discrete_gaussian(sum(x), 1), 3))",
    "several-uses": "def f(x):\n    z = discrete_gaussian(x[0], 2)\n    return (abs(z) > 3, 2 * z + x[1] >= 5, z != 1)",
    "published": "def f(x):\n    return discrete_gaussian(sum(x), 1)",
    "published-shifted": """
def f(x):
    z = discrete_gaussian(x[0], 1)
    return (z if flip(1/4) else 3 - z) + randint(0, 2)
""",
    "published-beside": """
def f(x):
    a = discrete_gaussian(x[0], 1/2)
    return (a, discrete_gaussian(x[1] + (1 if a > 1 else 0), 1/3) > 0, a > 4 and flip(1/3))
""",
    "published-sometimes": "def f(x):\n    return discrete_gaussian(0, 1) if x[0] and flip(1/3) else 2",
    "variance-of-the-run": "def f(x):\n    return discrete_gaussian(0, 1 + x[0]) >= x[1]",
    "with-laplace": "def f(x):\n    return (geometric(x[1], 1/9), discrete_gaussian(x[0], 1) > 2)",
    "observed": "def f(x):\n    z = discrete_gaussian(x[0], 1)\n    observe(z >= 0)\n    return min(z, 4)",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_laws_enclose_runs_within_a_reach(name: str) -> None:
    reach = {"published-beside": 7, "with-laplace": 8}.get(name, 12)
    with module_of(PROGRAMS[name] + "\n") as module:
        bound = bind(module, Int(0, 2), 2)
        for x in ((0, 2), (1, 0)):
            found = Instance(bound).distribution(x)
            assert found.status == ("exact" if (name, x[0]) == ("published-sometimes", 0) else "bounded")
            masses, beyond = interp.law_within(bound, x, reach)
            met, slack = sum(masses.values()), Fraction(1, 10**60)
            upper = dict(found.upper or found.law)
            for output, low in found.law:
                if not any(isinstance(part, str) for part in (output if isinstance(output, tuple) else (output,))):
                    inside = masses.get(output, 0)
                    assert inside / (met + beyond) <= upper[output] * (1 + slack)
                    assert low <= (inside + beyond) / met * (1 + slack), (x, output)
            assert set(masses) <= set(upper) or name == "with-laplace"
            assert sum(low for _, low in found.law) <= 1 <= sum(upper.values())


@pytest.mark.parametrize(("s", "order"), [("1", 2), ("4", 3), ("9/2", 17), ("100", 64), ("1", 40)])
def test_renyi_divergence_of_a_count_is_known(s: str, order: int) -> None:
    """At whole orders a it is a·Δ²/(2σ²) (Canonne, Kamath and Steinke 2020, Proposition 5), and so is ρ."""
    instance = count.bind(n=3, s=s)
    found, rho = instance.renyi(order), instance.zcdp()
    with ctx.workprec(400):
        exponent = Fraction(order * (order - 1)) / (2 * Fraction(s))
        wanted = arb(fmpq(exponent.numerator, exponent.denominator)).exp()
        assert _in(wanted, found.lower, found.upper)
    assert rho.lower == rho.rho == 1 / (2 * Fraction(s))


@pytest.mark.parametrize(
    ("output", "rho"),
    [
        ("-discrete_gaussian(3 * x[0], 2)", Fraction(9, 4)),
        ("7 - discrete_gaussian(sum(x), 4)", Fraction(1, 8)),
        ("(discrete_gaussian(sum(x), 4), 5)", Fraction(1, 8)),
    ],
)
def test_rho_of_noisy_numbers_is_known_for_many_records(output: str, rho: Fraction) -> None:
    with module_of(f"def f(x):\n    return {output}\n") as module:
        for n in (2, 9):
            found = Instance(bind(module, Bit, n)).zcdp()
            assert found.lower == found.rho == rho
            assert found.witness is not None
            assert found.witness.x[0] != found.witness.x_prime[0]


@pytest.mark.parametrize("s", [Fraction(1, 2), Fraction(4), Fraction(30)])
@pytest.mark.parametrize("t", [Fraction(1), Fraction(3, 2), Fraction(4)])
def test_delta_of_a_count_is_that_of_its_definition(s: Fraction, t: Fraction) -> None:
    found = count.bind(n=2, s=s).delta(exp_epsilon=t)
    with ctx.workprec(400):
        law = _masses(s, 40 * (math.isqrt(int(s)) + 1))
        parts = [p - arb(fmpq(t.numerator, t.denominator)) * law[z - 1] for z, p in law.items() if z - 1 in law]
        assert _in(sum((part for part in parts if part > 0), arb(0)), found.lower, found.upper)


def test_the_event_of_a_delta_is_one_of_integers() -> None:
    witness = count.bind(n=2, s=4).delta(epsilon=1).witness
    assert witness is not None
    assert witness.event == tuple(range(min(witness.event), -3))


@pytest.mark.extra("dp-accounting")
def test_epsilon_at_delta_agrees_with_a_published_accountant() -> None:
    import dp_accounting as accounting

    loss = accounting.pld.privacy_loss_mechanism.DiscreteGaussianPrivacyLoss(sigma=2.0)
    found = count.bind(n=4, s=4).privacy(delta="1/100000")
    assert found.upper - found.lower <= NARROW * found.lower
    assert loss.get_delta_for_epsilon(found.epsilon) == pytest.approx(1e-5, rel=1e-9)
    exact = count.bind(n=4, s=4).delta(epsilon=1)
    assert loss.get_delta_for_epsilon(1) == pytest.approx(float(exact), rel=1e-9)


G4 = theta.mass(Fraction(2), 4)


def test_pure_epsilon_is_infinite_where_neighbours_move_published_noise() -> None:
    found = count.bind(n=2, s=1).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", math.inf)
    assert not count.bind(n=2, s=1).verify(epsilon=100)


@pytest.mark.parametrize(
    ("source", "ratio"),
    [
        # whoever flips a bit hides what is around the noise
        ("def f(x):\n    return discrete_gaussian(1 if flip(1/4) != x[0] else 0, 1)", 3),
        ("def f(x):\n    return (flip(1/3) != x[0], discrete_gaussian(0, 2))", 2),
        ("def f(x):\n    return (discrete_gaussian(0, 2), x[0] or flip(1/2))", math.inf),
        ("def f(x):\n    return discrete_gaussian(0, 2) if x[0] or flip(1/2) else 4", (1 + 1 / G4) / 2),
    ],
)
def test_pure_epsilon_where_published_noise_does_not_move(source: str, ratio: float) -> None:
    with module_of(source + "\n") as module:
        found = Instance(bind(module, Bit, 1)).privacy()
        if ratio == math.inf:
            assert (found.status, found.exp_epsilon) == ("exact", math.inf)
        else:
            assert found.lower <= ratio * (1 + NARROW) <= found.upper * (1 + 2 * NARROW)
            assert found.upper - found.lower <= NARROW * found.lower


@mechanism(record=Int(0, 2), target=sum)
def clamped(x: Any) -> Any:
    return max(0, min(discrete_gaussian(sum(x), 4), 3))


def test_every_question_about_clamped_noise_has_a_narrow_answer() -> None:
    instance, probability = clamped.bind(n=2), {}
    law = {k: theta.mass(Fraction(4), abs(k)) for k in range(-40, 41)}
    for centre in range(5):
        at = {y: Fraction(0) for y in range(4)}
        for z, mass in law.items():
            at[max(0, min(centre + z, 3))] += mass
        probability[centre] = at
    pairs = [(a, b) for a in range(5) for b in range(5) if abs(a - b) <= 2]
    largest = max(probability[a][y] / probability[b][y] for a, b in pairs for y in range(4))
    moment = max(sum(probability[a][y] ** 3 / probability[b][y] ** 2 for y in range(4)) for a, b in pairs)
    third = max(sum(max(0, probability[a][y] - 3 * probability[b][y]) for y in range(4)) for a, b in pairs)
    near = min(sum(p for y, p in probability[c].items() if abs(y - c) <= 1) for c in range(5))
    for found, wanted in (
        (instance.privacy(), largest),
        (instance.renyi(3), moment),
        (instance.delta(exp_epsilon=3), third),
        (instance.accuracy(1), near),
    ):
        assert found.status == "bounded"
        assert found.lower <= wanted * (1 + Fraction(1, 10**30)) <= found.upper * (1 + Fraction(1, 10**29))
        assert found.upper - found.lower <= NARROW * found.upper
    assert instance.zcdp().upper <= Fraction(instance.renyi("inf").epsilon) ** 2
    curve, tradeoff = instance.curve(), instance.tradeoff()
    assert [t for t, _ in curve.points] == [t for t, _ in curve.lower]
    assert all(low <= high for (_, low), (_, high) in zip(curve.lower, curve.points, strict=True))
    assert tradeoff.vertices[0][0] == 0
    assert tradeoff.vertices[-1] == (1, 0)
    assert instance.accuracy(beta="1/100").status == "exact"


def test_what_is_too_far_out_is_left_open() -> None:
    with module_of("def f(x):\n    return discrete_gaussian(x[0], 1/3) > 999\n") as module:
        found = Instance(bind(module, Bit, 1)).privacy()
    assert found.status == "unresolved"
    assert "from its centre" in found.reason


@pytest.mark.parametrize("variance", [0, -1, exp(1)])
def test_the_variance_is_a_positive_rational(variance: Any) -> None:
    with pytest.raises(ParameterError, match="sigma_squared"):
        discrete_gaussian(0, variance)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("s", [Fraction(1, 4), Fraction(2), Fraction(37, 3)])
def test_samples_have_the_law(s: Fraction) -> None:
    size = 6000
    drawn = Counter(count.bind(n=1, s=s).sample((1,), size=size, seed=5).outputs)
    for z in range(-6, 9):
        p = float(theta.mass(s, abs(z - 1)))
        assert abs(drawn[z] - size * p) <= 5 * math.sqrt(size * p * (1 - p)) + 3


def test_tails_are_outputs_that_say_what_they_are() -> None:
    law = dict(count.bind(n=1, s=1).distribution((1,)).law)
    tails = [output for output in law if isinstance(output, GaussianTail)]
    assert len(tails) == 2
    assert all(law[tail] < Fraction(1, 10**59) for tail in tails)


def test_pairs_that_were_left_out_leave_the_upper_end_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(control: Control, comparison: object) -> Iterator[Pair]:
        control.stopped = LimitError("enough", "ask for less")
        return iter(())

    engine, other = count.bind(n=1, s=4).engine, by_a_coin.bind(n=1).engine
    monkeypatch.setattr(Control, "pairs", cut)
    for found in (moments.concentrated(other), moments.renyi_divergence(engine, Fraction(2))):
        assert (found.status, found.upper) == ("unresolved", math.inf)
    assert moments.concentrated(engine).upper == Fraction(1, 8)  # by what the noise is added to


def test_ratios_that_a_limit_left_are_widened_too() -> None:
    engine = clamped.bind(n=2).engine
    engine.program.core(engine.control())
    known = {"status": "unresolved", "reason": "enough", "lower": Fraction(2)}
    found = around_ratio(engine, Privacy(subject=engine.subject, exp_epsilon=Fraction(3), **known))
    assert (found.status, found.upper) == ("unresolved", math.inf)
    assert Fraction(199, 100) < found.lower < 2


@pytest.mark.parametrize(
    ("question", "upper", "left"),
    [
        (LeastRatio(Fraction(1, 50)), math.inf, 3),
        (DeltaAt(Fraction(3, 2), Fraction(3, 2)), 1, 3),
        (LeastError(Fraction(1, 4)), math.inf, 1),
        (AccuracyAt(Fraction(1)), None, 1),
    ],
)
def test_what_was_looked_at_before_a_limit_leaves_one_end(
    question: Any, upper: Any, left: int, monkeypatch: Any
) -> None:
    wanted, pairs, inputs = search.answer(clamped.bind(n=2).engine, question), Control.pairs, Control.inputs

    def cut(control: Control, comparison: Any) -> Iterator[Pair]:
        yield from islice(pairs(control, comparison), left)
        control.stopped = LimitError("enough", "ask for less")

    def cut_inputs(control: Control, table: Any, datasets: Any) -> Iterator[Any]:
        yield from islice(inputs(control, table, datasets), left)
        control.stopped = LimitError("enough", "ask for less")

    monkeypatch.setattr(Control, "pairs", cut)
    monkeypatch.setattr(Control, "inputs", cut_inputs)
    found = search.answer(clamped.bind(n=2).engine, question)
    assert found.status == "unresolved"
    if upper is None:  # 1 - β is at most what the datasets have that were looked at
        assert 0 == found.lower < wanted.lower < wanted.upper <= found.upper < 1
    else:
        assert found.upper == upper
        assert 0 < found.lower <= wanted.lower <= wanted.upper


@mechanism(record=Int(0, 2), neighbours="unit-all")
def each_clamped(x: Any) -> Any:
    return tuple(max(0, min(discrete_gaussian(v, 2), 2)) for v in x)


def test_what_the_interpreter_cannot_answer_is_enclosed() -> None:
    found = each_clamped.bind(n=3).zcdp()
    assert found.status == "bounded"
    assert Fraction(61, 100) < found.lower <= found.rho < Fraction(62, 100)


def test_a_core_program_says_how_far_its_laws_are_whatever_was_compiled_before() -> None:
    bound = clamped.bind(n=2).bound
    first, second = program_of(bound), program_of(bound)
    assert first.core(Control()).inexact is not None
    assert first.inexact == first.core(Control()).inexact
    assert second.inexact is None
    assert second.core_of((0, 1), Control()).inexact == second.inexact is not None
