"""All runs on a dataset with the places in the source where they draw, replayed as by the interpreter."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from types import FrameType
from typing import Any

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.language.laws import Exponentials, Law, OnIntegers
from tightdp.language.primitives import Rejected
from tightdp.language.program import Bound, Dataset

__all__ = ["MOST_RUNS", "Place", "Run", "largest_ratio", "runs_with_places"]

MOST_RUNS = 20_000
"""How many runs of one dataset are enumerated at most."""

Place = tuple[int, int, int]
"""Line, first column and last column of a call that draws."""


@dataclass(frozen=True)
class Run:
    """One run: its output, its probability, and its draws as (place, outcome, the likeliest outcome's probability).

    The third is None where another outcome was taken.
    """

    output: Any
    probability: Number
    draws: tuple[tuple[Place, int, Number | None], ...]

    def outcomes(self, place: Place) -> tuple[int, ...]:
        """Return what was drawn at a place, in order."""
        return tuple(outcome for where, outcome, _ in self.draws if where == place)

    def fixed(self, place: Place) -> Number:
        """Return the probability of the run when the likeliest outcome is taken at a place every time."""
        mass = self.probability
        for where, _, likeliest in self.draws:
            if where == place:
                if likeliest is None:
                    return Fraction(0)
                mass /= likeliest
        return mass


def runs_with_places(bound: Bound, x: Dataset) -> list[Run]:
    """Return every run on a dataset that `observe` does not reject. Raises LimitError above `MOST_RUNS`."""
    found: list[Run] = []
    past: list[_Draw] = []
    tried = 0
    while True:
        tried += 1
        if tried > MOST_RUNS:
            raise LimitError(f"a dataset has more than {MOST_RUNS} runs", "explain it at a smaller n")
        replay = _Replay(past, bound.program.source.file)
        try:
            output = bound.execute(x, replay)
        except Rejected:
            pass
        else:
            probability: Number = Fraction(1)
            for draw in replay.draws:
                probability = probability * draw.probability
            found.append(Run(output, probability, tuple(draw.seen() for draw in replay.draws)))
        past = replay.draws
        while past and past[-1].index + 1 == len(past[-1].law):
            past.pop()
        if not past:
            return found
        past[-1] = _Draw(past[-1].law, past[-1].place, past[-1].index + 1)


def largest_ratio(first: Iterable[tuple[Hashable, Number]], second: Iterable[tuple[Hashable, Number]]) -> Exact:
    """Return the largest P(event)/P'(event) or its inverse over single events, both laws normalized; at least 1."""
    ours, theirs = _law(first), _law(second)
    largest: Exact = Fraction(1)
    for one, other in ((ours, theirs), (theirs, ours)):
        for event, mass in one.items():
            beside = other.get(event, Fraction(0))
            largest = max(largest, math.inf if beside == 0 else mass / beside)
    return largest


def _law(masses: Iterable[tuple[Hashable, Number]]) -> dict[Hashable, Number]:
    law: dict[Hashable, Number] = {}
    for event, mass in masses:
        if mass:
            law[event] = law.get(event, Fraction(0)) + mass
    total: Number = Fraction(0)
    for mass in law.values():
        total = total + mass
    return {event: mass / total for event, mass in law.items()}


@dataclass
class _Draw:
    law: Law
    place: Place
    index: int = 0

    @property
    def probability(self) -> Number:
        return self.law[self.index][1]

    def seen(self) -> tuple[Place, int, Number | None]:
        likeliest = max(range(len(self.law)), key=lambda index: self.law[index][1])
        return self.place, self.law[self.index][0], self.probability if self.index == likeliest else None


class _Replay:
    """Repeats the outcomes of `past`, then takes the first outcome of every law; notes the places."""

    def __init__(self, past: list[_Draw], file: str) -> None:
        self._past, self._file = past, file
        self.draws: list[_Draw] = []

    def draw_integer(self, law: OnIntegers) -> int:
        raise LimitError("noise on all integers has infinitely many outcomes", "explain it with the noise clamped")

    def draw_number(self, law: Exponentials) -> int:
        raise LimitError("this noise has infinitely many outcomes", "explain it with noise of finitely many")

    def draw(self, law: Law) -> int:
        if len(law) == 1:
            return law[0][0]
        at = len(self.draws)
        draw = self._past[at] if at < len(self._past) else _Draw(law, _place(self._file))
        self.draws.append(draw)
        return draw.law[draw.index][0]

    def observe(self, condition: bool) -> None:
        if not condition:
            raise Rejected


def _place(file: str) -> Place:
    """Return where the user's file calls the primitive that draws now."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == file:
            line, _, start, end = list(frame.f_code.co_positions())[frame.f_lasti // 2]
            return line or frame.f_lineno, start or 0, end or 0
        frame = frame.f_back
    return 0, 0, 0
