"""One random mechanism: records, initial values, local functions, a body, and what is returned."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass

from generators.base import Scope
from generators.statements import STYLES, Statements

MODULE = """\
TABLE = (1, 0, 2, -1)
WORTH = {None: 0, "a": 1, 3: 2, (0, 1): 1, (2,): 2, (): 0}


def push(items, value):
    if len(items) < 5:
        items.append(value)
    return value


def put(items, at, value):
    items[at % len(items)] = value
    return at


def twice(function, value):
    return function(function(value) % 5)


"""

_RECORDS = (
    ("Bit", 2, "{r}"),
    ("Bit", 2, "{r}"),
    ("Bit", 2, "{r}"),
    ("Int(0, 2)", 3, "{r}"),
    ("Int(-1, 1)", 3, "{r}"),
    ("Values(2, -1)", 2, "{r}"),
    ("Values(None, 'a', 3)", 3, "WORTH[{r}]"),
    ("Tuple(Bit, Values(0, None))", 4, "({r}[0] if {r}[1] is None else {r}[0] + {r}[1] + 1)"),
    ("Bits(2)", 4, "(2 * {r}[0] + {r}[1])"),
    ("Values((0, 1), (2,), ())", 3, "WORTH[{r}]"),
)


@dataclass(frozen=True)
class Drawn:
    """A module whose mechanism is `f`, and n."""

    source: str
    n: int
    seed: int = 0


class Writer(Statements):
    """Writes a whole program."""

    def output(self) -> str:
        if not self.main:
            return f"{self.number(1)} % 5"
        shown = {
            "tables": "tuple({}.items())",
            "sets": "{}",
            "numbers": "{}",
            "truths": "{}",
            "lists": "tuple({})",
            "rows": "tuple(tuple(i) for i in {})",
        }
        kinds = [(name, form) for kind, form in shown.items() for name in getattr(self.scope, kind)]
        some = self.rng.sample(kinds, self.one(2, 3, 4, 5, 6))
        return self.pick([
            (9, lambda: "(" + "".join(f"{form.format(name)}, " for name, form in some) + ")"),
            (2, lambda: self.number(1)),
            (2, lambda: f"({self.number(1)}, {self.truth(1)})"),
            (1, lambda: f"tuple({self.listing(1)})"),
            (1, lambda: self.one("None", "'a'", f"({self.number(1)}) / 3")),
            (1, lambda: f"(({self.number(0)}, {self.truth(0)}) if {self.truth(1)} else {self.one('None', '()', 'c')})"),
            (1, lambda: f"shuffle(({self.number(1)}, {self.number(0)}))" if self.afford(2) else "()"),
        ])  # fmt: skip

    def start(self, values: list[str]) -> None:
        """Bind all names of the main function."""
        self.scope.numbers = ["len(x)"]
        for name in "abc":
            self.write(f"{name} = {self.draw() if self.chance(25) else self.one(*values)}")
        self.write(f"p = {self.one('flip(q)', 'flip(1/2)', self.coin())}")
        self.pay(1)
        self.write(f"u = [{', '.join(self.one(*values) for _ in range(self.one(1, 2, 3)))}]")
        self.write(f"v = {self.one('u', '[a, b]', '[b]', 'list(z)')}")
        self.write(f"m = [{self.one('u', 'v', '[c]')}, {self.one('u', 'v', '[a, 1]')}]")
        self.scope = Scope(["a", "b", "c"], ["p"], ["u", "v"], ["m"])
        if self.style == "containers":
            self.write(f"y = {{{self.one(*values)}: 1, 0: {self.one(*values)}}}")
            self.write(f"o = {self.one('y', '{}', 'dict(enumerate(u))')}")
            self.write(f"r = {{{self.one(*values)}, {self.one(*values)}}}")
            self.write(f"w = {self.one('r', 'set()', 'set(v)')}")
            self.write(f"shelf = {{0: {self.one('u', 'v')}, {self.one(*values)}: [1]}}")
            self.scope.tables, self.scope.sets = ["y", "o"], ["r", "w"]

    def define(self) -> None:
        """A local function: its own names, names of the enclosing function that it reads, or writes (`nonlocal`)."""
        kinds = [("g", 1), ("g", 1), ("h", 0), ("k", 2)]
        known = [kind for kind in kinds if self.depth == 1 or kind[0] in self.functions]
        if not known:
            return
        name, count = self.one(*known)
        outer, loops, repeats, spent = self.scope, self.loops, self.repeats, self.spent
        functions, left, bits = dict(self.functions), self.left, self.bits
        self.functions = {other: kept for other, kept in functions.items() if other < name}
        self.bits, self.left, self.repeats, self.loops, self.main = min(bits, 3), min(left, 5), 1, 0, False
        self.write(f"def {name}({('', 's', f's, b={self.number(0)}')[count]}):")
        self.spent = 0
        with self.indented():
            self.names_of(count, outer)
            self.body(3)
            self.write(f"return {self.output()}")
        cost = self.spent
        self.scope, self.loops, self.repeats, self.main = outer, loops, repeats, True
        self.functions, self.left, self.bits, self.spent = functions, left - 3, bits, spent
        self.function(name, count, cost)

    def names_of(self, count: int, outer: Scope) -> None:
        """Bind the names of a local function, as many as it does not take from the enclosing one."""
        inner = Scope([*["s", "b"][:count], "d"], [], [], [])
        written = [name for name in ("a", "c", "u") if self.chance(30)]
        if written:
            self.write(f"nonlocal {', '.join(written)}")
        inner.numbers += [name for name in written if name != "u"]
        inner.fixed = [name for name in ("a", "c") if name not in written]
        self.write(f"d = {self.one(*inner.fixed, 's' if count else '1', '1')}")
        self.write(f"e = {self.one('u', 'v', 'm[0]', '[d]')}")
        self.write("n = m")
        if outer.tables:
            self.write("o = y")
            self.write("w = r")
            inner.tables, inner.sets = ["o"], ["w"]
        inner.lists = ["e", *(["u"] if "u" in written else [])]
        inner.rows = ["n"]
        inner.fixed += ["len(v)"]
        self.scope = copy.deepcopy(inner)

    def function(self, name: str, count: int, bits: float, *lines: str) -> None:
        for line in lines:
            self.write(line)
        before = self.functions.get(name, (count, 0.0))[1]
        self.functions[name] = (count, max(before, bits))

    def program(self, seed: int = 0, style: str = "") -> Drawn:
        """A mechanism `f`. Functions are defined before anything is called."""
        self.style = style or self.one("control", *STYLES)
        record, size, worth = self.one(*_RECORDS)
        n = self.one(1, 2, 2, 3) if size == 2 else self.one(1, 1, 2)
        self.lines.append(f"@mechanism(record={record})")
        self.lines.append(f'def f(x, q="{self.one("1/3", "1/2", "3/4")}"):')
        self.depth = 1
        self.write(f"z = [{worth.format(r='r')} for r in x]")
        values = [worth.format(r=f"x[{at}]") for at in range(n)] + ["1", "0"]
        self.start(values)
        for _ in range(0 if self.style == "control" else self.one(0, 0, 1, 2)):
            self.define()
        self.left = max(self.left, 6)
        while self.left > 0:
            self.body(3)
        more = "tuple(y.items()), o, r, w, " if self.scope.tables else ""
        everything = f"(a, b, c, p, tuple(u), tuple(v), {more}tuple(tuple(i) for i in m))"
        self.write(f"return {everything if self.chance(60) else self.output()}")
        return Drawn(MODULE + "\n".join(self.lines) + "\n", n, seed)


def draw(seed: int, bits: float = 8, statements: int = 14, style: str = "") -> Drawn:
    """The mechanism with this number, always the same; a run draws about `bits` bits at most, so that runs are few."""
    return Writer(random.Random(seed), bits, statements).program(seed, style)
