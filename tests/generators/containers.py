"""Random expressions and statements with dictionaries, sets, generators, `match` and slices as targets.

Dictionaries have whole numbers as keys, so that they can be shown sorted; they and sets stay small, as keys and members
are taken modulo a small number. The shelves are dictionaries of lists, which are lists of other names, too.
"""

from __future__ import annotations

from collections.abc import Callable

from generators.expressions import Expressions


class Containers(Expressions):
    """Numbers, truth values and lists that are made of containers, containers, and what changes them."""

    # names

    def table_name(self) -> str:
        return self.one(*self.scope.tables)

    def set_name(self) -> str:
        return self.one(*self.scope.sets)

    def a_key(self, d: int = 0) -> str:
        return self.one(
            lambda: f"({self.number(d)}) % {self.one(2, 3, 4)}",
            lambda: f"abs({self.number_name()}) % 4",
            lambda: self.truth(0),
            lambda: str(self.rng.randrange(3)),
        )()

    # what is made of containers

    def number(self, d: int = 2) -> str:
        return self.number_of_containers(d) if self.reached_for(d) else super().number(d)

    def truth(self, d: int = 2) -> str:
        return self.truth_of_containers(d) if self.reached_for(d) else super().truth(d)

    def listing(self, d: int = 1) -> str:
        return self.listing_of_containers(d) if self.reached_for(d) else super().listing(d)

    def reached_for(self, d: int) -> bool:
        return bool(self.scope.tables) and d > 0 and self.chance(30)

    def number_of_containers(self, d: int) -> str:
        table, members, name, n = self.table_name(), self.set_name(), self.list_name(), lambda: self.number(d - 1)
        return self.pick([
            (4, lambda: f"{table}.get({self.a_key(d - 1)}, {n()})"),
            (1, lambda: f"{table}[{self.a_key()}]" if self.chance(8) else f"len({table})"),
            (2, lambda: f"({table}[k] if (k := {self.a_key()}) in {table} else {n()})" if self.scope.assigned else n()),
            (2, lambda: f"{table}.pop({self.a_key()}, {n()})"),
            (2, lambda: f"{table}.setdefault({self.a_key()}, {n()})"),
            (1, lambda: f"sum({self.one(table, f'{table}.values()', members)})"),
            (1, lambda: f"{self.one('max', 'min')}({self.one(table, members)}, default={n()})"),
            (1, lambda: f"len({self.a_set(d - 1)})"),
            (1, lambda: f"len({self.a_table(d - 1)})"),
            (1, lambda: f"{{{self.a_key()}: {n()}, {self.a_key()}: {n()}}}.get({self.a_key()}, {n()})"),
            (1, lambda: f"next(({self.comprehension(d - 1, bare=True)}), {n()})"),
            (1, lambda: f"({n()}).{self.one('bit_count', 'bit_length')}()"),
            (1, lambda: f"round(({n()}) / {self.one(2, 3, 4)})"),
            (1, lambda: f"math.prod({self.listing(d - 1)}[:3])"),
            (1, lambda: f"reduce(lambda s, t: {self.one('s - t', 's * 2 + t', 'max(s, t)')}, {name}[:3], {n()})"),
            (1, lambda: f"len(shelf.get({self.a_key()}, ()))"),
            (1, lambda: f"sum(shelf[{self.a_key()}])" if self.chance(8) else "sum(map(len, shelf.values()))"),
        ])  # fmt: skip

    def truth_of_containers(self, d: int) -> str:
        table, members, n = self.table_name(), self.set_name(), lambda: self.number(d - 1)
        return self.pick([
            (3, lambda: f"({self.a_key(d - 1)} {self.one('in', 'not in')} {self.one(table, members, 'shelf')})"),
            (2, lambda: f"({n()} in {self.a_set(d - 1)})"),
            (1, lambda: f"({n()} in {table}.values())"),
            (1, lambda: f"({table} {self.one('==', '!=')} {self.a_table(d - 1)})"),
            (1, lambda: f"({members} {self.one('==', '!=')} {self.a_set(d - 1)})"),
            (1, lambda: f"{members}.{self.one('issubset', 'issuperset', 'isdisjoint')}({self.listing(0)})"),
            (1, lambda: f"({members} {self.one('<', '<=', '>', '>=')} {self.a_set(d - 1)})"),
            (1, lambda: f"{self.one('bool', 'any', 'all')}({self.one(table, members, f'{table}.values()')})"),
            (1, lambda: f"(shelf.get({self.a_key()}) is None)"),
        ])  # fmt: skip

    def listing_of_containers(self, d: int) -> str:
        """A list of numbers."""
        table, members, name = self.table_name(), self.set_name(), self.list_name()
        with self.variable("k", "e"), self.repeated(3):
            pair = self.number(0)
            holds = self.truth(0)
        return self.pick([
            (2, lambda: f"list({self.one(table, f'{table}.values()', f'{table}.keys()')})"),
            (2, lambda: f"sorted({self.one(members, self.a_set(d - 1))})"),
            (1, lambda: f"[{pair} for k, e in {table}.items() if {holds}]"),
            (1, lambda: f"[*{table}, {self.number(d - 1)}][-4:]"),
            (1, lambda: f"list(map(lambda k, e=1: {pair}, {name}))[:4]"),
            (1, lambda: f"list(filter(lambda k, e=1: {holds}, {name}))"),
            (1, lambda: f"list(accumulate({name}))"),
            (1, lambda: f"[{pair} for k, e in {self.one('product', 'zip')}({name}[:2], {self.listing(0)}[:2])]"),
            (1, lambda: f"[{pair} for k, e in {self.one('combinations', 'permutations')}({name}[:3], 2)][:4]"),
            (1, lambda: f"[k + e for k, e in pairwise({name})]"),
            (2, lambda: f"shelf.get({self.a_key()}, {name})"),
            (1, lambda: f"shelf.setdefault({self.a_key()}, {name})"),
        ])  # fmt: skip

    # containers

    def braced(self, element: Callable[[], str]) -> str:
        """A comprehension in braces, over some list."""
        source, times = self.source(0)
        with self.variable("e"), self.repeated(times):
            each = element()
            condition = f" if {self.truth(0)}" if self.chance(30) else ""
        return f"{{{each} for e in {source}{condition}}}"

    def a_table(self, d: int = 1) -> str:
        """A dictionary of numbers: a name or a new one."""
        table, n = self.table_name(), lambda: self.number(d - 1)
        if d <= 0:
            return table
        comprehension = self.braced(lambda: f"{self.a_key()}: {self.number(d - 1)}")
        return self.pick([
            (2, lambda: table),
            (2, lambda: comprehension),
            (1, lambda: f"{{{self.a_key()}: {n()}, {self.a_key()}: {n()}}}"),
            (1, lambda: f"{{**{table}, {self.a_key()}: {n()}}}"),
            (1, lambda: f"{{{self.a_key()}: {n()}, **{table}}}"),
            (1, lambda: f"dict(enumerate({self.listing(d - 1)}[:3]))"),
            (1, lambda: f"dict(zip(({self.a_key()}, {self.a_key()}), {self.listing(d - 1)}))"),
            (1, lambda: f"({table} | {self.table_name()})"),
            (1, lambda: f"{{e % 4: k for k, e in {table}.items()}}"),
            (1, lambda: self.one(f"{table}.copy()", f"dict({table})", "{}")),
            (1, lambda: f"({table} if {self.truth(d - 1)} else {self.table_name()})"),
        ])  # fmt: skip

    def a_set(self, d: int = 1) -> str:
        """A set of numbers: a name or a new one."""
        members, n = self.set_name(), lambda: self.number(d - 1)
        if d <= 0:
            return members
        comprehension = self.braced(lambda: f"({self.number(d - 1)}) % 5")
        return self.pick([
            (2, lambda: members),
            (2, lambda: comprehension),
            (1, lambda: f"{{{self.a_key()}, {n()}}}"),
            (1, lambda: f"{{*{self.list_name()}, {n()}}}"),
            (1, lambda: f"set({self.one(self.listing(d - 1), self.table_name(), members, '')})"),
            (2, lambda: f"({members} {self.one('|', '&', '-', '^')} {self.a_set(d - 1)})"),
            (1, lambda: f"{members}.{self.one('union', 'intersection', 'difference')}({self.listing(0)})"),
            (1, lambda: self.one(f"{members}.copy()", f"set(frozenset({self.list_name()}))")),
            (1, lambda: f"({members} if {self.truth(d - 1)} else {self.set_name()})"),
        ])  # fmt: skip

    # statements

    def change_table(self) -> None:
        table, key, n = self.table_name(), self.a_key(1), self.number
        pop = f"{table}.pop({key}, {self.one('None', n(0))})"
        lines = self.one(
            lambda: [f"{table}[{key}] = {n()}"],
            lambda: [f"{table}[{key}] = {table}.get({self.a_key()}, {n(0)}) + {n(1)} % 3"],
            lambda: [f"if (k := {key}) in {table}:", f"    {table}[k] {self.one('+=', '-=', '^=')} {n(1)} % 3"],
            lambda: [f"if (k := {key}) in {table}:", f"    del {table}[k]"],
            lambda: [f"{self.one('', self.one(*self.scope.numbers) + ' = ')}{pop.replace('None', '0')}"],
            lambda: [f"{table}.update({self.a_table()})"],
            lambda: [f"if len({table}) > 1:", f"    {self.one(*self.scope.numbers)}, _ = {table}.popitem()"],
            lambda: [f"{table}.update([({self.a_key()}, {n(1)})])"],
            lambda: [f"{table}.clear()"] if self.chance(20) else [f"{table} |= {self.a_table()}"],
            lambda: [f"{self.table_name()} = {self.a_table(2)}"],
            lambda: [f"{self.one(*self.scope.numbers)}, {table}[{key}] = {n(1)} % 4, {n(1)}"],
        )()
        for line in lines:
            self.write(line)

    def change_set(self) -> None:
        members, n = self.set_name(), self.number
        lines = self.one(
            lambda: [f"{members}.{self.one('add', 'add', 'discard')}(({n()}) % 4)"],
            lambda: [f"{members}.update({self.listing()}[:2])"],
            lambda: [f"if (k := {self.a_key(1)}) in {members}:", f"    {members}.remove(k)"],
            lambda: [f"{members} {self.one('|=', '&=', '-=', '^=')} {self.a_set()}"],
            lambda: [f"{members}.{self.one('difference', 'intersection')}_update({self.listing()})"],
            lambda: [f"{self.set_name()} = {self.a_set(2)}"],
            lambda: [f"{members}.clear()"] if self.chance(20) else [f"{members}.add({n(0)})"],
        )()
        for line in lines:
            self.write(line)

    def change_shelf(self) -> None:
        """Lists in a dictionary, some of which other names hold, too."""
        name, key = self.list_name(), self.a_key(1)
        lines = self.one(
            lambda: [f"shelf.setdefault({key}, []).append({self.number(1)})"],
            lambda: [f"shelf[{key}] = {name}"],
            lambda: [f"if shelf.get((k := {key})):", f"    shelf[k][0] = {self.number(1)}"],
            lambda: [f"if shelf.get((k := {key})):", f"    {name} = shelf[k]"],
            lambda: [f"{name} = [*shelf.get({key}, {name}), 1][:3]"],
        )()
        for line in lines:
            self.write(line)

    def splice(self) -> None:
        """A slice as the target of an assignment; the list does not become empty."""
        name = self.list_name()
        text = self.one(
            lambda: f"{name}[{self.bound()}:{self.bound()}] = [{self.number(1)}, *{self.listing()}[:1]]",
            lambda: f"{name}[{self.bound()}:] = [{self.number(1)}]",
            lambda: f"{name}[:1] = {self.listing()}[:1] or [{self.number(0)}]",
            lambda: f"{name}[:] = [{self.number(1)}, *{name}][:3]",
            lambda: f"{name}[::{self.one(2, -1)}] = [e + 1 for e in {name}[::{self.one(2, 2, -1)}]]",
            lambda: f"{name}[1:] = {self.list_name()}[:1]",
            lambda: f"{self.one(*self.scope.numbers)}, {name}[:1] = {self.number(1)} % 4, [{self.number(0)}]",
        )()
        self.write(f"if len({name}) < 4{self.one('', f' and {self.truth(1)}')}:")
        self.write(f"    {text}")

    def bound(self) -> str:
        return self.one("", "0", "1", "-1", self.number_name(), f"({self.number(0)}) % 3")

    def lazily(self) -> None:
        """A generator whose list changes before it is gone through."""
        name, number = self.list_name(), self.one(*self.scope.numbers)
        with self.variable("e"), self.repeated(3):
            element, holds = self.number(1), self.truth(1)
        self.write(f"lazy = ({element} for e in {name} if {holds})")
        if self.chance(50):
            self.write(f"if len({name}) < 4:")
            self.write(f"    {name}.append({self.number(0)})")
        taken = self.one("sum(lazy)", "len(list(lazy))", "max(lazy, default=0)", "int(any(lazy))")
        self.write(f"{number} = {taken} % 5")

    def view(self) -> None:
        """A view of a dictionary, which changes with it."""
        table, number = self.table_name(), self.one(*self.scope.numbers)
        self.write(f"view = {table}.{self.one('values', 'keys')}()")
        self.change_table()
        self.write(
            f"{number} = {self.one('sum(view)', 'len(view)', f'({number} in view)', 'max(view, default=1)')} % 5"
        )

    def select(self) -> None:
        """`match` on values."""
        subject, patterns = self.one(
            lambda: (self.number(1), ["0", "1 | 2", "-1", "3 as d0", "d0 if d0 > 1"]),
            lambda: (f"({self.number(0)}, {self.number(0)})", ["(0, _)", "(d0, 1)", "(1, d0) | (d0, 2)", "(d0, *_)"]),
            lambda: (f"{self.list_name()}[:2]", ["[]", "[0]", "[d0]", "[0, d0]", "[d0, *_]"]),
        )()
        self.write(f"match {subject}:")
        chosen = sorted(self.rng.sample(patterns, 2), key=patterns.index)
        with self.indented():
            for pattern in chosen:
                guard = f" if {self.truth(1)}" if " if " not in pattern and self.chance(40) else ""
                self.write(f"case {pattern}{guard}:")
                with self.indented():
                    self.write(f"{self.one(*self.scope.numbers)} = {'d0' if 'd0' in pattern else self.number(1)}")
                    self.inner(1)
            if self.chance(60):
                self.write("case _:")
                with self.indented():
                    self.inner(2)

    def inner(self, most: int) -> None:
        """Statements inside one."""
        raise NotImplementedError
