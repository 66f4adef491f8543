"""Growth: messages that, sent again and again, are likelier on one of two neighbours each time.

There are numbers g >= 0 on the states and values of the run on x such that one more repetition is expected to multiply
them by at least a, and h on those of the run on x' that it is expected to multiply by at most b < a. After m
repetitions the ratio is at least a constant times (a/b)^m. The proof is in docs/every-n.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import NamedTuple, TypeAlias

from tightdp.cells.draws import by_pieces
from tightdp.cells.masses import Masses
from tightdp.every_n.chain import Letter, Move
from tightdp.every_n.covering import Kinds
from tightdp.every_n.edges import Edge, finite, total
from tightdp.every_n.intervals import BITS, MOST_ENTRIES, ONE, Bound, Grid, Unheld, Way, Weights, expected
from tightdp.every_n.options import kinds_of
from tightdp.every_n.paths import OPEN, Affine, Noise, Path, Paths, support
from tightdp.every_n.shifts import is_real
from tightdp.every_n.states import answers
from tightdp.exact.arrays import Flags, np
from tightdp.exact.field import ExpNumber
from tightdp.exact.lines import near_sample
from tightdp.language.laws import TwoSided

_LOST = 1e-4
"""Cells reach as far as noise is farther out with this probability, where that is not beyond `_MOST_REACH` integers."""
_MOST_REACH = 64
_MOST_CELLS = 400
_FINEST = 4
"""So often, less one, cells are divided in two."""
_ROUNDS = 12
_CLOSED = 64
_MOST_TRIED = 2000
_MOST_WORK = 1 << 21
"""Words have two steps where there are no more of them, and of them times the cells."""
_RANGES: list[tuple[Edge, Edge]] = [
    each for k in map(Fraction, (-1, 0, 1)) for each in ((-math.inf, k), (k, math.inf), (k, k), (k, k + 1))
]
"""Where a number that is published may be asked to lie."""
_BEFORE = 8
"""So many records may come before the messages."""
_DAMPED = ONE >> 10

Masks: TypeAlias = "dict[int, Flags]"
Ways: TypeAlias = "Mapping[int, Sequence[Way]]"


class Message(NamedTuple):
    """A message, and for one number in it from where to where it lies."""

    letter: Letter
    at: int = 0
    low: Edge = -math.inf
    high: Edge = math.inf


ANY = Message(None)
_END = object()
"""In place of a record: what follows them."""


class Step(NamedTuple):
    """What one record sends on x and on x'."""

    move: Move
    message: Message


Word: TypeAlias = "tuple[Step, ...]"


def grows(paths: Paths) -> bool:
    """Whether ratios are proved to be unbounded."""
    if not paths.faithful or any(map(_beyond, paths.each())):
        return False
    kinds = {at: each for at, each in kinds_of(paths).items() if each is not None}
    ways = [*paths.before, *(path for by in paths.steps.values() for some in by.values() for path in some)]
    if any(path.target not in kinds or _parted(path, kinds[path.target]) for path in ways):
        return False
    with suppress(Unheld):
        return any(_Search(paths, kinds, grid).proves() for grid in _grids(paths))
    return False


def _beyond(path: Path) -> bool:
    """Whether a path is not looked at: n, an unknown, open answers, odds, or factors that are not whole are in it."""
    forms = [*(Affine(terms, Fraction(0)) for terms in path.bounds), *path.values, *path.published]
    plain = [law for law in path.noises if not isinstance(law, Masses)]
    shapes = [path.probability, *(law.ratio if isinstance(law, TwoSided) else law.weight for law in plain)]
    return (
        len(plain) < len(path.noises)
        or bool(answers(path.letter) or path.odds)
        or any(isinstance(each, ExpNumber) and each.unknown for each in shapes)
        or any(kind == "size" or factor.denominator > 1 for form in forms for (kind, _), factor in form.terms)
    )


def _parted(path: Path, kinds: Kinds) -> bool:
    """Whether a value that is not real need not be an integer."""
    return any(not real and form.constant.denominator > 1 for form, real in zip(path.values, kinds, strict=True))


def _reach(law: Noise) -> float:
    """Return how far noise is followed."""
    assert not isinstance(law, Masses)
    pieces = by_pieces(law)
    rates = [abs(math.log(near_sample(base))) for _, _, base in pieces.pieces if base != 1]
    far = max((-math.log(_LOST) / rate for rate in rates), default=0)
    ends = [abs(float(end)) for end in support(law) if finite(end)]
    return max([far if pieces.real else min(far, _MOST_REACH), *ends])


def _grids(paths: Paths) -> Iterator[Grid]:
    """Yield cells that reach as far as noise and constants do, where these are too many shorter ones that do not."""
    laws = {law for path in paths.each() for law in path.noises}
    constants = [each.constant for path in paths.each() for each in (*path.values, *path.published)]
    constants += [end for path in paths.each() for end in path.edges() if finite(end)]
    ends = [end for law in laws for end in support(law) if finite(end)]
    far = math.ceil(max([1, *map(_reach, laws)]) + max([0, *(abs(float(each)) for each in constants)])) + 1
    parts = math.lcm(*(each.denominator for each in (*constants, *ends)))
    together = max(len({name for terms in path.bounds for name, _ in terms}) for path in paths.each())
    most = min(_MOST_CELLS, int(MOST_ENTRIES ** (1 / max(together, 1))))
    sizes = [2**k for k in range(_FINEST if any(map(is_real, laws)) else 1) if 2 ** (k + 1) * parts < most]
    short = [size for size in sizes if 2 * far * parts * size > most]
    for size in [*[size for size in sizes if size not in short][-1:], *short]:
        yield Grid(min(far, most // (2 * parts * size)), parts * size)


class _Search:
    """Looks for messages, what may come before and after them, and numbers that prove that ratios grow."""

    def __init__(self, paths: Paths, kinds: Mapping[int, Kinds], grid: Grid) -> None:
        self._paths, self._kinds, self._grid = paths, kinds, grid
        self._sizes = {at: tuple(map(grid.size, reals)) for at, reals in kinds.items() if at >= 0}
        self._known: dict[object, Ways] = {}
        self._starts = [
            [Way(path, (), kinds[path.target], grid, (), up) for path in paths.before] for up in (False, True)
        ]
        self._all = {at: np.full(size, True) for at, size in self._sizes.items()}
        self._able = self._may(self._sent(_END, ANY, 0), self._all, False)
        self._letters = {path.letter: path for by in paths.steps.values() for some in by.values() for path in some}

    def proves(self) -> bool:
        """Whether the search succeeds."""
        same = [(record, record) for record in self._paths.steps]
        moves = [move for move in self._paths.moves if move[0] != move[1]]
        if self._paths.all_at_once:
            ends = {_key(*end): end for end in self._ends(moves)}.values()
            for word in self._words(moves, same, len(ends)):
                if any(self._grows(word, *end, None) for end in ends):
                    return True
        firsts = list(self._firsts(moves))
        return any(
            self._grows(word, self._all, self._able, first)
            for word in self._words(same, (), len(firsts))
            for first in firsts
        )

    # what there is to try

    def _messages(self, letters: Mapping[Letter, Path]) -> list[Message]:
        """Return messages, then those of which a number is in a range."""
        plain = [Message(letter) for letter in sorted(letters, key=repr)]
        lines = [
            Message(each.letter, at, *ends)
            for each in plain
            for at in range(len(letters[each.letter].published))
            for ends in _RANGES
        ]
        return plain + lines

    def _words(self, moves: Sequence[Move], also: Sequence[Move], beside: int) -> Iterator[Word]:
        """Yield one or two steps, the second one of more, of which each is looked at with so many things beside it."""
        first, second = (
            [Step(move, message) for message in self._messages(self._letters) for move in some]
            for some in (moves, [*moves, *also])
        )
        yield from ((step,) for step in first)
        tried = len(first) * len(second) * beside
        if tried <= _MOST_TRIED and tried * sum(map(math.prod, self._sizes.values())) <= _MOST_WORK:
            yield from product(first, second)

    def _ends(self, moves: Sequence[Move]) -> Iterator[tuple[Masks, Masks]]:
        """Yield where something can be sent last on x', and where it is on x, with a positive probability."""
        yield self._all, self._able
        tried = [(move, message) for message in self._messages(self._letters) for move in moves]
        last = {path.letter: path for some in self._paths.after.values() for path in some}
        tried += [((_END, _END), message) for message in self._messages(last)]
        for (old, new), message in tried:
            theirs = self._may(self._sent(new, message, 1), self._all, True)
            if any(not mask.all() for mask in theirs.values()):
                yield theirs, self._may(self._sent(old, message, 0), self._all if old is _END else self._able, False)

    def _firsts(self, moves: Sequence[Move]) -> Iterator[tuple[Step, Masks]]:
        """Yield what one record sends first, and where the run on x' may be then."""
        for move, message in product(moves, (ANY, *map(Message, sorted(self._letters, key=repr)))):
            begun = {at: np.full(size, False) for at, size in self._sizes.items()}
            for way in self._starts[1]:
                way.after(np.full((), True), begun[way.target])
            begun = self._after(self._sent(move[1], message, 1), begun)
            if any((mask & ~begun[at]).any() for at, mask in self._able.items()):
                yield Step(move, message), begun

    # whether it grows

    def _grows(self, word: Word, last: Masks, able: Masks, first: tuple[Step, Masks] | None) -> bool:
        """Whether a word is likelier on x each time, where `first` says with what, if anything, a run begins."""
        ours, theirs = ([self._sent(step.move[side], step.message, side) for step in word] for side in (0, 1))
        inside = self._closed(theirs, last, None if first is None else first[1])
        if inside is None:
            return False
        top = max(int(found.max()) for found in _repeated(ours, _numbers(able), False).values())
        bar = _most(theirs, inside)
        held = _least(ours, able, bar) if top > bar else None
        return held is not None and self._begins(held, None if first is None else first[0])

    def _closed(self, word: Sequence[Ways], last: Masks, begun: Masks | None) -> Masks | None:
        """Return where the run on x' may be so that something can be sent last; None where that is not found."""
        inside = _widened(last, lambda masks: _positive(_repeated(word, _numbers(masks), True)))
        if inside is None or begun is None:
            return inside
        met = _widened(begun, lambda masks: reduce(lambda here, ways: self._after(ways, here), word, masks))
        return None if met is None else {at: mask & met[at] for at, mask in inside.items()}

    def _begins(self, held: Masks, first: Step | None) -> bool:
        """Whether a run on x gets to one of these places with a positive probability."""
        if first is not None:
            held = self._may(self._sent(first.move[0], first.message, 0), held, False)
        for _ in range(_BEFORE):
            if any(way.before(_numbers(held)[way.target]).max() > 0 for way in self._starts[0]):
                return True
            if first is not None:
                return False
            for record in self._paths.steps:
                more = self._may(self._sent(record, ANY, 0), held, False)
                held = {at: mask | more[at] for at, mask in held.items()}
        return False

    # what one record does

    def _sent(self, record: object, message: Message, side: int) -> Ways:
        """Return the ways of a record that send a message for certain, or on x' may; of the end for no record."""
        key = record, message, side
        if key not in self._known:
            steps = self._paths.after if record is _END else self._paths.steps[record]
            self._known[key] = {
                at: [
                    way
                    for path in some
                    if (way := self._way(at, path, message, bool(side), record is _END)) is not None
                ]
                for at, some in steps.items()
                if at in self._sizes
            }
        return self._known[key]

    def _way(self, at: int, path: Path, message: Message, up: bool, ends: bool = False) -> Way | None:
        """Return what a path is on cells, None where it does not send the message, or on x' cannot."""
        held = self._kinds[at]

        def real(form: Affine) -> bool:
            kinds = {"held": held, "fresh": [is_real(law) for law in path.noises]}
            return any(kinds[kind][place] for (kind, place), _ in form.terms)

        asked = [] if message == ANY else _asked(path, message, real)
        if asked is None or not (up or message == ANY or path.letter == message.letter):
            return None
        return Way(path, held, () if ends else self._kinds[path.target], self._grid, asked, up, ends)

    def _may(self, ways: Ways, later: Masks, up: bool) -> Masks:
        """Return from where one gets to some places with a positive probability."""
        return _positive(expected(ways, _numbers(later), up))

    def _after(self, ways: Ways, begun: Masks) -> Masks:
        found = {at: np.full(size, False) for at, size in self._sizes.items()}
        for at, some in ways.items():
            for way in some:
                way.after(begun[at], found[way.target])
        return found


def _most(word: Sequence[Ways], inside: Masks) -> int:
    """Return by what a word multiplies some numbers on x' at most, over `ONE`, wherever the run may be."""
    numbers, best = _numbers(inside), ONE
    for _ in range(_ROUNDS):
        more = _repeated(word, numbers, True)
        rates = {at: -(-(found << BITS) // np.maximum(numbers[at], 1)) for at, found in more.items()}
        most = max(int(rates[at][mask].max(initial=0)) for at, mask in inside.items())
        if most >= best:
            break
        best = most
        numbers = {
            at: np.where(mask, np.maximum((more[at] << BITS) // max(most, 1), _DAMPED), 0)
            for at, mask in inside.items()
        }
    return best


def _least(word: Sequence[Ways], able: Masks, bar: int) -> Masks | None:
    """Return where numbers are positive that a word multiplies on x by more than this over `ONE`; None for none."""
    numbers = _numbers(able)
    for _ in range(_ROUNDS):
        more = _repeated(word, numbers, False)
        inside = _positive(numbers)
        rates = {
            at: np.where(inside[at], (more[at] << BITS) // np.maximum(found, 1), 0) for at, found in numbers.items()
        }
        above = {at: rate > bar for at, rate in rates.items()}
        if not any(mask.any() for mask in above.values()):
            return None
        if all((above[at] == mask).all() for at, mask in inside.items()):
            return inside
        top = max(int(more[at][mask].max(initial=0)) for at, mask in above.items())
        numbers = {at: np.where(mask, (more[at] << BITS) // top, 0) for at, mask in above.items()}
    return None


def _repeated(word: Sequence[Ways], later: Weights, up: bool) -> Weights:
    for ways in reversed(word):
        later = expected(ways, later, up)
    return later


def _widened(masks: Masks, more: Callable[[Masks], Masks]) -> Masks | None:
    """Return where one is or gets to, again and again, from some places; None where that is not found."""
    for _ in range(_CLOSED):
        reached = more(masks)
        wider = {at: mask | reached[at] for at, mask in masks.items()}
        if all((wider[at] == mask).all() for at, mask in masks.items()):
            return masks
        masks = wider
    return None


def _positive(numbers: Weights) -> Masks:
    return {at: found > 0 for at, found in numbers.items()}


def _key(*masks: Masks) -> bytes:
    return b"".join(each.tobytes() for some in masks for each in some.values())


def _numbers(masks: Masks) -> Weights:
    return {at: np.where(mask, ONE, 0) for at, mask in masks.items()}


def _asked(path: Path, message: Message, real: Callable[[Affine], bool]) -> list[Bound] | None:
    """Return what must hold of the numbers that a path publishes for what it sends to be the message; None if nothing.

    What is published and has no number in its place yet may be the same, and so that nothing is asked of it.
    """
    found: list[Bound] = []
    ours = theirs = -1
    for one, other in _leaves(path.letter, message.letter):
        ours, theirs = ours + (one == OPEN), theirs + (other == OPEN)
        here = theirs == message.at
        if one == OPEN:
            form = path.published[ours]
            if other == OPEN:
                ends = (message.low, message.high) if here else (-math.inf, math.inf)
                found.append((form.terms, *(total(end, (-1, form.constant)) for end in ends)))
            else:
                if not isinstance(other, (int, Fraction)) or real(form):
                    return None
                found.append((form.terms, other - form.constant, other - form.constant))
        elif other == OPEN:
            if not isinstance(one, (int, Fraction)) or (here and not message.low <= one <= message.high):
                return None
        elif one != other:
            return found if _is_told(one) or _is_told(other) else None
    return found


def _leaves(one: Letter, other: Letter) -> Iterator[tuple[Letter, Letter]]:
    """Yield what stands in the same places of two messages."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        for each, against in zip(one, other, strict=True):
            yield from _leaves(each, against)
    else:
        yield one, other


def _is_told(part: Letter) -> bool:
    """Whether something stands for a value that is not known yet."""
    first = part[0] if isinstance(part, tuple) and part else part
    return isinstance(first, str) and first.startswith("\0")
