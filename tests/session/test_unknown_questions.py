"""Questions that the engine answers cell by cell of an unknown, against the engine with numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

import pytest

from command_line import run
from conftest import FULL
from generators.comparison import TooSlow, imported, time_limit
from generators.mechanisms import draw_mechanism
from parametrised import differences, ends_of, value_at, with_parameter
from thinned import thinned
from tightdp import (
    Bit,
    Instance,
    Int,
    Mechanism,
    ParameterError,
    QueryError,
    TightdpError,
    Top,
    canaries_needed,
    choice,
    exp,
    flip,
    geometric,
    mechanism,
)
from tightdp.results.guessing import Guessing


@mechanism(record=Bit, target=sum)
def counted(x: Any, lam: Any) -> Any:
    """The sum of randomized responses."""
    return sum(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit)
def response(x: Any, lam: Any) -> Any:
    """Randomized responses."""
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit, target=sum)
def noisy(x: Any, lam: Any) -> Any:
    """A count with geometric noise."""
    return geometric(sum(x), lam, 0, len(x))


@mechanism(record=Int(0, 2), target=lambda x: max(x.count(k) for k in range(3)))
def winner(x: Any, lam: Any) -> Any:
    """The exponential mechanism."""
    return choice(range(3), weights=[exp(lam * sum(r == k for r in x) / 2) for k in range(3)])


@mechanism(record=lambda k: Int(0, k))
def sized(x: Any, k: Any) -> Any:
    """A domain that depends on a parameter."""
    return x[0]


REFUSED = ("curve", "tradeoff", "zcdp", "utility", "optimum", "report", "explain", "core", "show", "failure")


def law(found: Guessing) -> Any:
    return tuple(((r, v), p) for r, v, p in found.joint.entries if p)


def rows(found: Any) -> Any:
    names = ("efficacy", "ac", "ddp", "dp", "adaptive")
    listed = [(row.guesses, name, getattr(row, name)) for row in found.rows for name in names]
    return tuple(((guesses, name), value) for guesses, name, value in listed if value is not None)


Question = tuple[Callable[[Instance], Any], Callable[[Any], Any]]
QUESTIONS: dict[str, Question] = {
    "delta": (lambda one: one.privacy(delta="1/10"), lambda found: found.exp_epsilon),
    "delta with e": (lambda one: one.privacy(delta="exp(-2)"), lambda found: found.exp_epsilon),
    "beta": (lambda one: one.accuracy(beta="1/7"), lambda found: found.alpha),
    "efficacy": (lambda one: one.efficacy(), rows),
    "adaptive": (lambda one: one.efficacy(2, adaptive=True), rows),
    "guessing": (lambda one: one.guessing("2/3"), law),
    "top": (lambda one: one.guessing(Top(1)), law),
    "order": (lambda one: one.adaptive_guessing(order=(1, 0)), law),
    "classic": (lambda one: one.classic_guessing(2, x=(0, 0), x_prime=(0, 1), threshold="3/5"), law),
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("program", [counted, response, noisy, winner], ids=lambda each: each.name)
@pytest.mark.parametrize("question", thinned(QUESTIONS, 2))
def test_at_random_rationals_and_at_ends(question: str, program: Mechanism) -> None:
    if question == "beta" and program in (response, winner):
        return
    ask, value = QUESTIONS[question]
    found = ask(program.bind(n=2, lam="?[1/20,19/20]"))
    rng = random.Random(7)
    values = [F(rng.randint(50, 950), 1000) for _ in range(200 if FULL else 4)]
    inside = [each for each in (*values, *ends_of(found)) if value_at(found, each) is not None]
    assert len(inside) >= len(values)
    assert differences(found, inside, lambda each: value(ask(program.bind(n=2, lam=each)))) == []
    assert found.to_dict()["result"]["pieces"]
    assert str(found)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(200 if FULL else 6))
def test_drawn_programs(seed: int) -> None:
    drawn = draw_mechanism(seed)
    with imported(with_parameter(drawn.source, seed)) as module:
        for question in ("delta", "efficacy", "guessing"):
            ask, value = QUESTIONS[question]
            try:
                with time_limit(20):
                    found = ask(module.f.bind(n=drawn.n, q="?[1/10,9/10]", max_nodes=20_000))
            except (TightdpError, TooSlow):
                continue
            values = [F(2, 7), F(1, 2), F(17, 20)]
            assert differences(found, values, lambda each, a=ask, v=value: v(a(module.f.bind(n=drawn.n, q=each)))) == []  # type: ignore[misc]


def test_a_step_at_a_root_belongs_to_the_lower_side() -> None:
    found = counted.bind(n=6, lam="?").accuracy(beta="1/10")
    assert [part.value for part in found.pieces] == list(range(7))
    assert all(part.with_stop for part in found.pieces[:-1])
    assert not any(part.with_start for part in found.pieces[1:])


@mechanism(record=Bit)
def jumping(x: Any, lam: Any) -> Any:
    """A probability that is another one, or 0, at 1/sqrt(2) alone."""
    return x[0] ^ flip(F(1, 10) if 2 * lam * lam == 1 else F(1, 4)), x[0] and flip(abs(2 * lam * lam - 1))


def test_a_jump_at_a_root_is_decided_there() -> None:
    found = jumping.bind(n=1, lam="?[1/2,9/10]")
    parts = found.privacy().pieces
    assert [(part.value, part.with_start, part.with_stop) for part in parts] == [
        (math.inf, True, False), (9, True, True), (math.inf, False, True),
    ]  # fmt: skip
    assert parts[1].start == parts[1].stop
    assert parts[1].start.polynomial == "-1 + 2*lam**2"
    (only,) = found.solve(exp_epsilon=9).holds
    assert (only.start, only.with_start, only.with_stop) == (only.stop, True, True)
    assert found.solve(exp_epsilon=8).holds == ()


@mechanism(record=Bit)
def worse_at_a_root(x: Any, lam: Any) -> Any:
    """Randomized response that flips less at 1/sqrt(2)."""
    return x[0] ^ flip(F(1, 10) if 2 * lam * lam == 1 else F(1, 4))


def test_a_claim_that_fails_at_a_root_alone() -> None:
    found = worse_at_a_root.bind(n=1, lam="?[1/2,9/10]")
    left, right = found.solve(exp_epsilon=3).holds
    assert (left.with_stop, right.with_start) == (False, False)
    refuted = found.verify(exp_epsilon=3)
    assert refuted.holds is False
    assert "-1 + 2*lam**2 = 0" in refuted.claims[0].claim
    assert found.verify(exp_epsilon=9).holds


def test_delta_at_an_epsilon_with_many_digits_is_exact() -> None:
    """With a value of the unknown e^ε is enclosed there."""
    found = counted.bind(n=2, lam="?").delta(epsilon="10001/20000")
    enclosed = counted.bind(n=2, lam="1/10").delta(epsilon="10001/20000")
    assert found.status == "exact"
    assert enclosed.status == "bounded"
    assert enclosed.lower < value_at(found, F(1, 10)) < enclosed.upper


def test_what_is_refused() -> None:
    instance = counted.bind(n=3, lam="?")
    for ask, words in [
        (lambda: instance.efficacy(pairs="best"), "best pairs"),
        (lambda: instance.guessing(delta="1/10"), "ε at a delta depends on lam"),
        (lambda: instance.privacy(top=2), "no ratios are ranked"),
        (lambda: counted((0, 1), lam="?"), "a run needs its value"),
        (lambda: canaries_needed(instance), "lam is unknown here"),
        (lambda: sized.bind(n=1, k="?"), "record domain of sized depends on the unknown k"),
        *((getattr(instance, name), "no answer with lam unknown") for name in REFUSED),
        (lambda: instance.privacy_loss(), "no answer with lam unknown"),
    ]:
        with pytest.raises((QueryError, ParameterError), match=words):
            ask()


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    program = ["programs/randomized_response.py", "n=2", "lam=?[0,1/2]"]
    status, out, _ = run(capsys, "efficacy", *program)
    assert status == 0
    assert "1 - lam" in out
    status, out, _ = run(capsys, "guessing", *program, "--adaptive")
    assert status == 0
    assert "(2, 2)" in out
    status, out, _ = run(capsys, "privacy", *program, "--delta", "exp(-3)")
    assert status == 0
    assert "tight e^ε" in out


@mechanism(record=Bit)
def leaky(x: Any, eps: Any) -> Any:
    """Randomized response that shows the record with probability 1/100."""
    return tuple((b, 1) if flip("1/100") else (1 - b if flip(1 / (1 + exp(eps))) else b, 0) for b in x)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("share", ["eps", "eps/2", "eps/3"])
@pytest.mark.parametrize("delta", thinned(["1/200", "1/100", "1/20", "1/5"], 2))
def test_claims_at_a_delta_with_the_unknown_in_them(share: str, delta: str) -> None:
    found = leaky.bind(n=2, eps="?[1/10,2]").solve(epsilon=share, delta=delta).holds
    unknown = leaky.bind(n=2, eps="?[1/10,2]").verify(epsilon=share, delta=delta)
    values = [F(k, 10) for k in range(1, 21)]
    holds = {}
    for value in values:
        exact = leaky.bind(n=2, eps=value).verify(epsilon=value * F(share.replace("eps", "1")), delta=delta)
        holds[value] = exact.holds
        inside = any(s.safe_start <= value <= s.safe_stop for s in found if s.safe_start is not None)
        assert inside == exact.holds
    assert unknown.holds == all(holds.values())


def test_a_claim_about_the_ratio_at_a_delta_with_the_unknown_in_it() -> None:
    ours = counted.bind(n=3, lam="?[1/10,1/2]")
    assert ours.verify(exp_epsilon="(1-lam)/lam", delta="1/100").holds
    refuted = ours.verify(exp_epsilon="(1-lam)/lam/2", delta="1/100")
    assert refuted.holds is False
    at = F(dict(refuted.subject.parameters)["lam"])
    assert counted.bind(n=3, lam=at).verify(exp_epsilon=max(F(1), (1 - at) / at / 2), delta="1/100").holds is False


@mechanism(record=Bit)
def inside_and_outside(x: Any, eps: Any) -> Any:
    """A program that is no rational function of its unknown, nor of a power of e to it."""
    return tuple(1 - b if flip(eps / 4) else b for b in x) if flip(exp(-eps)) else ()


def test_an_unknown_stands_inside_and_outside_of_exp() -> None:
    """It is no polynomial: taken for one, the tight e^ε came out constant."""
    ours = inside_and_outside.bind(n=1, eps="?[1/10,1]")
    tight, delta = ours.privacy(), ours.delta(exp_epsilon=2)
    for value in (F(1, 10), F(1, 2), F(1)):
        numbers = inside_and_outside.bind(n=1, eps=value)
        for found, expected in ((tight, numbers.privacy().exp_epsilon), (delta, numbers.delta(exp_epsilon=2).delta)):
            assert at(found, value) == pytest.approx(float(expected))
    assert ours.verify(exp_epsilon=40, delta="1/10").holds
    assert ours.verify(exp_epsilon="4/eps - 1").holds
    refuted = ours.verify(exp_epsilon="3/eps - 1")
    assert refuted.holds is False


def at(found: Any, value: F) -> float:
    """Return a function of the unknown at a value of it."""
    part = found.part(value).value
    return float(part) if isinstance(part, F) else float(part.to_sympy().subs({"x": value, "eps": value}).evalf(20))


@mechanism(record=Int(0, 2), target=sum)
def noisy_sum(x: Any, eps: Any) -> Any:
    """A sum with clamped geometric noise."""
    return geometric(sum(x), exp(-eps / 2), 0, 3)


@mechanism(record=Int(1, 4))
def responses(x: Any, eps: Any) -> Any:
    """How many of some flips of different probability are true."""
    return sum(flip(exp(-eps * v / 3)) for v in x)


@mechanism(record=Int(0, 2))
def mixed_noise(x: Any, eps: Any) -> Any:
    """Noise that depends on a record."""
    return geometric(sum(x), exp(-eps * (1 + x[0])), 0, 4)


@pytest.mark.parametrize("given", ["?", "?[0,3]", "?[1/10,4]"])
def test_ranges_that_end_at_a_power_of_e(given: str) -> None:
    """Took minutes: every comparison of an end with a root doubled the digits of the end."""
    found = noisy_sum.bind(n=2, eps=given).delta(exp_epsilon=2)
    for value in (F(1, 2), F(7, 10), F(5, 2)):
        assert value_at(found, value) == noisy_sum.bind(n=2, eps=value).delta(exp_epsilon=2).delta


@pytest.mark.one_in(4)
@pytest.mark.parametrize("program", [noisy_sum, responses, mixed_noise])
@pytest.mark.parametrize("delta", ["1/20", "1/3"])
def test_the_least_ratio_at_a_delta_is_shown_to_hold_around_one_value(program: Any, delta: str) -> None:
    """Took minutes: every comparison of the search for one value cut the range."""
    found = program.bind(n=2, eps="?").privacy(delta=delta)
    for value in (F(1, 7), F(4, 5), F(3, 2), F(3)):
        assert value_at(found, value) == program.bind(n=2, eps=value).privacy(delta=delta).exp_epsilon


@mechanism(record=Bit)
def leaks_at_the_ends(x: Any, q: Any) -> Any:
    """Tells everything where q is 0 or 1/2, and keeps ε-DP between."""
    return x[0] ^ flip(q) if q < F(1, 2) else x[0]


def test_intervals_say_whether_their_ends_belong_to_them() -> None:
    solution = leaks_at_the_ends.bind(n=1, q="?[0,1]").solve(exp_epsilon=3)
    (span,) = solution.holds
    assert (span.start.value, span.with_start, span.stop.value, span.with_stop) == (F(1, 4), True, F(1, 2), False)
    for value in (F(0), F(1, 4), F(1, 3), F(1, 2), F(1)):
        assert solution.holds_at(value) == leaks_at_the_ends.bind(n=1, q=value).verify(exp_epsilon=3).holds
    (record,) = solution.to_dict()["result"]["holds"]
    assert (record["from_included"], record["to_included"]) == (True, False)
    assert "1/2 = 0.5 (excluded)" in str(solution)
