"""How one more client changes the state of the aggregates, and how a change of record changes the resulting law."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tightdp.core.operators import Value
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound
from tightdp.symmetry.orbits import Group

__all__ = ["COMBINE", "Joins", "MovesOfLetters", "State", "Ways", "join"]

COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": operator.add,
    "min": min,
    "max": max,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
}

State = tuple[Any, ...]
"""One value per aggregate, None as long as no client contributed."""
MovesOfLetters = Mapping[tuple[int, int], Sequence[tuple[Record, Record]]]
"""By the letters before and after, the ways to change a record."""


class Joins:
    """Numbered states, the first for no clients, and the states that they become with one more client.

    Joined once for each letter, however many clients there are; `work` counts it.
    """

    def __init__(self, none: State, operators: Sequence[str], values: Sequence[Sequence[State]]) -> None:
        self.states, self.number, self.work = [none], {none: 0}, 0
        self._operators, self._values = operators, values
        self._after: dict[tuple[int, int], list[int]] = {}
        self._columns: dict[tuple[int, int, Any], list[Any]] = {}

    def after(self, at: int, state: int) -> list[int]:
        """Return the numbers of the states that one state becomes, for every letter of a group."""
        found = self._after.get((at, state))
        if found is None:
            columns = [self._column(at, place, held) for place, held in enumerate(self.states[state])]
            found = self._after[at, state] = [self._numbered(joined) for joined in zip(*columns, strict=True)]
            self.work += len(found)
        return found

    def _numbered(self, state: State) -> int:
        number = self.number.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def _column(self, at: int, place: int, held: object) -> list[Value]:
        """Return what one aggregate becomes for every letter of a group."""
        if (at, place, held) not in self._columns:
            name, values = self._operators[place], self._values[at]
            self._columns[at, place, held] = [join(name, held, value[place]) for value in values]
        return self._columns[at, place, held]


def join(name: str, left: Value, right: Value) -> Value:
    """Return an aggregate's value for two sets of clients together; None stands for no clients."""
    return right if left is None else left if right is None else COMBINE[name](left, right)


class Ways:
    """The ways in which a client of a group changes its record, by the laws that its letters lead to."""

    def __init__(self, bound: Bound, group: Group, ways: MovesOfLetters) -> None:
        steps = relation_of(bound).steps
        self._any = all(len(after) == len(steps) for after in steps.values())
        """Whether every record may become every other one."""
        self._group, self._ways = group, ways

    def between(self, row: Sequence[int]) -> Iterator[tuple[tuple[int, int], int, tuple[Record, Record], int]]:
        """Yield pairs of laws with a letter before, a record before and after, and in how many ways; `row` by letter.

        Pairs may be repeated.
        """
        if not self._any:
            for (old, new), ways in self._ways.items():
                yield (row[old], row[new]), old, ways[0], len(ways)
            return
        letters: dict[int, list[int]] = {}
        for at, law in enumerate(row):
            letters.setdefault(law, []).append(at)
        records = {law: [record for at in same for record in self._group.letters[at]] for law, same in letters.items()}
        for before, same in letters.items():
            for after, mine in records.items():
                ours = records[before]
                if before != after:
                    yield (before, after), same[0], (ours[0], mine[0]), len(ours) * len(mine)
                elif len(ours) > 1:
                    yield (before, after), same[0], (ours[0], ours[1]), len(ours) * (len(ours) - 1)
