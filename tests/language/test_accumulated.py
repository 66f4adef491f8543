"""Comprehensions as loops and lists as their sums: the same draws in the same order, with the same values."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from generators.comprehension_programs import comprehension_program
from tightdp import flip
from tightdp.language.accumulated import accumulated
from tightdp.language.exactness import MEETING, exact
from tightdp.language.laws import Law
from tightdp.language.primitives import using

CALLS: list[Any] = []


def told(*values: Any) -> int:
    CALLS.append(values)
    return int(values[0]) + flip(Fraction(1, 2))


def keeps_its_names(x):
    b = 5
    bits = [told(b) for b in x]
    bits = [told(b, at) for at, b in enumerate(bits) if told(b)]
    return b, tuple(bits), [told(x) for x in x], x


def in_order(x):
    found = told(sum(told(b) for b in x), 1), sum([told(a, b) for a in x for b in range(a) if told(a)])
    found += (max(told(v) for v in x), min((told(v) for v in x), default=3) - told(9) + sum(told(v) for v in x))
    return found, told(0) and sum(told(v) for v in x), told(*[told(v) for v in x][:2]), -sum(told(v) for v in x)


def under_conditions(x):
    if sum(told(b) for b in x) > 5:
        x = x[1:]
    elif [told(v) for v in x] < [2, 2]:
        return any(told(v) > 1 for v in x), [told(v) for v in x] == [2, 3, 0]
    for v in [told(u) for u in x]:
        for w in sorted(told(u + v) for u in x):
            if told(w) > 3:
                break
        else:
            continue
        return v, w
    return len([told(v) for v in x]) if told(0) else sum([told(v) for v in x])


def lengthened(x):
    kept, rows = [1, told(0)], [[told(a, b) for b in range(3)] for a in x]
    kept += [told(2), 3]
    for row in rows:
        kept.append(sum(row) + len(kept))
        kept.append(sum(kept))
    short, longer = [], [4]
    while told(0):
        short.append(told(len(short)))
        longer.append(sum(longer))
    return sum(kept), len(kept), len(short), sum(longer), tuple(map(tuple, rows))


class Kept:
    """How often something was asked."""

    asked = 0


def counting(kept, b):
    kept.asked += 1
    kept.seen.append(b)
    return told(b)


def with_effects(x):
    kept = Kept()
    kept.seen = []
    found = kept.asked + sum(counting(kept, b) for b in x), kept.asked * 10 - sum(counting(kept, b) for b in x)
    found += len(kept.seen) + sum([counting(kept, b) for b in x]), (kept.seen * 2, [counting(kept, b) for b in x])
    found += told(5) - sum(map(told, x)), [counting(kept, b) for b in x].count(1), -kept.asked < sum(map(told, x))
    total, seen = 0, kept.seen
    for r in [counting(kept, b) for b in x]:
        total += r * kept.asked
    more = [counting(kept, b) for b in x]
    for r in more:
        total += r if seen else len(seen)
    return found, total, kept.asked, tuple(kept.seen)


def taken_one_by_one(x):
    total, at, b = 0, 0, 3
    for r in (told(b, at) for b in x for _ in range(b) if told(b)):
        total += r - at
    for r in [told(v) for v in x]:
        at += r
        if r > 1:
            total -= at
    for r in (told(total) for _ in x):
        total += told(r)
    for r in [told(total) for _ in x]:
        total += r
    reports = [told(v, at) for v in x if told(v)]
    ones = 0
    for r in reports:
        if r:
            ones += 1
    total += ones
    others = [told(v, at) for v in x]
    at = 7
    for r in others:
        total += r
    held = [0]
    for r in [told(held[0]) for _ in x]:
        held[0] += r
    for r in (told(a, b) for a in x for b in range(2)):
        if r > 1:
            break
    for r in (told(v) for v in x):
        if r:
            break
    else:
        r = -1
    return total, at, b, r, held[0], sum(v for v in (told(v) for v in x) if v), [told(told(v)) for v in map(told, x)]


RATE, SPREAD, GIVEN = Fraction(1, 3), 2, [1, 2]


def read_in_other_ways(x):
    bits = [told(b) for b in x]
    more, any_of, odd = list(map(told, x)), [], []
    while told(0):
        any_of.append(told(-1))
        odd += [told(v) for v in range(2)]
    read = sum((r - RATE) / (SPREAD - RATE) for r in bits), sum(1 for r in bits if r), len([r for r in bits if r > 1])
    spread = 1
    while told(0):
        more.append(7)
        spread = sum(r * spread for r in more)
    found = read, sum(map(told, sorted(map(told, x)))), more.count(SPREAD), sum(spread < r for r in more)
    return found, any(any_of), all(any_of), all(r > 0 for r in odd), odd.count(1), sum(GIVEN)


def has_two_names(x):
    kept = []
    same = kept
    one = other = []
    while told(0):
        kept.append(told(len(kept)))
        one.append(1)
    same.append(7)
    return len(kept), sum(kept), len(other)


def hides_builtins(x):
    def inner():
        return len(kept)

    sum = max
    kept = [told(v) for v in x]
    kept.append(1)
    return inner(), sum(kept), sum(told(v) for v in x)


def evaluated_before(x):
    kept = Kept()
    kept.seen = []
    bits, total = [0], 0

    def drawn():
        more = told(0)
        return lambda v: told(v) + more

    def with_what_is_there(v):
        return told(v) + bits[0] + total

    found = sum(map(drawn(), x)), sum((counting(kept, b) for b in x), kept.asked)
    found += (sorted((counting(kept, b) for b in x), reverse=kept.asked > 3),)
    for _ in range(2):
        bits = [with_what_is_there(v) for v in x]
    for r in [with_what_is_there(v) for v in x]:
        total += r
    rounds = 0
    while told(0):
        rounds += 1
        rest = [counting(kept, b) for b in x]
        if rounds > 1:
            continue
        for r in rest:
            total += r
    return found, tuple(bits), total, kept.asked, len(kept.seen)


def called_later(x):
    later = [lambda: v for v in x if told(v)]
    return tuple(each() for each in later), len(later)


class Drawn:
    """A source that hears where runs may meet, and goes on."""

    tells_equal_apart = True

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.calls, self.at = self, 0

    def draw(self, law: Law) -> int:
        return self.random.choices([z for z, _ in law], [float(mass) for _, mass in law])[0]

    def met(self, place: Any, items: Any) -> None:
        """Hear it."""

    def begin(self, frame: Any, given: Any, at: int) -> None:
        """Hear it."""

    def end(self) -> None:
        """Hear it."""


@pytest.mark.parametrize(
    "written",
    [
        keeps_its_names,
        with_effects,
        taken_one_by_one,
        in_order,
        under_conditions,
        lengthened,
        read_in_other_ways,
        has_two_names,
        hides_builtins,
        evaluated_before,
        called_later,
    ],
    ids=lambda each: each.__name__,
)
def test_what_is_written_anew_means_the_same(written: Callable[..., Any]) -> None:
    for seed in range(40):
        ends = []
        for meeting in (False, True):
            CALLS.clear()
            token = MEETING.set(meeting)
            with using(Drawn(seed)):
                ends.append((exact(written)((1, 2, 0)), list(CALLS)))
            MEETING.reset(token)
        assert ends[0] == ends[1]


class TooMany(Exception):
    """A run asks too often."""


def followed(tree: ast.Module, seed: int) -> Any:
    """What a function returns, or raises, with all calls in order and what they changed."""
    chosen, calls, kept = random.Random(seed), list[Any](), Kept()
    kept.n = 0

    def told(*values: Any) -> int:
        calls.append(values)
        if len(calls) > 300:
            raise TooMany
        kept.n += 1
        return chosen.randint(0, 2)

    def made(value: Any) -> Callable[[Any], Any]:
        more = told(value)
        return lambda v: told(v) + more

    names = {"told": told, "made": made, "inner": lambda v: told(v, 0), "o": kept, "RATE": 3}
    exec(compile(ast.fix_missing_locations(tree), "drawn", "exec"), names)
    try:
        found = names["drawn"]((0, 1, 2))
    except TooMany:
        return "asks too often"
    return found, calls, kept.n


@pytest.mark.parametrize(("first", "last"), [(0, 200), pytest.param(200, 8_000, marks=pytest.mark.slow(seconds=45))])
def test_drawn_functions_make_the_same_calls(first: int, last: int) -> None:
    compared = 0
    for seed in range(first, last):
        text = comprehension_program(seed)
        written = ast.parse(text)
        accumulated(written.body[0], {"RATE": 3})
        for run in range(3):
            found = followed(ast.parse(text), run)
            assert followed(written, run) == found, text
            compared += found != "asks too often"
    assert compared > 2 * (last - first)
