"""Other ways to write a program have an answer for every n, and no answer contradicts what some n has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tightdp import ALL, Bit, LanguageError, Mechanism, choice, flip, geometric, mechanism, randint
from tightdp.every_n.comparing import refuse_contradicted
from tightdp.every_n.states import explore
from tightdp.every_n.upper import Upper
from tightdp.session import enclosing

LAM = Fraction(1, 4)


def bits(function: Callable[..., Any]) -> Mechanism:
    return mechanism(record=Bit)(function)


# programs that need no refusal, with what they have


@bits
def unpacked(x):
    s, out = randint(0, 1), []
    for v in x:
        out.append(v ^ s ^ flip(LAM))
    return tuple(out)


@bits
def annotated(x):
    out: list = []
    for v in x:
        out.append(v ^ flip(LAM))
    return tuple(out)


@bits
def called_list(x):
    out = list()  # noqa: C408
    for v in x:
        out.append(v ^ flip(LAM))
    return tuple(out)


@bits
def lengthened(x):
    out = []
    for v in x:
        out = out + [v ^ flip(LAM)]  # noqa: RUF005
    return tuple(out)


@bits
def lengthened_tuple(x):
    out = ()
    for v in x:
        out += (v ^ flip(LAM),)
    return out


@bits
def totalled(x):
    total = 0
    for v in x:
        total = total + (v ^ flip(LAM))
    return total


@bits
def counted(x):
    counts = [0, 0]
    for v in x:
        counts[v ^ flip(LAM)] += 1
    return tuple(counts)


@bits
def two_loops(x):
    a, b = 0, 0
    for v in x:
        a += v ^ flip(LAM)
    for _ in x:
        b += 1
    return a, b


@bits
def helped(x):
    def told(v):
        return v ^ flip(LAM)

    return tuple(told(v) for v in x)


@bits
def asserted(x):
    assert len(x) > 0
    return tuple(v ^ flip(LAM) for v in x)


@bits
def histogram(x):
    y = []
    for k in range(2):
        y.append(geometric(sum(1 for v in x if v == k), "1/2"))
    return tuple(y)


@bits
def counted_ones(x):
    return geometric(x.count(1), "1/3")


@bits
def length_of_some(x):
    return geometric(len([v for v in x if v == 1]), "1/3")


@bits
def mapped(x):
    return tuple(map(lambda v: v ^ flip(LAM), x))  # noqa: C417


@bits
def zipped(x):
    return tuple(a ^ flip(LAM) for a, b in zip(x, x, strict=True))


@bits
def listed(x):
    return tuple(v ^ flip(LAM) for v in list(x)) if False else sum(v ^ flip(LAM) for v in x)


@bits
def made_whole(x):
    return int(geometric(sum(x), "1/3"))


@bits
def halved(x):
    return geometric(sum(x), "1/3") // 2


@bits
def one_of_two(x):
    return geometric(sum(x), "1/3") in {1, 2}


@bits
def extended_by_one(x):
    out = []
    for v in x:
        out.extend([v ^ flip(LAM)])
    return tuple(out)


@bits
def walrus(x):
    return tuple((w := v ^ flip(LAM)) + w for v in x)


@bits
def sorted_messages(x):
    return tuple(sorted(v ^ flip(LAM) for v in x))


@bits
def stops_at_two(x):
    out = []
    for v in x:
        out.append(v ^ flip(LAM))
        if len(out) == 2:
            break
    return tuple(out)


@bits
def chosen(x):
    return choice(x) ^ flip(LAM)


EASY = [
    (unpacked, 3), (annotated, 3), (called_list, 3), (lengthened, 3), (lengthened_tuple, 3), (totalled, 3),
    (counted, 3), (two_loops, 3), (helped, 3), (asserted, 3), (histogram, 4), (counted_ones, 3), (length_of_some, 3),
    (mapped, 3), (zipped, 3), (listed, 3), (made_whole, 3), (halved, 3), (one_of_two, 3), (extended_by_one, 3),
    (walrus, 3), (sorted_messages, 3), (stops_at_two, 3), (chosen, 3),
]  # fmt: skip


@pytest.mark.parametrize(("made", "expected"), EASY, ids=lambda made: getattr(made, "__name__", ""))
def test_other_spellings_have_an_answer(made: Mechanism, expected: int) -> None:
    found = made.bind(n=ALL).privacy()
    assert found.upper == expected
    assert found.lower <= expected


def test_paths_that_are_not_those_of_the_program_are_refused() -> None:
    bound = mapped.program.bind(1)
    paths = explore(bound)
    refuse_contradicted([paths], bound)
    (first, second) = paths.steps[0][0]
    wrong = {
        **paths.steps,
        0: {0: (replace(first, probability=Fraction(1, 2)), replace(second, probability=Fraction(1, 2)))},
    }
    with pytest.raises(LanguageError, match="contradicts its laws at n = 1"):
        refuse_contradicted([replace(paths, steps=wrong)], bound)


def test_an_upper_end_below_a_witness_is_never_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosing, "least_upper", lambda programs, lower: Upper(Fraction(2), "simulation"))
    with pytest.raises(LanguageError, match="contradicts its answer"):
        mapped.bind(n=ALL).privacy()
