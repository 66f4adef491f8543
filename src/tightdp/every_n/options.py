"""What a run on x can be compared with on x', from every state in which both may be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from tightdp.every_n.covering import Kinds, apart, covers, kinds_after, taken
from tightdp.every_n.paths import Path, Paths, support
from tightdp.every_n.shifts import Gaps, Shift, exclusive, fixed, pieces, price, shifts, steps_of
from tightdp.exact.field import Number
from tightdp.exact.lines import near_sample

_MOST_CELLS = 3000
_MOST_OPTIONS = 200_000
_MOST_COMPARED = 100_000
"""So many pairs of paths are compared, less where noise is shifted farther: each takes some 50 microseconds or more."""
_MOST_COVERED = 1000
"""For so many paths it is asked whether theirs cover them."""
_MOST_SHIFTED = 8000
"""So many of their paths are looked at, together, where noise is shifted for that."""


class Cell(NamedTuple):
    """The state of the run on x', that of the run on x, and by how much the values of the latter are larger.

    None says that nothing is known of the values.
    """

    theirs: int
    ours: int
    gaps: Gaps | None


END = Cell(-1, -1, ())
"""After all that is published."""
BEGIN = Cell(-1, -1, ())
"""Before the records."""


class Part(NamedTuple):
    """One of their paths, the cell that both runs then reach, and our probability over that of theirs, at most."""

    theirs: int
    target: Cell
    gain: Number


class Option(NamedTuple):
    """Their paths that our path can be compared with, one of which is taken by the noise that is less by `shift`.

    None of our paths in `apart` is taken by the same noise as this one, and none in `never` with the same values held.
    """

    ours: int
    shift: Shift
    apart: frozenset[int]
    never: frozenset[int]
    parts: tuple[Part, ...]


_Way: TypeAlias = tuple[Shift, tuple[Part, ...]]
Step: TypeAlias = tuple[tuple[Option, ...], ...]
"""What both runs do next: for each of our paths what it can be compared with."""


class Search:
    """Finds which of our paths can be compared with which of theirs, from every cell that is reached.

    `orders` says of a cell which of its steps is that of each of the `moves`, and of the end; `cuts` which pieces of
    which of our paths the options are about, where there are more.
    """

    def __init__(self, paths: Paths, farther: int = 1) -> None:
        self.kinds = kinds_of(paths)
        self.paths = paths = self._taken(paths)
        self._noise = steps_of(paths, farther)
        ways = [paths.before, *(some for by in paths.steps.values() for some in by.values())]
        self._places = {path.target: len(path.values) for some in ways for path in some}
        self._apart: dict[tuple[int, int], list[frozenset[int]]] = {}
        self._left = _MOST_COMPARED // farther
        self._asked = {False: _MOST_COVERED, True: _MOST_SHIFTED}
        moves = [(x, x) for x in paths.steps]
        if paths.all_at_once:
            moves = sorted({*moves, *paths.moves}, key=repr)
        self.moves = moves
        self.orders: dict[Cell, list[int]] = {}
        self.cuts: dict[tuple[Cell, int, int], list[tuple[int, Path]]] = {}

    def _taken(self, paths: Paths) -> Paths:
        def taken_(by: Mapping[int, tuple[Path, ...]]) -> dict[int, tuple[Path, ...]]:
            return {
                state: some if (held := self.kinds.get(state)) is None else taken(some, held)
                for state, some in by.items()
            }

        steps = {record: taken_(by) for record, by in paths.steps.items()}
        return replace(paths, before=taken_({-1: paths.before})[-1], steps=steps, after=taken_(paths.after))

    def shifts(self) -> int:
        """Return how many shifts of the noise of one path are tried, at most."""
        counts = (math.prod(len(self._noise.of(law)) for law in path.noises) for path in self.paths.each())
        return max(counts, default=0)

    def starts(self) -> Iterator[Step]:
        """Yield the steps in which two runs begin to differ."""
        paths = self.paths
        if paths.all_at_once:
            yield self._options(BEGIN, paths.before, paths.before)
            return
        for old, new in paths.moves:
            for state, ours in paths.steps[old].items():
                same = ((Fraction(0), Fraction(0)),) * self._places[state]
                yield self._options(Cell(state, state, same), ours, paths.steps[new].get(state, ()))

    def closed(self, starts: Sequence[Step]) -> dict[Cell, tuple[Step, ...]] | None:
        """Return the steps from all cells that are reached; None where there are too many."""
        found: dict[Cell, tuple[Step, ...]] = {}
        paths, pending = self.paths, list(targets(starts))
        options = 0
        while pending:
            cell = pending.pop()
            if cell in found or cell == END:
                continue
            steps = [
                self._options(cell, paths.steps[old].get(cell.ours, ()), paths.steps[new].get(cell.theirs, ()))
                for old, new in self.moves
                if self._left >= 0
            ]
            after = paths.after
            steps.append(self._options(cell, after.get(cell.ours, ()), after.get(cell.theirs, ()), last=True))
            found[cell] = tuple(dict.fromkeys(steps))
            self.orders[cell] = [found[cell].index(step) for step in steps]
            reached = list(targets(steps))
            pending += reached
            options += len(reached)
            if len(found) > _MOST_CELLS or options > _MOST_OPTIONS or self._left < 0:
                return None
        return found

    def _options(self, cell: Cell, ours: tuple[Path, ...], theirs: tuple[Path, ...], last: bool = False) -> Step:
        held = self.kinds[cell.ours], self.kinds[cell.theirs]
        found: list[tuple[int, Path, list[_Way]]] = []
        for number, one in enumerate(ours):
            ways = list(self._ways(cell, one, theirs, held, last))
            if ways or cell.gaps is None or held[1] is None:
                found.append((number, one, ways))
                continue
            for piece in pieces(one, theirs, cell.gaps, held[1]):
                found.append((number, piece, list(self._ways(cell, piece, theirs, held, last))))
        if len(found) > len(ours):
            self.cuts[cell, id(ours), id(theirs)] = [(number, piece) for number, piece, _ in found]
        apart_ = self._apart_of(cell.ours, ours)
        step = []
        for at, (number, one, ways) in enumerate(found):
            others = [(n, each[0], each[1]) for n, each in enumerate(found) if n != at]
            same = frozenset(n for n, of, _ in others if of in apart_[number])
            never = frozenset(n for n, _, other in others if exclusive(one, other))
            step.append(tuple(Option(at, by, same | never, never, parts) for by, parts in ways))
        return tuple(step)

    def _ways(
        self,
        cell: Cell,
        one: Path,
        theirs: tuple[Path, ...],
        held: tuple[Kinds | None, Kinds | None],
        last: bool,
    ) -> Iterator[_Way]:
        """Yield what one of our paths can be compared with."""
        gaps = cell.gaps

        def part(at: int, after: Gaps | None, cost: Number) -> Part:
            target = END if last else Cell(theirs[at].target, one.target, after)
            return Part(at, target, cost * one.probability / theirs[at].probability)

        unmoved, least = False, math.inf
        self._left -= len(theirs)
        for at, other in enumerate(theirs):
            both = None if gaps is None else fixed(one, other, gaps)
            if both is None or gaps is None:
                continue
            for after, (cost, by) in shifts(*both, gaps, self._noise).items():
                unmoved, least = unmoved or not any(by), min(least, near_sample(cost))
                yield by, (part(at, after, cost),)
        if held[0] is None or held[1] is None or unmoved:
            return
        for by in self._alone(one, last):
            cost = price(one, by)
            if near_sample(cost) >= least or self._asked[any(by)] <= 0:
                continue
            self._asked[any(by)] -= len(theirs) if any(by) else 1
            covered = covers(one, theirs, gaps, (held[0], held[1]), by)
            if covered is not None:
                yield by, tuple(part(at, self._outward(after), cost) for at, after in covered)

    def _alone(self, path: Path, last: bool) -> Iterator[Shift]:
        """Yield no shift of the noise of a path, and at the end shifts of one draw of it, where there are others.

        Noise that begins or ends somewhere is shifted away from there.
        """
        none = (0,) * len(path.noises)
        yield none
        if not last:
            return
        for at, law in enumerate(path.noises if len(none) > 1 else ()):
            low, high = support(law)
            tried = (
                d for d in self._noise.of(law) if (d < 0 or (d and low == -math.inf)) and (d > 0 or high == math.inf)
            )
            yield from ((*none[:at], d, *none[at + 1 :]) for d in tried)

    def _outward(self, gaps: Gaps | None) -> Gaps | None:
        """Return wider differences, of which there are finitely many."""
        if gaps is None:
            return None
        return tuple(self._noise.outward(gap) or (-math.inf, math.inf) for gap in gaps)

    def _apart_of(self, state: int, ours: tuple[Path, ...]) -> list[frozenset[int]]:
        """Return for each path which others are not taken by the same noise."""
        held = self.kinds[state]
        if (state, id(ours)) not in self._apart:
            none = [frozenset[int]()] * len(ours)
            self._apart[state, id(ours)] = none if held is None else apart(ours, held)
        return self._apart[state, id(ours)]


def kinds_of(paths: Paths) -> dict[int, Kinds | None]:
    """Return which of the values that states hold are real; None where that depends on the run."""
    found: dict[int, Kinds | None] = {-1: ()}
    pending = [-1]
    while pending:
        state = pending.pop()
        ways = [paths.before] if state < 0 else [by.get(state, ()) for by in paths.steps.values()]
        kinds = found[state]
        for path in (path for some in ways for path in some):
            after = None if kinds is None else kinds_after(path, kinds)
            if path.target not in found or (found[path.target] is not None and found[path.target] != after):
                found[path.target] = None if path.target in found else after
                pending.append(path.target)
    return found


def targets(steps: Iterable[Step]) -> Iterator[Cell]:
    """Yield the cells that steps may lead to."""
    return (part.target for step in steps for some in step for option in some for part in option.parts)
