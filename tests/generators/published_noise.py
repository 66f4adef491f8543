"""Drawn programs that publish numbers with noise on all integers: differences, multiples, maxima, thresholds."""

from __future__ import annotations

import random

__all__ = ["published_noise_program"]

_RATIOS = ("1/2", "1/3", "1/4", "1/9")


def published_noise_program(seed: int) -> str:
    """Return the source of a module with a mechanism `drawn` of one record; the same for the same seed."""
    return _Writer(random.Random(seed)).module()


class _Writer:
    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.noisy: list[str] = []

    def module(self) -> str:
        lines = ["from tightdp import Int, flip, geometric, mechanism, observe", "", ""]
        lines.append('@mechanism(record=Int(0, 1), neighbours="unit-step")')
        lines += ["def drawn(x):", *(f"    {line}" for line in self._function())]
        return "\n".join(lines) + "\n"

    def _function(self) -> list[str]:
        lines = []
        ratio = self.draw.choice(_RATIOS)
        for name in "abc"[: self.draw.choice([1, 2, 2, 2, 3])]:
            same = ratio if self.draw.random() < 0.6 else self.draw.choice(_RATIOS)
            centre = self.draw.choice(["x[0]", "x[0]", "1 - x[0]", "0", "2 * x[0]", *self.noisy])
            lines.append(f"{name} = geometric({centre}, {same})")
            self.noisy.append(name)
        for name in "de"[: self.draw.choice([0, 0, 1, 2])]:
            lines += self._step(name)
            self.noisy.append(name)
        if self.draw.random() < 0.15:
            lines.append(f"observe({self._condition()})")
        return [*lines, f"return {self._output()}"]

    def _number(self) -> str:
        one, other = self.draw.choice(self.noisy), self.draw.choice([*self.noisy, "1", "x[0]"])
        linear = [one, one, f"{one} + {other}", f"{one} - {other}", f"-{one}", f"2 * {one} + 1", f"{one} + x[0]"]
        bent = [f"max({one}, {other})", f"min({one}, {other})", f"abs({one})", f"{one} // 2", f"{one} % 2"]
        return self.draw.choice([*linear, *bent] if self.draw.random() < 0.5 else linear)

    def _condition(self) -> str:
        sign = self.draw.choice(["<", "<=", "==", ">=", ">"])
        return f"{self.draw.choice(self.noisy)} {sign} {self.draw.choice([*self.noisy, '0', '1', 'x[0]'])}"

    def _step(self, name: str) -> list[str]:
        condition = self.draw.choice([self._condition(), self._condition(), "flip(1/3)"])
        choices = [f"{name} = {self._number()} if {condition} else {self._number()}", f"{name} = {self._number()}"]
        return [self.draw.choice(choices)]

    def _output(self) -> str:
        parts = [self._number() for _ in range(self.draw.choice([1, 1, 2]))]
        if self.draw.random() < 0.3:
            parts.append(self._condition())
        if len(parts) == 1 and self.draw.random() < 0.2:
            return f"tuple(sorted([{parts[0]}, 1]))"
        if len(parts) == 1 and self.draw.random() < 0.2:
            return f"{parts[0]} if {self._condition()} else None"
        return f"({', '.join(parts)})" if len(parts) > 1 else parts[0]
