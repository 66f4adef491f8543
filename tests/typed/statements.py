# ruff: noqa: E501
"""Statements: assignments of every kind, changes of lists, branches, loops, local functions."""

from __future__ import annotations

from collections.abc import Callable

from typed.base import BOOL, INT, LIST, MIXED, NESTED, OPTIONAL, TEXT, TUPLE
from typed.expressions import Expressions


class Statements(Expressions):
    """Writes statements."""

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
