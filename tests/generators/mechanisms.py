"""Random mechanisms for questions about privacy: what each client sends, how it is put together, who are neighbours.

Clients send what a random function makes of their records, alike or not, by turns (each sees what was sent before),
with early stops; the analyst adds up, compares, shuffles, conditions, returns parts.
"""

from __future__ import annotations

import random

from generators.base import Scope
from generators.writer import MODULE, Drawn, Writer

RELATIONS = """\
def swapped(x):
    for i in range(len(x) - 1):
        yield (*x[:i], x[i + 1], x[i], *x[i + 2 :])


def lowered(x):
    for i, r in enumerate(x):
        if r != least:
            yield (*x[:i], least, *x[i + 1 :])


"""

_RECORDS = (
    ("Bit", (0, 1)),
    ("Bit", (0, 1)),
    ("Int(0, 2)", (0, 1, 2)),
    ("Values(2, 0)", (2, 0)),
    ("Values('a', None)", ("a", None)),
    ("Bits(2)", ((0, 0), (0, 1), (1, 0), (1, 1))),
)


class Analyst(Writer):
    """Writes a mechanism in the sense of the literature: records, messages, an output."""

    def mechanism(self, seed: int) -> Drawn:
        record, values = self.one(*_RECORDS)
        integral = all(isinstance(value, int) for value in values)
        relations = ['"replace-one"', '"replace-one"', '"add-remove"', "swapped", "lowered"]
        relation = self.one(*relations, *(['"unit-step"', '"unit-all"'] if integral else []))
        absent = relation == '"add-remove"'
        self.n = self.one(1, 2, 2, 3) if len(values) == 2 else self.one(1, 2)
        target = self.one("sum(worth(r) for r in x)", "max(worth(r) for r in x)", "len(x)", "worth(x[0])")
        self.lines.append(f"least = {values[-1]!r}\n\n\n{RELATIONS}def worth(r):")
        self.lines.append(f"    return {self.worth(record, absent)}\n\n")
        self.lines.append(f"@mechanism(record={record}, neighbours={relation}, target=lambda x: {target})")
        self.lines.append("def f(x, q='1/3'):")
        self.depth = 1
        self.write("z = [worth(r) for r in x]")
        self.start(["1", "0", "2"])
        self.define_report()
        self.one(self.alike, self.alike, self.unlike, self.in_turn, self.with_shared_coin)()
        if self.chance(12):
            self.write(f"observe({self.one('sum(m) != 1', 'max(m) > 0 or flip(1/2)', 'm[0] < 3')})")
        self.finish()
        source = MODULE + "\n".join(self.lines) + "\n"
        return Drawn(source, self.n, seed)

    def worth(self, record: str, absent: bool) -> str:
        inner = {"Bit": "r", "Int(0, 2)": "r", "Values(2, 0)": "r // 2", "Values('a', None)": "int(r == 'a')"}.get(
            record, "2 * r[0] + r[1]"
        )
        return f"{self.one(0, 1, 3)} if r is None else {inner}" if absent else inner

    def start(self, values: list[str]) -> None:
        """The names of a mechanism."""
        self.write(f"a = {self.one(*values)}")
        self.write(f"c = {self.one(*values)}")
        self.write("u = [1, 0]")
        self.write("v = [0]")
        self.write("m = []")
        self.scope = Scope(["a", "c"], [], ["u", "v"], [])

    def define_report(self) -> None:
        """What a client sends: a random function of the value, with a draw that it may hide in a loop."""
        bits = 3.2 / self.n
        self.write("def g(s, i):")
        outer, self.scope = self.scope, Scope(["d"], [], ["e"], [["e"]][:0])
        self.scope.fixed, self.scope.rows = ["s", "s", "s"], ["[e, u]"]
        kept, self.bits, self.main, self.left = self.bits, bits, False, 3
        with self.indented():
            self.write("d = s")
            self.write("e = [s, 1]")
            if self.chance(50):
                self.body(2)
            p = self.one("q", "1/3", "1/4", "1/2", "(1 + s) / 5", "(1 + i) / 4", "s % 2")
            noisy = self.pay(1)
            self.write(
                self.pick(
                    [
                        (3, lambda: f"return 1 - s % 2 if flip({p}) else s" if noisy else "return s"),
                        (2, lambda: f"return int(flip({p} if s else 1/4))" if noisy else "return (d, s)[s % 2]"),
                        (1, lambda: f"return s * flip({p}) + d % 2" if noisy else "return d % 3"),
                        (1, lambda: f"return min(e) if flip({p}) else max(e)" if noisy else "return sum(e) % 3"),
                        (1, lambda: f"return randint(0, s % 2 + {self.one(0, 1)})" if noisy else "return e[-1]"),
                    ]
                )
            )
        self.main, self.bits, self.scope = True, kept - 3.2, outer

    def alike(self) -> None:
        self.write("m = [g(s, 1) for s in z]")

    def unlike(self) -> None:
        self.write(self.one(
            "m = [g(s, i) for i, s in enumerate(z)]",
            "m = [(i + 1) * g(s, 1) for i, s in enumerate(z)]",
            "m = [g(s, 1) if i else s for i, s in enumerate(z)]",
            "m = [g(z[i - 1], 1) for i in range(len(z))]",
            "m = [g(s, 1)] * len(z) if (s := z[0]) else [g(s, 2) for s in z]",
        ))  # fmt: skip

    def in_turn(self) -> None:
        """By turns, until a turn stops the others: with `break`, `continue`, `else`."""
        self.write("for i, s in enumerate(z):")
        leave = self.one("break", "continue", "return (i, tuple(m))", "pass")
        self.write(f"    if {self.one('m and m[-1] > 0', 'sum(m) >= c + 1', 'len(m) > a', 'flip(1/4) and s')}:")
        self.write(f"        {leave}")
        self.write(f"    m.append(g(s, {self.one('1', 'i', 'len(m)', 'sum(m)')}))")
        if self.chance(50):
            self.write("else:")
            self.write(f"    {self.one('m.append(2)', 'm[0] += 1', 'm = m[::-1]', 'c = flip(1/2)')}")
        self.write("m = m or [0]")

    def with_shared_coin(self) -> None:
        self.write("c = int(flip(q))")
        self.write(
            self.one("m = [g(s, 1) ^ c for s in z]", "m = [g(s, 1) if c else 0 for s in z]", "m = z if c else [1]")
        )

    def finish(self) -> None:
        noise = "geometric(sum(m), '1/2', 0, 2)"
        number = ["sum(m)", "max(m)", "sum(m) % 2", "len(m)", "m[0]", "sum(m) > 1", noise, "m[-1] - m[0]", "sum(m) / 2"]
        number += ["next_of(m)", "min(max(sum(m), 1), 3)", "int(flip(min(sum(m), 4) / 4))", "abs(sum(m) - a)"]
        other = ["tuple(m)", "(sum(m), max(m))", "tuple(shuffle(m))", "(m[0], sum(m) > 1)", "tuple(sorted(m))"]
        other += ["tuple(m) if c else None", "choice(m)", "(tuple(m), flip(1/2))", "tuple(t > 0 for t in m)[1:]"]
        other += ["('none' if sum(m) == 0 else tuple(m))", "tuple(m[i] ^ m[i - 1] for i in range(len(m)))"]
        chosen = self.one(*number, *other)
        if chosen == "next_of(m)":
            self.write("for i, t in enumerate(m):")
            self.write("    if t + flip(1/4) > 1:")
            self.write("        return i")
            chosen = "-1"
        self.write(f"return {chosen}")


def draw_mechanism(seed: int) -> Drawn:
    """The mechanism with this number."""
    return Analyst(random.Random(seed), 6, 6).mechanism(seed)
