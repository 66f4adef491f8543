"""Answers for every n where a program goes through slices of the records, side by side, or from the last one on."""

# ruff: noqa: B905, C417, RUF007 (what is read here)

from __future__ import annotations

from itertools import islice, product

import pytest

from chain_laws import law
from tightdp import ALL, Bit, Int, TightdpError, flip, geometric, mechanism
from tightdp.every_n.states import chain_of, explore


@mechanism(record=Bit)
def changes(x):
    return geometric(sum(1 for a, b in zip(x, x[1:]) if a != b), "1/2")


@mechanism(record=Bit)
def changes_by_index(x):
    return geometric(sum(x[i] ^ x[i + 1] for i in range(len(x) - 1)), "1/2")


@mechanism(record=Bit)
def three_in_a_row(x):
    return geometric(sum(a & b & c for a, b, c in zip(x, x[1:], x[2:])), "1/2")


@mechanism(record=Bit)
def halves(x):
    return geometric(sum(x[::2]), "1/2"), geometric(sum(x[1::2]), "1/4")


@mechanism(record=Int(0, 2))
def haar_wavelet(x):
    both = [(geometric(a - b, "1/2"), geometric(a + b, "1/2")) for a, b in zip(x[::2], x[1::2])]
    return tuple(both)


@mechanism(record=Bit)
def begun_and_rest(x):
    return geometric(sum(x[:3]), "1/2"), geometric(sum(x[3:]), "1/3")


@mechanism(record=Bit)
def all_but_the_ends(x):
    return tuple(v ^ flip("1/4") for v in x[1:-1])


@mechanism(record=Bit)
def told_by_the_one_behind(x):
    before, told = 0, []
    for v in reversed(x):
        told.append((v | before) ^ flip("1/4"))
        before = v
    return tuple(told)


@mechanism(record=Bit)
def last_that_is_large(x):
    for place, v in enumerate(reversed(x)):
        if v ^ flip("1/4"):
            return place
    return -1


@mechanism(record=Bit)
def from_the_end(x):
    return tuple(x[i] ^ flip("1/4") for i in range(len(x) - 1, -1, -1))


@mechanism(record=Bit)
def how_many_are_left(x):
    left = x[2:]
    return len(left), geometric(left.count(1), "1/2")


@mechanism(record=Bit)
def two_maps(x):
    """A record is told twice, with different noise."""
    first = map(lambda v: v ^ flip("1/4"), x[1:])
    second = (v ^ flip("1/8") for v in islice(x, 1, None))
    return tuple(a + 2 * b for a, b in zip(first, second))


EXPECTED = [
    (changes, 4), (changes_by_index, 4), (three_in_a_row, 8), (halves, 4), (haar_wavelet, 16), (begun_and_rest, 3),
    (all_but_the_ends, 3), (told_by_the_one_behind, 9), (last_that_is_large, 3), (from_the_end, 3),
    (how_many_are_left, 2), (two_maps, 21),
]  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("made", "expected"), EXPECTED, ids=lambda made: getattr(made, "name", ""))
def test_slices(made, expected):
    found = made.bind(n=ALL).privacy()
    assert (found.status, found.upper) == ("exact", expected)
    assert made.bind(n=found.n).privacy().exp_epsilon == expected
    assert all(made.bind(n=n).privacy().exp_epsilon <= expected for n in (1, 2, 3, 4))


@mechanism(record=Bit)
def of_slice(x, start, stop, step):
    seen, told = 0, []
    for v in x[start:stop:step]:
        seen = seen ^ v
        told.append(seen ^ flip("1/4"))
    return tuple(told)


@mechanism(record=Bit)
def of_slice_of_slice(x, start, stop, step):
    return tuple(v ^ flip("1/4") for v in x[start:][:stop][::step])


@mechanism(record=Bit)
def of_range(x, start, stop, step):
    return tuple(x[i] ^ flip("1/4") for i in range(start, len(x) - stop, step))


@mechanism(record=Bit)
def backwards(x, start, stop, step):
    return tuple(v ^ flip("1/4") for v in x[::-1][start:stop:step])


STARTS, STOPS, STEPS = (None, 0, 1, 2), (None, 0, 1, 3, -1, -2), (None, 1, 2, 3)


def _has_its_laws(instance, one, turn=1):
    chain = chain_of(explore(instance.bound))
    for n in (1, 2, 3, 4):
        for x in product((0, 1), repeat=n):
            assert law(chain, x[::turn]) == sorted(mass for _, mass in one(n).distribution(x).law)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("made", [of_slice, of_slice_of_slice, backwards])
@pytest.mark.parametrize("start", STARTS)
def test_chain_of_a_slice_has_the_laws_of_the_program(made, start):
    for stop, step in product(STOPS, STEPS):
        given = {"start": start, "stop": stop, "step": step}
        turn = -1 if made is backwards else 1
        _has_its_laws(made.bind(n=1, **given), lambda n, given=given: made.bind(n=n, **given), turn)


@pytest.mark.slow(seconds=2)
def test_chain_of_a_range_has_the_laws_of_the_program():
    for start, stop, step in product((0, 1, 2), (0, 1, 2), (1, 2)):
        given = {"start": start, "stop": stop, "step": step}
        _has_its_laws(of_range.bind(n=1, **given), lambda n, given=given: of_range.bind(n=n, **given))


@mechanism(record=Bit)
def side_by_side(x, a, b, c, d, step):
    told = []
    for place, (u, v) in enumerate(zip(x[a:b:step], x[c:d:step])):
        told.append(u ^ v ^ (place % 2) ^ flip("1/4"))
    return tuple(told)


@mechanism(record=Bit)
def side_by_side_backwards(x, a, b, c, d, step):
    y = x[::-1]
    return tuple(2 * (u ^ flip("1/4")) + v for u, v in zip(y[a:b:step], y[c:d:step]))


@pytest.mark.one_in(18)
@pytest.mark.parametrize("made", [side_by_side, side_by_side_backwards])
@pytest.mark.parametrize(("a", "c", "step"), [*product((0, 1, 2), (0, 1, 2), (1, 2))])
def test_chain_of_two_slices_has_the_laws_of_the_program(made, a, c, step):
    for b, d in product((None, 3, -1), repeat=2):
        given = {"a": a, "b": b, "c": c, "d": d, "step": step}
        turn = -1 if made is side_by_side_backwards else 1
        _has_its_laws(made.bind(n=1, **given), lambda n, given=given: made.bind(n=n, **given), turn)


@mechanism(record=Bit)
def both_orders(x):
    return geometric(sum(x), "1/2"), tuple(v ^ flip("1/4") for v in reversed(x))


@mechanism(record=Bit)
def last_two(x):
    return geometric(sum(x[-2:]), "1/2")


@mechanism(record=Bit)
def one_more_call(x):
    """The first of these iterators is asked for an item that the second one does not have."""
    seen = 0

    def noted(v):
        nonlocal seen
        seen = seen ^ v
        return v

    for _ in zip(map(noted, x), x[:2]):
        pass
    return seen ^ flip("1/4")


@mechanism(record=Bit)
def by_the_other_index(x):
    return tuple(x[i] ^ v ^ flip("1/4") for i, v in enumerate(reversed(x)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", [both_orders, last_two, one_more_call, by_the_other_index])
def test_what_is_not_followed_is_refused(made):
    with pytest.raises(TightdpError, match="no answer for every n"):
        made.bind(n=ALL).privacy()


@mechanism(record=Bit)
def of_equal_length(x):
    return tuple(a ^ b ^ flip("1/4") for a, b in zip(x, x[1:], strict=True))


@mechanism(record=Bit)
def gone_through_twice(x):
    noisy = (v ^ flip("1/4") for v in x)
    return tuple(a ^ b for a, b in zip(noisy, noisy))


@pytest.mark.parametrize("made", [of_equal_length, gone_through_twice])
def test_iterators_end_as_in_python(made):
    with pytest.raises(TightdpError):
        made.bind(n=ALL).privacy()
