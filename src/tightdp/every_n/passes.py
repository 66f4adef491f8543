"""One pass over the records: the states that it can be in, closed under all records and draws.

A state is what the cells of the lowering's store hold that a round reads before it writes them: names, and the lists,
sets and dictionaries that are reached from them, whatever they are called there. What only grows (a list that is only
appended to, a number that is only added to) is a token: a round says what it adds. A cell that turns out to be looked
at otherwise is taken as it is, and the states are found anew.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tightdp.core.lowering.machine import End
from tightdp.core.lowering.store import Cell, key_of
from tightdp.core.lowering.values import Value
from tightdp.errors import LanguageError
from tightdp.every_n.counters import Farther, Many, refuse_cut_off
from tightdp.every_n.deciding import LATER, TOLD, Choices, Met, Run, Touched
from tightdp.every_n.freezing import Freezer
from tightdp.every_n.indexes import Turns, marks_in
from tightdp.every_n.learned import POISON, Again, Explored, Extremes, Frozen, Knowledge, Needed, Place, Play, State
from tightdp.every_n.meeting import Meeting, steps_of_run
from tightdp.every_n.paths import REAL, Affine, Tree, leaves, names_in, refusal
from tightdp.every_n.seeing import Follower
from tightdp.every_n.thawing import Thawer
from tightdp.limits.calibrated import PROOF_RUNS, PROOF_STATES


class _Wrote(Exception):
    def __init__(self, cells: list[Cell]) -> None:
        super().__init__()
        self.cells = cells


class Pass:
    """A pass that is being explored, on the machine that came to it."""

    def __init__(self, m: Follower, number: int, learned: Knowledge, action: Callable[[Value, Value], None]) -> None:
        self.m, self.number, self.learned, self.action = m, number, learned, action
        self.born = m.store.newest
        self.level = -1
        self.targets: list[list[End]] = []
        self.departed: tuple[int, Value] | None = None
        self.releasing: State | None = None
        self.ways: dict[int, tuple[int, Any, list[Any]]] = {}
        self.record: Value = None
        self.index: Value = None
        self.turns = Turns(m, number, learned)
        self._plays = 0
        self.base = 1, 2, 0
        """How many nodes, frames and loops are around a round."""
        self._streams = m.store.streams()
        self._agg: dict[int, dict[str, Value]] = {}
        self.initial: dict[int, Any] = {}
        """What the tokens begin with."""
        self.kind = 0
        """Its number among the passes of the program that are different."""
        self.extremes: dict[int, Extremes] = {}
        self.marks: frozenset[int] = frozenset()
        """The numbers of the marks that earlier records have."""
        self.met: dict[Place, set[Any]] = {}
        """The numbers that places have held, as far as these are not cut off."""
        self.growing: set[int] = set()
        """The tokens of the numbers that the round at hand began with."""
        self._decided: dict[Tree, bool] = {}
        """What was asked of what was found before this pass, and how it came out."""

    def begin_with(self, outer: Run) -> None:
        """Decide what the code of a record asks of what was found before."""
        self._decided = {tree: outer.decide(tree) for tree in self.learned.before if outer.has(tree)}

    def earlier(self, tree: Tree) -> bool | None:
        """Return how a comparison of what was found before this pass came out; None for one of other numbers."""
        names = {name for leaf in leaves(tree) for name in names_in(leaf)}
        found = {name for name in names if name[0] in LATER or (name[0] in TOLD and name[1] // 1000 < self.number)}
        if not found or any(kind not in ("pre", REAL + "pre", "size") for kind, _ in names - found):
            return None
        if tree not in self._decided:
            self.learned.before[tree] = None
            raise Again
        return self._decided[tree]

    # exploring

    def explored(self) -> Explored:
        """Return all states. Raises LanguageError where they do not end."""
        while True:
            keep = self.m.mark()
            try:
                return self._closed()
            except Touched as touched:
                self.m.restore(keep)
                self.learn(touched)
            except Needed as needed:
                self.m.restore(keep)
                self.need(needed)
            except _Wrote as wrote:
                self.m.restore(keep)
                self.learned.written.update(dict.fromkeys(wrote.cells))
            except Many as many:
                self.m.restore(keep)
                self._many(many)
            except Farther as farther:
                self.m.restore(keep)
                if farther.token // 1000 != self.number:
                    raise
                self.learned.farther(farther.token, farther.edge, self.m.sums)

    def learn(self, touched: Touched) -> None:
        """Take what was touched as it is from now on, or follow the sum or the length of a list."""
        if touched.token >= 0 and touched.token // 1000 != self.number:
            raise refusal("it iterates over the records again with what it found in them")
        place = self.learned.place(touched.token)
        if touched.asked in ("sum", "len") and touched.asked not in self.learned.tracked.get(place, ()):
            self.learned.tracked.setdefault(place, set()).add(touched.asked)
        elif touched.asked == "earlier":
            self.learned.remembered = max(self.learned.remembered, touched.modulus)
        elif touched.modulus:
            least = math.lcm(self.learned.residues.get(place, 1), touched.modulus)
            self.learned.residues[place] = max(touched.modulus, 0) and least
        elif touched.asked == "counted":
            self.learned.counted = True
        elif touched.asked == "not whole":
            self.learned.told.add(place)
        else:
            self.learned.plain.add(place)

    def _many(self, many: Many) -> None:
        """Take a number that has many values for one that is only added to; if it is not, cut it off."""
        if many.place in self.learned.plain | set(self.learned.tokens):
            self.learned.plain.add(many.place)
            self.learned.limits.cut(many)
        else:
            self.learned.token(self.number, many.place)

    def need(self, needed: Needed) -> None:
        """Keep what a cell holds from now on."""
        if needed.cell not in self.learned.written or needed.cell in self.learned.live:
            raise refusal("it iterates over the records again with what it found in them")
        self.learned.live[needed.cell] = None

    def _closed(self) -> Explored:
        m = self.m
        self.targets, self.ways, self.growing = [], {}, set()
        self.turns.begin()
        start, slots, sums, *_ = self._frozen(None, None, start=True)
        index = {start: 0}
        pending = [start]
        steps: dict[tuple[int, Any], tuple[Play, ...]] = {}
        reached: set[int] = set()
        while pending:
            state = pending.pop()
            at = index[state]
            for record in m.bound.record.values:
                if state.left is not None:
                    continue
                plays = []
                for play, after, choices in self._plays_of(state, record):
                    if after not in index:
                        index[after] = len(index)
                        pending.append(after)
                        self.ways[index[after]] = (at, record, choices)
                        if len(index) > PROOF_STATES:
                            raise self._endless(list(index))
                    reached.add(index[after])
                    plays.append(replace(play, target=index[after]))
                steps[at, record] = tuple(plays)
        return Explored(tuple(index), steps, slots, sums, tuple(sorted(reached)))

    def _plays_of(self, state: State, record: Any) -> Iterator[tuple[Play, State, list[Any]]]:
        def follow(choices: Choices) -> tuple[Play, State, list[Any]] | None:
            play = self._play(state, record, choices)
            return None if play is None else (*play, choices.made)

        meeting = Meeting(follow)
        for length in meeting.runs():
            self._plays += steps_of_run(length)
            if self._plays > PROOF_RUNS:
                raise refusal("there are too many runs of one record", "ask for one n")
        for (play, after, made), probability in meeting.found()[0]:
            yield replace(play, probability=probability), after, made

    def _play(self, state: State, record: Any, choices: Choices) -> tuple[Play, State] | None:
        """Return what one run makes of a record in a state, and leave everything as it was; None if it loses a mark."""
        m = self.m
        keep, spent = m.mark(), set(m.spent)
        run = m.builder.run = self._new_run(choices)
        self.level = m.store.open()
        m.inside = self
        self.departed = None
        m.alive = m.builder.true
        try:
            self._round(state, record)
        except Met:
            m.restore(keep)
            raise
        if m.alive is m.builder.false and self.departed is None:
            raise refusal("a run ends in a way that is not followed here")
        self.turns.next(self.record)
        self._check_written()
        if (m.spent.keys() - spent) & self._streams:
            raise refusal("an iterator from before the records is gone through at one of them", "keep list(...) of it")
        after, slots, sums, sent, indexes = self._frozen(run, self.departed)
        asked = tuple(m.visible_answers(run))
        told = (form for one in (*(one for _, one in sent), *asked) for form in one.published)
        run.refuse_divided([*run.bounds, *(form.terms for form in (*slots, *sums, *told))])
        play = Play(Fraction(1), tuple(run.noises), run.bounds, sent, asked, -1, slots, sums, indexes.new)
        m.restore(keep)
        return (play, after) if indexes.marks >= self.marks else None

    def _new_run(self, choices: Choices) -> Run:
        learned = self.learned
        opened = (learned.token(self.number, place) for place in learned.opened)
        return Run("fresh", choices, True, self.m.run.manner, frozenset(opened), self.earlier)

    def _round(self, state: State, record: Any) -> None:
        m = self.m
        m.store.write(dict(self._thawed(state, "next round")))
        self.record = m.plain(record)
        self.index = m.builder.symbol(Affine(((("index", 0), Fraction(1)),), Fraction(0)))
        m.builder.counted = self.turns.counted
        self.base = len(m.position), len(m.stack), len(m.rounds)
        m.attempt(lambda: self.action(self.record, self.index))

    def leave(self, target: list[End], value: Value) -> None:
        """Note that a run leaves the pass."""
        if not any(target is place for place in self.targets):
            self.targets.append(target)
        self.departed = (next(at for at, place in enumerate(self.targets) if place is target), value)

    def _check_written(self) -> None:
        store, new = self.m.store, []
        for cell, value in store.changes(self.level).items():
            known = key_of(cell) > self.born or cell in self.learned.written
            if not known and value is not store.was(cell, self.level):
                new.append(cell)
        if new:
            raise _Wrote(new)

    # what comes after it

    def release(self, explored: Explored, state: State, at: int) -> None:
        """Go on after the last record in a state, as the run that was there did."""
        m = self.m
        if state.left is None:
            m.store.write(dict(self._thawed(state, "end")))
            return
        before, record, choices = self.ways[at]
        outer = m.builder.run
        m.builder.run = self._new_run(Choices(choices))
        self.level = m.store.open()
        m.inside, self.releasing, self._outer = self, state, outer
        self._round(explored.states[before], record)
        m.inside = self.releasing = None
        m.store.keep(self.level)

    def released(self) -> Value:
        """Put the state in place of what the last round left, and return what leaves with it."""
        assert self.releasing is not None
        self.m.builder.run = self._outer
        self.m.inside = None
        cells = dict(self._thawed(self.releasing, "left"))
        value = cells.pop("value")
        self.m.store.write(cells)
        return value

    # states

    def _frozen(self, run: Run | None, departed: tuple[int, Value] | None, start: bool = False) -> Any:
        freezer = Freezer(self, run, start)
        cells: list[Frozen] = []
        values = [(cell, self.m.store.get(cell)) for cell in self.learned.live]
        if departed is not None:
            values.append(("value", departed[1]))
        for cell, value in values:
            freezer.note((cell,), value)
        for cell, value in values:
            cells.append((cell, freezer.frozen((cell,), value)))
        refuse_cut_off(*freezer.slots, *freezer.sums.values())
        sent = freezer.sent()
        left = None if departed is None else departed[0]
        state = State(left, tuple(cells), len(freezer.slots), tuple(freezer.sums), tuple(freezer.residues()))
        return state, tuple(freezer.slots), tuple(freezer.sums.values()), sent, freezer.indexes

    def _thawed(self, state: State, when: str) -> Iterator[tuple[Cell, Value]]:
        thawer = Thawer(self, when)
        self._agg, self.extremes, self.growing = thawer.agg, thawer.extremes, thawer.growing
        self.marks = frozenset(marks_in(state.cells))
        self.m.residues.update({token: (modulus, rest) for token, modulus, rest in state.residues})
        for cell in self.learned.written:
            if cell not in self.learned.live:
                yield cell, POISON
        for cell, frozen in state.cells:
            yield cell, thawer.value(frozen)
        yield from thawer.made.items()

    def aggregate(self, token: int, name: str) -> Value:
        found = self._agg.get(token, {})
        if name not in found:
            raise Touched(token, name)
        return found[name]

    def _endless(self, states: list[State]) -> LanguageError:
        kinds: dict[str, set[Any]] = {}
        for state in states:
            for cell, frozen in state.cells:
                name = cell[1] if isinstance(cell, tuple) else self.m.store.name_of(cell)
                kinds.setdefault(name, set()).add(frozen)
        name = max(kinds, key=lambda each: len(kinds[each]), default="the state")
        return LanguageError(
            f"no answer for every n: the values that {name} may have do not end ({len(kinds.get(name, ()))} so far)",
            "keep what goes from one record to the next in few values; what is only added up at the end may grow",
            self.m.source.span(_place_of(name, self.m.source.node)),
        )


def _place_of(name: str, function: ast.AST) -> ast.AST | None:
    """Return where a name is assigned."""
    names = (node for node in ast.walk(function) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    return next((node for node in names if node.id == name), None)
