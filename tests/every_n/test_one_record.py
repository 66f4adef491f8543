"""δ and divergences for every n, where those of one record are the largest."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from tightdp import ALL, Bit, EachRecord, Int, QueryError, choice, flip, geometric, laplace, mechanism, shuffle


@mechanism(record=Bit)
def count(x):
    return geometric(sum(x), "1/2")


@mechanism(record=Int(0, 2))
def histogram(x):
    return tuple(geometric(x.count(k), "1/2") for k in range(3))


@mechanism(record=Int(0, 2))
def listed(x):
    return tuple(v if flip("1/2") else choice((0, 1, 2)) for v in x)


@mechanism(record=Int(0, 2))
def shuffled(x):
    return shuffle([v if flip("1/2") else choice((0, 1, 2)) for v in x])


@mechanism(record=Bit)
def sampled(x):
    return geometric(sum(v for v in x if flip("1/3")), "1/4"), len(x)


@mechanism(record=Bit)
def twice_the_same_noise(x):
    z = geometric(0, "1/2")
    return sum(x) + z, 3 * sum(x) - z


ALIKE = [count, histogram, listed, shuffled, sampled, twice_the_same_noise]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", ALIKE, ids=lambda made: made.name)
@pytest.mark.parametrize("exp_epsilon", ["1", "3/2", "3"])
def test_delta_is_that_of_one_record(made, exp_epsilon):
    found = made.bind(n=ALL).delta(exp_epsilon=exp_epsilon)
    assert found.status == "exact"
    each = [made.bind(n=n).delta(exp_epsilon=exp_epsilon).delta for n in (1, 2, 3)]
    assert found.delta == each[0] == max(each)


def test_questions_that_follow_from_delta():
    every, one = shuffled.bind(n=ALL), shuffled.bind(n=1)
    assert every.privacy(delta="1/10").exp_epsilon == one.privacy(delta="1/10").exp_epsilon
    claims = {"exp_epsilon": 2, "delta": "1/3"}
    assert every.verify(**claims).holds is True
    assert every.verify(exp_epsilon=2, delta="1/4").holds is one.verify(exp_epsilon=2, delta="1/4").holds is False


@mechanism(record=Bit)
def real_count(x):
    return laplace(sum(x), 1)


def test_real_noise():
    every, one = (real_count.bind(n=n).delta(epsilon="1/2") for n in (ALL, 1))
    assert (every.lower, every.upper) == (one.lower, one.upper)


@mechanism(record=Bit)
def one_way(x):
    """Only a one may become a zero."""
    return sum(v ^ flip("1/4") for v in x)


def test_a_relation_that_is_not_symmetric_is_asked_for_messages_as_they_are():
    relation = EachRecord(lambda v: [0] if v else [])
    found = one_way.bind(n=ALL, neighbours=relation).delta(exp_epsilon=2)
    assert found.for_every_n.proof == "randomized response"
    for n in (1, 2, 3):
        assert one_way.bind(n=n, neighbours=relation).delta(exp_epsilon=2).delta <= found.lower < found.upper


@mechanism(record=Bit)
def clamped(x):
    """What is cut off depends on the count."""
    return min(geometric(sum(x), "1/2"), 1)


@mechanism(record=Bit)
def odd(x):
    return (sum(x) % 2) ^ flip("1/4")


@mechanism(record=Bit)
def hidden_coin(x):
    wrong = flip("1/2")
    return tuple(v ^ (flip("1/8") if wrong else flip("1/4")) for v in x)


@mechanism(record=Bit)
def noise_by_length(x):
    total = sum(x)
    return geometric(total, "1/2") if len(x) < 3 else geometric(total, "1/3")


@mechanism(record=Bit)
def told_with_others(x):
    """One record hides what two do not."""
    return sum(v ^ flip("1/4") for v in x) // 2


@mechanism(record=Bit)
def either_sign(x):
    """For one record the two signs hide each other."""
    total = sum(x)
    return geometric(total, "1/2") if flip("1/2") else geometric(-total, "1/2")


@mechanism(record=Bit)
def moved_by_length(x):
    noisy = geometric(sum(x), "1/2")
    return noisy + len(x) if flip("1/2") else noisy - len(x)


@mechanism(record=Bit)
def noisy_counts_shuffled(x):
    return shuffle([geometric(x.count(0), "1/2"), geometric(x.count(1), "1/2")])


@mechanism(record=Bit)
def either_sign_of_index(x):
    return tuple(geometric(v + i, "1/2") if flip("1/2") else geometric(-v - i, "1/2") for i, v in enumerate(x))


HIDDEN_BY_ONE = [either_sign, moved_by_length, noisy_counts_shuffled, either_sign_of_index]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", HIDDEN_BY_ONE, ids=lambda made: made.name)
def test_paths_that_hide_each_other_for_one_record_only(made):
    one, two = (made.bind(n=n).delta(exp_epsilon=1).delta for n in (1, 2))
    assert one < two
    found = made.bind(n=ALL).delta(exp_epsilon=1)
    assert found.for_every_n.proof == "randomized response"
    assert two <= found.lower <= found.upper


@mechanism(record=Bit)
def added_to_index(x):
    """The output does not tell what was added to the index, and what is noise."""
    return tuple(geometric(v + i, "1/2") for i, v in enumerate(x))


@pytest.mark.slow(seconds=3)
def test_noise_that_is_added_to_an_index_does_not_grow():
    found = added_to_index.bind(n=ALL).privacy()
    assert (found.lower, found.attained) == (2, None)


@pytest.mark.parametrize("made", [clamped, odd, hidden_coin, noise_by_length, told_with_others])
def test_others_are_enclosed(made):
    found = made.bind(n=ALL).delta(exp_epsilon=2)
    assert found.for_every_n.proof == "randomized response"
    assert max(made.bind(n=n).delta(exp_epsilon=2).delta for n in (1, 2, 3)) <= found.lower <= found.upper


def test_all_records_may_not_change_at_once():
    found = count.bind(n=ALL, neighbours="unit-all").delta(exp_epsilon=2)
    assert (found.status, found.upper) == ("bounded", 1)
    assert found.lower >= count.bind(n=3, neighbours="unit-all").delta(exp_epsilon=2).delta


@mechanism(record=Int(0, 2))
def drawn_channel(x, table, way):
    told = [choice((0, 1, 2, 3), table[v]) for v in x]
    if way == "sum":
        return sum(told)
    if way == "greatest":
        return max(told)
    if way == "shuffled":
        return shuffle(told)
    if way == "counts":
        return tuple(told.count(k) for k in range(4))
    return sum(told) % 2


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(12))
def test_drawn_channels(seed):
    draw = Random(seed)
    table = tuple((*(draw.randint(0, 3) for _ in range(3)), 1) for _ in range(3))
    way = draw.choice(["sum", "greatest", "shuffled", "counts", "rest"])
    at = Fraction(draw.randint(4, 12), 4)
    found = drawn_channel.bind(n=ALL, table=table, way=way).delta(exp_epsilon=at)
    for n in (1, 2, 3):
        assert drawn_channel.bind(n=n, table=table, way=way).delta(exp_epsilon=at).delta <= found.delta


@mechanism(record=Int(0, 2))
def counted(x):
    told = [v if flip("1/2") else choice((0, 1, 2)) for v in x]
    return told.count(1) > 2, sorted(told).count(2), 2 * told.count(0) - len(x)


def test_messages_are_counted():
    found = counted.bind(n=ALL).privacy()
    assert (found.status, found.upper) == ("exact", 4)
    assert all(counted.bind(n=n).privacy().exp_epsilon <= 4 for n in (1, 2, 3))


@mechanism(record=Bit)
def drawn_before(x, table, ratios, offsets, signs, told):
    """What is drawn before the records, or after them, decides which noise is added to what they add."""
    mode = choice((0, 1, 2)) if told == "before" else 0
    added = [choice((0, 1), table[mode * (told == "mixed")][v]) for v in x]
    if told in ("after", "mixed"):
        mode = choice((0, 1, 2), (1, 2, 1))
    noisy = geometric(signs[mode] * sum(added), ratios[mode]) + offsets[mode]
    return (noisy, mode) if told == "both" else noisy


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(16))
def test_drawn_noise(seed):
    draw = Random(seed)
    table = tuple(tuple((draw.randint(1, 3), draw.randint(1, 3)) for _ in range(2)) for _ in range(3))
    ratios = tuple(Fraction(1, draw.randint(2, 4)) for _ in range(3))
    offsets = tuple(draw.randint(0, 1) for _ in range(3))
    signs = draw.choice([(1, 1, 1), (1, 1, 1), (1, -1, 1), (2, 2, 2)])
    parts = {"table": table, "ratios": ratios, "offsets": offsets, "signs": signs}
    parts["told"] = draw.choice(["before", "after", "mixed", "both"])
    found = drawn_before.bind(n=ALL, **parts).privacy()
    each = [drawn_before.bind(n=n, **parts).privacy().exp_epsilon for n in (1, 2)]
    assert max(each) <= found.upper
    if found.proof == "one record":
        assert (found.status, found.upper) == ("exact", each[0])
        assert drawn_before.bind(n=ALL, **parts).delta(exp_epsilon=1).delta == max(
            drawn_before.bind(n=n, **parts).delta(exp_epsilon=1).delta for n in (1, 2)
        )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("ask", ["curve", "tradeoff", "zcdp", "privacy_loss"])
def test_other_questions_are_those_of_one_record(ask):
    for made in (sampled, shuffled):
        every, one = (getattr(made.bind(n=n), ask)() for n in (ALL, 1))
        assert every.for_every_n.proof == "one record"
        assert every == replace(one, subject=every.subject)
    if ask == "privacy_loss":
        with pytest.raises(QueryError, match="every n"):
            getattr(clamped.bind(n=ALL), ask)()


def test_renyi_divergence_is_that_of_one_record():
    every, *few = (sampled.bind(n=n).renyi(2).exp_moment for n in (ALL, 1, 2, 3))
    assert every == few[0] == max(few)


@mechanism(record=Bit)
def mixture(x):
    return geometric(sum(x), "1/2" if flip("1/3") else "1/4")


def test_two_noises_hide_each_other_for_every_n():
    found = mixture.bind(n=ALL).privacy()
    assert (found.status, found.upper, found.proof) == ("exact", Fraction(23, 7), "alignment")
