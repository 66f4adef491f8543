# ruff: noqa: E501
"""Expressions by kind: numbers, truth values, texts, sequences, tuples, outputs."""

from __future__ import annotations

from collections.abc import Callable

from typed.base import BOOL, INT, LIST, MIXED, OPTIONAL, TEXT, TUPLE, Base


class Expressions(Base):
    """Writes expressions."""

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
