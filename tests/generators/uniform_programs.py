"""Drawn programs that treat all records by the same code: hidden states, messages, early ends, ends of all kinds."""

from __future__ import annotations

import random

__all__ = ["uniform_program"]

_CHANCES = ("1/2", "1/3", "1/4", "2/5", "1/10")


def uniform_program(seed: int) -> str:
    """Return the source of a module with a mechanism `drawn`; the same for the same seed."""
    return _Writer(random.Random(seed)).module()


class _Writer:
    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.states = draw.choice([0, 1, 1, 1, 2])
        self.sizes = [draw.choice([2, 2, 3]) for _ in range(self.states)]
        self.records = draw.choice(["Bit", "Bit", "Int(0, 2)"])
        self.sends = draw.choice(["append", "sum", "none", "append"]) if self.states else "append"
        self.relation = draw.choice(["replace-one", "replace-one", "unit-step", "unit-all"])

    def module(self) -> str:
        lines = ["from tightdp import Bit, Int, choice, flip, mechanism, randint", "", ""]
        lines.append(f'@mechanism(record={self.records}, neighbours="{self.relation}")')
        lines += ["def drawn(x):", *(f"    {line}" for line in self._function())]
        return "\n".join(lines) + "\n"

    def _function(self) -> list[str]:
        if not self.states and self.draw.random() < 0.5:
            return [self._expression()]
        lines = [f"s{k} = {self._start(size)}" for k, size in enumerate(self.sizes)]
        lines += {"append": ["sent = []"], "sum": ["sent = 0"], "none": []}[self.sends]
        indexed = self.draw.random() < 0.2
        lines.append("for i, v in enumerate(x):" if indexed else "for v in x:")
        body: list[str] = []
        for _ in range(self.draw.choice([1, 2, 2, 3])):
            body += self._step()
        if self.sends != "none":
            body += self._message()
        if self.draw.random() < 0.25:
            body += self._exit(indexed)
        lines += [f"    {line}" for line in body]
        if self.draw.random() < 0.15 and self.states:
            lines += ["else:", f"    s0 = (s0 + 1) % {self.sizes[0]}"]
        return [*lines, *self._end()]

    def _start(self, size: int) -> str:
        return self.draw.choice(["0", str(size - 1), f"randint(0, {size - 1})"])

    def _flip(self) -> str:
        return f'flip("{self.draw.choice(_CHANCES)}")'

    def _value(self) -> str:
        states = [f"s{k}" for k in range(self.states)]
        return self.draw.choice(["v", "v", *states, *states, "1"])

    def _expression(self) -> str:
        noisy = f"(v + {self._flip()}) % {3 if 'Int' in self.records else 2}"
        if self.draw.random() < 0.15:
            noisy = "v"
        kinds = [f"tuple({noisy} for v in x)", f"sum({noisy} for v in x)", f"(sum({noisy} for v in x), len(x))"]
        kinds.append(f"max({noisy} for v in x) + {self._flip()}")
        kinds.append(
            f"int(any(v > 0 and {self._flip()} for v in x)) if {self._flip()} else sum(x) % 2 ^ {self._flip()}"
        )
        return f"return {self.draw.choice(kinds)}"

    def _step(self) -> list[str]:
        if not self.states:
            return ["pass"]
        k = self.draw.randrange(self.states)
        size = self.sizes[k]
        change = self.draw.choice(
            [
                f"s{k} = (s{k} + {self._value()}) % {size}",
                f"s{k} = max(s{k}, {self._value()} % {size})",
                f"s{k} = min(s{k}, {self._value()} % {size})",
                f"s{k} = randint(0, {size - 1})",
                f"s{k} = (s{k} + {self._flip()}) % {size}",
                f"s{k} = v % {size}",
            ]
        )
        condition = self.draw.choice(["", "", f"if {self._flip()}:", f"if {self._value()} == {self._value()}:"])
        return [condition, f"    {change}"] if condition else [change]

    def _message(self) -> list[str]:
        noise = self.draw.choice([f"^ {self._flip()}", f"^ {self._flip()}", f"+ {self._flip()}"])
        value = f"int({self._value()} > 0) {noise}"
        send = f"sent.append({value})" if self.sends == "append" else f"sent += {value}"
        return [f"if {self._flip()}:", f"    {send}"] if self.draw.random() < 0.15 else [send]

    def _exit(self, indexed: bool) -> list[str]:
        condition = f"if {self._value()} == {self._value()} and {self._flip()}:"
        published = "tuple(sent)" if self.sends == "append" else "sent" if self.sends == "sum" else "-1"
        ends = ["break", f"return {published}", f'return "left", {published}', "continue"]
        return [condition, f"    {self.draw.choice([*ends, 'return i'] if indexed else ends)}"]

    def _end(self) -> list[str]:
        states = [f"s{k} ^ {self._flip()}" for k in range(self.states)]
        state = self.draw.choice([*states, f"choice([0, 1, 2], weights=[1 + {self._value_after()}, 2, 1])"])
        if self.sends == "none":
            return [f"return {state}"]
        kinds = ["sent", f"(sent, {state})", "sent", f"(sent, {self._flip()})"]
        if self.sends == "sum":
            return [
                f"return {self.draw.choice([*kinds, f'sent + {self._flip()}', f'min(sent, {self._value_after()})'])}"
            ]
        kinds = [kind.replace("sent", "tuple(sent)") for kind in kinds]
        return [f"return {self.draw.choice([*kinds, 'sum(sent)', 'sum(sent) % 2', f'len(sent) + {state}'])}"]

    def _value_after(self) -> str:
        return self.draw.choice([*(f"s{k}" for k in range(self.states)), "1"])
