"""What Python means is what the chain means: aliases, element writes, local functions, generators, other spellings."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tightdp import (
    ALL,
    Bit,
    LanguageError,
    Mechanism,
    flip,
    geometric,
    mechanism,
    randint,
)

LAM = Fraction(1, 4)
lam = Fraction(2, 5)


def bits(function: Callable[..., Any]) -> Mechanism:
    return mechanism(record=Bit)(function)


# false answers of the past: an answer must not be below what some n has, or there is none


@bits
def rounded(x):
    return geometric(max(4 + sum(x), round(4 + sum(x), -1)), "1/2")


@bits
def written(x):
    return str(geometric(sum(x), "1/2")) == "0"


@bits
def formatted(x):
    z = geometric(sum(x), "1/2")
    return f"{z}"


@bits
def polls(x):
    def poll():
        return sum(v ^ flip(LAM) for v in x)

    return poll(), poll()


@bits
def shadowed_parameter(x):
    def told(lam):
        return tuple(v ^ flip(lam) for v in x)

    return told(LAM)


@bits
def drawn_conditions(x):
    return tuple(sum(1 for v in x if v ^ flip(LAM)) for _ in range(3))


@bits
def last_written(x):
    last = [0]
    sent = []
    for v in x:
        sent.append(last[0] ^ flip(LAM))
        last[0] = v
    return tuple(sent), last[0]


@bits
def two_names(x):
    a = b = []
    for v in x:
        a.append(v ^ flip(LAM))
        b.append(v ^ flip(LAM))
    return tuple(a)


@bits
def repeated_list(x):
    kept = [[0]] * 2
    for v in x:
        kept[0][0] = v
    return kept[1][0] ^ flip(LAM)


@bits
def pair_of_one(x):
    s = []
    both = (s, s)
    for v in x:
        both[0].append(v ^ flip(LAM))
        both[1].append(v ^ flip(LAM))
    return tuple(s)


@bits
def keys_share(x):
    table = dict.fromkeys((0, 1), [0])  # noqa: RUF024
    for v in x:
        table[0][0] = v
    return table[1][0] ^ flip(LAM)


@bits
def lazily(x):
    level = 0
    told = (v ^ flip(LAM) if level else 0 for v in x)
    level = 1
    return tuple(told)


@bits
def lazy_inside(x):
    sent = []
    seen = 0
    for v in x:
        now = (seen for _ in range(1))
        seen = v
        sent.append(sum(now) ^ flip(LAM))
    return tuple(sent)


def any(values):
    """Not the builtin."""
    return 3 * sum(values)


@bits
def own_any(x):
    return geometric(any(x), "1/2")


@bits
def thirds(x):
    t = geometric(0, "1/2") / 3
    return tuple(t > v / 2 for v in x)


@bits
def messages_and_sum(x):
    total = 0
    sent = []
    for v in x:
        total += v ^ flip(LAM)
        sent.append(total % 2)
    return tuple(sent)


@bits
def begun_at_random(x):
    total = randint(0, 1)
    for v in x:
        total += v
    return total


@bits
def noise_tells_a_branch(x):
    t = geometric(0, "1/2")
    e = 0
    for v in x:
        e = v
    z = geometric(sum(x), "1/2")
    return (z - t, t >= e)


HARD = [
    rounded, written, formatted, polls, shadowed_parameter, drawn_conditions, last_written, two_names, repeated_list,
    pair_of_one, keys_share, lazily, lazy_inside, own_any, thirds, messages_and_sum, begun_at_random,
    noise_tells_a_branch,
]  # fmt: skip


SLOW = {"noise_tells_a_branch"}


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    "made",
    [pytest.param(m, marks=pytest.mark.slow) if m.__name__ in SLOW else m for m in HARD],
    ids=lambda m: m.__name__,
)
def test_no_answer_is_below_what_some_n_has(made: Mechanism) -> None:
    try:
        found = made.bind(n=ALL).privacy()
    except LanguageError:
        return
    for n in (1, 2, 3):
        assert made.bind(n=n).privacy().exp_epsilon <= found.upper
    assert found.lower <= found.upper


@bits
def of_any_length(x):
    out = []
    for v in x:
        out.extend([0] if v ^ flip(LAM) else [0, 0])
    return tuple(out)


@bits
def lists_of_any_length(x):
    out = []
    for v in x:
        told = [0]
        if v ^ flip(LAM):
            told.append(1)
        out.append([told, v ^ flip(LAM)])
    return tuple(tuple(told) for told, b in out)


@bits
def emptied(x):
    out = []
    for v in x:
        out.append(v ^ flip(LAM))
    total = len(out)
    out = []
    return geometric(total, "1/2")


@bits
def forgotten(x):
    out = []
    for v in x:
        out.append(v)
    out = []
    return tuple(out)


ANSWERED = [(of_any_length, 3), (lists_of_any_length, 9), (emptied, 1), (forgotten, 1)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("made", "expected"), ANSWERED, ids=lambda made: getattr(made, "__name__", ""))
def test_lists_of_any_length_have_an_end(made: Mechanism, expected: int) -> None:
    found = made.bind(n=ALL).privacy()
    assert found.lower <= found.upper == expected


@bits
def twice_through_an_iterator(x):
    g = map(lambda v: v, x)  # noqa: C417
    return sum(g), sum(v for v in g)


@bits
def used_up_by_the_first_record(x):
    g = (flip(LAM) for _ in range(2))
    out = []
    for v in x:
        out.append(sum(g) ^ v ^ flip(LAM))
    return tuple(out)


@bits
def inside_each_other(x):
    return tuple(sum(v ^ flip(LAM) for v in x) for _ in x)


@bits
def added_twice(x):
    out = []
    for v in x:
        told = [v ^ flip(LAM)]
        out.append(told)
        out.append(told)
    out[0][0] = 1
    return tuple(each[0] for each in out)


@bits
def the_same_list(x):
    out, told = [], []
    for v in x:
        told.append(v ^ flip(LAM))
        out.append(told)
    return tuple(tuple(each) for each in out)


REFUSED = [
    added_twice,
    the_same_list,
    twice_through_an_iterator,
    used_up_by_the_first_record,
    inside_each_other,
]


@pytest.mark.parametrize("made", REFUSED, ids=lambda made: made.__name__)
def test_what_is_not_followed_is_refused_with_its_place(made: Mechanism) -> None:
    with pytest.raises(LanguageError) as caught:
        made.bind(n=ALL).privacy()
    assert caught.value.span is not None
    assert caught.value.hint
