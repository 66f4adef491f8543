"""Drawn programs that treat all records by the same code and have noise on all integers: thresholds, sums, tests."""

from __future__ import annotations

import random

__all__ = ["noisy_uniform_program"]

_RATIOS = ("1/4", "1/5", "1/9")


def noisy_uniform_program(seed: int) -> str:
    """Return the source of a module with a mechanism `drawn`; the same for the same seed."""
    return _Writer(random.Random(seed)).module()


class _Writer:
    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.holds = draw.random() < 0.6
        self.counts = draw.random() < 0.4
        self.sums = draw.random() < 0.6 or not self.holds
        self.records = draw.choice(["Bit", "Int(0, 2)"])
        self.relation = draw.choice(["replace-one", "replace-one", "unit-step", "unit-all"])

    def module(self) -> str:
        lines = ["from tightdp import Bit, Int, choice, flip, geometric, mechanism, randint", "", ""]
        lines.append(f'@mechanism(record={self.records}, neighbours="{self.relation}")')
        lines += ["def drawn(x):", *(f"    {line}" for line in self._function())]
        return "\n".join(lines) + "\n"

    def _function(self) -> list[str]:
        lines = ["sent = []"]
        lines += [f"z = {self._noise('1')}"] if self.holds else []
        lines += ["s = 0"] if self.counts else []
        lines += ["total = 0"] if self.sums else []
        body: list[str] = []
        if self.sums:
            body.append(f"total += {self.draw.choice(['v', 'v', '2 * v', 'v * flip(1/3)', 'v ^ flip(1/4)'])}")
        if self.counts:
            body.append(f"s = {self.draw.choice(['max(s, v)', '(s + v) % 2', 's ^ flip(1/3)', 'v'])}")
        if self.holds or self.draw.random() < 0.3:
            body += self._test()
        lines += ["for v in x:", *(f"    {line}" for line in body)]
        return [*lines, *self._end()]

    def _ratio(self) -> str:
        return self.draw.choice(_RATIOS)

    def _noise(self, centre: str) -> str:
        return f"geometric({centre}, {self._ratio()})"

    def _test(self) -> list[str]:
        value = self.draw.choice(["v", "v", "v + s" if self.counts else "v", "-v", "1 - v"])
        noisy = self._noise(value)
        other = "z" if self.holds else "1"
        tests = [f"{noisy} >= {other}", f"{noisy} > {other}", f"v >= {other}", f"{noisy} + 1 < {other}"]
        lines = [f"if {self.draw.choice(tests)}:"]
        done = ["sent.append(1)", *self.draw.choice([["break"], [], [f"z = {self._noise('1')}"] if self.holds else []])]
        lines += [f"    {line}" for line in done]
        return [*lines, *self.draw.choice([[], ["else:", "    sent.append(0)"]])]

    def _end(self) -> list[str]:
        parts = ["tuple(sent)"]
        if self.sums:
            noisy = self._noise("total")
            clamped = [f"max(0, min({noisy}, 2))", f"{noisy} >= 2", f"geometric(total, {self._ratio()}, 0, len(x))"]
            parts = [self.draw.choice([noisy, noisy, *clamped]), *self.draw.choice([[], parts])]
        if self.counts:
            parts.append(self.draw.choice(["s ^ flip(1/3)", f"{self._noise('s')} > 0"]))
        return [f"return {', '.join(parts)}" if len(parts) > 1 else f"return {parts[0]}"]
