"""Enclosures of published sums contain the exact values, for drawn programs at sizes where both are known."""

from __future__ import annotations

import math
import random
from contextlib import suppress
from fractions import Fraction as F
from typing import Any

import pytest

from conftest import FULL
from thinned import thinned
from tightdp import Bit, Instance, Int, choice, discrete_gaussian, exp, flip, geometric, mechanism, randint, shuffle
from tightdp.errors import QueryError, TightdpError
from tightdp.exact.field import Number
from tightdp.queries.enclosed.accuracy import bend_of
from tightdp.queries.enclosed.forms import published_sum
from tightdp.queries.privacy import LeastRatio
from tightdp.results.result import CheckedWitness
from tightdp.session import large

WIDTH = F(1, 10**9)


@mechanism(record=lambda table: Int(0, len(table) - 1), target=sum)
def drawn(x, values, table):  # type: ignore[no-untyped-def]
    return sum(choice(values, table[v]) for v in x)


@mechanism(record=lambda table: Int(0, len(table) - 1), target=sum)
def scaled(x, values, table):  # type: ignore[no-untyped-def]
    messages = [choice(values, table[v]) for v in x]
    return 3 - (sum(messages) - len(messages)) / 2


@mechanism(record=lambda table: Int(0, len(table) - 1), neighbours="unit-step")
def counted(x, values, table):  # type: ignore[no-untyped-def]
    return sum(1 for v in x if choice(values, table[v]) > 0)


@mechanism(record=lambda table: Int(0, len(table) - 1))
def shuffled(x, values, table):  # type: ignore[no-untyped-def]
    return shuffle(choice(values, table[v]) > 0 for v in x)


@mechanism(record=lambda table: Int(0, len(table) - 1), target=sum)
def looped(x, values, table):  # type: ignore[no-untyped-def]
    total = 2
    for v in x:
        noisy = choice(values, table[v])
        if noisy > 0:
            total += noisy
        for step in range(9):
            if step == v:
                break
            total += 1
    return total


@mechanism(record=lambda table: Int(0, len(table) - 1))
def appended(x, values, table):  # type: ignore[no-untyped-def]
    messages = []
    for v in x:
        messages.append(choice(values, table[v]) > 0)
    return shuffle(messages)


@mechanism(record=Bit, neighbours="add-remove")
def absent(x, lam):  # type: ignore[no-untyped-def]
    return sum(flip(lam) if b is None else 1 - b if flip(lam) else b for b in x)


def draw(seed: int) -> Instance:
    """A program of one of these forms with drawn laws, asked for enclosures."""
    source = random.Random(seed)
    form = source.choice([drawn, scaled, counted, shuffled, looped, appended])
    number = source.choice([2, 2, 3, 4])
    values = tuple(sorted(source.sample(range(-3, 5), source.choice([2, 3]))))
    spare = source.random() < 0.8
    table = tuple(tuple(source.randint(spare, 9) or 1 for _ in values) for _ in range(number))
    n = source.randint(1, {2: 9, 3: 6, 4: 4}[number])
    return form.bind(n=n, values=values, table=table, precision=WIDTH)


def ends(found: Any) -> tuple[Any, Any]:
    return found.lower, found.upper


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    "seed", [*thinned(range(60), 3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(60, 400))]
)
def test_the_exact_value_lies_inside(seed: int) -> None:
    enclosed, source = draw(seed), random.Random(-seed - 1)
    exact = Instance(enclosed.bound)
    t = source.choice([F(1), F(11, 10), F(3, 2), F(4)])
    bar = F(1, 10 ** source.randint(1, 6))
    questions = [
        (lambda i: i.privacy(delta=bar), enclosed.privacy(delta=bar)),
        (lambda i: i.delta(exp_epsilon=t), enclosed.delta(exp_epsilon=t)),
        (lambda i: i.privacy(), enclosed.privacy()),
    ]
    if enclosed.bound.program.target is not None:
        alpha, beta = F(source.randint(0, 12), 2), F(source.randint(1, 9), 20)
        questions += [
            (lambda i: i.accuracy(alpha), enclosed.accuracy(alpha)),
        ]
        with suppress(QueryError):  # it is wide where a probability is 1 - beta exactly
            low, high = ends(enclosed.accuracy(beta=beta))
            assert low <= exact.accuracy(beta=beta).alpha <= high
    for ask, found in questions:
        tight = ask(exact)
        assert tight.status == "exact"
        low, high = ends(found)
        assert low <= tight.upper <= high, f"{found} does not hold {tight}"
        assert low == high or high - low <= 2 * WIDTH * tight.upper or found.reason or high == 1 or high < 1e-250
        assert found.status == ("exact" if low == high else "bounded")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", thinned(range(40), 3))
def test_the_witness_of_a_lower_end_is_computed_again_in_exact_numbers(seed: int) -> None:
    instance, t = draw(seed), F(11, 10)
    for found, bar in ((instance.privacy(delta="1/1000"), F(1, 1000)), (instance.delta(exp_epsilon=t), None)):
        if found.witness is None:
            continue
        pair = instance.likelihood(found.witness.x, found.witness.x_prime)
        if bar and found.lower == math.inf:
            assert sum(row.probability for row in pair.rows if not row.probability_prime) > bar
            continue
        assert isinstance(found.witness, CheckedWitness)
        at = found.witness.exp_epsilon
        excess = sum(max(F(0), row.probability - at * row.probability_prime) for row in pair.rows)
        assert excess == found.witness.delta
        assert (at, excess >= bar) == (found.lower, True) if bar else (at, excess >= found.lower) == (t, True)


def test_ten_thousand_records_are_computed_again_too() -> None:
    found = response.bind(n=10_000, lam="1/5").privacy(delta="1e-6")
    assert isinstance(found.witness, CheckedWitness)
    assert F(1, 10**6) <= found.witness.delta < F(1, 10**6) * (1 + F(1, 10**9))
    assert "computed again in exact numbers, is at least 1.00000000000" in str(found)
    assert found.to_dict()["result"]["witness"]["exp_epsilon"] == found.to_dict()["result"]["lower"]


def test_numbers_with_e_and_absent_records() -> None:
    lam = 1 / (1 + exp(1))
    exact, enclosed = (absent.bind(n=6, lam=lam, precision=width) for width in (None, WIDTH))
    low, high = ends(enclosed.privacy(delta="1/100"))
    assert low <= exact.privacy(delta="1/100").exp_epsilon <= high
    low, high = ends(enclosed.delta(epsilon="1/2"))
    assert low <= exact.delta(epsilon="1/2").delta <= high
    assert enclosed.privacy().exp_epsilon == exact.privacy().exp_epsilon


@mechanism(record=Bit, target=sum)
def response(x, lam):  # type: ignore[no-untyped-def]
    return sum(1 - b if flip(lam) else b for b in x)


@mechanism(record=Int(0, 10), target=sum)
def integers(x, lam):  # type: ignore[no-untyped-def]
    return sum(randint(0, 10) if flip(lam) else v for v in x)


@pytest.mark.slow(seconds=9)
def test_a_million_records() -> None:
    """The laws of two datasets are those of sums of binomials; here δ and the accuracy by their normal limit."""
    instance = response.bind(n=10**6, lam="1/5")
    found = instance.privacy(delta="1e-6")
    assert found.status == "bounded"
    assert 1.00427 < found.lower <= found.upper < 1.00428
    assert found.upper - found.lower <= WIDTH * found.upper
    assert instance.privacy().exp_epsilon == 4
    assert instance.accuracy(beta="1/20").alpha == 200_658
    close = instance.accuracy(200_000)
    assert 0 <= close.upper - close.lower <= WIDTH
    assert abs(float(close.lower) - 0.5) < 0.001


@mechanism(record=Bit, target=sum)
def debiased(x, lam):  # type: ignore[no-untyped-def]
    return (sum(1 - b if flip(lam) else b for b in x) - len(x) * lam) / (1 - 2 * lam)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("lam", ["1/5", "3/8", "1/7"])
def test_the_error_of_debiased_sums_takes_every_so_manieth_integer(lam: str) -> None:
    for n in (1, 4, 9):
        exact, enclosed = (debiased.bind(n=n, lam=lam, precision=width) for width in (None, WIDTH))
        for alpha in (F(1, 2), F(1), F(3)):
            low, high = ends(enclosed.accuracy(alpha))
            assert low <= exact.accuracy(alpha).upper <= high
            assert high - low <= WIDTH


@pytest.mark.parametrize(
    ("n", "alpha"), [(200, 11), (1_000, 20), pytest.param(1_000_000, 2_000, marks=pytest.mark.slow(seconds=4))]
)
def test_debiased_sums_of_many_records(n: int, alpha: int) -> None:
    found = debiased.bind(n=n, lam="1/5", precision=WIDTH).accuracy(alpha)
    assert found.upper - found.lower <= WIDTH * found.upper
    if n < 1_000:
        assert found.lower <= debiased.bind(n=n, lam="1/5").accuracy(alpha).upper <= found.upper


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(40 if FULL else 10))
def test_a_probability_bends_no_more_than_said(seed: int) -> None:
    source = random.Random(seed)
    records, start = source.randint(12, 40), source.randint(0, 4)
    laws: list[dict[int, Number]] = []
    for _ in range(2):
        weights = [source.randint(1, 6) for _ in range(source.choice([2, 3]))]
        laws.append({start + 3 * at: F(weight, sum(weights)) for at, weight in enumerate(weights)})
        start = source.randint(0, 4)
    bend = bend_of(laws, 3, records)
    assert bend is not None
    least, most = sorted(source.sample(range(8 * records), 2))
    found = []
    for second in range(records + 1):
        sums: dict[int, F] = {0: F(1)}
        for law in [laws[0]] * (records - second) + [laws[1]] * second:
            after: dict[int, F] = {}
            for value, mass in sums.items():
                for more, share in law.items():
                    after[value + more] = after.get(value + more, F(0)) + mass * share
            sums = after
        found.append(sum(mass for value, mass in sums.items() if least <= value <= most))
    p = bend.period
    differences = [abs(c - 2 * b + a) for a, b, c in zip(found, found[p:], found[2 * p :], strict=False)]
    assert max(differences) <= bend.most


@mechanism(record=Int(0, 2), target=sum)
def noisy(x, lam, ratio):  # type: ignore[no-untyped-def]
    return geometric(sum(randint(0, 2) if flip(lam) else v for v in x), ratio)


@mechanism(record=Bit, target=sum)
def affine(x, lam, ratio):  # type: ignore[no-untyped-def]
    """Noise of finitely many values, not around 0, in a debiased sum."""
    found = sum(1 - b if flip(lam) else b for b in x) + randint(0, 2) - geometric(1, ratio, -2, 2)
    return (found - len(x) * lam) / (1 - 2 * lam)


@mechanism(record=Bit, target=sum)
def gaussian(x, lam, sigma_squared):  # type: ignore[no-untyped-def]
    return discrete_gaussian(sum(1 - b if flip(lam) else b for b in x), sigma_squared)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("n", thinned([2, 3, 5], 3))
@pytest.mark.parametrize("lam", ["1/5", "1/3"])
@pytest.mark.parametrize("program", [noisy, affine])
def test_noise_beside_the_records(program: Any, lam: str, n: int) -> None:
    for ratio in ("1/2", "4/5"):
        exact, enclosed = (program.bind(n=n, lam=lam, ratio=ratio, precision=width) for width in (None, WIDTH))
        assert published_sum(enclosed.bound, lambda: None) is not None
        for ask in (
            lambda i: i.privacy(delta="1/100"),
            lambda i: i.privacy(delta="1e-6"),
            lambda i: i.delta(exp_epsilon="5/4"),
            lambda i: i.accuracy(1),
            lambda i: i.accuracy("5/3"),
        ):
            low, high = ends(ask(enclosed))
            assert low <= ask(exact).upper <= high
            assert high - low <= WIDTH * high or high < 1e-20
        low, high = ends(enclosed.accuracy(beta="1/7"))
        assert low <= exact.accuracy(beta="1/7").alpha <= high
        assert exact.privacy().exp_epsilon == enclosed.privacy().exp_epsilon


def test_gaussian_noise_beside_the_records() -> None:
    listed, enclosed = (gaussian.bind(n=4, lam="1/5", sigma_squared=2, precision=width) for width in (None, WIDTH))
    low, high = ends(enclosed.privacy(delta="1/100"))
    assert low <= listed.privacy(delta="1/100").lower <= listed.privacy(delta="1/100").upper <= high
    low, high = ends(enclosed.accuracy(2))
    assert low <= listed.accuracy(2).lower <= listed.accuracy(2).upper <= high


@pytest.mark.slow(seconds=6)
def test_gaussian_noise_beside_a_million_records() -> None:
    large = gaussian.bind(n=10**6, lam="1/5", sigma_squared=10_000)
    assert large.accuracy(beta="1/20").alpha == 200_678
    low, high = ends(large.privacy(delta="1e-6"))
    assert 1 < low <= high < 1.00428
    assert high - low <= WIDTH


@mechanism(record=Bit, target=sum)
def noise_twice(x, lam, ratio):  # type: ignore[no-untyped-def]
    z = geometric(0, ratio)
    return sum(1 - b if flip(lam) else b for b in x) + z, z > 1


@mechanism(record=Bit, target=sum)
def noise_compared(x, lam, ratio):  # type: ignore[no-untyped-def]
    z = geometric(0, ratio)
    return sum(1 - b if flip(lam) else b for b in x) + (1 if z > 1 else 0)


@pytest.mark.parametrize("program", [noise_twice, noise_compared])
def test_noise_that_is_not_only_added(program: Any) -> None:
    assert published_sum(program.bind(n=5, lam="1/5", ratio="1/2").bound, lambda: None) is None


def test_sums_of_integers() -> None:
    found = integers.bind(n=10_000, lam="1/5").accuracy(10_400)
    assert 0 < found.upper - found.lower <= WIDTH * found.upper


@mechanism(record=Bit)
def first_is_special(x, lam):  # type: ignore[no-untyped-def]
    return sum(1 - b if flip(lam) else b for b in x) + x[0]


@mechanism(record=Bit)
def shared_coin(x, lam):  # type: ignore[no-untyped-def]
    coin = flip(lam)
    return sum(coin ^ b for b in x)


@mechanism(record=Bit)
def growing(x, lam):  # type: ignore[no-untyped-def]
    seen = []

    def noted(b):  # type: ignore[no-untyped-def]
        seen.append(b)
        return len(seen) * b

    return sum(noted(b) if flip(lam) else b for b in x)


@mechanism(record=Bit)
def compared(x, lam):  # type: ignore[no-untyped-def]
    return sum(flip(lam) for b in x) + (x == (0, 0, 0))


@mechanism(record=Bit)
def adaptive(x, lam):  # type: ignore[no-untyped-def]
    first = sum(flip(lam) ^ b for b in x)
    return sum(b if first > 1 else flip(lam) for b in x)


@mechanism(record=Bit)
def remembered(x, lam):  # type: ignore[no-untyped-def]
    before = total = 0
    for b in x:
        total += b ^ flip(lam) ^ before
        before = b
    return total


@mechanism(record=Bit)
def compounded(x, lam):  # type: ignore[no-untyped-def]
    total = 0
    for b in x:
        total += (b ^ flip(lam)) * (1 + total)
    return total


@mechanism(record=Bit)
def last_of_all(x, lam):  # type: ignore[no-untyped-def]
    total = 0
    for b in x:
        noise = flip(lam)
        total += b ^ noise
    return total + noise


@mechanism(record=Bit)
def first_only(x, lam):  # type: ignore[no-untyped-def]
    total, first = 0, True
    for b in x:
        if first:
            total += b ^ flip(lam)
        first = False
    return total


LEFT = [first_is_special, shared_coin, growing, compared, adaptive, remembered, compounded, last_of_all, first_only]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("program", LEFT)
def test_what_is_no_sum_of_equals_is_left_to_others(program: Any) -> None:
    enclosed = program.bind(n=3, lam="1/3", precision=WIDTH)
    assert large.answer(enclosed.engine, LeastRatio(F(1, 100))) is None
    exact = Instance(enclosed.bound)
    try:
        expected: Any = exact.privacy(delta="1/100").exp_epsilon
    except TightdpError as error:
        with pytest.raises(type(error)):
            enclosed.privacy(delta="1/100")
    else:
        assert enclosed.privacy(delta="1/100").exp_epsilon == expected
