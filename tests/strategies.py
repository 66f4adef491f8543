"""All generators: the source text of random mechanisms, and record domains, sizes and parameters for them.

A program is written statement by statement, mostly well typed, by a `Writer` that asks a `random.Random` for every
decision. Hypothesis hands in one that it controls (and shrinks); a plain seeded one reproduces a program outside of it.
A budget bounds the number of random paths, so that the interpreter stays quick.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tightdp.language.domains import Bit, Bits, Domain, Int, Tuple, Values
from typed.base import BOOL, INT, LIST, MIXED, NESTED, TUPLE
from typed.statements import Statements

MODULE = """\
RATE = 0.25
TABLE = (1, 0, 2, -1)
ROWS = [[1, 2], [0], [3, 1, 2]]
WORTH = {None: 0, "a": 1, 3: 2, 0: 1, 1: 2, 2: 0, -1: 1, -2: 3}


def clamp(value, low=-3, high=4):
    if value < low:
        return low
    if value > high:
        return high
    return value


def first_above(values, limit):
    for at, value in enumerate(values):
        if value > limit:
            return at
    return None


def noisy(value, p=RATE):
    return value + 1 if flip(p) else value


"""


@dataclass(frozen=True)
class Case:
    """A generated mechanism: its text (the function `f` of a module), record domain, size and parameters."""

    source: str
    record: Domain
    n: int
    parameters: dict[str, Any] = field(default_factory=dict)
    neighbours: str = "replace-one"


_RECORDS: list[tuple[Domain, str]] = [
    (Bit, INT),
    (Bit, INT),
    (Int(0, 2), INT),
    (Int(-2, 1), INT),
    (Values(None, "a", 3), "value"),
    (Values(2, -1), INT),
    (Tuple(Bit, Values(0, None)), "pair"),
    (Bits(2), TUPLE),
    (Values((0, 1), (2,), ()), TUPLE),
]


class Writer(Statements):
    """Writes one program."""

    def _everything(self) -> str:
        """A tuple of what up to five names hold."""
        shown = {LIST: "tuple({})", MIXED: "tuple({})", NESTED: "tuple(tuple(row) for row in {})"}
        parts = [
            shown.get(kind, "{}").format(name) for scope in self.scopes for name, kind in scope.items() if name != "t"
        ]
        return f"({', '.join([*parts[-5:], self.output(1)])},)"

    def program(self) -> Case:
        record, self.record_kind = self.one(*_RECORDS)
        n = self.one(1, 2, 2, 3) if record.size < 4 else self.one(1, 2)
        neighbours = self.one(*["replace-one"] * 7, "add-remove") if self.record_kind == INT else "replace-one"
        if neighbours == "add-remove":
            self.record_kind, n = "value", min(n, 2)
        self.scopes[-1]["t"] = INT
        self.lines.append("def f(x, q, t=2):")
        for at in range(n):
            self.write(f"r{at} = x[{self.one(at, at, at - n)}]")
            self._record_names(f"r{at}")
        if self.record_kind == INT:
            self.scopes[-1]["x"] = TUPLE
        for _ in range(self.one(0, 1, 1, 2, 2)):
            kind = self.one(BOOL, INT)
            value = self._flip() if kind == BOOL else self._draw(1)
            self.write(f"{self.fresh(kind)} = {value}")
        if self.chance(50):
            value = ", ".join(self.names(INT))
            self.write(f"{self.fresh(LIST)} = [{value}]")
        count = self.one(3, 5, 8)
        while count and self.left > 0:
            self.body(1)
            count -= 1
        if self.chance(50):
            self.write(f"return {self._everything()}")
        elif not self.chance(6):
            self.write(f"return {self.output()}")
        source = MODULE + "\n".join(self.lines) + "\n"
        return Case(source, record, n, {"q": self.one(Fraction(1, 3), Fraction(1, 2), Fraction(3, 4))}, neighbours)


def write_program(rng: random.Random) -> Case:
    """One random mechanism."""
    return Writer(rng).program()


def programs() -> st.SearchStrategy[Case]:
    """Random mechanisms."""
    return st.randoms(use_true_random=False).map(write_program)
