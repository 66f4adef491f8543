"""Loops that are cut off: their laws enclose those in closed form, series summed here, and runs far out."""

from __future__ import annotations

import ast
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

import pytest

from tightdp import Bit, Mechanism, flip, geometric, mechanism, observe, one_sided_geometric
from tightdp.cells.laws import cell_laws
from tightdp.cells.noise import Outside
from tightdp.core.lowering.endless import only_added_to
from tightdp.exact.absorbing import moves_on
from tightdp.language.interp import law_within
from tightdp.limits.calibrated import NOISE_BITS

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
NARROW = Fraction(1, 1 << (NOISE_BITS - 4))


def heads_less_tails():
    heads = tails = 0
    while flip(HALF):
        if flip(HALF):
            heads += 1
        else:
            tails += 1
    return heads - tails


@mechanism(record=Bit, target=sum)
def difference(x):
    return heads_less_tails() + x[0]


@mechanism(record=Bit)
def by_twos(x):
    z = x[0]
    while flip(HALF):
        z += 2 if flip(THIRD) else 3
    return z


@mechanism(record=Bit)
def downhill(x):
    at, steps = 1 + x[0], 0
    while at > 0:
        at += 1 if flip("1/8") else -1
        steps += 1
    return steps


@mechanism(record=Bit)
def fair(x):
    at = 1 + x[0]
    while at > 0:
        at += 1 if flip(HALF) else -1
    return at


@mechanism(record=Bit)
def geometrically(x):
    z = x[0]
    while flip("2/3"):
        z += 1
    return z


def tries():
    z = 0
    while flip(THIRD):
        z += 1
    return z


@mechanism(record=Bit)
def retried(x):
    while True:
        z = tries()
        if flip(HALF if z > 0 else THIRD):
            return z + x[0]


@mechanism(record=Bit)
def odd(x):
    c = 0
    while c % 2 == 0:
        c = one_sided_geometric(x[0], HALF)
    return c


@mechanism(record=Bit)
def beside_noise(x):
    return heads_less_tails() + geometric(x[0], THIRD)


@mechanism(record=Bit)
def observed(x):
    heads = tails = x[0]
    while flip(HALF):
        if flip(HALF):
            heads += 1
        else:
            tails += 1
        observe(not flip("1/9"))
    return heads - tails


@cache
def ends(made: Mechanism, x: int) -> dict[Any, tuple[Any, Any]]:
    found = made.bind(n=1).distribution((x,))
    upper = found.law if found.status == "exact" else found.upper
    assert upper is not None
    return {output: (low, high) for (output, low), (_, high) in zip(found.law, upper, strict=True)}


def assert_within(low: Any, value: Any, high: Any, width: Any = NARROW) -> None:
    assert low <= value <= high
    assert high - low < width


MADE = [odd, *(pytest.param(made, marks=pytest.mark.slow(seconds=6)) for made in (geometrically, retried))]


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_closed_forms_are_enclosed(made: Mechanism) -> None:
    laws = cell_laws(made.bind(n=1).engine.program.bound, lambda: None)
    for x in (0, 1):
        for output, (low, high) in [each for each in ends(made, x).items() if isinstance(each[0], int)][:9]:
            assert_within(low, laws.number(laws.probability((x,), output)), high)


@pytest.mark.parametrize(("made", "why"), [(by_twos, "no sum of rational powers"), (difference, "several counters")])
def test_these_have_no_closed_form(made: Mechanism, why: str) -> None:
    with pytest.raises(Outside, match=why):
        cell_laws(made.bind(n=1).engine.program.bound, lambda: None)


def test_a_series_is_enclosed() -> None:
    """n coins with probability 2^-(n+1), and heads - tails = d of them in C(n, (n + d)/2) ways of 2^n."""
    for output, (low, high) in ends(difference, 0).items():
        d = abs(output)
        if d < 5:
            far = 2 * NOISE_BITS
            terms = (Fraction(comb(n, (n + d) // 2), 2 ** (2 * n + 1)) for n in range(d, far, 2))
            total = sum(terms, Fraction(0))
            assert low <= total + Fraction(1, 2**far)
            assert high >= total
            assert high - low < NARROW


@pytest.mark.slow(seconds=6)
def test_powers_that_are_irrational_are_enclosed() -> None:
    law = [HALF] + [Fraction(0)] * 20
    for z in range(1, 21):
        law[z] = HALF * (THIRD * (law[z - 2] if z > 1 else 0) + 2 * THIRD * (law[z - 3] if z > 2 else 0))
    found = ends(by_twos, 0)
    for z, mass in enumerate(law):
        assert_within(found[z][0], mass, found[z][1]) if mass else None


@pytest.mark.slow(seconds=6)
def test_first_passage_times_are_enclosed() -> None:
    """From 1 down to 0 in 2k + 1 steps: k-th Catalan number, p^k·(1 - p)^(k + 1)."""
    p = Fraction(1, 8)
    found = ends(downhill, 0)
    for k in range(12):
        low, high = found[2 * k + 1]
        assert_within(low, Fraction(comb(2 * k, k), k + 1) * p**k * (1 - p) ** (k + 1), high, Fraction(1, 10**6))


@pytest.mark.slow(seconds=6)
def test_a_fair_walk_is_enclosed_as_far_as_it_is_followed() -> None:
    ((output, (low, high)),) = ends(fair, 0).items()
    assert output == 0
    assert Fraction(7, 8) < low < 1 == high


@pytest.mark.slow(seconds=6)
def test_noise_beside_the_loop_is_cut_off_as_well() -> None:
    """`law_within` goes as far as its draws do; the rest is known up to what is beyond."""
    bound = beside_noise.bind(n=1).engine.program.bound
    masses, beyond = law_within(bound, (1,), reach=9, draws=13)
    for output, (low, high) in ends(beside_noise, 1).items():
        if output in masses:
            assert high >= masses[output]
            assert low <= masses[output] + beyond
            assert high - low < 4 * NARROW


def test_questions_have_both_ends() -> None:
    instance = difference.bind(n=1)
    law = {output: low for output, (low, _) in ends(difference, 0).items()}
    shifted = {output + 1: mass for output, mass in law.items()}
    delta = sum(max(law.get(z, 0) - 2 * shifted.get(z, 0), 0) for z in law)
    found = instance.delta(exp_epsilon=2)
    assert found.lower <= delta + 999 * NARROW
    assert found.delta >= delta - 999 * NARROW
    assert found.delta - found.lower < NARROW
    pure = instance.privacy()
    assert pure.status == "bounded"
    assert pure.upper == float("inf")
    assert pure.lower >= max(law[z] / shifted[z] for z in range(5)) - Fraction(1, 10**9)
    within = instance.accuracy(alpha=1)
    near = sum(law[z] for z in (-1, 0, 1))
    assert near - 9 * NARROW <= within.lower <= near + 9 * NARROW
    assert 0 <= within.upper - within.lower < NARROW


def test_observe_in_rounds_conditions_the_run() -> None:
    """n coins go on and are accepted with probability (4/9)^n, and all accepted runs have 9/10 in all."""
    found = ends(observed, 1)
    for d in range(-4, 5):
        terms = [comb(n, (n + d) // 2) * Fraction(2, 9) ** n for n in range(abs(d), 200, 2)]
        low, high = found[d]
        total = Fraction(5, 9) * sum(terms)
        assert low <= total + Fraction(4, 9) ** 200
        assert total <= high < low + 2 * NARROW


@mechanism(record=Bit)
def rarely(x):
    """The steps of a walk that is seldom as long as what is observed."""
    steps, at = 0, 1
    while at > 0:
        at += 1 if flip("1/8") else -1
        steps += 1
    observe(steps > 24 + x[0])
    return steps


@pytest.mark.slow(seconds=6)
def test_what_is_lost_counts_more_where_the_evidence_is_rare() -> None:
    p = Fraction(1, 8)
    law = [Fraction(comb(2 * k, k), k + 1) * p**k * (1 - p) ** (k + 1) for k in range(12)]
    accepted = 1 - sum(law)
    found = ends(rarely, 0)
    for k in range(12, 20):
        mass = Fraction(comb(2 * k, k), k + 1) * p**k * (1 - p) ** (k + 1) / accepted
        low, high = found[2 * k + 1]
        assert low <= mass <= high
        assert high - low < NARROW / accepted * 2
        assert high - low > Fraction(1, 1 << NOISE_BITS)


@mechanism(record=Bit)
def nested(x):
    """Twice as many coins on average in every pass; one loop is the same in all passes, but for where it begins."""
    total = passes = 0
    while flip(HALF):
        passes += 1
        while flip(THIRD):
            total += 2
    return (passes + x[0], total)


@pytest.mark.slow(seconds=9)
def test_inner_loops_that_begin_elsewhere_are_known() -> None:
    """k passes with probability 2^-(k+1), and of j more coins in k passes C(j + k - 1, j)·(1/3)^j·(2/3)^k."""
    found = ends(nested, 1)
    for k in range(5):
        for j in range(5 if k else 1):
            mass = Fraction(comb(j + k - 1, j) if k else 1, 2 ** (k + 1)) * THIRD**j * (2 * THIRD) ** k
            assert_within(found[k + 1, 2 * j][0], mass, found[k + 1, 2 * j][1])


@mechanism(record=Bit)
def counted_in_halves(x):
    z = x[0]
    while flip(HALF):
        z += HALF
        z = z + 1 if flip(HALF) else z
    return z


@pytest.mark.slow(seconds=6)
def test_what_is_added_need_not_be_an_integer() -> None:
    """n rounds with probability 2^-(n+1), each 1/2 or 3/2."""
    found = ends(counted_in_halves, 0)
    for z in range(1, 5):
        ways = [
            (n, (2 * z - n) // 2) for n in range(1, 2 * z + 1) if (2 * z - n) % 2 == 0 and 0 <= (2 * z - n) // 2 <= n
        ]
        mass = sum((Fraction(comb(n, up), 2 ** (2 * n + 1)) for n, up in ways), Fraction(0))
        assert_within(found[z][0], mass, found[z][1])


def down(at):
    """The steps of a walk down to 0."""
    steps = 0
    while at > 0:
        at += 1 if flip("1/16") else -1
        steps += 1
    return steps


def told(x):
    """A bit by randomized response."""
    return flip(Fraction(1 + 2 * x[0], 4))


@mechanism(record=Bit)
def started(x):
    return down(2 if told(x) else 1)


@mechanism(record=Bit)
def one_after_the_other(x):
    b, z = told(x), down(1)
    return z + down(1 + z % 2) if b else z


@mechanism(record=Bit)
def times_noise(x):
    z = one_sided_geometric(0, HALF)
    return z * z if told(x) else z


@mechanism(record=Bit)
def beside_a_bit(x):
    """The walk that decides is another one, and the longer the walk the more it says."""
    return down(1), told(x) and told((1 - x[0],))


@mechanism(record=Bit)
def beside_a_record(x):
    return down(1) + x[0]


@mechanism(record=Bit)
def faster(x):
    at, steps = 1, 0
    while at > 0:
        at += 1 if flip(Fraction(1 + x[0], 16)) else -1
        steps += 1
    return steps


@pytest.mark.parametrize(
    ("made", "most"), [(started, 3), (one_after_the_other, 3), (times_noise, 3), (beside_a_bit, 1)]
)
def test_what_only_looks_at_private_bits_tells_no_more_than_these(made: Mechanism, most: int) -> None:
    """These are as private as randomized response: each publishes something from which its bit can be told often."""
    found = made.bind(n=1).privacy()
    assert found.upper == most
    assert most - Fraction(1, 10**12) < found.lower <= most


def test_renyi_divergence_has_both_ends() -> None:
    def law(p: Fraction) -> dict[int, Fraction]:
        found = {z: (1 - p) / 2 ** (z + 1) for z in range(60)}
        for z in range(60):
            found[z * z] = found.get(z * z, Fraction(0)) + p / 2 ** (z + 1)
        return found

    ours, theirs = law(Fraction(1, 4)), law(Fraction(3, 4))
    moment = max(sum(p[z] ** 2 / q[z] for z in p) for p, q in ((ours, theirs), (theirs, ours)))
    found = times_noise.bind(n=1).renyi(2)
    assert_within(found.lower, moment + Fraction(1, 10**15), found.upper + Fraction(2, 10**15), Fraction(1, 10**12))


@pytest.mark.parametrize("made", [beside_a_record, faster])
def test_what_looks_at_records_has_no_upper_end(made: Mechanism) -> None:
    """An output is missing on one dataset, or its ratio grows with the number of steps."""
    assert made.bind(n=1).privacy().upper == float("inf")


def test_counters_are_known_by_what_rounds_do_to_them() -> None:
    source = """
def f():
    while flip():
        alive, total = alive - 1, total + 1
        one = both = both + 1
        doubled = doubled + doubled
        asked += 1
        again = 2 + again
        if asked > 3:
            less -= 1
"""
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    loop = function.body[0]
    assert isinstance(loop, ast.While)
    assert only_added_to(loop, function) == {"alive", "total", "again", "less"}


@pytest.mark.parametrize(
    ("moves", "further"),
    [
        ({0: [(1, (1,))], 1: [(0, (-1,)), (2, (5,))], 2: []}, False),
        ({0: [(1, (1,))], 1: [(0, (0,))]}, True),
        ({0: [(0, (0,)), (1, (3,))], 1: [(1, (0,))]}, False),
        ({0: [(1, (1,)), (1, (2,))], 1: []}, False),
        ({0: [(1, (1,)), (1, (2,))], 1: [(0, (-1,))]}, True),
    ],
)
def test_a_way_around_that_leads_further(moves: Any, further: bool) -> None:
    assert moves_on(0, moves, 1) is further


def test_what_was_asked_before_changes_nothing() -> None:
    asked = one_after_the_other.bind(n=1)
    asked.distribution((0,))
    fresh = one_after_the_other.bind(n=1)
    both = asked.privacy(), fresh.privacy()
    assert both[0].lower == both[1].lower
    assert both[0].upper == both[1].upper
    assert asked.distribution((1,)).law == fresh.distribution((1,)).law
