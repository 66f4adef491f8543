"""What a pass over the records found is compared in later ones, and lists of what it found are sorted, for every n."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from tightdp import ALL, Bit, Int, ProgramError, flip, geometric, laplace, mechanism, randint
from tightdp.errors import LanguageError


@mechanism(record=Bit)
def least(x):
    return geometric(sorted(x)[0], "1/2")


@mechanism(record=Bit)
def greatest(x):
    return sorted(x)[-1] ^ flip("1/4")


@mechanism(record=Int(0, 2))
def range_of_answers(x):
    told = sorted(v if flip("1/2") else randint(0, 2) for v in x)
    return told[-1] - told[0]


@mechanism(record=Int(0, 2))
def above_noisy(x):
    """How many records are above a noisy number, which is published too."""
    level = geometric(sum(x), "1/2")
    return level, geometric(sum(1 for v in x if v > level), "1/3")


@mechanism(record=Bit)
def only_if_many(x):
    level = laplace(sum(x), 1)
    return tuple(v ^ flip("1/4") if level > 1 else 0 for v in x)


@mechanism(record=Bit)
def of_sums(x):
    few = sum(v ^ flip("1/3") for v in x)
    return tuple(v ^ flip("1/4") if few > 1 else flip("1/2") for v in x)


TIGHT = {least: 2, greatest: 3, above_noisy: 12}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", TIGHT, ids=lambda made: made.name)
def test_tight(made):
    found = made.bind(n=ALL).privacy()
    assert (found.status, found.upper) == ("exact", TIGHT[made])


@pytest.mark.parametrize("made", [range_of_answers, of_sums], ids=lambda made: made.name)
def test_proved(made):
    found = made.bind(n=ALL).privacy()
    assert found.upper <= 6
    assert all(made.bind(n=n).privacy().exp_epsilon <= found.upper for n in (1, 2, 3))


def test_real_noise():
    claim = only_if_many.bind(n=ALL).verify(epsilon=Fraction(21, 10))
    assert claim.holds is True


@mechanism(record=Bit)
def second(x):
    return sorted(x)[1] ^ flip("1/4")


def test_a_list_that_is_too_short():
    with pytest.raises((ProgramError, LanguageError), match="IndexError"):
        second.bind(n=ALL).privacy()


@mechanism(record=Int(0, 2))
def drawn(x, of, wrong, noisy, rank, way, told):
    """A number that one pass finds decides what the next one does with each record."""
    if way == "rank":
        items = [0, 1]
        for v in x:
            items.append(v if flip(wrong) else of[v])
        found = sorted(items)[rank]
    else:
        found = sum(v if flip(wrong) else of[v] for v in x)
    found = geometric(found, "1/2") if noisy else found
    sent = tuple(flip("1/4") ^ (v > found if way != "far" else v > 0 and found > 2) for v in x)
    return (found, sent) if told else sent


@pytest.mark.one_in(20)
@pytest.mark.parametrize("seed", range(20))
def test_no_answer_at_one_n_is_above(seed):
    draw = Random(seed)
    parts = {
        "of": tuple(draw.randint(0, 2) for _ in range(3)),
        "wrong": draw.choice(["1/2", "1/3"]),
        "noisy": draw.choice([True, False]),
        "rank": draw.choice([0, 1, -1, -2]),
        "way": draw.choice(["rank", "sum", "far"]),
        "told": draw.choice([True, False]),
    }
    found = drawn.bind(n=ALL, **parts).privacy()
    for n in (1, 2):
        assert drawn.bind(n=n, **parts).privacy().exp_epsilon <= found.upper
