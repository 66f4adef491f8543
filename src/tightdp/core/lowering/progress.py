"""How far loops are unrolled: until nothing that is plain to see changes any more, or for many rounds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import prod
from typing import Any

from tightdp.core.lowering.ledger import Ledger, Row
from tightdp.core.lowering.loop_runs import Split
from tightdp.core.lowering.machine import Machine, is_milestone
from tightdp.core.lowering.values import Collection, Entries, Members, Range, Reference, Table, Union, Value, View
from tightdp.core.nodes import Expr
from tightdp.limits.calibrated import LONG_LOOP, LOOP_ROUNDS


@dataclass
class Progress:
    """The rounds of one loop: `most`, also where nothing changes, if it was not followed by its states."""

    machine: Machine
    most: int = 0
    rounds: int = 0
    certain_rounds: int = 0
    alike: int = 0
    plain: object = None
    kept: object = None
    """What it was in the last of the certain rounds 1, 2, 4, ...: where all of it comes again, rounds never end."""

    def another_round(self, certain: bool) -> bool:
        """Get ready for a round, which all runs begin where it is `certain`. False where the loop is unrolled no more.

        Where no run can be left, the state is made dead.
        """
        machine, before = self.machine, self.plain
        self.certain_rounds += certain
        self.rounds = 0 if certain else self.rounds + 1
        frames = dict.fromkeys((machine.frame.key, *machine.frame.enclosing))
        held = tuple((key, *each) for key in frames for each in machine.store.names(key))
        met: dict[object, int] = {}
        plain = _plain(machine, held, met)
        # in the first rounds also how many values there are: they may come to an end, as those of a search
        self.plain = plain, tuple(met.values()) if self.rounds + self.certain_rounds <= LONG_LOOP else None
        self.alike = self.alike + 1 if self.plain == before else 0  # in more rounds than states one is met twice
        stuck = self.alike > (prod(met.values()) if self.most else 0)
        if certain:
            now = self.plain, [each for each in met if isinstance(each, Expr)]
            stuck = stuck or now == self.kept
            self.kept = self.kept if self.certain_rounds & (self.certain_rounds - 1) else now
        goes_on = not stuck and max(self.rounds, self.certain_rounds // 100) <= (self.most or LOOP_ROUNDS)
        if (is_milestone(self.rounds) or not goes_on) and not machine.some_run_is_left():
            machine.alive = machine.builder.false
            return True
        return goes_on


def _plain(m: Machine, value: Any, met: dict[object, int]) -> object:
    """Return a value without all that depends on the run, of which is noted how many values it has.

    Lists go by what they hold.
    """
    match value:
        case Expr():
            met[value] = len(value.values)
            return Expr
        case tuple() | list():
            return tuple(_plain(m, item, met) for item in value)
        case dict():
            return _plain(m, tuple(value.items()), met)
        case Reference(key) | Table(key) | View(key) | Collection(key):
            known = key in met
            met[key] = 1
            return None if known else _plain(m, m.store[key], met)
        case Union() | Range() | Entries() | Members() | Ledger() | Row():
            return type(value), *(_plain(m, getattr(value, each.name), met) for each in fields(value))
    return type(value), value


def check_lengths(m: Machine, iterable: Value) -> None:
    """Raise Split where it depends on draws of a round how long a loop is, by far: they are given one by one."""
    if not isinstance(iterable, Union) or not (m.given or m.unrolled):
        return
    lengths = {len(part.items) for _, part in iterable.alternatives if isinstance(part, Range)}
    if len(lengths) == len(iterable.alternatives) and max(lengths) - min(lengths) > LOOP_ROUNDS // 10:
        split = Split("it depends on draws how long it is", m.given, [guard for guard, _ in iterable.alternatives])
        if split.given is not None or m.unrolled:
            raise split


def check_rounds(m: Machine, at: int) -> None:
    """Raise LanguageError where loops over noise that is cut off, inside one another, go on for long."""
    if m.rounds and (at + 1) * prod(around + 1 for _, around in m.rounds) > LOOP_ROUNDS // 4:
        what = "loops over noise on all integers, one inside the other, go on for longer than they are followed"
        raise m.unsupported(what, "go through range(N) with a clamped N, or publish one number that they count")
