"""Growth under noise on all integers that a whole run shares: messages that repeat favour one of two neighbours.

Given the noise z that is drawn before the records, m repetitions of some messages have probability F(z)^m on x and
G(z)^m on x'. One z alone gives x a constant times F(z)^m, all of them together give x' no more than sup G^m.
The proof is in docs/every-n.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from tightdp.every_n.chain import Letter
from tightdp.every_n.paths import Affine, Bounds, Path, Paths, Terms, fresh, held
from tightdp.every_n.runs import OPEN
from tightdp.exact.field import Number
from tightdp.language.laws import TwoSided

_FAR = 64
"""The noise that is looked at reaches this far beyond all constants; then probabilities are monotone in it."""
_NEAR = 3
"""Noise that is published at the end is looked at this far beyond all constants."""

_Where = Callable[[float], bool]
"""For which values of the shared noise something is possible."""


@dataclass(frozen=True, eq=False)
class _Factors:
    """The probability of a message as a function of the shared noise, summed over its paths."""

    paths: tuple[Path, ...]

    def at(self, z: float) -> Number:
        """Return the probability at an integer, or its limit at infinity."""
        return sum((_probability(path, z) for path in self.paths), Fraction(0))

    def beyond(self, z: int, end: float) -> Number:
        """Return an upper bound from z on towards that end, where every path is monotone."""
        return sum((max(_probability(path, z), _probability(path, end)) for path in self.paths), Fraction(0))


_Word = Sequence[tuple[_Factors, _Factors]]
"""What the messages of one or two records have as probabilities on x and on x'."""


def grows_under_noise(paths: Paths) -> bool:
    """Whether the ratios are proved to be unbounded; False unless all records may change at once."""
    if not paths.all_at_once or not paths.faithful or len(paths.before) != 1 or not paths.two_sided():
        return False
    (start,) = paths.before
    if start.bounds or start.published or not _is_shared_noise(start):
        return False
    search = _Search(paths, start.target)
    return any(search.grows(*way) for way in search.ends())


def _is_shared_noise(start: Path) -> bool:
    """Whether a run starts by drawing one noise on all integers, kept up to sign and a constant."""
    values = start.values
    return len(start.noises) == len(values) == 1 and _alone(values[0], fresh(0)) is not None


def _alone(affine: Affine, terms: Terms) -> int | None:
    """Return the coefficient, 1 or -1, where a value is plus or minus the given unknown, plus an integer; else None."""
    for times in (1, -1):
        if (
            affine.terms == tuple((symbol, times * factor) for symbol, factor in terms)
            and affine.constant.denominator == 1
        ):
            return times
    return None


class _Search:
    def __init__(self, paths: Paths, state: int) -> None:
        self.paths, self.state = paths, state
        ends = [abs(float(end)) for path in paths.each() for end in path.edges()]
        ends += [abs(float(one.constant)) for path in paths.each() for one in (*path.values, *path.published)]
        self.most = math.ceil(max((end for end in ends if end < math.inf), default=0.0))
        self.far = 4 * self.most + _FAR
        self._known: dict[tuple[_Factors, float], float] = {}
        self.core = range(-self.far, self.far + 1)
        self.messages = {
            (record, letter): found
            for record, by in paths.steps.items()
            for letter in {path.letter for path in by.get(state, ())}
            if (found := self._message(by[state], letter)) is not None
        }

    def _message(self, every: tuple[Path, ...], letter: Letter) -> _Factors | None:
        """Return the probability of a message that leaves the state unchanged; None where it may change it."""
        stays = Affine(held(0), Fraction(0))
        found = tuple(path for path in every if _alike(path.letter, letter))
        if any(
            path.letter != letter or path.target != self.state or path.values != (stays,) or path.published
            for path in found
        ):
            return None
        return _Factors(found) if letter and all(map(_simple, found)) else None

    def ends(self) -> Iterator[tuple[_Where, _Where]]:
        """Yield for which shared noise an end of the output is possible on x, and for which it may be so on x'."""
        if self._ends_after(self.state):
            yield (lambda z: True), (lambda z: True)
        for old, new in self.paths.moves:
            ours, theirs = (self.paths.steps[record].get(self.state, ()) for record in (old, new))
            for one in ours:
                if self._ends_after(one.target) and len(one.published) <= 1:
                    seen = range(-self.most - _NEAR, self.most + _NEAR + 1) if one.published else range(1)
                    for value in seen:
                        message = _filled(one.letter, value)
                        yield _possible([one], message, value, False), _possible(theirs, message, value, True)

    def _ends_after(self, state: int) -> bool:
        """Whether a run can end after this state whatever the noise is."""
        return any(not path.bounds and not path.published for path in self.paths.after.get(state, ()))

    def grows(self, ours: _Where, theirs: _Where) -> bool:
        """Whether some messages of one or two records prove unbounded ratios with this end of the output."""
        inside = [z for z in self.core if ours(z)]
        others = [z for z in self.core if theirs(z)]
        sides = [(end, z) for end, z in ((-math.inf, -self.far), (math.inf, self.far)) if theirs(z)]
        letters = [
            (self.messages[old, letter], self.messages[new, letter])
            for old, new in self.paths.moves
            for letter in sorted({letter for _, letter in self.messages}, key=repr)
            if (old, letter) in self.messages and (new, letter) in self.messages
        ]
        reach: list[float] = [*others, *(end for end, _ in sides)]
        words = [*((pair,) for pair in letters), *product(letters, letters)]
        for word in words:
            left = {z: math.prod(self._near(one, z) for one, _ in word) for z in inside}
            right = max((math.prod(self._near(other, z) for _, other in word) for z in reach), default=0.0)
            best = max(left, key=lambda z: left[z], default=0)
            if left and left[best] > right * (1 + 1e-9) and self._surely(word, best, others, sides):
                return True
        return False

    def _near(self, factors: _Factors, z: float) -> float:
        """Return a probability as a double; a bound beyond the core for an infinite z."""
        if (factors, z) not in self._known:
            exact = factors.at(z) if math.isfinite(z) else factors.beyond(self.far if z > 0 else -self.far, z)
            self._known[factors, z] = float(exact)
        return self._known[factors, z]

    def _surely(self, word: _Word, best: int, others: Sequence[int], sides: Sequence[tuple[float, int]]) -> bool:
        """Check exactly what was found in doubles."""
        ours = _times(one.at(best) for one, _ in word)
        core = (_times(other.at(z) for _, other in word) for z in others)
        tails = (_times(other.beyond(z, end) for _, other in word) for end, z in sides)
        return all(ours > each for each in (*core, *tails))


def _times(numbers: Iterator[Number]) -> Number:
    result: Number = Fraction(1)
    for number in numbers:
        result = result * number
    return result


def _alike(one: object, other: object) -> bool:
    """Whether two messages may be the same once noise is in its places."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    return one == other or any(a == OPEN and isinstance(b, (int, Fraction)) for a, b in ((one, other), (other, one)))


def _simple(path: Path) -> bool:
    """Whether a path draws at most one noise, and its conditions concern only that and the shared one, with factors ±1.

    An end of the interval may move by as much as the shared one, or not: intervals with ends that move at other speeds
    have probabilities that are not monotone, however far out.
    """
    known = {("fresh", 0), ("held", 0)}
    return len(path.noises) <= 1 and all(
        {symbol for symbol, _ in terms} <= known and all(abs(times) == 1 for _, times in terms) for terms in path.bounds
    )


def _interval(bounds: Bounds, z: float) -> tuple[float, float]:
    """Return where the noise of a path may lie, given the shared one; the interval (1, 0) stands for nowhere."""
    low, high = -math.inf, math.inf
    for terms, ends in bounds.items():
        times = dict(terms)
        own, shared = int(times.get(("fresh", 0), 0)), times.get(("held", 0), Fraction(0))
        moved = float(shared) * z if shared else 0.0
        least = ends[0] - moved if ends[0] > -math.inf else -math.inf
        most = ends[1] - moved if ends[1] < math.inf else math.inf
        if not own:
            if least > 0 or most < 0:
                return 1.0, 0.0
            continue
        low, high = (max(low, least), min(high, most)) if own > 0 else (max(low, -most), min(high, -least))
    return low, high


def _probability(path: Path, z: float) -> Number:
    """Return the probability of a path, given the shared noise or in the limit."""
    low, high = _interval(path.bounds, z)
    if low > high or low == math.inf or high == -math.inf:
        return Fraction(0)
    if not path.noises:
        return path.probability
    law = path.noises[0]
    assert isinstance(law, TwoSided)
    above = Fraction(1) if low == -math.inf else law.at_least(math.ceil(low))
    return path.probability * (above if high == math.inf else above - law.at_least(math.floor(high) + 1))


def _possible(paths: Sequence[Path], message: object, value: int, unclear: bool) -> _Where:
    """Return for which shared noise one of these paths can send a message, with this value where noise is published.

    Cases that are not analysed give `unclear`.
    """

    def sent(path: Path, z: float) -> bool:
        if not _alike(path.letter, message):
            return False
        if not _simple(path) or len(path.published) > 1:
            return unclear
        low, high = _interval(path.bounds, z)
        if not path.published:
            return path.letter == message and low <= high
        times = _alone(path.published[0], fresh(0))
        if times is None:
            return unclear
        return low <= times * (value - path.published[0].constant) <= high and _filled(path.letter, value) == message

    return lambda z: any(sent(path, z) for path in paths)


def _filled(message: object, value: int) -> object:
    """Return a message with a value where noise is published."""
    if isinstance(message, tuple):
        return tuple(_filled(each, value) for each in message)
    return value if message == OPEN else message
