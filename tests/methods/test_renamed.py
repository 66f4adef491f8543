"""Neighbours up to renaming messages and outputs: the changes that are left show every divergence."""

from fractions import Fraction

import pytest

from tightdp import Int, flip, mechanism, randint, shuffle
from tightdp.methods.base import Control
from tightdp.methods.renamed import changes_up_to_renaming

Third = Int(0, 2)
Sixth = Int(0, 5)


@mechanism(record=Third)
def shuffled(x):
    """Shuffled responses."""
    return shuffle([randint(0, 2) if flip("1/4") else v for v in x])


@mechanism(record=Sixth)
def histogram(x):
    """Three bins of two values, counted."""
    counts = [0] * 3
    for v in x:
        counts[randint(0, 2) if flip("1/4") else v // 2] += 1
    return tuple(counts)


@mechanism(record=Sixth)
def uneven(x):
    """Bins of one, two and three values."""
    counts = [0] * 3
    for v in x:
        b = 0 if v == 0 else 1 if v < 3 else 2
        counts[randint(0, 2) if flip("1/4") else b] += 1
    return tuple(counts)


@mechanism(record=Third)
def noisy(x):
    """Whether each of three cells has several, with noise of its own: cells are exchanged as they stand."""
    counts = [0] * 3
    for v in x:
        counts[randint(0, 2) if flip("1/4") else v] += 1
    return tuple((c > 1) != flip("1/3") for c in counts)


@mechanism(record=Third)
def one_cell_is_read_twice(x):
    """The first cell is published by itself too, so that only the others may be exchanged."""
    counts = [0] * 3
    for v in x:
        counts[randint(0, 2) if flip("1/4") else v] += 1
    return (counts[0] > 1, *(min(c, 2) for c in counts))


@mechanism(record=Third)
def one_is_trusted(x):
    """The first client says the truth more often than the others."""
    counts = [0] * 3
    for at, v in enumerate(x):
        counts[randint(0, 2) if flip("1/7" if at == 0 else "1/3") else v] += 1
    return tuple(counts)


@mechanism(record=Third, neighbours="unit-step")
def ordered(x):
    """Neighbours differ by one, so that the middle record may not be exchanged with another."""
    return shuffle([randint(0, 2) if flip("1/4") else v for v in x])


@mechanism(record=Int(0, 3), neighbours="unit-step")
def steps_inside(x):
    """The two records in the middle are alike and neighbours; the two at the ends are alike, and no neighbours."""
    return shuffle([randint(0, 1) if flip("1/4") else int(v in (1, 2)) for v in x])


@mechanism(record=Third)
def a_coin_beside(x):
    """A coin is flipped beside some counts only, so that these have two outputs each."""
    counts = [0] * 3
    for v in x:
        counts[randint(0, 2) if flip("1/4") else v] += 1
    return (*counts, flip("1/3") if counts[0] else False)


@mechanism(record=Third)
def largest(x):
    """Which cell is the largest, the first if several are: cells may not be exchanged."""
    counts = [0] * 3
    for v in x:
        counts[randint(0, 2) if flip("1/4") else v] += 1
    return counts.index(max(counts))


def _largest(table, changes):
    """δ at some e^ε, and a moment, over changes."""
    slopes = [Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5)]
    found = [Fraction(0)] * (len(slopes) + 1)
    for change in changes:
        ours, theirs = map(table.weights, table.orbits.neighbours(change))
        p, q = ({code: Fraction(w, law.total) for code, w in law.by_code.items()} for law in (ours, theirs))
        values = [sum(max(Fraction(0), p[code] - slope * q.get(code, 0)) for code in p) for slope in slopes]
        values.append(sum(p[code] ** 2 / q[code] for code in p))
        found = [max(pair) for pair in zip(found, values, strict=True)]
    return found


@pytest.mark.parametrize(
    ("program", "n", "left"),
    [
        (shuffled, 4, 10),
        (histogram, 3, 10),
        (uneven, 3, 10),
        (noisy, 4, 10),
        (one_cell_is_read_twice, 3, 18),
        (one_is_trusted, 3, 15),
        (ordered, 4, 20),
    ],
)
def test_the_changes_that_are_left_stand_for_all(program, n, left):
    table = program.bind(n=n).engine.program.aggregate(Control())
    every = list(table.orbits.changes_of_one())
    changes = changes_up_to_renaming(table)
    assert changes is not None
    assert len(changes) < len(every)
    assert len(changes) == left
    assert _largest(table, changes) == _largest(table, every)
    if program is uneven:
        assert not any(change.size for change in changes)  # a number of records each is not known to be the same
    else:
        assert sum(change.size for change in changes) == sum(change.size for change in every)


@pytest.mark.parametrize("program", [steps_inside, a_coin_beside])
def test_triples_are_not_counted_where_exchanges_change_their_number(program):
    table = program.bind(n=3).engine.program.aggregate(Control())
    every = list(table.orbits.changes_of_one())
    changes = changes_up_to_renaming(table)
    assert changes is not None
    assert len(changes) < len(every)
    assert not any(change.size for change in changes)
    assert _largest(table, changes) == _largest(table, every)


def test_what_may_not_be_exchanged_is_not():
    assert changes_up_to_renaming(largest.bind(n=3).engine.program.aggregate(Control())) is None


@pytest.mark.slow(seconds=2)
def test_many_cells_have_answers():
    """Of ten cells few pairs are left; δ is that of its witness, recomputed by adding up clients one by one."""

    @mechanism(record=Int(0, 19))
    def ten(x):
        counts = [0] * 10
        for v in x:
            counts[randint(0, 9) if flip("1/4") else v // 2] += 1
        return tuple(counts)

    found = ten.bind(n=5).delta(exp_epsilon=2)
    assert found.status == "exact"

    def law(x):
        total = {(0,) * 10: Fraction(1)}
        for v in x:
            after = {}
            for counts, mass in total.items():
                for cell in range(10):
                    seen = (*counts[:cell], counts[cell] + 1, *counts[cell + 1 :])
                    after[seen] = after.get(seen, 0) + mass * (Fraction(31, 40) if cell == v // 2 else Fraction(1, 40))
            total = after
        return total

    p, q = law(found.witness.x), law(found.witness.x_prime)
    assert found.delta == sum(max(Fraction(0), p[y] - 2 * q[y]) for y in p)
    assert ten.bind(n=9).privacy().exp_epsilon == 31
