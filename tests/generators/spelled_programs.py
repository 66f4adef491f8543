# ruff: noqa: E501
"""Drawn programs that treat all records alike, in the many ways that Python has to write the same thing.

Lists have two names, elements are written, functions are local, generators lazy, builtins shadowed, numbers no integers,
values formatted, the records gone through twice; parts of each kind are joined at random.
"""

from __future__ import annotations

import random

__all__ = ["spelled_program"]

_HEAD = ["from fractions import Fraction", "", "from tightdp import Bit, flip, geometric, mechanism, randint", ""]
_SHADOWED = {
    "sum": "found = 0\nfor v in values:\n    found = found ^ v\nreturn found",
    "max": "found = 1\nfor v in values:\n    found = found & v\nreturn found",
    "any": "return sum(values)",
    "len": "return sum(values) % 2",
    "abs": "return values % 2",
    "tuple": "return sum(values)",
    "list": "return [v for v in values if v]",
    "round": "return 1 - values",
}
_LOOPS = (
    "for v in x:", "for v in x:", "for i, v in enumerate(x):", "for v in list(x):", "for v, _ in zip(x, x):",
    "for v in (u for u in x):", "for i in range(len(x)):\n    v = x[i]", "for v in map(lambda u: u, x):",
    "for v in reversed(x):", "for v in [u for u in x]:", "for v in tuple(x):",
)  # fmt: skip


def spelled_program(seed: int) -> str:
    """Return the source of a module with a mechanism `drawn`; the same for the same seed."""
    return _Writer(random.Random(seed)).module()


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for part in lines for line in part.split("\n")]


class _Writer:
    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.made = 0
        self.noises = 0

    def module(self) -> str:
        lines = [*_HEAD, f"lam = Fraction({self.draw.choice(['1, 3', '1, 5'])})", "", ""]
        if self.draw.random() < 0.15:
            name = self.draw.choice(list(_SHADOWED))
            lines += [f"def {name}(values):", *_indented([_SHADOWED[name]]), "", ""]
        lines += ["def noisy(v, lam=Fraction(1, 4)):", "    return v ^ flip(lam)", "", ""]
        relation = self.draw.choice(["replace-one", "replace-one", "replace-one", "unit-all"])
        return "\n".join([*lines, f'@mechanism(record=Bit, neighbours="{relation}")', *self._function()]) + "\n"

    def _function(self) -> list[str]:
        body, shown = self._part()
        if self.draw.random() < 0.25:
            more, other = self._part()
            body, shown = [*body, *more], self.draw.choice([f"({shown}, {other})", f"({other}, {shown})"])
        if self.draw.random() < 0.2:
            body = ["def inner():", *_indented([*body, f"return {shown}"])]
            shown = self.draw.choice(["inner()", "inner()", "(inner(), inner())"])
        return ["def drawn(x):", *_indented([*body, f"return {shown}"])]

    def _part(self) -> tuple[list[str], str]:
        """Return statements, and an expression of what they found that may be published."""
        kinds = {"bits": self._bits, "number": self._number, "flag": self._flag, "text": self._text}
        kind = self.draw.choice(["bits", "bits", "number", "number", "number", "flag", "flag", "text"])
        lines, name = kinds[kind]()
        end = {"bits": self._of_bits, "number": self._of_number, "flag": self._of_flag, "text": lambda each: each}
        return lines, end[kind](name)

    def _name(self) -> str:
        self.made += 1
        return f"a{self.made}"

    def _flip(self) -> str:
        return self.draw.choice(["flip(lam)", 'flip("1/4")', 'flip("2/5")'])

    def _told(self, value: str = "v") -> str:
        noise, told = self._flip(), self.draw.choice(["%v ^ %f"] * 4 + [
            "(w := %v ^ %f)", "[%v ^ %f][0]", "(1 - %v if %f else %v)", "(%v + %f) % 2", "(%v, 1 - %v)[int(%f)]",
            "{0: %v, 1: 1 - %v}[int(%f)]", "sum((%v, %f)) % 2", "noisy(%v)", "noisy(%v, lam)", "noisy(v=%v)",
            "(lambda u: u ^ %f)(%v)", "int(%v != %f)",
        ])  # fmt: skip
        return told.replace("%v", value).replace("%f", noise)

    def _loop(self) -> str:
        return self.draw.choice(_LOOPS)

    # what is found

    def _bits(self) -> tuple[list[str], str]:
        a, b = self._name(), self._name()
        told = self._told()
        if self.draw.random() < 0.35:
            made = self.draw.choice([
                f"{a} = [{told} for v in x]", f"{a} = tuple({told} for v in x)", f"{a} = [*({told} for v in x)]",
                f"{a} = list(map(lambda v: {told}, x))", f"{a} = ({told} for v in x)", f"{a} = sorted({told} for v in x)",
                f"{b} = 0\n{a} = ({told} if {b} else 0 for v in x)\n{b} = {self.draw.choice(['1', 'randint(0, 1)'])}",
                f"{a} = [{told} for v in x if {self._told()}]", f"{a} = [u for v in x for u in ({told}, 0)]",
                f"def {b}():\n    return tuple({told} for v in x)\n{a} = {b}()",
                f"def {b}():\n    for v in x:\n        yield {told}\n{a} = {b}()",
            ]).replace("(w := ", "(")  # fmt: skip
            return made.split("\n"), a
        if self.draw.random() < 0.2:
            add = self.draw.choice([
                f"{b}.append([{told}])", f"k = [{told}]\n{b}.append(k)", f"{b}.append([1] * (1 + int({told})))",
                f"k = []\n{b}.append(k)\nk.append({told})", f"{b}.append([{told}])\n{b}.append([1, 0])",
                f"k = [{told}]\n{b} += [k, k]", f"{b}.append([[{told}]][0])", f"{b} = [*{b}, [0] if {told} else [1, 1]]",
            ])  # fmt: skip
            row = self._name()
            end = self.draw.choice([
                f"{a} = [u for {row} in {b} for u in {row}]", f"{a} = [{row}[0] for {row} in {b}]", f"{a} = map(len, {b})",
                f"for {row} in {b}:\n    {row}[0] = 1 - {row}[0]\n{a} = [{row}[0] for {row} in {b}]",
            ])  # fmt: skip
            return [f"{b} = []", self._loop(), *_indented([add]), *end.split("\n")], a
        begin = self.draw.choice([
            f"{a} = []", f"{a} = list()", f"{a}, {b} = [], 0", f"{a}: list = []", f"{a} = {b} = []", f"{a} = []\n{b} = {a}",
            f"{b} = ([], 1)\n{a} = {b}[0]", f"{b} = {{0: []}}\n{a} = {b}[0]", f"{a} = [0]",
        ])  # fmt: skip
        add = self.draw.choice([
            f"{a}.append({told})", f"{a} += [{told}]", f"{a} = {a} + [{told}]", f"{a}.extend([{told}])",
            f"{a} = [*{a}, {told}]", f"{a} += ({told},)", f"{a}.insert(0, {told})", f"{a}.append({told})\n{a}.append(0)",
            f"{a}.append({told})\nif {self._flip()}:\n    {a}.pop()", f"{a}.append(v)\n{a}.append({a}.pop() ^ {self._flip()})",
        ])  # fmt: skip
        if self.draw.random() < 0.2:
            begin, add = f"{a} = ()", self.draw.choice([f"{a} += ({told},)", f"{a} = (*{a}, {told})"])
        elif begin in (f"{a} = {b} = []", f"{a} = []\n{b} = {a}"):
            add += f"\n{b}.append({self._told(self.draw.choice(['v', '0']))})"
        elif self.draw.random() < 0.2:
            begin += f"\n{b} = [0]"
            add += f"\n{a}.append({b}[0] ^ {self._flip()})\n{b}[0] = v"
        return [*begin.split("\n"), self._loop(), *_indented([add])], a

    def _number(self) -> tuple[list[str], str]:
        t, b, told = self._name(), self._name(), self._told()
        if self.draw.random() < 0.35:
            value = self.draw.choice([
                "sum(x)", "x.count(1)", "len([v for v in x if v])", "max(x)", "sum(1 - v for v in x)", "2 * sum(x)",
                "sum(v == 1 for v in x)", "sum(x) - len(x)", "sum(x, 1)",
            ])  # fmt: skip
            self.noises += 1
            ratio = self.draw.choice(['"1/2"', '"1/3"'])
            noise = f"geometric({value}, {ratio})" if self.noises == 1 else f"geometric({value}, {ratio}, 0, 3)"
            return [f"{t} = {noise}"], t
        kind = self.draw.randrange(7)
        if kind == 0:
            value = self.draw.choice([
                f"sum({told} for v in x)", f"sum([{told} for v in x])", f"max({told} for v in x)",
                f"len([v for v in x if {told}])", f"sum(map(lambda v: {told}, x))", f"sum(Fraction({told}, 2) for v in x)",
                f"[{told} for v in x].count(1)", f"min([{told} for v in x])", f"sum({told} for v in x for _ in range(2))",
            ]).replace("(w := ", "(")  # fmt: skip
            return [f"{t} = {value}"], t
        if kind == 1:
            begin = self.draw.choice([f"{t} = 0", f"{t} = Fraction(0)", f"{t} = Fraction(1, 2)", f"{t}, {b} = 0, 1"])
            step = self.draw.choice([
                f"{t} += {told}", f"{t} = {t} + {told}", f"{t} = {told} + {t}", f"{t} += Fraction({told}, 2)",
                f"{t} -= {told}", f"{t} = {t} / 2 + {told}", f"{t} = max({t}, {told})", f"if {told}:\n    {t} += 1",
            ]).replace("= v +", "= v +")  # fmt: skip
            return [begin, self._loop(), *_indented([step])], t
        if kind == 2:
            begin = self.draw.choice(
                [f"{b} = [0, 0]", f"{b} = [0] * 2", f"{b} = {{0: 0, 1: 0}}", f"{b} = dict.fromkeys((0, 1), 0)"]
            )
            return [begin, self._loop(), *_indented([f"{b}[{told}] += 1"]), f"{t} = {b}[{self.draw.choice('01')}]"], t
        if kind == 3:
            step = self.draw.choice([f"{b}[k] = {b}.get(k, 0) + 1", f"{b}.setdefault(k, 0)\n{b}[k] += 1",
                                     f"if k not in {b}:\n    {b}[k] = 0\n{b}[k] += 1"])  # fmt: skip
            return [f"{b} = {{}}", self._loop(), *_indented([f"k = {told}", step]), f"{t} = {b}.get(1, 0)"], t
        if kind == 4:
            firsts, name = self._flag()
            return [*firsts, f"{t} = sum(v ^ {self._flip()} for v in x) + ({name} ^ {self._flip()})"], t
        if kind == 5:
            firsts, name = self._number()
            return [*firsts, f"{t} = sum(v ^ {self._flip()} for v in x if {name} > 1)"], t
        return [f"{t}, {b} = 0, []", self._loop(), *_indented([f"{b}.append({told})", f"{t} += {b}[-1]"])], t

    def _flag(self) -> tuple[list[str], str]:
        s, b = self._name(), self._name()
        begin, change, shown = self.draw.choice([
            (f"{s} = 0", f"{s} = {s} ^ v", s), (f"{s} = 0", f"{s} |= v", s), (f"{s} = False", f"{s} = {s} or v == 1", s),
            (f"{b} = [0]", f"{b}[0] = v", f"{b}[0]"), (f"{b} = [0, 1]", f"{b}[v] = 1 - {b}[v]", f"{b}[0]"),
            (f"{b} = [0, 1]", f"{b}[0], {b}[1] = {b}[1], v", f"{b}[0]"), (f"{b} = [[0]] * 2", f"{b}[0][0] = v", f"{b}[1][0]"),
            (f"{s} = [0]\n{b} = ({s}, {s})", f"{b}[0][0] ^= v", f"{s}[0]"), (f"{b} = {{0: 0}}", f"{b}[0] = v", f"{b}[0]"),
            (f"{b} = dict.fromkeys((0, 1), [0])", f"{b}[0][0] = v", f"{b}[1][0]"),
            (f"{s} = 0\n{b} = [{s}]", f"{s} = v\n{b} = [{s}, *{b}][:2]", f"{b}[-1]"),
            (f"{s} = 0\n{b} = lambda: {s}", f"{s} = v", f"{b}()"), (f"{b} = set()", f"{b}.add(v)", f"(1 in {b})"),
            (f"{s} = (0, 0)", f"{s} = ({s}[1], v)", f"{s}[0]"), (f"{s} = 0", f"{s}, {b} = v, {s}", s),
        ])  # fmt: skip
        chance = [f"if {self._flip()}:", *_indented([change])] if self.draw.random() < 0.3 else [change]
        return [*begin.split("\n"), self._loop(), *_indented(chance)], shown

    def _text(self) -> tuple[list[str], str]:
        text, told = self._name(), self._told()
        if self.draw.random() < 0.3:
            lines, name = self._number()
            return lines, self.draw.choice(
                [f"f'{{{name}}}'", f"str({name})", f"'n' + str({name})", f"f'{{{name} > 1}}'"]
            )
        step = self.draw.choice([
            f"{text} = f'{{{text}[-1:]}}{{int({told})}}'", f"{text} = str(int({told}))", f"{text} = {text} + str(int({told}))",
            f"{text} += 'a' if {told} else 'b'", f"{text} = ('a' if {told} else 'b') + {text}[:1]",
        ])  # fmt: skip
        return [f"{text} = ''", self._loop(), *_indented([step])], text

    # what is published of it

    def _of_bits(self, e: str) -> str:
        return self.draw.choice([
            f"tuple({e})", f"tuple({e})", f"tuple(list({e}))", f"sum({e})", f"tuple(1 - b for b in {e})", f"(*{e},)", f"sum({e}) / 2",
            f"f'{{sum({e})}}'", f"sum({e}) % 2", f"max([0, *{e}])", f"sum({e}) > 1", f"tuple(sorted({e}))", f"tuple([*{e}])",
            f"sum({e}) % 2 ^ {self._flip()}", f"len(tuple({e}))", f"str(sum({e}))", f"list({e}).count(1)", f"min(sum({e}), 2)",
            f"tuple({e})[-1:]", f"any({e})", f"tuple(reversed(tuple({e})))", f"set({e}) == {{0, 1}}",
        ])  # fmt: skip

    def _of_number(self, t: str) -> str:
        return self.draw.choice([
            t, t, f"{t} + {self._flip()}", f"{t} / 2", f"{t} > 1", f"f'{{{t}}}'", f"round({t})", f"{t} % 2 ^ {self._flip()}",
            f"{t} * {t}", f"abs({t} - 1)", f"-{t}", f"str({t})", f"{t} // 2", f"{t} // -3", f"({t} / 3 > 1, {t} / 3 > 0)",
            f"{t} + {t}", f"min({t}, 2)", f"max(0, min({t}, 2))", f"({t}, {t} > 1)", f"3 * {t} - 1", f"{t} if {t} > 0 else 'no'",
            f"{t} ** 2", f"{t} in (0, 1)", f"round({t}, -1)", f"int({t})", f"bool({t})", f"divmod({t}, 2)",
        ]).replace("%n", self._flip())  # fmt: skip

    def _of_flag(self, s: str) -> str:
        noise = self._flip()
        return self.draw.choice([
            f"{s} ^ {noise}", f"{s} ^ {noise}", f"({s} ^ {noise}, {s} ^ {noise})", f"f'{{{s} ^ {noise}}}'",
            f"'yes' if {s} ^ {noise} else 0", f"({s} ^ {noise}) / 2", f"(1, 2) if {s} ^ {noise} else (1,)", f"{s}",
        ])  # fmt: skip
