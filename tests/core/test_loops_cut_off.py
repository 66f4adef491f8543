"""Loops that are cut off: their laws enclose those in closed form, series summed here, and runs far out."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

import pytest

from tightdp import Bit, Mechanism, flip, geometric, mechanism, observe, one_sided_geometric, randint
from tightdp.cells.laws import cell_laws
from tightdp.cells.noise import Outside
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


@mechanism(record=Bit)
def until_a_pattern(x):
    seen, tosses = "", x[0]
    while not seen.endswith("HTH"):
        seen = (seen + ("H" if flip(THIRD) else "T"))[-3:]
        tosses += 1
    return tosses


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


def test_counters_that_grow_apart_have_no_closed_form() -> None:
    with pytest.raises(Outside, match="several counters"):
        cell_laws(difference.bind(n=1).engine.program.bound, lambda: None)


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


def test_a_text_that_grows_at_first_alone_is_followed() -> None:
    flow, found = {"": Fraction(1)}, ends(until_a_pattern, 1)
    for tosses in range(1, 30):
        after: dict[str, Fraction] = {}
        for seen, mass in flow.items():
            for toss, share in (("H", THIRD), ("T", 1 - THIRD)):
                now = (seen + toss)[-3:]
                after[now] = after.get(now, Fraction(0)) + mass * share
        if mass := after.pop("HTH", Fraction(0)):
            assert_within(found[tosses + 1][0], mass, found[tosses + 1][1])
        flow = after


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


@mechanism(record=Bit)
def two_in_a_row(x):
    rounds = row = 0
    while row < 2:
        rounds += 1
        row = row + 1 if randint(1, 3) == 1 else 0
    return rounds + 0 * x[0]


def test_a_draw_of_many_outcomes() -> None:
    """How long two ones in a row take: f(k + 2) = 2/3·f(k + 1) + 2/9·f(k), with irrational powers."""
    found = ends(two_in_a_row, 0)
    masses = [Fraction(0), Fraction(0), THIRD**2]
    while len(masses) < 400:
        masses.append(2 * THIRD * masses[-1] + 2 * THIRD**2 * masses[-2])
    assert len(found) > 400
    for k in range(2, 400):
        assert_within(found[k][0], masses[k], found[k][1])


@mechanism(record=Bit)
def from_noise(x):
    at, steps = geometric(x[0], "1/16"), 0
    while at > 0:
        at += 1 if flip("1/8") else -1
        steps += 1
    return steps


@pytest.mark.slow(seconds=2)
def test_a_walk_from_noise_is_enclosed() -> None:
    start = {z: Fraction(15, 17) * Fraction(1, 16) ** abs(z) for z in range(-40, 41)}
    flow, law = start, [Fraction(0)] * 12
    for steps in range(12):
        law[steps] = sum((mass for at, mass in flow.items() if at <= 0), Fraction(0))
        going = {at: mass for at, mass in flow.items() if at > 0}
        up, down = ({at + by: mass * p for at, mass in going.items()} for by, p in ((1, 1), (-1, 7)))
        flow = {at: (up.get(at, Fraction(0)) + down.get(at, Fraction(0))) / 8 for at in up.keys() | down.keys()}
    known = ends(from_noise, 0)
    for steps, mass in enumerate(law):
        assert_within(known[steps][0], mass, known[steps][1] + Fraction(1, 10**40), 4 * NARROW)
