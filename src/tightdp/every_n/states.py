"""The paths of a program for every n, read and compared with the program itself; and its chain.

What a program returns is a random function of what its chain publishes. So for neighbours x, x' and every γ >= 1 the
sum of the positive parts of P(y | x) - γ·P(y | x') is at most that of the chain (the hockey-stick divergence of Balle,
Barthe and Gaboardi 2018). At the first few n this is checked; the laws of the program are the interpreter's, which
shares nothing with the machine that the chain is read from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from tightdp.errors import LanguageError, LimitError
from tightdp.every_n.assembling import assembled
from tightdp.every_n.chain import Chain, Letter, Matrix, Vector
from tightdp.every_n.deciding import Choices, Manner
from tightdp.every_n.drawn_loops import Loops
from tightdp.every_n.learned import Again, Unending
from tightdp.every_n.meeting import Meeting, steps_of_run
from tightdp.every_n.paths import Affine, Path, Paths, refusal
from tightdp.every_n.reading import Following
from tightdp.every_n.runs import Ending, Session
from tightdp.exact.field import ExpNumber, Number
from tightdp.language.interp import runs
from tightdp.language.laws import TwoSided
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound
from tightdp.limits.calibrated import PROOF_RUNS


def explore(
    bound: Bound,
    sums: bool = False,
    watch: Callable[[], None] = lambda: None,
    by_position: bool = True,
    manner: Manner | None = None,
    loops: Loops | None = None,
) -> Paths:
    """Return the paths of a mechanism, the same for every n; with `sums`, sums over the records stay symbolic.

    Raises LanguageError with the place where records are not treated alike, where a variable takes unboundedly many
    values, or where the neighbour relation or `observe` leaves no answer for every n; or Untraceable.
    """
    relation = relation_of(bound)
    moves = relation.moves()
    if moves is None:
        raise LanguageError(
            "no answer for every n: the neighbours are a function of one dataset",
            "use a built-in relation, such as 'replace-one', EachRecord(function of one record), or ask for one n",
        )
    try:
        session = Session(manner or Manner(sums), by_position, loops or Loops())
        paths = assembled(_read(bound, session, watch), bound.record.values, moves, relation.at_once)
        return replace(paths, backwards=bool(session.backwards))
    except LanguageError as error:
        error.span = error.span or bound.program.source.span()
        raise


def _read(bound: Bound, session: Session, watch: Callable[[], None] = lambda: None) -> list[Ending]:
    """Return all runs of a program. Raises LanguageError with the place where it is not the same for every n."""
    while True:
        try:
            return list(_endings(bound, session, watch))
        except Again:
            session.explored.clear()
            session.versions.clear()
            session.kinds.clear()


def _endings(bound: Bound, session: Session, watch: Callable[[], None]) -> Iterator[Ending]:
    def follow(choices: Choices) -> Ending | None:
        watch()
        with suppress(Unending):
            return Following(bound, session, choices, watch).ending()
        return None

    meeting, count = Meeting(follow), 0
    for made in meeting.runs():
        count += steps_of_run(made)
        if count > PROOF_RUNS:
            raise refusal("it has too many runs before and after the records")
    endings, before = meeting.found()
    for ending, probability in endings:
        ending.after.probability = probability
        if ending.passes:
            ending.before.probability = before[ending.key]
        yield ending


def chain_of(paths: Paths, rational: bool = True) -> Chain | None:
    """Return the chain of a program whose values are all finite, and its probabilities rational, else None."""
    for path in paths.each():
        if path.noises or path.values or path.bounds or path.published or path.odds:
            return None
        if rational and not isinstance(path.probability, Fraction):
            return None
    start: Vector = {}
    for path in paths.before:
        _add(start, path.target, path)
    steps: dict[Letter, dict[Any, Matrix]] = {}
    for record, by in paths.steps.items():
        for here, ways in by.items():
            for path in ways:
                _add(steps.setdefault(path.letter, {}).setdefault(record, {}).setdefault(here, {}), path.target, path)
    finals: dict[Any, Vector] = {}
    for here, ways in paths.after.items():
        for path in ways:
            _add(finals.setdefault(path.letter, {}), here, path)
    starts = (start,) if start else ()
    return Chain(paths.states, starts, steps, tuple(finals.values()), paths.moves, paths.all_at_once, paths.faithful)


def _add(vector: Vector, at: int, path: Path) -> None:
    vector[at] = vector.get(at, Fraction(0)) + path.probability  # type: ignore[assignment]


_SIZES = (1, 2, 3, 4)
_MOST_RUNS = 1_500
"""How many runs of the program are enumerated in all; where noise is on all integers, only those near its centre."""
_MOST_MESSAGES = 10_000
_MOST_PAIRED = 50_000
"""How many entries of laws are compared."""
_DEARER = 8
"""So many times as long takes an entry with e^q."""
_REACHES = (2, 1)

Masses: TypeAlias = dict[Any, Number]


class _TooMuch(Exception):
    pass


def refuse_contradicted(read: Sequence[Paths], bound: Bound) -> None:
    """Raise LanguageError where the laws of a program at a small n are no functions of those of its paths."""
    if not read or any(not isinstance(law, TwoSided) for one in read for path in one.each() for law in path.noises):
        return  # there are no runs near the centre to go through
    left = before = _MOST_RUNS
    for n in _SIZES:
        one = bound.program.bind(n, neighbours=bound.neighbours, **bound.parameters)
        for reach in _REACHES:
            with suppress(_TooMuch, LimitError):  # the rest of the program, which is not followed, may draw real noise
                ours, tails, rest = _of_program(one, reach, left)
                break
        else:
            return
        for paths in read:
            with suppress(_TooMuch):
                _compare(paths, one, ours, reach, tails)
        many, left = left - rest, rest
        if not tails and many * many > left * before:
            return  # by a record more there are as many times as many runs again, too many
        before = many


def _compare(paths: Paths, bound: Bound, ours: Mapping[Any, Masses], reach: int, tails: bool) -> None:
    relation = relation_of(bound)
    work, paired = [_MOST_MESSAGES], _MOST_PAIRED
    chain = {x: _of_paths(paths, x[::-1] if paths.backwards else x, reach, work) for x in ours}
    within = {x: (_mass(ours[x]), _mass(chain[x])) for x in ours}
    if any(path.noises for path in paths.each()) and any(mass > found for mass, found in within.values()):
        raise _TooMuch  # noise that is clamped has no tails in the program, which are left out here
    powers = any(isinstance(mass, ExpNumber) for law in (*ours.values(), *chain.values()) for mass in law.values())
    for x in ours:
        for other in relation.neighbours(x):
            paired -= (len(ours[x]) + len(chain[x])) * (_DEARER if powers else 1)
            if paired < 0:
                raise _TooMuch
            beyond = within[other][1] - within[other][0] if tails else Fraction(0)  # the paths draw less noise
            if not _dominated(_ratios(ours[x], ours[other]), _ratios(chain[x], chain[other]), beyond):
                raise LanguageError(
                    f"no answer for every n: what is known of this program contradicts its laws at n = {bound.n}",
                    "this is a mistake of tightdp, please report it; ask for one n meanwhile",
                    bound.program.source.span(),
                )


def tells_messages_of_one(paths: Paths, bound: Bound) -> bool:
    """Whether one record is known to be told apart from others by what a program returns as well as by its paths."""
    relation, work = relation_of(bound), [_MOST_MESSAGES]
    with suppress(_TooMuch, LimitError):
        ours, tails, _ = _of_program(bound, _REACHES[0], _MOST_RUNS)
        chain = {x: _of_paths(paths, x, _REACHES[0], work) for x in ours}
        return not tails and all(
            _dominated(_ratios(chain[x], chain[other]), _ratios(ours[x], ours[other]), Fraction(0))
            for x in ours
            for other in relation.neighbours(x)
        )
    return False


def _of_program(bound: Bound, reach: int, left: int) -> tuple[dict[Any, Masses], bool, int]:
    """Return the laws on all datasets, of the runs whose noise is within reach; whether some is not; and runs left."""
    found: dict[Any, Masses] = {}
    beyond: list[Number] = [Fraction(0)]
    for x in product(bound.record.values, repeat=bound.n):
        masses = found[x] = {}
        for output, probability in runs(bound, x, reach, beyond):
            masses[output] = masses.get(output, Fraction(0)) + probability
            left -= 1
            if left < 0:
                raise _TooMuch
    return found, bool(beyond[0]), left


def _of_paths(paths: Paths, x: Any, reach: int, budget: list[int]) -> Masses:
    """Return the probabilities of what the paths publish. Answers that are published count with probability 1."""
    now: Masses = {}
    for path in paths.before:
        for values, _, mass in _taken(path, (), reach):
            _gain(now, ((), path.target, values), mass)
    for record in x:
        later: Masses = {}
        for (words, state, before), mass in now.items():
            for path in paths.steps[record].get(state, ()):
                for values, seen, share in _taken(path, before, reach):
                    _gain(later, ((*words, (path.letter, seen)), path.target, values), mass * share)
                    budget[0] -= 1
        if budget[0] < 0:
            raise _TooMuch
        now = later
    ends: Masses = {}
    for (words, state, before), mass in now.items():
        for path in paths.after.get(state, ()):
            for _, seen, share in _taken(path, before, reach):
                _gain(ends, (words, path.letter, seen), mass * share)
                budget[0] -= 1
    return ends


def _mass(masses: Masses) -> Number:
    return sum(masses.values(), Fraction(0))


def _gain(masses: Masses, key: Any, mass: Number) -> None:
    masses[key] = masses.get(key, Fraction(0)) + mass


def _taken(path: Path, held: tuple[int, ...], reach: int) -> Iterator[tuple[tuple[int, ...], Any, Number]]:
    """Yield what a path leaves behind and publishes, for all noise near its centre, with the probability."""
    weight = path.probability * 2 ** answers(path.letter)
    near = range(-reach, reach + 1)
    for noise in product(near, repeat=len(path.noises)):
        value = _Value(held, noise)
        if all(low <= value(Affine(terms, Fraction(0))) <= high for terms, (low, high) in path.bounds.items()):
            mass = weight
            for law, z in zip(path.noises, noise, strict=True):
                assert isinstance(law, TwoSided)
                mass = mass * law.mass(z)
            for each in path.odds:
                mass = mass / (1 + sum((odds.put(value.of).factor for odds in each), Fraction(0)))
            yield tuple(int(value(each)) for each in path.values), tuple(map(value, path.published)), mass


class _Value:
    """The value of a combination of integers that are known."""

    def __init__(self, held: tuple[int, ...], noise: tuple[int, ...]) -> None:
        self._held, self._noise = held, noise

    def of(self, form: Affine) -> Affine:
        return Affine((), self(form))

    def __call__(self, form: Affine) -> Fraction:
        total = form.constant
        for (kind, at), factor in form.terms:
            if kind == "size":
                raise _TooMuch
            total += factor * (self._held if kind == "held" else self._noise)[at]
        return total


def answers(letter: Any) -> int:
    """Return how many answers a letter tells that are given both ways with probability 1/2."""
    if not isinstance(letter, tuple):
        return 0
    if letter[:1] == ("\0end",):
        return len(letter[2][0])
    return sum(isinstance(part, tuple) and part[:1] == (-1,) for part in letter)


def _ratios(ours: Masses, theirs: Mapping[Any, Number]) -> list[tuple[Number, Number]]:
    return [(mass, theirs.get(key, Fraction(0))) for key, mass in ours.items()]


def _dominated(less: list[tuple[Number, Number]], more: list[tuple[Number, Number]], beyond: Number) -> bool:
    """Whether the positive parts of p - γ·q sum to at most as much in one law as in the other, for all γ >= 1.

    Of the other law, `beyond` is how much more of q it has, somewhere: runs that are left out of the first one.
    """
    edges: set[Number] = {Fraction(1)}
    edges |= {p / q for p, q in (*less, *more) if q and p > q}
    one, other = _sums(less, edges), _sums(more, edges)
    return all(a <= b + edge * beyond for edge, a, b in zip(sorted(edges), one, other, strict=True)) and (
        bool(beyond) or _alone(less) <= _alone(more)
    )


def _sums(pairs: Iterable[tuple[Number, Number]], edges: set[Number]) -> Iterator[Number]:
    """Yield the sums at all edges in ascending order."""
    left = sorted(((p / q if q else math.inf, p, q) for p, q in pairs), key=lambda each: _Order(each[0]))
    above: Number = sum((p for _, p, _ in left), Fraction(0))
    below: Number = sum((q for _, _, q in left), Fraction(0))
    at = 0
    for edge in sorted(edges):
        while at < len(left) and left[at][0] <= edge:
            above, below = above - left[at][1], below - left[at][2]
            at += 1
        yield above - edge * below


class _Order:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Order) -> bool:
        return bool(self.value < other.value)


def _alone(pairs: Iterable[tuple[Number, Number]]) -> Number:
    return sum((p for p, q in pairs if not q), Fraction(0))
