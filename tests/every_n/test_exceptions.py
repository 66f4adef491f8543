"""Programs for every n that raise and catch exceptions: what is caught is a way out of a block, as for one n."""

import pytest

from tightdp import ALL, Bit, flip, mechanism
from tightdp.errors import TightdpError


def kept_and_raised(x):
    s = 0
    for v in x:
        try:
            if flip("1/3"):
                raise ValueError
            s = (s + v) % 2
        except ValueError:
            s = 1 - s
    return s ^ flip("1/4")


def one_of_each(x):
    out = []
    for v in x:
        try:
            if v and flip("1/3"):
                raise ValueError
            out.append(v if flip("1/4") else 1 - v)
        except ValueError:
            out.append(0)
    return tuple(out)


def no_such_key(x):
    table, s = {0: 1}, 0
    for v in x:
        try:
            s = (s + table[v]) % 3
        except KeyError:
            s = min(s, 1)
    return s if flip("1/2") else 1 - s if flip("1/3") and s < 2 else 2


def left_for_good(x):
    s = 0
    try:
        for v in x:
            if v ^ flip("1/4"):
                raise ValueError
            if flip("1/4"):
                s = 5
                raise KeyError(3)
    except (ValueError, IndexError):
        s = 1
    except KeyError:
        s += 3
    return s


def scanned(x):
    for v in x:
        if v ^ flip("1/4"):
            raise StopIteration


def left_by_a_function(x):
    try:
        scanned(x)
    except StopIteration:
        return 1
    return 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize("function", [kept_and_raised, one_of_each, no_such_key, left_for_good, left_by_a_function])
def test_what_is_caught_is_no_failure(function):
    program = mechanism(record=Bit)(function)
    largest = max(program.bind(n=n).privacy().exp_epsilon for n in (1, 2, 3))
    found = program.bind(n=ALL).privacy()
    assert found.upper >= largest
    assert found.lower == largest


def another_kind(x):
    s = 0
    for v in x:
        try:
            if v and flip("1/3"):
                raise ValueError
        except KeyError:
            s = 1
    return s


def test_what_another_handler_catches_is_a_failure():
    with pytest.raises(TightdpError, match="fails with raise ValueError"):
        mechanism(record=Bit)(another_kind).bind(n=ALL).privacy()
