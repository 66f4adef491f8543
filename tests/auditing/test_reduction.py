"""The program of the optimal audit against all mechanisms: a separate model, solved for small games."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from observations import audit, outcome_probability
from tightdp.auditing import Polygon, optimal
from tightdp.auditing.certificate import Game
from tightdp.auditing.optimal_curve import optimum

np = pytest.importorskip("numpy")
scipy_optimize = pytest.importorskip("scipy.optimize")
scipy_sparse = pytest.importorskip("scipy.sparse")

PAIRS = ((1, Fraction(3, 10)), (2, Fraction(1, 10)), (4, Fraction(1, 50)))


def all_mechanisms(canaries, guesses, correct, pairs, options=2, at_most=False):
    """The largest chance of `correct` right guesses over every map from secrets to laws of (set, guesses)."""
    sizes = range(guesses + 1) if at_most else [guesses]
    outcomes = [
        (answered, values)
        for size in sizes
        for answered in itertools.combinations(range(canaries), size)
        for values in itertools.product(range(options), repeat=size)
    ]
    secrets = list(itertools.product(range(options), repeat=canaries))
    number = {(s, o): i for i, (s, o) in enumerate(itertools.product(secrets, range(len(outcomes))))}
    variables, rows, rhs = len(number), [], []
    for t, delta in pairs:
        for s, j, value in itertools.product(secrets, range(canaries), range(options)):
            if s[j] == value:
                continue
            other = (*s[:j], value, *s[j + 1 :])
            excess = range(variables, variables + len(outcomes))
            variables += len(outcomes)
            for o, e in enumerate(excess):
                rows.append({number[s, o]: 1.0, number[other, o]: -float(t), e: -1.0})
                rhs.append(0.0)
            rows.append(dict.fromkeys(excess, 1.0))
            rhs.append(float(delta))
    gain = np.zeros(variables)
    for (s, o), i in number.items():
        answered, values = outcomes[o]
        gain[i] = -(sum(s[a] == b for a, b in zip(answered, values, strict=True)) >= correct) / len(secrets)
    entries = [(r, c, x) for r, row in enumerate(rows) for c, x in row.items()]
    r, c, x = zip(*entries, strict=True)
    matrix = scipy_sparse.coo_matrix((x, (r, c)), shape=(len(rows), variables))
    ones = scipy_sparse.lil_matrix((len(secrets), variables))
    for i, s in enumerate(secrets):
        for o in range(len(outcomes)):
            ones[i, number[s, o]] = 1.0
    found = scipy_optimize.linprog(gain, A_ub=matrix, b_ub=rhs, A_eq=ones.tocsr(), b_eq=np.ones(len(secrets)))
    return -found.fun


@pytest.mark.parametrize(
    ("canaries", "guesses", "correct", "t", "delta", "options"),
    [
        (2, 1, 1, "2", "1/10", 2),
        (2, 2, 1, "3/2", "7/100", 2),
        (2, 2, 2, "1", "1/10", 2),
        (3, 2, 2, "2", "1/20", 2),
        (3, 3, 2, "13/10", "1/10", 2),
        (3, 3, 3, "2", "3/10", 2),
        (3, 1, 1, "2", "1/20", 2),
        (2, 2, 2, "2", "1/10", 3),
        (2, 2, 1, "2", "1/10", 3),
        (2, 1, 1, "3", "1/10", 3),
    ],
)
def test_closed_form_is_the_optimum_over_all_mechanisms(canaries, guesses, correct, t, delta, options):
    t, delta = Fraction(t), Fraction(delta)
    exact = optimal.p_value(Game(canaries, guesses, correct, options), t, delta)
    assert exact.is_exact
    searched = all_mechanisms(canaries, guesses, correct, [(t, delta)], options)
    assert float(exact.upper) == pytest.approx(searched, abs=1e-8)


@pytest.mark.parametrize(
    ("canaries", "guesses", "correct", "options"), [(3, 3, 2, 2), (3, 2, 2, 2), (2, 2, 1, 3), (2, 2, 2, 3)]
)
def test_several_pairs_reduce_to_the_same_program(canaries, guesses, correct, options):
    found = optimum(Game(canaries, guesses, correct, options), Polygon(PAIRS))
    searched = all_mechanisms(canaries, guesses, correct, PAIRS, options)
    assert float(found.p_value.lower) == pytest.approx(searched, abs=1e-7)
    assert float(found.p_value.upper) == pytest.approx(searched, abs=1e-7)


@pytest.mark.parametrize("correct", [1, 2])
def test_guessing_less_than_allowed_does_not_help(correct):
    searched = all_mechanisms(3, 2, correct, PAIRS, at_most=True)
    answer = audit(canaries=3, guesses=2, correct=correct, tradeoff=PAIRS)
    assert answer.p_value is not None
    assert float(answer.p_value) == pytest.approx(searched, abs=1e-7)


def explicit(mechanism):
    """The output law of a mechanism for every secret, spelled out."""
    m, r, k = mechanism.canaries, mechanism.guesses, mechanism.options
    laws = {}
    for secret in itertools.product(range(k), repeat=m):
        laws[secret] = {
            (answered, values): outcome_probability(
                mechanism, sum(secret[a] == b for a, b in zip(answered, values, strict=True))
            )
            for answered in itertools.combinations(range(m), r)
            for values in itertools.product(range(k), repeat=r)
        }
    return laws


def brute_force(mechanism, correct, t):
    """δ(t) and the chance of `correct` right guesses, from the spelled-out laws."""
    laws = explicit(mechanism)
    assert all(sum(law.values()) == 1 for law in laws.values())
    worst, hit = Fraction(0), Fraction(0)
    for secret, law in laws.items():
        for (answered, values), p in law.items():
            if sum(secret[a] == b for a, b in zip(answered, values, strict=True)) >= correct:
                hit += p / len(laws)
        for j, value in itertools.product(range(mechanism.canaries), range(mechanism.options)):
            other = laws[(*secret[:j], value, *secret[j + 1 :])]
            worst = max(worst, sum(max(0, p - t * other[o]) for o, p in law.items()))
    return worst, hit


@pytest.mark.parametrize(
    ("canaries", "guesses", "correct", "options"), [(2, 2, 2, 2), (4, 3, 2, 2), (4, 4, 3, 2), (3, 2, 2, 3)]
)
def test_worst_mechanism_attains_the_optimum(canaries, guesses, correct, options):
    game, t, delta = Game(canaries, guesses, correct, options), Fraction(3, 2), Fraction(1, 20)
    mechanism = optimal.worst_mechanism(game, t, delta)
    assert brute_force(mechanism, correct, t) == (delta, optimal.p_value(game, t, delta).lower)
    assert mechanism.delta(t) == delta


def test_mechanism_of_a_polygon_satisfies_every_pair():
    found = optimum(Game(4, 3, 3), Polygon(PAIRS))
    for t, delta in PAIRS:
        worst, hit = brute_force(found.mechanism, 3, Fraction(t))
        assert worst == found.mechanism.delta(Fraction(t)) <= delta
        assert hit == found.mechanism.at_least(3)
