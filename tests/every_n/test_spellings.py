"""Other ways to write a program have an answer for every n, and no answer contradicts what some n has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tightdp import ALL, Bit, LanguageError, Mechanism, choice, flip, geometric, mechanism, observe, randint
from tightdp.every_n.states import explore, refuse_contradicted
from tightdp.every_n.upper import Upper, readings
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


@bits
def thrice(x):
    return geometric(3 * sum(x), "1/2")


@bits
def parity(x):
    return sum(x) % 2 ^ flip(LAM)


@bits
def half(x):
    return -(sum(x) // -2) % 2 ^ flip(LAM)


@bits
def copied(x):
    last = 0
    for v in tuple(x):
        last = v
    return last ^ flip(LAM)


# what the end of a program does with what it found is post-processing


@bits
def as_text(x):
    return str(geometric(sum(x), "1/2"))


@bits
def formatted(x):
    return f"{sum(v ^ flip(LAM) for v in x)} ones"


@bits
def complemented(x):
    told = [v ^ flip(LAM) for v in x]
    return tuple(1 - b for b in told)


@bits
def looped(x):
    told, total = [v ^ flip(LAM) for v in x], 0
    for b in told:
        total += b * flip("1/2")
    return total


@bits
def first_told(x):
    return [v ^ flip(LAM) for v in x][0]  # noqa: RUF015


@bits
def length_of_text(x):
    secret = sum(x)
    told = [v ^ flip(LAM) for v in x]
    return len(str(geometric(secret, "1/3"))), told[0]


@bits
def only_on_some_runs(x):
    kept = {0: [v ^ flip(LAM) for v in x], 1: sum(x)}
    if flip("1/3"):
        return 0
    return kept[0][0]


@bits
def added_to(x):
    total = sum(v ^ flip(LAM) for v in x)
    told = [v ^ flip(LAM) for v in x]
    total += told[0]
    return total


EASY = [
    (unpacked, 3), (annotated, 3), (called_list, 3), (lengthened, 3), (lengthened_tuple, 3), (totalled, 3),
    (counted, 3), (two_loops, 3), (helped, 3), (asserted, 3), (histogram, 4), (counted_ones, 3), (length_of_some, 3),
    (mapped, 3), (zipped, 3), (listed, 3), (made_whole, 3), (halved, 3), (one_of_two, 3), (extended_by_one, 3),
    (walrus, 3), (sorted_messages, 3), (stops_at_two, 3), (chosen, 3), (thrice, 8), (parity, 3), (half, 3),
    (copied, 3), (as_text, 2), (formatted, 3), (complemented, 3), (looped, 3), (first_told, 3),
    (length_of_text, 9), (only_on_some_runs, 3), (added_to, 9),
]  # fmt: skip


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("made", "expected"), EASY, ids=lambda made: getattr(made, "__name__", ""))
def test_other_spellings_have_an_answer(made: Mechanism, expected: Any) -> None:
    found = made.bind(n=ALL).privacy()
    assert found.upper == expected
    assert found.lower <= expected


@bits
def conditioned_at_the_end(x):
    told = [v ^ flip(LAM) for v in x]
    observe(told[0] == 1)
    return told[0]


def _accept(value):
    observe(value == 1)
    return value


@bits
def conditioned_by_a_function(x):
    told = [v ^ flip(LAM) for v in x]
    return _accept(told[0])


@bits
def looked_at_again(x):
    told = [v ^ flip(LAM) for v in x]
    return told[0], tuple(v ^ flip(LAM) for v in x if told[0])


@bits
def begun_loop(x):
    told = [v ^ flip(LAM) for v in x]
    total = 0
    for k in range(2):
        total += told[0] * k
    return total


@bits
def records_as_text(x):
    kept = [*x]
    return str(kept[0] ^ flip(LAM))


@bits
def held_by_a_display(x):
    told = (v ^ flip(LAM) for v in x)
    return max([0, *told])


@bits
def held_by_two(x):
    one, other = (v ^ flip(LAM) for v in x), (v ^ flip(LAM) for v in x)
    return (*one, *other)


@pytest.mark.parametrize(
    "made",
    [
        held_by_a_display,
        held_by_two,
        conditioned_at_the_end,
        conditioned_by_a_function,
        looked_at_again,
        begun_loop,
        records_as_text,
    ],
    ids=lambda made: made.__name__,
)
def test_what_is_no_post_processing_is_refused(made: Mechanism) -> None:
    with pytest.raises(LanguageError, match="no answer for every n"):
        made.bind(n=ALL).privacy()


@bits
def clamped_beside_unclamped(x):
    a, b = geometric(sum(x), "1/3"), geometric(2 * sum(x), "1/3", 0, 3)
    return divmod(a, 2), b


def test_noise_that_is_clamped_is_no_contradiction() -> None:
    assert readings(clamped_beside_unclamped.program.bind(1))


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
