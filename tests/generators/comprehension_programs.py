"""Functions that compute lists item by item, add to them and read them, beside calls that change what is outside."""

from __future__ import annotations

import random

_NAMES, _LISTS = ("a", "b", "c"), ("kept", "more")


class _Writer:
    """Writes one function of `x`; it calls `told`, `made` (which returns a function) and `inner`, and changes `o.n`."""

    def __init__(self, seed: int) -> None:
        self.random, self.lines = random.Random(seed), list[str]()

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def expression(self, depth: int = 0) -> str:
        kind = self.random.random() if depth < 3 else 0
        if kind < 0.25:
            return self.pick("1", "2", *_NAMES, "len(kept)", "sum(more)", "RATE", "o.n")
        if kind < 0.45:
            return f"{self.expression(depth + 1)} {self.pick('+', '-', '*')} {self.expression(depth + 1)}"
        if kind < 0.6:
            return f"told({self.expression(depth + 1)})"
        items, other = self.items(), self.expression(depth + 1)
        return self.pick(
            f"sum({items})",
            f"sum([{items}])",
            f"sum(({items}), {other})",
            f"max([{items}], default={other})",
            f"max(({items}), default={other})",
            f"sum(map({self.pick('told', 'made(1)', 'inner', 'made(told(1))')}, x))",
            f"({other} if {self.expression(depth + 1)} > 1 else {self.expression(depth + 1)})",
            f"len([v for v in {self.pick(*_LISTS)} if v > 1])",
            f"{self.pick(*_LISTS)}.count(1)",
        )

    def items(self) -> str:
        v = self.pick("v", "u", "a")
        item = self.pick(f"told({v})", f"inner({v})", f"told({v}) + {self.pick(*_NAMES)}", f"{v} + 1")
        source = self.pick("x", "x", "range(2)", "kept[:2]")
        return f"{item} for {v} in {source}{self.pick('', '', f' if told({v})', f' if {v} > 0')}"

    def statement(self, indent: str, depth: int = 0) -> None:
        kind = self.random.random()
        if kind < 0.2:
            self.lines.append(f"{indent}{self.pick(*_NAMES)} {self.pick('=', '+=')} {self.expression()}")
        elif kind < 0.42:
            self.lines.append(f"{indent}{self.pick(*_LISTS)} {self.pick('=', '+=')} [{self.items()}]")
        elif kind < 0.5:
            self.lines.append(f"{indent}{self.pick(*_LISTS)}.append({self.expression()})")
        elif kind < 0.6 and depth < 2:
            self.lines.append(f"{indent}if {self.expression()} > {self.random.randint(0, 3)}:")
            self.statement(indent + "    ", depth + 1)
        elif kind < 0.85 and depth < 2:
            self.loop(indent, depth)
        else:
            self.lines.append(
                f"{indent}{self.pick('continue', 'break', 'o.n += 1') if self.in_a_loop(indent) else 'o.n += 1'}"
            )

    def loop(self, indent: str, depth: int) -> None:
        """Write a loop, or a list and a loop that goes through it."""
        source = self.pick(f"[{self.items()}]", f"({self.items()})", "x", "rest")
        if source == "rest":
            self.lines.append(f"{indent}rest = [{self.items()}]")
            self.lines.append(f"{indent}{self.pick('pass', 'a = 2', 'b += a', 'c = told(1)')}")
            if self.in_a_loop(indent):
                self.lines.append(f"{indent}if {self.pick(*_NAMES)} > 1: {self.pick('continue', 'pass')}")
        self.lines.append(f"{indent}for {self.pick('w', 'w', 'a')} in {source}:")
        self.lines.append(f"{indent}    {self.pick(*_NAMES)} += {self.pick('w', '1', 'b')}")
        for _ in range(self.random.randint(0, 2)):
            self.statement(indent + "    ", depth + 1)

    def in_a_loop(self, indent: str) -> bool:
        """Whether what is written next, so far to the right, is inside a loop."""
        open_to = len(indent)
        for line in reversed(self.lines):
            at = len(line) - len(line.lstrip())
            if at < open_to:
                open_to = at
                if line.lstrip().startswith("for "):
                    return True
        return False


def comprehension_program(seed: int) -> str:
    """Return the text of a function `drawn`."""
    writer = _Writer(seed)
    writer.lines += ["def drawn(x):", "    a = b = c = w = 0", "    kept = [1]", "    more, rest = [], []"]
    if writer.random.random() < 0.5:
        seen = writer.pick("a", "len(kept)", "sum(more)", "b", "w", "len(rest)")
        writer.lines += ["    def inner(v):", f"        return told(v) + {seen}"]
    for _ in range(writer.random.randint(2, 6)):
        writer.statement("    ")
    read = writer.pick("sum(kept), len(more)", "tuple(kept), tuple(more)", "any(kept), all(more)", "sum(kept), o.n")
    return "\n".join([*writer.lines, f"    return a, b, c, {read}", ""])
