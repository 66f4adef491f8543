"""Progress of loops that are unrolled: a loop is abandoned where some run must have reached the same state twice.

Where no progress is plain to see, a probe says which values really occur, and the variables are narrowed to them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tightdp.core.lowering.ledger import Ledger, Row, content_with
from tightdp.core.lowering.machine import Machine, is_milestone
from tightdp.core.lowering.values import (
    Closure,
    Collection,
    Entries,
    Members,
    Range,
    Reference,
    Table,
    Union,
    Value,
    View,
    known,
)
from tightdp.core.nodes import Expr
from tightdp.limits.calibrated import LOOP_ROUNDS


@dataclass
class Progress:
    """The rounds of one loop."""

    machine: Machine
    rounds: int = 0
    certain_rounds: int = 0
    plain: object = None
    seen: Counter[object] = field(default_factory=Counter)

    def another_round(self, certain: bool) -> bool:
        """Get ready for a round, which all runs begin where it is `certain`. False where the loop has no bound.

        Where no run can be left, the state is made dead.
        """
        machine = self.machine
        self.certain_rounds += certain
        self.rounds = 0 if certain else self.rounds + 1
        if max(self.rounds, self.certain_rounds // 100) > LOOP_ROUNDS:
            return False
        picture = _Picture(machine)
        if picture.plain == self.plain:
            if machine.builder.cut is not None:  # of draws of any number it is not known how rarely one is far out
                return False
            machine.alive = picture.narrowed()
            picture = _Picture(machine)
        elif is_milestone(self.rounds) and not machine.some_run_is_left():
            machine.alive = machine.builder.false
        self.plain = picture.plain
        self.seen[tuple(picture.full)] += 1
        return self.seen[tuple(picture.full)] <= picture.states


@dataclass
class _Picture:
    """What is known of everything that the function at hand can see: `plain` leaves out what depends on the run."""

    machine: Machine
    plain: list[Any] = field(default_factory=list)
    full: list[Any] = field(default_factory=list)
    states: int = 1

    def __post_init__(self) -> None:
        frame = self.machine.frame
        self._frames = dict.fromkeys((frame.key, *frame.enclosing))
        self._lists: dict[int, int] = {}
        self.scalars: dict[int, Expr] = {}
        self.guards: dict[int, Expr] = {}
        for key in list(self._frames):
            self._frame(key)

    def _frame(self, key: int) -> None:
        for name, value in self.machine.store.names(key):
            self._note(name)
            self._value(value)

    def _note(self, fact: object) -> None:
        self.plain.append(fact)
        self.full.append(fact)

    def _value(self, value: Value) -> None:
        match value:
            case Expr():
                self.plain.append(Expr)
                self.full.append(tuple(value.values))
                if value.serial not in self.scalars:
                    self.scalars[value.serial] = value
                    self.states *= len(value.values)
            case tuple():
                self._note(len(value))
                for item in value:
                    self._value(item)
            case Range(items):
                self._value(items)
            case Reference(key) | Table(key) | View(key) | Collection(key):
                self._list(key)
            case Entries(names, items) | Members(names, items):
                self._note(names)
                self._value(items)
            case Ledger(rows=rows):
                self._note(tuple(rows))
                self._value(tuple(part for row in rows.values() for part in (row.present, row.rank, row.value)))
            case Union(alternatives):
                self.states *= len(alternatives)
                self.guards.update((guard.serial, guard) for guard, _ in alternatives)
                self._value(tuple(item for _, item in alternatives))
            case Closure(frames=frames):
                self._note(value)
                for key in frames:
                    if key not in self._frames:
                        self._frames[key] = None
                        self._frame(key)
            case _:
                self._note((type(value), value))

    def _list(self, key: int) -> None:
        """Describe a list; lists go by the order in which they are met, since their keys are always new."""
        known = key in self._lists
        self._note(("list", self._lists.setdefault(key, len(self._lists))))
        if not known:
            self._value(self.machine.store[key])

    def narrowed(self) -> Expr:
        """Restrict everything to the values that occur on a run that is alive, and return its path condition."""
        machine = self.machine
        if machine.probe is None:
            return machine.alive
        exprs = [*self.scalars.values(), *self.guards.values()]
        possible = machine.probe(machine.alive, [machine.builder.true, *exprs])
        if not any(possible[0]):
            return machine.builder.false
        self._image = {
            expr.serial: self._restricted(expr, kept) for expr, kept in zip(exprs, possible[1:], strict=True)
        }
        for key in self._frames:
            for name, value in list(machine.store.names(key)):
                machine.store[key, name] = self._rewritten(value)
        for key in self._lists:
            machine.store[key] = self._rewritten(machine.store[key])
        return machine.alive

    def _restricted(self, expr: Expr, kept: Any) -> Value:
        if all(kept):
            return expr
        builder = self.machine.builder
        some = next(value for value, here in zip(expr.values, kept, strict=True) if here)
        branches = [builder.const(value if here else some) for value, here in zip(expr.values, kept, strict=True)]
        return known(builder.case(expr, branches))

    def _rewritten(self, value: Value) -> Value:
        match value:
            case Expr():
                return self._image[value.serial]
            case tuple():
                return tuple(map(self._rewritten, value))
            case Range(items):
                return Range(self._rewritten(items))
            case Entries(keys, values):
                return Entries(keys, self._rewritten(values))
            case Members(values, present):
                return Members(values, tuple(map(self.machine.expr, self._rewritten(present))))
            case Ledger(rows=rows):
                return content_with(
                    self.machine.builder,
                    {
                        key: Row(
                            self.machine.expr(self._rewritten(row.present)),
                            self.machine.expr(self._rewritten(row.rank)),
                            self._rewritten(row.value),
                            row.filled,
                        )
                        for key, row in rows.items()
                    },
                )
            case Union(alternatives):
                left = [(self._image[guard.serial], self._rewritten(item)) for guard, item in alternatives]
                left = [(self.machine.expr(guard), item) for guard, item in left if guard is not False]
                return left[0][1] if len(left) == 1 else Union(tuple(left))
        return value
