"""Random statements: nested loops that are left in every way, assignments to everything, local functions."""

from __future__ import annotations

from generators.containers import Containers

STYLES = {
    "everything": {
        "assign": 4, "augment": 2, "assign_list": 3, "change_list": 3, "assign_rows": 2, "unpack": 1, "branch": 4,
        "evaluate": 1, "check": 1, "loop": 5, "give_back": 1, "leave": 4, "define": 1,
    },
    "control": {"assign": 3, "change_list": 1, "branch": 2, "loop": 9, "leave": 6, "give_back": 1, "check": 1},
    "lists": {
        "assign": 1, "augment": 3, "assign_list": 5, "change_list": 5, "assign_rows": 5, "unpack": 2, "branch": 3,
        "evaluate": 2, "loop": 2, "define": 1,
    },
    "containers": {
        "assign": 2, "augment": 1, "assign_list": 2, "change_list": 2, "change_table": 6, "change_set": 3,
        "change_shelf": 3, "splice": 3, "lazily": 2, "view": 1, "select": 3, "branch": 3, "evaluate": 1, "loop": 3,
        "leave": 2, "define": 1,
    },
}  # fmt: skip
"""How often each statement is written, by the kind of program."""


class Statements(Containers):
    """Blocks of statements."""

    style = "everything"

    def body(self, most: int) -> None:
        for _ in range(self.rng.randrange(most) + 1):
            if self.left > 0:
                self.left -= 1
                self.statement()

    def statement(self) -> None:
        style = STYLES[self.style]
        possible = [
            name for name in style
            if not (name == "loop" and self.depth >= 5)
            and not (name == "give_back" and self.depth < 2)
            and not (name == "leave" and not self.loops)
            and not (name == "define" and (not self.main or self.depth > 2))
        ]  # fmt: skip
        (name,) = self.rng.choices(possible, [style[name] for name in possible])
        getattr(self, name)()

    def inner(self, most: int) -> None:
        self.body(most)

    # assignment

    def small(self, d: int = 2) -> str:
        """A number that stays small in a loop."""
        text = self.number(d)
        return f"{text} % {self.one(3, 4, 5)}" if self.loops or not self.main else text

    def assign(self) -> None:
        scope = self.scope
        match self.one("number", "number", "truth", "both", "lambda"):
            case "truth" if scope.truths:
                self.write(f"{self.one(*scope.truths)} = {self.truth()}")
            case "both":
                self.write(f"{self.one(*scope.numbers)} = {self.one(*scope.numbers)} = {self.small()}")
            case "lambda" if self.main and self.depth == 1 and not self.loops:
                before = self.spent
                with self.variable("s"), self.repeated(1):
                    body = self.number()
                self.function("f", 1, self.spent - before, f"f = lambda s: {body}")
            case _:
                self.write(f"{self.one(*scope.numbers)} = {self.small()}")

    def augment(self) -> None:
        operator = self.one("+=", "-=", "*=", "|=", "^=", "+=")
        name = self.list_name()
        target = self.one(
            lambda: self.one(*self.scope.numbers),
            lambda: f"{name}[({self.effect()}) % len({name})]",
            lambda: f"{name}[({self.number(1)}) % len({name})]",
            lambda: f"{name}[{self.one(0, -1)}]",
            lambda: f"{self.one(*self.scope.rows)}[({self.number(1)}) % 2][{self.one(0, -1)}]",
        )()
        self.write(f"{target} {operator} {self.number(1)} % 3")
        if target in self.scope.numbers:
            self.write(f"{target} %= 7")

    def assign_list(self) -> None:
        name, other = self.list_name(), self.list_name()
        rows = self.one(*self.scope.rows)
        value = self.pick([
            (4, lambda: other),
            (2, lambda: f"{rows}[{self.one('0', '-1', f'({self.number(0)}) % 2')}]"),
            (1, lambda: f"[{self.number()}, *{other}[:2]]"),
            (1, lambda: f"{other}[{self.slice()}] + [{self.number(1)}]"),
            (1, lambda: f"({other} if {self.truth(1)} else {self.list_name()})"),
            (1, lambda: f"[*{self.listing()}, {self.number(1)}][:3]"),
        ])  # fmt: skip
        self.write(f"{name} = {value}")

    def change_list(self) -> None:
        name, n = self.list_name(), self.number
        change = self.pick([
            (2, lambda: f"{name}[({n(1)}) % len({name})] = {n()}"),
            (2, lambda: f"{name}[{self.one(0, -1)}] = {n()}"),
            (1, lambda: f"{name}[{self.effect()} % len({name})] = {n(1)}"),
            (4, lambda: self.one("append({})", "append({})", "insert(0, {})", "insert(-1, {})").format(n(1))),
            (1, lambda: f"insert({n(0)}, {n(0)})"),
            (1, lambda: f"extend({self.listing()}[:1])"),
            (1, lambda: f"+= [{n(1)}]"),
            (1, lambda: f"pop({self.one('', '0', '-1')})"),
        ])  # fmt: skip
        if change.startswith("pop"):
            self.write(f"if len({name}) > 1:")
            self.write(f"    {self.one('', self.one(*self.scope.numbers) + ' = ')}{name}.{change}")
        elif change.startswith(f"{name}["):
            self.write(change)
        else:
            self.write(f"if len({name}) < 4{self.one('', f' and {self.truth(1)}')}:")
            self.write(f"    {name} {change}" if change.startswith("+=") else f"    {name}.{change}")

    def assign_rows(self) -> None:
        rows, name = self.one(*self.scope.rows), self.list_name()
        text = self.pick([
            (2, lambda: f"{rows} = [{name}, {self.list_name()}]"),
            (1, lambda: f"{rows} = [{name}, [{self.number(1)}], {self.list_name()}]"),
            (1, lambda: f"{rows} = {self.one(*self.scope.rows)}{self.one('', '[:]', '[::-1]')}"),
            (2, lambda: f"{rows}[{self.one('0', '-1', f'({self.number(0)}) % 2')}] = {name}"),
            (2, lambda: f"{rows}[({self.number(1)}) % 2][{self.one(0, -1)}] = {self.number(1)}"),
            (1, lambda: f"{rows}[({self.number(0)}) % 2], {name} = {name}, {rows}[{self.one(0, -1)}]"),
            (1, lambda: f"{rows} = [[{self.number(1)}, t] for t in {name}[:2]] + [{name}, {self.list_name()}]"),
        ])  # fmt: skip
        self.write(text)

    def unpack(self) -> None:
        names, name = self.scope.numbers, self.list_name()
        a, b, c = (self.one(*names) for _ in range(3))
        text = self.pick([
            (2, lambda: f"{a}, {b} = {b}, {a}"),
            (1, lambda: f"{a}, {b} = {self.small(1)}, {self.small(1)}"),
            (1, lambda: f"{a}, *{name} = [{self.small(1)}, {self.number(0)}, *{self.list_name()}[:1]]"),
            (1, lambda: f"({a}, {b}), {c} = ({self.small(1)}, {self.number(0)}), {self.small(0)}"),
            (1, lambda: f"{name}[0], {a} = {a}, {name}[-1]"),
            (1, lambda: f"{name}, {self.list_name()} = {self.list_name()}, {name}"),
            (1, lambda: f"{name}[{a} % len({name})], {a} = {self.small(1)}, {self.small(1)}"),
            (1, lambda: f"*{name}, {a} = {self.listing()}[:2] + [{self.number(1)}]"),
        ])  # fmt: skip
        self.write(text)

    def evaluate(self) -> None:
        self.write(self.one(lambda: self.called(1), self.effect, lambda: self.number(2))())

    def check(self) -> None:
        roll = self.rng.randrange(100)
        if roll < 40:
            self.write(f"observe({self.truth(1)} or {self.truth(1)} or {self.truth(0)})")
        elif roll < 50:
            self.write(f"observe({self.truth(1)})")
        elif roll < 95:
            self.write(f"assert {self.number(1)} < 90")
        else:
            self.write(f"assert {self.truth(1)} or {self.truth(0)}, 'checked'")

    # control flow

    def branch(self) -> None:
        self.write(f"if {self.truth()}:")
        with self.indented():
            self.body(2)
        if self.chance(20):
            self.write(f"elif {self.truth()}:")
            with self.indented():
                self.body(2)
        if self.chance(45):
            self.write("else:")
            with self.indented():
                self.body(2)

    def loop(self) -> None:
        self.one(self.loop_for, self.loop_for, self.loop_while)()

    def loop_for(self) -> None:
        names = self.scope.numbers
        a, b = self.one(*names), self.one(*names)
        source, times = self.source(1)
        first, other = self.list_name(), self.list_name()
        header, times = self.one(
            *[(f"for {a} in {source}", times)] * 4,
            (f"for {a}, {b} in enumerate({first})", 3),
            (f"for {a}, {b} in zip({first}, {other})", 2),
            (f"for {first} in {self.one(*self.scope.rows)}[:2]", 2),
            (f"for {first}[0] in range(2)", 2),
            *self.through_containers(a, b),
        )
        self.write(f"{header}:")
        self.inside(times)

    def through_containers(self, a: str, b: str) -> list[tuple[str, int]]:
        if not self.scope.tables:
            return []
        table, members, name = self.table_name(), self.set_name(), self.list_name()
        return [
            (f"for {a} in {self.one(table, f'list({table})', f'sorted({members})')}", 3),
            (f"for {a}, {b} in {self.one(f'{table}.items()', f'list({table}.items())')}", 3),
            (f"for {a}, {b} in product({name}[:2], {name}[:2])", 4),
            (f"for {table}[{self.a_key()}] in {name}[:2]", 2),
            (f"for {name} in list(shelf.values())[:2]", 2),
        ]

    def loop_while(self) -> None:
        counter = f"w{len(self.lines)}"
        most = self.one("2", "3", f"({self.number(0)}) % 3")
        with self.repeated(2):
            extra = self.one("", f" and {self.truth(1)}", f" and {self.truth(1)}")
        self.write(f"{counter} = 0")
        if self.chance(25):
            self.write("while True:")
            self.write(f"    {counter} += 1")
            self.write(f"    if {counter} > {most}{extra.replace(' and ', ' or ', 1)}:")
            self.write(f"        {self.one('break', 'break', f'return {self.output()}')}")
        elif self.chance(50):
            self.write(f"while {counter} < {most}{extra}:")
            self.write(f"    {counter} += 1")
        else:
            self.write(f"while ({counter} := {counter} + 1) <= {most}{extra}:")
        self.inside(2)

    def inside(self, times: int) -> None:
        """The body of a loop, and its `else`."""
        self.loops += 1
        with self.repeated(times), self.indented():
            self.body(3)
            if self.chance(60):
                self.leave()
            if self.chance(20):
                self.body(1)
        self.loops -= 1
        often = 30 if self.style == "control" else 0
        if self.chance(40 + often):
            self.write("else:")
            with self.indented():
                if self.chance(70 - often):
                    self.body(2)
                if self.chance(40 + often) and (self.loops or self.chance(20)):
                    self.leave()

    def leave(self) -> None:
        """Leave the loop, the round or the function: always or on a condition."""
        how = self.one("break", "continue", "break", "continue", "return") if self.loops else "return"
        if how == "return":
            how = f"return {self.output()}"
        if self.chance(75 if "return" not in how else 92):
            self.write(f"if {self.truth(1)}:")
            how = f"    {how}"
        self.write(how)

    def give_back(self) -> None:
        text = f"return {self.output()}"
        if self.chance(90):
            self.write(f"if {self.truth(1)}:")
            text = f"    {text}"
        self.write(text)

    def output(self) -> str:
        """What the function at hand returns."""
        raise NotImplementedError

    def define(self) -> None:
        """A local function."""
        raise NotImplementedError

    def function(self, name: str, count: int, bits: float, *lines: str) -> None:
        """Record a local function, whose calls are from now on paid for."""
        raise NotImplementedError
