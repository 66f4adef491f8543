# ruff: noqa: E501
"""All generators: the source text of random mechanisms, and record domains, sizes and parameters for them.

A program is written statement by statement, mostly well typed, by a `Writer` that asks a `random.Random` for every
decision. Hypothesis hands in one that it controls (and shrinks); a plain seeded one reproduces a program outside of it.
A budget bounds the number of random paths, so that the interpreter stays quick.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tightdp.language.domains import Bit, Bits, Domain, Int, Tuple, Values

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

INT, BOOL, OPTIONAL, LIST, MIXED, TUPLE, TEXT, NESTED = (
    "int",
    "bool",
    "optional",
    "list",
    "mixed",
    "tuple",
    "text",
    "nested",
)


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


class Writer:
    """Writes one program."""

    def __init__(self, rng: random.Random, paths: int = 120, statements: int = 22) -> None:
        self.rng = rng
        self.paths = paths
        self.left = statements
        self.lines: list[str] = []
        self.depth = 1
        self.scopes: list[dict[str, str]] = [{}]
        self.repeats = 1
        self.loops = 0
        self.serial = 0
        self.functions: dict[str, int] = {}
        self.in_function = False

    # decisions

    def one(self, *options: Any) -> Any:
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def draws(self, outcomes: int) -> bool:
        """Whether the budget allows one more draw here, which is then taken from it."""
        cost = outcomes**self.repeats
        if cost > self.paths or self.repeats > 8:
            return False
        self.paths //= cost
        return True

    # names

    def fresh(self, kind: str) -> str:
        self.serial += 1
        name = f"{kind[0]}{self.serial}"
        self.scopes[-1][name] = kind
        return name

    def names(self, kind: str) -> list[str]:
        return [name for scope in self.scopes for name, other in scope.items() if other == kind]

    def name(self, kind: str) -> str | None:
        names = self.names(kind)
        return self.one(*names) if names else None

    @contextmanager
    def block(self, repeats: int = 1, leak: int = 2) -> Iterator[None]:
        self.depth += 1
        self.scopes.append({})
        before = self.repeats
        self.repeats *= repeats
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.write("pass")
        self.repeats = before
        inner = self.scopes.pop()
        if self.chance(leak):
            self.scopes[-1].update(inner)
        self.depth -= 1

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    # expressions

    def integer(self, d: int = 2) -> str:
        """An int between about -20 and 20."""
        leaves: list[Callable[[], str]] = [lambda: str(self.rng.randrange(-3, 5)), self._int_leaf, self._int_leaf]
        if d <= 0:
            return self.one(*leaves)()
        i, b, seq = lambda: self.integer(d - 1), lambda: self.boolean(d - 1), lambda: self.sequence(d - 1)
        return self.one(
            *leaves,
            self._int_leaf,
            lambda: f"({i()} {self.one('+', '-', '+', '-', '*')} {i()})",
            lambda: f"({i()} {self.one('//', '%')} {self.one('2', '3', '-2', '-3', self.divisor())})",
            lambda: f"({i()}) ** {self.one(0, 1, 2)} % 7",
            lambda: f"abs({i()})",
            lambda: f"{self.one('min', 'max')}({i()}, {i()})",
            lambda: f"{self.one('min', 'max')}([{i()}, *{seq()}])",
            lambda: (
                f"{self.one('min', 'max')}([{i()}, *{seq()}], key=lambda t: {self.one('-t', 't % 2', 'abs(t)', '(t % 2, -t)')})"
            ),
            lambda: f"{self.one('min', 'max')}({seq()}, default={i()})",
            lambda: f"sum({seq()})",
            lambda: f"len({seq()})",
            lambda: f"int({b()})",
            lambda: f"({b()} + {b()})",
            lambda: f"({i()} if {b()} else {i()})",
            lambda: f"({i()} {self.one('and', 'or')} {i()})",
            lambda: f"clamp({i()})",
            lambda: f"clamp({i()}, high={i()})",
            lambda: f"sum({self._generator(d - 1)})",
            lambda: f"sorted({seq()} + [{i()}]{self.one('', ', reverse=True', ', key=abs')})[{self.one(0, -1)}]",
            lambda: f"[{i()}, {i()}, {i()}][{self.one(i() + ' % 3', '-(' + i() + ' % 2) - 1', i())}]",
            lambda: f"TABLE[{self.one('(' + i() + ') % 4', self.rng.randrange(-4, 4))}]",
            lambda: f"ROWS[({i()}) % 3][{self.one(0, -1)}]",
            lambda: f"-({i()})",
            lambda: f"({i()} {self.one('&', '|', '^')} {i()})",
            lambda: f"(lambda a, b={i()}: a - b)({i()})",
            lambda: f"{seq()}.count({i()})",
            lambda: f"[{i()}, {i()}].index({i()})" if self.chance(10) else i(),
            lambda: self._value_of_optional(d - 1),
            lambda: self._draw(d - 1),
            lambda: self._draw(d - 1),
            lambda: self._draw(d - 1),
            lambda: self._called(d - 1),
        )()

    def divisor(self) -> str:
        return self._int_leaf() if self.chance(15) else "4"

    def _int_leaf(self) -> str:
        name = self.name(INT)
        return name if name is not None and self.chance(85) else str(self.rng.randrange(-2, 4))

    def _value_of_optional(self, d: int) -> str:
        name = self.name(OPTIONAL)
        if name is None:
            return self.integer(d)
        return f"({name} if {name} is not None else {self.integer(d)})"

    def _called(self, d: int) -> str:
        if not self.functions or self.in_function or self.repeats > 3:
            return self.integer(d)
        name = self.one(*self.functions)
        cost = self.functions[name] ** self.repeats
        if cost > self.paths:
            return self.integer(d)
        self.paths //= cost
        return f"{name}({self.one(self.integer(d), self.integer(d) + ', ' + self.integer(d), 'a=' + self.integer(d))})"

    def _draw(self, d: int) -> str:
        kind = self.one("flip", "randint", "choice", "weights", "binomial", "geometric", "noisy")
        outcomes = {"flip": 2, "noisy": 2}.get(kind, 3)
        if not self.draws(outcomes):
            return self.integer(d)
        match kind:
            case "flip":
                return f"int(flip({self.probability()}))"
            case "noisy":
                return f"noisy({self.integer(d)}, {self.probability()})"
            case "randint":
                low = self.integer(0)
                return self.one(
                    f"randint({low}, {low} + {self.one('0', '1', '2', f'abs({self.integer(0)}) % 3')})",
                    "randint(-1, 1)",
                    f"randint(0, {self.integer(0)})" if self.chance(15) else "randint(0, 2)",
                )
            case "choice":
                return f"choice([{self.integer(d)}, {self.integer(d)}, {self.integer(0)}])"
            case "weights":
                weights = [self.one("0", "1", "2", f"abs({self.integer(0)})", f"{self.boolean(0)}") for _ in range(3)]
                if not self.chance(10):
                    weights[self.rng.randrange(3)] = self.one("1", "3", f"1 + abs({self.integer(0)})")
                return f"choice(({self.integer(0)}, {self.integer(0)}, {self.integer(0)}), [{', '.join(weights)}])"
            case "binomial":
                return f"binomial({self.one('2', f'abs({self.integer(0)}) % 3')}, {self.probability()})"
            case _:
                low = self.one("-1", "0", "1", f"clamp({self.integer(0)}, -1, 1)")
                ratio = self.one('"1/2"', "RATE", "q", "0", "1/3")
                return f"geometric({self.integer(d)}, {ratio}, {low}, {low} + {self.one('0', '1', '2')})"

    def probability(self) -> str:
        """A probability, sometimes 0 or 1, sometimes depending on the run."""
        return self.one(
            "q", "q", "1/2", "RATE", "0.5", '"1/3"', "0", "1", "1 - q", f"({self.integer(0)}) % 4 / 4",
            f"abs({self.integer(0)}) % 2", f"Fraction(1, 2 + abs({self.integer(0)}))",
            f"q if {self.boolean(0)} else 1/3", f"int({self.boolean(0)})",
            f"{self.integer(0)} / 4" if self.chance(10) else "q / 2",
        )  # fmt: skip

    def boolean(self, d: int = 2) -> str:
        """A truth value."""
        i, b = lambda: self.integer(d - 1), lambda: self.boolean(d - 1)
        compare = lambda: f"{i()} {self.one('<', '<=', '>', '>=', '==', '!=')} {i()}"  # noqa: E731
        leaves: list[Callable[[], str]] = [
            self._bool_leaf,
            lambda: f"({self._int_leaf()} {self.one('<', '>', '==')} {self._int_leaf()})",
        ]
        if d <= 0:
            return self.one(*leaves)()
        return self.one(
            *leaves,
            lambda: f"({compare()})",
            lambda: f"({compare()})",
            lambda: f"({i()} {self.one('<', '<=')} {i()} {self.one('<', '!=', '>=')} {i()})",
            lambda: f"({b()} {self.one('and', 'or')} {b()})",
            lambda: f"(not {b()})",
            lambda: f"({b()} {self.one('&', '|', '^', '==', '!=')} {b()})",
            lambda: f"{self.one('any', 'all')}({self._generator(d - 1, boolean=True)})",
            lambda: f"{self.one('any', 'all')}([{b()}, {i()}])",
            lambda: f"({i()} {self.one('in', 'not in')} {self.sequence(d - 1)})",
            lambda: f"({self.optional(d - 1)} {self.one('is', 'is not', '==')} None)",
            lambda: f"bool({i()})",
            lambda: f"({self.tuple(d - 1)} {self.one('<', '==', '>=', '!=')} {self.tuple(d - 1)})",
            lambda: f"({self.text()} {self.one('==', '!=', '<')} {self.text()})",
            lambda: f"bool({self.sequence(d - 1)})",
            self._flip,
            self._flip,
        )()

    def _bool_leaf(self) -> str:
        name = self.name(BOOL)
        return name if name is not None and self.chance(80) else self.one("True", "False", "t > 1")

    def _flip(self) -> str:
        return f"flip({self.probability()})" if self.draws(2) else self.boolean(0)

    def text(self) -> str:
        name = self.name(TEXT)
        return name if name is not None and self.chance(70) else self.one("'a'", "'b'", "'low'", "''")

    def optional(self, d: int = 1) -> str:
        """None or an int."""
        name = self.name(OPTIONAL)
        return self.one(
            lambda: name or "None",
            lambda: name or self.integer(d),
            lambda: f"(None if {self.boolean(d)} else {self.integer(d)})",
            lambda: f"first_above({self.sequence(d)}, {self.integer(0)})",
            lambda: "None",
        )()

    def sequence(self, d: int = 1) -> str:
        """A list of ints."""
        name = self.name(LIST)
        options: list[Callable[[], str]] = [
            lambda: name or f"[{self.integer(d)}]",
            lambda: name or f"[{self.integer(d)}, {self.integer(d)}]",
        ]
        if d > 0:
            options += [
                lambda: f"[{self.integer(d - 1)}, {self.integer(d - 1)}]",
                lambda: f"[{self._generator(d - 1)}]",
                lambda: f"[{self._generator(d - 1)}]",
                lambda: f"list({self.tuple(d - 1)})",
                lambda: f"list(range({self.integer(d - 1)} % 3))",
                lambda: (
                    f"sorted({self.sequence(d - 1)}{self.one('', ', reverse=True', ', key=abs', ', key=lambda t: (t % 2, t)')})"
                ),
                lambda: f"({self.sequence(d - 1)} + {self.sequence(d - 1)})",
                lambda: f"{self.sequence(0)}[{self._slice()}]",
                lambda: f"list(reversed({self.sequence(d - 1)}))",
                lambda: self._shuffled(d - 1),
            ]
        return self.one(*options)()

    def _slice(self) -> str:
        bound = lambda: self.one("", "1", "-1", "2", self._int_leaf() if self.chance(40) else "")  # noqa: E731
        return f"{bound()}:{bound()}{self.one('', '', ':2', ':-1')}"

    def _shuffled(self, d: int) -> str:
        if not self.draws(2):
            return self.sequence(d)
        return f"list(shuffle([{self.integer(d)}, {self.integer(d)}]))"

    def _generator(self, d: int, boolean: bool = False) -> str:
        """The inside of a comprehension."""
        source, count, target, kind = self._iterable(d)
        self.scopes.append({})
        before, self.repeats = self.repeats, self.repeats * count
        for name, name_kind in target.items():
            self.scopes[-1][name] = name_kind
        condition = f" if {self.boolean(d)}" if self.chance(45) else ""
        if kind is not None and self.chance(25):
            inner, more, names, _ = self._iterable(0)
            self.repeats *= more
            self.scopes[-1].update(names)
            condition += f" for {', '.join(names)} in {inner}"
        element = self.boolean(d) if boolean else self.integer(d)
        self.repeats = before
        self.scopes.pop()
        return f"{element} for {', '.join(target)} in {source}{condition}"

    def _iterable(self, d: int) -> tuple[str, int, dict[str, str], str | None]:
        """An iterable, about how many items it has, and the names that its items are assigned to."""
        self.serial += 1
        v, w = f"v{self.serial}", f"w{self.serial}"
        if self.chance(6) and self.names(INT):
            v = self.one(*self.names(INT))
        options: list[Callable[[], tuple[str, int, dict[str, str], str | None]]] = [
            lambda: (f"range({self.one(1, 2, 3)})", 2, {v: INT}, INT),
            lambda: (f"range({self._int_leaf()} % 4)", 3, {v: INT}, INT),
            lambda: (f"range({self.one('3, 0, -1', '1, 4, 2', '-2, 1')})", 3, {v: INT}, INT),
            lambda: (self.sequence(d), 3, {v: INT}, INT),
            lambda: (f"enumerate({self.sequence(d)}{self.one('', ', 1')})", 3, {v: INT, w: INT}, INT),
            lambda: (f"zip({self.sequence(d)}, {self.sequence(d)})", 2, {v: INT, w: INT}, INT),
            lambda: (f"reversed({self.sequence(d)})", 3, {v: INT}, INT),
            lambda: (self.tuple(d), 2, {v: INT}, INT),
            lambda: (f"[{self.boolean(d)}, {self.boolean(d)}]", 2, {v: BOOL}, None),
            lambda: (f"({self.one('None, ', '')}{self.optional(d)}, {self.integer(d)})", 2, {v: OPTIONAL}, None),
        ]
        return self.one(*options)()

    def tuple(self, d: int = 1) -> str:
        """A tuple of ints."""
        name = self.name(TUPLE)
        options: list[Callable[[], str]] = [
            lambda: name or f"({self.integer(d)}, {self.integer(d)})",
            lambda: name or f"({self.integer(d)},)",
            lambda: f"({self.integer(d)}, {self.integer(d)})",
        ]
        if d > 0:
            options += [
                lambda: f"tuple({self.sequence(d - 1)})",
                lambda: f"({self.tuple(d - 1)} if {self.boolean(d - 1)} else ({self.integer(d - 1)},))",
                lambda: f"tuple({self._generator(d - 1)})",
                lambda: f"({self.tuple(d - 1)} + ({self.integer(d - 1)},))",
            ]
        return self.one(*options)()

    def mixed(self) -> str:
        """A list of Nones, ints and tuples."""
        name = self.name(MIXED)
        return name or f"[{self.optional(0)}, {self.tuple(0)}]"

    def output(self, d: int = 2) -> str:
        """Something that a mechanism may return."""
        return self.one(
            lambda: self.integer(d),
            lambda: self.integer(d),
            lambda: self.boolean(d),
            lambda: self.optional(d),
            lambda: self.text(),
            lambda: self.tuple(d),
            lambda: f"tuple({self.sequence(d)})",
            lambda: f"({self.output(d - 1)}, {self.output(d - 1)})" if d > 0 else "None",
            lambda: f"({self.integer(d)}, ({self.boolean(d)}, {self.text()}))",
            lambda: f"({self.output(0)} if {self.boolean(d)} else {self.output(0)})",
            lambda: f"tuple({self.mixed()})",
            lambda: f"({self.integer(1)}) / 3",
            lambda: f"shuffle(({self.integer(1)}, {self.integer(1)}))" if self.draws(2) else "()",
        )()

    # statements

    def body(self, count: int) -> None:
        for _ in range(count):
            if self.left > 0:
                self.left -= 1
                self.statement()

    def statement(self) -> None:
        options: list[Callable[[], None]] = [
            self._assign, self._assign, self._assign, self._augment, self._list_change, self._list_change,
            self._list_change, self._if, self._if, self._if, self._unpack, self._check,
        ]  # fmt: skip
        if self.depth < 5:
            options += [self._for, self._for, self._while]
        if self.depth < 3 and not self.in_function:
            options += [self._function]
        if self.depth > 1 and self.chance(60):
            options += [self._return]
        if self.loops:
            options += [self._leave]
        self.one(*options)()

    def _assign(self) -> None:
        kind = self.one(INT, INT, BOOL, OPTIONAL, LIST, LIST, MIXED, TUPLE, TEXT, NESTED)
        value = {
            INT: lambda: f"clamp({self.integer()})" if self.loops else self.integer(),
            BOOL: self.boolean,
            OPTIONAL: self.optional,
            LIST: lambda: f"({self.sequence()})[:4]" if self.loops else self.sequence(),
            MIXED: lambda: f"[{self.optional()}, {self.tuple()}, {self.integer()}]",
            TUPLE: self.tuple,
            TEXT: lambda: f"({self.text()} if {self.boolean(1)} else {self.text()})",
            NESTED: lambda: f"[{self.sequence()}, [{self.integer()}], {self.sequence(0)}]",
        }[kind]()
        old = self.name(kind)
        if old is not None and self.chance(55):
            self.write(f"{old} = {value}")
        elif kind == LIST and self.chance(20) and old is not None:
            self.write(f"{self.fresh(kind)} = {old}")
        elif kind == INT and self.chance(10) and self.names(INT):
            self.write(f"{self.fresh(kind)} = {old} = {value}")
        else:
            self.write(f"{self.fresh(kind)} = {value}")

    def _augment(self) -> None:
        name = self.name(INT)
        if name is None:
            return self._assign()
        self.write(f"{name} {self.one('+=', '-=', '+=')} {self.integer(1)}")
        if self.chance(60) or self.loops:
            self.write(f"{name} = clamp({name})")
        return None

    def _list_change(self) -> None:
        name = self.name(LIST)
        if name is None:
            return self._assign()
        nested, mixed = self.name(NESTED), self.name(MIXED)
        if self.loops and self.chance(60):
            return self._grow_a_little(name)
        change = self.one(
            *(() if self.loops else self._growth(name, nested, mixed)),
            lambda: f"{name}[{self.one(0, -1)}] = {self.integer()}",
            lambda: f"{name}[{self.integer(1)} % len({name})] = {self.integer(1)}",
            lambda: f"{name}[{self.integer(1)} % len({name})] += {self.integer(0)}",
            lambda: f"{nested}[{self.integer(1)} % 3] = {name}" if nested else "pass",
            lambda: f"{mixed}[{self.integer(1)} % 3] = {self.optional()}" if mixed else "pass",
            lambda: f"p{self.serial} = {name}.pop({self.one('', '0', '-1')})",
        )()
        if change == "pass":
            return self._assign()
        if "len(" in change or "pop" in change or "[0]" in change or "[-1]" in change:
            if not self.chance(5):
                self.write(f"if {self.one(f'len({name}) > 0', name)}:")
                change = "    " + change
        elif self.chance(35):
            self.write(f"if {self.boolean(1)}:")
            change = "    " + change
        self.write(change)
        if self.chance(20):
            self.write(f"{name} = {name}[:4]")
        return None

    def _growth(self, name: str, nested: str | None, mixed: str | None) -> tuple[Callable[[], str], ...]:
        """Ways to make a list longer, for outside of loops."""
        return (
            lambda: f"{name}.append({self.integer()})",
            lambda: f"{name}.append({self.integer()})",
            lambda: f"{name}.extend({self.sequence()})",
            lambda: f"{name} += {self.sequence()}",
            lambda: f"{name}.insert({self.integer(0)}, {self.integer(1)})",
            lambda: f"{nested}[{self.integer(1)} % 3].append({self.integer(0)})" if nested else "pass",
            lambda: f"{mixed}.append({self.one(self.optional(), self.tuple())})" if mixed else "pass",
        )

    def _grow_a_little(self, name: str) -> None:
        """Make a list longer inside a loop, which may go over that very list."""
        self.write(f"if len({name}) < {self.one(4, 5)}{self.one('', f' and {self.boolean(1)}')}:")
        change = self.one("append({})", "append({})", "insert(0, {})", "extend([{}])").format(self.integer(1))
        self.write(f"    {name}.{change}")

    def _if(self) -> None:
        condition = self.boolean()
        if self.chance(15):
            value, other = self.integer(1), self.integer(0)
            self.serial += 1
            condition = f"(h{self.serial} := {value}) > {other}"
            walrus = {f"h{self.serial}": INT}
        else:
            walrus = {}
        self.scopes[-1].update(walrus)
        self.write(f"if {condition}:")
        with self.block():
            self.body(self.one(1, 2, 2, 3))
        if self.chance(25):
            self.write(f"elif {self.boolean()}:")
            with self.block():
                self.body(self.one(1, 2))
        if self.chance(50):
            self.write("else:")
            with self.block():
                self.body(self.one(1, 2))

    def _loop_body(self, count: int) -> None:
        self.loops += 1
        with self.block(count):
            self.body(self.one(1, 2, 3))
            if self.chance(50):
                self._leave()
        self.loops -= 1
        if self.chance(25):
            self.write("else:")
            with self.block():
                self.body(self.one(1, 2))

    def _for(self) -> None:
        source, count, target, _ = self._iterable(1)
        if self.chance(25):
            self.serial += 1
            source, count, target = "x", 2, {f"r{self.serial}": "record"}
        self.write(f"for {', '.join(target)} in {source}:")
        self.scopes.append({})
        for name, kind in target.items():
            if kind == "record":
                self._record_names(name, deeper=True)
            else:
                self.scopes[-1][name] = kind
        self._loop_body(count)
        self.scopes.pop()

    def _record_names(self, name: str, deeper: bool = False) -> None:
        """Give the contents of a record names."""
        indent = "    " if deeper else ""
        kind = self.record_kind
        if kind in (INT, TUPLE):
            self.scopes[-1][name] = kind
        elif kind == "value":
            self.write(f"{indent}c{name} = {name} if {name} != 'a' else 7")
            self.scopes[-1][f"c{name}"] = OPTIONAL
            self.write(f"{indent}d{name} = WORTH[{name}]")
            self.scopes[-1][f"d{name}"] = INT
        else:
            self.write(f"{indent}c{name}, d{name} = {name}")
            self.scopes[-1] |= {f"c{name}": INT, f"d{name}": OPTIONAL}

    def _while(self) -> None:
        counter = self.fresh(INT)
        self.scopes[-1].pop(counter)
        self.write(f"{counter} = 0")
        limit = self.one("2", "3", f"clamp({self.integer(1)}, 0, 3)")
        extra = self.one("", f" and {self.boolean(1)}", f" and {self.boolean(1)}")
        if self.chance(25):
            self.write("while True:")
            self.lines.append("    " * (self.depth + 1) + f"{counter} += 1")
            self.lines.append(
                "    " * (self.depth + 1)
                + f"if {counter} > {limit if limit in '23' else 3}{extra.replace('and', 'or')}:"
            )
            self.lines.append("    " * (self.depth + 2) + "break")
        else:
            self.write(f"while {counter} < {limit}{extra}:")
            self.lines.append("    " * (self.depth + 1) + f"{counter} += 1")
        self._loop_body(3)

    def _leave(self) -> None:
        self.write(f"if {self.boolean(1)}:")
        self.depth += 1
        self.write(self.one("break", "continue"))
        self.depth -= 1

    def _return(self) -> None:
        value = self.integer(1) if self.in_function else self.output(1)
        if self.chance(70):
            self.write(f"if {self.boolean(1)}:")
            self.depth += 1
            self.write(f"return {value}")
            self.depth -= 1
        else:
            self.write(f"return {value}")

    def _unpack(self) -> None:
        names = self.names(INT)
        if len(names) >= 2 and self.chance(40):
            a, b = self.rng.sample(names, 2)
            self.write(f"{a}, {b} = {b}, {a}")
        elif self.chance(40):
            value = f"[{self.integer()}, *{self.sequence(0)}]"
            self.write(f"{self.fresh(INT)}, *{self.fresh(LIST)} = {value}")
        elif self.chance(8):
            value = self.one(self.tuple(), self.sequence())
            self.write(f"{self.fresh(INT)}, {self.fresh(INT)} = {value}")
        else:
            value = f"({self.integer()}, [{self.integer(1)}, {self.integer(1)}])"
            self.write(f"{self.fresh(INT)}, ({self.fresh(INT)}, {self.fresh(INT)}) = {value}")

    def _check(self) -> None:
        roll = self.rng.randrange(100)
        if roll < 45:
            self.write(f"observe({self.boolean(1)} or {self.boolean(1)} or {self.boolean(1)})")
        elif roll < 55:
            self.write(f"observe({self.boolean(1)})")
        elif roll < 95:
            self.write(f"assert {self.integer(1)} > -90")
        else:
            self.write(f"assert {self.boolean(1)}, 'checked'")

    def _function(self) -> None:
        self.serial += 1
        name = f"g{self.serial}"
        writes = self.names(INT) if self.chance(30) and self.depth == 1 else []
        self.write(f"def {name}(a, b={self.integer(0)}):")
        loops, self.loops, self.in_function = self.loops, 0, True
        paths, self.paths = self.paths, min(self.paths, 4)
        held, repeats, self.repeats = self.paths, self.repeats, 1
        with self.block(leak=0):
            self.scopes[-1] |= {"a": INT, "b": INT}
            hidden = [{n: k for n, k in scope.items() if not n.startswith("w")} for scope in self.scopes[:-1]]
            kept, self.scopes = self.scopes, [*[{} for _ in hidden], self.scopes[-1]]
            outer = {n: k for scope in kept[:-1] for n, k in scope.items()}
            readable = dict(list(outer.items())[:3])
            if writes:
                written = self.one(*writes)
                self.write(f"nonlocal {written}")
                self.write(f"{written} = clamp({written} + {self.integer(0)})")
                readable[written] = INT
            # names of the enclosing function are only read, through fresh locals, so that none becomes local by accident
            for n, k in readable.items():
                self.serial += 1
                self.write(f"k{self.serial} = {n}" if k not in (LIST, MIXED, NESTED) else f"k{self.serial} = list({n})")
                self.scopes[-1][f"k{self.serial}"] = k
            self.body(self.one(1, 2, 3))
            self.write(f"return {self.integer(1)}")
            self.scopes = kept
        self.in_function, self.loops, self.repeats = False, loops, repeats
        self.functions[name] = max(held // max(self.paths, 1), 1) * 2 if self.paths < held else 1
        self.paths = paths

    # the whole program

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
