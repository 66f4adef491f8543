"""The validity check of audit rules: against brute force over datasets, mirror images, and known counterexamples."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from fractions import Fraction as F
from typing import Any

import pytest
from scipy.optimize import linprog

from efficacy_oracle import Game
from efficacy_programs import CASES
from expectations import mechanisms
from observations import audit, outcome_probability
from thinned import thinned
from tightdp import Adaptive, ParameterError, validity
from tightdp.auditing.worst_case import largest_of_any_number, largest_probability
from tightdp.one_run.gaps import restricted_least, restricted_ratio
from tightdp.results.audit import Trial, Validity, WorstGame
from tightdp.results.guessing import Level, Method, Reports
from tightdp.session import one_run
from tightdp.session.harness import default_programs

DELTAS = (F(1, 1000), F(1, 20), F(1, 3))


def least_ratio(game: Game, delta: F) -> F | float:
    """The least t >= 1 with Σ max(0, P - tP') <= delta on all datasets that differ in one bit, test by test."""
    best: F | float = F(1)
    for bits, law in game.laws.items():
        for at in range(game.n):
            other = game.laws[(*bits[:at], 1 - bits[at], *bits[at + 1 :])]
            ordered = sorted(law, key=lambda y: law[y] / other[y] if other.get(y) else math.inf, reverse=True)
            ours = theirs = F(0)
            for y in ordered:
                ours, theirs = ours + law[y], theirs + other.get(y, F(0))
                if ours > delta:
                    best = max(best, (ours - delta) / theirs if theirs else math.inf)
    return best


@pytest.mark.parametrize(("program", "n", "pairs"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_the_true_epsilon_at_delta(program: Any, n: int, pairs: Any) -> None:
    n = min(n, 3)
    pairs = pairs and pairs[:n]
    law = one_run._Audit(program.bind(n=n).engine, pairs, None).law
    game = Game(program.bind(n=n).bound, pairs)
    assert restricted_ratio(law).upper == game.exp_epsilon()
    for delta in DELTAS:
        assert restricted_least(law, delta) == (least_ratio(game, delta),) * 2


# programs


def reports_more(method: str, delta: F, exp_epsilon: F | float, m: int, r: int, v: int) -> bool:
    """Whether the audit's rejected e^ε is above the true one."""
    if not r or exp_epsilon == math.inf:
        return False
    return audit(canaries=m, guesses=r, correct=v, delta=delta, method=method).exp_epsilon_lower > exp_epsilon


@pytest.mark.one_in(8)
@pytest.mark.parametrize("method", ["order-statistics", "steinke", "optimal"])
@pytest.mark.parametrize("delta", [F(0), F(1, 20)], ids=["pure", "approximate"])
def test_programs_agree_with_brute_force(method: str, delta: F) -> None:
    programs = [found for found in default_programs(delta) if found.n < 6]
    found = validity(method, delta=delta, programs=programs, guessers=["all", "3/4"], games=())
    trials = iter(found.trials)
    for instance, least in itertools.product(programs, (F(1, 2), F(3, 4))):
        game, trial = Game(instance.bound), next(trials)
        true = least_ratio(game, delta)
        law = game.joint_law(game.threshold_guesser(least))
        wrong = {(r, v): p for (r, v), p in law.items() if reports_more(method, delta, true, game.n, r, v)}
        assert trial.exp_epsilon == true
        assert trial.probability == trial.upper == sum(wrong.values(), F(0))
        assert set(trial.observations) == set(wrong)
        assert trial.varies == (len({r for r, _ in law}) > 1)


def test_adaptive_guessers_agree_with_brute_force() -> None:
    def bold(m: int, r: int, v: int) -> F:
        return F(v, r) * 3

    instance = next(found for found in default_programs(F(0)) if found.subject.mechanism == "noisy_differences")
    (trial,) = validity(bold, programs=[instance], guessers=[Adaptive("3/4", [2, 0, 1, 3])], games=()).trials
    game = Game(instance.bound)
    law = game.adaptive_law([2, 0, 1, 3], F(3, 4))
    # e^ε is 9: 9/4 is more than its logarithm, 2 is not
    assert math.log(9) < 9 / 4
    assert trial.probability == sum((p for (r, v), p in law.items() if r and F(v, r) >= F(3, 4)), F(0))


def test_the_order_statistics_method_is_wrong_too_often() -> None:
    """xiang2025, Theorem 3, at δ = 1/20: blind guesses about a dataset that is given away in one run of twenty."""
    program = mechanisms("all_or_nothing")["all_or_nothing"].bind(n=5, p="1/20")
    found = validity("order-statistics", delta="1/20", programs=[program], guessers=["all"], games=())
    assert found.valid is False
    assert found.probability == F(51, 640) > F(1, 20)
    witness = found.witness
    assert isinstance(witness, Trial)
    assert witness.exp_epsilon == 1
    assert witness.observations == ((5, 5),)
    assert program.guessing(delta="1/20").reported("order-statistics").wrong == F(51, 640)
    assert program.adaptive_guessing(delta="1/20").exp_epsilon == 1
    assert validity("order-statistics", delta=0).valid is True


def test_programs_with_pairs() -> None:
    """A rule that always reports ε = 1, on a mechanism whose ε is ln 2, with pairs in either direction."""
    program = mechanisms("geometric_count")["geometric_count"].bind(n=3, ratio="1/2", neighbours="replace-one")
    pairs = [(1, 0), (0, 1), (1, 0)]
    (trial,) = validity(lambda m, r, v: 1, programs=[(program, pairs)], guessers=[None], games=()).trials
    game = Game(program.bound, pairs)
    assert trial.exp_epsilon == game.exp_epsilon() == 2
    assert trial.probability == 1


def test_the_binomial_bound_is_wrong_at_low_confidence_only() -> None:
    """At a significance of 99/100 it rejects a mechanism that is sure to get 1 of 2 right; up to 1/2 it is proved."""
    low, usual = (
        validity("steinke", delta="1/5", significance=level, programs=(), games=[(2, 2)]) for level in ("99/100", "1/2")
    )
    assert low.valid is False
    assert low.probability == 1
    assert usual.valid is True


@pytest.mark.parametrize(
    ("method", "n", "delta"),
    [("optimal", 20, "1/100"), ("fdp", 20, "1/100"), pytest.param("steinke", 100, "1/1000", marks=pytest.mark.slow)],
)
def test_no_method_stands_when_the_output_chooses_how_many_guesses_are_made(method: str, n: int, delta: str) -> None:
    assert validity(method, delta=delta, programs=(), games=[(n, None)]).valid is False


@pytest.mark.parametrize("method", thinned(["steinke", "optimal", "fdp"], 3))
@pytest.mark.parametrize(
    "delta", [pytest.param(each, marks=pytest.mark.slow(seconds=3)) for each in ("1/20", "0", "1/1000")]
)
def test_no_fault_is_found_with_the_others(method: str, delta: str) -> None:
    found = validity(method, delta=delta)
    assert found.valid is True
    assert found.probability <= F(1, 20)
    assert "no proof" in str(found)


def test_no_other_method_is_wrong_as_often_as_the_optimal_one() -> None:
    games = [(10, 10), (30, 20)]
    optimal, steinke = (validity(name, delta="1/500", programs=(), games=games) for name in ("optimal", "steinke"))
    for best, other in zip(optimal.games, steinke.games, strict=True):
        assert other.probability < best.probability <= best.upper <= F(1, 20)
        assert best.probability > F(49, 1000)


# the worst case


def test_known_optima() -> None:
    assert largest_probability(2, 2, [2], F(1), F(1, 10)).lower == F(13, 40)
    assert largest_probability(5, 5, [5], F(1), F(1, 20)).upper == F(51, 640)
    assert largest_probability(4, 3, [], F(2), F(0)).upper == 0
    assert largest_probability(4, 3, [0, 1, 2, 3], F(2), F(0)).lower == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("t", [F(1), F(3, 2), F(5)])
@pytest.mark.parametrize("delta", [F(0), F(1, 50), F(1, 4)])
@pytest.mark.parametrize(("m", "r"), [(1, 1), (3, 2), (6, 6), (9, 4)])
def test_mirrored_sets_have_the_same_optimum(m: int, r: int, t: F, delta: F) -> None:
    """Guessing the opposite turns v right into r - v: the program for {0..r-v} against the closed form for {v..r}."""
    for v in range(1, r + 1):
        closed = largest_probability(m, r, range(v, r + 1), t, delta)
        solved = largest_probability(m, r, range(r - v + 1), t, delta)
        assert closed.lower == closed.upper == solved.lower == solved.upper
        for found in (closed, solved):
            ((_, worst),) = found.parts
            assert worst.delta(t) <= delta


@pytest.mark.parametrize("numbers", [{1}, {0, 3}, {1, 3}])
@pytest.mark.parametrize(("t", "delta"), [(F(1), F(1, 10)), (F(2), F(0)), (F(2), F(1, 30))])
def test_the_worst_mechanism_is_private_and_attains_the_bound(numbers: set[int], t: F, delta: F) -> None:
    """Written out over all datasets of four bits, outcome by outcome."""
    m, r = 4, 3
    found = largest_probability(m, r, numbers, t, delta)
    ((_, worst),) = found.parts
    answers = [
        dict(zip(chosen, bits, strict=True))
        for chosen in itertools.combinations(range(m), r)
        for bits in itertools.product((0, 1), repeat=r)
    ]
    laws = {}
    for secret in itertools.product((0, 1), repeat=m):
        right = [sum(secret[i] == bit for i, bit in answer.items()) for answer in answers]
        laws[secret] = [outcome_probability(worst, v) for v in right]
        assert sum(laws[secret]) == 1
        assert sum(p for p, v in zip(laws[secret], right, strict=True) if v in numbers) == found.lower
    for secret, at in itertools.product(laws, range(m)):
        other = laws[(*secret[:at], 1 - secret[at], *secret[at + 1 :])]
        assert sum(max(F(0), p - t * q) for p, q in zip(laws[secret], other, strict=True)) <= delta
    assert found.lower == found.upper


@pytest.mark.parametrize(("t", "delta"), [(F(1), F(1, 10)), (F(2), F(1, 30)), (F(3, 2), F(0)), (F(1), F(1, 2))])
@pytest.mark.parametrize("firsts", [{1: 1, 3: 3}, {2: 2, 3: 3}, {3: 2}, {1: 1, 2: 2, 3: 2}])
def test_any_number_of_guesses(firsts: dict[int, int], t: F, delta: F) -> None:
    """The mixture is private over all datasets and attains the value; linear programming finds nothing larger."""
    m = 3
    found = largest_of_any_number(m, firsts, t, delta)
    outcomes = [
        (share, part, dict(zip(chosen, bits, strict=True)))
        for share, part in found.parts
        for chosen in itertools.combinations(range(m), part.guesses)
        for bits in itertools.product((0, 1), repeat=part.guesses)
    ]
    laws = {}
    for secret in itertools.product((0, 1), repeat=m):
        right = [sum(secret[i] == bit for i, bit in answer.items()) for _, _, answer in outcomes]
        laws[secret] = [
            share * outcome_probability(part, v) for (share, part, _), v in zip(outcomes, right, strict=True)
        ]
        assert sum(laws[secret]) == 1
        wrong = [v >= firsts[part.guesses] for (_, part, _), v in zip(outcomes, right, strict=True)]
        assert sum(p for p, is_wrong in zip(laws[secret], wrong, strict=True) if is_wrong) == found.lower == found.upper
    for secret, at in itertools.product(laws, range(m)):
        other = laws[(*secret[:at], 1 - secret[at], *secret[at + 1 :])]
        assert sum(max(F(0), p - t * q) for p, q in zip(laws[secret], other, strict=True)) <= delta
    assert sum(share * part.delta(t) for share, part in found.parts) <= delta
    assert float(found.upper) == pytest.approx(solved_for_any_number(m, firsts, t, delta), abs=1e-7)


def solved_for_any_number(m: int, firsts: dict[int, int], t: F, delta: F) -> float:
    """The linear program over p_{r,i} with one budget for all numbers of guesses, in floats."""
    cells = [(r, i) for r in firsts for i in range(r + 1)]
    number, size = {cell: at for at, cell in enumerate(cells)}, len(cells)
    rows, slacks = [], 0
    for r in firsts:
        for i in range(1, r + 1):
            for up, down in (((r, i, i), (r, i - 1, r - i + 1)), ((r, i - 1, r - i + 1), (r, i, i))):
                rows.append({number[up[:2]]: up[2] / m, number[down[:2]]: -float(t) * down[2] / m, size + slacks: -1.0})
                slacks += 1
    rows.append({size + at: 1.0 for at in range(slacks)})
    matrix = [[row.get(at, 0.0) for at in range(size + slacks)] for row in rows]
    gain = [-float(i >= firsts[r]) for r, i in cells] + [0.0] * slacks
    total = [[1.0] * size + [0.0] * slacks]
    found = linprog(gain, A_ub=matrix, b_ub=[0.0] * slacks + [float(delta)], A_eq=total, b_eq=[1.0])
    return float(-found.fun)


@pytest.mark.slow(seconds=3)
def test_the_number_of_guesses_must_be_fixed_where_delta_is_positive() -> None:
    """The optimal method, for fixed numbers, is wrong in more than 5 % of the runs when the output picks the number."""
    (found,) = validity("optimal", delta="1/100", programs=(), games=[(20, None)]).games
    assert found.probability > F(1, 20)
    assert sum(share for share, _ in found.parts) == 1
    assert validity("optimal", delta=0, programs=(), games=[(12, None)]).valid is True
    assert validity("optimal", delta="1/100", programs=(), games=[(20, r) for r in range(1, 21)]).valid is True


def naive(canaries: int, guesses: int, right: int) -> float:
    """The log odds of the share of right guesses: no bound at all."""
    return math.inf if right == guesses else math.log(max(right, 1) / (guesses - right))


def wavering(canaries: int, guesses: int, right: int) -> Any:
    """Reports something where the number of right guesses is even."""
    return F(1, 2) if right % 2 == 0 else 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize("rule", [naive, wavering, "order-statistics"], ids=["naive", "wavering", "order statistics"])
@pytest.mark.parametrize("delta", [F(0), F(1, 20)], ids=["pure", "approximate"])
def test_the_scan_over_epsilon_finds_the_worst(rule: Any, delta: F) -> None:
    (found,) = validity(rule, delta=delta, programs=(), games=[(6, 5)]).games
    call = Method(rule, delta) if isinstance(rule, str) else rule
    levels = [Level.of(call(6, 5, v)) for v in range(6)]
    for t in [F(1), *(F(i, 8) for i in range(9, 60, 3))]:
        numbers = [v for v, level in enumerate(levels) if level.exceeds(t)]
        assert largest_probability(6, 5, numbers, t, delta).lower <= found.upper
        (one,) = validity(rule, delta=delta, programs=(), games=[(6, 5, t)]).games
        assert one.probability <= found.upper
    assert found.mechanism is not None
    assert found.mechanism.delta(found.exp_epsilon) <= delta
    assert all(levels[v].exceeds(found.exp_epsilon) for _, v in found.observations)
    assert found.probability == sum((found.mechanism.law[v] for _, v in found.observations), F(0))


def test_a_rule_that_ignores_chance_is_found_out() -> None:
    found = validity(naive, programs=(), games=[(8, 8)])
    assert found.valid is False
    assert found.probability > F(1, 2)
    assert "invalid" in str(found)


def test_bounds_that_do_not_meet_leave_it_undecided() -> None:
    game = WorstGame(4, 4, F(2), F(1, 25), F(1, 15), (), ())
    assert Validity("some", F(0), F(1, 20), (), (game,)).valid is None
    assert "undecided" in str(Validity("some", F(0), F(1, 20), (), (game,)))
    assert Validity("some", F(0), F(1, 20), (), ()).witness is None


# rules


@pytest.mark.parametrize("delta", [F(0), F(1, 100)])
def test_the_optimal_method_without_its_evidence(delta: F) -> None:
    for r, v in ((8, 3), (8, 8), (8, 0), (20, 17)):
        answer = audit(canaries=20, guesses=r, correct=v, delta=delta)
        level = Reports(Method("optimal", delta)).level(20, r, v)
        assert level.exp_epsilon == answer.exp_epsilon_lower
        assert level.epsilon == F(answer.epsilon_lower or 0)


def test_levels_are_compared_exactly() -> None:
    assert Level.of(math.log(2)).exceeds(F(2)) != Level.of(math.nextafter(math.log(2), 2)).exceeds(F(2))
    assert not Level.of("0").exceeds(F(1))
    assert Level.of(math.inf).exceeds(F(10**9))
    assert not Level.of(math.inf).exceeds(math.inf)
    assert not Level.of(5).exceeds(math.inf)


@pytest.mark.parametrize("answer", ["many", None, math.nan, -math.inf, [1]])
def test_rules_must_give_numbers(answer: Any) -> None:
    with pytest.raises(ParameterError, match="reports"):
        validity(lambda m, r, v: answer, programs=(), games=[(2, 2)])


@pytest.mark.parametrize("game", [(3,), (3, 4), (0, 0), "55", (3, 2, "1/2"), (3, 0)])
def test_bad_games_are_refused(game: Any) -> None:
    with pytest.raises(ParameterError):
        validity("optimal", programs=(), games=[game])


def test_bad_arguments_are_refused() -> None:
    for arguments in (
        {"programs": [3]},
        {"programs": [(3, None)]},
        {"delta": 2},
        {"significance": "x"},
        {"guessers": ["best"]},
    ):
        with pytest.raises(ParameterError):
            validity("optimal", **arguments)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no audit method"):
        validity("steinberg")


# what users see


@pytest.mark.slow(seconds=4)
def test_answers_are_values() -> None:
    found = validity("order-statistics", delta="1/20", games=[(5, 5)])
    assert found == pickle.loads(pickle.dumps(found))
    answer = json.loads(json.dumps(found.to_dict()))
    assert answer["result"]["valid"] is False
    assert answer["result"]["games"][0]["guesses"] == 5
    assert "<table>" in found._repr_html_()


@pytest.mark.slow(seconds=5)
@pytest.mark.extra("plot")
def test_plots_draw_on_the_axes_given() -> None:
    from matplotlib import pyplot

    axes = pyplot.figure().subplots()
    assert validity("order-statistics", delta="1/20", games=[(5, 5)]).plot(axes) is axes
