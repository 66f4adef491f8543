"""From the runs of a program to its paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, TypeAlias

from tightdp.every_n.chain import Letter, Move
from tightdp.every_n.deciding import Run
from tightdp.every_n.equivalence import absorbed, merged
from tightdp.every_n.learned import Explored, Play, Sent, State
from tightdp.every_n.mixing import with_mixtures
from tightdp.every_n.paths import (
    OPEN,
    REAL,
    Affine,
    Bounds,
    Names,
    Path,
    Paths,
    Terms,
    held,
    intersected,
    refusal,
    renamed,
    renamed_bounds,
    together,
    without_dead,
)
from tightdp.every_n.postponing import postponed
from tightdp.every_n.runs import Ending
from tightdp.every_n.telling import LEFT, MARK, cut_where_told, tells_all
from tightdp.limits.calibrated import PROOF_STATES

Place: TypeAlias = tuple[int, tuple[int, ...]]
"""Which passes there are, by their number, and the states of all of them."""


def assembled(endings: Sequence[Ending], records: Sequence[Any], moves: tuple[Move, ...], all_at_once: bool) -> Paths:
    """Return the paths of a program from all its runs."""
    return _Assembled(endings, records).paths(moves, all_at_once)


class _Assembled:
    """The passes that there are may depend on the draws before them, and on what earlier passes and noise came to.

    They are followed side by side, so that the chain begins with those of each run, whatever leads to them: a run that
    comes to others at the end is left out. So every run of the program is one run here.
    """

    def __init__(self, endings: Sequence[Ending], records: Sequence[Any]) -> None:
        self.records = records
        self.endings: dict[Place, list[Ending]] = {}
        self.starts: list[Ending] = []
        for ending in endings:
            if ending.passes:
                number = next((at for at, each in enumerate(self.starts) if _alike(each, ending)), len(self.starts))
                self.starts += [ending] if number == len(self.starts) else []
                at = number, tuple(state for _, state in ending.passes)
                self.endings.setdefault(at, []).append(ending)
        self.guessed = len({ending.key for ending in self.starts}) < len(self.starts)
        self.early = any(not ending.passes for ending in endings)
        self.used = frozenset(token for ending in endings for token in ending.used)
        self.index: dict[Place, int] = {}
        self.pending: list[Place] = []

    def paths(self, moves: tuple[Move, ...], all_at_once: bool) -> Paths:
        before = tuple(self._before(number, ending) for number, ending in enumerate(self.starts))
        steps: dict[Any, dict[int, tuple[Path, ...]]] = {record: {} for record in self.records}
        last: dict[int, Place] = {}
        while self.pending:
            place = self.pending.pop()
            for record in self.records:
                found = tuple(self._steps(place, record))
                steps[record][self.index[place]] = together(found)
        steps = cut_where_told(steps)
        back = {at: place for place, at in self.index.items()}
        for by in steps.values():
            for ways in by.values():
                last |= {path.target: back[path.target] for path in ways}
        after = {at: together(self._after(place)) for at, place in last.items()}
        going = {at for place, at in self.index.items() if not self._all_left(place)}
        paths = Paths(
            len(self.index),
            before,
            steps,
            after,
            moves,
            all_at_once,
            tells_all(self.used, steps, after, going) and not self.early and not self.guessed,
        )
        paths = merged(with_mixtures(postponed(without_dead(absorbed(paths)))))
        if paths.states > PROOF_STATES:
            raise refusal(f"it has more than {PROOF_STATES} states")
        return paths

    def _passes(self, number: int) -> tuple[Explored, ...]:
        return tuple(explored for explored, _ in self.starts[number].passes)

    def _all_left(self, place: Place) -> bool:
        passes = self._passes(place[0])
        return all(p.states[at].left is not None for p, at in zip(passes, place[1], strict=True))

    def _number(self, place: Place) -> int:
        if place not in self.index:
            self.index[place] = len(self.index)
            self.pending.append(place)
            if len(self.index) > 4 * PROOF_STATES:
                raise refusal(f"it has more than {4 * PROOF_STATES} states")
        return self.index[place]

    def _names(self, place: Place) -> Names:
        """Return by which places the symbols of a state are held."""
        key, states = place
        names: Names = {("pre", at): ("held", at) for at in range(len(self.starts[key].before.noises))}
        for number, (explored, at) in enumerate(zip(self._passes(key), states, strict=True)):
            state = explored.states[at]
            for slot in range(state.slots):
                names["slot", number * 1000 + slot] = ("held", len(names))
            for token in _sums(explored):
                names["sum", token] = ("held", len(names))
        return names

    def _before(self, number: int, ending: Ending) -> Path:
        run, passes = ending.before, self._passes(number)
        names: Names = {("pre", at): ("fresh", at) for at in range(len(run.noises))}
        values = [Affine(((("fresh", at), Fraction(1)),), Fraction(0)) for at in range(len(run.noises))]
        for explored in passes:
            values += [renamed(each, names) for each in explored.slots]
            values += _by_token(explored, explored.states[0], explored.sums, names)
        target = self._number((number, (0,) * len(passes)))
        if run.asked:
            raise refusal("what happens before the records depends on noise in a way that is not followed")
        bounds = renamed_bounds(run.bounds, names)
        assert bounds is not None
        return Path(run.probability, tuple(run.noises), bounds, (), (), target, tuple(values))

    def _steps(self, place: Place, record: Any) -> Iterator[Path]:
        key, states = place
        passes, names = self._passes(key), self._names(place)
        options: list[Sequence[Play | None]] = [
            (None,) if p.states[at].left is not None else p.steps[at, record]
            for p, at in zip(passes, states, strict=True)
        ]
        for plays in product(*options):
            path = self._step(place, plays, passes, names)
            if path is not None:
                yield path

    def _step(
        self, place: Place, plays: Sequence[Play | None], passes: Sequence[Explored], held_as: Names
    ) -> Path | None:
        key, states = place
        probability: Any = Fraction(1)
        noises: list[Any] = []
        bounds: Bounds = {}
        letter: list[Any] = []
        published: list[Affine] = []
        values = [Affine(held(at), Fraction(0)) for at in range(len(self.starts[key].before.noises))]
        targets = []
        for number, (play, explored, at) in enumerate(zip(plays, passes, states, strict=True)):
            if play is None:
                state = explored.states[at]
                own = [held_as["slot", number * 1000 + slot] for slot in range(state.slots)]
                own += [held_as["sum", token] for token in _sums(explored)]
                values += [Affine(((name, Fraction(1)),), Fraction(0)) for name in own]
                targets.append(at)
                continue
            names = {**held_as, **{("fresh", j): ("fresh", j + len(noises)) for j in range(len(play.noises))}}
            more = renamed_bounds(play.bounds, names)
            joined = intersected(bounds, more) if more is not None else None
            if joined is None:
                return None
            bounds = joined
            probability = probability * play.probability
            for what, sent in (*((t, s) for t, s in play.sent if t in self.used), *((-1, s) for s in play.asked)):
                letter.append((what, sent.what))
                published += [renamed(each, names) for each in sent.published]
            target = explored.states[play.target]
            if target.left is not None and any(part[:1] == ("index",) for part in _inside(target.cells)):
                letter.append((LEFT, number))
            if play.mark is not None:
                letter.append((MARK, number, play.mark))
            values += [renamed(each, names) for each in play.slots]
            values += _by_token(explored, target, play.sums, names)
            noises += play.noises
            targets.append(play.target)
        target_at = self._number((key, tuple(targets)))
        return Path(probability, tuple(noises), bounds, tuple(letter), tuple(published), target_at, tuple(values))

    def _after(self, place: Place) -> Iterator[Path]:
        held_as = self._names(place)
        for ending in self.endings.get(place, ()):
            run = ending.after
            run.refuse_divided(_seen(ending))
            kept = _kept_noises(run, [ending.returned, *ending.asked])
            names = {**held_as, **{("post", at): ("fresh", kept.index(at)) for at in kept}}
            bounds = renamed_bounds(run.bounds, names)
            if bounds is None:
                continue
            published = []
            for sent in (ending.returned, *ending.asked):
                for each in sent.published:
                    left = tuple((name, f) for name, f in each.terms if not _at_end(name[0]) or name[1] in kept)
                    if left:
                        published.append(renamed(Affine(left, each.constant), names))
            letter: Letter = ending.returned.what
            extra = (tuple(each.what for each in ending.asked), ending.initial)
            if ending.asked or any(value not in ((), Affine((), Fraction(0))) for _, value in ending.initial):
                letter = ("\0end", letter, extra)
            yield Path(
                run.probability,
                tuple(run.noises[at] for at in kept),
                bounds,
                letter,
                tuple(published),
                0,
                (),
                tuple(tuple(each.put(partial(renamed, names=names)) for each in odds) for odds in run.odds),
            )


def _seen(ending: Ending) -> Iterator[Terms]:
    """Yield the numbers that the end of a run looks at, and those that are looked at before."""
    yield from (*ending.before.bounds, *ending.after.bounds)
    for explored, _ in ending.passes:
        for play in (play for plays in explored.steps.values() for play in plays):
            told = (sent for _, sent in play.sent)
            forms = (form for sent in (*told, *play.asked) for form in sent.published)
            yield from (*play.bounds, *(form.terms for form in (*play.slots, *play.sums, *forms)))
        yield from (form.terms for form in (*explored.slots, *explored.sums))
    yield from (terms for odds in ending.after.odds for each in odds for _, terms in each.powers)
    yield from (form.terms for sent in (ending.returned, *ending.asked) for form in sent.published)


def _sums(explored: Explored) -> list[int]:
    """Return the sums that a pass has in some state; in others they are 0."""
    return sorted({token for state in explored.states for token in state.sums})


def _by_token(explored: Explored, state: State, sums: Sequence[Affine], names: Names) -> Iterator[Affine]:
    """Yield the sums of a pass in their places."""
    there = dict(zip(state.sums, sums, strict=True))
    return (renamed(there.get(token, Affine((), Fraction(0))), names) for token in _sums(explored))


def _alike(one: Ending, other: Ending) -> bool:
    """Whether two runs drew the same before the records, and have the same passes."""
    if one.key != other.key or len(one.passes) != len(other.passes):
        return False
    pairs = zip(one.passes, other.passes, strict=True)
    return all(ours is theirs or ours == theirs for (ours, _), (theirs, _) in pairs)


def _kept_noises(run: Run, seen: Sequence[Sent]) -> list[int]:
    """Return the noises of the end that matter: others are only added to what is told, or not seen at all."""
    exponents = [terms for each in run.odds for odds in each for _, terms in odds.powers]
    kept = {at for terms in (*run.bounds, *exponents) for (kind, at), _ in terms if _at_end(kind)}
    alone: set[int] = set()
    mixed: list[set[int]] = []
    for sent in seen:
        plain = [] if _mixed(sent.what) else sent.published
        for form in sent.published:
            mine = {at for (kind, at), _ in form.terms if _at_end(kind)}
            if form in plain or len(mine) < len(form.terms):
                alone |= mine
            else:
                mixed.append(mine)
    kept |= alone
    return [at for at in range(len(run.noises)) if at in kept]


def _at_end(kind: str) -> bool:
    return kind.removeprefix(REAL) == "post"


def _mixed(what: Any) -> bool:
    """Whether noise is added to what is told somewhere in this, and published nowhere else in it."""
    opened, mixed = _count_open(what)
    return opened == mixed


def _count_open(what: Any) -> tuple[int, int]:
    """Return how many symbolic values a visible value has, and how many of them are added to what is told."""
    if what == OPEN:
        return 1, 0
    if not isinstance(what, tuple) or isinstance(what, Affine):
        return 0, 0
    if len(what) == 3 and what[0] == "\0tree" and isinstance(what[1], Affine) and what[2] == OPEN:
        return 1, 1
    parts = [_count_open(part) for part in what]
    return sum(one for one, _ in parts), sum(other for _, other in parts)


def _inside(frozen: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(frozen, tuple):
        yield frozen
        for part in frozen:
            yield from _inside(part)
