"""Growth by repetition: messages that, sent again and again, are likelier on one of two neighbours each time.

From a state with values in a finite set, one or two records send some messages and lead back into the set with a
probability of at least a on x; on x' they send them with at most b, from whatever state and values. After m of these
the ratio is at least a constant times (a/b)^m. The proof is in docs/every-n.md.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from tightdp.every_n.chain import Letter, Move
from tightdp.every_n.paths import Affine, Path, Paths, Terms
from tightdp.every_n.runs import OPEN
from tightdp.every_n.states import answers
from tightdp.exact.field import Number
from tightdp.language.laws import TwoSided

_LOST = 1e-4
"""Noise is followed as far as this is its probability to be farther out, and no farther than `_MOST_REACH`."""
_MOST_REACH = 40
_INNER = 5
"""Sets of values are looked for up to so far from 0."""
_BORDERS = (-1, 0, 1)
"""Where half lines of what is published begin or end."""
_MARGIN = 1e-6

_MOST_STEPS = 40
"""With more steps words have one of them."""

Place: TypeAlias = "tuple[int, tuple[int, ...]]"
"""A state, and the integers that it holds."""
Inside: TypeAlias = "tuple[tuple[int, ...], ...]"
"""Values of a state."""


class Message(NamedTuple):
    """A message, and for what is published with it the half line sign·value <= border (sign 0: any value)."""

    letter: Letter
    sign: int = 0
    border: int = 0


class Step(NamedTuple):
    """What one record sends on x and on x'."""

    move: Move
    message: Message


Word: TypeAlias = "tuple[Step, ...]"


def repeats(paths: Paths) -> bool:
    """Whether ratios are proved to be unbounded by repetition; False unless all records may change at once."""
    if not paths.all_at_once or not paths.faithful or not paths.two_sided() or any(map(_beyond, paths.each())):
        return False
    search = _Repetition(paths, exact=False)
    return any(_Repetition(paths, exact=True).proves(*found) for found in search.found())


def _beyond(path: Path) -> bool:
    """Whether a path is not looked at: it has two noises or values, n, factors that are not whole, or open answers."""
    forms = [Affine(terms, Fraction(0)) for terms in path.bounds] + [*path.values, *path.published]
    if answers(path.letter) or max(len(path.values), len(path.noises), len(path.published)) > 1:
        return True
    if any(value.constant.denominator > 1 for value in path.values):
        return True
    return any(kind == "size" or factor.denominator > 1 for form in forms for (kind, _), factor in form.terms)


class _Repetition:
    """Laws of words, in doubles or exactly; noise is followed within reach, and values that are held up to `far`."""

    def __init__(self, paths: Paths, exact: bool) -> None:
        self.paths, self.exact = paths, exact
        ends = [abs(float(end)) for path in paths.each() for end in path.edges()]
        forms = [form for path in paths.each() for form in (*path.values, *path.published)]
        ends += [abs(float(form.constant)) for form in forms]
        factors = [abs(factor) for path in paths.each() for terms in path.bounds for _, factor in terms]
        factors += [abs(factor) for form in forms for _, factor in form.terms]
        laws = {law for path in paths.each() for law in path.noises if isinstance(law, TwoSided)}
        reach = [math.ceil(math.log(_LOST) / math.log(float(law.ratio))) for law in laws]
        self.reach = min(_MOST_REACH, max(reach, default=0))
        most = math.ceil(max((end for end in ends if end < math.inf), default=0.0))
        self.far = 3 * (self.reach + most + 2) * math.ceil(max(factors, default=Fraction(1)))
        self.lost = max((self.number(2 * law.at_least(self.reach + 1)) for law in laws), default=0)
        self._known: dict[Any, dict[Place, Any]] = {}

    def number(self, value: Number) -> Any:
        """Return a number as it is computed with."""
        return value if self.exact else float(value)

    def found(self) -> Iterator[tuple[int, Inside, Word]]:
        """Yield states, sets of values and words that prove it, as far as can be seen."""
        for state, held in {path.target: len(path.values) for path in self.paths.before}.items():
            inner: list[tuple[int, ...]] = [(value,) for value in range(-_INNER, _INNER + 1)] if held else [()]
            sets = [tuple(inner[i : j + 1]) for i in range(len(inner)) for j in range(i, len(inner))]
            for word in self._words():
                rows = {values: self._sent((state, values), word, 0) for values in inner}
                best = max(sets, key=lambda inside: self._back(state, inside, rows))
                if (least := self._back(state, best, rows)) > _MARGIN and self._surely_less(word, least - _MARGIN):
                    yield state, best, word

    def proves(self, state: int, inside: Inside, word: Word) -> bool:
        """Whether a run begins in the set, and the word leads back likelier on x than it is on x' from anywhere."""
        begun = self._moved((-1, ()), self.paths.before, None, 0)
        if not any(place[0] == state and place[1] in inside and value > 0 for place, value in begun.items()):
            return False
        rows = {values: self._sent((state, values), word, 0) for values in inside}
        return self._surely_less(word, self._back(state, inside, rows))

    def _words(self) -> Iterator[Word]:
        """Yield one or two steps, each to another record."""
        sent = {path.letter: path for by in self.paths.steps.values() for some in by.values() for path in some}
        messages = [Message(letter) for letter in sorted(sent, key=repr)]
        lines = tuple(product((1, -1), _BORDERS))
        messages += [Message(each.letter, *line) for each in messages if sent[each.letter].published for line in lines]
        steps = [Step(move, message) for move in self.paths.moves if move[0] != move[1] for message in messages]
        for size in (1, 2) if len(steps) <= _MOST_STEPS else (1,):
            yield from product(steps, repeat=size)

    def _back(self, state: int, inside: Inside, rows: dict[tuple[int, ...], dict[Place, Any]]) -> Any:
        """Return the least probability with which rows of a set lead back into it."""
        return min(
            sum((rows[one].get((state, other), 0) for other in inside), self.number(Fraction(0))) for one in inside
        )

    def _surely_less(self, word: Word, bar: Any) -> bool:
        """Whether the word has a smaller probability than this on x', from every state and all values."""
        for state, held in {path.target: len(path.values) for path in self.paths.each()}.items():
            for values in [(value,) for value in range(-self.far, self.far + 1)] if held else [()]:
                law = self._sent((state, values), word, 1)
                if sum(law.values(), len(word) * self.lost) >= bar:
                    return False
        return True

    def _sent(self, place: Place, word: Word, side: int) -> dict[Place, Any]:
        """Return where a word leads to from a place, on x or on x'."""
        law = {place: self.number(Fraction(1))}
        for step in word:
            found: dict[Place, Any] = {}
            for each, p in law.items():
                key = step.move[side], each, step.message, side
                if key not in self._known:
                    ways = self.paths.steps[step.move[side]].get(each[0], ())
                    self._known[key] = self._moved(each, ways, step.message, side)
                for later, share in self._known[key].items():
                    found[later] = found.get(later, 0) + p * share
            law = found
        return law

    def _moved(self, place: Place, ways: Sequence[Path], message: Message | None, side: int) -> dict[Place, Any]:
        """Return where the paths lead to that send a message, or on x' may do so."""
        found: dict[Place, Any] = {}
        for path in ways:
            if message is not None and not (_alike if side else operator.eq)(path.letter, message.letter):
                continue
            bounds = [(_numbers(terms), ends) for terms, ends in path.bounds.items()]
            values = [(_numbers(form.terms), int(form.constant)) for form in path.values]
            shown = [(_numbers(form.terms), form.constant) for form in path.published]
            here = place[1][0] if place[1] else 0
            for noise in range(-self.reach, self.reach + 1) if path.noises else (0,):
                if any(not low <= a * here + b * noise <= high for (a, b), (low, high) in bounds):
                    continue
                told = [constant + a * here + b * noise for (a, b), constant in shown]
                if message is not None and message.sign and any(message.sign * y > message.border for y in told):
                    continue
                mass = path.probability
                for law in path.noises:
                    assert isinstance(law, TwoSided)
                    mass = mass * law.mass(noise)
                later = path.target, tuple(constant + a * here + b * noise for (a, b), constant in values)
                found[later] = found.get(later, 0) + self.number(mass)
        return found


def _numbers(terms: Terms) -> tuple[int, int]:
    """Return the factors of the value that is held, and of the noise."""
    factors = {kind: int(factor) for (kind, _), factor in terms}
    return factors.get("held", 0), factors.get("fresh", 0)


def _alike(one: Letter, other: Letter) -> bool:
    """Whether two messages may be the same once what is published is in its places."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    return one == other or OPEN in (one, other)
