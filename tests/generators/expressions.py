"""Random expressions, with draws and side effects at every place where Python evaluates something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from generators.base import Base


class Expressions(Base):
    """Numbers, truth values, lists, tuples."""

    # names

    def number_name(self) -> str:
        names = self.scope.numbers + self.scope.fixed * 2
        return self.one(*names) if names and not self.chance(15) else str(self.rng.randrange(-2, 4))

    def list_name(self) -> str:
        return self.one(*self.scope.lists)

    @contextmanager
    def variable(self, *names: str) -> Iterator[None]:
        """Names that hold numbers in what is written inside: of a comprehension or a lambda."""
        self.scope.fixed += names
        before, self.scope.assigned = self.scope.assigned, False
        yield
        self.scope.assigned = before
        del self.scope.fixed[len(self.scope.fixed) - len(names) :]

    # numbers

    def number(self, d: int = 2) -> str:
        """A small whole number (or a truth value used as one)."""
        if d <= 0:
            return self.pick([(5, self.number_name), (1, self.draw)])
        n, b = lambda: self.number(d - 1), lambda: self.truth(d - 1)
        return self.pick([
            (6, self.number_name),
            (5, self.draw),
            (4, lambda: f"({n()} {self.one('+', '-', '+', '*', '&', '|', '^')} {n()})"),
            (1, lambda: f"({n()} {self.one('//', '%')} {self.one('2', '3', '-2', '-3')})"),
            (2, lambda: f"({n()} if {b()} else {n()})"),
            (1, lambda: f"({n()} {self.one('and', 'or')} {n()})"),
            (1, lambda: f"{self.one('min', 'max')}({n()}, {n()})"),
            (1, lambda: f"{self.one('abs', '-', '~', 'int', '+')}({n()})"),
            (1, lambda: f"({b()} + {b()})"),
            (2, lambda: self.element(d - 1)),
            (2, self.effect),
            (2, lambda: self.called(d - 1)),
            (2, lambda: self.folded(d - 1)),
            (1, lambda: self.walrus(d - 1)),
            (1, lambda: self.immediate(d - 1)),
            (1, lambda: f"divmod({n()}, {self.one('2', '3')})[{self.one(0, 1)}]"),
        ])  # fmt: skip

    def element(self, d: int) -> str:
        """An element of a list, a tuple or a table; the index may draw."""
        name = self.list_name()
        return self.pick([
            (3, lambda: f"{name}[({self.number(d)}) % len({name})]"),
            (2, lambda: f"{name}[{self.one(0, -1)}]"),
            (1, lambda: f"TABLE[({self.number(d)}) % 4]"),
            (1, lambda: f"({self.number(d)}, {self.number(d)})[{self.truth(d)}]"),
            (1, lambda: f"[{self.number(d)}, {self.number(0)}, {self.number(0)}][({self.number(d)}) % 3]"),
            (1, lambda: f"{self.one(*self.scope.rows)}[({self.number(0)}) % 2][{self.one(0, -1)}]"),
            (1, lambda: f"{name}[{self.number(0)}]" if self.chance(10) else f"len({name})"),
        ])  # fmt: skip

    def effect(self) -> str:
        """A number whose evaluation changes a list."""
        name = self.list_name()
        return self.pick([
            (2, lambda: f"({name}.pop({self.one('', '0', '-1')}) if len({name}) > 1 else {self.number(0)})"),
            (2, lambda: f"push({name}, {self.number(1)})"),
            (1, lambda: f"put({name}, {self.number(0)}, {self.number(0)})"),
            (1, lambda: f"(push({name}, {self.number(0)}) and len({name}))"),
        ])  # fmt: skip

    def called(self, d: int) -> str:
        """A call of a local function, or of one that is given a function."""
        if not self.functions:
            return self.number(d)
        name = self.one(*self.functions)
        count, bits = self.functions[name]
        if self.repeats > 4 or not self.pay(bits):
            return self.number(d)
        if count == 1 and self.chance(15) and self.pay(bits):
            return f"twice({name}, {self.number(0)})"
        arguments = [self.number(d) for _ in range(count)]
        if count == 2 and self.chance(40):
            arguments[1] = f"b={arguments[1]}"
        elif count == 2 and self.chance(30):
            del arguments[1]
        return f"{name}({', '.join(arguments)})"

    def folded(self, d: int) -> str:
        """A number made of a sequence: an aggregate of a list or of a comprehension."""
        form = self.one("sum", "sum", "max", "min", "len", "count", "sorted", "index")
        match form:
            case "sum":
                return f"sum({self.comprehension(d, bare=True)})"
            case "max" | "min":
                key = self.key(d)
                if key:
                    return f"{form}([{self.number(0)}, *{self.listing(0)}]{key})"
                return f"{form}({self.listing(d)}, default={self.number(0)})"
            case "len":
                return f"len({self.comprehension(d)})"
            case "count":
                return f"{self.list_name()}.count({self.number(d)})"
            case "sorted":
                return f"sorted([{self.number(d)}, *{self.listing(0)}]{self.key(d)})[{self.one(0, -1)}]"
            case _:
                return f"[{self.number(d)}, {self.number(0)}, 1].index(1)"

    def key(self, d: int) -> str:
        """Nothing, or a key function, which may draw."""
        if self.chance(60):
            return ""
        with self.repeated(3), self.variable("t"):
            body = self.one("-t", "t % 2", "abs(t)", "(t % 2, -t)", self.number(0))
        return f", key=lambda t: {body}"

    def walrus(self, d: int) -> str:
        if not self.scope.assigned or not self.scope.numbers:
            return self.number(d)
        return f"({self.one(*self.scope.numbers)} := {self.number(d)} % 4)"

    def immediate(self, d: int) -> str:
        with self.variable("s", "t"):
            body = self.number(d)
        default = self.number(0)
        return f"(lambda s, t={default}: {body})({self.number(d)})"

    # truth values

    def truth(self, d: int = 2) -> str:
        """A truth value."""
        if d <= 0:
            return self.pick([(3, self.truth_name), (2, self.comparison), (2, self.coin)])
        n, b = lambda: self.number(d - 1), lambda: self.truth(d - 1)
        return self.pick([
            (3, self.truth_name),
            (6, self.coin),
            (5, lambda: f"({n()} {self.relation()} {n()})"),
            (2, lambda: f"({n()} {self.relation()} {n()} {self.relation()} {n()})"),
            (4, lambda: f"({b()} {self.one('and', 'or')} {b()})"),
            (1, lambda: f"(not {b()})"),
            (1, lambda: f"({b()} {self.one('&', '|', '^', '==', '!=')} {b()})"),
            (1, lambda: f"({b()} if {b()} else {b()})"),
            (2, lambda: f"{self.one('any', 'all')}({self.comprehension(d - 1, bare=True, truths=True)})"),
            (1, lambda: f"({n()} {self.one('in', 'not in')} {self.listing(d - 1)})"),
            (1, lambda: f"bool({n()})"),
            (1, lambda: f"({self.list_name()} == {self.list_name()})"),
            (1, lambda: f"(({n()}, {n()}) {self.relation()} ({n()}, {n()}))"),
        ])  # fmt: skip

    def truth_name(self) -> str:
        return self.one(*self.scope.truths) if self.scope.truths else self.one("True", "False")

    def relation(self) -> str:
        return self.one("<", "<=", ">", ">=", "==", "!=")

    def comparison(self) -> str:
        left, right = self.number_name(), self.number_name()
        if left == right:
            right = str(self.rng.randrange(3))
        return f"({left} {self.relation()} {right})"

    def coin(self) -> str:
        return f"flip({self.probability()})" if self.afford(2) else self.comparison()

    def probability(self) -> str:
        """A probability, which may depend on the run."""
        return self.one(
            "1/2", "1/2", "1/3", "3/4", "q", "0.25", "1 - q", f"({self.number_name()}) % 4 / 4", "0", "1",
            f"q if {self.comparison()} else 2/3", f"Fraction(1, 2 + abs({self.number_name()}))",
            f"{self.truth_name()}", f"abs({self.number_name()}) % 2",
        )  # fmt: skip

    # draws

    def draw(self) -> str:
        """A random number, by one of the primitives; its arguments depend on the run, and may draw."""
        kind = self.one("flip", "flip", "randint", "choice", "weights", "binomial", "geometric", "shuffle")
        if not self.afford(2 if kind in ("flip", "shuffle") else 3):
            return self.number_name()
        m = self.number_name
        match kind:
            case "flip":
                return f"int(flip({self.probability()}))"
            case "randint":
                high = m() if self.chance(6) else f"abs({m()}) % 3"
                return self.one("randint(-1, 1)", f"randint(0, {high})")
            case "choice":
                return f"choice(({m()}, {self.number(0)}, {m()}))"
            case "weights":
                weights = [self.one("1", "2", f"abs({m()})", self.comparison()), self.one("1", "3"), self.one("0", "q")]
                self.rng.shuffle(weights)
                return f"choice([{m()}, {m()}, {m()}], [{', '.join(weights)}])"
            case "binomial":
                return f"binomial({self.one('2', f'abs({m()}) % 3')}, {self.probability()})"
            case "geometric":
                return f"geometric({m()}, {self.one('1/2', 'q', '1/3')}, {self.one('0, 2', '-1, 1', '1, 2')})"
            case _:
                return f"shuffle(({self.number(0)}, {self.number(0)}))[{self.one('0', '1', f'{m()} % 2')}]"

    # sequences

    def listing(self, d: int = 1) -> str:
        """A list of numbers: a name (the list itself) or a new one."""
        name = self.list_name()
        if d <= 0:
            return name
        return self.pick([
            (3, lambda: name),
            (2, lambda: f"[{self.number(d - 1)}, {self.number(d - 1)}]"),
            (2, lambda: self.comprehension(d - 1)),
            (1, lambda: f"[*{name}, {self.number(d - 1)}][:4]"),
            (1, lambda: f"({name} + {self.listing(d - 1)})[:4]"),
            (1, lambda: f"{name}[{self.slice()}]"),
            (1, lambda: f"sorted({name}{self.key(d)})"),
            (1, lambda: f"list(reversed({name}))"),
            (1, lambda: f"({name} if {self.truth(d - 1)} else {self.list_name()})"),
            (1, lambda: f"{self.one(*self.scope.rows)}[({self.number(0)}) % 2]"),
            (1, lambda: f"list(range({self.number_name()} % 3))"),
            (1, lambda: f"{name}.copy()"),
            (1, lambda: f"list(shuffle(({self.number(0)}, {self.number(0)})))" if self.afford(2) else name),
        ])  # fmt: skip

    def slice(self) -> str:
        bound = lambda: self.one("", "", "1", "-1", "2", f"{self.number_name()}")  # noqa: E731
        return f"{bound()}:{bound()}{self.one('', '', '', ':2', ':-1')}"

    def comprehension(self, d: int, bare: bool = False, truths: bool = False) -> str:
        """A list comprehension, or what stands in a generator expression: draws in the source, filter and element."""
        source, times = self.source(0)
        target = f"i{self.depth}{d}"
        with self.variable(target), self.repeated(times):
            condition = f" if {self.truth(d)}" if self.chance(40) else ""
            element = self.truth(d) if truths else self.number(d)
        text = f"{element} for {target} in {source}{condition}"
        return text if bare else f"[{text}]"

    def source(self, d: int) -> tuple[str, int]:
        """Something to iterate over, of numbers, and how many items it has at most (about)."""
        return self.one(
            lambda: (self.list_name(), 3),
            lambda: ("range(2)", 2),
            lambda: ("range(3)", 3),
            lambda: (f"range({self.number(d)} % 3)", 2),
            lambda: (f"({self.number(d)}, {self.number(d)})", 2),
            lambda: (f"{self.list_name()}[{self.slice()}]", 3),
            lambda: (f"[{self.number(d)}]", 1),
            lambda: (f"reversed({self.list_name()})", 3),
            lambda: ("z", 2),
        )()
