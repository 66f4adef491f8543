"""Neighbours up to renaming what clients contribute, together with what is seen of it.

Where k-ary responses are shuffled, or counted in a histogram, records may be exchanged if messages are exchanged with
them: every output then becomes another one, and all divergences stay what they are. So letters of clients fall into
classes any two of which may be exchanged, and only the changes in which counts fall along each class are compared.
Exchanges are confirmed on the exact laws of contributions, and on the program above the aggregates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import factorial, prod
from typing import TYPE_CHECKING

from flint import fmpz_mat

from tightdp.core.nodes import Input
from tightdp.exact.whole import Whole
from tightdp.language.neighbours import relation_of
from tightdp.limits.calibrated import LISTED_ROWS, TABLE_ENTRIES
from tightdp.methods.mixture import State
from tightdp.methods.states import States
from tightdp.symmetry.orbits import Change
from tightdp.symmetry.sets import Counts
from tightdp.symmetry.symmetries import unchanged_by

if TYPE_CHECKING:
    from tightdp.methods.aggregated import AggregateTable

_Column = tuple[int, ...]
"""For every group of clients, the letter of a record."""


def changes_up_to_renaming(table: AggregateTable) -> list[Change] | None:
    """Return changes of one record on which all divergences are attained, with how many pairs each stands for.

    None where that is not known, where nothing may be renamed, or where many are left. Numbers are 0 where exchanging
    letters may change how many records, ways to change or outputs there are.
    """
    if isinstance(table.orbits, States) or not relation_of(table.bound).one_record or table.rest.conditioned:
        return None
    exchanges = _Exchanges(table)
    classes = exchanges.classes()
    if all(len(same) == 1 for same in classes):
        return None
    found = []
    for change in _changes(table, classes):
        found.append(change if exchanges.alike else replace(change, size=0))
        if len(found) > LISTED_ROWS:
            return None
    return found


class _Exchanges:
    """Which letters may be exchanged."""

    def __init__(self, table: AggregateTable) -> None:
        self.table = table
        self.values = sorted(
            {joint for letters in table.letters for letter in letters for joint, _ in letter.weights}, key=str
        )
        rows = [dict(letter.weights) for letters in table.letters for letter in letters]
        self.first = [sum(map(len, table.letters[:at])) for at in range(len(table.letters))]
        self.columns = {joint: tuple(row.get(joint, 0) for row in rows) for joint in self.values}
        self.ways = [
            {(old, new): sum(ways for _, ways, _ in moved) for (old, new), moved in between.items()}
            for between in table.orbits.moves_between
        ]
        self.sizes = [[len(letter) for letter in group.letters] for group in table.groups]
        self.bare = all(isinstance(node, Input) for node in table.aggregate.rest.components)
        """Whether nothing but sums is published."""
        self.alike = True
        """Whether exchanging letters leaves the numbers of records, of ways to change and of outputs as they are."""

    def classes(self) -> list[list[_Column]]:
        """Return classes of letters of which any two may be exchanged, each letter with those of other groups."""
        groups = self.table.groups
        if len(self.values) * sum(map(len, self.sizes)) > TABLE_ENTRIES:
            return []
        found: list[list[_Column]] = []
        for letter in groups[0].letters:
            column = tuple(group.letter_of[letter[0]] for group in groups)
            for same in found:
                if all(old < new for old, new in zip(same[-1], column, strict=True)) and self._may(same[0], column):
                    same.append(column)
                    break
            else:
                found.append([column])
        return found

    def _may(self, one: _Column, other: _Column) -> bool:
        """Whether exchanging two letters, in all groups, and renaming outputs leaves all laws as they are."""
        renamed = self._renamed(one, other)  # that most may not be renamed is seen soonest by laws
        if renamed is None:
            return False
        alike = True
        for at, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            turn, ways = {mine: theirs, theirs: mine}, self.ways[at]
            turned = {(turn.get(old, old), turn.get(new, new)): number for (old, new), number in ways.items()}
            if any(old != new for old, new in turned.keys() ^ ways.keys()):
                return False
            alike &= turned == ways and self.sizes[at][mine] == self.sizes[at][theirs]
        shown = self._shown(renamed)
        if not (shown and self.bare) and not self._kept(renamed):
            if not shown:
                return False
            alike = False  # what else is published may have more values beside some sums than beside others
        self.alike &= alike
        return True

    def _renamed(self, one: _Column, other: _Column) -> Mapping[State, State] | None:
        """Return what contributions become where two letters are exchanged; None where laws do not stay the same."""
        by_column: dict[tuple[Whole, ...], list[State]] = {}
        for joint, column in self.columns.items():
            by_column.setdefault(column, []).append(joint)
        renamed: dict[State, State] = {}
        for column, joints in by_column.items():
            turned = list(column)
            for start, mine, theirs in zip(self.first, one, other, strict=True):
                turned[start + mine], turned[start + theirs] = column[start + theirs], column[start + mine]
            images = by_column.get(tuple(turned), [])
            if len(images) != len(joints):
                return None
            renamed |= zip(joints, images, strict=True)
        return renamed

    def _shown(self, renamed: Mapping[State, State]) -> bool:
        """Whether the output tells all sums, and an affine map of these does what was renamed."""
        rest, shown = self.table.aggregate.rest, set()
        shown = {node.serial for node in rest.components if isinstance(node, Input)}
        if set(self.table.aggregate.operators) != {"sum"} or not {leaf.serial for leaf in rest.inputs} <= shown:
            return False
        if not all(type(value) is int for joint in renamed for value in joint):
            return False
        before = fmpz_mat([[1, *joint] for joint in renamed]).rank()
        both = fmpz_mat([[1, *joint, *image] for joint, image in renamed.items()]).rank()
        return bool(before == both)

    def _kept(self, renamed: Mapping[State, State]) -> bool:
        """Whether the aggregates are exchanged as contributions are, and the outputs of the rest with them."""
        operators, left = self.table.aggregate.operators, list(range(len(self.table.aggregate.operators)))
        turn: dict[int, int] = {}
        for at, operator in enumerate(operators):
            fits = (
                to
                for to in left
                if operators[to] == operator
                and all(
                    joint[at] == image[to] and type(joint[at]) is type(image[to]) for joint, image in renamed.items()
                )
            )
            to = next(fits, None)
            if to is None:
                return False
            turn[at] = to
            left.remove(to)
        return unchanged_by(self.table.aggregate.rest, turn)


def _changes(table: AggregateTable, classes: Sequence[Sequence[_Column]]) -> Iterator[Change]:
    """Yield one change for all that exchanging letters of a class makes of it."""
    for at, between in enumerate(table.orbits.moves_between):
        class_of = {column[at]: number for number, same in enumerate(classes) for column in same}
        alike: dict[tuple[int, int, bool], list[tuple[int, int]]] = {}
        for old, new in sorted(between):
            key = class_of.get(old, -1 - old), class_of.get(new, -1 - new), old == new
            alike.setdefault(key, []).append((old, new))
        for move, *_ in alike.values():
            for others in _falling(table, classes, at, move):
                marked = (
                    [(*_numbers(others, column), column[at] == move[0], column[at] == move[1]) for column in same]
                    for same in classes
                )
                number = prod(factorial(len(same)) // prod(map(factorial, Counter(same).values())) for same in marked)
                for change in table.orbits.changes(at, move, [others]):
                    yield replace(change, size=change.size * number)


def _numbers(counts: Counts, column: _Column) -> tuple[int, ...]:
    return tuple(numbers[letter] for numbers, letter in zip(counts, column, strict=True))


def _falling(
    table: AggregateTable, classes: Sequence[Sequence[_Column]], at: int, move: tuple[int, int]
) -> Iterator[Counts]:
    """Yield counts of the clients other than one of a group, which fall along every class but for the letters moved."""
    follows = [pair for same in classes for pair in pairwise([column for column in same if column[at] not in move])]

    def further(done: Counts) -> Iterator[Counts]:
        group = len(done)
        if group == len(table.groups):
            yield done
            return
        before: list[int | None] = [None] * len(table.groups[group].letters)
        for one, other in follows:
            if _numbers(done, one[:group]) == _numbers(done, other[:group]):
                before[other[group]] = one[group]
        for numbers in _bounded(len(table.groups[group].clients) - (group == at), before):
            yield from further((*done, numbers))

    return further(())


def _bounded(total: int, before: Sequence[int | None], done: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield numbers with a sum, none larger than that at the place before it, where there is one."""
    if len(done) == len(before):
        if not total:
            yield done
        return
    place = before[len(done)]
    most = total if place is None else min(total, done[place])
    for number in range(0 if len(done) + 1 < len(before) else total, most + 1):
        yield from _bounded(total - number, before, (*done, number))
