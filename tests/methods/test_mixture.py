"""Laws of aggregates by counts of letters: every way to count them out once, with the law that it has."""

import pytest

from tightdp.methods.mixture import Contribution, every_law, law_of, one_state
from tightdp.symmetry.orbits import every_counts


@pytest.mark.parametrize("operators", [("sum",), ("max",), ("sum", "min")])
@pytest.mark.parametrize(("letters", "clients"), [((1,), (3,)), ((2, 5), (4, 2)), ((6,), (3,)), ((4, 3), (0, 2))])
def test_every_way_to_count_out_the_letters_comes_once_with_its_law(operators, letters, clients):
    tables = [
        [
            Contribution(tuple(((letter + step,) * len(operators), 1 + step) for step in range(2)), 3)
            for letter in range(number)
        ]
        for number in letters
    ]
    start = one_state(operators, tables, sum(clients))
    found = list(every_law(start, tables, clients))
    assert sorted(counts for counts, _ in found) == sorted(every_counts(list(zip(clients, letters, strict=True))))
    for counts, law in found:
        assert dict(law.items()) == dict(law_of(start, tables, counts).items())
        assert law.denominator == law_of(start, tables, counts).denominator


@pytest.mark.parametrize("operator", ["max", "min"])
@pytest.mark.parametrize(
    ("first", "second"),
    [({None: 1}, {2: 3, 0: 1}), ({0: 2, 5: 1}, {3: 4, None: 2}), ({1: 1, 2: 1, 3: 1}, {2: 5, 3: 7})],
)
def test_the_law_of_a_maximum_is_that_of_all_pairs(operator, first, second):
    contributions = [
        Contribution(tuple(((value,), weight) for value, weight in law.items()), sum(law.values()))
        for law in (first, second)
    ]
    beside = [
        Contribution(tuple(((*state, 0), weight) for state, weight in each.weights), each.denominator)
        for each in contributions
    ]
    alone = one_state((operator,), [contributions], 2)
    pairs = one_state((operator, "sum"), [beside], 2)
    for each, other in zip(contributions, beside, strict=True):
        alone, pairs = alone.add(each), pairs.add(other)
    assert dict(alone.items()) == {state[:1]: weight for state, weight in pairs.items()}
