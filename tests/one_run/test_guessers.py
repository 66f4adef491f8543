"""Guessers, adaptive and classic audits, and what audit methods report: against brute force and closed forms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F
from math import comb
from typing import Any

import pytest

from efficacy_oracle import Game
from efficacy_programs import CASES, conditioned, running, two_groups, union, weights
from expectations import mechanisms
from observations import audit
from tightdp import Instance, ParameterError, QueryError, Top, canaries_needed
from tightdp.exact.numbers import log
from tightdp.language import interp
from tightdp.one_run import guessers
from tightdp.one_run.guessers import as_joint_law, right_of_top
from tightdp.session import one_run

THRESHOLDS = (F(1, 2), F(3, 5), F(1))


def instance(name: str, **parameters: Any) -> Instance:
    """An instance of a mechanism of programs/."""
    return mechanisms(name)[name].bind(**parameters)


def small(case: tuple[Any, int, Any]) -> tuple[Instance, Game]:
    """A case with at most four clients, and its game."""
    program, n, pairs = case
    n = min(n, 4)
    pairs = pairs and pairs[:n]
    return program.bind(n=n), Game(program.bind(n=n).bound, pairs)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].name)
def test_joint_laws_agree_with_brute_force(case: Any) -> None:
    found, game = small(case)
    for least in THRESHOLDS:
        law = found.guessing(least, pairs=game.pairs).joint
        assert law.to_dict() == game.joint_law(game.threshold_guesser(least))
        assert sum(p for _, _, p in law.entries) == 1
    for k in range(1, found.n + 1):
        law = found.guessing(Top(k), pairs=game.pairs).joint
        assert law.to_dict() == game.joint_law(game.top_guesser(k))
        assert law.right / k == found.efficacy(k, game.pairs).rows[0].efficacy


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].name)
def test_the_largest_posteriors_without_a_list_of_outputs(case: Any) -> None:
    found, game = small(case)
    law = law_of(found, game.pairs)
    for k in range(1, found.n + 1):
        right = right_of_top(law, k)
        assert (right is None) == (case[0].name == "shame")  # its groups take turns in the order of clients
        if right is not None:
            assert as_joint_law(law.n, {k: right}).to_dict() == game.joint_law(game.top_guesser(k))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_largest_posteriors_of_clients_that_are_alike(k: int) -> None:
    """Two levels of posteriors, 1 and 3/4, and many outputs: by closed form, by groups in order, and by brute force."""
    found = instance("randomized_response_delta", n=4, delta="1/3", exp_epsilon=3)
    game = Game(found.bound)
    expected = game.joint_law(game.top_guesser(k))
    assert found.guessing(Top(k)).joint.to_dict() == expected
    law = law_of(found)
    ((group, clients),) = law.distinct.items()
    for right in (right_of_top(law, k), guessers._alike(group, clients, k), guessers._ordered(law, k)):
        assert right is not None
        assert as_joint_law(law.n, {k: right}).to_dict() == expected


def law_of(found: Instance, pairs: Any = None) -> Any:
    """The law of an audit."""
    return one_run._Audit(found.engine, pairs, None).law


def test_many_largest_posteriors() -> None:
    """Of 200 clients each is known with probability 1/10; 30 guesses are more than are known on average."""
    law = instance("randomized_response_delta", n=200, delta="1/10", exp_epsilon=3).guessing(Top(30)).joint
    known = [F(comb(200, j) * 9 ** (200 - j), 10**200) for j in range(201)]
    right = sum((p * (min(j, 30) + F(3, 4) * max(0, 30 - j)) for j, p in enumerate(known)), F(0))
    assert law.right == right
    assert {r for r, _, _ in law.entries} == {30}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].name)
def test_guessers_given_as_functions(case: Any) -> None:
    found, game = small(case)

    def guess(output: Any) -> list[int | None]:
        size = len(repr(output))
        return [(size + at) % 3 % 2 if (7 * size + at) % 4 else None for at in range(found.n)]

    assert found.guessing(guess, pairs=game.pairs).joint.to_dict() == game.joint_law(guess)


@pytest.mark.parametrize("guesses", [[0], [0, 1, 2], "01", None, [0.5, 1]])
def test_bad_guesses_are_refused(guesses: Any) -> None:
    with pytest.raises(ParameterError):
        instance("count", n=2).guessing(lambda output: guesses)


@pytest.mark.parametrize("guesser", ["best", "1/3", 2, Top(0), Top(3)])
def test_bad_guessers_are_refused(guesser: Any) -> None:
    with pytest.raises(ParameterError):
        instance("count", n=2).guessing(guesser)


def test_randomized_response_is_binomial() -> None:
    law = instance("randomized_response", n=1000, lam="1/5").guessing().joint
    assert {r for r, _, _ in law.entries} == {1000}
    assert law.to_dict()[1000, 800] == F(comb(1000, 800) * 4**800, 5**1000)
    half = instance("randomized_response", n=40, lam="1/5").guessing(Top(20)).joint
    assert half.to_dict() == {(20, v): F(comb(20, v) * 4**v, 5**20) for v in range(21)}


def test_counts_have_all_guesses_right_together() -> None:
    law = instance("count", n=6).guessing("certain").joint
    assert law.to_dict() == {(0, 0): 1 - F(1, 32), (6, 6): F(1, 32)}
    large = instance("count_in_sets", n=200, s=10).guessing("certain").joint
    assert large.to_dict() == {(10 * j, 10 * j): F(comb(20, j) * 511 ** (20 - j), 512**20) for j in range(21)}


# adaptive


@pytest.mark.one_in(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].name)
def test_adaptive_laws_agree_with_brute_force(case: Any) -> None:
    found, game = small(case)
    orders = [tuple(range(found.n)), (0, *range(found.n - 1, 0, -1))]
    for least, order in itertools.product(THRESHOLDS, orders):
        law = found.adaptive_guessing(least, order=order, pairs=game.pairs).joint
        assert law.to_dict() == game.adaptive_law(order, least)


@pytest.mark.parametrize("program", [two_groups, union, conditioned, weights, running], ids=lambda p: p.name)
def test_the_adaptive_optimum_is_that_of_brute_force(program: Any) -> None:
    found = program.bind(n=3).efficacy(adaptive=True)
    game = Game(program.bind(n=3).bound)
    assert [row.adaptive for row in found.rows] == [game.adaptive_optimum(k) for k in (1, 2, 3)]
    for row in found.rows:
        assert row.adaptive is not None
        assert row.efficacy <= row.adaptive <= row.dp


def test_xor_in_pairs() -> None:
    """keinan2025, Prop. E.7: an audit learns nothing, an adaptive one all that it guesses."""
    found = instance("xor_in_pairs", n=4).efficacy(adaptive=True)
    assert [row.efficacy for row in found.rows] == [F(1, 2)] * 4
    assert [row.adaptive for row in found.rows] == [1, 1, F(5, 6), F(3, 4)]


def test_certain_adaptive_guesses_of_a_count() -> None:
    """keinan2025, App. E.3.2: min(Geometric(1/2), n) guesses, 2 - 2^-(n-1) in expectation."""
    for n in (1, 2, 10):
        law = instance("count", n=n).adaptive_guessing(1).joint
        assert law.guesses == law.right == 2 - F(1, 2 ** (n - 1))
    sets = instance("count_in_sets", n=200, s=10).adaptive_guessing(1).joint
    assert sets.guesses == 20 * (2 - F(1, 2**9))
    assert instance("count_in_sets", n=200, s=10).guessing("certain").joint.guesses == 200 * F(2, 2**10)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [1, 2, 3]])
def test_bad_orders_are_refused(order: list[int]) -> None:
    with pytest.raises(ParameterError):
        instance("count", n=3).adaptive_guessing(order=order)


@pytest.mark.slow(seconds=6)
def test_the_search_for_the_best_order_is_limited() -> None:
    found = instance("randomized_response", n=40, lam="1/5").efficacy(adaptive=True)
    assert (found.status, found.cut_short) == ("bounded", True)
    assert {row.adaptive for row in found.rows} == {None}
    assert found.rows[-1].efficacy == F(4, 5)


# classic audits


def test_classic_audits() -> None:
    found = instance("randomized_response_count", n=3, lam="1/4")
    x, other = (0, 0, 0), (1, 0, 0)
    law, law_prime = (interp.law(found.bound, dataset) for dataset in (x, other))
    right = sum(max(law[y], law_prime[y]) for y in law) / 2
    joint = found.classic_guessing(7, x=x, x_prime=other).joint
    assert joint.to_dict() == {(7, v): comb(7, v) * right**v * (1 - right) ** (7 - v) for v in range(8)}
    certain = instance("count", n=3).classic_guessing(5, threshold=1)
    assert certain.joint.to_dict() == {(5, 5): 1}
    assert certain.exp_epsilon == math.inf
    default = found.classic_guessing(7)
    assert default.exp_epsilon == found.privacy().exp_epsilon == 3
    # the likeliest ratio only: few guesses, each right with probability e^eps / (1 + e^eps)
    sharp = found.classic_guessing(7, threshold="3/4")
    assert sharp.joint.guesses < 7
    assert sharp.joint.right == sharp.joint.guesses * F(3, 4)


# what audit methods report


def naive(canaries: int, guesses: int, right: int) -> float:
    """No audit: the log odds of the share of right guesses."""
    return math.inf if right == guesses else max(0.0, math.log(max(right, 1) / (guesses - right)))


def test_the_law_of_what_is_reported() -> None:
    found = instance("randomized_response", n=4, lam="1/5").guessing()
    reported = found.reported(naive)
    law = {F(v): p for v, p in zip(range(5), [F(comb(4, v) * 4**v, 625) for v in range(5)], strict=True)}
    assert reported.law[-1] == (math.inf, law[F(4)])
    assert reported.wrong == law[F(4)]
    assert reported.at_least(1.0) == law[F(3)] + law[F(4)]
    assert reported.power() == law[F(3)] + law[F(4)]
    assert reported.expectation == math.inf
    bounded = found.reported(lambda m, r, v: F(v, r))
    assert bounded.expectation == F(4, 5)
    assert bounded.wrong == 0
    assert "wrong" in bounded.to_dict()["result"]
    assert "expected reported" in str(bounded)


def test_equality_with_the_true_epsilon_is_no_wrong_alarm() -> None:
    found = instance("randomized_response", n=1, lam="1/2").guessing()
    assert found.exp_epsilon == 1
    assert found.reported(lambda m, r, v: 0).wrong == 0
    assert found.reported(lambda m, r, v: F(1, 10**30)).wrong == 1


def test_no_guess_reports_nothing() -> None:
    found = instance("count", n=3).guessing("certain").reported(naive)
    assert found.law[0] == (0, F(3, 4))


def binomial_rule(canaries: int, guesses: int, right: int) -> float:
    """The bound of Steinke et al. for pure DP at 95 %, in floats, by bisection."""

    def tail(q: float) -> float:
        return sum(comb(guesses, v) * q**v * (1 - q) ** (guesses - v) for v in range(right, guesses + 1))

    low, high = 0.5, 1.0
    if tail(low) > 0.05:
        return 0.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) <= 0.05 else (low, middle)
    return math.log(low / (1 - low))


@pytest.mark.slow(seconds=3)
def test_how_many_canaries_it_takes() -> None:
    program = mechanisms("randomized_response")["randomized_response"]
    found = canaries_needed(lambda n: program.bind(n=n, lam="1/5"), binomial_rule, power="19/20", at_most=128)
    assert found.canaries is not None
    powers = {point.canaries: point.power for point in found.points}
    assert powers[found.canaries] >= F(19, 20) > powers[found.canaries - 1]
    half = log(F(4)) / 2

    def power(n: int) -> F:
        masses = (F(comb(n, v) * 4**v, 5**n) for v in range(n + 1))
        return sum((p for v, p in enumerate(masses) if binomial_rule(n, n, v) >= half), F(0))

    assert powers[found.canaries] == power(found.canaries)
    assert max(program.bind(n=n, lam="1/5").guessing().reported(binomial_rule).wrong for n in (5, 20)) <= F(1, 20)
    assert powers[found.canaries] >= F(19, 20)
    assert {p.canaries: p.reported >= F(log(F(4))) / 2 for p in found.points} == {
        n: p >= F(19, 20) for n, p in powers.items()
    }
    never = canaries_needed(lambda n: program.bind(n=n, lam="1/5"), lambda m, r, v: 0, at_most=4)
    assert never.canaries is None
    assert "more than 4" in str(never)


@pytest.mark.slow(seconds=3)
def test_one_call_says_how_many_canaries_it_takes() -> None:
    """Methods by name are bisected over the right guesses; the same rule as a function is asked about all of them."""
    program = mechanisms("randomized_response")["randomized_response"].bind(n=1, lam="1/5")
    found = canaries_needed(program)
    assert found.canaries == 120
    assert found.rule == "optimal"
    whole = canaries_needed(
        program, lambda m, r, v: audit(canaries=m, guesses=r, correct=v, method="steinke"), at_most=64
    )
    assert whole.canaries is None
    assert whole.points == canaries_needed(program, "steinke", at_most=64).points


def test_a_search_in_which_the_power_only_falls_is_given_up() -> None:
    """A rule that reports something only where every guess is right: ever less likely."""
    program = mechanisms("randomized_response")["randomized_response"].bind(n=1, lam="1/5")

    def needed(**arguments: Any) -> Any:
        return canaries_needed(program, lambda m, r, v: 1 if v == r else 0, epsilon=1, power="9/10", **arguments)

    found = needed()
    assert [(point.canaries, point.power) for point in found.points] == [(n, F(4, 5) ** n) for n in (1, 2, 4, 8)]
    assert (found.status, found.canaries, found.at_most) == ("unresolved", None, 8)
    assert found.reason == "the power only fell, from 0.8 for n = 1 to 0.167772 for n = 8"
    assert "patience" in found.hint
    assert found.reason in str(found)
    assert needed(patience=4).at_most == 16
    whole = needed(at_most=16, patience=None)
    assert (whole.status, whole.canaries, whole.at_most) == ("exact", None, 16)
    with pytest.raises(ParameterError, match="patience"):
        needed(patience=0)


@pytest.mark.slow(seconds=4)
def test_canaries_at_a_delta() -> None:
    """With δ the ε of a leaking mechanism is finite, and the larger δ costs canaries."""
    program = mechanisms("randomized_response_delta")["randomized_response_delta"]
    leaking = program.bind(n=1, delta="1/1000", exp_epsilon=9)
    with pytest.raises(QueryError, match="infinite"):
        canaries_needed(leaking)
    found = canaries_needed(leaking, delta="1/1000", at_most=256)
    assert {point.exp_epsilon for point in found.points} == {9}
    assert found.canaries is not None
    assert found.canaries >= canaries_needed(leaking, epsilon=F(log(F(3))), at_most=256).canaries  # type: ignore[operator]


def test_an_absolute_epsilon_is_reported() -> None:
    found = canaries_needed(mechanisms("count")["count"], epsilon="1/10", at_most=8)
    assert found.canaries is None
    assert found.share is None
    assert "1/10" in str(found)
    with_pairs = canaries_needed(
        mechanisms("name_and_shame")["name_and_shame"].bind(n=1, k=40),
        lambda m, r, v: 1,
        epsilon=1,
        guesser=Top(3),
        pairs=lambda n: [(2 * i, 2 * i + 1) for i in range(n)],
    )
    assert with_pairs.canaries == 3
    for arguments in ({"guesser": Top(5), "at_most": 4}, {"share": "x"}, {"rule": "best"}):
        with pytest.raises(ParameterError):
            canaries_needed(mechanisms("count")["count"], **arguments)  # type: ignore[arg-type]


def test_audit_methods_by_name() -> None:
    found = instance("randomized_response", n=12, lam="1/5").guessing()
    by_name, by_hand = found.reported("steinke"), found.reported(binomial_rule)
    assert len(by_name.law) == len(by_hand.law)
    for (epsilon, p), (other, q) in zip(by_name.law, by_hand.law, strict=True):
        assert p == q
        assert math.isclose(epsilon, other, abs_tol=1e-9)


@pytest.mark.extra("plot")
def test_plots_draw_on_the_axes_given() -> None:
    from matplotlib import pyplot

    axes = pyplot.figure().subplots()
    program = mechanisms("randomized_response")["randomized_response"]
    law = program.bind(n=5, lam="1/5").guessing()
    assert law.plot(axes) is axes
    assert instance("count_in_sets", n=4, s=2).guessing("certain").plot(axes) is axes
    assert law.reported(binomial_rule).plot(axes) is axes
    assert instance("count", n=3).guessing().reported(binomial_rule).plot(axes) is axes
    assert canaries_needed(lambda n: program.bind(n=n, lam="1/5"), binomial_rule, at_most=8).plot(axes) is axes
    assert canaries_needed(program.bind(n=1, lam="1/5"), epsilon="1/10", at_most=16).plot().figure is not axes.figure
