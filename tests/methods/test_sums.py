"""Laws of sums: exchanges of clients, masses of windows, screening by leading digits, against sums over all ways."""

from __future__ import annotations

from fractions import Fraction as F
from functools import partial
from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tightdp.methods.aggregate import Contribution
from tightdp.methods.mixture import SumLaw, every_law, law_of, one_state
from tightdp.methods.sums import LawByCode, SumLaws, mass
from tightdp.symmetry.sets import Counts


@st.composite
def contributions(draw: Any) -> Contribution:
    """What a client adds: a few integers with weights."""
    values = sorted(draw(st.sets(st.integers(-3, 3), min_size=1, max_size=3)))
    weights = [draw(st.integers(1, 9)) for _ in values]
    return Contribution(tuple(((value,), weight) for value, weight in zip(values, weights, strict=True)), sum(weights))


tables = st.lists(contributions(), min_size=2, max_size=2, unique=True)


def brute(clients: list[Contribution]) -> dict[int, F]:
    law: dict[int, F] = {}
    for choice in product(*(client.weights for client in clients)):
        probability = F(1)
        for (_, weight), client in zip(choice, clients, strict=True):
            probability *= F(weight, client.denominator)
        value = sum(state[0] for state, _ in choice)
        law[value] = law.get(value, F(0)) + probability
    return law


def as_law(law: Any) -> dict[int, F]:
    return {value: F(weight, law.denominator) for (value,), weight in law.items()}


def sum_laws(table: list[Contribution], reverse: bool) -> SumLaws:
    codes = {value: 40 + (-value if reverse else value) for value in range(-12, 13)}
    return SumLaws(codes, [table], partial(exact_law, table))


def exact_law(table: list[Contribution], counts: Counts) -> SumLaw:
    law = law_of(one_state(["sum"], [table], 3), [table], counts)
    assert isinstance(law, SumLaw)
    return law


@given(tables, st.integers(1, 4))
def test_every_law_follows_from_the_one_before(table: list[Contribution], clients: int) -> None:
    start = one_state(["sum"], [table], clients)
    assert isinstance(start, SumLaw)
    seen = 0
    for counts, law in every_law(start, [table], [clients]):
        (numbers,) = counts
        expected = brute([table[0]] * numbers[0] + [table[1]] * numbers[1])
        assert as_law(law) == as_law(law_of(start, [table], counts)) == expected
        seen += 1
    assert seen == clients + 1


@given(tables, st.integers(0, 3), st.booleans(), st.sets(st.integers(28, 52)))
def test_as_a_mapping(table: list[Contribution], first: int, reverse: bool, codes: set[int]) -> None:
    counts = ((first, 3 - first),)
    law, weights = exact_law(table, counts), sum_laws(table, reverse).weights(counts)
    found = weights.by_code
    assert weights.total == law.denominator
    expected = {40 + (-value if reverse else value): weight for (value,), weight in law.items()}
    assert len(found) == len(expected)  # before any weight is computed
    assert dict(found) == dict(found.items()) == expected
    assert list(found) == sorted(expected) == [code for code, _ in found.items()]
    assert len(found) == len(expected) == len(found.values())
    assert found.get(999, 0) == 0
    assert mass(found, codes) == mass(expected, codes) == sum(expected.get(code, 0) for code in codes)
    window = range(min(codes, default=0), max(codes, default=0))
    assert mass(found, window) == mass(expected, window)


@given(tables, st.integers(0, 3), st.integers(0, 3), st.fractions(0, 20), st.integers(-3, 3))
def test_screening_is_sound_and_close(table: list[Contribution], a: int, b: int, t: F, nudge: int) -> None:
    p, q = (as_law(exact_law(table, ((k, 3 - k),))) for k in (a, b))
    exact = sum((max(F(0), mine - t * q.get(value, F(0))) for value, mine in p.items()), F(0))
    laws = sum_laws(table, False)
    left, right = (LawByCode(laws, ((k, 3 - k),)) for k in (a, b))
    below = left.surely_below(right, t, exact + F(nudge, 10**25))
    assert not (below and exact + F(nudge, 10**25) < exact)
    assert left.surely_below(right, t, exact + F(1, 10**13))
    assert not left.surely_below(right, F(10**12), F(-1))
